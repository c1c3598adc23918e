//! Classifies a sentence of the user: a rule, a preference, a correction, a decision, an idea, or nothing.
//!
//! Most sentences ask for one piece of work and are nothing. A cue must begin a clause, and the clause must
//! contain more than the cue.

use super::person_sentences::PersonSentence;
use super::words::{cause, change, correction, decision, idea, preference, wish};
use crate::base::provenance::StatementStrength;
use crate::knowledge::observe::FindingKind;
use crate::session::remember_requests::{self, RequestCue};
use crate::text::common_words;
use crate::text::phrases::{contains_dense, content, find_words, has, strip_phrase};
use crate::text::sentences;
use crate::text::sentences::{split_phrases, strip_words};
use crate::vault::priority::Priority;

/// The class of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SentenceVerdict {
    pub kind: FindingKind,
    pub priority: Priority,
    pub strength: StatementStrength,
    /// True if the next sentence completes this one.
    pub with_next: bool,
}

impl SentenceVerdict {
    /// True if it is a statement, which a classifier recognises better than words do.
    pub(super) fn is_statement(&self) -> bool {
        matches!(
            self.kind,
            FindingKind::Rule | FindingKind::Preference | FindingKind::Correction | FindingKind::Decision
        )
    }
}

const fn explicit_verdict(kind: FindingKind) -> SentenceVerdict {
    SentenceVerdict {
        kind,
        priority: Priority::High,
        strength: StatementStrength::Explicit,
        with_next: false,
    }
}

const fn mild_verdict(kind: FindingKind) -> SentenceVerdict {
    SentenceVerdict {
        kind,
        priority: Priority::Medium,
        strength: StatementStrength::Implied,
        with_next: false,
    }
}

/// Classifies a sentence; `None` if it is nothing.
pub(super) fn judge_sentence(sentence: &PersonSentence<'_>) -> Option<SentenceVerdict> {
    let folded = sentences::fold(sentence.text);
    // A question states nothing, regardless of its words (OBS-08).
    if sentences::asks_or_quotes(&folded) {
        return None;
    }
    let verdict =
        if sentences::is_dense(&folded) { dense(&folded, sentence) } else { judge_spaced(&folded, sentence) };
    verdict.filter(|verdict| {
        !sentence.long || verdict.strength == StatementStrength::Explicit && !is_rule(verdict.kind)
    })
}

fn is_rule(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::Rule | FindingKind::Preference)
}

fn judge_spaced(folded: &str, sentence: &PersonSentence<'_>) -> Option<SentenceVerdict> {
    judge_wish(folded, sentence)
        .or_else(|| convention(folded))
        .or_else(|| onwards(folded))
        .or_else(|| clauses(folded).find_map(|clause| corrected(clause, sentence)))
        .or_else(|| contradicted(folded, sentence))
        .or_else(|| clauses(folded).find_map(judge_change))
        .or_else(|| clauses(folded).find_map(put_off))
        .or_else(|| clauses(folded).find_map(judge_decision))
        .or_else(|| clauses(folded).find_map(preferred))
        .or_else(|| forbidden(folded))
        .or_else(|| explained(folded))
}

/// The sentence, and its parts after a "but" or similar.
fn clauses(folded: &str) -> impl Iterator<Item = &str> {
    const JOINTS: &[&str] = &[
        " but ", "; ", " - ", " – ", " — ", ", so ", ", and ", ", also ", " aber ", ", und ", " pero ",
        " mais ", " mas ", ", но ", ", a ", ", et ", ", e ", ", y ", ", и ",
    ];
    let inner = JOINTS.iter().flat_map(move |joint| {
        folded.match_indices(joint).take(3).map(move |(at, _)| &folded[at + joint.len()..])
    });
    std::iter::once(folded).chain(inner)
}

/// The rest of a clause after a phrase of `list` at its start, with or without a "so" or "please" before it.
fn opens<'a>(clause: &'a str, list: &'static str, but_not: &'static str) -> Option<&'a str> {
    let bare = remember_requests::strip_lead(clause);
    if strip_phrase(bare, but_not, "").is_some() {
        return None;
    }
    strip_phrase(clause, list, but_not).or_else(|| strip_phrase(bare, list, but_not))
}

fn says_enough(rest: &str, words: usize) -> bool {
    content(rest).len() >= words
}

/// Matches "remember …", "always …", "when …, never …".
fn judge_wish(folded: &str, sentence: &PersonSentence<'_>) -> Option<SentenceVerdict> {
    let points = !sentence.list.is_empty();
    if sentence.text.ends_with([':', '：']) && !points {
        return None;
    }
    match remember_requests::request_cue(sentence.text) {
        Some(RequestCue::Wish) if opens(folded, wish::MILDLY, "").is_some() => {
            Some(mild_verdict(FindingKind::Rule))
        }
        Some(_) if points || says_enough(folded, 2) => Some(explicit_verdict(FindingKind::Rule)),
        Some(_) => None,
        None => {
            let (condition, rest) = folded.split_once(", ")?;
            let conditional = strip_phrase(condition, common_words::CONDITION_CLAUSES, "").is_some();
            (conditional
                && remember_requests::request_cue(rest) == Some(RequestCue::Rule)
                && says_enough(rest, 1))
            .then_some(explicit_verdict(FindingKind::Rule))
        }
    }
}

/// Matches "in this project we …", "our convention is …", "we use tabs here".
fn convention(folded: &str) -> Option<SentenceVerdict> {
    if opens(folded, preference::CONVENTIONS, preference::NOT_CONVENTIONS)
        .is_some_and(|rest| says_enough(rest, 1))
    {
        return Some(explicit_verdict(FindingKind::Rule));
    }
    if let Some(rest) = opens(folded, preference::PLACES, "") {
        let habit = strip_phrase(rest, preference::HABITS, preference::NOT_HABITS).is_some();
        return (habit && says_enough(rest, 2)).then_some(explicit_verdict(FindingKind::Rule));
    }
    let place =
        split_phrases(preference::PLACES).any(|place| find_words(folded, place).is_some_and(|at| at > 0));
    let here = place || folded.trim_end_matches(['.', '!']).ends_with(" here");
    let rest = opens(
        folded,
        "we use | we only use | we don't use | we do not use | we write | we name | we deploy with | we test with",
        "",
    )?;
    let named = !rest
        .split_whitespace()
        .next()
        .is_some_and(|word| split_phrases(preference::POINTING).any(|p| p == word));
    (here && named && says_enough(rest, 1) && folded.split_whitespace().count() <= 16)
        .then_some(explicit_verdict(FindingKind::Rule))
}

/// Matches "use strong types wherever we can", "findings should get a ticket going forward", "keys must never
/// be logged".
fn onwards(folded: &str) -> Option<SentenceVerdict> {
    let end = folded.trim_end_matches(['.', '!', ' ']);
    let onwards =
        split_phrases(preference::ONWARDS).any(|words| end.ends_with(words) && end.len() > words.len());
    if onwards && has(folded, preference::ORDERS) && says_enough(folded, 3) {
        return Some(explicit_verdict(FindingKind::Rule));
    }
    let everywhere = clauses(folded)
        .any(|clause| opens(clause, preference::USING, "").is_some() && has(clause, preference::EVERYWHERE));
    let never = has(folded, preference::MUST_NEVER);
    (everywhere && says_enough(folded, 2) || never && says_enough(folded, 3))
        .then_some(mild_verdict(FindingKind::Rule))
}

/// Matches "that's not correct, …", "no, use …", "stop adding …".
fn corrected(clause: &str, sentence: &PersonSentence<'_>) -> Option<SentenceVerdict> {
    if !sentence.answers {
        return None;
    }
    let next = sentence.next.map(sentences::fold).unwrap_or_default();
    let told = |rest: &str| {
        if says_enough(rest, 2) {
            return Some(false);
        }
        (says_enough(&format!("{rest} {next}"), 3) && !sentences::asks_or_quotes(&next)).then_some(true)
    };
    if let Some(rest) = opens(clause, correction::PLAINLY, correction::NOT) {
        return told(rest)
            .map(|with_next| SentenceVerdict { with_next, ..explicit_verdict(FindingKind::Correction) });
    }
    if let Some(rest) = strip_phrase(clause, preference::STOP, "") {
        let habit =
            rest.split_whitespace().next().is_some_and(|word| word.ends_with("ing") && word.len() > 4);
        return (habit && says_enough(rest, 2)).then_some(explicit_verdict(FindingKind::Correction));
    }
    if opens(clause, correction::STOP, "").is_some_and(|rest| says_enough(rest, 2)) {
        return Some(explicit_verdict(FindingKind::Correction));
    }
    let rest = strip_phrase(clause, correction::NO, correction::NOT_NO)?;
    if sentence.follows_question {
        return None;
    }
    let (with_next, rest) = if rest.is_empty() { (true, next.as_str()) } else { (false, rest) };
    let right = has(rest, correction::RIGHT) && says_enough(rest, 2) && !sentences::asks_or_quotes(rest);
    right.then_some(SentenceVerdict { with_next, ..mild_verdict(FindingKind::Correction) })
}

/// The correction in a sentence, even if it is a rule or a decision as well, and the right statement.
pub(super) fn correction_verdict(sentence: &PersonSentence<'_>) -> Option<(SentenceVerdict, String)> {
    let folded = sentences::fold(sentence.text);
    if sentences::asks_or_quotes(&folded) {
        return None;
    }
    let (verdict, right) = if sentences::is_dense(&folded) {
        let verdict = dense(&folded, sentence).filter(|verdict| verdict.kind == FindingKind::Correction)?;
        (verdict, folded.clone())
    } else if let Some(found) =
        clauses(&folded).find_map(|clause| Some((corrected(clause, sentence)?, clause)))
    {
        (found.0, right_of(found.1).to_owned())
    } else {
        (contradicted(&folded, sentence)?, folded.clone())
    };
    if sentence.long && verdict.strength != StatementStrength::Explicit {
        return None;
    }
    let next = sentence.next.filter(|_| verdict.with_next).map(sentences::fold).unwrap_or_default();
    Some((verdict, format!("{right} {next}").trim().to_owned()))
}

/// A clause without the words that only say that something was wrong.
fn right_of(clause: &str) -> &str {
    let mut rest = clause;
    // Three rounds cover "No, that's wrong, I told you …".
    for _ in 0..3 {
        let shorter = opens(rest, correction::PLAINLY, "").or_else(|| strip_phrase(rest, correction::NO, ""));
        match shorter {
            Some(shorter) if !shorter.is_empty() => rest = shorter,
            _ => break,
        }
    }
    rest
}

/// Matches "the first part is not correct, …".
fn contradicted(folded: &str, sentence: &PersonSentence<'_>) -> Option<SentenceVerdict> {
    let after = |words: &str| Some(&folded[find_words(folded, words)? + words.len()..]);
    let rest = split_phrases(correction::MIDDLE).find_map(after)?;
    (sentence.answers && says_enough(rest, 3)).then_some(mild_verdict(FindingKind::Correction))
}

/// Matches "we switched from … to …".
fn judge_change(clause: &str) -> Option<SentenceVerdict> {
    let verdict = explicit_verdict(FindingKind::Change);
    if let Some(rest) = opens(clause, change::CHANGES, change::NOT) {
        let unused =
            ["we don't use", "we don't have"].iter().any(|words| strip_words(clause, words).is_some());
        return (says_enough(rest, 1) && (!unused || has(rest, change::ANY_MORE))).then_some(verdict);
    }
    let rest = opens(clause, change::GERMAN, "")?;
    let end = rest.trim_end_matches(['.', '!', ' ']);
    (split_phrases(change::GERMAN_ENDS).any(|word| end.ends_with(word)) && says_enough(rest, 2))
        .then_some(verdict)
}

/// Matches "later we should …", "idea: …".
fn put_off(clause: &str) -> Option<SentenceVerdict> {
    let rest = opens(clause, idea::IDEAS, idea::NOT)?;
    let named = clause[..clause.len() - rest.len()].contains(':');
    let strength = if named { StatementStrength::Explicit } else { StatementStrength::Implied };
    says_enough(rest, 2).then_some(SentenceVerdict {
        kind: FindingKind::Idea,
        priority: Priority::Low,
        strength,
        with_next: false,
    })
}

/// Matches "we decided …", "let's go with …", "use … instead of … because …".
fn judge_decision(clause: &str) -> Option<SentenceVerdict> {
    if opens(clause, decision::PLAINLY, decision::NOT).is_some_and(|rest| says_enough(rest, 2)) {
        return Some(explicit_verdict(FindingKind::Decision));
    }
    let because = has(clause, decision::BECAUSE);
    if let Some(rest) = opens(clause, decision::LETS, "") {
        return (says_enough(rest, 1) && number(rest).is_none())
            .then_some(explicit_verdict(FindingKind::Decision));
    }
    if because
        && parse_instead(clause)
            .is_some_and(|(chosen, other)| says_enough(chosen, 1) && says_enough(other, 1))
    {
        return Some(explicit_verdict(FindingKind::Decision));
    }
    let rest = opens(clause, decision::LETS_USE, "")?;
    let named = !points(rest);
    let purpose = has(rest, "for | für | para | pour | для");
    match (named, because, purpose) {
        (true, true, _) if says_enough(rest, 2) => Some(explicit_verdict(FindingKind::Decision)),
        (true, false, true) if says_enough(rest, 2) => Some(mild_verdict(FindingKind::Decision)),
        _ => None,
    }
}

/// Matches "I prefer …", "use pnpm instead of npm".
fn preferred(clause: &str) -> Option<SentenceVerdict> {
    if opens(clause, preference::PLAINLY, preference::NOT).is_some_and(|rest| says_enough(rest, 1)) {
        return Some(explicit_verdict(FindingKind::Preference));
    }
    if opens(clause, preference::MILDLY, preference::NOT).is_some_and(|rest| says_enough(rest, 2)) {
        return Some(mild_verdict(FindingKind::Preference));
    }
    let (chosen, other) = parse_instead(clause)?;
    let short = clause.split_whitespace().count() <= 12;
    (short && is_name(chosen) && is_name(other)).then_some(SentenceVerdict {
        strength: StatementStrength::Implied,
        ..explicit_verdict(FindingKind::Preference)
    })
}

/// The two parts of "use … instead of …".
fn parse_instead(clause: &str) -> Option<(&str, &str)> {
    let rest = opens(clause, preference::USE, "")?;
    let (at, joint) = split_phrases(preference::INSTEAD)
        .filter_map(|joint| Some((find_words(rest, joint)?, joint)))
        .min()?;
    let other = rest[at + joint.len()..].trim_start();
    Some((rest[..at].trim_end_matches([',', ' ']), other))
}

/// True if the first words name a tool, a library or a method; false for an object at hand or a piece of
/// code.
fn is_name(text: &str) -> bool {
    const ENDS: &str = "for | in | because | when | as | since | on | at | everywhere | here | please | from | with | to | für | in | weil | bei | para | en | porque | pour | dans | parce | em | для | в | потому";
    let end = text
        .find([',', '.', ';', '!', '('])
        .filter(|end| text[*end..].len() == 1 || !text[*end + 1..].starts_with(char::is_alphanumeric));
    let words: Vec<&str> = text[..end.unwrap_or(text.len())]
        .split_whitespace()
        .take_while(|word| !split_phrases(ENDS).any(|end| end == *word))
        .collect();
    let code = |word: &&str| {
        word.contains(['_', '(', ')', '`', '=', '{', '[', '"', '/', '\\']) || word.contains("::")
    };
    matches!(words.len(), 1..=3)
        && !points(words[0])
        && !words.iter().any(code)
        && says_enough(&words.join(" "), 1)
}

/// True if the first word refers to the context.
fn points(text: &str) -> bool {
    text.split_whitespace()
        .next()
        .is_none_or(|word| split_phrases(preference::POINTING).any(|pointing| pointing == word))
}

/// Matches "don't … without asking".
fn forbidden(folded: &str) -> Option<SentenceVerdict> {
    let bare = remember_requests::strip_lead(folded);
    let forbids = |(dont, for_good): &(&'static str, &'static str)| {
        let rest = strip_phrase(folded, dont, preference::NOT_DONT)
            .or_else(|| strip_phrase(bare, dont, preference::NOT_DONT));
        rest.is_some_and(|rest| has(rest, for_good) && says_enough(rest, 2))
    };
    preference::DONT.iter().any(forbids).then_some(explicit_verdict(FindingKind::Rule))
}

/// Matches "turns out …", "the root cause was …".
fn explained(folded: &str) -> Option<SentenceVerdict> {
    opens(folded, cause::TOLD, "")
        .is_some_and(|rest| says_enough(rest, 3))
        .then_some(explicit_verdict(FindingKind::Fix))
}

/// Classifies languages without spaces between words.
fn dense(folded: &str, sentence: &PersonSentence<'_>) -> Option<SentenceVerdict> {
    // Text in quotation marks is somebody else's.
    let body = folded.split(['「', '『', '“', '"']).next().unwrap_or(folded);
    let is = |list, but_not| {
        contains_dense(body, list) && !contains_dense(folded, but_not) && says_enough(folded, 3)
    };
    let verdict = match remember_requests::request_cue(sentence.text) {
        Some(RequestCue::Wish | RequestCue::Rule) if says_enough(folded, 3) || !sentence.list.is_empty() => {
            explicit_verdict(FindingKind::Rule)
        }
        _ if contains_dense(body, preference::DENSE_PLACES)
            && contains_dense(body, preference::DENSE_HABITS)
            && says_enough(folded, 4) =>
        {
            explicit_verdict(FindingKind::Rule)
        }
        _ if sentence.answers && is(correction::DENSE, correction::DENSE_NOT) => {
            explicit_verdict(FindingKind::Correction)
        }
        _ if is(change::DENSE, "") => explicit_verdict(FindingKind::Change),
        _ if is(idea::DENSE, idea::DENSE_NOT) => {
            SentenceVerdict { priority: Priority::Low, ..mild_verdict(FindingKind::Idea) }
        }
        _ if is(decision::DENSE, decision::DENSE_NOT) => explicit_verdict(FindingKind::Decision),
        _ if is(preference::DENSE, "") => explicit_verdict(FindingKind::Preference),
        _ if is(preference::DENSE_INSTEAD, "")
            && contains_dense(body, preference::DENSE_USE)
            && folded.chars().count() <= 40 =>
        {
            let pointing = contains_dense(body, "この | その | それ | これ | 这个 | 那个 | 這個 | 那個 | 它");
            return (!pointing).then_some(SentenceVerdict {
                strength: StatementStrength::Implied,
                ..explicit_verdict(FindingKind::Preference)
            });
        }
        _ if split_phrases(cause::DENSE_TOLD).any(|cue| body.starts_with(cue)) && says_enough(folded, 5) => {
            explicit_verdict(FindingKind::Fix)
        }
        _ => return None,
    };
    Some(verdict)
}

/// The number or letter of a choice: "option 2", "2", "the second"; `None` if the text says more.
pub(super) fn number(rest: &str) -> Option<String> {
    let mut words = rest.split(|c: char| !c.is_alphanumeric() && c != '#').filter(|word| !word.is_empty());
    let mut word = words.next()?;
    if points(word)
        && let Some(next) = words.next()
    {
        word = next;
    }
    if let Some(number) = word.strip_prefix('#').filter(|number| !number.is_empty()) {
        word = number;
    } else if split_phrases(decision::NUMBERED).any(|named| named == word) {
        word = words.next()?;
    }
    let is_number = word.len() <= 2 && word.chars().all(|c| c.is_ascii_digit());
    // Several numbers are more than a choice.
    if words.any(|word| word.chars().any(|c| c.is_ascii_digit())) {
        return None;
    }
    let is_letter = word.len() == 1 && word.chars().all(|c| ('a'..='f').contains(&c));
    (is_number || is_letter).then(|| word.to_owned())
}

/// The number of the chosen item of the agent's list, if the sentence only chooses.
pub(super) fn chosen_number(text: &str) -> Option<String> {
    let folded = sentences::fold(text);
    if sentences::asks_or_quotes(&folded) {
        return None;
    }
    let rest = opens(&folded, decision::LETS, "")
        .or_else(|| strip_phrase(&folded, decision::NUMBERED, "").map(|_| folded.as_str()))?;
    number(rest)
}

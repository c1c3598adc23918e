//! Sentences that the classifier labels as lasting: the user's own as statements, the agent's as conclusions.
//!
//! The classifier only ranks and sorts the candidates that structure found. It never raises an agent's words
//! to the user's rank (B-01).

use super::answers::AnswerSentence;
use super::draft::FindingDraft;
use super::one_offs::is_one_off;
use super::person_sentences::PersonSentence;
use super::session_view::{PersonMessage, SessionView};
use super::words::change;
use crate::base::provenance::StatementStrength;
use crate::knowledge::observe::FindingKind;
use crate::knowledge::statement;
use crate::knowledge::statement::{
    ClassifyFn, MAX_SENTENCE_CHARS, StatementContext, StatementKind, StatementLabels, StatementSpeaker,
};
use crate::session::{MessageRole, answer};
use crate::text::phrases::{content, has};
use crate::text::sentences;
use crate::text::sentences::{split_phrases, strip_markdown};
use crate::text::specific_terms::specifics;
use crate::vault::priority::Priority;

/// The minimum probability for a sentence of the user.
const MIN_USER_LASTING: f32 = 0.45;
/// A sentence with fewer significant words is short …
const MIN_TELLING_WORDS: usize = 3;
/// … and the minimum probability for one.
const MIN_SHORT_LASTING: f32 = 0.65;
/// The margin by which the probability of a one-off may exceed that of a lasting statement.
const MAX_ONCE_MARGIN: f32 = 0.2;
/// The minimum probability for a sentence of the agent.
const MIN_AGENT_LASTING: f32 = 0.5;
/// The maximum number of sentences kept per answer.
const MAX_STATEMENTS_PER_ANSWER: usize = 5;
/// The minimum number of words of a statement; an answer to a question may have fewer.
const MIN_WORDS: usize = 3;
/// The maximum number of words of a lead-in.
const MAX_LEAD_WORDS: usize = 5;
/// The maximum number of words of a sentence that is kept for the statement after it.
const MAX_LED_WORDS: usize = 10;
/// Words of agreement that say nothing about the following text.
const ASSENT_WORDS: &str = "\
    nice | good | great | cool | morning | hello | forgot | oops | aaah | perfect | thanks | thx | thank | yes | yep | yeah | yup | ok | okay | fine | right | sure | go | done | commit
    push | fix | it | do | next | now | pls | please | awesome | lol | haha | ohh | aha | super | danke | gut | genau | ja | gracias | vale
    merci | oui | parfait | obrigado | sim | continue | ahead | looks | works | that | this | one | last";
/// The maximum length of a topic, in characters.
const MAX_TOPIC_CHARS: usize = 90;
/// The minimum probability of a global scope without a cue in the words: a rule of one project must not enter
/// another.
const MIN_EVERYWHERE: f32 = 0.97;
/// The minimum probability of a global scope with a cue in the words.
const MIN_EVERYWHERE_IF_SAID: f32 = 0.3;
/// The minimum probability at which the user is asked about a global scope.
const MIN_PERHAPS_EVERYWHERE: f32 = 0.8;
/// Cues for a global scope.
const EVERYWHERE_WORDS: &str = "\
    all my | any of my | my repos | my other repos | my other projects | my projects | other repos | other project | other projects
    every project | any project | all projects | every repo | any repo | all repos | whatever repo | whatever the repo
    whatever the project | everything i do | everywhere | in general | generally | überall | in allen | in jedem | en todos | en todas | partout
    dans tous | em todos | em todas";
/// Words that refer to the current project: a statement with them belongs to it.
const POINTING_HERE: &str = "\
    here | this repo | this repository | this project | this codebase | in the log | like in | as in | like the others | like the other
    like the rest | the existing | same as | hier | dieses projekt | in diesem | wie im | wie in | aquí | este repo | este proyecto | como en
    ici | ce projet | ce dépôt | comme dans | comme les autres | aqui | este projeto | como no | como na";
/// The maximum number of words of a sentence that only gives the new value.
const MAX_VALUE_WORDS: usize = 8;
/// The maximum length of joined statements, in characters.
const MAX_JOINED_CHARS: usize = 300;
/// Words of a lead-in that carry none of the statement.
const LEAD_WORDS: &str = "\
    stop | wait | hm | hmm | nope | nah | btw | fyi | oh | ah | actually | well | told | tell | said | say | remember | note | reminder | hey
    sorry | wrong | moment | halt | warte | stopp | ach | übrigens | gesagt | merk | espera | ojo | oye | recuerda | attends | attention
    rappel | espera | lembra | aliás";
/// Lead-ins without punctuation after them.
const BARE_LEADS: &str = "\
    ok but | okay but | yes but | and please | also please | btw | fyi | oh and | ah and | and btw | hm | hmm | but | ok | and | also | ojo que";
/// Phrases that refer back, anywhere in a sentence.
const POINTING_BACK: &str = "\
    that one | this one | like that | same in | same for | same goes | goes for | for that | the same | auch so | igual en | pareil";
/// First words of a sentence that refer back.
const POINTING: &[&str] = &[
    "it", "it's", "its", "that", "that's", "thats", "this", "they", "they're", "those", "these", "them",
    "he", "she", "das", "dies", "es", "die", "eso", "esto", "ese", "cela", "ça", "c'est", "isso", "isto",
];

/// The prefix of remaining work.
pub(crate) const OPEN_PREFIX: &str = "Open: ";

/// The labels of a user's sentence, in its message and after the agent's words.
pub(super) fn label(
    view: &SessionView<'_>,
    message: &PersonMessage,
    sentence: &PersonSentence<'_>,
    classify: &ClassifyFn<'_>,
) -> StatementLabels {
    let stopped = view.messages[message.at].stopped.then(|| last_act(view, message.at)).flatten();
    if let Some((question, answer)) = answer::parse(sentence.text) {
        let around = StatementContext { before: question, ..StatementContext::default() };
        return classify(&statement::context(StatementSpeaker::User, &around), answer);
    }
    let at = sentence.text.as_ptr().addr().saturating_sub(message.text.as_ptr().addr());
    let around = StatementContext {
        stopped: stopped.as_deref(),
        before: agent_before(view, message.at),
        ahead: message.text.get(..at).unwrap_or_default(),
        behind: message.text.get(at + sentence.text.len()..).unwrap_or_default(),
    };
    classify(&statement::context(StatementSpeaker::User, &around), limited(sentence.text))
}

fn limited(text: &str) -> &str {
    text.char_indices().nth(MAX_SENTENCE_CHARS).map_or(text, |(end, _)| &text[..end])
}

/// The agent's words before the user's message.
fn agent_before<'a>(view: &SessionView<'a>, at: usize) -> &'a str {
    view.agent(0, at).next_back().map_or("", |(_, text)| text)
}

/// The call that was interrupted: it has no result, or was refused.
fn last_act(view: &SessionView<'_>, at: usize) -> Option<String> {
    let step = view.steps_between(0, at).next_back()?;
    Some(format!("{}: {}", step.call.tool, step.call.input))
}

/// True if a sentence can be a statement.
pub(super) fn can_state(sentence: &PersonSentence<'_>) -> bool {
    if answer::parse(sentence.text).is_some() {
        return true;
    }
    let words = sentence.text.split_whitespace().count();
    let dense = sentences::is_dense(sentence.text);
    (dense || words >= MIN_WORDS) && !sentences::fold(sentence.text).ends_with(['?', '？'])
}

/// A statement of the user, if the labels say so.
pub(super) fn of_person(
    view: &SessionView<'_>,
    message: &PersonMessage,
    sentence: &PersonSentence<'_>,
    labels: &StatementLabels,
) -> Option<FindingDraft> {
    let once = labels.once > labels.lasting + MAX_ONCE_MARGIN || is_one_off(sentence.text);
    // A short sentence needs a clear label.
    let telling = content(clean(sentence.text)).len();
    let least = if telling < MIN_TELLING_WORDS { MIN_SHORT_LASTING } else { MIN_USER_LASTING };
    if labels.lasting < least || once {
        return None;
    }
    let kind = kind_of(labels.kind());
    // A request followed by changed files is no remaining work.
    let done = || view.steps.iter().any(|step| step.at > message.at && !step.call.writes.is_empty());
    if kind == FindingKind::Work && done() {
        return None;
    }
    Some(FindingDraft {
        kind,
        priority: Priority::High,
        strength: StatementStrength::Explicit,
        sentiment: None,
        origin: MessageRole::User.origin(),
        everywhere: is_everywhere(sentence.text, labels.everywhere),
        perhaps_everywhere: is_perhaps_everywhere(sentence.text, labels.everywhere),
        ends: labels.ends >= 0.5 || has(&sentences::fold(sentence.text), change::NOW),
        text: capital(clean(sentence.text)),
        topic: topic(view, message, sentence),
        at: sentence.at,
        messages: vec![sentence.at],
    })
}

/// True if a statement may have a global scope, so that the user is asked: by its words, or by a high
/// probability without reference to this project.
fn is_perhaps_everywhere(text: &str, likely: f32) -> bool {
    is_said_everywhere(text) || likely >= MIN_PERHAPS_EVERYWHERE && !points_here(text)
}

/// True if a statement has a global scope: by its words, or by a very high probability without reference to
/// this project.
fn is_everywhere(text: &str, likely: f32) -> bool {
    match is_said_everywhere(text) {
        true => likely >= MIN_EVERYWHERE_IF_SAID,
        false => likely >= MIN_EVERYWHERE && !points_here(text),
    }
}

fn is_said_everywhere(text: &str) -> bool {
    has(&sentences::fold(text), EVERYWHERE_WORDS)
}

/// True if a statement names something of this project, or refers to it.
fn points_here(text: &str) -> bool {
    has(&sentences::fold(text), POINTING_HERE) || !specifics(text).is_empty()
}

/// Completes a statement: adds the new value if it only ends the old one, and all that was said when the
/// agent was stopped.
pub(super) fn complete_statement(
    view: &SessionView<'_>,
    sentence: &PersonSentence<'_>,
    stated: FindingDraft,
) -> FindingDraft {
    let stopped = view.messages[sentence.at].stopped;
    let value = |next: &str| {
        next.split_whitespace().count() <= MAX_VALUE_WORDS && next.chars().any(|c| c.is_ascii_digit())
    };
    let Some(next) = sentence.next.filter(|next| stopped || stated.ends && value(next)) else {
        return stated;
    };
    let added = FindingDraft { text: next.to_owned(), ..stated.clone() };
    join_statements(&stated, &added).unwrap_or(stated)
}

/// Joins a statement with the sentence before it, which often names its subject: "take drf out again. the
/// kiosk is the only client". A question becomes the topic; a short sentence becomes a part of the statement.
pub(super) fn with_lead_sentence(before: &PersonSentence<'_>, stated: FindingDraft) -> FindingDraft {
    if stated.topic.is_some() || is_one_off(before.text) {
        return stated;
    }
    let lead = clean(before.text);
    let is_empty = |word: &String| {
        split_phrases(LEAD_WORDS).chain(split_phrases(ASSENT_WORDS)).any(|known| known == word)
    };
    if content(lead).iter().all(is_empty) {
        return stated;
    }
    if sentences::fold(lead).ends_with(['?', '？']) {
        return FindingDraft {
            topic: Some(crate::text::phrases::line(&strip_markdown(lead), MAX_TOPIC_CHARS)),
            ..stated
        };
    }
    if lead.split_whitespace().count() > MAX_LED_WORDS {
        return stated;
    }
    let first = FindingDraft { text: capital(lead), ..stated.clone() };
    match join_statements(&first, &stated) {
        Some(both) => FindingDraft { kind: stated.kind, ..both },
        None => stated,
    }
}

/// Joins two consecutive statements into one: a rule and its reason, a fact and its consequence.
pub(super) fn join_statements(one: &FindingDraft, next: &FindingDraft) -> Option<FindingDraft> {
    let text = format!("{}{} {}", one.text, if ends_sentence(&one.text) { "" } else { "." }, next.text);
    let fits = text.chars().count() <= MAX_JOINED_CHARS;
    // A sentence that refers back shares the scope of the first.
    let alike = one.at == next.at && one.origin == next.origin;
    let reach = one.everywhere == next.everywhere || next.topic.is_some();
    let instructs = |kind: FindingKind| {
        matches!(kind, FindingKind::Rule | FindingKind::Preference | FindingKind::Convention)
    };
    let kind = match (one.kind, next.kind) {
        (_, FindingKind::Work) => FindingKind::Work,
        (one, next) if instructs(next) && !instructs(one) => next,
        (one, _) => one,
    };
    let (ends, everywhere) = (one.ends || next.ends, one.everywhere || next.everywhere);
    let strength = one.strength.min(next.strength);
    (fits && alike && reach).then(|| FindingDraft { kind, text, ends, everywhere, strength, ..one.clone() })
}

fn ends_sentence(text: &str) -> bool {
    text.ends_with(['.', '!', '?', '。', '！', '？', ':', ';', ')'])
}

fn kind_of(kind: StatementKind) -> FindingKind {
    match kind {
        StatementKind::Rule => FindingKind::Rule,
        StatementKind::Preference => FindingKind::Preference,
        StatementKind::Convention => FindingKind::Convention,
        StatementKind::Decision => FindingKind::Decision,
        StatementKind::Environment => FindingKind::Fact,
        StatementKind::Cause => FindingKind::Fix,
        StatementKind::Work => FindingKind::Work,
    }
}

/// The topic of a statement that refers to something: the sentence before it, or the agent's last words.
fn topic(view: &SessionView<'_>, message: &PersonMessage, sentence: &PersonSentence<'_>) -> Option<String> {
    let text = clean(sentence.text);
    let folded = sentences::fold(text);
    let first = folded.split_whitespace().next().unwrap_or_default();
    let first = first.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'');
    if !POINTING.contains(&first) && !has(&folded, POINTING_BACK) {
        return None;
    }
    let at = sentence.text.as_ptr().addr().saturating_sub(message.text.as_ptr().addr());
    let ahead = message.text.get(..at).unwrap_or_default();
    let in_message = sentences::lines(ahead)
        .into_iter()
        .flat_map(sentences::split_sentences)
        .next_back()
        .map(str::to_owned);
    // A one-off would return with the statement.
    let own = in_message.filter(|topic| content(topic).len() >= 2 && !is_one_off(topic));
    own.map(|topic| topic_line(&topic)).or_else(|| preceding_topic(view, sentence.at))
}

/// The topic of the user's message at `at`: the last sentence of the agent's words before it.
pub(super) fn preceding_topic(view: &SessionView<'_>, at: usize) -> Option<String> {
    let before = agent_before(view, at);
    let last = sentences::lines(before).into_iter().rev().find(|line| content(line).len() >= 2)?;
    let topic = sentences::split_sentences(last).pop()?;
    (!is_one_off(topic)).then(|| topic_line(topic))
}

fn topic_line(topic: &str) -> String {
    crate::text::phrases::line(&strip_markdown(topic), MAX_TOPIC_CHARS)
}

/// A sentence without its lead-in: "no,", "ok but", "btw", "I told you:".
pub(super) fn clean(sentence: &str) -> &str {
    let mut text = sentence.trim().trim_start_matches(['-', '*', '•', ' ']);
    for _ in 0..3 {
        let Some(end) = text.find([',', ':', ';', '—', '–', '!', '.']) else { break };
        let mark = text[end..].chars().next().unwrap_or(',');
        let (lead, rest) = (&text[..end], text[end + mark.len_utf8()..].trim_start());
        // Punctuation inside a name, a path or a number separates nothing.
        let parts = text[end + mark.len_utf8()..].starts_with(char::is_whitespace);
        let words = lead.split_whitespace().count();
        let empty = content(lead).iter().all(|word| split_phrases(LEAD_WORDS).any(|known| known == word));
        // "it's" and "that's" begin a statement, even without other content.
        let states =
            lead.contains(['\'', '’', '`', '/', '_']) && !lead.to_lowercase().starts_with("that's wrong");
        if !parts || words > MAX_LEAD_WORDS || !empty || states || rest.split_whitespace().count() < MIN_WORDS
        {
            break;
        }
        text = rest;
    }
    for lead in split_phrases(BARE_LEADS) {
        let folded = text.to_lowercase();
        let after = sentences::strip_words(&folded, lead).map(str::len);
        if let Some(rest) = after.and_then(|length| text.get(text.len().checked_sub(length)?..))
            && rest.split_whitespace().count() >= MIN_WORDS
        {
            text = rest;
        }
    }
    text
}

/// Capitalises a sentence, unless it begins with a name.
fn capital(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_word = first.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | ','));
    let mut signs = text.chars();
    match signs.next() {
        Some(sign) if is_word => sign.to_uppercase().chain(signs).collect(),
        _ => text.to_owned(),
    }
}

/// The agent's conclusions in a turn: the lasting sentences of its answers, best first. What it calls open
/// counts only in the last turn of a session: later turns did it, or nobody wanted it.
pub(super) fn of_agent(answers: &[AnswerSentence], is_last_turn: bool) -> Vec<FindingDraft> {
    let found = answers.chunk_by(|a, b| a.at == b.at).flat_map(of_answer);
    found.filter(|draft| is_last_turn || draft.kind != FindingKind::Work).collect()
}

fn of_answer(sentences: &[AnswerSentence]) -> Vec<FindingDraft> {
    let mut found: Vec<(f32, FindingDraft)> = Vec::new();
    let mut last_place = None;
    for sentence in sentences {
        let Some(labels) = sentence.labels.filter(|_| !sentence.is_remark) else { continue };
        if labels.lasting < MIN_AGENT_LASTING || labels.once > labels.lasting {
            continue;
        }
        // A rule of an agent is only a fact that it noticed (B-01).
        let kind = if labels.kind() == StatementKind::Work { FindingKind::Work } else { FindingKind::Fact };
        let mut draft = FindingDraft::of_agent(kind, sentence.at, sentence.text.clone());
        draft.ends = labels.ends >= 0.5;
        let follows = last_place.is_some_and(|last| last + 1 == sentence.place);
        last_place = Some(sentence.place);
        if let Some((likely, last)) = found.last_mut().filter(|_| follows)
            && let Some(both) = join_statements(last, &draft)
        {
            (*likely, *last) = (likely.max(labels.lasting), both);
            continue;
        }
        found.push((labels.lasting, draft));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(MAX_STATEMENTS_PER_ANSWER);
    found.into_iter().map(|(_, draft)| finish_statement(draft)).collect()
}

/// A statement in its stored form: with its topic, and a prefix for remaining work.
pub(super) fn finish_statement(draft: FindingDraft) -> FindingDraft {
    let about = draft.topic.as_ref().map(|topic| format!(" (about: {topic})")).unwrap_or_default();
    let open = if draft.kind == FindingKind::Work { OPEN_PREFIX } else { "" };
    FindingDraft { text: format!("{open}{}{about}", draft.text), topic: None, ..draft }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_stored_without_its_lead_in() {
        for (said, stored) in [
            ("no, I told you: staging is on 5433", "staging is on 5433"),
            ("ok, but errors go through apperr.Wrap", "errors go through apperr.Wrap"),
            ("and always show me the diff", "always show me the diff"),
            ("i don't do these fix: / feat: prefixes", "i don't do these fix: / feat: prefixes"),
            ("stop, the pbxproj is generated.", "the pbxproj is generated."),
            ("no, it's uv here, always", "it's uv here, always"),
            ("use pnpm, not npm", "use pnpm, not npm"),
            ("not yarn, we're on pnpm here", "not yarn, we're on pnpm here"),
            ("- no, keep it on port 7012", "keep it on port 7012"),
            ("v1.2: keep it", "v1.2: keep it"),
        ] {
            assert_eq!(clean(said), stored);
        }
        assert_eq!(capital("staging is on 5433"), "Staging is on 5433");
        assert_eq!(capital("apperr.Wrap wraps"), "apperr.Wrap wraps");
    }

    #[test]
    fn a_statement_keeps_the_sentence_with_its_subject() {
        let of = |before: &str, stated: &str| {
            let sentence = |text| PersonSentence {
                at: 0,
                text,
                next: None,
                list: Vec::new(),
                answers: true,
                follows_question: false,
                certain: true,
                long: false,
            };
            let draft = FindingDraft {
                text: stated.to_owned(),
                ..FindingDraft::of_agent(FindingKind::Fact, 0, String::new())
            };
            finish_statement(with_lead_sentence(&sentence(before), draft)).text
        };
        let client = "The kiosk is the only client";
        assert_eq!(of("take drf out again.", client), "Take drf out again. The kiosk is the only client");
        assert_eq!(of("no amend.", "I squash when I merge"), "No amend. I squash when I merge");
        assert_eq!(
            of("which slots are full on staging?", "Db is vm-stage:5433"),
            "Db is vm-stage:5433 (about: which slots are full on staging?)"
        );
        for nothing in ["nice.", "ok, do it.", "no tests, just this once.", &"long ".repeat(11)] {
            assert_eq!(of(nothing, client), client, "{nothing}");
        }
    }

    #[test]
    fn r_15_a_statement_that_points_at_the_project_stays_there() {
        assert!(is_everywhere("I like short commit messages", 0.98));
        assert!(!is_everywhere("commit, subject with the area in front like in the log", 0.99));
        assert!(!is_everywhere("errors go through apperr.Wrap", 0.99));
        assert!(is_everywhere("in all my projects errors go through apperr.Wrap", 0.5));
        assert!(!is_everywhere("I like short commit messages", 0.9));
    }
}

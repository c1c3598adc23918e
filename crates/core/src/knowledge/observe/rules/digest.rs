//! The digest of a turn: the request, where the person stopped the agent, the sentences of the answer that tell most, what was
//! changed and checked.
//!
//! A digest is read weeks later, so an instruction that was meant for once is in none, nor what the agent said about it.

use std::collections::BTreeSet;

use super::answers::AnswerSentence;
use super::command;
use super::course::{names, settled};
use super::output::State;
use super::request;
use super::turn::Turn;
use super::view::View;
use super::words::gate;
use crate::text::phrases::{content, has, has_dense, line};
use crate::text::sentences;
use crate::text::specifics::{is_count, occurs, specifics};

/// Characters of the request.
const REQUEST_CHARS: usize = 120;
/// Fewer telling words say nothing about what is wanted.
const MIN_GOAL_WORDS: usize = 2;
/// Characters of the agent's answer.
const ANSWER_CHARS: usize = 600;
/// Sentences that are less likely to last are left out, except the one that says what came of it.
const MIN_LASTING: f32 = 0.02;
/// Characters of each thing that the person said in between.
const STEER_CHARS: usize = 120;
/// The most things said in between.
const MAX_STEERS: usize = 2;
/// Fewer telling words in a sentence of an answer say nothing about what came of it.
const MIN_ANSWER_WORDS: usize = 4;
/// A clause of so few telling words that says "for this run" is about the clause before it.
const MAX_LIMIT_WORDS: usize = 2;
/// "for this flash only": at most so many words in between.
const MAX_ONLY_WORDS: usize = 4;

/// What happened in a turn.
pub(super) fn digest(
    view: &View<'_>,
    turn: &Turn,
    answers: &[AnswerSentence],
    once: &BTreeSet<String>,
) -> String {
    let mut parts: Vec<String> = Vec::new();
    let goal = turn.request(view).and_then(goal);
    parts.extend(goal.map(|text| format!("“{}”", ended(&line(text, REQUEST_CHARS)))));
    for place in
        turn.said.iter().skip(1).filter(|place| view.messages[view.said[**place].at].stopped).take(MAX_STEERS)
    {
        let said = &view.said[*place];
        let text = request::request(said).unwrap_or(said.text.as_str());
        if is_once(text) {
            continue;
        }
        parts.push(format!("The user stopped it: “{}”", ended(&line(text, STEER_CHARS))));
    }
    parts.extend(answer(answers, once));
    let files = view.files(turn.from, turn.to);
    if !files.is_empty() {
        parts.push(format!("Changed {}", names(&files, 3, 80)));
    }
    parts.extend(ending(view, turn));
    // A request alone, with nothing that came of it, is nothing to tell.
    if parts.len() == usize::from(goal.is_some()) {
        return String::new();
    }
    format!("{}.", parts.join(". "))
}

/// The clause of a request that says what is wanted; none if all of it was meant for once.
fn goal(request: &str) -> Option<&str> {
    let says = |text: &&str| content(text).len() >= MIN_GOAL_WORDS;
    let told = sentences::sentences(request).into_iter().find_map(|sentence| {
        if !is_once(sentence) {
            return says(&sentence).then_some(sentence);
        }
        lasting_clause(sentence).filter(says)
    });
    let sentence = told?;
    // What is said beside the goal is often about this once.
    let mut clauses = sentence.match_indices([',', ';']).map(|(at, _)| &sentence[..at]);
    let clause = clauses.find(|clause| content(clause).len() > MIN_GOAL_WORDS && !is_once(clause));
    Some(clause.unwrap_or(sentence))
}

/// The beginning of a sentence up to the clause that is meant for once, and up to the one before it where that clause only
/// limits it: "run it with vsync off, only for this run".
fn lasting_clause(sentence: &str) -> Option<&str> {
    let ends: Vec<usize> =
        sentence.match_indices([',', ';']).map(|(at, _)| at).chain([sentence.len()]).collect();
    let starts = std::iter::once(0).chain(ends.iter().map(|end| end + 1));
    let clauses: Vec<(usize, &str)> =
        starts.zip(&ends).filter_map(|(start, end)| Some((start, sentence.get(start..*end)?))).collect();
    let once = clauses.iter().position(|(_, clause)| is_once(clause))?;
    let limits = content(clauses[once].1).len() <= MAX_LIMIT_WORDS;
    let last = once.checked_sub(1 + usize::from(limits))?;
    let (start, clause) = clauses[last];
    sentence.get(..start + clause.len())
}

/// Whether a sentence says that it is meant for once.
pub(super) fn is_once(text: &str) -> bool {
    let folded = sentences::folded(text);
    has(&folded, gate::ONCE) || has_dense(&folded, gate::DENSE_ONCE) || is_for_this_only(&folded)
}

/// "for this flash only".
fn is_for_this_only(folded: &str) -> bool {
    folded.match_indices("for this ").any(|(at, lead)| {
        let rest = folded[at + lead.len()..].split_whitespace().take(MAX_ONLY_WORDS);
        rest.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).any(|word| word == "only")
    })
}

/// The values in what the person meant for once in a session: ports, paths, versions.
pub(super) fn once_values(view: &View<'_>) -> BTreeSet<String> {
    let said = view.said.iter().flat_map(|said| sentences::lines(&said.text));
    let once =
        said.flat_map(sentences::sentences).filter(|sentence| is_once(sentence) || is_for_today(sentence));
    once.flat_map(specifics).filter(|value| !is_count(value)).collect()
}

/// Whether a sentence of the person is about today alone: "on 8899 today", but not "since today".
fn is_for_today(text: &str) -> bool {
    let folded = sentences::folded(text);
    has(&folded, TODAY) && !has(&folded, SINCE_TODAY)
}

const TODAY: &str = "today | tonight | heute | hoy | aujourd'hui | hoje";
const SINCE_TODAY: &str = "\
    since today | from today | as of today | starting today | seit heute | ab heute | desde hoy | depuis aujourd'hui | desde hoje";

fn ended(text: &str) -> &str {
    text.trim_end_matches(['.', ':', '。', ';', ','])
}

/// The sentence that says what came of it and those that tell most, in their order, whole.
fn answer(answers: &[AnswerSentence], once: &BTreeSet<String>) -> Option<String> {
    let says = |sentence: &&AnswerSentence| {
        let text = &sentence.text;
        content(text).len() >= MIN_ANSWER_WORDS
            && !text.ends_with([':', '：', '?', '？'])
            && !is_once(text)
            && !once.iter().any(|value| occurs(value, text))
    };
    let sentences: Vec<&AnswerSentence> = answers.iter().filter(says).collect();
    let last_message = sentences.last()?.at;
    let outcome = sentences.iter().position(|sentence| sentence.at == last_message);
    let mut places: Vec<usize> = (0..sentences.len())
        .filter(|place| {
            Some(*place) == outcome || sentences[*place].lasting().is_none_or(|likely| likely >= MIN_LASTING)
        })
        .collect();
    // Without a classifier the order of the answer is the best there is.
    places.sort_by(|a, b| {
        let worth = |place: usize| sentences[place].lasting().unwrap_or(0.0);
        (Some(*b) == outcome).cmp(&(Some(*a) == outcome)).then(worth(*b).total_cmp(&worth(*a))).then(a.cmp(b))
    });
    let mut room = ANSWER_CHARS;
    places.retain(|place| {
        let length = sentences[*place].text.chars().count() + 1;
        let fits = length <= room;
        room -= if fits { length } else { 0 };
        fits
    });
    if places.is_empty() {
        return Some(ended(&line(&sentences[outcome?].text, ANSWER_CHARS)).to_owned());
    }
    places.sort_unstable();
    let told: Vec<&str> = places.iter().map(|place| sentences[*place].text.as_str()).collect();
    Some(ended(&told.join(" ")).to_owned())
}

/// How the work of a turn ended, if a check or a commit tells.
fn ending(view: &View<'_>, turn: &Turn) -> Option<String> {
    let (step, state) = view.steps_between(turn.from, turn.to).rev().find_map(|step| settled(step))?;
    let command = step.command.as_ref()?;
    let what = line(&command.name(), 80);
    Some(match state {
        State::Passed if command.commits() => match command::subject(&step.call.input) {
            Some(subject) => format!("Committed “{}”", line(&subject, 100)),
            None => "Committed".to_owned(),
        },
        State::Passed => format!("`{what}` passed"),
        _ => format!("`{what}` still failed at the end"),
    })
}

//! The digest of a turn: the request, the user's interruptions, the most informative sentences of the answer,
//! the changes and checks.
//!
//! A digest is read weeks later, so it omits one-off instructions and the agent's words about them.

use std::collections::BTreeSet;

use super::answers::AnswerSentence;
use super::command;
use super::mended_failures::{names, settling_step};
use super::one_offs::is_one_off;
use super::output::CallState;
use super::request;
use super::session_view::SessionView;
use super::turn::SessionTurn;
use crate::text::phrases::{content, line};
use crate::text::sentences;
use crate::text::specific_terms::{contains_specific, specifics};

/// The maximum length of the request, in characters.
const MAX_REQUEST_CHARS: usize = 160;
/// The maximum length of a numbered reply, in characters.
const MAX_REPLY_CHARS: usize = 300;
/// The maximum number of lines of a numbered reply.
const MAX_REPLY_LINES: usize = 8;
/// The minimum number of significant words of a goal.
const MIN_GOAL_WORDS: usize = 2;
/// The maximum length of the agent's answer, in characters.
const MAX_ANSWER_CHARS: usize = 1_000;
/// The minimum probability that a sentence lasts. The sentence with the result is exempt.
const MIN_LASTING: f32 = 0.02;
/// The worth of a sentence that names something: a path, a command, a number. The classifier knows the form of
/// a conclusion better than that of a plain fact.
const NAMING_WORTH: f32 = 0.1;
/// The maximum length of an interruption, in characters.
const MAX_STEER_CHARS: usize = 120;
/// The maximum number of interruptions.
const MAX_STEERS: usize = 2;
/// The minimum number of significant words in a sentence of an answer.
const MIN_ANSWER_WORDS: usize = 4;
/// The maximum number of significant words of a "for this run" clause that refers to the clause before it.
const MAX_LIMIT_WORDS: usize = 2;

/// The digest of a turn.
pub(super) fn digest(
    view: &SessionView<'_>,
    turn: &SessionTurn,
    answers: &[AnswerSentence],
    once: &BTreeSet<String>,
) -> String {
    let mut parts: Vec<String> = Vec::new();
    let goal = match reply(view, turn) {
        Some(reply) => Some(line(&reply, MAX_REPLY_CHARS)),
        None => turn.request(view).and_then(goal).map(|text| line(text, MAX_REQUEST_CHARS)),
    };
    parts.extend(goal.as_ref().map(|text| format!("“{}”", with_full_stop(text))));
    for place in turn
        .person_messages
        .iter()
        .skip(1)
        .filter(|place| view.messages[view.person_messages[**place].at].stopped)
        .take(MAX_STEERS)
    {
        let message = &view.person_messages[*place];
        let text = request::request(message).unwrap_or(message.text.as_str());
        if is_one_off(text) {
            continue;
        }
        parts.push(format!("The user stopped it: “{}”", with_full_stop(&line(text, MAX_STEER_CHARS))));
    }
    parts.extend(answer(answers, once));
    let files = view.files(turn.from, turn.to);
    if !files.is_empty() {
        parts.push(format!("Changed {}", names(&files, 3, 80)));
    }
    parts.extend(turn_ending(view, turn));
    // A request without any result is not worth a digest.
    if parts.len() == usize::from(goal.is_some()) {
        return String::new();
    }
    format!("{}.", parts.join(". "))
}

/// A numbered reply to the agent's questions, whole: none of its lines is the request.
fn reply(view: &SessionView<'_>, turn: &SessionTurn) -> Option<String> {
    let message = &view.person_messages[*turn.person_messages.first()?];
    let lines: Vec<&str> = message.text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_numbered = |line: &&str| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < line.len() && rest.starts_with(['.', ')'])
    };
    let is_asked =
        || view.agent(0, message.at).next_back().is_some_and(|(_, text)| text.contains(['?', '？']));
    let is_reply = (2..=MAX_REPLY_LINES).contains(&lines.len())
        && lines.iter().all(is_numbered)
        && message.text.chars().count() <= MAX_REPLY_CHARS
        && is_asked();
    let lasting: Vec<&str> = lines.into_iter().filter(|line| !is_one_off(line)).collect();
    (is_reply && !lasting.is_empty()).then(|| lasting.join("; "))
}

/// The clauses of a request that state the goal; `None` if all of it is a one-off.
fn goal(request: &str) -> Option<&str> {
    let says = |text: &&str| content(text).len() >= MIN_GOAL_WORDS;
    let purpose = sentences::split_sentences(request).into_iter().find_map(|sentence| {
        if !is_one_off(sentence) {
            return says(&sentence).then_some(sentence);
        }
        lasting_clause(sentence).filter(says)
    });
    let sentence = purpose?;
    // Clauses beside the goal are often one-offs, above all if they name values.
    let ends: Vec<usize> =
        sentence.match_indices([',', ';']).map(|(at, _)| at).chain([sentence.len()]).collect();
    let is_goal =
        |end: usize| content(&sentence[..end]).len() > MIN_GOAL_WORDS && !is_one_off(&sentence[..end]);
    let Some(first) = ends.iter().position(|end| is_goal(*end)) else { return Some(sentence) };
    let is_beside = |from: usize, to: usize| {
        let clause = &sentence[from..to];
        is_one_off(clause) || !specifics(clause).is_empty()
    };
    let last = (first + 1..ends.len()).take_while(|place| !is_beside(ends[place - 1], ends[*place])).last();
    Some(&sentence[..ends[last.unwrap_or(first)]])
}

/// The start of a sentence up to its one-off clause, or up to the clause before it if the one-off clause only
/// limits that: "run it with vsync off, only for this run".
fn lasting_clause(sentence: &str) -> Option<&str> {
    let ends: Vec<usize> =
        sentence.match_indices([',', ';']).map(|(at, _)| at).chain([sentence.len()]).collect();
    let starts = std::iter::once(0).chain(ends.iter().map(|end| end + 1));
    let clauses: Vec<(usize, &str)> =
        starts.zip(&ends).filter_map(|(start, end)| Some((start, sentence.get(start..*end)?))).collect();
    let once = clauses.iter().position(|(_, clause)| is_one_off(clause))?;
    let limits = content(clauses[once].1).len() <= MAX_LIMIT_WORDS;
    let last = once.checked_sub(1 + usize::from(limits))?;
    let (start, clause) = clauses[last];
    sentence.get(..start + clause.len())
}

fn with_full_stop(text: &str) -> &str {
    text.trim_end_matches(['.', ':', '。', ';', ','])
}

/// The sentence with the result and the most informative others, in order, whole.
fn answer(answers: &[AnswerSentence], once: &BTreeSet<String>) -> Option<String> {
    let says = |sentence: &&AnswerSentence| {
        let text = &sentence.text;
        content(text).len() >= MIN_ANSWER_WORDS
            && !text.ends_with([':', '：', '?', '？'])
            && !is_one_off(text)
            && !once.iter().any(|value| contains_specific(value, text))
    };
    let sentences: Vec<&AnswerSentence> = answers.iter().filter(says).collect();
    let last = sentences.iter().rfind(|sentence| !sentence.is_remark);
    let outcome = last.and_then(|last| sentences.iter().position(|sentence| sentence.at == last.at));
    let mut places: Vec<usize> = (0..sentences.len())
        .filter(|place| {
            Some(*place) == outcome
                || sentences[*place].lasting_probability().is_none_or(|likely| likely >= MIN_LASTING)
        })
        .collect();
    // Without a classifier the order of the answer is the best available.
    places.sort_by(|a, b| {
        let worth = |place: usize| {
            let sentence = sentences[place];
            let names = !specifics(&sentence.text).is_empty();
            sentence.lasting_probability().unwrap_or(0.0).max(if names { NAMING_WORTH } else { 0.0 })
        };
        (Some(*b) == outcome).cmp(&(Some(*a) == outcome)).then(worth(*b).total_cmp(&worth(*a))).then(a.cmp(b))
    });
    let mut room = MAX_ANSWER_CHARS;
    places.retain(|place| {
        let length = sentences[*place].text.chars().count() + 1;
        let fits = length <= room;
        room -= if fits { length } else { 0 };
        fits
    });
    if places.is_empty() {
        return Some(with_full_stop(&line(&sentences[outcome?].text, MAX_ANSWER_CHARS)).to_owned());
    }
    places.sort_unstable();
    let chosen: Vec<&str> = places.iter().map(|place| sentences[*place].text.as_str()).collect();
    Some(with_full_stop(&chosen.join(" ")).to_owned())
}

/// The outcome of a turn's work, if a check or a commit shows it.
fn turn_ending(view: &SessionView<'_>, turn: &SessionTurn) -> Option<String> {
    let (step, state) = view.steps_between(turn.from, turn.to).rev().find_map(|step| settling_step(step))?;
    let command = step.command.as_ref()?;
    let what = line(&command.name(), 80);
    // After "skip the slow ones this time" the options say how it is not run otherwise.
    let is_once = turn.person_messages.iter().any(|place| {
        let lines = sentences::lines(&view.person_messages[*place].text).into_iter();
        lines.flat_map(sentences::split_sentences).any(is_one_off)
    });
    let what = if is_once { without_options(&what) } else { &what };
    Some(match state {
        CallState::Passed if command.commits() => match command::commit_subject(&step.call.input) {
            Some(subject) => format!("Committed “{}”", line(&subject, 100)),
            None => "Committed".to_owned(),
        },
        CallState::Passed => format!("`{what}` passed"),
        _ => format!("`{what}` still failed at the end"),
    })
}

/// A command up to its first option.
fn without_options(command: &str) -> &str {
    command.find(" -").map_or(command, |end| &command[..end])
}

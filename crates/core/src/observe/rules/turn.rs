//! A session as a list of turns: a request with everything until the next one, and a digest of each (OBS-14, OBS-15).
//!
//! A word that only says go on, or that steers the agent while it works, belongs to the turn that it is about.

use super::command;
use super::course::{names, settled};
use super::draft::{Draft, MAX_COMMIT_CHARS};
use super::line::{content, has, has_dense, head, line};
use super::output::State;
use super::request;
use super::statements::plain;
use super::view::View;
use super::words::gate;
use crate::observe::Kind;
use crate::session::{Role, own};
use crate::time::{Date, Timestamp};
use crate::vault::priority::Priority;

/// After a silence of so many seconds a new turn begins, whatever is said.
const SILENCE_SECONDS: i64 = 45 * 60;
/// A message of so few words goes on with what was asked before.
const SHORT_WORDS: usize = 3;
/// Characters of the request in a digest.
const REQUEST_CHARS: usize = 120;
/// Fewer telling words say nothing about what is wanted.
const MIN_GOAL_WORDS: usize = 2;
/// Characters of the agent's answer in a digest.
const ANSWER_CHARS: usize = 500;
/// Characters of each thing that the person said in between.
const STEER_CHARS: usize = 120;
/// The most things said in between that a digest tells.
const MAX_STEERS: usize = 2;
/// What is read of an answer.
const ANSWER_BYTES: usize = 8 * 1024;
/// Fewer telling words in a sentence of an answer say nothing about what came of it.
const MIN_ANSWER_WORDS: usize = 4;

/// One turn: messages from `from` up to `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub from: usize,
    pub to: usize,
    /// The person's messages in it, as places in [`View::said`]; the first is the request.
    said: Vec<usize>,
}

impl Turn {
    /// What was asked for, in the person's words.
    pub(super) fn request<'v>(&self, view: &'v View<'_>) -> Option<&'v str> {
        self.said.iter().find_map(|place| request::request(&view.said[*place]))
    }

    /// The agent's answers: what it said last before the person spoke again, and at the end.
    pub(super) fn answers<'v>(&self, view: &View<'v>) -> Vec<(usize, &'v str)> {
        let ends = self.said.iter().skip(1).map(|place| view.said[*place].at).chain([self.to]);
        let mut answers: Vec<(usize, &str)> = Vec::new();
        let mut from = self.from;
        for end in ends {
            answers.extend(view.agent(from, end).next_back());
            from = end;
        }
        answers
    }

    /// The day on which it was over.
    pub(super) fn day(&self, view: &View<'_>) -> Option<Date> {
        view.messages[self.from..self.to].iter().rev().find_map(|message| view.day(message))
    }
}

/// The turns of a session, in order; together they are all of it.
pub(super) fn turns(view: &View<'_>) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (place, said) in view.said.iter().enumerate() {
        let message = &view.messages[said.at];
        let before = said.at.checked_sub(1).map(|at| view.messages[at].role);
        // Typed while the agent was at work: nothing was answered yet.
        let steers = message.stopped || matches!(before, Some(Role::Tool)) && !turns.is_empty();
        // "good, commit" is about what was done before.
        let short = said.text.split_whitespace().count() <= SHORT_WORDS;
        let joins = (steers || short || request::goes_on(said))
            && !silence(view, said.at)
            && !cut_before(view, said.at);
        match turns.last_mut() {
            Some(last) if joins => last.said.push(place),
            last => {
                let from = if last.is_some() { said.at } else { 0 };
                if let Some(last) = last {
                    last.to = said.at;
                }
                turns.push(Turn { from, to: view.messages.len(), said: vec![place] });
            }
        }
    }
    turns
}

/// Whether nobody said anything for long before message `at`. A clock that went backwards tells nothing.
fn silence(view: &View<'_>, at: usize) -> bool {
    let time = |at: usize| view.messages[at].at.map(Timestamp::as_second);
    at > 0 && time(at).zip(time(at - 1)).is_some_and(|(now, before)| now - before >= SILENCE_SECONDS)
}

/// Whether the host dropped its context just before message `at`.
fn cut_before(view: &View<'_>, at: usize) -> bool {
    at > 0 && view.messages[at - 1].role == Role::Summary
}

/// What happened in a turn: the request, what the person said in between, what the agent answered, what was changed and checked.
pub(super) fn digest(view: &View<'_>, turn: &Turn) -> String {
    let mut parts: Vec<String> = Vec::new();
    let goal = turn.request(view).map(goal).filter(|text| !is_once(text));
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
    parts.extend(answer(view, turn));
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

/// The clause of a request that says what is wanted; what is said beside it is often for this once.
fn goal(request: &str) -> &str {
    let says = |text: &&str| content(text).len() >= MIN_GOAL_WORDS && !is_once(text);
    let sentence = own::sentences(request).into_iter().find(says).unwrap_or(request);
    // Where it is meant for once, the clause that says what was wanted may still be told.
    let least = if is_once(sentence) { MIN_GOAL_WORDS } else { MIN_GOAL_WORDS + 1 };
    let mut clauses = sentence.match_indices([',', ';']).map(|(at, _)| &sentence[..at]);
    clauses.find(|clause| content(clause).len() >= least && !is_once(clause)).unwrap_or(sentence)
}

/// Whether a sentence says that it is meant for once: a digest is read weeks later.
pub(super) fn is_once(text: &str) -> bool {
    let folded = own::folded(text);
    has(&folded, gate::ONCE) || has_dense(&folded, gate::DENSE_ONCE)
}

fn ended(text: &str) -> &str {
    text.trim_end_matches(['.', ':', '。', ';', ','])
}

/// The heads of the agent's first and last answer: whole sentences that say what came of it, without code and lists of files.
fn answer(view: &View<'_>, turn: &Turn) -> Option<String> {
    let answers = turn.answers(view);
    let (_, last) = answers.last()?;
    let first =
        answers.first().filter(|_| answers.len() > 1).map(|(_, first)| answer_head(first, ANSWER_CHARS / 2));
    let last = answer_head(last, if first.is_some() { ANSWER_CHARS / 2 } else { ANSWER_CHARS });
    let told: Vec<String> = first.into_iter().chain([last]).filter(|told| !told.is_empty()).collect();
    let told = told.join(". ");
    (!told.is_empty()).then_some(told)
}

fn answer_head(text: &str, most: usize) -> String {
    let mut told = String::new();
    for sentence in own::lines(head(text, ANSWER_BYTES)).into_iter().flat_map(own::sentences) {
        let bare = plain(sentence);
        let says = content(&bare).len() >= MIN_ANSWER_WORDS && !bare.ends_with([':', '：', '?', '？']);
        if !says || is_once(&bare) {
            continue;
        }
        let bare = line(&bare, most);
        if !told.is_empty() && told.chars().count() + bare.chars().count() + 1 > most {
            break;
        }
        if !told.is_empty() {
            told.push(' ');
        }
        told.push_str(&bare);
    }
    ended(&told).to_owned()
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

/// What the commits of a turn say: whoever commits has distilled what was done, and the body gives the reasons.
pub(super) fn commits(view: &View<'_>, turn: &Turn) -> Vec<Draft> {
    let made = view.steps_between(turn.from, turn.to).filter(|step| {
        step.state == State::Passed && step.command.as_ref().is_some_and(command::Command::commits)
    });
    let draft = |step: &super::view::Step<'_>| {
        let (subject, body) = command::commit_message(&step.call.input)?;
        let text = if body.is_empty() {
            format!("Committed “{subject}”")
        } else {
            let room = MAX_COMMIT_CHARS.saturating_sub(subject.chars().count() + 16);
            format!("Committed “{subject}”: {}", sentences_within(&body, room))
        };
        let mut draft = Draft::of_agent(Kind::Commit, step.result.unwrap_or(step.at), text);
        // A subject alone is a title; reasons are worth keeping.
        draft.priority = if body.is_empty() { Priority::Low } else { Priority::Medium };
        draft.messages.push(step.at);
        Some(draft)
    };
    made.filter_map(draft).collect()
}

/// As many whole sentences as fit.
fn sentences_within(text: &str, most: usize) -> String {
    let mut kept = String::new();
    for sentence in text.lines().flat_map(own::sentences) {
        let bare = plain(sentence);
        if kept.chars().count() + bare.chars().count() + 1 > most {
            break;
        }
        if !kept.is_empty() {
            kept.push(' ');
        }
        kept.push_str(&bare);
    }
    if kept.is_empty() { line(text, most) } else { kept }
}

//! Splits a session into turns: a request with everything up to the next one (OBS-14, OBS-15).
//!
//! A message that only says to continue, or that steers the working agent, belongs to the current turn.

use super::command;
use super::draft::{FindingDraft, MAX_COMMIT_CHARS};
use super::output::CallState;
use super::request;
use super::session_view::SessionView;
use crate::base::time::{Date, Timestamp};
use crate::knowledge::observe::FindingKind;
use crate::session::MessageRole;
use crate::text::phrases::line;
use crate::text::sentences::{self, strip_markdown};
use crate::vault::priority::Priority;

/// The silence after which a new turn begins, in seconds.
const TURN_GAP_SECONDS: i64 = 45 * 60;
/// The maximum number of words of a message that continues the request.
const MAX_FOLLOW_UP_WORDS: usize = 3;
/// One turn: the messages from `from` up to `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SessionTurn {
    pub from: usize,
    pub to: usize,
    /// The user's messages in it, as indexes into [`SessionView::said`]; the first is the request.
    pub person_messages: Vec<usize>,
}

impl SessionTurn {
    /// The request in the user's words.
    pub(super) fn request<'v>(&self, view: &'v SessionView<'_>) -> Option<&'v str> {
        self.person_messages.iter().find_map(|place| request::request(&view.person_messages[*place]))
    }

    /// The agent's answers: its last words before each user message, and at the end.
    pub(super) fn answers<'v>(&self, view: &SessionView<'v>) -> Vec<(usize, &'v str)> {
        let ends =
            self.person_messages.iter().skip(1).map(|place| view.person_messages[*place].at).chain([self.to]);
        let mut answers: Vec<(usize, &str)> = Vec::new();
        let mut from = self.from;
        for end in ends {
            answers.extend(view.agent(from, end).next_back());
            from = end;
        }
        answers
    }

    /// The day on which the turn ended.
    pub(super) fn day(&self, view: &SessionView<'_>) -> Option<Date> {
        view.messages[self.from..self.to].iter().rev().find_map(|message| view.day(message))
    }
}

/// The turns of a session, in order; they cover all of it.
pub(super) fn turns(view: &SessionView<'_>) -> Vec<SessionTurn> {
    let mut turns: Vec<SessionTurn> = Vec::new();
    for (place, typed) in view.person_messages.iter().enumerate() {
        let message = &view.messages[typed.at];
        let before = typed.at.checked_sub(1).map(|at| view.messages[at].role);
        // Typed while the agent was working: nothing was answered yet.
        let steers = message.stopped || matches!(before, Some(MessageRole::Tool)) && !turns.is_empty();
        // "good, commit" refers to the work before.
        let short = typed.text.split_whitespace().count() <= MAX_FOLLOW_UP_WORDS;
        let joins = (steers || short || request::is_continuation(typed))
            && !silence(view, typed.at)
            && !cut_before(view, typed.at);
        match turns.last_mut() {
            Some(last) if joins => last.person_messages.push(place),
            last => {
                let from = if last.is_some() { typed.at } else { 0 };
                if let Some(last) = last {
                    last.to = typed.at;
                }
                turns.push(SessionTurn { from, to: view.messages.len(), person_messages: vec![place] });
            }
        }
    }
    turns
}

/// True if there was a long silence before message `at`. A clock that went backwards proves nothing.
fn silence(view: &SessionView<'_>, at: usize) -> bool {
    let time = |at: usize| view.messages[at].at.map(Timestamp::as_second);
    at > 0 && time(at).zip(time(at - 1)).is_some_and(|(now, before)| now - before >= TURN_GAP_SECONDS)
}

/// True if the host compacted its context just before message `at`.
fn cut_before(view: &SessionView<'_>, at: usize) -> bool {
    at > 0 && view.messages[at - 1].role == MessageRole::Summary
}

/// The commits of a turn: the subject summarises the work, and the body gives the reasons.
pub(super) fn commits(view: &SessionView<'_>, turn: &SessionTurn) -> Vec<FindingDraft> {
    let made = view.steps_between(turn.from, turn.to).filter(|step| {
        step.state == CallState::Passed && step.command.as_ref().is_some_and(command::ShellCommand::commits)
    });
    let draft = |step: &super::session_view::ToolStep<'_>| {
        let (subject, body) = command::commit_message(&step.call.input)?;
        let text = if body.is_empty() {
            format!("Committed “{subject}”")
        } else {
            let room = MAX_COMMIT_CHARS.saturating_sub(subject.chars().count() + 16);
            format!("Committed “{subject}”: {}", sentences_within(&body, room))
        };
        let mut draft = FindingDraft::of_agent(FindingKind::Commit, step.result.unwrap_or(step.at), text);
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
    for sentence in text.lines().flat_map(sentences::split_sentences) {
        let bare = strip_markdown(sentence);
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

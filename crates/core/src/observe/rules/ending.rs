//! How a session ended: what is still to be done, and how it could go on (OBS-16).

use super::course::settled;
use super::line::{content, line};
use super::output::State;
use super::request;
use super::view::View;
use crate::session::Role;

/// What is said of a session with nothing left to do.
pub(super) const COMPLETED: &str = "Session completed normally.";

/// The last request if it was not finished, and how to go on.
pub(super) fn ending(view: &View<'_>) -> (Option<String>, Option<String>) {
    let Some(last) = view.said.last() else { return (None, None) };
    let end = view.messages.len();
    // "Yes, do it" is about what was asked before.
    let asked = view.said.iter().rev().take(5).find_map(request::request).map(|text| line(text, 200));
    let answer = view.agent(last.at + 1, end).next_back();
    let task = |why: String| (asked.clone(), Some(why));
    let Some((answered, answer)) = answer else {
        return task("The last request has no answer yet.".to_owned());
    };
    let steps = || view.steps_between(last.at, end);
    let verdict = steps().rev().find_map(|step| settled(step));
    let changed = steps().rev().find(|step| !step.call.writes.is_empty() && step.state == State::Passed);
    match verdict {
        Some((step, State::Failed)) => {
            let name = step.command.as_ref().map_or_else(String::new, |command| line(&command.name(), 100));
            return task(format!("`{name}` still failed at the end."));
        }
        Some((step, _)) if changed.is_none_or(|change| change.at <= step.at) => {
            return (None, Some(COMPLETED.to_owned()));
        }
        _ => {}
    }
    if view.messages.last().is_some_and(|message| message.role != Role::Assistant) || answered + 1 < end {
        return task("The agent was still at work on the last request.".to_owned());
    }
    if let Some(question) = open_question(answer) {
        return task(format!("The agent asked and got no answer: “{}”", line(question, 160)));
    }
    match changed {
        // Whether it works nobody knows.
        Some(_) => (None, Some("Files were changed last; no check ran after that.".to_owned())),
        None => (None, Some(COMPLETED.to_owned())),
    }
}

/// The question with which an answer ends.
fn open_question(answer: &str) -> Option<&str> {
    let last = answer.trim_end().lines().next_back()?;
    let question = crate::session::own::sentences(last).pop()?;
    (question.ends_with(['?', '？']) && content(question).len() >= 2).then_some(question)
}

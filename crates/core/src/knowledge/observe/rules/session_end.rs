//! The end of a session: the remaining work, and the next step (OBS-16).

use super::command::ShellCommand;
use super::mended_failures::{mended_failures, names, settling_step};
use super::open_items;
use super::output::CallState;
use super::plans;
use super::request;
use super::session_view::{SessionView, ToolStep};
use crate::session::MessageRole;
use crate::text::phrases::{content, line};
use crate::text::sentences;

/// The text for a session without remaining work.
pub(super) const COMPLETED_TEXT: &str = "Session completed normally.";
/// The maximum number of steps and files listed.
const MAX_NAMED: usize = 3;
/// The maximum length of a file name, in characters.
const MAX_NAME_CHARS: usize = 60;
/// The maximum length of a step, in characters.
const MAX_STEP_CHARS: usize = 60;

/// The last request if it is unfinished, and the next step.
pub(super) fn open_request(view: &SessionView<'_>) -> (Option<String>, Option<String>) {
    if view.person_messages.is_empty() {
        return (None, None);
    }
    let unfinished = unfinished(view);
    // "Yes, do it" refers to the request before.
    let asked =
        view.person_messages.iter().rev().take(5).find_map(request::request).map(|text| line(text, 200));
    let task = asked.filter(|_| unfinished.is_some());
    let mut left: Vec<String> = unfinished.into_iter().collect();
    left.extend(left_over(view));
    if left.is_empty() {
        return (None, Some(COMPLETED_TEXT.to_owned()));
    }
    left.extend(plans::file(view).map(|file| format!("Plan: {file}.")));
    left.extend(branch(view).map(|branch| format!("Branch: `{branch}`.")));
    (task, Some(left.join(" ")))
}

/// The reason why the last request is unfinished.
fn unfinished(view: &SessionView<'_>) -> Option<String> {
    let (last, end) = (view.person_messages.last()?.at, view.messages.len());
    let Some((answered, answer)) = view.agent(last + 1, end).next_back() else {
        return Some("The last request has no answer yet.".to_owned());
    };
    // An earlier failed check is still open after the user says thanks.
    let check = view.steps.iter().rev().find(|step| is_check(step) && settling_step(step).is_some());
    if let Some(step) = check.filter(|step| step.state == CallState::Failed) {
        let name = step.command.as_ref().map_or_else(String::new, |command| line(&command.name(), 100));
        return Some(format!("`{name}` still failed at the end."));
    }
    if plans::has_pending_plan(view) {
        return Some("The agent's plan waits for an answer.".to_owned());
    }
    let last_step = view.steps_between(last, end).next_back();
    let is_settled = last_step.and_then(settling_step).is_some_and(|(_, state)| state == CallState::Passed);
    let ends_with_agent = view.messages.last().is_some_and(|message| message.role == MessageRole::Assistant);
    if !is_settled && (!ends_with_agent || answered + 1 < end) {
        return Some("The agent was still at work on the last request.".to_owned());
    }
    let question = open_question(answer).filter(|_| answered + 1 == end)?;
    Some(format!("The agent asked and got no answer: “{}”", line(question, 160)))
}

/// Loose ends of a finished request: a missing check or commit, steps of a list.
fn left_over(view: &SessionView<'_>) -> Vec<String> {
    let mut left = Vec::new();
    let checked = view.steps.iter().rev().find_map(settling_step).map(|(step, _)| step.at);
    // A command that failed before the change and passed after it counts as a check.
    let mended = mended_failures(view).last().map(|mended| view.steps[mended.passed].at);
    let last_settled = checked.max(mended);
    let last_change = view
        .steps
        .iter()
        .rev()
        .find(|step| !step.call.writes.is_empty() && step.state == CallState::Passed)
        .map(|step| step.at);
    if last_change.is_some_and(|change| last_settled.is_none_or(|settled| change > settled)) {
        // The result of the last change was not checked.
        left.push("Files were changed last; no check ran after that.".to_owned());
    }
    left.extend(uncommitted(view));
    let steps = open_items::steps(view);
    if !steps.is_empty() {
        let shown: Vec<String> =
            steps.iter().take(MAX_NAMED).map(|step| format!("“{}”", line(step, MAX_STEP_CHARS))).collect();
        let more = steps.len().saturating_sub(MAX_NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        left.push(format!("Left on the agent's list: {}{more}.", shown.join(", ")));
    }
    left
}

/// Files changed after the last commit, in a session that uses git.
fn uncommitted(view: &SessionView<'_>) -> Option<String> {
    let with_git = |step: &ToolStep<'_>| {
        step.command
            .as_ref()
            .is_some_and(|command| command.parts.iter().any(|part| part.begins_with(&["git"])))
    };
    if !view.steps.iter().any(with_git) {
        return None;
    }
    let commits = |step: &&ToolStep<'_>| {
        step.state == CallState::Passed && step.command.as_ref().is_some_and(ShellCommand::commits)
    };
    let from = view.steps.iter().rev().find(commits).map_or(0, |step| step.at + 1);
    // A file outside the session's folder, such as a host's own plan, belongs to no commit of this project.
    let mut files = view.files(from, view.messages.len());
    files.retain(|(_, name)| !name.starts_with(['/', '~']) && !name.contains(":\\"));
    (!files.is_empty()).then(|| format!("Not committed: {}.", names(&files, MAX_NAMED, MAX_NAME_CHARS)))
}

/// The last branch that the session switched to.
fn branch(view: &SessionView<'_>) -> Option<String> {
    let passed = view.steps.iter().rev().filter(|step| step.state == CallState::Passed);
    let parts =
        passed.filter_map(|step| step.command.as_ref()).flat_map(|command| command.parts.iter().rev());
    let name = |words: &[String]| {
        // `git checkout -- file` and `git checkout HEAD~1` switch to no branch.
        let is_name = |word: &&String| {
            !word.starts_with('-') && !word.contains(['~', '^', '.', '*', '"', '\'', '$']) && *word != "HEAD"
        };
        let paths = words.iter().any(|word| word == "--");
        words.first().filter(is_name).filter(|_| !paths && words.len() <= 2).cloned()
    };
    parts
        .filter_map(|part| {
            let rest = ["checkout", "switch"]
                .iter()
                .find(|verb| part.begins_with(&["git", verb]))
                .map(|_| &part.words[2..])?;
            match rest.first().map(String::as_str) {
                Some("-b" | "-B" | "-c" | "-C" | "--create") => name(&rest[1..]),
                _ => name(rest),
            }
        })
        .next()
        .map(|name| line(&name, MAX_NAME_CHARS))
}

fn is_check(step: &ToolStep<'_>) -> bool {
    step.command.as_ref().is_some_and(ShellCommand::checks)
}

/// The question at the end of an answer.
fn open_question(answer: &str) -> Option<&str> {
    let last = answer.trim_end().lines().next_back()?;
    let question = sentences::split_sentences(last).pop()?;
    (question.ends_with(['?', '？']) && content(question).len() >= 2).then_some(question)
}

//! Findings from the course of a session: a failure, changed files, then a pass.

use std::collections::HashMap;

use super::command::ShellCommand;
use super::draft::FindingDraft;
use super::output;
use super::output::CallState;
use super::request;
use super::session_view::{SessionView, ToolStep};
use super::words::cause;
use crate::base::provenance::StatementStrength;
use crate::knowledge::observe::FindingKind;
use crate::text::common_words;
use crate::text::phrases::{
    MAX_FINDING_CHARS, contains_dense, content, find_words, has, line, strip_phrase, truncate_head,
};
use crate::text::sentences;
use crate::text::sentences::{split_phrases, strip_markdown};
use crate::vault::priority::Priority;

/// A failure that passed later.
pub(super) struct MendedFailure {
    /// The index of the first failed step.
    pub failed: usize,
    /// The index of the last failed step.
    pub last: usize,
    /// The index of the step that passed.
    pub passed: usize,
}

/// The number of bytes read of an agent's message.
const MAX_AGENT_BYTES: usize = 16 * 1024;
/// The maximum number of messages between the passing command and the agent's explanation.
const MAX_CAUSE_DISTANCE: usize = 2;

/// The maximum number of "go on" turns about one topic.
const MAX_CONTINUED_TURNS: usize = 4;
/// The maximum number of calls between failure and pass; a later pass has other reasons.
const MAX_CALL_DISTANCE: usize = 300;

/// All checks, or other retried commands, that failed and passed later, in order.
pub(super) fn mended_failures(view: &SessionView<'_>) -> Vec<MendedFailure> {
    let mut open: HashMap<String, (usize, usize)> = HashMap::new();
    let mut mended: Vec<MendedFailure> = Vec::new();
    for (place, step) in view.steps.iter().enumerate() {
        let Some(command) = &step.command else { continue };
        match step.state {
            CallState::Failed => {
                for key in command.keys() {
                    open.entry(key).or_insert((place, place)).1 = place;
                }
            }
            CallState::Passed => {
                let failed = command.keys().iter().filter_map(|key| open.remove(key)).min();
                if let Some((failed, last)) = failed.filter(|(failed, _)| place - failed < MAX_CALL_DISTANCE)
                    && mended.last().is_none_or(|last| last.failed != failed)
                {
                    mended.push(MendedFailure { failed, last, passed: place });
                }
            }
            CallState::Refused | CallState::Open => {}
        }
    }
    mended
}

/// Finds root causes with their fixes (OBS-04).
///
/// During new work, checks fail and pass all the time. So a fix counts only if the failure existed before the
/// agent changed anything, if the user reported it, or if the agent names a cause explicitly.
pub(super) fn cause_drafts(view: &SessionView<'_>) -> Vec<FindingDraft> {
    let mut drafts: Vec<FindingDraft> =
        mended_failures(view).iter().filter_map(|mended| fix(view, mended)).collect();
    drafts.extend(explained(view, &drafts));
    drafts
}

fn fix(view: &SessionView<'_>, mended: &MendedFailure) -> Option<FindingDraft> {
    let (failed, passed) = (&view.steps[mended.failed], &view.steps[mended.passed]);
    let files = view.files(failed.at, passed.at);
    let command = failed.command.as_ref()?;
    if files.is_empty() {
        return None;
    }
    let asked =
        view.person_messages[..view.person_messages.partition_point(|said| said.at < failed.at)].last();
    let began = asked.map_or(0, |said| said.at);
    let reported = asked.is_some_and(|said| is_breakage_report(&said.text));
    let before = view.files(began, failed.at).is_empty();
    let error = failed.result.and_then(|at| output::failure_line(&view.messages[at].text));
    let end = (passed.result.unwrap_or(passed.at) + 1 + MAX_CAUSE_DISTANCE).min(next_said(view, passed.at));
    let cause = cause_of(view, mended, end);
    let known = match &cause {
        // A failure that the agent itself caused counts only if it names the cause explicitly.
        Some(cause) => before || reported || cause.named,
        // Without the error or the cause the finding is useless.
        None => error.is_some() && before && reported,
    };
    if !known {
        return None;
    }
    let mut text = format!("`{}` failed", line(&command.name(), 60));
    if let Some(error) = &error {
        text.push_str(&format!(" (tool output: “{}”)", line(&by_ends(error), 90)));
    }
    let changed = format!(". Passed after changing {}", names(&files, 2, 40));
    if let Some(cause) = &cause {
        // The cause takes the remaining room.
        let room =
            MAX_FINDING_CHARS.saturating_sub(text.chars().count() + changed.chars().count() + 14).max(60);
        text.push_str(&format!(". Agent: “{}”", line(&cause.text, room)));
    }
    text.push_str(&changed);
    let mut draft = FindingDraft::of_agent(FindingKind::Fix, passed.result.unwrap_or(passed.at), text);
    draft.messages.extend([failed.at, failed.result.unwrap_or(failed.at), passed.at]);
    draft.messages.extend(cause.as_ref().map(|cause| cause.at));
    draft.messages.extend(files.iter().take(2).map(|(at, _)| *at));
    if cause.is_some() {
        draft.strength = StatementStrength::Implied;
        draft.priority = if before || reported { Priority::High } else { Priority::Medium };
    }
    Some(draft)
}

/// Finds problems that the user reported, the agent explained and a change fixed, without a failed check.
fn explained(view: &SessionView<'_>, known: &[FindingDraft]) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for (place, message) in view.person_messages.iter().enumerate() {
        // "Yes, do that" continues the same request.
        let on = view.person_messages[place + 1..]
            .iter()
            .take(MAX_CONTINUED_TURNS)
            .take_while(|next| request::is_continuation(next))
            .count();
        let end = view.person_messages.get(place + 1 + on).map_or(view.messages.len(), |next| next.at);
        let covered =
            known.iter().any(|draft| draft.messages.iter().any(|at| (message.at..end).contains(at)));
        if covered || !is_breakage_report(&message.text) || request::is_continuation(message) {
            continue;
        }
        let Some(request) = request::request(message) else { continue };
        let Some(cause) = stated_cause(view, message.at + 1, end) else { continue };
        let files = view.files(cause.at, end);
        let Some(last) = files.last().map(|(at, _)| *at) else { continue };
        let verified = view.steps_between(last, end).find_map(|step| settling_step(step));
        let Some((passed, CallState::Passed)) = verified else { continue };
        let name = passed.command.as_ref().map_or_else(String::new, |command| line(&command.name(), 40));
        let after = format!(". Changed {}; then `{name}` passed", names(&files, 2, 40));
        let asked = format!("Asked: “{}”. Agent: “", line(request, 80));
        let room =
            MAX_FINDING_CHARS.saturating_sub(asked.chars().count() + after.chars().count() + 2).max(60);
        let mut draft = FindingDraft::of_agent(
            FindingKind::Fix,
            cause.at,
            format!("{asked}{}”{after}", line(&cause.text, room)),
        );
        draft.strength = StatementStrength::Implied;
        draft.priority = Priority::High;
        draft.messages.extend([message.at, last, passed.at]);
        drafts.push(draft);
    }
    drafts
}

/// Returns a step that decides how the work ended: a check or a commit.
pub(super) fn settling_step<'s, 'a>(step: &'s ToolStep<'a>) -> Option<(&'s ToolStep<'a>, CallState)> {
    let command = step.command.as_ref()?;
    let tells = command.checks() || command.commits();
    (tells && matches!(step.state, CallState::Passed | CallState::Failed)).then_some((step, step.state))
}

/// True if the user reports a problem.
pub(super) fn is_breakage_report(text: &str) -> bool {
    let folded = sentences::fold(truncate_head(text, 2_000));
    has(&folded, common_words::BREAKAGE_WORDS) || contains_dense(&folded, common_words::DENSE_BREAKAGE_WORDS)
}

fn next_said(view: &SessionView<'_>, at: usize) -> usize {
    let next = view.person_messages.partition_point(|said| said.at <= at);
    view.person_messages.get(next).map_or(view.messages.len(), |said| said.at)
}

/// The names of a few files.
pub(super) fn names(files: &[(usize, String)], most: usize, each: usize) -> String {
    let shown: Vec<String> = files.iter().take(most).map(|(_, name)| shorten_path(name, each)).collect();
    let more = files.len().saturating_sub(most);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

/// Shortens long paths in a line to their last components.
fn by_ends(text: &str) -> String {
    let end = |word: &str| {
        let pieces = word.matches('/').count();
        let name = word.rsplit('/').next().filter(|name| pieces >= 2 && name.chars().count() > 3);
        name.map_or_else(|| word.to_owned(), |name| format!("…/{name}"))
    };
    text.split(' ').map(end).collect::<Vec<_>>().join(" ")
}

/// Shortens a path to its end, which distinguishes it.
fn shorten_path(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let mut kept = name;
    while kept.chars().count() > most {
        match kept.split_once('/') {
            Some((_, rest)) => kept = rest,
            None => return kept.to_owned(),
        }
    }
    format!("…/{kept}")
}

/// A cause that the agent names.
pub(super) struct StatedCause {
    at: usize,
    text: String,
    /// True if the agent calls it the cause, rather than describing an observation.
    named: bool,
}

/// The cause of a fixed failure: named after its last or first failure, and before any other failure.
fn cause_of(view: &SessionView<'_>, mended: &MendedFailure, end: usize) -> Option<StatedCause> {
    let own = view.steps[mended.failed].command.as_ref().map(ShellCommand::keys).unwrap_or_default();
    let window = |from: usize| {
        let start = view.steps[from].result.unwrap_or(view.steps[from].at);
        // Steps called in the same message failed together with it.
        let later = view.steps[from + 1..mended.passed].iter().filter(|step| step.at > start);
        let other = later.into_iter().find(|step| {
            let check = step.command.as_ref().filter(|command| command.checks());
            step.state == CallState::Failed
                && check.is_some_and(|command| !command.keys().iter().any(|key| own.contains(key)))
        });
        stated_cause(view, start, other.map_or(end, |step| step.at))
    };
    window(mended.last).or_else(|| window(mended.failed))
}

/// The first sentence between two messages in which the agent names a cause.
pub(super) fn stated_cause(view: &SessionView<'_>, from: usize, to: usize) -> Option<StatedCause> {
    let mut pointed: Option<StatedCause> = None;
    for (at, text) in view.agent(from, to) {
        let mut points = None;
        for sentence in sentences::lines(truncate_head(text, MAX_AGENT_BYTES))
            .into_iter()
            .flat_map(sentences::split_sentences)
        {
            let folded = sentences::fold(&sentence.replace("**", ""));
            let plan =
                has(&folded, cause::PLANS) || sentences::asks_or_quotes(&folded) && !folded.starts_with('`');
            let whole = content(sentence).len() >= 4 && !sentence.ends_with([':', '：']);
            if whole && !plan && names_cause(&folded) {
                return Some(StatedCause { at, text: strip_markdown(sentence), named: true });
            }
            match points {
                Some(true) if whole && !plan => {
                    return Some(StatedCause { at, text: strip_markdown(sentence), named: true });
                }
                Some(false) if whole && !plan && pointed.is_none() => {
                    pointed = Some(StatedCause { at, text: strip_markdown(sentence), named: false });
                }
                _ => {}
            }
            let found = strip_phrase(&folded, cause::FOUND, "").is_some();
            let seen = strip_phrase(&folded, cause::SEEN, "").is_some();
            points = (!plan && (found || seen)).then_some(found);
        }
    }
    pointed
}

fn names_cause(folded: &str) -> bool {
    split_phrases(cause::NAMED).any(|words| find_words(folded, words).is_some())
        || sentences::is_dense(folded) && contains_dense(folded, cause::DENSE_NAMED)
}

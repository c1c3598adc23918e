//! Workflows that worked more than once: sequences of checks that passed after changes.

use super::draft::FindingDraft;
use super::output::CallState;
use super::session_view::SessionView;
use crate::knowledge::observe::FindingKind;
use crate::text::phrases::line;

/// The minimum number of repetitions.
const MIN_REPETITIONS: usize = 2;
/// The maximum number of commands in a workflow.
const MAX_COMMANDS: usize = 4;

/// The checks that passed in the same order after changes for different requests.
pub(super) fn workflow_draft(view: &SessionView<'_>) -> Option<FindingDraft> {
    let mut ways: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
    for (place, message) in view.person_messages.iter().enumerate() {
        let end = view.person_messages.get(place + 1).map_or(view.messages.len(), |next| next.at);
        let mut passed: Vec<(String, usize)> = Vec::new();
        let mut changed = false;
        for step in view.steps_between(message.at, end) {
            if !step.call.writes.is_empty() && step.state == CallState::Passed {
                changed = true;
                passed.clear();
            }
            let Some(command) = step.command.as_ref().filter(|command| command.checks()) else { continue };
            match step.state {
                CallState::Passed => {
                    for part in command.parts.iter().filter(|part| part.checks) {
                        passed.push((line(&part.line(), 80), step.result.unwrap_or(step.at)));
                    }
                }
                _ => passed.clear(),
            }
        }
        passed.dedup_by(|one, other| one.0 == other.0);
        if changed && !passed.is_empty() {
            let (names, at): (Vec<String>, Vec<usize>) = passed.into_iter().take(MAX_COMMANDS).unzip();
            match ways.iter_mut().find(|(known, _)| *known == names) {
                Some((_, places)) => places.extend(at),
                None => ways.push((names, at)),
            }
        }
    }
    let repetitions = |way: &(Vec<String>, Vec<usize>)| way.1.len() / way.0.len();
    let best = ways
        .into_iter()
        .filter(|way| repetitions(way) >= MIN_REPETITIONS && way.0.len() >= 2)
        .max_by_key(repetitions)?;
    let times = repetitions(&best);
    let steps: Vec<String> = best.0.iter().map(|name| format!("`{name}`")).collect();
    let text = format!("After changes, {} passed ({times} times)", steps.join(", then "));
    let mut draft = FindingDraft::of_agent(FindingKind::Workflow, *best.1.last()?, text);
    draft.messages = best.1;
    Some(draft)
}

//! The observer without a model: rules that find the lasting content of a session.
//!
//! Precision comes first: no finding is better than a guess. The user's words are kept verbatim, the agent's
//! actions are derived from calls and their outcomes, and tool output is never anybody's word: it only shows
//! that a command failed, and the line with the error. Every message is read once, up to a limit.
//!
//! - `person_sentences`: typed text without pasted text; `sentence_verdict`: the class of a sentence; `user_findings`: findings from it;
//!   `correction`: the corrections in a message
//! - `command`, `output`: commands and their outcomes; `mended_failures`, `state_changes`, `workflows`: findings from those
//! - `statements`: sentences that a classifier labels as lasting, of the user and of the agent
//! - `published`, `notes`, `plans`: texts of the agent for others or for later; `open_items`: remaining work
//! - `one_offs`: sentences that say that they hold once
//! - `request`: the user's requests; `turn`, `digest`, `ending`: the turns, their digests, and the end of the
//!   session; `answers`, `answer_text`: the agent's answers by sentence

mod answer_text;
mod answers;
mod command;
mod correction;
mod digest;
mod draft;
mod mended_failures;
mod notes;
mod one_offs;
mod open_items;
mod output;
mod person_sentences;
mod plans;
mod published;
mod request;
mod sentence_verdict;
mod session_end;
mod session_view;
mod state_changes;
mod statements;
#[cfg(test)]
mod tests;
mod turn;
mod user_findings;
pub(crate) mod words;
mod workflows;

use super::{ObservedSession, ObservedTopic};
use crate::base::time::TimeZone;
use crate::knowledge::statement::ClassifyFn;
use crate::session::Message;
use session_view::SessionView;

pub use correction::{UserCorrection, corrections};
pub(crate) use statements::OPEN_PREFIX;

/// The maximum number of findings per session.
pub const MAX_FINDINGS: usize = 60;
/// The maximum number of drafts that are compared.
const MAX_DRAFTS: usize = 300;

/// The last request if it is unfinished, and the next step. A session is complete because no work remains,
/// not because somebody says so (OBS-16).
pub fn open_request(
    messages: &[Message],
    zone: &TimeZone,
    cwd: Option<&str>,
) -> (Option<String>, Option<String>) {
    session_end::open_request(&SessionView::new(messages, zone, cwd))
}

/// Observes a session by rules alone.
pub fn observe(messages: &[Message], zone: &TimeZone, cwd: Option<&str>) -> ObservedSession {
    observe_with(messages, zone, cwd, None)
}

/// Observes a session: `messages` in order, times in `zone`, paths relative to `cwd`. With a classifier it
/// also finds statements without a cue word.
pub fn observe_with(
    messages: &[Message],
    zone: &TimeZone,
    cwd: Option<&str>,
    classify: Option<&ClassifyFn<'_>>,
) -> ObservedSession {
    let view = SessionView::new(messages, zone, cwd);
    // Without a user there is nobody to remember it for.
    if view.person_messages.is_empty() {
        return ObservedSession::default();
    }
    let turns = turn::turns(&view);
    let stretches: Vec<(usize, usize)> = turns.iter().map(|turn| (turn.from, turn.to)).collect();
    let mut drafts = user_findings::message_drafts(&view, classify);
    drafts.extend(mended_failures::cause_drafts(&view));
    drafts.extend(state_changes::change_drafts(&view, &stretches));
    drafts.extend(turns.iter().flat_map(|turn| turn::commits(&view, turn)));
    drafts.extend(published::published_drafts(&view));
    drafts.extend(notes::note_drafts(&view));
    drafts.extend(plans::plan_drafts(&view));
    drafts.extend(open_items::open_item_drafts(&view));
    let answers: Vec<_> = turns.iter().map(|turn| answers::read(&view, turn, classify)).collect();
    let last_turn = answers.len().saturating_sub(1);
    let found = answers.iter().enumerate();
    drafts.extend(found.flat_map(|(place, answers)| statements::of_agent(answers, place == last_turn)));
    drafts.extend(workflows::workflow_draft(&view));
    let drafts = draft::best_drafts(draft::deduplicate(draft::best_drafts(drafts, MAX_DRAFTS)), MAX_FINDINGS);

    let once = one_offs::one_off_values(&view);
    let part = |(turn, answers): (&turn::SessionTurn, &Vec<answers::AnswerSentence>)| {
        let narrative = digest::digest(&view, turn, answers, &once);
        let findings = drafts
            .iter()
            .filter(|draft| (turn.from..turn.to).contains(&draft.at))
            .map(|draft| draft.finding_in(&view))
            .filter(|finding| !finding.text.is_empty())
            .collect();
        ObservedTopic { day: turn.day(&view), narrative, findings }
    };
    let parts = turns
        .iter()
        .zip(&answers)
        .map(part)
        .filter(|part| !part.narrative.is_empty() || !part.findings.is_empty());
    let parts = parts.collect();
    let (current_task, suggested_response) = session_end::open_request(&view);
    ObservedSession { parts, current_task, suggested_response }
}

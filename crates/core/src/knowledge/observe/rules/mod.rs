//! The observer that needs no model: what a session leaves behind, found by rules.
//!
//! Precision comes first: it says nothing rather than guess. What the person said is kept word for word, what the agent
//! did follows from calls and how they went, and what a tool printed is never anybody's word: it may only say whether
//! a command failed and with which line. Everything is looked at once, and of every message only so much.
//!
//! - `person`: what was typed and not pasted; `judge`: what a sentence is; `said`: findings from it; `correction`: what one
//!   message puts right
//! - `command`, `output`: what was run and how it went; `course`, `changes`, `flow`: findings from that
//! - `statements`: what a classifier takes for lasting, the person's words and the agent's conclusions
//! - `published`, `notes`, `plans`: what the agent wrote for others or for later; `open`: what is left to be done
//! - `request`: what was asked for; `turn`, `digest`, `ending`: the turns, a digest of each, and how it ended; `answers`: what the
//!   agent answered, sentence by sentence

mod answers;
mod changes;
mod command;
mod correction;
mod course;
mod digest;
mod draft;
mod ending;
mod flow;
mod judge;
mod notes;
mod open;
mod output;
mod person;
mod plans;
mod published;
mod request;
mod said;
mod statements;
#[cfg(test)]
mod tests;
mod turn;
mod view;
pub(crate) mod words;

use super::{Observed, Part};
use crate::base::time::TimeZone;
use crate::knowledge::statement::Classify;
use crate::session::Message;
use view::View;

pub use correction::{Correction, corrections};
pub(crate) use statements::OPEN;

/// The most findings of one session.
pub const MOST_FINDINGS: usize = 60;
/// So many are looked at more closely.
const MOST_DRAFTS: usize = 300;

/// The last request if it was not finished, and how to go on. A session is complete because nothing is left, not because
/// somebody says so (OBS-16).
pub fn ending(messages: &[Message], zone: &TimeZone, cwd: Option<&str>) -> (Option<String>, Option<String>) {
    ending::ending(&View::new(messages, zone, cwd))
}

/// What came of a session, by words alone.
pub fn observe(messages: &[Message], zone: &TimeZone, cwd: Option<&str>) -> Observed {
    observe_with(messages, zone, cwd, None)
}

/// What came of a session: `messages` in their order, times as a clock in `zone` shows them, paths as seen from `cwd`. Where
/// there is a classifier it finds what carries no telling word.
pub fn observe_with(
    messages: &[Message],
    zone: &TimeZone,
    cwd: Option<&str>,
    classify: Option<&Classify<'_>>,
) -> Observed {
    let view = View::new(messages, zone, cwd);
    // Where nobody said anything there is nobody to remember it for.
    if view.said.is_empty() {
        return Observed::default();
    }
    let turns = turn::turns(&view);
    let stretches: Vec<(usize, usize)> = turns.iter().map(|turn| (turn.from, turn.to)).collect();
    let mut drafts = said::drafts(&view, classify);
    drafts.extend(course::drafts(&view));
    drafts.extend(changes::drafts(&view, &stretches));
    drafts.extend(turns.iter().flat_map(|turn| turn::commits(&view, turn)));
    drafts.extend(published::drafts(&view));
    drafts.extend(notes::drafts(&view));
    drafts.extend(plans::drafts(&view));
    drafts.extend(open::drafts(&view));
    let answers: Vec<_> = turns.iter().map(|turn| answers::read(&view, turn, classify)).collect();
    drafts.extend(answers.iter().flat_map(|answers| statements::of_agent(answers)));
    drafts.extend(flow::draft(&view));
    let drafts = draft::best(draft::folded(draft::best(drafts, MOST_DRAFTS)), MOST_FINDINGS);

    let once = digest::once_values(&view);
    let part = |(turn, answers): (&turn::Turn, &Vec<answers::AnswerSentence>)| Part {
        day: turn.day(&view),
        narrative: digest::digest(&view, turn, answers, &once),
        findings: drafts
            .iter()
            .filter(|draft| (turn.from..turn.to).contains(&draft.at))
            .map(|draft| draft.finding(&view))
            .filter(|finding| !finding.text.is_empty())
            .collect(),
    };
    let parts = turns
        .iter()
        .zip(&answers)
        .map(part)
        .filter(|part| !part.narrative.is_empty() || !part.findings.is_empty());
    let parts = parts.collect();
    let (current_task, suggested_response) = ending::ending(&view);
    Observed { parts, current_task, suggested_response }
}

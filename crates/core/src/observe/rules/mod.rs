//! The observer that needs no model: what a session leaves behind, found by rules.
//!
//! Precision comes first: it says nothing rather than guess. What the person said is kept word for word, what the agent
//! did follows from calls and how they went, and what a tool printed is never anybody's word: it may only say whether
//! a command failed and with which line. Everything is looked at once, and of every message only so much.
//!
//! - `person`: what was typed and not pasted; `judge`: what a sentence is; `said`: findings from it; `correction`: what one
//!   message puts right
//! - `command`, `output`: what was run and how it went; `course`, `changes`, `flow`: findings from that
//! - `request`: what was asked for; `segment`, `story`, `ending`: the topics, their stories, and how it ended

mod changes;
mod command;
mod correction;
mod course;
mod draft;
mod ending;
mod flow;
mod judge;
pub(super) mod line;
mod output;
mod person;
mod request;
mod said;
mod segment;
mod story;
#[cfg(test)]
mod tests;
mod view;
pub(super) mod words;

use super::{Observed, Part};
use crate::session::Message;
use crate::time::TimeZone;
use draft::Draft;
use view::View;

pub use correction::{Correction, corrections};

/// The most findings of one session.
pub const MOST_FINDINGS: usize = 15;
/// So many are looked at more closely.
const MOST_DRAFTS: usize = 200;

/// What came of a session: `messages` in their order, times as a clock in `zone` shows them, paths as seen from `cwd`.
pub fn observe(messages: &[Message], zone: &TimeZone, cwd: Option<&str>) -> Observed {
    let view = View::new(messages, zone, cwd);
    // Where nobody said anything there is nobody to remember it for.
    if view.said.is_empty() {
        return Observed::default();
    }
    let segments = segment::segments(&view);
    let stretches: Vec<(usize, usize)> = segments.iter().map(|segment| (segment.from, segment.to)).collect();
    let mut drafts = said::drafts(&view);
    drafts.extend(course::drafts(&view));
    drafts.extend(changes::drafts(&view, &stretches));
    let files: Vec<Draft> =
        segments.iter().filter_map(|segment| story::files(&view, segment, &drafts)).collect();
    drafts.extend(files);
    drafts.extend(flow::draft(&view));
    let drafts = draft::best(draft::folded(draft::best(drafts, MOST_DRAFTS)), MOST_FINDINGS);

    let part = |segment: &segment::Segment| Part {
        narrative: story::narrative(&view, segment),
        findings: drafts
            .iter()
            .filter(|draft| (segment.from..segment.to).contains(&draft.at))
            .map(|draft| draft.finding(&view))
            .filter(|finding| !finding.text.is_empty())
            .collect(),
    };
    let parts =
        segments.iter().map(part).filter(|part| !part.narrative.is_empty() || !part.findings.is_empty());
    let parts = parts.collect();
    let (current_task, suggested_response) = ending::ending(&view);
    Observed { parts, current_task, suggested_response }
}

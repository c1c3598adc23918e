//! The daily log `memory/YYYY-MM-DD.md` (LOG-01…08): append-only, readable, and complete enough to rebuild a
//! day's observations from it.
//!
//! Machine data (ids, origins, sources, dedupe keys) is in comments. A section is ours if such a comment
//! follows its heading. Everything else in the file is the person's.

mod parse;
mod render;
mod tail;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::as_text;
use super::comment;
use super::priority::Priority;
use crate::base::provenance::Origin;
use crate::base::sentiment::Sentiment;
use crate::base::time::{Date, Timestamp};

pub use crate::base::time_of_day::{FactTime, TimeOfDay, TimeOfDayError};
pub use parse::{parse, placed_sections};
pub use render::{append, render_new, segment_title};
pub use tail::LogTail;

/// One section of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "section", rename_all = "kebab-case")]
pub enum LogSection {
    /// The observations of a session window (LOG-02).
    Observation(LoggedObservation),
    /// The result of a reflection (LOG-04).
    Reflected(LoggedReflection),
    /// The outcomes of proposals (LOG-05).
    Receipts(LoggedReceipts),
    /// A summary for the next session (CAP-19).
    Handoff(LoggedHandoff),
    /// The files of a session at a compaction (CAP-19).
    Flush(LoggedFlush),
    /// A single noted observation (CAP-20).
    Note(LoggedNote),
}

/// The source of a section.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionSource {
    /// The id of the session.
    pub session: Option<String>,
    /// The session's name, if it has one besides its id.
    pub name: Option<String>,
    /// The key that prevents a second entry for the same section (LOG-06).
    pub dedupe_key: Option<String>,
    /// The project it belongs to; sessions of other projects do not see it (B-05).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// The observations of one session window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedObservation {
    /// The session and its window.
    pub source: SectionSource,
    /// The time of logging.
    pub time: TimeOfDay,
    /// The trigger of the capture: `compaction`, `shutdown`, …
    pub trigger: String,
    /// The time of the last message of the window. Unlike `time` it tells the day, for a session past
    /// midnight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// The reason for observing by rules and not by the chosen model, which did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// The number of files that the session touched.
    pub files: Option<FileCounts>,
    /// The facts that were observed.
    pub body: ObservationBody,
    /// The task that the session was working on.
    pub current_task: Option<String>,
    /// A suggestion for how to continue.
    pub suggested_response: Option<String>,
}

/// The number of files per access mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCounts {
    /// Files that were written.
    pub modified: u64,
    /// Files that were only read.
    pub read: u64,
}

/// The facts of an observation, in the observer's form (LOG-03).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservationBody {
    /// A single list of facts.
    Flat {
        /// The day that the facts are about.
        #[serde(with = "as_text::option")]
        date: Option<Date>,
        /// The facts, in order.
        facts: Vec<LoggedFact>,
    },
    /// Facts grouped by topic.
    Segments(Vec<LoggedSegment>),
    /// The observer's raw output, if none of it could be parsed (OBS-20).
    Unparsed(String),
}

/// One topic of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedSegment {
    /// A short title; derived from the narrative if it is empty.
    pub title: String,
    /// One to three sentences.
    pub narrative: String,
    /// The facts to retain.
    pub facts: Vec<LoggedFact>,
}

/// One fact that is retained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedFact {
    /// The retention priority of the fact.
    pub priority: Priority,
    /// The time at which it was said (OBS-07).
    pub when: Option<FactTime>,
    /// The text of the fact.
    pub text: String,
    /// The id, origin and source.
    pub mark: LogMark,
}

/// The id, origin and source of a logged item (B-01).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogMark {
    /// The id; lost if a person removed the comment.
    pub id: Option<String>,
    /// The author of the words; unknown without the comment.
    pub origin: Option<Origin>,
    /// The ids of the supporting messages.
    pub messages: Vec<String>,
    /// The person's sentiment at that moment (FBK-07).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentiment: Option<Sentiment>,
    /// The kind of an observed fact, how plainly it was said, and where it holds, as words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traits: Vec<String>,
    /// The doubts of the write gate about it (FBK-08); empty if it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubts: Option<Vec<String>>,
}

/// The result of reflecting on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedReflection {
    /// The run, for its dedupe key.
    pub source: SectionSource,
    /// The time of the reflection.
    pub time: TimeOfDay,
    /// One or two sentences.
    pub summary: String,
    /// The ids of the resulting proposals.
    pub proposals: Vec<String>,
}

/// The outcomes of several proposals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedReceipts {
    /// The run, for its dedupe key.
    pub source: SectionSource,
    /// The time of logging.
    pub time: TimeOfDay,
    /// The receipts, one per line.
    pub receipts: Vec<ProposalReceipt>,
}

/// The outcome of one proposal (REV-14).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposalReceipt {
    /// The id of the proposal.
    pub id: String,
    /// The outcome of the proposal.
    pub end: ProposalEnd,
    /// The party that decided.
    #[serde(default)]
    pub by: ReceiptDecider,
    /// An equivalent proposal that was decided on, which decided this one too (B-07).
    #[serde(default)]
    pub with: Option<String>,
    /// The proposal's text, so that the log alone shows what was rejected.
    pub text: String,
}

/// The outcome of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProposalEnd {
    /// It was written to `MEMORY.md`.
    Promoted,
    /// It was turned down.
    Rejected,
    /// Nobody decided in time.
    Expired,
    /// The decision was undone, so the proposal waits again.
    Undone,
}

/// The party that decided on a proposal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReceiptDecider {
    /// The person, or the clock if nobody did.
    #[default]
    Person,
    /// An agent with the person's permission.
    Agent,
    /// Rules or a model (REV-09).
    Triage,
}

impl ReceiptDecider {
    pub(crate) const ALL: [Self; 3] = [Self::Person, Self::Agent, Self::Triage];

    /// The phrase for it in the log.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Person => "",
            Self::Agent => "by an agent",
            Self::Triage => "by triage",
        }
    }
}

/// A summary for the next session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedHandoff {
    /// The session that ended.
    pub source: SectionSource,
    /// The time of its end.
    pub time: TimeOfDay,
    /// The summary in free text.
    pub text: String,
}

/// The files of a session at a compaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedFlush {
    /// The session that was compacted.
    pub source: SectionSource,
    /// The time of the compaction.
    pub time: TimeOfDay,
    /// The number of messages in the session.
    pub messages: u64,
    /// The files that were written.
    pub modified: Vec<String>,
    /// The files that were read.
    pub read: Vec<String>,
}

/// A single noted observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedNote {
    /// The session it was noted in, if any.
    pub source: SectionSource,
    /// The time of the note.
    pub time: TimeOfDay,
    /// The note in free text.
    pub text: String,
    /// The id, origin and source.
    pub mark: LogMark,
}

/// The sections of a day's log that are ours.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DailyLog {
    /// The sections in the order they were logged.
    pub sections: Vec<LogSection>,
}

/// A section with its position, in line indexes of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedSection {
    /// The section's parsed content.
    pub section: LogSection,
    /// The section's lines, including its heading.
    pub lines: Range<usize>,
    /// The lines of its facts, in the order of [`ObservationBody::facts`].
    pub facts: Vec<Range<usize>>,
}

impl DailyLog {
    /// All observations of the day.
    pub fn observations(&self) -> impl Iterator<Item = &LoggedObservation> {
        self.sections.iter().filter_map(|section| match section {
            LogSection::Observation(observation) => Some(observation),
            _ => None,
        })
    }
}

impl ObservationBody {
    /// All facts, independent of the form.
    pub fn facts(&self) -> impl Iterator<Item = &LoggedFact> {
        let (flat, segments) = match self {
            Self::Flat { facts, .. } => (facts.as_slice(), [].as_slice()),
            Self::Segments(segments) => ([].as_slice(), segments.as_slice()),
            Self::Unparsed(_) => ([].as_slice(), [].as_slice()),
        };
        flat.iter().chain(segments.iter().flat_map(|segment| &segment.facts))
    }

    /// The highest priority among the facts (OBS-21).
    pub fn max_priority(&self) -> Option<Priority> {
        self.facts().map(|fact| fact.priority).max()
    }
}

impl ProposalEnd {
    pub(crate) const ALL: [Self; 4] = [Self::Promoted, Self::Rejected, Self::Expired, Self::Undone];

    /// The outcome's name in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Promoted => "promoted",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Undone => "undone",
        }
    }
}

impl LogSection {
    /// The source of the section.
    pub fn source(&self) -> &SectionSource {
        match self {
            Self::Observation(section) => &section.source,
            Self::Reflected(section) => &section.source,
            Self::Receipts(section) => &section.source,
            Self::Handoff(section) => &section.source,
            Self::Flush(section) => &section.source,
            Self::Note(section) => &section.source,
        }
    }
}

/// True if the log has a section with this key already (LOG-06). Searches the raw text, so that an unclosed
/// fence above cannot hide it.
pub fn contains_key(text: &str, dedupe_key: &str) -> bool {
    let written = comment::comment_pair(render::DEDUPE, dedupe_key);
    text.match_indices(&written).any(|(at, _)| {
        let line = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let line = text[line..].split(['\n', '\r']).next().unwrap_or_default();
        let pairs = comment::parse(line).filter(|_| line.starts_with("<!--")).unwrap_or_default();
        comment::value(&pairs, render::DEDUPE) == Some(dedupe_key)
    })
}

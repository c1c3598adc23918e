//! `memory/YYYY-MM-DD.md`, the daily log (LOG-01…08): append-only, readable, and complete enough that the observations
//! of a day can be rebuilt from it.
//!
//! What only the machine needs (ids, origins, sources, dedupe keys) stands in comments. A section is one of ours if
//! such a comment is below its heading; everything else in the file is the person's.

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

pub use crate::base::time_of_day::{Clock, NotAClock, When};
pub use parse::{parse, placed};
pub use render::{append, render_new, segment_title};
pub use tail::Tail;

/// One section of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "section", rename_all = "kebab-case")]
pub enum Section {
    /// What was observed in a session (LOG-02).
    Observation(Observation),
    /// What reflection made of the observations (LOG-04).
    Reflected(Reflected),
    /// What became of proposals (LOG-05).
    Receipts(Receipts),
    /// What the next session should know (CAP-19).
    Handoff(Handoff),
    /// What a compaction was about to drop (CAP-19).
    Flush(Flush),
    /// Something noted in passing (CAP-20).
    Note(Note),
}

/// Where a section comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The session's id.
    pub session: Option<String>,
    /// The session's name, where it has one besides its id.
    pub name: Option<String>,
    /// The key by which the same section is not logged twice (LOG-06).
    pub dedupe_key: Option<String>,
    /// The project it belongs to; another project's sessions do not see it (B-05).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// What was observed in one window of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// The session and the window of it.
    pub source: Source,
    /// When it was logged.
    pub time: Clock,
    /// What made us look: `compaction`, `shutdown`, …
    pub trigger: String,
    /// When the last message of the window was written. Unlike `time` it tells the day, for a session past midnight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// Why less was looked at than the person asked for: the model did not answer, so the rules observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// How many files the session touched.
    pub files: Option<Files>,
    /// The facts.
    pub body: Body,
    /// What the session was doing.
    pub current_task: Option<String>,
    /// How it could go on.
    pub suggested_response: Option<String>,
}

/// Counts of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// Written.
    pub modified: u64,
    /// Only read.
    pub read: u64,
}

/// The facts of an observation, in the form the observer gave them (LOG-03).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// One list.
    Flat {
        /// The day they are about.
        #[serde(with = "as_text::option")]
        date: Option<Date>,
        /// The list.
        facts: Vec<Fact>,
    },
    /// By topic.
    Segments(Vec<Segment>),
    /// What the observer said when we understood none of it (OBS-20).
    Unparsed(String),
}

/// One topic of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// A few words; derived from the narrative where it is empty.
    pub title: String,
    /// One to three sentences.
    pub narrative: String,
    /// What to retain.
    pub facts: Vec<Fact>,
}

/// One retained fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// How long it is worth keeping.
    pub priority: Priority,
    /// When it was said (OBS-07).
    pub when: Option<When>,
    /// The fact.
    pub text: String,
    /// Where it comes from.
    pub mark: Mark,
}

/// The id, origin and source of something logged (B-01).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Its id; lost where a person took the comment away.
    pub id: Option<String>,
    /// Whose words; unknown without the comment.
    pub origin: Option<Origin>,
    /// The messages that support it.
    pub messages: Vec<String>,
    /// How the person felt when they said it (FBK-07).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentiment: Option<Sentiment>,
    /// The kind of an observed fact, how plainly it was said, and where it holds, as words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traits: Vec<String>,
    /// What the write gate doubts about it (FBK-08); empty if it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubts: Option<Vec<String>>,
}

/// What reflection made of a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reflected {
    /// The run, for its dedupe key.
    pub source: Source,
    /// When.
    pub time: Clock,
    /// One or two sentences.
    pub summary: String,
    /// The proposals that came of it.
    pub proposals: Vec<String>,
}

/// What became of proposals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipts {
    /// The run, for its dedupe key.
    pub source: Source,
    /// When.
    pub time: Clock,
    /// One line each.
    pub receipts: Vec<Receipt>,
}

/// The end of one proposal (REV-14).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The proposal.
    pub id: String,
    /// Its end.
    pub end: End,
    /// Who decided.
    #[serde(default)]
    pub by: Decider,
    /// The proposal that says the same and was decided on: this one ended with it (B-07).
    #[serde(default)]
    pub with: Option<String>,
    /// Its text, so that the log alone tells what was turned down.
    pub text: String,
}

/// How a proposal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// It is in `MEMORY.md`.
    Promoted,
    /// It was turned down.
    Rejected,
    /// Nobody decided in time.
    Expired,
    /// What was decided was taken back: it waits again.
    Undone,
}

/// Who decided on a proposal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decider {
    /// The person, or the clock because nobody did.
    #[default]
    Person,
    /// An agent whom the person allowed to.
    Agent,
    /// The rules or a model (REV-09).
    Triage,
}

impl Decider {
    pub(crate) const ALL: [Self; 3] = [Self::Person, Self::Agent, Self::Triage];

    /// How the log says it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Person => "",
            Self::Agent => "by an agent",
            Self::Triage => "by triage",
        }
    }
}

/// What the next session should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    /// The session that ended.
    pub source: Source,
    /// When.
    pub time: Clock,
    /// Free text.
    pub text: String,
}

/// What a session had touched when it was compacted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flush {
    /// The session.
    pub source: Source,
    /// When.
    pub time: Clock,
    /// How many messages it had.
    pub messages: u64,
    /// Files written.
    pub modified: Vec<String>,
    /// Files read.
    pub read: Vec<String>,
}

/// Something noted in passing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The session it was noted in, if any.
    pub source: Source,
    /// When.
    pub time: Clock,
    /// Free text.
    pub text: String,
    /// Where it comes from.
    pub mark: Mark,
}

/// A day, as far as it is ours.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    /// The sections in the order they were logged.
    pub sections: Vec<Section>,
}

/// A section and where it stands, in indexes of the log's lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// What it says.
    pub section: Section,
    /// Its lines, the heading first.
    pub lines: Range<usize>,
    /// The lines of its facts, in the order of [`Body::facts`].
    pub facts: Vec<Range<usize>>,
}

impl Log {
    /// What was observed that day.
    pub fn observations(&self) -> impl Iterator<Item = &Observation> {
        self.sections.iter().filter_map(|section| match section {
            Section::Observation(observation) => Some(observation),
            _ => None,
        })
    }
}

impl Body {
    /// Every fact, whatever the form.
    pub fn facts(&self) -> impl Iterator<Item = &Fact> {
        let (flat, segments) = match self {
            Self::Flat { facts, .. } => (facts.as_slice(), [].as_slice()),
            Self::Segments(segments) => ([].as_slice(), segments.as_slice()),
            Self::Unparsed(_) => ([].as_slice(), [].as_slice()),
        };
        flat.iter().chain(segments.iter().flat_map(|segment| &segment.facts))
    }

    /// The highest priority among the facts (OBS-21).
    pub fn priority(&self) -> Option<Priority> {
        self.facts().map(|fact| fact.priority).max()
    }
}

impl End {
    pub(crate) const ALL: [Self; 4] = [Self::Promoted, Self::Rejected, Self::Expired, Self::Undone];

    /// The word in the log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Promoted => "promoted",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Undone => "undone",
        }
    }
}

impl Section {
    /// Where the section comes from.
    pub fn source(&self) -> &Source {
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

/// Whether a section with this key is in the log already (LOG-06). Looks at the bytes alone, so that a fence somebody
/// left open above cannot hide it.
pub fn contains_key(text: &str, dedupe_key: &str) -> bool {
    let written = comment::pair(render::DEDUPE, dedupe_key);
    text.match_indices(&written).any(|(at, _)| {
        let line = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let line = text[line..].split(['\n', '\r']).next().unwrap_or_default();
        let pairs = comment::parse(line).filter(|_| line.starts_with("<!--")).unwrap_or_default();
        comment::value(&pairs, render::DEDUPE) == Some(dedupe_key)
    })
}

//! Reflection: turns several days of observations into a few proposals (REF-01…17). Nothing here writes to
//! `MEMORY.md`; only the user's approval does (X-06).
//!
//! - [`offline`]: reflection without a model, the default
//! - [`prompt`], [`parse`], [`compress`]: reflection with a model: input, answer and length check
//! - [`check`]: checks a model's claims against the observations (B-01)
//! - [`settle_drafts`]: drops drafts that `MEMORY.md` or an earlier proposal already covers
//! - [`contradiction`](crate::text::contradiction), [`similarity`](crate::text::similarity): contradiction and
//!   equality of two statements
//! - [`distil`]: compaction of observations with age (REF-15)

pub mod check;
pub mod compress;
pub mod distil;
pub mod memory;
pub mod offline;
pub mod parse;
pub mod prompt;
mod section;
pub mod settle_drafts;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::provenance::Origin;
use crate::base::scope::ProjectId;
use crate::base::time::{Date, Timestamp};
use crate::knowledge::observe::{Finding, ObservedSession};
use crate::knowledge::proposal;
use crate::knowledge::proposal::{Proposal, ProposalEvidence, ProposalSource};
use crate::vault::review::{ProposalId, ProposalPlace};

pub use section::TargetSection;

/// The maximum length of a statement, in characters.
pub const MAX_TEXT_CHARS: usize = 400;
/// The maximum number of proposals per reflection: nobody reads more in a morning.
pub const MAX_PROPOSALS: usize = 20;
/// The maximum length of a summary in the log, in characters.
pub const MAX_SUMMARY_CHARS: usize = 500;
/// A window of a session, as input of reflection.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The key of the window.
    pub key: String,
    /// The id of the session.
    pub session: String,
    /// The project of the session.
    pub project: Option<ProjectId>,
    /// The day in the user's zone.
    pub day: Date,
    /// The time of the observation.
    pub at: Timestamp,
    /// The observations of the window.
    pub observed: ObservedSession,
}

/// The input of a reflection.
#[derive(Clone, Copy, Debug)]
pub struct ReflectionPeriod<'a> {
    /// The day in the user's zone.
    pub today: Date,
    /// The user's name; may be empty (GEN-01).
    pub user: &'a str,
    /// The current text of `MEMORY.md`.
    pub memory: &'a str,
    /// The observations, in order.
    pub observations: &'a [Observation],
}

/// A finding and its window.
#[derive(Clone, Copy, Debug)]
pub struct SeenFinding<'a> {
    /// The finding that was observed.
    pub finding: &'a Finding,
    /// The window that contains it.
    pub observation: &'a Observation,
}

impl<'a> ReflectionPeriod<'a> {
    /// All findings in order, without forged ones.
    pub fn findings(&self) -> impl Iterator<Item = SeenFinding<'a>> {
        let of = |observation: &'a Observation| {
            observation.observed.findings().map(move |finding| SeenFinding { finding, observation })
        };
        self.observations.iter().flat_map(of).filter(|seen| !is_forged(&seen.finding.text))
    }
}

/// A proposal under construction: without id, and not shown to the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalDraft {
    /// The section of `MEMORY.md` to write to.
    pub section: TargetSection,
    /// The text to write.
    pub text: String,
    /// The day of the newest supporting observation.
    pub date: Date,
    /// The origin of the words that it needs (B-01).
    pub origin: Origin,
    /// True if those are the user's own explicit words (FBK-06).
    #[serde(default)]
    pub explicit: bool,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// The evidence that supports it.
    pub evidence: ProposalEvidence,
    /// The project, if all evidence is from one.
    pub project: Option<ProjectId>,
    /// The line of `MEMORY.md` that it contradicts.
    pub supersedes: Option<String>,
    /// The pending proposal with the same meaning.
    pub joins: Option<ProposalId>,
}

impl ProposalDraft {
    /// The draft as a proposal. The store assigns the id.
    pub fn proposal(&self, user: &str, id: ProposalId, created: Timestamp) -> Proposal {
        let (source, title) = match &self.supersedes {
            Some(old) => (ProposalSource::Supersede, proposal::replacement_title(old)),
            None => (ProposalSource::Reflection, proposal::title(&self.text)),
        };
        let place = ProposalPlace::Section(self.section.title(user));
        Proposal {
            title,
            supersedes: self.supersedes.clone(),
            explicit: self.explicit,
            confidence: self.confidence,
            evidence: self.evidence.clone(),
            project: self.project.clone(),
            ..Proposal::new(id, source, place, self.origin, self.text.clone(), created)
        }
    }
}

/// The reason why a draft was dropped. Drops are counted, so that nothing vanishes silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DraftDropReason {
    /// No observation supports it.
    Unsupported,
    /// The supporting observations lack a number, a name, a path or a quotation in it.
    Invented,
    /// It says the opposite of the observations.
    Turned,
    /// It imitates the frame of the answer, or addresses a model.
    Forged,
    /// It is too long for a statement.
    Long,
    /// `MEMORY.md` already says it (REF-17).
    Said,
    /// `MEMORY.md` or a newer observation contradicts it (REF-05).
    Outdated,
    /// The user already decided on the same.
    Decided,
    /// It duplicates another draft.
    Merged,
    /// A fix for it is proposed instead (REF-08).
    Resolved,
    /// It exceeds the maximum number.
    Surplus,
}

/// The number of dropped drafts by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DroppedDrafts(pub BTreeMap<DraftDropReason, u64>);

impl DroppedDrafts {
    /// Adds one to the count of a reason.
    pub fn add(&mut self, why: DraftDropReason) {
        *self.0.entry(why).or_default() += 1;
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        for (why, count) in &other.0 {
            *self.0.entry(*why).or_default() += count;
        }
    }

    /// The count for a reason.
    pub fn count(&self, why: DraftDropReason) -> u64 {
        self.0.get(&why).copied().unwrap_or(0)
    }
}

/// The tags of our prompts and answers. No honest observation contains them.
const PROMPT_TAGS: [&str; 9] = [
    "proposals",
    "summary",
    "observations",
    "segment",
    "narrative",
    "facts",
    "current-task",
    "suggested-response",
    "system-reminder",
];

/// Phrases of texts that address a model.
const INJECTION_OPENINGS: [&str; 14] = [
    "ignore the above",
    "ignore all previous",
    "ignore all prior",
    "ignore previous instructions",
    "ignore prior instructions",
    "ignore your instructions",
    "ignore everything above",
    "disregard the above",
    "disregard all previous",
    "disregard previous instructions",
    "forget your instructions",
    "ignoriere die obigen",
    "ignoriere alle vorherigen",
    "ignora las instrucciones",
];

/// True if a text imitates our own frame or gives orders to its reader. It stays in the log, but becomes no
/// proposal and is shown to no model.
pub fn is_forged(text: &str) -> bool {
    let text = text.to_lowercase();
    let tagged = |tag: &&str| text.contains(&format!("<{tag}")) || text.contains(&format!("</{tag}"));
    text.contains("```")
        || text.contains("<!--")
        || text.contains("proposed for:")
        || PROMPT_TAGS.iter().any(tagged)
        || INJECTION_OPENINGS.iter().any(|order| text.contains(order))
}

/// The distance of an origin from the user's own words.
pub(crate) fn distance(origin: Origin) -> usize {
    Origin::ALL.iter().position(|other| *other == origin).unwrap_or(Origin::ALL.len())
}

/// A summary of one or two sentences for the daily log, made from counts alone.
pub fn summary(period: &ReflectionPeriod<'_>, drafts: &[ProposalDraft]) -> String {
    let count = |number: usize, word: &str| match number {
        1 => format!("1 {word}"),
        number => format!("{number} {word}s"),
    };
    let distinct = |each: fn(&Observation) -> String| {
        period.observations.iter().map(each).collect::<std::collections::BTreeSet<_>>().len()
    };
    let sessions = distinct(|observation| observation.session.clone());
    let days = distinct(|observation| observation.day.to_string());
    let looked = format!("Looked at {} on {}.", count(sessions, "session"), count(days, "day"));
    if drafts.is_empty() {
        return format!("{looked} Nothing new to propose.");
    }
    let mut sections: Vec<(String, usize)> = Vec::new();
    for draft in drafts {
        let title = draft.section.title(period.user);
        match sections.iter_mut().find(|(other, _)| *other == title) {
            Some((_, count)) => *count += 1,
            None => sections.push((title, 1)),
        }
    }
    let parts: Vec<String> = sections.iter().map(|(title, count)| format!("{count} for {title}")).collect();
    format!("{looked} {}: {}.", count(drafts.len(), "proposal"), parts.join(", "))
}

//! Reflection: what was observed over days becomes a few proposals (REF-01…17). Nothing here writes to `MEMORY.md`; the
//! person does, by saying yes (X-06).
//!
//! - [`offline`]: without any model, which is the default
//! - [`prompt`], [`parse`], [`compress`]: with one: what it is given, what it says, and that it says less than it was given
//! - [`check`]: a model's claims held against the observations (B-01)
//! - [`settle`]: whoever proposed it, what `MEMORY.md` or an earlier proposal says already is not proposed again
//! - [`conflict`], [`likeness`]: when two statements contradict each other, and when they are the same
//! - [`distil`]: how observations shrink with age (REF-15)

pub mod check;
pub mod compress;
pub mod distil;
pub mod memory;
pub mod offline;
pub mod parse;
pub mod prompt;
mod section;
pub mod settle;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::provenance::Origin;
use crate::base::scope::ProjectId;
use crate::base::time::{Date, Timestamp};
use crate::knowledge::observe::{Finding, Observed};
use crate::knowledge::proposal;
use crate::knowledge::proposal::{Evidence, Proposal, Source};
use crate::vault::review::{Id, Place};

pub use section::Section;

/// A longer text is no statement any more.
pub const MAX_TEXT_CHARS: usize = 400;
/// So many proposals come of one reflection at most: nobody reads more in a morning.
pub const MAX_PROPOSALS: usize = 20;
/// A longer summary does not go into the log.
pub const MAX_SUMMARY_CHARS: usize = 500;
/// One window of a session, as reflection sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The window.
    pub key: String,
    /// The session.
    pub session: String,
    /// The project it was held in.
    pub project: Option<ProjectId>,
    /// The person's day.
    pub day: Date,
    /// When it was observed.
    pub at: Timestamp,
    /// What was observed.
    pub observed: Observed,
}

/// What is reflected on.
#[derive(Clone, Copy, Debug)]
pub struct Period<'a> {
    /// The person's day.
    pub today: Date,
    /// The person's name; may be empty (GEN-01).
    pub user: &'a str,
    /// `MEMORY.md` as it is.
    pub memory: &'a str,
    /// What was observed, in order.
    pub observations: &'a [Observation],
}

/// A finding and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// What was found.
    pub finding: &'a Finding,
    /// The window it was found in.
    pub observation: &'a Observation,
}

impl<'a> Period<'a> {
    /// Every finding, in order, except what pretends to be ours.
    pub fn findings(&self) -> impl Iterator<Item = Seen<'a>> {
        let of = |observation: &'a Observation| {
            observation.observed.findings().map(move |finding| Seen { finding, observation })
        };
        self.observations.iter().flat_map(of).filter(|seen| !is_forged(&seen.finding.text))
    }
}

/// A proposal in the making: it has no id, and nobody has been asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// Where it would go.
    pub section: Section,
    /// What would be written.
    pub text: String,
    /// The day of the newest observation that it rests on.
    pub date: Date,
    /// Whose words it needs (B-01).
    pub origin: Origin,
    /// Whether those are the person's own words, in so many words (FBK-06).
    #[serde(default)]
    pub explicit: bool,
    /// How sure we are, from 0 to 1.
    pub confidence: f64,
    /// What it rests on.
    pub evidence: Evidence,
    /// The project, if all of it comes from one.
    pub project: Option<ProjectId>,
    /// The line of `MEMORY.md` that it contradicts.
    pub supersedes: Option<String>,
    /// The proposal that waits and says the same in other words.
    pub joins: Option<Id>,
}

impl Draft {
    /// As it is handed in. The store gives it its id.
    pub fn proposal(&self, user: &str, id: Id, created: Timestamp) -> Proposal {
        let (source, title) = match &self.supersedes {
            Some(old) => (Source::Supersede, proposal::instead_of(old)),
            None => (Source::Reflection, proposal::title(&self.text)),
        };
        let place = Place::Section(self.section.title(user));
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

/// Why something did not become a proposal. Nothing vanishes silently: each is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// No observation says it.
    Unsupported,
    /// A number, a name, a path or a quotation in it is in none of the observations it rests on.
    Invented,
    /// It says the opposite of what was observed.
    Turned,
    /// It pretends to be part of the answer's frame, or talks to a model.
    Forged,
    /// It is no statement but a text.
    Long,
    /// `MEMORY.md` says it already (REF-17).
    Said,
    /// `MEMORY.md` or a newer observation says otherwise since (REF-05).
    Outdated,
    /// The same was decided on before.
    Decided,
    /// The same came up twice.
    Merged,
    /// There is a fix for it, which is proposed instead (REF-08).
    Resolved,
    /// More than anybody reads.
    Surplus,
}

/// How many did not become a proposal, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Dropped(pub BTreeMap<Why, u64>);

impl Dropped {
    /// One more.
    pub fn add(&mut self, why: Why) {
        *self.0.entry(why).or_default() += 1;
    }

    /// Both together.
    pub fn merge(&mut self, other: &Self) {
        for (why, count) in &other.0 {
            *self.0.entry(*why).or_default() += count;
        }
    }

    /// How many for this reason.
    pub fn count(&self, why: Why) -> u64 {
        self.0.get(&why).copied().unwrap_or(0)
    }
}

/// The tags of our prompts and answers. Nothing that was observed has them by honest means.
const TAGS: [&str; 9] = [
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

/// How texts begin to talk to a model instead of saying something.
const ORDERS: [&str; 14] = [
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

/// Whether a text pretends to be a part of what we write, or gives orders to whoever reads it. It stays in the log; it
/// becomes no proposal and is shown to no model.
pub fn is_forged(text: &str) -> bool {
    let text = text.to_lowercase();
    let tagged = |tag: &&str| text.contains(&format!("<{tag}")) || text.contains(&format!("</{tag}"));
    text.contains("```")
        || text.contains("<!--")
        || text.contains("proposed for:")
        || TAGS.iter().any(tagged)
        || ORDERS.iter().any(|order| text.contains(order))
}

/// How far an origin is from the person's own words.
pub(crate) fn distance(origin: Origin) -> usize {
    Origin::ALL.iter().position(|other| *other == origin).unwrap_or(Origin::ALL.len())
}

/// One or two sentences for the log of the day, made of counts alone.
pub fn summary(period: &Period<'_>, drafts: &[Draft]) -> String {
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

//! Friction (FRI-01…08): what keeps going wrong within a week of observations, and one line that would mend each. Without any
//! model, which is the default, what is counted is what the person said themselves and how often a command failed. It prefers to find nothing over
//! guessing, and says why it found nothing.

mod ask;
mod detect;
mod fix;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::provenance::Origin;
use crate::base::provenance::Strength;
use crate::base::scope::ProjectId;
use crate::base::time::{Date, Timestamp};
use crate::knowledge::proposal::{Evidence, Proposal, Target};
use crate::knowledge::reflect::Period;
use crate::vault::review::Id;

pub use ask::{ask, heard};
pub use detect::detect;
pub use fix::fixes;

/// So many days are looked at (FRI-01).
pub const WINDOW_DAYS: i64 = 7;
/// So many fixes come of one look at most.
pub const MOST_FIXES: usize = 5;
/// The section of `MEMORY.md` for what the person had to say again (FBK-05).
pub const LESSONS: &str = "Lessons";
/// The section for what keeps failing.
const PATTERNS: &str = "Patterns";

/// When there is enough to look at (FRI-07).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// So many findings have to be known.
    pub observations: usize,
    /// The oldest of them has to be so many days old.
    pub days: i64,
    /// Something has to come up in so many sessions.
    pub sessions: usize,
}

impl Gate {
    /// Why there is too little to look at; none if there is enough.
    pub fn closed(&self, findings: usize, oldest: Option<Date>, today: Date) -> Option<String> {
        if findings < self.observations {
            return Some(format!(
                "{findings} observations are known, and friction.min_observations asks for {}",
                self.observations
            ));
        }
        let days = oldest.and_then(|oldest| today.since(oldest).ok()).map_or(0, |span| span.get_days());
        (i64::from(days) < self.days).then(|| {
            format!("observations go back {days} days, and friction.min_days asks for {}", self.days)
        })
    }
}

/// What kind of thing keeps happening (FRI-02).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The person says the same again and again.
    RepeatedCorrection,
    /// A command fails again and again.
    RecurringFailure,
    /// A line of `MEMORY.md` does not hold any more.
    StaleMemory,
    /// What a model found, and the observations bear out.
    Reported,
}

impl Kind {
    /// How much it costs each time, by estimate.
    fn impact(self) -> u32 {
        match self {
            Self::RepeatedCorrection => 3,
            Self::RecurringFailure | Self::Reported => 2,
            Self::StaleMemory => 1,
        }
    }
}

/// Something that keeps happening.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pattern {
    /// What kind of thing.
    pub kind: Kind,
    /// What would be written: the person's own words, or a counted fact.
    pub text: String,
    /// The line of `MEMORY.md` that does not hold any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// The section that the line stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Whose words it is.
    pub origin: Origin,
    /// How plainly they were said.
    pub strength: Strength,
    /// What it rests on.
    pub evidence: Evidence,
    /// When it came up, once for each session: the newest time of it.
    pub times: Vec<Timestamp>,
    /// The project, if all of it comes from one.
    pub project: Option<ProjectId>,
}

impl Pattern {
    /// Frequency × impact (FRI-04): the sessions it came up in, and what it costs in each.
    pub fn severity(&self) -> u32 {
        u32::try_from(self.evidence.sessions.len()).unwrap_or(u32::MAX).saturating_mul(self.kind.impact())
    }
}

/// Why nothing is proposed for a pattern. Each is counted, so that a look without a finding says why (FRI-08).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// It came up in too few sessions.
    Rare,
    /// The file it is for says it already.
    Said,
    /// One that waits says it; that has more to rest on now.
    Waiting,
    /// The same was decided on before.
    Decided,
    /// More than anybody reads.
    Surplus,
}

impl Why {
    /// The words in a sentence.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Rare => "came up in too few sessions",
            Self::Said => "stand in their file already",
            Self::Waiting => "wait for your decision already",
            Self::Decided => "were decided on before",
            Self::Surplus => "are left for tomorrow",
        }
    }
}

/// A fix that is proposed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fix {
    /// What it mends.
    pub pattern: Pattern,
    /// The file that it changes.
    pub target: Target,
}

/// What a look came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fixes {
    /// What is proposed, the most severe first.
    pub fixes: Vec<Fix>,
    /// Those that wait and came up again, with what they rest on now.
    pub again: Vec<(Id, Evidence)>,
    /// What is not, and why.
    pub dropped: BTreeMap<Why, u64>,
}

/// An earlier proposal, and when it was decided on.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier {
    /// The proposal.
    pub proposal: Proposal,
    /// When.
    pub decided: Option<Timestamp>,
}

/// What fixes are held against.
pub struct Known<'a> {
    /// The week.
    pub period: &'a Period<'a>,
    /// `AGENTS.md`, where there is one.
    pub agents: Option<&'a str>,
    /// Every proposal there is, in whatever state.
    pub before: &'a [Earlier],
    /// When there is enough.
    pub gate: Gate,
}

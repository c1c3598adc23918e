//! Friction (FRI-01…08): recurring problems within a week of observations, and a one-line fix for each. By
//! default no model is used: it counts the user's own statements and failed commands. It prefers no finding
//! to a guess, and reports the reason if it finds none.

mod detect;
mod fix;
mod model;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::provenance::Origin;
use crate::base::provenance::StatementStrength;
use crate::base::scope::ProjectId;
use crate::base::time::{Date, Timestamp};
use crate::knowledge::proposal::{Proposal, ProposalEvidence, ProposalTarget};
use crate::knowledge::reflect::ReflectionPeriod;
use crate::vault::review::ProposalId;

pub use detect::detect;
pub use fix::propose_fixes;
pub use model::{ask, parse_patterns};

/// The length of the window, in days (FRI-01).
pub const WINDOW_DAYS: i64 = 7;
/// The maximum number of fixes per run.
pub const MAX_FIXES: usize = 5;
/// The section of `MEMORY.md` for repeated corrections (FBK-05).
pub const LESSONS_SECTION: &str = "Lessons";
/// The section for recurring failures.
const PATTERNS_SECTION: &str = "Patterns";

/// The minimum amount of data for a run (FRI-07).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrictionGate {
    /// The minimum number of findings.
    pub observations: usize,
    /// The minimum age of the oldest finding, in days.
    pub days: i64,
    /// The minimum number of sessions with the same pattern.
    pub sessions: usize,
}

impl FrictionGate {
    /// The reason why there is too little data; `None` if there is enough.
    pub fn closed_reason(&self, findings: usize, oldest: Option<Date>, today: Date) -> Option<String> {
        if findings < self.observations {
            return Some(format!(
                "there are {findings} observations, and friction.min_observations is {}",
                self.observations
            ));
        }
        let days = oldest.and_then(|oldest| today.since(oldest).ok()).map_or(0, |span| span.get_days());
        (i64::from(days) < self.days)
            .then(|| format!("observations cover {days} days, and friction.min_days is {}", self.days))
    }
}

/// The type of a pattern (FRI-02).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrictionKind {
    /// The user repeats the same correction.
    RepeatedCorrection,
    /// A command fails repeatedly.
    RecurringFailure,
    /// A line of `MEMORY.md` no longer holds.
    StaleMemory,
    /// A model reported it, and the observations support it.
    Reported,
}

impl FrictionKind {
    /// The estimated cost of one occurrence.
    fn impact(self) -> u32 {
        match self {
            Self::RepeatedCorrection => 3,
            Self::RecurringFailure | Self::Reported => 2,
            Self::StaleMemory => 1,
        }
    }
}

/// A problem that recurs in the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrictionPattern {
    /// The type of the pattern.
    pub kind: FrictionKind,
    /// The text to write: the user's own words, or a counted fact.
    pub text: String,
    /// The line of `MEMORY.md` that no longer holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// The section of that line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The origin of the words.
    pub origin: Origin,
    /// The strength of the statement.
    pub strength: StatementStrength,
    /// The evidence that supports it.
    pub evidence: ProposalEvidence,
    /// The newest time in each session.
    pub times: Vec<Timestamp>,
    /// The project, if all evidence is from one.
    pub project: Option<ProjectId>,
}

impl FrictionPattern {
    /// The severity, frequency × impact (FRI-04): the number of sessions times the cost in each.
    pub fn severity(&self) -> u32 {
        u32::try_from(self.evidence.sessions.len()).unwrap_or(u32::MAX).saturating_mul(self.kind.impact())
    }
}

/// The reason for not proposing a pattern. Reasons are counted, so that a run without a fix can explain
/// itself (FRI-08).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FixDropReason {
    /// It occurred in too few sessions.
    Rare,
    /// The target file already says it.
    Said,
    /// A pending proposal says it, and gets the new evidence.
    Waiting,
    /// The user already decided on the same.
    Decided,
    /// It exceeds the maximum number of fixes.
    Surplus,
}

impl FixDropReason {
    /// The phrase for messages.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Rare => "occurred in too few sessions",
            Self::Said => "are already in their file",
            Self::Waiting => "already wait for your decision",
            Self::Decided => "were already decided",
            Self::Surplus => "are left for tomorrow",
        }
    }
}

/// A fix proposed for a pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrictionFix {
    /// The pattern that it fixes.
    pub pattern: FrictionPattern,
    /// The file that the fix changes.
    pub target: ProposalTarget,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrictionFixes {
    /// The proposed fixes, most severe first.
    pub fixes: Vec<FrictionFix>,
    /// The pending proposals that came up again, with their new evidence.
    pub again: Vec<(ProposalId, ProposalEvidence)>,
    /// The number of dropped patterns by reason.
    pub dropped: BTreeMap<FixDropReason, u64>,
}

/// An earlier proposal, and the time of its decision.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlierProposal {
    /// The proposal as it was made.
    pub proposal: Proposal,
    /// The time of the decision; `None` while it is pending.
    pub decided: Option<Timestamp>,
}

/// The context for judging patterns.
pub struct FixContext<'a> {
    /// The observations of the week.
    pub period: &'a ReflectionPeriod<'a>,
    /// The text of `AGENTS.md`, if it exists.
    pub agents: Option<&'a str>,
    /// All earlier proposals, of any status.
    pub before: &'a [EarlierProposal],
    /// The minimum amount of data.
    pub gate: FrictionGate,
}

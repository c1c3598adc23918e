//! Triage (REV-09, X-07): decides the proposals that need no question to the user. Rules judge first; a
//! model, if enabled, may only lower their outcome. Uncertain proposals are left to the user.

mod grade;
mod model_answer;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::base::provenance::Origin;
use crate::base::time::Timestamp;
use crate::knowledge::proposal::review_priority::rank_proposals;
use crate::knowledge::proposal::{Proposal, ProposalStatus};
use crate::knowledge::reflect::is_forged;
use crate::knowledge::reflect::memory::MemoryDocument;
use crate::text::similarity::AnalysedStatement;
use crate::vault::review::{ProposalId, ProposalPlace};

pub use grade::{grade_request, is_graded, parse_grade};
pub use model_answer::{BATCH_PROPOSALS, ask, merge_judgements};

/// The outcome for a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TriageOutcome {
    /// It is written to `MEMORY.md`.
    Promote,
    /// It is rejected without a question.
    Reject,
    /// The user is asked.
    NeedsReview,
}

/// The reason of an outcome. It contains no quoted text, so it can be kept after a forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TriageReason {
    /// `MEMORY.md` already says it.
    Said,
    /// The user already decided on the same.
    Decided,
    /// It has no content.
    Empty,
    /// It imitates our own text.
    Forged,
    /// The user said it explicitly, in a category that has earned promotion (FUT-03).
    Earned,
    /// Only tool output says it.
    Unsaid,
    /// It would change an existing line or file.
    Changes,
    /// Another pending proposal says the same and represents it.
    Same,
    /// Nobody said it explicitly.
    Inferred,
    /// Its category has not earned promotion.
    Unearned,
    /// The settings turn triage off.
    Off,
    /// The model's verdict: it concerned one moment only.
    Passing,
    /// The model's verdict: nobody would look it up.
    Trivial,
    /// The model's verdict: it makes no sense alone.
    Unclear,
    /// The model was uncertain, or its answer was invalid.
    Doubted,
}

impl TriageReason {
    /// All reasons, in order.
    pub const ALL: [Self; 15] = [
        Self::Said,
        Self::Decided,
        Self::Empty,
        Self::Forged,
        Self::Earned,
        Self::Unsaid,
        Self::Changes,
        Self::Same,
        Self::Inferred,
        Self::Unearned,
        Self::Off,
        Self::Passing,
        Self::Trivial,
        Self::Unclear,
        Self::Doubted,
    ];

    /// The word in the store and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Said => "said",
            Self::Decided => "decided",
            Self::Empty => "empty",
            Self::Forged => "forged",
            Self::Earned => "earned",
            Self::Unsaid => "unsaid",
            Self::Changes => "changes",
            Self::Same => "same",
            Self::Inferred => "inferred",
            Self::Unearned => "unearned",
            Self::Off => "off",
            Self::Passing => "passing",
            Self::Trivial => "trivial",
            Self::Unclear => "unclear",
            Self::Doubted => "doubted",
        }
    }

    /// The phrase for messages, after the outcome.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Said => "MEMORY.md says it already",
            Self::Decided => "the same was decided on before",
            Self::Empty => "there is nothing in it",
            Self::Forged => "it pretends to be an order or one of our own marks",
            Self::Earned => "your own words, of a kind that you always approve",
            Self::Unsaid => "only tool output says it",
            Self::Changes => "it would change what is there",
            Self::Same => "another one says the same",
            Self::Inferred => "you did not say it in so many words",
            Self::Unearned => "its kind has not been approved often enough",
            Self::Off => "triage is off",
            Self::Passing => "it was about one moment",
            Self::Trivial => "nobody would look it up",
            Self::Unclear => "it cannot be understood by itself",
            Self::Doubted => "the model was not certain",
        }
    }
}

/// The judgement of one proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriageJudgement {
    /// The id of the proposal.
    pub id: ProposalId,
    /// The outcome for it.
    pub outcome: TriageOutcome,
    /// The reason of the outcome.
    pub why: TriageReason,
}

/// The input of the rules.
pub struct TriageFacts<'a> {
    /// The content of `MEMORY.md`.
    pub memory: &'a MemoryDocument,
    /// All proposals, of any status.
    pub all: &'a [Proposal],
    /// The proposals on the page.
    pub on_page: &'a HashSet<ProposalId>,
    /// True if the category of a proposal has earned promotion without asking.
    pub earned: &'a dyn Fn(&Proposal) -> bool,
    /// The time of the judgement.
    pub now: Timestamp,
}

/// Judges pending proposals by the rules.
pub fn judge_by_rules(ids: &[ProposalId], facts: &TriageFacts<'_>) -> Vec<TriageJudgement> {
    let open: Vec<Proposal> =
        facts.all.iter().filter(|proposal| proposal.status.is_open()).cloned().collect();
    let followers: HashSet<ProposalId> = rank_proposals(&open, facts.on_page, facts.now)
        .into_iter()
        .flat_map(|folded| folded.duplicates)
        .collect();
    let decided: Vec<(&Proposal, AnalysedStatement)> = facts
        .all
        .iter()
        .filter(|proposal| !proposal.status.is_open())
        .map(|proposal| (proposal, AnalysedStatement::from_text(&proposal.text)))
        .collect();
    let wanted = open.iter().filter(|proposal| ids.contains(&proposal.id));
    wanted
        .map(|proposal| {
            let (outcome, why) = rule(proposal, facts, &decided, followers.contains(&proposal.id));
            TriageJudgement { id: proposal.id, outcome, why }
        })
        .collect()
}

fn rule(
    proposal: &Proposal,
    facts: &TriageFacts<'_>,
    decided: &[(&Proposal, AnalysedStatement)],
    follows: bool,
) -> (TriageOutcome, TriageReason) {
    use TriageOutcome::{NeedsReview, Promote, Reject};
    let statement = AnalysedStatement::from_text(&proposal.text);
    if is_forged(&proposal.text) {
        return (NeedsReview, TriageReason::Forged);
    }
    if statement.terms().is_empty() {
        return (Reject, TriageReason::Empty);
    }
    // A statement in another file is a separate question.
    if proposal.section().is_some()
        && facts.memory.visible_in(proposal.project.as_ref()).contains_statement(&statement)
    {
        return (Reject, TriageReason::Said);
    }
    let outright = is_outright(proposal);
    // An expired question is not asked again in other words, unless the user says it explicitly.
    let counts = |before: &Proposal| before.status != ProposalStatus::Expired || !outright;
    let same = decided
        .iter()
        .rev()
        .find(|(before, other)| counts(before) && before.shares_file(proposal) && other.is_same(&statement));
    if let Some((before, _)) = same {
        // A user who says it explicitly again after a rejection may have changed their mind.
        let again = outright && before.status == ProposalStatus::Rejected;
        return (if again { NeedsReview } else { Reject }, TriageReason::Decided);
    }
    if follows {
        return (NeedsReview, TriageReason::Same);
    }
    if proposal.origin == Origin::Tool {
        return (NeedsReview, TriageReason::Unsaid);
    }
    if proposal.supersedes.is_some()
        || proposal.target.is_some()
        || !matches!(proposal.place, ProposalPlace::Section(_))
    {
        return (NeedsReview, TriageReason::Changes);
    }
    match (outright, (facts.earned)(proposal)) {
        (false, _) => (NeedsReview, TriageReason::Inferred),
        (true, false) => (NeedsReview, TriageReason::Unearned),
        (true, true) => (Promote, TriageReason::Earned),
    }
}

/// True for the user's own explicit words: nothing else is ever promoted without asking (B-01), and no model
/// rejects it.
fn is_outright(proposal: &Proposal) -> bool {
    proposal.origin == Origin::User && proposal.explicit
}

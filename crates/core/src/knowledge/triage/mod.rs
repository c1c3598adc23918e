//! Triage (REV-09, X-07): what a person need not be asked about. Rules judge first; a model, where there is one, may only
//! lower what they say. Whatever is not certain is left to the person.

mod answer;
mod grade;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::base::provenance::Origin;
use crate::base::time::Timestamp;
use crate::knowledge::proposal::worth::ranked;
use crate::knowledge::proposal::{Proposal, Status};
use crate::knowledge::reflect::is_forged;
use crate::knowledge::reflect::memory::Memory;
use crate::text::similarity::Statement;
use crate::vault::review::{Id, Place};

pub use answer::{BATCH, ask, weigh};
pub use grade::{ask_for_grade, is_graded, read_grade};

/// What becomes of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It goes to `MEMORY.md`.
    Promote,
    /// It is turned down.
    Reject,
    /// The person is asked.
    NeedsReview,
}

/// Why. There are no words of anybody in it, so that it can be kept whatever is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// `MEMORY.md` says it.
    Said,
    /// The same was decided on before.
    Decided,
    /// There is nothing in it.
    Empty,
    /// It pretends to be ours.
    Forged,
    /// The person said it in so many words, in a category that has earned it (FUT-03).
    Earned,
    /// Only tool output says it.
    Unsaid,
    /// It would change a line or a file that is there.
    Changes,
    /// Another one that waits says the same and stands for it.
    Same,
    /// Nobody said it in so many words.
    Inferred,
    /// Its category has not earned more.
    Unearned,
    /// Triage is off.
    Off,
    /// The model: it was about one moment.
    Passing,
    /// The model: nobody would look it up.
    Trivial,
    /// The model: it cannot be understood by itself.
    Unclear,
    /// The model is not certain, or made no sense.
    Doubted,
}

impl Why {
    /// Every reason.
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
    pub fn word(self) -> &'static str {
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

    /// The words in a sentence, behind what became of it.
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

/// What was made of one proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// Which.
    pub id: Id,
    /// What becomes of it.
    pub outcome: Outcome,
    /// Why.
    pub why: Why,
}

/// What the rules look at.
pub struct Facts<'a> {
    /// What `MEMORY.md` says.
    pub memory: &'a Memory,
    /// Every proposal there is, in whatever state.
    pub all: &'a [Proposal],
    /// What the person sees on the page.
    pub on_page: &'a HashSet<Id>,
    /// Whether the category of a proposal has earned to be promoted without asking.
    pub earned: &'a dyn Fn(&Proposal) -> bool,
    /// Now.
    pub now: Timestamp,
}

/// What the rules make of these proposals, which wait.
pub fn judge(ids: &[Id], facts: &Facts<'_>) -> Vec<Judgement> {
    let open: Vec<Proposal> =
        facts.all.iter().filter(|proposal| proposal.status.is_open()).cloned().collect();
    let followers: HashSet<Id> =
        ranked(&open, facts.on_page, facts.now).into_iter().flat_map(|folded| folded.same).collect();
    let decided: Vec<(&Proposal, Statement)> = facts
        .all
        .iter()
        .filter(|proposal| !proposal.status.is_open())
        .map(|proposal| (proposal, Statement::of(&proposal.text)))
        .collect();
    let wanted = open.iter().filter(|proposal| ids.contains(&proposal.id));
    wanted
        .map(|proposal| {
            let (outcome, why) = rule(proposal, facts, &decided, followers.contains(&proposal.id));
            Judgement { id: proposal.id, outcome, why }
        })
        .collect()
}

fn rule(
    proposal: &Proposal,
    facts: &Facts<'_>,
    decided: &[(&Proposal, Statement)],
    follows: bool,
) -> (Outcome, Why) {
    use Outcome::{NeedsReview, Promote, Reject};
    let statement = Statement::of(&proposal.text);
    if is_forged(&proposal.text) {
        return (NeedsReview, Why::Forged);
    }
    if statement.terms().is_empty() {
        return (Reject, Why::Empty);
    }
    // What another file should say is another question.
    if proposal.section().is_some() && facts.memory.seen_from(proposal.project.as_ref()).says(&statement) {
        return (Reject, Why::Said);
    }
    let outright = is_outright(proposal);
    // What nobody answered is not asked again in other words, unless the person says so themselves.
    let counts = |before: &Proposal| before.status != Status::Expired || !outright;
    let same = decided
        .iter()
        .rev()
        .find(|(before, other)| counts(before) && before.shares_file(proposal) && other.is_same(&statement));
    if let Some((before, _)) = same {
        // Whoever says it again in so many words after they turned it down may have changed their mind.
        let again = outright && before.status == Status::Rejected;
        return (if again { NeedsReview } else { Reject }, Why::Decided);
    }
    if follows {
        return (NeedsReview, Why::Same);
    }
    if proposal.origin == Origin::Tool {
        return (NeedsReview, Why::Unsaid);
    }
    if proposal.supersedes.is_some()
        || proposal.target.is_some()
        || !matches!(proposal.place, Place::Section(_))
    {
        return (NeedsReview, Why::Changes);
    }
    match (outright, (facts.earned)(proposal)) {
        (false, _) => (NeedsReview, Why::Inferred),
        (true, false) => (NeedsReview, Why::Unearned),
        (true, true) => (Promote, Why::Earned),
    }
}

/// Whether these are the person's own words, said in so many words: nothing else is ever promoted without asking (B-01), and
/// no model turns it down.
fn is_outright(proposal: &Proposal) -> bool {
    proposal.origin == Origin::User && proposal.explicit
}

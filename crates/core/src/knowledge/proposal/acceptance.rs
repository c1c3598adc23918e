//! The user's decisions by category of proposals (FUT-03), and the categories that have earned promotion
//! without asking.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Proposal, ProposalSource};
use crate::vault::review::ProposalPlace;

/// A category of proposals that users judge alike: the same source and the same destination.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ProposalCategory {
    /// The word of the source.
    pub source: &'static str,
    /// The section, or the type of the file.
    pub section: String,
}

impl ProposalCategory {
    /// The category of a proposal.
    pub fn from_proposal(proposal: &Proposal) -> Self {
        let section = match (&proposal.place, proposal.section()) {
            (ProposalPlace::Section(_), Some(name)) => name.to_owned(),
            // All memories are one category; each identity file is its own.
            (_, None) => proposal.identity().unwrap_or("entry").to_owned(),
            // The friction sections of all days are one category.
            (ProposalPlace::Friction(_), Some(_)) => ProposalSource::Friction.as_str().to_owned(),
        };
        Self { source: proposal.source.as_str(), section }
    }
}

/// The outcome of a past proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalFate {
    /// The user approved it unchanged.
    Approved,
    /// The user approved it with other words.
    Edited,
    /// The user rejected it.
    Rejected,
    /// It expired without a decision.
    Expired,
    /// The user undid its promotion, regardless of who decided it.
    Undone,
    /// It was promoted without asking.
    Promoted,
    /// It was rejected without asking.
    Dropped,
}

/// The user's decisions in one category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AcceptanceStats {
    /// The number approved unchanged.
    pub approved: u32,
    /// The number approved with other words.
    pub edited: u32,
    /// The number that users rejected.
    pub rejected: u32,
    /// The number expired without a decision.
    pub expired: u32,
    /// The number undone after promotion.
    pub undone: u32,
    /// The number promoted without asking.
    pub promoted: u32,
    /// The number rejected without asking.
    pub dropped: u32,
    /// The current number of unchanged approvals in a row.
    pub straight: u32,
}

impl AcceptanceStats {
    fn add(&mut self, fate: ProposalFate) {
        let count = match fate {
            ProposalFate::Approved => &mut self.approved,
            ProposalFate::Edited => &mut self.edited,
            ProposalFate::Rejected => &mut self.rejected,
            ProposalFate::Expired => &mut self.expired,
            ProposalFate::Undone => &mut self.undone,
            ProposalFate::Promoted => &mut self.promoted,
            ProposalFate::Dropped => &mut self.dropped,
        };
        *count += 1;
        match fate {
            ProposalFate::Approved => self.straight += 1,
            // A changed wording means that the proposal was not right.
            ProposalFate::Edited | ProposalFate::Rejected | ProposalFate::Undone => self.straight = 0,
            // The user decided nothing.
            ProposalFate::Expired | ProposalFate::Promoted | ProposalFate::Dropped => {}
        }
    }

    /// True if there are enough approvals in a row.
    pub fn has_earned(&self, needed: u32) -> bool {
        needed > 0 && self.straight >= needed
    }

    /// The share of decided proposals that the user accepted, from 0 to 1; `None` without decisions.
    pub fn acceptance_rate(&self) -> Option<f64> {
        let taken = self.approved + self.edited;
        let all = taken + self.rejected;
        (all > 0).then(|| f64::from(taken) / f64::from(all))
    }
}

/// Counts the decisions by category. `past` are the outcomes, oldest first.
pub fn acceptance_by_category(
    past: impl IntoIterator<Item = (ProposalCategory, ProposalFate)>,
) -> BTreeMap<ProposalCategory, AcceptanceStats> {
    let mut found: BTreeMap<ProposalCategory, AcceptanceStats> = BTreeMap::new();
    for (category, fate) in past {
        found.entry(category).or_default().add(fate);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(told: &[ProposalFate]) -> AcceptanceStats {
        let category = ProposalCategory { source: "reflection", section: "Patterns".to_owned() };
        let other = ProposalCategory { section: "Hard Rules".to_owned(), ..category.clone() };
        let past = told.iter().map(|told| (category.clone(), *told));
        // Outcomes of other categories do not affect this one.
        let found = acceptance_by_category(past.chain([(other, ProposalFate::Rejected)]));
        assert_eq!(found.len(), 2);
        found[&category]
    }

    #[test]
    fn fut_03_only_straight_approvals_earn_and_a_rejection_or_an_undo_takes_it_away() {
        use ProposalFate::{Approved, Dropped, Edited, Expired, Promoted, Rejected, Undone};
        assert!(after(&[Approved; 3]).has_earned(3));
        assert!(!after(&[Approved; 3]).has_earned(4));
        assert!(!after(&[Approved; 3]).has_earned(0), "nothing is earned by asking for nothing");
        for breaking in [Rejected, Undone, Edited] {
            assert_eq!(after(&[Approved, Approved, breaking]).straight, 0, "{breaking:?}");
            assert_eq!(after(&[Approved, breaking, Approved]).straight, 1, "{breaking:?}");
        }
        for silent in [Expired, Promoted, Dropped] {
            assert_eq!(after(&[Approved, silent, Approved]).straight, 2, "{silent:?}");
        }
    }

    #[test]
    fn fut_03_the_rate_is_about_what_a_person_decided() {
        let told = [
            ProposalFate::Approved,
            ProposalFate::Edited,
            ProposalFate::Rejected,
            ProposalFate::Approved,
            ProposalFate::Expired,
            ProposalFate::Promoted,
        ];
        let counted = after(&told);
        assert_eq!(counted.acceptance_rate(), Some(0.75));
        assert_eq!((counted.approved, counted.edited, counted.rejected, counted.expired), (2, 1, 1, 1));
        assert_eq!((counted.promoted, after(&[ProposalFate::Expired]).acceptance_rate()), (1, None));
    }
}

//! How a person decides, by category (FUT-03): which kinds of proposals they take as they are, and which of them have earned
//! to be taken without being asked about.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Proposal, Source};
use crate::vault::review::Place;

/// What proposals have in common that a person judges alike: what came to them, and where they would go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Category {
    /// What came to it.
    pub source: &'static str,
    /// The section, or the kind of file.
    pub section: String,
}

impl Category {
    /// Of one proposal.
    pub fn of(proposal: &Proposal) -> Self {
        let section = match (&proposal.place, proposal.section()) {
            (Place::Section(_), Some(name)) => name.to_owned(),
            // Every memory is the same kind of thing; identity files are few and each its own.
            (_, None) => proposal.identity().unwrap_or("entry").to_owned(),
            // Every day of them is the same kind of thing.
            (Place::Friction(_), Some(_)) => Source::Friction.word().to_owned(),
        };
        Self { source: proposal.source.word(), section }
    }
}

/// What once became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// A person took it as it was.
    Approved,
    /// A person took it in other words.
    Edited,
    /// A person turned it down.
    Rejected,
    /// Nobody decided in time.
    Expired,
    /// A person took its promotion back, whoever had decided on it.
    Undone,
    /// Nobody was asked, and it was promoted.
    Promoted,
    /// Nobody was asked, and it was turned down.
    Dropped,
}

/// How a person decides on one category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Acceptance {
    /// Taken as they were.
    pub approved: u32,
    /// Taken in other words.
    pub edited: u32,
    /// Turned down.
    pub rejected: u32,
    /// Not decided on in time.
    pub expired: u32,
    /// Taken back after they were promoted.
    pub undone: u32,
    /// Promoted without asking.
    pub promoted: u32,
    /// Turned down without asking.
    pub dropped: u32,
    /// How many in a row were taken as they were, up to now.
    pub straight: u32,
}

impl Acceptance {
    fn add(&mut self, told: Told) {
        let count = match told {
            Told::Approved => &mut self.approved,
            Told::Edited => &mut self.edited,
            Told::Rejected => &mut self.rejected,
            Told::Expired => &mut self.expired,
            Told::Undone => &mut self.undone,
            Told::Promoted => &mut self.promoted,
            Told::Dropped => &mut self.dropped,
        };
        *count += 1;
        match told {
            Told::Approved => self.straight += 1,
            // Words that had to be changed were not right.
            Told::Edited | Told::Rejected | Told::Undone => self.straight = 0,
            // Nobody has said anything.
            Told::Expired | Told::Promoted | Told::Dropped => {}
        }
    }

    /// Whether so many straight approvals are enough.
    pub fn has_earned(&self, needed: u32) -> bool {
        needed > 0 && self.straight >= needed
    }

    /// How much of what a person decided on they took, from 0 to 1; none if they decided on nothing.
    pub fn rate(&self) -> Option<f64> {
        let taken = self.approved + self.edited;
        let all = taken + self.rejected;
        (all > 0).then(|| f64::from(taken) / f64::from(all))
    }
}

/// How a person decides, by category. `past` is what became of proposals, the oldest first.
pub fn acceptance(past: impl IntoIterator<Item = (Category, Told)>) -> BTreeMap<Category, Acceptance> {
    let mut found: BTreeMap<Category, Acceptance> = BTreeMap::new();
    for (category, told) in past {
        found.entry(category).or_default().add(told);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(told: &[Told]) -> Acceptance {
        let category = Category { source: "reflection", section: "Patterns".to_owned() };
        let other = Category { section: "Hard Rules".to_owned(), ..category.clone() };
        let past = told.iter().map(|told| (category.clone(), *told));
        // What becomes of other categories says nothing about this one.
        let found = acceptance(past.chain([(other, Told::Rejected)]));
        assert_eq!(found.len(), 2);
        found[&category]
    }

    #[test]
    fn fut_03_only_straight_approvals_earn_and_a_rejection_or_an_undo_takes_it_away() {
        use Told::{Approved, Dropped, Edited, Expired, Promoted, Rejected, Undone};
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
        let told =
            [Told::Approved, Told::Edited, Told::Rejected, Told::Approved, Told::Expired, Told::Promoted];
        let counted = after(&told);
        assert_eq!(counted.rate(), Some(0.75));
        assert_eq!((counted.approved, counted.edited, counted.rejected, counted.expired), (2, 1, 1, 1));
        assert_eq!((counted.promoted, after(&[Told::Expired]).rate()), (1, None));
    }
}

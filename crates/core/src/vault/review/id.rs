//! Proposal ids (REV-01): `p-20261115-001` from reflection, `f-20261115-001` from friction analysis. If
//! several machines share a vault, each appends its own four letters: `p-20261115-001-k7qe`.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::base::time::compact_day;

/// The stage that made a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProposalStage {
    /// The reflection on observations.
    Reflection,
    /// The analysis of recurring friction.
    Friction,
}

impl ProposalStage {
    fn letter(self) -> char {
        match self {
            Self::Reflection => 'p',
            Self::Friction => 'f',
        }
    }
}

/// The id of a machine in a shared vault: four letters or digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MachineId([u8; MachineId::LENGTH]);

impl MachineId {
    const LENGTH: usize = 4;
    /// Letters and digits without similar-looking ones.
    const LETTERS: &'static [u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

    /// Makes an id from random bytes.
    pub fn new(random: [u8; Self::LENGTH]) -> Self {
        Self(random.map(|byte| Self::LETTERS[usize::from(byte) % Self::LETTERS.len()]))
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{}", char::from(*byte)))
    }
}

impl FromStr for MachineId {
    type Err = ProposalIdError;

    fn from_str(text: &str) -> Result<Self, ProposalIdError> {
        let letters: [u8; Self::LENGTH] = text.as_bytes().try_into().map_err(|_| ProposalIdError)?;
        let known = letters.iter().all(|byte| Self::LETTERS.contains(byte));
        known.then_some(Self(letters)).ok_or(ProposalIdError)
    }
}

/// The id of one proposal. Ids sort by kind, day and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProposalId {
    /// The stage that made it.
    pub kind: ProposalStage,
    /// The day it was proposed.
    pub date: Date,
    /// The number within the day, from 1.
    pub number: u32,
    /// The machine that numbered it, in a shared vault.
    pub machine: Option<MachineId>,
}

impl ProposalId {
    /// An id without a machine, for a vault that is not shared.
    pub const fn new(kind: ProposalStage, date: Date, number: u32) -> Self {
        Self { kind, date, number, machine: None }
    }

    /// An id without a number; the store assigns one on submission.
    pub const fn unnumbered(kind: ProposalStage, date: Date) -> Self {
        Self::new(kind, date, 0)
    }

    /// The next free id of the day: one more than the highest of `taken`.
    pub fn next_free<'a>(kind: ProposalStage, date: Date, taken: impl IntoIterator<Item = &'a Self>) -> Self {
        let same_day = taken.into_iter().filter(|id| id.kind == kind && id.date == date);
        let number = same_day.map(|id| id.number).max().map_or(1, |highest| highest.saturating_add(1));
        Self::new(kind, date, number)
    }

    /// The same id with a machine.
    pub fn with_machine(self, machine: Option<MachineId>) -> Self {
        Self { machine, ..self }
    }

    /// Parses an id at the start of `text`, and returns the rest with it.
    pub(super) fn strip_id(text: &str) -> Option<(Self, &str)> {
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        Some((word.parse().ok()?, rest))
    }
}

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{:03}", self.kind.letter(), compact_day(self.date), self.number)?;
        self.machine.map_or(Ok(()), |machine| write!(f, "-{machine}"))
    }
}

/// The text is not the id of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a proposal's id looks like p-20261115-001 or f-20261115-001")]
pub struct ProposalIdError;

impl FromStr for ProposalId {
    type Err = ProposalIdError;

    fn from_str(text: &str) -> Result<Self, ProposalIdError> {
        let read = || {
            let (letter, rest) = text.split_once('-')?;
            let (day, rest) = rest.split_once('-')?;
            let (number, machine) = match rest.split_once('-') {
                Some((number, machine)) => (number, Some(machine.parse().ok()?)),
                None => (rest, None),
            };
            let kind = [ProposalStage::Reflection, ProposalStage::Friction]
                .into_iter()
                .find(|kind| letter == kind.letter().to_string())?;
            let iso = format!("{}-{}-{}", day.get(..4)?, day.get(4..6)?, day.get(6..)?);
            Some(Self { kind, date: iso.parse().ok()?, number: number.parse().ok()?, machine })
        };
        // One spelling per id: no other digits, signs or leading zeros.
        read().filter(|id| id.to_string() == text).ok_or(ProposalIdError)
    }
}

impl TryFrom<String> for ProposalId {
    type Error = ProposalIdError;

    fn try_from(text: String) -> Result<Self, ProposalIdError> {
        text.parse()
    }
}

impl From<ProposalId> for String {
    fn from(id: ProposalId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn rev_01_ids_read_back_and_count_up() {
        let day = date(2026, 11, 15);
        let first = ProposalId::next_free(ProposalStage::Reflection, day, []);
        assert_eq!(first.to_string(), "p-20261115-001");
        assert_eq!("p-20261115-001".parse(), Ok(first));
        let friction = ProposalId::next_free(ProposalStage::Friction, day, [&first]);
        assert_eq!(friction.to_string(), "f-20261115-001");
        let later = ProposalId { number: 999, ..first };
        assert_eq!(
            ProposalId::next_free(ProposalStage::Reflection, day, [&later, &first]).to_string(),
            "p-20261115-1000"
        );
        for wrong in [
            "p-20261115-1",
            "p-20261115-0001",
            "x-20261115-001",
            "p-20261315-001",
            "p-2026111-001",
            "p-20261115-+01",
            "p-20261115-001-",
            "p-20261115-001-k7q",
            "p-20261115-001-K7QE",
            "p-20261115-001-k7qe-1",
        ] {
            assert_eq!(wrong.parse::<ProposalId>(), Err(ProposalIdError), "{wrong}");
        }
        let machine = MachineId::new([10, 24, 15, 4]);
        let theirs = first.with_machine(Some(machine));
        assert_eq!(theirs.to_string(), format!("p-20261115-001-{machine}"));
        assert_eq!(theirs.to_string().parse(), Ok(theirs));
        assert_ne!(theirs, first);
        assert_eq!("p-20261115-001-k7qe".parse::<ProposalId>().unwrap().to_string(), "p-20261115-001-k7qe");
        let json = serde_json::to_string(&friction).unwrap();
        assert_eq!(json, "\"f-20261115-001\"");
        assert_eq!(serde_json::from_str::<ProposalId>(&json).unwrap(), friction);
    }
}

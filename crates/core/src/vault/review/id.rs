//! The ids of proposals (REV-01): `p-20261115-001` from reflection, `f-20261115-001` from friction analysis.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::time::compact_day;

/// Which stage proposed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Reflection on observations.
    Reflection,
    /// Friction analysis.
    Friction,
}

impl Kind {
    fn letter(self) -> char {
        match self {
            Self::Reflection => 'p',
            Self::Friction => 'f',
        }
    }
}

/// The id of one proposal. Ids sort by kind, day and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Id {
    /// Which stage proposed it.
    pub kind: Kind,
    /// The day it was proposed.
    pub date: Date,
    /// Counts from 1 on each day.
    pub number: u32,
}

impl Id {
    /// The first free id of the day: one more than the highest of `taken`.
    pub fn next<'a>(kind: Kind, date: Date, taken: impl IntoIterator<Item = &'a Self>) -> Self {
        let same_day = taken.into_iter().filter(|id| id.kind == kind && id.date == date);
        let number = same_day.map(|id| id.number).max().map_or(1, |highest| highest.saturating_add(1));
        Self { kind, date, number }
    }

    /// An id at the start of `text`, and what follows it.
    pub(super) fn prefix(text: &str) -> Option<(Self, &str)> {
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        Some((word.parse().ok()?, rest))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{:03}", self.kind.letter(), compact_day(self.date), self.number)
    }
}

/// A text that is not the id of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a proposal's id looks like p-20261115-001 or f-20261115-001")]
pub struct NotAnId;

impl FromStr for Id {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let read = || {
            let (letter, rest) = text.split_once('-')?;
            let (day, number) = rest.split_once('-')?;
            let kind = [Kind::Reflection, Kind::Friction]
                .into_iter()
                .find(|kind| letter == kind.letter().to_string())?;
            let iso = format!("{}-{}-{}", day.get(..4)?, day.get(4..6)?, day.get(6..)?);
            Some(Self { kind, date: iso.parse().ok()?, number: number.parse().ok()? })
        };
        // One spelling per id: no other digits, signs or zeros.
        read().filter(|id| id.to_string() == text).ok_or(NotAnId)
    }
}

impl TryFrom<String> for Id {
    type Error = NotAnId;

    fn try_from(text: String) -> Result<Self, NotAnId> {
        text.parse()
    }
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
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
        let first = Id::next(Kind::Reflection, day, []);
        assert_eq!(first.to_string(), "p-20261115-001");
        assert_eq!("p-20261115-001".parse(), Ok(first));
        let friction = Id::next(Kind::Friction, day, [&first]);
        assert_eq!(friction.to_string(), "f-20261115-001");
        let later = Id { number: 999, ..first };
        assert_eq!(Id::next(Kind::Reflection, day, [&later, &first]).to_string(), "p-20261115-1000");
        for wrong in [
            "p-20261115-1",
            "p-20261115-0001",
            "x-20261115-001",
            "p-20261315-001",
            "p-2026111-001",
            "p-20261115-+01",
        ] {
            assert_eq!(wrong.parse::<Id>(), Err(NotAnId), "{wrong}");
        }
        let json = serde_json::to_string(&friction).unwrap();
        assert_eq!(json, "\"f-20261115-001\"");
        assert_eq!(serde_json::from_str::<Id>(&json).unwrap(), friction);
    }
}

//! Faults in a model's statements.

use std::collections::BTreeMap;

/// A fault of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimFault {
    /// It names something that nobody mentioned: dropped.
    Invented,
    /// No message supports it: dropped.
    Unsupported,
    /// It was copied from output: dropped.
    Copied,
    /// It repeats a message that states nothing lasting: dropped.
    Quoted,
    /// It only retells actions or requests, without a result: dropped.
    Retold,
    /// It duplicates another statement: dropped.
    Repeated,
    /// It exceeds the maximum number: dropped.
    TooMany,
    /// Its time matches no message: replaced or removed.
    Time,
    /// Its priority exceeds its support: lowered.
    Lowered,
}

impl ClaimFault {
    /// True if the fault drops the statement.
    pub fn is_fatal(self) -> bool {
        !matches!(self, Self::Time | Self::Lowered)
    }
}

/// The number of faults by type.
pub type FaultCounts = BTreeMap<ClaimFault, u64>;

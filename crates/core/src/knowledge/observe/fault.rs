//! What can be wrong with what a model says.

use std::collections::BTreeMap;

/// What was wrong with a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// It names what nobody said: dropped.
    Invented,
    /// Nothing that was said supports it: dropped.
    Unsupported,
    /// It was copied from output: dropped.
    Copied,
    /// It is a message word for word in which nothing is laid down: dropped.
    Quoted,
    /// It tells who did or asked what, and nothing that came of it: dropped.
    Retold,
    /// It says what another says: dropped.
    Repeated,
    /// There were too many: dropped.
    TooMany,
    /// Its time is no message's: the time is taken from the message, or away.
    Time,
    /// It was marked higher than what supports it allows: lowered.
    Lowered,
}

impl Fault {
    /// Whether the statement is gone for it.
    pub fn drops(self) -> bool {
        !matches!(self, Self::Time | Self::Lowered)
    }
}

/// How often each thing was wrong.
pub type Faults = BTreeMap<Fault, u64>;

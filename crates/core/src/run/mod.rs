//! Durable runs: what state they are in, when they are tried again, and what runs by the clock.

pub mod retry;
pub mod schedule;

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a run stands (EXE-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Under way, or about to be.
    Running,
    /// Done.
    Completed,
    /// There was nothing to do; the reason is with it.
    Skipped,
    /// The last attempt failed; another one follows.
    Failed,
    /// No attempt follows unless a person asks for it.
    Dead,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Running, Self::Completed, Self::Skipped, Self::Failed, Self::Dead];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
            Self::Skipped => "SKIPPED",
            Self::Failed => "FAILED",
            Self::Dead => "DEAD",
        }
    }

    /// The status that a word means, however it is written.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word().eq_ignore_ascii_case(text.trim()))
    }

    /// Whether nothing more will happen by itself.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Skipped | Self::Dead)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

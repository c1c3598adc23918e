//! Durable runs: their states, retries and schedules.

pub mod retry;
pub mod schedule;

use std::fmt;

use serde::{Deserialize, Serialize};

/// The state of a run (EXE-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RunStatus {
    /// Under way or about to start.
    Running,
    /// Ended with success.
    Completed,
    /// Nothing to do; the run records the reason.
    Skipped,
    /// The last attempt failed and another one follows.
    Failed,
    /// Failed for good, unless a person retries it.
    Dead,
}

impl RunStatus {
    /// All states of a run.
    pub const ALL: [Self; 5] = [Self::Running, Self::Completed, Self::Skipped, Self::Failed, Self::Dead];

    /// The state's name in the store and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
            Self::Skipped => "SKIPPED",
            Self::Failed => "FAILED",
            Self::Dead => "DEAD",
        }
    }

    /// Parses a state's name, ignoring case.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(text.trim()))
    }

    /// True if nothing more will happen without a person.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Skipped | Self::Dead)
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

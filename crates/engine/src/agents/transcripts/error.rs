//! What can go wrong with a transcript: what, where, and what it means. No message holds what was said in it.

use std::io;
use std::path::PathBuf;

use rekindle_core::base::agent::Agent;

/// Why a transcript was not read. The transcript itself is never changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not there: the host has not written it yet, or removed it.
    #[error("there is no transcript at {}", .0.display())]
    Missing(PathBuf),
    /// The system refused to show it.
    #[error("could not read the transcript {}: {source}", .path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Not how any version of the host that we know writes sessions down. Skipped, never guessed (FND-06).
    #[error("{} is not a {} transcript of a format that is known here: line {line} says {seen}", .path.display(), .agent.name())]
    UnknownFormat {
        /// Whose it should be.
        agent: Agent,
        /// Which.
        path: PathBuf,
        /// The line that was looked at, from 1.
        line: u64,
        /// What it called itself: a kind or a version, not its contents.
        seen: String,
    },
}

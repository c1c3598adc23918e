//! Errors of reading transcripts. No message contains the transcript's text.

use std::io;
use std::path::PathBuf;

use rekindle_core::base::agent::Agent;

/// The reason why a transcript was not read. The transcript itself is never changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is missing: the host has not written it yet, or has removed it.
    #[error("there is no transcript at {}", .0.display())]
    Missing(PathBuf),
    /// The file could not be read.
    #[error("could not read the transcript {}: {source}", .path.display())]
    Unreadable {
        /// The path of the transcript.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// No known version of the host writes this format. Such files are skipped, never guessed (FND-06).
    #[error("{} is not in a known format of {} transcripts: line {line} says {seen}", .path.display(), .agent.name())]
    UnknownFormat {
        /// The agent that should have written it.
        agent: Agent,
        /// The path of the transcript.
        path: PathBuf,
        /// The line that was not understood, from 1.
        line: u64,
        /// The type or version in that line, not its contents.
        seen: String,
    },
}

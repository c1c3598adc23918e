//! The transcripts of other programs: found, and read as messages (FND-06). Nothing here writes.

mod error;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rekindle_core::agent::Agent;
use rekindle_core::session::Message;
use rekindle_core::time::Timestamp;

pub use error::Error;
pub use rekindle_core::session::Head;

/// What reading a transcript came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// What it says about the session.
    pub head: Head,
    /// Up to where it was read: the end of the last whole line. Reading again up to here gives the same.
    pub bytes: u64,
    /// How many messages were passed on.
    pub messages: u64,
    /// Lines of kinds that we do not know.
    pub unknown: u64,
    /// Lines that are not whole: cut off in the middle, or overwritten.
    pub damaged: u64,
    /// Lines that are too long to be looked into ([`MAX_LINE`]).
    pub oversized: u64,
    /// Whether the receiver asked to stop; then the counts are of what was read until there.
    pub stopped: bool,
}

/// A longer line is followed and not read: no host writes words into one, only pictures and the like.
pub const MAX_LINE: usize = 32 * 1024 * 1024;

/// A transcript, unread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Whose.
    pub agent: Agent,
    /// Where.
    pub path: PathBuf,
    /// In bytes.
    pub size: u64,
    /// When it was last written.
    pub modified: Option<Timestamp>,
}

/// Every transcript of `agent` below the person's home, oldest first; those of sub-agents are left out.
pub fn find(_agent: Agent, _home: &Path) -> Vec<Found> {
    Vec::new()
}

/// Reads the messages of the current branch, in order, in flat memory. `upto` reads only so many bytes, as if the file
/// ended there; a last line that is not whole is ignored.
pub fn read(
    _agent: Agent,
    path: &Path,
    _upto: Option<u64>,
    _each: &mut dyn FnMut(Message) -> ControlFlow<()>,
) -> Result<Read, Error> {
    Err(Error::Missing(path.to_owned()))
}

/// What a transcript says about its session in its first lines, without reading the rest.
pub fn head(_agent: Agent, path: &Path) -> Result<Head, Error> {
    Err(Error::Missing(path.to_owned()))
}

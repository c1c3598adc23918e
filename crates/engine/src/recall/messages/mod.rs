//! Messages of past sessions, searched by keyword: raw, unreviewed, and ranked below everything distilled
//! from them.
//!
//! - [`archive`]: the messages, redacted, a file for each session
//! - `message_index`: an index over them
//! - [`search`]: the messages that answer a prompt
//! - `citations`: the messages that entries were made from
//! - [`conversation`]: the messages of one session
//! - `recent`: the last messages in a folder

pub mod archive;
mod citations;
pub mod conversation;
mod erase;
mod message_index;
mod recent;
pub mod search;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::session::Message;
use rekindle_core::vault::tombstone::Graveyard;

pub use archive::{AppendResult, ArchiveAppender, MessageSession};
use message_index::MessageIndex;
pub use message_index::{MESSAGE_KIND, MessageIndexUpdate};
use rekindle_core::recall::citation::{Citation, Cited};

use crate::index::{self, IndexSnapshot};
use crate::platform::home::DataPaths;

/// The reason messages could not be stored or searched.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The archive could not be read or written.
    #[error("what was said could not be kept in {}: {source}", .path.display())]
    Archive {
        /// The path of the archive.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The index could not be read or written.
    #[error(transparent)]
    Index(#[from] index::Error),
}

/// The message archive and its index, in a folder of the state.
#[derive(Clone, Debug)]
pub struct MessageStore {
    folder: PathBuf,
}

impl MessageStore {
    /// The messages of a home.
    pub fn from_paths(places: &DataPaths) -> Self {
        Self::in_folder(places.messages())
    }

    /// The messages in `folder`, which need not exist.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder of the archive and its index.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn store(&self) -> MessageIndex {
        MessageIndex::for_archive(&self.folder)
    }

    fn failed(&self) -> impl Fn(io::Error) -> Error {
        |source| Error::Archive { path: self.folder.clone(), source }
    }

    /// Starts appending to a session. The session stays locked until the appender is dropped.
    pub fn appender<'a>(
        &self,
        session: &'a MessageSession,
        forgotten: &'a Graveyard,
    ) -> Result<ArchiveAppender<'a>, Error> {
        ArchiveAppender::open(&self.folder, session, forgotten).map_err(self.failed())
    }

    /// Appends the new messages of a session and indexes them. It is idempotent.
    pub fn append(
        &self,
        session: &MessageSession,
        messages: &[Message],
        forgotten: &Graveyard,
    ) -> Result<AppendResult, Error> {
        let mut appender = self.appender(session, forgotten)?;
        messages.iter().try_for_each(|message| appender.add(message)).map_err(self.failed())?;
        let added = appender.finish().map_err(self.failed())?;
        self.update(&mut |_, _| {})?;
        Ok(added)
    }

    /// Indexes everything in the archive. `progress` receives the bytes read and their total.
    pub fn update(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<MessageIndexUpdate, Error> {
        Ok(self.store().update(progress)?)
    }

    /// Rebuilds the index from the archive.
    pub fn rebuild(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<MessageIndexUpdate, Error> {
        Ok(self.store().rebuild(progress)?)
    }

    /// Records the messages that entries were made from.
    pub fn add_citations(&self, citations: &[Citation]) -> Result<(), Error> {
        citations::append(&self.folder, citations).map_err(self.failed())
    }

    /// Replaces all citations of the archive.
    pub fn replace_citations(&self, citations: &[Citation]) -> Result<(), Error> {
        citations::replace(&self.folder, citations).map_err(self.failed())
    }

    /// The messages that entries were made from.
    pub fn citation_index(&self) -> Cited {
        citations::read(&self.folder)
    }

    /// The number of sessions with messages that are not indexed yet.
    pub fn unindexed_sessions(&self) -> Result<usize, Error> {
        Ok(self.store().unindexed_sessions()?)
    }

    /// Opens a snapshot of the index; `None` if it is empty.
    pub fn open(&self) -> Result<Option<IndexSnapshot>, Error> {
        Ok(self.store().open()?)
    }
}

//! What was said in sessions, to be found again by its words: raw, unreviewed, and below everything that was distilled
//! from it.
//!
//! - [`archive`]: the messages, redacted, a file for each session
//! - `store`: an index over them
//! - [`find`]: what of it answers a prompt
//! - `cited`: which messages entries were made from
//! - `recent`: what was said last in a folder

pub mod archive;
mod cited;
mod erase;
pub mod find;
mod recent;
mod store;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::session::Message;
use rekindle_core::vault::tombstone::Graveyard;

pub use archive::{Added, Appender, Session};
use rekindle_core::recall::citation::{Citation, Cited};
use store::Store;
pub use store::{KIND, Updated};

use crate::index::{self, Snapshot};
use crate::platform::home::Places;

/// Why messages could not be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The archive.
    #[error("what was said could not be kept in {}: {source}", .path.display())]
    Archive {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The index over it.
    #[error(transparent)]
    Index(#[from] index::Error),
}

/// The messages in a folder of the state.
#[derive(Clone, Debug)]
pub struct Messages {
    folder: PathBuf,
}

impl Messages {
    /// Those of a home.
    pub fn of(places: &Places) -> Self {
        Self::at(places.messages())
    }

    /// Those in `folder`, which need not exist.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Their folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn store(&self) -> Store {
        Store::at(&self.folder)
    }

    fn failed(&self) -> impl Fn(io::Error) -> Error {
        |source| Error::Archive { path: self.folder.clone(), source }
    }

    /// Starts adding to a session. Nobody else adds to it until that is done.
    pub fn appender<'a>(
        &self,
        session: &'a Session,
        forgotten: &'a Graveyard,
    ) -> Result<Appender<'a>, Error> {
        Appender::open(&self.folder, session, forgotten).map_err(self.failed())
    }

    /// Keeps the messages of a session that are not kept yet, and lets them be found. The same messages again change
    /// nothing.
    pub fn append(
        &self,
        session: &Session,
        messages: &[Message],
        forgotten: &Graveyard,
    ) -> Result<Added, Error> {
        let mut appender = self.appender(session, forgotten)?;
        messages.iter().try_for_each(|message| appender.add(message)).map_err(self.failed())?;
        let added = appender.finish().map_err(self.failed())?;
        self.update(&mut |_, _| {})?;
        Ok(added)
    }

    /// Lets everything that is kept be found. `progress` hears how many bytes were read, of how many.
    pub fn update(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Updated, Error> {
        Ok(self.store().update(progress)?)
    }

    /// Makes the index again from what is kept.
    pub fn rebuild(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Updated, Error> {
        Ok(self.store().rebuild(progress)?)
    }

    /// Notes which messages entries were made from.
    pub fn cite(&self, citations: &[Citation]) -> Result<(), Error> {
        cited::append(&self.folder, citations).map_err(self.failed())
    }

    /// Forgets all citations but these.
    pub fn replace_citations(&self, citations: &[Citation]) -> Result<(), Error> {
        cited::replace(&self.folder, citations).map_err(self.failed())
    }

    /// The messages that entries were made from.
    pub fn cited(&self) -> Cited {
        cited::read(&self.folder)
    }

    /// How many sessions hold something that cannot be found yet.
    pub fn behind(&self) -> Result<usize, Error> {
        Ok(self.store().behind()?)
    }

    /// What can be found; `None` if there is nothing.
    pub fn open(&self) -> Result<Option<Snapshot>, Error> {
        Ok(self.store().open()?)
    }
}

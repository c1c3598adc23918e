//! The vault lock: one writer at a time on this machine. It is in the state folder, never in a synced one.
//!
//! The lock file also names the temporary files that its holder is about to create, so that the next holder
//! can clean up after a killed one without walking the vault.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rekindle_core::base::id::ChangeId;
use serde::{Deserialize, Serialize};

use super::Error;
use crate::platform::disk;

/// The longest wait for another writer. A write takes milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The temporary files that the holder is about to create.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct InFlightChange {
    pub(super) change: ChangeId,
    pub(super) temporaries: Vec<PathBuf>,
}

/// The lock, held until dropped.
#[derive(Debug)]
pub(super) struct VaultLock {
    file: File,
    path: PathBuf,
}

impl VaultLock {
    /// Takes the lock, with a short wait for another holder.
    pub(super) fn acquire(folder: &Path) -> Result<Self, Error> {
        disk::create_private_folder(folder).map_err(Error::io("make", folder))?;
        let path = folder.join("vault.lock");
        match disk::lock(&path, LOCK_TIMEOUT) {
            Ok(file) => Ok(Self { file, path }),
            Err(error) if error.kind() == ErrorKind::TimedOut => Err(Error::Busy(LOCK_TIMEOUT.as_secs())),
            Err(error) => Err(Error::io("lock", &path)(error)),
        }
    }

    /// The note of a killed holder, if there is one.
    pub(super) fn interrupted_change(&mut self) -> Result<Option<InFlightChange>, Error> {
        let mut note = String::new();
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.read_to_string(&mut note))
            .map_err(Error::io("read", &self.path))?;
        // A torn note was written before any temporary file was created.
        Ok(serde_json::from_str(&note).ok())
    }

    /// Announces the temporary files. Not synced: the note survives a killed process, and the journal
    /// survives a power cut.
    pub(super) fn record_in_flight(&mut self, note: &InFlightChange) -> Result<(), Error> {
        let note = serde_json::to_vec(note).map_err(|error| Error::io("write", &self.path)(error.into()))?;
        self.file
            .set_len(0)
            .and_then(|()| self.file.seek(SeekFrom::Start(0)))
            .and_then(|_| self.file.write_all(&note))
            .map_err(Error::io("write", &self.path))
    }

    /// Clears the note: all is done, or nothing begun.
    pub(super) fn clear(&mut self) -> Result<(), Error> {
        self.file.set_len(0).map_err(Error::io("write", &self.path))
    }
}

//! Spool: events that hooks leave for the worker, one atomically written file each (CAP-17). A hook writes
//! its file and exits; the next worker moves the files into the database.

use std::collections::BinaryHeap;
use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::base::id::ChangeId;
use rekindle_core::base::time::Timestamp;
use rekindle_core::event::Event;
use rekindle_core::hosts::hook::HookSignal;
use rekindle_core::session::Message;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::platform::disk::{self, FileContent};
use crate::platform::random;

/// The version of the file format.
const VERSION: u32 = 1;
/// The size limit of a spool file; a larger one is not ours.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// The subfolder for unreadable files, which `doctor` reports.
const BROKEN_FOLDER: &str = "broken";

/// An entry of the spool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpoolEntry {
    version: u32,
    /// The unique id, which sorts by time.
    pub id: String,
    /// The time of the event.
    pub at: Timestamp,
    /// The content of the entry.
    pub what: SpoolPayload,
}

/// The content of an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpoolPayload {
    /// The signal of a hook.
    Signal {
        /// The input of the hook.
        signal: HookSignal,
        /// The length of the transcript.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<u64>,
        /// The messages, if the host keeps no transcript.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        messages: Vec<Message>,
    },
    /// An event was sent.
    Event(Event),
}

/// The reason the spool cannot be used.
#[derive(Debug, Error)]
pub enum Error {
    /// The folder cannot be read or written.
    #[error("cannot use the spool {path}: {cause}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
}

impl Error {
    fn io(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        move |cause| Self::Io { path: path.to_owned(), cause }
    }
}

/// The spool of a state folder.
#[derive(Clone, Debug)]
pub struct Spool {
    folder: PathBuf,
}

/// A file of the spool.
#[derive(Debug)]
pub struct SpoolFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Its content, or the reason it cannot be read.
    pub content: Result<SpoolEntry, String>,
}

impl Spool {
    /// Opens the spool in this folder.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Writes an entry. It is durable on return.
    pub fn write_entry(&self, what: SpoolPayload, at: Timestamp) -> Result<String, Error> {
        let id = random::change_id(at).map_err(Error::io(&self.folder))?;
        self.write_entry_as(&id, what, at)?;
        Ok(id.as_str().to_owned())
    }

    /// Writes an entry under a given id. Idempotent: an existing file with that id holds the same entry.
    pub fn write_entry_as(&self, id: &ChangeId, what: SpoolPayload, at: Timestamp) -> Result<(), Error> {
        let failed = Error::io(&self.folder);
        let id = id.as_str().to_owned();
        let path = self.folder.join(format!("{id}.json"));
        let bytes = serde_json::to_vec(&SpoolEntry { version: VERSION, id, at, what });
        match disk::write_new(&path, &bytes.map_err(|error| failed(error.into()))?) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            written => written.map_err(failed),
        }
    }

    /// Lists the waiting files, the oldest first.
    pub fn pending_files(&self) -> Result<Vec<PathBuf>, Error> {
        self.oldest_files(usize::MAX)
    }

    /// Lists the `most` oldest files.
    pub fn oldest_files(&self, most: usize) -> Result<Vec<PathBuf>, Error> {
        let failed = Error::io(&self.folder);
        let files = match std::fs::read_dir(&self.folder) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        // The heap holds its newest file on top, which gives way to an older one.
        let mut oldest = BinaryHeap::new();
        for file in files {
            let name = PathBuf::from(file.map_err(&failed)?.file_name());
            let is_temporary =
                name.as_os_str().as_encoded_bytes().starts_with(disk::TEMPORARY_PREFIX.as_bytes());
            if is_temporary || name.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            oldest.push(name);
            if oldest.len() > most {
                oldest.pop();
            }
        }
        Ok(oldest.into_sorted_vec().into_iter().map(|name| self.folder.join(name)).collect())
    }

    /// Reads a file; `None` if it is gone.
    pub fn read(&self, path: &Path) -> Result<Option<SpoolFile>, Error> {
        let content = match disk::read(path, MAX_BYTES).map_err(Error::io(path))? {
            FileContent::Missing => return Ok(None),
            FileContent::Bytes(bytes) => match serde_json::from_slice::<SpoolEntry>(&bytes) {
                Ok(spooled) if spooled.version > VERSION => {
                    Err(format!("written by a newer version of Rekindle (format {})", spooled.version))
                }
                Ok(spooled) => Ok(spooled),
                Err(error) => Err(error.to_string()),
            },
            FileContent::TooLarge(size) => Err(format!("{size} bytes, too large for a spool file")),
            FileContent::NotAFile => Err("not a file".to_owned()),
        };
        Ok(Some(SpoolFile { path: path.to_owned(), content }))
    }

    /// Deletes a file whose content is in the database.
    pub fn remove_processed(&self, path: &Path) -> Result<(), Error> {
        disk::remove(path).map_err(Error::io(path))
    }

    /// Moves an unreadable file aside, so that it is neither read again nor lost.
    pub fn quarantine(&self, path: &Path) -> Result<PathBuf, Error> {
        let folder = self.folder.join(BROKEN_FOLDER);
        disk::create_private_folder(&folder).map_err(Error::io(&folder))?;
        let aside = folder.join(path.file_name().unwrap_or_default());
        disk::move_aside(path, &aside).map_err(Error::io(path))?;
        Ok(aside)
    }

    /// Lists the files that were moved aside.
    pub fn quarantined(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.folder.join(BROKEN_FOLDER)).into_iter().flatten().flatten();
        files.map(|file| file.path()).collect()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test plays the other programs")]

    use rekindle_core::base::agent::Agent;
    use rekindle_core::hosts::hook::HookKind;

    use super::*;

    fn signal() -> SpoolPayload {
        let signal = HookSignal {
            agent: Agent::Claude,
            kind: HookKind::Stop,
            session: "s".to_owned(),
            transcript: Some("/t".to_owned()),
            cwd: None,
            reason: None,
            prompt: None,
            answer: None,
            subagent: false,
        };
        SpoolPayload::Signal { signal, position: Some(7), messages: Vec::new() }
    }

    #[test]
    fn cap_17_spool_files_are_read_in_order_and_kept_until_done() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::in_folder(folder.path().join("spool"));
        assert!(spool.pending_files().unwrap().is_empty());
        let at: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let later: Timestamp = "2026-01-01T00:00:01Z".parse().unwrap();
        let second = spool.write_entry(signal(), later).unwrap();
        let first = spool.write_entry(signal(), at).unwrap();
        let files = spool.pending_files().unwrap();
        let ids: Vec<_> =
            files.iter().map(|file| spool.read(file).unwrap().unwrap().content.unwrap().id).collect();
        assert_eq!(ids, [first, second]);
        assert_eq!(spool.oldest_files(1).unwrap(), files[..1]);
        assert_eq!(
            (spool.oldest_files(2).unwrap(), spool.oldest_files(0).unwrap().len()),
            (files.clone(), 0)
        );
        spool.remove_processed(&files[0]).unwrap();
        spool.remove_processed(&files[0]).unwrap();
        assert_eq!(spool.pending_files().unwrap().len(), 1);
        assert!(spool.read(&files[0]).unwrap().is_none());
    }

    #[test]
    fn unreadable_spool_files_are_quarantined() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::in_folder(folder.path().to_owned());
        let path = folder.path().join("x.json");
        for content in
            ["{", "{}", r#"{"version":99,"id":"a","at":"2026-01-01T00:00:00Z","what":{"event":{}}}"#]
        {
            std::fs::write(&path, content).unwrap();
            assert!(spool.read(&path).unwrap().unwrap().content.is_err(), "{content}");
        }
        let aside = spool.quarantine(&path).unwrap();
        assert!(spool.pending_files().unwrap().is_empty());
        assert_eq!(spool.quarantined(), [aside]);
    }
}

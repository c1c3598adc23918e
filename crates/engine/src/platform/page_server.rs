//! The one running `rekindle web` of a home: a lock while it runs, and its address for the next start.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use serde::{Deserialize, Serialize};

use super::disk::{self, FileContent};
use super::home::DataPaths;

const LOCK_FILE: &str = "web.lock";
const RECORD_FILE: &str = "web.json";
/// The size limit of the record.
const MAX_RECORD_BYTES: u64 = 16 * 1024;

/// A running server. The address holds its token, so the file is readable by the owner only (SEC-01).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageServerRecord {
    /// The address that opens the page, with its token.
    pub address: String,
    /// True if the page changes nothing.
    pub read_only: bool,
}

/// The lock of the running server. The record goes when it is dropped.
#[derive(Debug)]
pub struct PageServerLock {
    _file: File,
    record: PathBuf,
}

impl PageServerLock {
    /// Takes the lock; `None` if another server runs.
    pub fn acquire(places: &DataPaths) -> io::Result<Option<Self>> {
        let locks = places.locks_folder();
        disk::create_private_folder(&locks)?;
        match disk::lock(&locks.join(LOCK_FILE), Duration::ZERO) {
            Ok(file) => Ok(Some(Self { _file: file, record: locks.join(RECORD_FILE) })),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Publishes the address for the next start.
    pub fn publish(&self, record: &PageServerRecord) -> io::Result<()> {
        disk::write_atomic(&self.record, &serde_json::to_vec(record)?)
    }
}

impl Drop for PageServerLock {
    fn drop(&mut self) {
        disk::remove(&self.record).ignore_failure("without the lock, nobody reads the record");
    }
}

/// The record of the server that holds the lock; `None` if it has not published one yet.
pub fn published_record(places: &DataPaths) -> Option<PageServerRecord> {
    match disk::read(&places.locks_folder().join(RECORD_FILE), MAX_RECORD_BYTES) {
        Ok(FileContent::Bytes(bytes)) => serde_json::from_slice(&bytes).ok(),
        _ => None,
    }
}

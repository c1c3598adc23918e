//! Backup and restore (OPS-05, OPS-12): the vault, the ideas, the identity files, the settings and what only this
//! machine knows, in one compressed tar file.
//!
//! - `layout`: the name of each file in a backup, and its place on this machine
//! - [`write`](mod@write): writes a backup
//! - [`restore`]: compares a backup with this machine and puts it back
//!
//! Derived data (the index), logs, locks and sessions under way are left out: they are rebuilt, or belong to a
//! moment. What belongs to this machine is under `device/`.

mod layout;
pub mod restore;
pub mod write;

use std::io;
use std::path::PathBuf;

use rekindle_core::base::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::jobs::worker_lock;
use crate::platform::db;
use crate::vault;

pub use restore::{PlannedFile, RestoreAction, RestoreOptions, RestorePlan, RestoreReport, StagedBackup};
pub use write::{BackupReport, write_backup};

/// The version of the layout of a backup.
const FORMAT_VERSION: u32 = 1;

/// The first file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupManifest {
    format: u32,
    /// The time of the backup.
    pub created: Timestamp,
    /// The version of the program that wrote it.
    pub program: String,
}

/// The reason why a backup could not be written or restored. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot {action} {path}: {cause}")]
    Io {
        /// The failed operation.
        action: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The backup could not be written to its destination.
    #[error("cannot write the backup: {0}")]
    Output(#[source] io::Error),
    /// The file is not a backup, or it is damaged.
    #[error("this is not a complete backup: {problem}")]
    Damaged {
        /// The first problem that was found.
        problem: String,
    },
    /// A newer version wrote the backup.
    #[error(
        "a newer version of Rekindle wrote this backup (format {found}; this version reads {FORMAT_VERSION})"
    )]
    Newer {
        /// The format of the backup.
        found: u32,
    },
    /// The background work did not pause.
    #[error("background work is running")]
    Busy,
    /// The worker lock could not be taken.
    #[error(transparent)]
    Worker(#[from] worker_lock::Error),
    /// The vault could not be locked.
    #[error(transparent)]
    Vault(#[from] vault::Error),
    /// The database could not be copied.
    #[error(transparent)]
    Db(#[from] db::Error),
}

impl Error {
    /// The advice to the user for each error.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { .. } | Self::Output(_) => {
                Some("check that the place exists, can be written to and has room".to_owned())
            }
            Self::Damaged { .. } => {
                Some("if it is encrypted, decrypt it first: `age -d FILE | rekindle restore -`".to_owned())
            }
            Self::Newer { .. } => Some("update Rekindle, then restore".to_owned()),
            Self::Busy => {
                Some("wait a minute and try again; `rekindle runs` shows what is running".to_owned())
            }
            Self::Worker(_) => None,
            Self::Vault(error) => error.hint(),
            Self::Db(error) => Some(error.hint()),
        }
    }

    fn io(action: &'static str, path: &std::path::Path) -> impl Fn(io::Error) -> Self {
        move |cause| Self::Io { action, path: path.to_owned(), cause }
    }

    #[expect(clippy::needless_pass_by_value, reason = "`map_err` passes errors by value")]
    fn damaged(problem: impl ToString) -> Self {
        Self::Damaged { problem: problem.to_string() }
    }
}

//! The errors of an index. None of them loses data: an index can always be rebuilt.

use std::io;
use std::path::{Path, PathBuf};

use super::format::SegmentDamage;

/// An error of the index. No data is lost: the index can be rebuilt.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the index is damaged.
    #[error("the index cannot be used: {} : {damage}", path.display())]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The damage to the file.
        damage: SegmentDamage,
    },
    /// A file operation failed.
    #[error("the index could not be {what} at {}: {error}", path.display())]
    Io {
        /// The failed operation, as a participle.
        what: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Another process holds the lock.
    #[error("another process is indexing")]
    Busy,
}

impl Error {
    /// The hint for the person.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Busy => "wait for it to end; what is there can be recalled meanwhile",
            Self::Damaged { .. } => {
                "`rekindle reindex` makes the index again from your notes; nothing is lost"
            }
            Self::Io { .. } => {
                "see to it that this can be read and written, or move it away; then `rekindle reindex` makes the index \
                 again from your notes"
            }
        }
    }

    pub(crate) fn io(what: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::TimedOut => Self::Busy,
            _ => Self::Io { what, path: path.to_owned(), error },
        }
    }
}

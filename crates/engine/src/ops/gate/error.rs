//! The reasons for which a gate could not run at all.

use std::io;
use std::path::{Path, PathBuf};

use crate::config;
use crate::ops::setup;
use crate::platform::home;

/// The reason for which a gate could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another gate is running.
    #[error("another gate is running")]
    Running,
    /// The scratch home has a path that no setting can hold.
    #[error("{} is not UTF-8, so hooks cannot be sent there", .0.display())]
    NotText(PathBuf),
    /// A file or folder of the scratch home could not be used.
    #[error("cannot use {}: {cause}", path.display())]
    Io {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The settings could not be read.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The folders of the scratch home do not fit together.
    #[error(transparent)]
    Home(#[from] home::Error),
    /// The scratch home could not be set up.
    #[error(transparent)]
    Setup(#[from] setup::Error),
}

impl Error {
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        move |cause| Self::Io { path: path.to_owned(), cause }
    }
}

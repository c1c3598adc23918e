//! Errors of installing and removing hooks.

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::hosts::jsonc;

/// The reason why an agent's settings were left unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system has no home folder, so the agents' settings cannot be found.
    #[error("there is no home folder, so nobody knows where the agents keep their settings")]
    NoHome,
    /// The path of this program is unknown or not text.
    #[error("the path of this program cannot be written into settings: {0}")]
    Program(String),
    /// The settings are not JSON, or not of the expected form.
    #[error("{}: {problem}; nothing was changed", path.display())]
    Json {
        /// The path of the settings file.
        path: PathBuf,
        /// The error and its position.
        problem: jsonc::Error,
    },
    /// Codex's configuration cannot be read or extended.
    #[error("{}: {problem}; nothing was changed", path.display())]
    Trust {
        /// The path of the configuration file.
        path: PathBuf,
        /// The description of the error.
        problem: String,
    },
    /// The file is not text.
    #[error("{} is not UTF-8 text; nothing was changed", .0.display())]
    NotText(PathBuf),
    /// The path is a folder or a pipe, or the file is far too large.
    #[error("{} is not a file of settings; nothing was changed", .0.display())]
    NotAFile(PathBuf),
    /// The path is a dangling symbolic link.
    #[error("{} is a link to a file that is not there; nothing was changed", .0.display())]
    Dangling(PathBuf),
    /// Another program's file has the name of ours.
    #[error("{} is not ours; nothing was changed", .0.display())]
    NotOurs(PathBuf),
    /// The plugin folder contains other files.
    #[error("{} is not empty and no plugin of ours; nothing was written", .0.display())]
    NotAPlugin(PathBuf),
    /// A file of our plugin was changed or added by others.
    #[error("{} is not as we wrote it; nothing was written", .0.display())]
    Edited(PathBuf),
    /// The file changed since it was read.
    #[error("{} was changed by somebody else at the same moment; it was left as they made it", .0.display())]
    Changed(PathBuf),
    /// The system reported an error.
    #[error("could not {what} {}: {source}", path.display())]
    Io {
        /// The verb of the attempted action.
        what: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl Error {
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, path: path.to_owned(), source }
    }

    pub(super) fn json(path: &Path) -> impl FnOnce(jsonc::Error) -> Self {
        move |problem| Self::Json { path: path.to_owned(), problem }
    }

    /// The advice to the user.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Json { .. } | Self::Trust { .. } => {
                Some("the agent itself may not read this file either; put it right and run it again")
            }
            Self::Dangling(_) => Some("make the file that it links to, or remove the link"),
            Self::NotOurs(_) => Some("move it away first"),
            Self::NotAPlugin(_) => Some("name a folder that is new, empty, or was written by this command"),
            Self::Edited(_) => Some("move it away and run it again; what the plugin needs is written anew"),
            Self::Changed(_) => Some("run it again"),
            _ => None,
        }
    }
}

//! Errors of installing and removing hooks.

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::hosts::jsonc;

/// The reason why an agent's settings were left unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system has no home folder, so the agents' settings cannot be found.
    #[error("no home folder found, so the agents' settings cannot be located")]
    NoHome,
    /// The path of this program is unknown or not text.
    #[error("cannot write the path of this program into settings: {0}")]
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
    #[error("{} is not a settings file; nothing was changed", .0.display())]
    NotAFile(PathBuf),
    /// The path is a dangling symbolic link.
    #[error("{} links to a missing file; nothing was changed", .0.display())]
    Dangling(PathBuf),
    /// Another program's file has the name of ours.
    #[error("Rekindle did not create {}; nothing was changed", .0.display())]
    NotOurs(PathBuf),
    /// The plugin folder contains other files.
    #[error("{} is not empty and not a Rekindle plugin; nothing was written", .0.display())]
    NotAPlugin(PathBuf),
    /// A file of our plugin was changed or added by others.
    #[error("{} was changed since Rekindle wrote it; nothing was written", .0.display())]
    Edited(PathBuf),
    /// The file changed since it was read.
    #[error("{} was changed by another program at the same moment; that version was kept", .0.display())]
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
                Some("the agent may not be able to read this file either; fix it and run the command again")
            }
            Self::Dangling(_) => Some("create the file that it links to, or remove the link"),
            Self::NotOurs(_) => Some("move it away first"),
            Self::NotAPlugin(_) => Some("name a folder that is new, empty, or created by this command"),
            Self::Edited(_) => {
                Some("move it away and run the command again; it writes what the plugin needs")
            }
            Self::Changed(_) => Some("run the command again"),
            _ => None,
        }
    }
}

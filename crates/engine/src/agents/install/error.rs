//! Why our hooks are not where they should be.

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::hosts::jsonc;

/// Why an agent's settings were left as they are.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody knows where agents keep their settings.
    #[error("there is no home folder, so nobody knows where the agents keep their settings")]
    NoHome,
    /// The program cannot say where it is.
    #[error("the path of this program cannot be written into settings: {0}")]
    Program(String),
    /// The settings are no JSON, or not the JSON they should be.
    #[error("{}: {problem}; nothing was changed", path.display())]
    Json {
        /// The settings.
        path: PathBuf,
        /// What is wrong, and where.
        problem: jsonc::Error,
    },
    /// Codex's configuration cannot be read or extended.
    #[error("{}: {problem}; nothing was changed", path.display())]
    Trust {
        /// The configuration.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Not text.
    #[error("{} is not UTF-8 text; nothing was changed", .0.display())]
    NotText(PathBuf),
    /// A folder, a pipe, or far too large.
    #[error("{} is not a file of settings; nothing was changed", .0.display())]
    NotAFile(PathBuf),
    /// A symbolic link to nothing.
    #[error("{} is a link to a file that is not there; nothing was changed", .0.display())]
    Dangling(PathBuf),
    /// Somebody else's file has the name of ours.
    #[error("{} is not ours; nothing was changed", .0.display())]
    NotOurs(PathBuf),
    /// A folder for a plugin that has something else in it.
    #[error("{} is not empty and no plugin of ours; nothing was written", .0.display())]
    NotAPlugin(PathBuf),
    /// A file of our plugin that somebody has changed or put there.
    #[error("{} is not as we wrote it; nothing was written", .0.display())]
    Edited(PathBuf),
    /// Changed since it was read.
    #[error("{} was changed by somebody else at the same moment; it was left as they made it", .0.display())]
    Changed(PathBuf),
    /// The system refused.
    #[error("could not {what} {}: {source}", path.display())]
    Io {
        /// What we tried.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
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

    /// What the person can do about it.
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

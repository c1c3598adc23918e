//! Checks that all agents read the same identity file (IDN-01…03, BRF-12).

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::vault::identity::{DOCUMENTS, IdentityDocument, SHARED_DOCUMENT};
use serde::Serialize;

use crate::platform::home::DataPaths;

/// A link that could not be made. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The shared file does not exist.
    #[error("there is no {} to link to", .0.display())]
    NoFile(PathBuf),
    /// The user has another file there.
    #[error("{} exists and is another file", .0.display())]
    Taken(PathBuf),
    /// The system reported an error.
    #[error("could not create the link {}: {source}", .path.display())]
    Io {
        /// The path of the link.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl Error {
    /// The next step for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoFile(_) => Some("`rekindle init` creates a starter file".into()),
            Self::Taken(_) => Some("move its content into the shared file, remove it, and link again".into()),
            Self::Io { .. } => None,
        }
    }
}

/// The state of the shared file in an agent's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IdentityLink {
    /// It is the shared file.
    Same,
    /// It is another file: agents would follow different instructions.
    Differs,
    /// It is missing: this agent gets no shared instructions.
    None,
    /// The folder does not exist: this agent is not installed.
    Absent,
}

/// The state of the identity files.
#[derive(Clone, Debug)]
pub struct IdentityReport {
    /// Each file, its path, and true if it exists.
    pub files: Vec<(IdentityDocument, PathBuf, bool)>,
    /// Each agent's folder and the state of its link.
    pub links: Vec<(PathBuf, IdentityLink)>,
}

/// Checks the files and the agents' links to them.
pub fn check(places: &DataPaths) -> IdentityReport {
    let file = |document: IdentityDocument| {
        let path = places.identity().join(document.name);
        let there = path.is_file();
        (document, path, there)
    };
    let shared = places.identity().join(SHARED_DOCUMENT);
    let link = |folder: &PathBuf| (folder.join(SHARED_DOCUMENT), state(folder, &shared));
    IdentityReport {
        files: DOCUMENTS.into_iter().map(file).collect(),
        links: places.identity_links().iter().map(link).collect(),
    }
}

fn state(folder: &Path, shared: &Path) -> IdentityLink {
    let theirs = folder.join(SHARED_DOCUMENT);
    if !folder.is_dir() {
        return IdentityLink::Absent;
    }
    match same_file(&theirs, shared) {
        Some(true) => IdentityLink::Same,
        Some(false) => IdentityLink::Differs,
        // A dangling link is not `None`: its agent believes that it has instructions.
        None if theirs.symlink_metadata().is_ok() => IdentityLink::Differs,
        None => IdentityLink::None,
    }
}

/// True if both names mean the same file; `None` if the first does not exist.
fn same_file(theirs: &Path, ours: &Path) -> Option<bool> {
    let theirs_is = std::fs::metadata(theirs).ok()?;
    let Ok(ours_is) = std::fs::metadata(ours) else { return Some(false) };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some((theirs_is.dev(), theirs_is.ino()) == (ours_is.dev(), ours_is.ino()))
    }
    #[cfg(not(unix))]
    {
        drop((theirs_is, ours_is));
        Some(theirs.canonicalize().ok()? == ours.canonicalize().ok()?)
    }
}

/// Links the shared file into an agent's folder, on the user's request. An existing file stays.
pub fn link(places: &DataPaths, folder: &Path) -> Result<(PathBuf, bool), Error> {
    let shared = places.identity().join(SHARED_DOCUMENT);
    if !shared.is_file() {
        return Err(Error::NoFile(shared));
    }
    let path = folder.join(SHARED_DOCUMENT);
    match state(folder, &shared) {
        IdentityLink::Same => return Ok((path, false)),
        IdentityLink::Differs => return Err(Error::Taken(path)),
        IdentityLink::None | IdentityLink::Absent => {}
    }
    #[cfg(unix)]
    let made = std::os::unix::fs::symlink(&shared, &path);
    #[cfg(not(unix))]
    let made = std::fs::hard_link(&shared, &path);
    made.map(|()| (path.clone(), true)).map_err(|source| Error::Io { path, source })
}

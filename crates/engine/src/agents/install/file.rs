//! A settings file of another program: read whole, and replaced only if it is unchanged since then.

use std::path::{Path, PathBuf};

use rekindle_core::hosts::install::diff;

use super::Error;
use crate::platform::disk::{self, FileContent};

/// The maximum size of a settings file.
const MAX_SETTINGS_BYTES: u64 = 16 * 1024 * 1024;

/// The text of a file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> Result<Option<String>, Error> {
    match disk::read(path, MAX_SETTINGS_BYTES).map_err(Error::io("read", path))? {
        FileContent::Missing if disk::name_exists(path).map_err(Error::io("read", path))? => {
            Err(Error::Dangling(path.to_owned()))
        }
        FileContent::Missing => Ok(None),
        FileContent::Bytes(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| Error::NotText(path.to_owned()))
        }
        FileContent::TooLarge(_) | FileContent::NotAFile => Err(Error::NotAFile(path.to_owned())),
    }
}

/// A file's text before and after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsChange {
    /// The path of the file as the agent knows it.
    pub path: PathBuf,
    before: Option<String>,
    after: Option<String>,
}

impl SettingsChange {
    /// Creates a change; `None` if both texts are equal.
    pub(super) fn new(path: PathBuf, before: Option<String>, after: Option<String>) -> Option<Self> {
        (before != after).then_some(Self { path, before, after })
    }

    /// The change as a unified diff.
    pub fn diff(&self) -> String {
        diff::unified_diff(&self.path.to_string_lossy(), self.before.as_deref(), self.after.as_deref())
    }

    pub(super) fn apply(&self) -> Result<(), Error> {
        let path = &self.path;
        let unchanged = match (&self.before, &self.after) {
            (None, None) => Ok(true),
            (None, Some(new)) => match disk::write_new(path, new.as_bytes()) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
                other => other.map(|()| true),
            },
            // Users keep their settings elsewhere and link to them: the link stays, the file behind it
            // changes.
            (Some(old), Some(new)) => path
                .canonicalize()
                .and_then(|target| disk::replace_unchanged(&target, old.as_bytes(), new.as_bytes())),
            (Some(old), None) => disk::remove_unchanged(path, old.as_bytes()),
        };
        match unchanged.map_err(Error::io("write", path))? {
            true => Ok(()),
            false => Err(Error::Changed(path.clone())),
        }
    }
}

/// The temporary files that a killed process of ours left beside a file.
pub(super) fn abandoned_files(path: &Path) -> Vec<PathBuf> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let Some(Ok(entries)) = target.parent().map(std::fs::read_dir) else { return Vec::new() };
    let ours = |name: &str| name.starts_with(disk::TEMPORARY_PREFIX) && name.ends_with(".tmp");
    let names = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(ours));
    names.map(|entry| entry.path()).collect()
}

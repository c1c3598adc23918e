//! The folders of the user's own notes beside the memory vault, as `rekindle init` offers them. Reads
//! names only, no content.

use std::path::{Path, PathBuf};

use rekindle_core::config::ReadNotes;
use rekindle_core::recall::collect;
use rekindle_core::vault::layout;

/// The maximum number of names checked before a folder counts as one without notes.
const MAX_SCANNED_NAMES: usize = 20_000;

/// A named folder does not exist.
#[derive(Debug, thiserror::Error)]
#[error("there is no folder `{name}` in {}{}", notes.display(), list_folders(existing))]
pub struct UnknownFolder {
    /// The name as written.
    pub name: String,
    /// The path of the notes vault.
    pub notes: PathBuf,
    /// The folders that do exist.
    pub existing: Vec<String>,
}

fn list_folders(there: &[String]) -> String {
    match there {
        [] => "; it has no folders".to_owned(),
        there => format!("; it has {}", there.join(", ")),
    }
}

/// The notes outside of the memory vault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherNotes {
    /// The names of the folders that contain notes.
    pub folders: Vec<String>,
    /// True if there are notes outside of any folder.
    pub loose: bool,
}

impl OtherNotes {
    /// Searches the names below `notes`.
    pub fn scan_folders(notes: &Path, vault_folder: &str) -> Self {
        let mut others = Self::default();
        for (name, is_folder) in names(notes) {
            let path = format!("{name}{}", if is_folder { "/" } else { "" });
            if name == vault_folder || name == layout::IDEAS || !collect::is_recallable(&path, vault_folder) {
                continue;
            }
            if !is_folder {
                others.loose = true;
            } else if has_notes(&notes.join(&name), vault_folder) {
                others.folders.push(name);
            }
        }
        others.folders.sort_unstable();
        others
    }

    /// True if there are no such notes.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty() && !self.loose
    }
}

/// Checks that all folders that may be read exist.
pub fn check(readable: &ReadNotes, notes: &Path, vault_folder: &str) -> Result<(), UnknownFolder> {
    let ReadNotes::Folders(folders) = readable else { return Ok(()) };
    match folders.iter().find(|folder| !notes.join(folder).is_dir()) {
        None => Ok(()),
        Some(name) => {
            let there = names(notes).into_iter().filter(|(name, is_folder)| {
                *is_folder
                    && name != vault_folder
                    && collect::is_recallable(&format!("{name}/"), vault_folder)
            });
            let mut there: Vec<String> = there.map(|(name, _)| name).collect();
            there.sort_unstable();
            Err(UnknownFolder { name: name.clone(), notes: notes.to_owned(), existing: there })
        }
    }
}

/// True if a folder or its subfolders contain a note. Links are not followed.
fn has_notes(folder: &Path, vault_folder: &str) -> bool {
    let (mut folders, mut left) = (vec![folder.to_owned()], MAX_SCANNED_NAMES);
    while let Some(folder) = folders.pop() {
        for (name, is_folder) in names(&folder) {
            left = left.saturating_sub(1);
            let is_wanted = |path: &str| collect::is_recallable(path, vault_folder);
            if left == 0 || (!is_folder && is_wanted(&name)) {
                return left > 0;
            }
            if is_folder && is_wanted(&format!("{name}/")) {
                folders.push(folder.join(&name));
            }
        }
    }
    false
}

/// The names in a folder, each with true for a folder. An unreadable folder counts as empty.
fn names(folder: &Path) -> Vec<(String, bool)> {
    let Ok(items) = std::fs::read_dir(folder) else { return Vec::new() };
    let name = |item: std::fs::DirEntry| {
        let kind = item.file_type().ok().filter(|kind| kind.is_dir() || kind.is_file())?;
        Some((item.file_name().into_string().ok()?, kind.is_dir()))
    };
    items.flatten().filter_map(name).collect()
}

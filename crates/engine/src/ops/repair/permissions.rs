//! Permissions: we must be able to write our folders, and nobody else may read the state folder (SEC-01).

use std::path::{Path, PathBuf};

use super::RepairResult;
use crate::platform::disk;
use crate::platform::home::{DataPaths, HomeFolder};

/// A file or folder with the wrong permissions, and the right ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrongPermissions {
    pub(crate) path: PathBuf,
    pub(crate) mode: u32,
    wanted: u32,
}

/// The permissions of the owner that a folder and a file of ours need.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// The permissions of everybody else.
const OTHERS: u32 = 0o077;

/// Everything below our folders with the wrong permissions. In the vault only the owner's own count, because a
/// person may share their notes.
pub(crate) fn wrong(home: &HomeFolder, places: &DataPaths) -> Vec<WrongPermissions> {
    let mut found = Vec::new();
    for (folder, is_private) in [(home.root(), false), (places.vault(), false), (places.state(), true)] {
        look_at(folder, is_private, &mut found);
    }
    // The folder of the vault, and what is in it, one level of groups down to the notes.
    below(places.vault(), false, &mut found);
    below(places.state(), true, &mut found);
    found
}

fn below(folder: &Path, is_private: bool, found: &mut Vec<WrongPermissions>) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for item in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_link = item.file_type().is_ok_and(|kind| kind.is_symlink());
            if is_link {
                continue;
            }
            look_at(&item.path(), is_private, found);
            if item.path().is_dir() {
                folders.push(item.path());
            }
        }
    }
}

#[cfg(unix)]
fn look_at(path: &Path, is_private: bool, found: &mut Vec<WrongPermissions>) {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return };
    // Nobody else's file can be changed, and `doctor` says that it cannot be written.
    if metadata.uid() != rustix::process::geteuid().as_raw() || !(metadata.is_file() || metadata.is_dir()) {
        return;
    }
    let mode = metadata.permissions().mode() & 0o7777;
    let needed = if metadata.is_dir() { FOLDER_MODE } else { FILE_MODE };
    let wanted = (mode | needed) & if is_private { !OTHERS } else { !0 };
    if wanted != mode {
        found.push(WrongPermissions { path: path.to_owned(), mode, wanted });
    }
}

#[cfg(not(unix))]
fn look_at(_: &Path, _: bool, _: &mut Vec<WrongPermissions>) {}

/// Corrects them. A folder that could not be read is looked into again.
pub(super) fn repair(home: &HomeFolder, places: &DataPaths) -> Vec<RepairResult> {
    const PASSES: usize = 8;
    let mut results = Vec::new();
    for _ in 0..PASSES {
        let wrong = wrong(home, places);
        if wrong.is_empty() {
            break;
        }
        let mut is_stuck = false;
        for WrongPermissions { path, mode, wanted } in wrong {
            match disk::set_mode(&path, wanted) {
                Ok(()) => {
                    let what =
                        format!("changed the permissions of {} from {mode:o} to {wanted:o}", path.display());
                    results.push(RepairResult::fixed("permissions", what));
                }
                Err(error) => {
                    let what = format!("the permissions of {} are {mode:o}: {error}", path.display());
                    let next = format!("`chmod {wanted:o} '{}'`", path.display());
                    results.push(RepairResult::left("permissions", what, next));
                    is_stuck = true;
                }
            }
        }
        if is_stuck {
            break;
        }
    }
    results
}

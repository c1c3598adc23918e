//! Resolves vault paths to files. A link may point elsewhere inside the same root, but never outside.

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::vault::path::{VaultPath, fold_name};

use super::Error;

/// The file below `root` (itself resolved) that `path` names. It need not exist.
pub(super) fn resolve(root: &Path, path: &VaultPath) -> Result<PathBuf, Error> {
    let mut at = root.to_owned();
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        at.push(part);
        match std::fs::symlink_metadata(&at) {
            Ok(metadata) if metadata.file_type().is_symlink() => {
                let outside = || Error::LeadsOutside { path: at.clone(), root: root.to_owned() };
                let target = at.canonicalize().map_err(|_| outside())?;
                if !target.starts_with(root) {
                    return Err(outside());
                }
                at = target;
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                at.extend(parts);
                return Ok(at);
            }
            // A file stands where a folder should be: the write itself reports it.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                at.extend(parts);
                return Ok(at);
            }
            Err(error) => return Err(Error::io("open", &at)(error)),
        }
    }
    Ok(at)
}

/// The file that `path` names below `root`, with a final link resolved to any target.
pub(super) fn resolve_path(root: &Path, path: &VaultPath) -> Result<PathBuf, Error> {
    let at = path.components().fold(root.to_owned(), |at, part| at.join(part));
    match std::fs::symlink_metadata(&at) {
        Ok(metadata) if metadata.file_type().is_symlink() => {
            at.canonicalize().map_err(Error::io("open", &at))
        }
        _ => resolve(root, path),
    }
}

/// A name in the same folder that another system would treat as the same file.
pub(super) fn case_collision(file: &Path) -> Option<String> {
    let (folder, name) = (file.parent()?, file.file_name()?.to_str()?);
    let folded = fold_name(name);
    std::fs::read_dir(folder).ok()?.filter_map(Result::ok).find_map(|there| {
        let there = there.file_name().into_string().ok()?;
        (there != name && fold_name(&there) == folded).then_some(there)
    })
}

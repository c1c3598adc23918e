//! An empty folder for a program to run in, which is gone afterwards.
#![expect(
    clippy::disallowed_methods,
    reason = "what is made here is ours, and gone when the answer is there"
)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::platform::disk;

/// How many programs may be asked at once. The folders have the same names every time: agents remember the folders
/// they were run in, and should not remember a new one for every question.
const MAX_AT_ONCE: usize = 32;
/// A folder as old as this was left behind by somebody who was killed.
const ABANDONED: Duration = Duration::from_secs(2 * 60 * 60);

/// A folder of one question.
pub(super) struct Scratch {
    folder: PathBuf,
    work: PathBuf,
}

impl Scratch {
    /// One below `parent` that nobody else uses.
    pub(super) fn new(parent: &Path) -> io::Result<Self> {
        disk::make_folder(parent)?;
        for number in 1..=MAX_AT_ONCE {
            let folder = parent.join(number.to_string());
            if is_abandoned(&folder) {
                fs::remove_dir_all(&folder)?;
            }
            match fs::create_dir(&folder) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            let scratch = Self { work: folder.join("work"), folder };
            fs::create_dir(&scratch.work)?;
            return Ok(scratch);
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "too many are running"))
    }

    /// Where the program runs. There is nothing in it.
    pub(super) fn work(&self) -> &Path {
        &self.work
    }

    /// Writes a file beside that folder, for a program that takes something from a file.
    pub(super) fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.folder.join(name);
        disk::write_unsynced(&path, text.as_bytes())?;
        Ok(path)
    }
}

fn is_abandoned(folder: &Path) -> bool {
    let age = fs::metadata(folder).and_then(|about| about.modified()).map(|at| at.elapsed());
    matches!(age, Ok(Ok(age)) if age > ABANDONED)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is removed when it is old.
        fs::remove_dir_all(&self.folder).unwrap_or_default();
    }
}

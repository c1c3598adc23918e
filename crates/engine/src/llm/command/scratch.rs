//! An empty scratch folder for a program to run in. It is deleted afterwards.
#![expect(
    clippy::disallowed_methods,
    reason = "what is made here is ours, and gone when the answer is there"
)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rekindle_core::base::ignore_failure::IgnoreFailure as _;

use crate::platform::disk;

/// The maximum number of concurrent questions. Folder names are reused: agents remember the folders that they
/// ran in, and should not remember a new one for every question.
const MAX_CONCURRENT_PROGRAMS: usize = 32;
/// The age at which a folder is a leftover of a killed process.
const ABANDONED_AFTER: Duration = Duration::from_secs(2 * 60 * 60);

/// The scratch folder of one question.
pub(super) struct ScratchFolder {
    folder: PathBuf,
    work: PathBuf,
}

impl ScratchFolder {
    /// Claims an unused folder below `parent`.
    pub(super) fn new(parent: &Path) -> io::Result<Self> {
        disk::create_private_folder(parent)?;
        for number in 1..=MAX_CONCURRENT_PROGRAMS {
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

    /// The empty working folder of the program.
    pub(super) fn work_folder(&self) -> &Path {
        &self.work
    }

    /// Writes a file beside that folder, for programs that read an argument from a file.
    pub(super) fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.folder.join(name);
        disk::write_unsynced(&path, text.as_bytes())?;
        Ok(path)
    }
}

fn is_abandoned(folder: &Path) -> bool {
    let age = fs::metadata(folder).and_then(|about| about.modified()).map(|at| at.elapsed());
    matches!(age, Ok(Ok(age)) if age > ABANDONED_AFTER)
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.folder).ignore_failure("a left-over folder is removed once it is old");
    }
}

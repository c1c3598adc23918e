//! Recorded sessions of the real agents with a scripted model: a home folder with their transcripts.
//!
//! The versions are `claude` 2.1.325, `codex` 0.166.0, `gemini` 0.61.0 and `pi` 0.87.1. Parts that do not
//! affect the format were removed: system prompts, tool lists, lists of skills. Every home is `/home/dev`.

use std::path::{Path, PathBuf};

/// The home folder with the recorded transcripts. It is read-only for tests.
pub fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/home")
}

/// Copies the recorded transcripts into `home`.
pub fn copy_into(home: &Path) -> std::io::Result<()> {
    copy(&self::home(), home)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

//! Sessions that were recorded with the real agents, against a made-up model: a home folder with their transcripts.
//!
//! `claude` 2.1.325, `codex` 0.166.0, `gemini` 0.61.0 and `pi` 0.87.1. What says nothing about the format was cut out:
//! system prompts, tool lists, listings of skills. Everybody's home is `/home/dev`.

use std::path::{Path, PathBuf};

/// The home folder with the recorded transcripts. Not to be written into.
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

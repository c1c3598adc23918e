//! Erasure of messages (B-08): rewrites the archive without the text, line by line whatever its size, and the
//! index too.

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::recall::document::Document;
use rekindle_core::vault::erase::ErasureTarget;

use super::archive::{self, ArchivedMessage};
use super::{Error, MessageStore};
use crate::platform::disk;

impl MessageStore {
    /// Removes the text from all archived messages and returns the number of messages changed.
    pub fn erase(&self, target: &ErasureTarget) -> Result<usize, Error> {
        if target.is_empty() || !self.folder.exists() {
            return Ok(0);
        }
        let mut erased = 0;
        for stored in archive::sessions(&self.folder) {
            let found = lines_with(&stored.path, target).map_err(self.failed())?;
            if found > 0 {
                erased += found;
                let _lock = archive::lock(&self.folder, &stored.path).map_err(self.failed())?;
                rewrite(&stored.path, target).map_err(self.failed())?;
            }
        }
        let says = |document: &Document| target.matches_file(document.text.as_bytes());
        Ok(erased.max(self.store().erase(&says)?))
    }

    /// Lists the files that still hold the text.
    pub fn files_with(&self, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error> {
        let mut files = Vec::new();
        if target.is_empty() || !self.folder.exists() {
            return Ok(files);
        }
        for stored in archive::sessions(&self.folder) {
            if lines_with(&stored.path, target).map_err(self.failed())? > 0 {
                files.push(stored.path);
            }
        }
        files.extend(
            self.store().segments_with(&|document: &Document| target.matches_file(document.text.as_bytes())),
        );
        Ok(files)
    }
}

/// Writes a line padded to the length of the one it replaces, so that the offsets in the index stay valid.
fn push_blanked_line(out: &mut Vec<u8>, line: &str, length: usize) {
    let line = line.trim_end_matches('\n').as_bytes();
    out.extend_from_slice(line);
    out.resize(out.len() + length.saturating_sub(line.len() + 1), b' ');
    out.push(b'\n');
}

fn lines_with(path: &Path, target: &ErasureTarget) -> io::Result<usize> {
    let mut found = 0;
    archive::each_line(path, 0, &mut |_, line| found += usize::from(target.matches_file(line)))?;
    Ok(found)
}

/// Rewrites a file without the text. The message keeps its line, so that it is not captured again.
fn rewrite(path: &Path, target: &ErasureTarget) -> io::Result<()> {
    loop {
        // A last line that was cut off has no end to keep; the next append truncates it.
        let old = std::fs::read(path)?;
        let mut new = Vec::with_capacity(old.len());
        for line in old.split_inclusive(|byte| *byte == b'\n') {
            if !target.matches_file(line) {
                new.extend_from_slice(line);
            } else if let Ok(kept) = serde_json::from_slice::<ArchivedMessage>(line) {
                let left =
                    ArchivedMessage { text: target.remove_blocks(&kept.text).unwrap_or_default(), ..kept };
                push_blanked_line(&mut new, &serde_json::to_string(&left)?, line.len());
            } else {
                // A damaged line cannot be read as a message, so nothing of it is kept.
                push_blanked_line(&mut new, "", line.len());
            }
        }
        // If another process appended in the meantime, read the file again.
        if disk::replace_shredding(path, &old, &new)? {
            return Ok(());
        }
    }
}

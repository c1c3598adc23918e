//! The recall log (REC-23): one line in `logs/recall.jsonl` per answer. `inspect` shows it, and `forget`
//! cleans it.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::platform::disk::{self, BackwardLines, LineFile};

/// The maximum size in bytes of the log. A longer one replaces the previous old log.
const MAX_LOG_BYTES: u64 = 4 * 1024 * 1024;

/// The recall log of a state folder.
#[derive(Clone, Debug)]
pub struct RecallLog {
    path: PathBuf,
}

impl RecallLog {
    /// The log in the folder of logs.
    pub fn in_folder(logs: &Path) -> Self {
        Self { path: logs.join("recall.jsonl") }
    }

    /// Appends a line to the log.
    pub fn append(&self, line: &Value) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            disk::create_private_folder(folder)?;
        }
        if std::fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() > MAX_LOG_BYTES) {
            disk::move_aside(&self.path, &self.path.with_extension("old.jsonl"))?;
        }
        LineFile::open(&self.path)?.append(&format!("{line}\n"), false)
    }

    /// The lines of the log, newest first.
    pub fn read(&self) -> io::Result<impl Iterator<Item = Value>> {
        let lines = BackwardLines::open(&self.path)?;
        let older = BackwardLines::open(&self.path.with_extension("old.jsonl"))?;
        let all = lines.into_iter().flatten().chain(older.into_iter().flatten());
        Ok(all.filter_map(|line| serde_json::from_slice(&line.ok()?).ok()))
    }
}

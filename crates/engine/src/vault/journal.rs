//! The journal of all changes, in `state/journal.jsonl`: one line when a change begins, one when it ends.
//!
//! The first line is on the disk before any file of the vault changes, so an interrupted change is always
//! detected (see `recover`). docs/adr/0003 compares this with a table in SQLite, in numbers.

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::base::id::ChangeId;
use rekindle_core::vault::journal::VaultChange;
use serde::{Deserialize, Serialize};

use super::Error;
use crate::platform::disk::{BackwardLines, LineFile, replace_shredding};

/// The outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeOutcome {
    /// All of it happened.
    Done,
    /// None of it happened.
    Aborted,
    /// It was interrupted; the next writer will finish or abort it.
    Pending,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum JournalLine {
    Begin(VaultChange),
    End { id: ChangeId, outcome: ChangeOutcome },
}

/// A change and its outcome.
#[derive(Clone, Debug)]
pub struct ChangeRecord {
    /// The change that was recorded.
    pub change: VaultChange,
    /// The outcome of the change.
    pub outcome: ChangeOutcome,
}

/// The journal, open for the holder of the lock.
#[derive(Debug)]
pub(crate) struct VaultJournal {
    lines: LineFile,
    path: PathBuf,
}

impl VaultJournal {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let lines = LineFile::open(path).map_err(Error::io("open", path))?;
        Ok(Self { lines, path: path.to_owned() })
    }

    /// Records the start of a change. Once this is on the disk, the change will happen.
    pub(super) fn begin(&mut self, change: &VaultChange) -> Result<(), Error> {
        self.append(&JournalLine::Begin(change.clone()), true)
    }

    /// Records the end of a change. Not synced: if the line is lost, the next writer finds the change done
    /// and writes it again.
    pub(super) fn end(&mut self, id: &ChangeId, outcome: ChangeOutcome) -> Result<(), Error> {
        self.append(&JournalLine::End { id: id.clone(), outcome }, false)
    }

    fn append(&mut self, line: &JournalLine, durable: bool) -> Result<(), Error> {
        let mut text =
            serde_json::to_string(line).map_err(|error| Error::io("write", &self.path)(error.into()))?;
        text.push('\n');
        self.lines.append(&text, durable).map_err(Error::io("write", &self.path))
    }

    /// The newest change, if it has not ended.
    pub(super) fn pending_change(&self) -> Result<Option<VaultChange>, Error> {
        let Some(mut lines) = BackwardLines::open(&self.path).map_err(Error::io("read", &self.path))? else {
            return Ok(None);
        };
        match lines.next() {
            Some(line) => match parse(&line.map_err(Error::io("read", &self.path))?) {
                Some(JournalLine::Begin(change)) => Ok(Some(change)),
                _ => Ok(None),
            },
            None => Ok(None),
        }
    }
}

fn parse(line: &[u8]) -> Option<JournalLine> {
    serde_json::from_slice(line).ok()
}

/// All changes, newest first. Unreadable lines are skipped: the journal is history, not the source of truth.
pub(super) fn changes(
    path: &Path,
) -> Result<impl Iterator<Item = Result<ChangeRecord, Error>> + use<>, Error> {
    let path = path.to_owned();
    let lines = BackwardLines::open(&path).map_err(Error::io("read", &path))?;
    let mut ended: Option<(ChangeId, ChangeOutcome)> = None;
    Ok(lines.into_iter().flatten().filter_map(move |line| match line {
        Err(error) => Some(Err(Error::io("read", &path)(error))),
        Ok(line) => match parse(&line)? {
            JournalLine::End { id, outcome } => {
                ended = Some((id, outcome));
                None
            }
            JournalLine::Begin(change) => {
                let outcome = match ended.take() {
                    Some((id, outcome)) if id == change.id => outcome,
                    _ => ChangeOutcome::Pending,
                };
                Some(Ok(ChangeRecord { change, outcome }))
            }
        },
    }))
}

/// Lets `alter` change every record; the old bytes are overwritten. The caller must hold the lock. Returns
/// the number of altered records.
pub(crate) fn rewrite(path: &Path, mut alter: impl FnMut(&mut VaultChange) -> bool) -> Result<usize, Error> {
    let old = match std::fs::read(path) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    let (mut new, mut altered) = (Vec::with_capacity(old.len()), 0);
    for line in old.split_inclusive(|byte| *byte == b'\n') {
        if let Some(JournalLine::Begin(mut change)) = parse(line)
            && alter(&mut change)
        {
            altered += 1;
            let text = serde_json::to_vec(&JournalLine::Begin(change));
            new.extend(text.map_err(|error| Error::io("write", path)(error.into()))?);
            new.push(b'\n');
        } else {
            new.extend_from_slice(line);
        }
    }
    if altered > 0 {
        // Only the holder of the lock appends, so the file cannot have changed meanwhile.
        replace_shredding(path, &old, &new).map_err(Error::io("write", path))?;
    }
    Ok(altered)
}

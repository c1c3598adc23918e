//! The record of every change, in `state/journal.jsonl`: a line when a change is decided, a line when it is done.
//!
//! The first line is on the disk before any file of the vault changes, so a change that was cut off is always known
//! (see `recover`). A file of lines was chosen over a table in SQLite: docs/adr/0003 has the numbers.

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::base::id::ChangeId;
use rekindle_core::vault::journal::Change;
use serde::{Deserialize, Serialize};

use super::Error;
use crate::platform::disk::{BackwardLines, Lines, replace_shredding};

/// How a change ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All of it happened.
    Done,
    /// None of it happened.
    Aborted,
    /// It was cut off; the next writer will finish or abort it.
    Pending,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Begin(Change),
    End { id: ChangeId, outcome: Outcome },
}

/// A change and how it ended.
#[derive(Clone, Debug)]
pub struct Record {
    /// The change.
    pub change: Change,
    /// How it ended.
    pub outcome: Outcome,
}

/// The journal, open for the holder of the lock.
#[derive(Debug)]
pub(crate) struct Journal {
    lines: Lines,
    path: PathBuf,
}

impl Journal {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let lines = Lines::open(path).map_err(Error::io("open", path))?;
        Ok(Self { lines, path: path.to_owned() })
    }

    /// The point of no return: once this is on the disk, the change will happen.
    pub(super) fn begin(&mut self, change: &Change) -> Result<(), Error> {
        self.append(&Line::Begin(change.clone()), true)
    }

    /// Not synced: if it is lost, the next writer finds the change done and says so again.
    pub(super) fn end(&mut self, id: &ChangeId, outcome: Outcome) -> Result<(), Error> {
        self.append(&Line::End { id: id.clone(), outcome }, false)
    }

    fn append(&mut self, line: &Line, durable: bool) -> Result<(), Error> {
        let mut text =
            serde_json::to_string(line).map_err(|error| Error::io("write", &self.path)(error.into()))?;
        text.push('\n');
        self.lines.append(&text, durable).map_err(Error::io("write", &self.path))
    }

    /// The newest change, if it has not ended.
    pub(super) fn pending(&self) -> Result<Option<Change>, Error> {
        let Some(mut lines) = BackwardLines::open(&self.path).map_err(Error::io("read", &self.path))? else {
            return Ok(None);
        };
        match lines.next() {
            Some(line) => match parse(&line.map_err(Error::io("read", &self.path))?) {
                Some(Line::Begin(change)) => Ok(Some(change)),
                _ => Ok(None),
            },
            None => Ok(None),
        }
    }
}

fn parse(line: &[u8]) -> Option<Line> {
    serde_json::from_slice(line).ok()
}

/// All changes, the newest first. A line that cannot be read is passed over: the journal is history, not truth.
pub(super) fn changes(path: &Path) -> Result<impl Iterator<Item = Result<Record, Error>> + use<>, Error> {
    let path = path.to_owned();
    let lines = BackwardLines::open(&path).map_err(Error::io("read", &path))?;
    let mut ended: Option<(ChangeId, Outcome)> = None;
    Ok(lines.into_iter().flatten().filter_map(move |line| match line {
        Err(error) => Some(Err(Error::io("read", &path)(error))),
        Ok(line) => match parse(&line)? {
            Line::End { id, outcome } => {
                ended = Some((id, outcome));
                None
            }
            Line::Begin(change) => {
                let outcome = match ended.take() {
                    Some((id, outcome)) if id == change.id => outcome,
                    _ => Outcome::Pending,
                };
                Some(Ok(Record { change, outcome }))
            }
        },
    }))
}

/// Lets `alter` change every record; the old bytes are overwritten. Only under the lock. Says how many it altered.
pub(crate) fn rewrite(path: &Path, mut alter: impl FnMut(&mut Change) -> bool) -> Result<usize, Error> {
    let old = match std::fs::read(path) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    let (mut new, mut altered) = (Vec::with_capacity(old.len()), 0);
    for line in old.split_inclusive(|byte| *byte == b'\n') {
        if let Some(Line::Begin(mut change)) = parse(line)
            && alter(&mut change)
        {
            altered += 1;
            let text = serde_json::to_vec(&Line::Begin(change));
            new.extend(text.map_err(|error| Error::io("write", path)(error.into()))?);
            new.push(b'\n');
        } else {
            new.extend_from_slice(line);
        }
    }
    if altered > 0 {
        // Only the holder of the lock appends, so nothing can have come in between.
        replace_shredding(path, &old, &new).map_err(Error::io("write", path))?;
    }
    Ok(altered)
}

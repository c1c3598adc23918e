//! The usage of memories: the signals that they helped or misled (REC-08, FBK-03), one line each in
//! `state/usage.jsonl`. Lines are only appended. A summary in `usage.json` saves a prompt from reading them
//! all; it can be deleted and is rebuilt. It is sorted by memory, so that a prompt searches it for the few memories
//! that it may show, however many there are.

mod summary;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rekindle_core::base::time;
use rekindle_core::base::time::{Timestamp, format_utc};
use rekindle_core::recall::document::{Document, DocumentSource};
use rekindle_core::recall::memory_usage::{MemoryUsage, UsageSignal};
use rekindle_core::recall::select::UsageScore;
use serde::{Deserialize, Serialize};

use self::summary::StoredUsage;
use crate::platform::disk::{self, LineFile};

/// The number of appended bytes after which the summary is updated.
const SUMMARY_INTERVAL_BYTES: u64 = 64 * 1024;

#[derive(Debug, Serialize, Deserialize)]
struct UsageLine<'a> {
    #[serde(borrow)]
    at: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    signal: UsageSignal,
    /// The turn of the signal. Each turn adds the same signal to a memory only once.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    turn: Option<Cow<'a, str>>,
}

/// The usage of every memory with a signal.
#[derive(Debug, Default)]
pub struct UsageSummary {
    /// The summary of the first lines of the log.
    stored: StoredUsage,
    /// The start of counting, in seconds since 1970.
    since: Option<i64>,
    /// The usage of the memories with a later line.
    recent: HashMap<String, MemoryUsage>,
}

/// The number of signals of each type, over all memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageCounts {
    /// The number of judgements that a memory helped.
    pub good: usize,
    /// The number of judgements that a memory misled.
    pub wrong: usize,
    /// The number of judgements that a memory is outdated.
    pub stale: usize,
    /// The number of times an agent used a memory.
    pub used: usize,
    /// The number of times an agent did not use a memory.
    pub ignored: usize,
    /// The number of times a memory should have been shown.
    pub missed: usize,
    /// The number of times a memory misled an agent.
    pub misled: usize,
}

impl UsageSummary {
    /// Reads the usage. Unreadable lines are skipped.
    pub fn read(path: &Path) -> Self {
        let stored = StoredUsage::open(&summary_path(path), path).unwrap_or_default();
        let mut usage = Self { since: stored.since(), stored, recent: HashMap::new() };
        let Ok(added) = tail(path, usage.stored.log_bytes()) else { return usage };
        for line in parse_lines(&added) {
            usage.add(&line);
        }
        usage
    }

    fn add(&mut self, line: &UsageLine<'_>) {
        let at = time::parse(&line.at);
        let first = at.map(Timestamp::as_second);
        self.since = match (self.since, first) {
            (Some(since), Some(first)) => Some(since.min(first)),
            (since, first) => since.or(first),
        };
        match self.recent.get_mut(&*line.id) {
            Some(standing) => standing.add(line.signal, at),
            None => {
                let mut standing = self.stored.find(&line.id).unwrap_or_default();
                standing.add(line.signal, at);
                self.recent.insert(line.id.to_string(), standing);
            }
        }
    }

    /// Updates the summary if many lines were appended since.
    pub fn write_summary(path: &Path) -> io::Result<()> {
        let stored = StoredUsage::open(&summary_path(path), path).unwrap_or_default();
        let added = match tail(path, stored.log_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            added => added?,
        };
        let whole = added.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if (whole as u64) < SUMMARY_INTERVAL_BYTES {
            return Ok(());
        }
        let log_bytes = stored.log_bytes() + whole as u64;
        let mut usage = Self { since: stored.since(), stored, recent: HashMap::new() };
        parse_lines(&added[..whole]).for_each(|line| usage.add(&line));
        let text = StoredUsage::encode(log_bytes, usage.since, &usage.standings())?;
        disk::write_atomic(&summary_path(path), &text)
    }

    /// The usage of every memory.
    fn standings(&self) -> BTreeMap<String, MemoryUsage> {
        let mut all: BTreeMap<String, MemoryUsage> = self.stored.all().collect();
        all.extend(self.recent.iter().map(|(id, usage)| (id.clone(), *usage)));
        all
    }

    /// The start of counting, in seconds since 1970; `None` if nothing was counted yet.
    pub fn since(&self) -> Option<i64> {
        self.since
    }

    /// Counts the signals of each type over all memories.
    pub fn usage_counts(path: &Path) -> UsageCounts {
        let text = std::fs::read(path).unwrap_or_default();
        let mut counts = UsageCounts::default();
        for line in parse_lines(&text) {
            *match line.signal {
                UsageSignal::Good => &mut counts.good,
                UsageSignal::Wrong => &mut counts.wrong,
                UsageSignal::Stale => &mut counts.stale,
                UsageSignal::Used => &mut counts.used,
                UsageSignal::Ignored => &mut counts.ignored,
                UsageSignal::Missed => &mut counts.missed,
                UsageSignal::Misled => &mut counts.misled,
                UsageSignal::Shown | UsageSignal::Recalled => continue,
            } += 1;
        }
        counts
    }

    /// The signals of a span of time, each with its memory.
    pub fn signals_between(path: &Path, from: Timestamp, to: Timestamp) -> Vec<(String, UsageSignal)> {
        let text = std::fs::read(path).unwrap_or_default();
        let is_between = |line: &UsageLine<'_>| time::parse(&line.at).is_some_and(|at| from <= at && at < to);
        parse_lines(&text).filter(is_between).map(|line| (line.id.into_owned(), line.signal)).collect()
    }

    /// The strength of a memory, between -1 (misled) and 1 (helped).
    pub fn strength(&self, id: &str) -> f32 {
        self.memory_usage(id).strength()
    }

    /// The usage of one memory.
    pub fn memory_usage(&self, id: &str) -> MemoryUsage {
        self.recent.get(id).copied().or_else(|| self.stored.find(id)).unwrap_or_default()
    }

    /// The usage that ranking reads: the strength of a document, and if it has been unused for so long that
    /// it may be outdated (FBK-04). Times before counting started do not make it outdated.
    pub fn usage_score(&self, document: &Document, now: i64) -> UsageScore {
        let standing = self.memory_usage(&document.id);
        let counts = matches!(document.source, DocumentSource::Entry | DocumentSource::Observation);
        // Times before counting started do not make it outdated.
        let from =
            document.created.map(Timestamp::as_second).zip(self.since).map(|(made, since)| made.max(since));
        let stale = counts && from.is_some_and(|from| standing.is_stale(from, now));
        UsageScore { strength: standing.strength(), stale }
    }

    /// Appends a signal about a memory.
    pub fn record(path: &Path, id: &str, signal: UsageSignal, at: Timestamp) -> io::Result<()> {
        append(path, &[UsageLine { at: format_utc(at).into(), id: id.into(), signal, turn: None }], true)
    }

    /// Records that memories were shown as answers. It does not wait for the disk.
    pub fn record_recalled(path: &Path, ids: &[&str], at: Timestamp) -> io::Result<()> {
        let at = format_utc(at);
        let lines = ids.iter().map(|id| UsageLine {
            at: at.as_str().into(),
            id: (*id).into(),
            signal: UsageSignal::Recalled,
            turn: None,
        });
        append(path, &lines.collect::<Vec<_>>(), false)
    }

    /// Appends the signals of a turn, each once even if called again. Only the worker calls it, so calls
    /// never overlap.
    pub fn record_turn(
        path: &Path,
        turn: &str,
        shown: &[(String, UsageSignal)],
        at: Timestamp,
    ) -> io::Result<()> {
        let text = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            text => text?,
        };
        let text = String::from_utf8_lossy(&text);
        let of_turn =
            text.lines().filter(|line| line.contains(turn)).flat_map(|line| parse_lines(line.as_bytes()));
        let known: Vec<UsageLine<'_>> = of_turn.filter(|line| line.turn.as_deref() == Some(turn)).collect();
        let is_new = |(id, signal): &&(String, UsageSignal)| {
            !known.iter().any(|line| line.id == *id && line.signal == *signal)
        };
        let at = format_utc(at);
        let lines: Vec<UsageLine<'_>> = shown
            .iter()
            .filter(is_new)
            .map(|(id, signal)| UsageLine {
                at: at.as_str().into(),
                id: id.as_str().into(),
                signal: *signal,
                turn: Some(turn.into()),
            })
            .collect();
        append(path, &lines, true)
    }

    /// Erases the signals about forgotten memories. Returns the number of erased lines.
    pub fn erase(path: &Path, goes: impl Fn(&str) -> bool) -> io::Result<usize> {
        let text = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            text => text?,
        };
        let (mut left, mut gone) = (Vec::with_capacity(text.len()), 0);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            if parse_lines(line).any(|line| goes(&line.id)) {
                gone += 1;
            } else {
                left.extend_from_slice(line);
            }
        }
        if gone > 0 {
            disk::replace_shredding(path, &text, &left)?;
            match disk::shred(&summary_path(path)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(gone)
    }
}

fn summary_path(path: &Path) -> PathBuf {
    path.with_extension("json")
}

/// The readable lines; a damaged line affects no other.
fn parse_lines(text: &[u8]) -> impl Iterator<Item = UsageLine<'_>> {
    text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// The bytes of a file after an offset.
fn tail(path: &Path, from: u64) -> io::Result<Vec<u8>> {
    let mut file = std::fs::File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn append(path: &Path, lines: &[UsageLine<'_>], durable: bool) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(line)?);
        text.push('\n');
    }
    LineFile::open(path)?.append(&text, durable)
}

#[cfg(test)]
mod tests;

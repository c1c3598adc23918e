//! Which memories helped and which misled (REC-08, FBK-03): a line for every word about one, in `state/usage.jsonl`. Lines are
//! only ever added. What they come to is kept beside it (`usage.json`) so that a prompt does not have to read them all; it
//! can be deleted and is made again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rekindle_core::base::time;
use rekindle_core::base::time::{Timestamp, iso};
use rekindle_core::recall::document::{Document, DocumentSource};
use rekindle_core::recall::select::UsageScore;
use serde::{Deserialize, Serialize};

use crate::platform::disk::{self, LineFile};

/// What agents made of a memory moves it by no more than this: what a person says about it weighs more (FBK-09).
const OBSERVED_WEIGHT_CAP: f32 = 0.5;
/// So many days old and never recalled, a memory may be outdated (FBK-04).
const STALE_DAYS: i64 = 90;
/// When so many bytes were added, what they come to is written down.
const SUMMARY_INTERVAL_BYTES: u64 = 64 * 1024;
const VERSION: u32 = 1;

/// What was said about a memory, or seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UsageSignal {
    /// A person or an agent says that it helped.
    Good,
    /// … that it misled.
    Wrong,
    /// … that it is outdated.
    Stale,
    /// It stood in front of a turn, and the turn made use of it (FBK-01).
    Used,
    /// It stood there for nothing.
    Ignored,
    /// It stood there, and nobody can tell.
    Shown,
    /// Somebody asked, and it was among the answers.
    Recalled,
    /// The person had to say again what it says: it should have been there (FBK-05).
    Missed,
    /// It stood in front of a turn that the person then put right, and says the opposite.
    Misled,
}

impl UsageSignal {
    /// What it adds to a memory's strength.
    fn worth(self) -> f32 {
        match self {
            Self::Good => 0.2,
            Self::Wrong => -0.4,
            Self::Stale => -0.2,
            Self::Used | Self::Missed => 0.1,
            Self::Ignored => -0.05,
            Self::Misled => -0.2,
            Self::Shown | Self::Recalled => 0.0,
        }
    }

    /// Whether somebody said it in so many words.
    fn is_said(self) -> bool {
        matches!(self, Self::Good | Self::Wrong | Self::Stale)
    }

    /// Whether the memory was recalled.
    fn is_recall(self) -> bool {
        matches!(self, Self::Used | Self::Ignored | Self::Shown | Self::Recalled)
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct UsageLine<'a> {
    #[serde(borrow)]
    at: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    signal: UsageSignal,
    /// The turn that shows it. The same turn shows the same thing about a memory once.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    turn: Option<Cow<'a, str>>,
}

/// What is known about one memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MemoryUsage {
    /// What was said about it, summed up.
    said: f32,
    /// What agents made of it, summed up.
    seen: f32,
    /// How often it was recalled.
    pub recall_count: u32,
    /// How often it was of use.
    pub used: u32,
    /// How often it stood there for nothing.
    pub ignored: u32,
    /// How often it should have been there.
    pub missed: u32,
    /// How often it misled.
    pub misled: u32,
    /// When it was last of use, in seconds since 1970.
    pub last_used_at: Option<i64>,
}

impl MemoryUsage {
    /// Between -1 (misled) and 1 (helped).
    pub fn strength(&self) -> f32 {
        (self.said + self.seen).clamp(-1.0, 1.0)
    }

    fn add(&mut self, signal: UsageSignal, at: Option<Timestamp>) {
        if signal.is_said() {
            self.said = (self.said + signal.worth()).clamp(-1.0, 1.0);
        } else {
            self.seen = (self.seen + signal.worth()).clamp(-OBSERVED_WEIGHT_CAP, OBSERVED_WEIGHT_CAP);
        }
        self.recall_count = self.recall_count.saturating_add(signal.is_recall().into());
        match signal {
            UsageSignal::Used => {
                self.used = self.used.saturating_add(1);
                self.last_used_at = at.map(Timestamp::as_second).max(self.last_used_at);
            }
            UsageSignal::Ignored => self.ignored += 1,
            UsageSignal::Missed => self.missed += 1,
            UsageSignal::Misled => self.misled += 1,
            UsageSignal::Good
            | UsageSignal::Wrong
            | UsageSignal::Stale
            | UsageSignal::Shown
            | UsageSignal::Recalled => {}
        }
    }
}

/// What is known about every memory that anything was said about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageSummary {
    version: u32,
    /// How much of the lines is in it.
    bytes: u64,
    /// When counting began, in seconds since 1970.
    since: Option<i64>,
    standings: HashMap<String, MemoryUsage>,
}

/// How often memories were said to be of use, or of none, and how often that was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageCounts {
    /// They helped.
    pub good: usize,
    /// They misled.
    pub wrong: usize,
    /// They were outdated.
    pub stale: usize,
    /// An agent made use of them.
    pub used: usize,
    /// An agent made no use of them.
    pub ignored: usize,
    /// They should have been there.
    pub missed: usize,
    /// They misled an agent.
    pub misled: usize,
}

impl UsageSummary {
    /// Reads what was said. A line that cannot be read is passed over.
    pub fn read(path: &Path) -> Self {
        let mut usage = Self::settled(path).unwrap_or_default();
        let Ok(added) = tail(path, usage.bytes) else { return usage };
        for line in parsed(&added) {
            usage.add(&line);
        }
        usage
    }

    /// What the lines came to when they were last summed up, if that is still so.
    fn settled(path: &Path) -> Option<Self> {
        let text = std::fs::read(beside(path)).ok()?;
        let usage: Self = serde_json::from_slice(&text).ok()?;
        let whole = std::fs::metadata(path).ok()?.len();
        (usage.version == VERSION && usage.bytes <= whole).then_some(usage)
    }

    fn add(&mut self, line: &UsageLine<'_>) {
        let at = time::parse(&line.at);
        let first = at.map(Timestamp::as_second);
        self.since = match (self.since, first) {
            (Some(since), Some(first)) => Some(since.min(first)),
            (since, first) => since.or(first),
        };
        match self.standings.get_mut(&*line.id) {
            Some(standing) => standing.add(line.signal, at),
            None => self.standings.entry(line.id.to_string()).or_default().add(line.signal, at),
        }
    }

    /// Writes down what the lines come to, if many were added since.
    pub fn settle(path: &Path) -> io::Result<()> {
        let before = Self::settled(path).unwrap_or_default();
        let added = match tail(path, before.bytes) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            added => added?,
        };
        let whole = added.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if (whole as u64) < SUMMARY_INTERVAL_BYTES {
            return Ok(());
        }
        let mut usage = Self { version: VERSION, bytes: before.bytes + whole as u64, ..before };
        parsed(&added[..whole]).for_each(|line| usage.add(&line));
        disk::write_whole(&beside(path), &serde_json::to_vec(&usage)?)
    }

    /// How often each thing was said, about whatever memory.
    pub fn said(path: &Path) -> UsageCounts {
        let text = std::fs::read(path).unwrap_or_default();
        let mut said = UsageCounts::default();
        for line in parsed(&text) {
            *match line.signal {
                UsageSignal::Good => &mut said.good,
                UsageSignal::Wrong => &mut said.wrong,
                UsageSignal::Stale => &mut said.stale,
                UsageSignal::Used => &mut said.used,
                UsageSignal::Ignored => &mut said.ignored,
                UsageSignal::Missed => &mut said.missed,
                UsageSignal::Misled => &mut said.misled,
                UsageSignal::Shown | UsageSignal::Recalled => continue,
            } += 1;
        }
        said
    }

    /// Between -1 (misled) and 1 (helped).
    pub fn strength(&self, id: &str) -> f32 {
        self.standing(id).strength()
    }

    /// What is known about a memory.
    pub fn standing(&self, id: &str) -> MemoryUsage {
        self.standings.get(id).copied().unwrap_or_default()
    }

    /// What ranking has to know about a document: how strong it is, and whether nobody has needed it for so long that it
    /// may be outdated (FBK-04). Nothing is outdated for the sake of a time in which nobody counted.
    pub fn lived(&self, document: &Document, now: i64) -> UsageScore {
        let standing = self.standing(&document.id);
        let counts = matches!(document.source, DocumentSource::Entry | DocumentSource::Observation);
        let old = |from: i64| now.saturating_sub(from) > STALE_DAYS * 86_400;
        let created = document.created.map(Timestamp::as_second);
        let stale = counts
            && standing.recall_count == 0
            && standing.missed == 0
            && created.is_some_and(old)
            && self.since.is_some_and(old);
        UsageScore { strength: standing.strength(), stale }
    }

    /// Adds a word about a memory.
    pub fn record(path: &Path, id: &str, signal: UsageSignal, at: Timestamp) -> io::Result<()> {
        append(path, &[UsageLine { at: iso(at).into(), id: id.into(), signal, turn: None }], true)
    }

    /// Notes that somebody asked and was shown these. Not worth waiting for the disk.
    pub fn recalled(path: &Path, ids: &[&str], at: Timestamp) -> io::Result<()> {
        let at = iso(at);
        let lines = ids.iter().map(|id| UsageLine {
            at: at.as_str().into(),
            id: (*id).into(),
            signal: UsageSignal::Recalled,
            turn: None,
        });
        append(path, &lines.collect::<Vec<_>>(), false)
    }

    /// Adds what a turn shows about memories, each once however often this is called. There is one caller at a time: the
    /// worker.
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
            text.lines().filter(|line| line.contains(turn)).flat_map(|line| parsed(line.as_bytes()));
        let known: Vec<UsageLine<'_>> = of_turn.filter(|line| line.turn.as_deref() == Some(turn)).collect();
        let is_new = |(id, signal): &&(String, UsageSignal)| {
            !known.iter().any(|line| line.id == *id && line.signal == *signal)
        };
        let at = iso(at);
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

    /// Takes out what was said about memories that are to be forgotten. Says how many lines that were.
    pub fn erase(path: &Path, goes: impl Fn(&str) -> bool) -> io::Result<usize> {
        let text = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            text => text?,
        };
        let (mut left, mut gone) = (Vec::with_capacity(text.len()), 0);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            if parsed(line).any(|line| goes(&line.id)) {
                gone += 1;
            } else {
                left.extend_from_slice(line);
            }
        }
        if gone > 0 {
            disk::replace_shredding(path, &text, &left)?;
            match disk::shred(&beside(path)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(gone)
    }
}

fn beside(path: &Path) -> PathBuf {
    path.with_extension("json")
}

/// The lines that can be read: one that was damaged takes no other with it.
fn parsed(text: &[u8]) -> impl Iterator<Item = UsageLine<'_>> {
    text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// What comes behind so many bytes of a file.
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

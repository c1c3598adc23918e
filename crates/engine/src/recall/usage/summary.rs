//! The summary of the usage log: a line of JSON with its extent, then a line for each memory, sorted by id.

use std::path::Path;

use rekindle_core::recall::memory_usage::MemoryUsage;
use serde::{Deserialize, Serialize};

use crate::platform::mmap::MappedFile;

/// The version of the format; another one is rebuilt from the log.
const VERSION: u32 = 2;
/// The separator between the id and the usage of a memory. JSON escapes it inside of an id.
const SEPARATOR: u8 = b'\t';

/// The extent of a summary.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct SummaryExtent {
    version: u32,
    /// The number of bytes of the log that it includes.
    bytes: u64,
    /// The start of counting, in seconds since 1970.
    since: Option<i64>,
    /// The number of bytes of its lines, so that a truncated file is not taken for a whole one.
    length: u64,
}

/// A summary that is searched in place.
#[derive(Debug, Default)]
pub(super) struct StoredUsage {
    extent: SummaryExtent,
    file: Option<MappedFile>,
    /// The start of the lines in the file.
    start: usize,
}

impl StoredUsage {
    /// Opens the summary of `log`, if it is still valid. Reads nothing but its first line.
    pub(super) fn open(path: &Path, log: &Path) -> Option<Self> {
        let file = MappedFile::open(path).ok()?;
        let end = memchr::memchr(b'\n', &file)?;
        let extent: SummaryExtent = serde_json::from_slice(&file[..end]).ok()?;
        let (start, log_bytes) = (end + 1, std::fs::metadata(log).ok()?.len());
        let is_valid = extent.version == VERSION
            && extent.bytes <= log_bytes
            && (file.len() - start) as u64 == extent.length;
        is_valid.then_some(Self { extent, file: Some(file), start })
    }

    /// Renders a summary of the first `log_bytes` bytes of the log.
    pub(super) fn encode<'a>(
        log_bytes: u64,
        since: Option<i64>,
        all: impl IntoIterator<Item = (&'a String, &'a MemoryUsage)>,
    ) -> serde_json::Result<Vec<u8>> {
        let mut lines: Vec<(String, String)> = Vec::new();
        for (id, usage) in all {
            lines.push((serde_json::to_string(id)?, serde_json::to_string(usage)?));
        }
        lines.sort_unstable();
        let lines: String = lines.iter().map(|(id, usage)| format!("{id}\t{usage}\n")).collect();
        let extent = SummaryExtent { version: VERSION, bytes: log_bytes, since, length: lines.len() as u64 };
        let mut text = serde_json::to_vec(&extent)?;
        text.push(b'\n');
        text.extend_from_slice(lines.as_bytes());
        Ok(text)
    }

    pub(super) fn since(&self) -> Option<i64> {
        self.extent.since
    }

    pub(super) fn log_bytes(&self) -> u64 {
        self.extent.bytes
    }

    fn lines(&self) -> &[u8] {
        self.file.as_deref().and_then(|bytes| bytes.get(self.start..)).unwrap_or_default()
    }

    /// Searches for the usage of one memory. A damaged line counts as absent.
    pub(super) fn find(&self, id: &str) -> Option<MemoryUsage> {
        let (lines, wanted) = (self.lines(), serde_json::to_string(id).ok()?);
        let (mut low, mut high) = (0, lines.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let start = memchr::memrchr(b'\n', &lines[low..middle]).map_or(low, |end| low + end + 1);
            let end = memchr::memchr(b'\n', &lines[middle..high]).map_or(high, |end| middle + end + 1);
            let line = &lines[start..end];
            let separator = memchr::memchr(SEPARATOR, line)?;
            match line[..separator].cmp(wanted.as_bytes()) {
                std::cmp::Ordering::Equal => return serde_json::from_slice(&line[separator + 1..]).ok(),
                std::cmp::Ordering::Less => low = end,
                std::cmp::Ordering::Greater => high = start,
            }
        }
        None
    }

    /// The usage of every memory.
    pub(super) fn all(&self) -> impl Iterator<Item = (String, MemoryUsage)> {
        self.lines().split(|byte| *byte == b'\n').filter_map(|line| {
            let separator = memchr::memchr(SEPARATOR, line)?;
            let id = serde_json::from_slice(&line[..separator]).ok()?;
            Some((id, serde_json::from_slice(&line[separator + 1..]).ok()?))
        })
    }
}

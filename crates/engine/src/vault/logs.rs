//! The daily logs. Each section is appended in place, and a process reads existing content only once.
//!
//! Appending needs some facts about a log (its last bytes, its keys, its hash). They are computed in one pass
//! over the file and then updated with each append. The cache is valid while the file is the one last
//! written, by inode number, size and times. So a day of ten thousand sections needs no more memory or time
//! per append than one of ten.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rekindle_core::base::hash::{ContentHash, ContentHasher};
use rekindle_core::base::time::{Date, Zoned};
use rekindle_core::vault::daily_log::{self, LogSection, LogTail};
use rekindle_core::vault::journal::{ChangeActor, ChangedFile, RangePatch};
use rekindle_core::vault::layout;

use super::{ChangeDraft, CommittedChange, Error, FileWrite, Vault};
use crate::platform::disk::{self, FileIdentity};

#[cfg(test)]
mod tests;

/// The number of bytes read from the end of a file to determine the context of an append.
const LEAD_BYTES: u64 = 64;
/// The number of cached logs: today's and yesterday's.
const MAX_CACHED_LOGS: usize = 2;

/// The end of a file as it was read.
#[derive(Clone, Debug)]
pub struct LogEnd {
    pub(super) identity: FileIdentity,
    pub(super) hash: ContentHash,
    hashing: ContentHasher,
    /// The last characters of the file.
    lead: String,
}

impl LogEnd {
    pub(super) fn hash_with(&self, more: &str) -> ContentHash {
        let mut hashing = self.hashing.clone();
        hashing.add(more.as_bytes());
        hashing.current()
    }

    pub(super) fn patch(&self, more: &str) -> RangePatch {
        let at = usize::try_from(self.identity.size).unwrap_or(usize::MAX);
        RangePatch::from_append(at, &self.lead, more.to_owned())
    }
}

/// The cached facts about a log.
#[derive(Clone, Debug)]
struct KnownLog {
    file: PathBuf,
    identity: FileIdentity,
    hashing: ContentHasher,
    tail: LogTail,
}

/// A cache of the logs last written or read.
#[derive(Debug, Default)]
pub struct LogCache(Mutex<Vec<KnownLog>>);

/// The state of a whole log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSummary {
    /// The hash of the content.
    pub hash: ContentHash,
    /// The number of lines.
    pub lines: usize,
    /// The size in bytes.
    pub size: u64,
}

impl LogCache {
    /// Answers from the cache, after reading the file again if it changed; `None` if the file does not exist.
    fn ask<T>(&self, file: &Path, answer: impl FnOnce(&KnownLog) -> T) -> Result<Option<T>, Error> {
        let metadata = match std::fs::metadata(file) {
            Ok(metadata) if metadata.is_file() => metadata,
            Ok(_) => return Err(Error::NotAFile(file.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", file)(error)),
        };
        let identity = FileIdentity::from_metadata(&metadata);
        let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = match logs.iter().position(|known| known.file == file && known.identity == identity) {
            Some(at) => at,
            None => {
                let known = read(file)?;
                logs.retain(|known| known.file != file);
                if logs.len() == MAX_CACHED_LOGS {
                    logs.remove(0);
                }
                logs.push(known);
                logs.len() - 1
            }
        };
        Ok(logs.get(at).map(answer))
    }

    /// The current state of a file; `None` if it does not exist.
    pub fn summarise_log(&self, file: &Path) -> Result<Option<LogSummary>, Error> {
        self.ask(file, |known| LogSummary {
            hash: known.hashing.current(),
            lines: known.tail.lines(),
            size: known.identity.size,
        })
    }

    /// True if a section with this key is in the log (LOG-06).
    fn has_key(&self, file: &Path, key: &str) -> Result<bool, Error> {
        if !self.ask(file, |known| known.tail.may_contain_key(key))?.unwrap_or(false) {
            return Ok(false);
        }
        let mut found = false;
        let looked = File::open(file).and_then(|mut file| {
            disk::each_piece(&mut file, |piece| {
                found = daily_log::contains_key(&String::from_utf8_lossy(piece), key);
                Ok(!found)
            })
        });
        looked.map_err(Error::io("read", file))?;
        Ok(found)
    }

    /// The text that adds a section to a log, and the end of the log to append it to; `None` if there is no
    /// log.
    fn addition(&self, file: &Path, section: &LogSection) -> Result<Option<(LogEnd, String)>, Error> {
        let known = self.ask(file, |known| {
            (known.identity, known.hashing.clone(), known.tail.render_addition(section))
        })?;
        let Some((identity, hashing, text)) = known else { return Ok(None) };
        let lead = last_characters(file, identity.size).map_err(Error::io("read", file))?;
        Ok(Some((LogEnd { identity, hash: hashing.current(), hashing, lead }, text)))
    }

    /// Updates the cache after an append. After any other change the file will be read again.
    fn grew(&self, file: &Path, before: &FileIdentity, text: &str) {
        let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = logs.iter().position(|known| known.file == file) else { return };
        let now = std::fs::metadata(file).map(|metadata| FileIdentity::from_metadata(&metadata));
        let known = &mut logs[at];
        let whole_lines = known.tail.is_ended() && text.ends_with('\n');
        match now {
            Ok(now)
                if whole_lines
                    && known.identity == *before
                    && now.is_same_file(before)
                    && now.size == before.size + text.len() as u64 =>
            {
                known.hashing.add(text.as_bytes());
                known.tail.read(text);
                known.identity = now;
            }
            _ => drop(logs.remove(at)),
        }
    }
}

/// Reads a log from beginning to end.
fn read(file: &Path) -> Result<KnownLog, Error> {
    let failed = |error| Error::io("read", file)(error);
    let mut open = File::open(file).map_err(failed)?;
    // Take the identity before the read: a concurrent write changes it.
    let identity = FileIdentity::from_metadata(&open.metadata().map_err(failed)?);
    let (mut tail, mut hashing, mut bad_line) = (LogTail::default(), ContentHasher::default(), None);
    disk::each_piece(&mut open, |piece| {
        match std::str::from_utf8(piece) {
            Ok(text) => tail.read(text),
            Err(error) => {
                let good = piece.get(..error.valid_up_to()).unwrap_or_default();
                bad_line = Some(tail.lines() + good.iter().filter(|byte| **byte == b'\n').count() + 1);
            }
        }
        hashing.add(piece);
        Ok(bad_line.is_none())
    })
    .map_err(failed)?;
    match bad_line {
        Some(line) => Err(Error::NotText { what: file.display().to_string(), line }),
        None => Ok(KnownLog { file: file.to_owned(), identity, hashing, tail }),
    }
}

/// The last characters of a file of `size` bytes.
fn last_characters(file: &Path, size: u64) -> io::Result<String> {
    let mut open = File::open(file)?;
    open.seek(SeekFrom::Start(size.saturating_sub(LEAD_BYTES)))?;
    let mut bytes = Vec::new();
    open.take(size.min(LEAD_BYTES)).read_to_end(&mut bytes)?;
    let inside = bytes.iter().take_while(|byte| (0x80..0xC0).contains(*byte)).count();
    Ok(String::from_utf8_lossy(bytes.get(inside..).unwrap_or_default()).into_owned())
}

impl Vault {
    /// Appends a section to the log of its day (LOG-01). The caller has admitted the text.
    pub fn log(&self, section: &LogSection, by: ChangeActor, now: &Zoned) -> Result<CommittedChange, Error> {
        let mut writer = self.writer(now)?;
        self.add_to_log(&mut writer, section, "daily", by, now.date())
    }

    /// The same as [`Vault::log`] for a section with a key, unless the log of this day or of the day before
    /// has that key (LOG-06): a repeated step logs once. `None` if there was nothing to do.
    pub fn log_once(
        &self,
        section: &LogSection,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<Option<CommittedChange>, Error> {
        self.log_once_on(now.date(), section, by, now)
    }

    /// The same as [`Vault::log_once`] in the log of another day: a statement counts for its own day.
    pub fn log_once_on(
        &self,
        day: Date,
        section: &LogSection,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<Option<CommittedChange>, Error> {
        let mut writer = self.writer(now)?;
        if let Some(key) = &section.source().dedupe_key {
            for date in day.yesterday().into_iter().chain([day]) {
                let file = self.file(&ChangedFile::vault(layout::daily_log(date)))?;
                if self.logs.has_key(&file, key)? {
                    return Ok(None);
                }
            }
        }
        let verb = if matches!(section, LogSection::Receipts(_)) { "receipt" } else { "daily" };
        self.add_to_log(&mut writer, section, verb, by, day).map(Some)
    }

    /// True if a section with this key is in the log of a day. Finishes the work of a killed writer first.
    pub fn is_logged(&self, key: &str, date: Date, now: &Zoned) -> Result<bool, Error> {
        let _writer = self.writer(now)?;
        self.logs.has_key(&self.file(&ChangedFile::vault(layout::daily_log(date)))?, key)
    }

    fn add_to_log(
        &self,
        writer: &mut super::VaultWriter<'_>,
        section: &LogSection,
        verb: &'static str,
        by: ChangeActor,
        date: Date,
    ) -> Result<CommittedChange, Error> {
        let place = ChangedFile::vault(layout::daily_log(date));
        let file = self.file(&place)?;
        // A read-only file can still be replaced, as every other note.
        let is_shut = std::fs::metadata(&file).is_ok_and(|metadata| metadata.permissions().readonly());
        let addition = if is_shut { None } else { self.logs.addition(&file, section)? };
        let Some((end, text)) = addition else {
            let read = self.read(&place)?;
            let text = read.as_ref().map_or_else(|| daily_log::render_new(date), |note| note.text.clone());
            let write = FileWrite::create_or_replace(place, read, daily_log::append(&text, section));
            return writer.commit(ChangeDraft::new(verb, by, vec![write]));
        };
        let before = end.identity;
        let write = FileWrite::Append { place, end, text: text.clone() };
        let committed = writer.commit(ChangeDraft::new(verb, by, vec![write]))?;
        self.logs.grew(&file, &before, &text);
        Ok(committed)
    }

    /// The log of a day; `None` if there is none.
    pub fn daily_log(&self, date: Date) -> Result<Option<String>, Error> {
        Ok(self.read(&ChangedFile::vault(layout::daily_log(date)))?.map(|note| note.text))
    }
}

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

use rekindle_core::base::hash::{ContentHash, Hashing};
use rekindle_core::base::time::{Date, Zoned};
use rekindle_core::vault::daily_log::{self, Section, Tail};
use rekindle_core::vault::journal::{Actor, Patch, Place};
use rekindle_core::vault::layout;

use super::{Committed, Draft, Error, Vault, Write};
use crate::platform::disk::{self, Identity};

#[cfg(test)]
mod tests;

/// The number of bytes read from the end of a file to determine the context of an append.
const LEAD: u64 = 64;
/// The number of cached logs: today's and yesterday's.
const KEPT: usize = 2;

/// The end of a file as it was read.
#[derive(Clone, Debug)]
pub struct End {
    pub(super) identity: Identity,
    pub(super) hash: ContentHash,
    hashing: Hashing,
    /// The last characters of the file.
    lead: String,
}

impl End {
    pub(super) fn hash_with(&self, more: &str) -> ContentHash {
        let mut hashing = self.hashing.clone();
        hashing.add(more.as_bytes());
        hashing.so_far()
    }

    pub(super) fn patch(&self, more: &str) -> Patch {
        let at = usize::try_from(self.identity.size).unwrap_or(usize::MAX);
        Patch::at_end(at, &self.lead, more.to_owned())
    }
}

/// The cached facts about a log.
#[derive(Clone, Debug)]
struct Known {
    file: PathBuf,
    identity: Identity,
    hashing: Hashing,
    tail: Tail,
}

/// A cache of the logs last written or read.
#[derive(Debug, Default)]
pub struct Logs(Mutex<Vec<Known>>);

/// The state of a whole log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The hash of the content.
    pub hash: ContentHash,
    /// The number of lines.
    pub lines: usize,
    /// The size in bytes.
    pub size: u64,
}

impl Logs {
    /// Answers from the cache, after reading the file again if it changed; `None` if the file does not exist.
    fn ask<T>(&self, file: &Path, answer: impl FnOnce(&Known) -> T) -> Result<Option<T>, Error> {
        let metadata = match std::fs::metadata(file) {
            Ok(metadata) if metadata.is_file() => metadata,
            Ok(_) => return Err(Error::NotAFile(file.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", file)(error)),
        };
        let identity = Identity::of(&metadata);
        let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = match logs.iter().position(|known| known.file == file && known.identity == identity) {
            Some(at) => at,
            None => {
                let known = read(file)?;
                logs.retain(|known| known.file != file);
                if logs.len() == KEPT {
                    logs.remove(0);
                }
                logs.push(known);
                logs.len() - 1
            }
        };
        Ok(logs.get(at).map(answer))
    }

    /// The current state of a file; `None` if it does not exist.
    pub fn whole(&self, file: &Path) -> Result<Option<Whole>, Error> {
        self.ask(file, |known| Whole {
            hash: known.hashing.so_far(),
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
    fn addition(&self, file: &Path, section: &Section) -> Result<Option<(End, String)>, Error> {
        let known =
            self.ask(file, |known| (known.identity, known.hashing.clone(), known.tail.addition(section)))?;
        let Some((identity, hashing, text)) = known else { return Ok(None) };
        let lead = last_characters(file, identity.size).map_err(Error::io("read", file))?;
        Ok(Some((End { identity, hash: hashing.so_far(), hashing, lead }, text)))
    }

    /// Updates the cache after an append. After any other change the file will be read again.
    fn grew(&self, file: &Path, before: &Identity, text: &str) {
        let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = logs.iter().position(|known| known.file == file) else { return };
        let now = std::fs::metadata(file).map(|metadata| Identity::of(&metadata));
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
fn read(file: &Path) -> Result<Known, Error> {
    let failed = |error| Error::io("read", file)(error);
    let mut open = File::open(file).map_err(failed)?;
    // Take the identity before the read: a concurrent write changes it.
    let identity = Identity::of(&open.metadata().map_err(failed)?);
    let (mut tail, mut hashing, mut bad_line) = (Tail::default(), Hashing::default(), None);
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
        None => Ok(Known { file: file.to_owned(), identity, hashing, tail }),
    }
}

/// The last characters of a file of `size` bytes.
fn last_characters(file: &Path, size: u64) -> io::Result<String> {
    let mut open = File::open(file)?;
    open.seek(SeekFrom::Start(size.saturating_sub(LEAD)))?;
    let mut bytes = Vec::new();
    open.take(size.min(LEAD)).read_to_end(&mut bytes)?;
    let inside = bytes.iter().take_while(|byte| (0x80..0xC0).contains(*byte)).count();
    Ok(String::from_utf8_lossy(bytes.get(inside..).unwrap_or_default()).into_owned())
}

impl Vault {
    /// Appends a section to the log of its day (LOG-01). The caller has admitted the text.
    pub fn log(&self, section: &Section, by: Actor, now: &Zoned) -> Result<Committed, Error> {
        let mut writer = self.writer(now)?;
        self.add_to_log(&mut writer, section, "daily", by, now.date())
    }

    /// The same as [`Vault::log`] for a section with a key, unless the log of this day or of the day before
    /// has that key (LOG-06): a repeated step logs once. `None` if there was nothing to do.
    pub fn log_once(&self, section: &Section, by: Actor, now: &Zoned) -> Result<Option<Committed>, Error> {
        self.log_once_on(now.date(), section, by, now)
    }

    /// The same as [`Vault::log_once`] in the log of another day: a statement counts for its own day.
    pub fn log_once_on(
        &self,
        day: Date,
        section: &Section,
        by: Actor,
        now: &Zoned,
    ) -> Result<Option<Committed>, Error> {
        let mut writer = self.writer(now)?;
        if let Some(key) = &section.source().dedupe_key {
            for date in day.yesterday().into_iter().chain([day]) {
                let file = self.file(&Place::vault(layout::daily_log(date)))?;
                if self.logs.has_key(&file, key)? {
                    return Ok(None);
                }
            }
        }
        let verb = if matches!(section, Section::Receipts(_)) { "receipt" } else { "daily" };
        self.add_to_log(&mut writer, section, verb, by, day).map(Some)
    }

    /// True if a section with this key is in the log of a day. Finishes the work of a killed writer first.
    pub fn is_logged(&self, key: &str, date: Date, now: &Zoned) -> Result<bool, Error> {
        let _writer = self.writer(now)?;
        self.logs.has_key(&self.file(&Place::vault(layout::daily_log(date)))?, key)
    }

    fn add_to_log(
        &self,
        writer: &mut super::Writer<'_>,
        section: &Section,
        verb: &'static str,
        by: Actor,
        date: Date,
    ) -> Result<Committed, Error> {
        let place = Place::vault(layout::daily_log(date));
        let file = self.file(&place)?;
        // A read-only file can still be replaced, as every other note.
        let is_shut = std::fs::metadata(&file).is_ok_and(|metadata| metadata.permissions().readonly());
        let addition = if is_shut { None } else { self.logs.addition(&file, section)? };
        let Some((end, text)) = addition else {
            let read = self.read(&place)?;
            let text = read.as_ref().map_or_else(|| daily_log::render_new(date), |note| note.text.clone());
            let write = Write::put(place, read, daily_log::append(&text, section));
            return writer.commit(Draft::new(verb, by, vec![write]));
        };
        let before = end.identity;
        let write = Write::Append { place, end, text: text.clone() };
        let committed = writer.commit(Draft::new(verb, by, vec![write]))?;
        self.logs.grew(&file, &before, &text);
        Ok(committed)
    }

    /// The log of a day; `None` if there is none.
    pub fn daily_log(&self, date: Date) -> Result<Option<String>, Error> {
        Ok(self.read(&Place::vault(layout::daily_log(date)))?.map(|note| note.text))
    }
}

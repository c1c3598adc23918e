//! The daily logs: each section is added at the end, in the file's place, and nothing that is there is read twice by the
//! same process.
//!
//! What has to be known of a log to add to it (how it ends, which keys it has, its hash) is found by reading it piece by
//! piece, and then kept up with what is added. It holds as long as the file is the one that was written last: its number,
//! size and times tell. So a day of ten thousand sections costs no more memory, and no more for each, than one of ten.

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

/// How much of the end of a file is looked at for what stands before an addition.
const LEAD: u64 = 64;
/// Today's and yesterday's.
const KEPT: usize = 2;

/// The end of a file, as it was found.
#[derive(Clone, Debug)]
pub struct End {
    pub(super) identity: Identity,
    pub(super) hash: ContentHash,
    hashing: Hashing,
    /// Its last characters.
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

/// A log that was read.
#[derive(Clone, Debug)]
struct Known {
    file: PathBuf,
    identity: Identity,
    hashing: Hashing,
    tail: Tail,
}

/// What is known of the logs that were written or read last.
#[derive(Debug, Default)]
pub struct Logs(Mutex<Vec<Known>>);

/// How a log is, whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Its hash.
    pub hash: ContentHash,
    /// Its lines.
    pub lines: usize,
    /// Its bytes.
    pub size: u64,
}

impl Logs {
    /// Asks what is known of a file, reading it first if it is not what was read; `None` if there is none.
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

    /// What a file is now; `None` if there is none.
    pub fn whole(&self, file: &Path) -> Result<Option<Whole>, Error> {
        self.ask(file, |known| Whole {
            hash: known.hashing.so_far(),
            lines: known.tail.lines(),
            size: known.identity.size,
        })
    }

    /// Whether a section with this key is in a log (LOG-06).
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

    /// What has to be written to a log for it to have a section, and behind what; `None` if there is no log.
    fn addition(&self, file: &Path, section: &Section) -> Result<Option<(End, String)>, Error> {
        let known =
            self.ask(file, |known| (known.identity, known.hashing.clone(), known.tail.addition(section)))?;
        let Some((identity, hashing, text)) = known else { return Ok(None) };
        let lead = last_characters(file, identity.size).map_err(Error::io("read", file))?;
        Ok(Some((End { identity, hash: hashing.so_far(), hashing, lead }, text)))
    }

    /// Keeps up with what was added to a file. If anything else happened to it, it will be read again.
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

/// Reads a log from its beginning to its end.
fn read(file: &Path) -> Result<Known, Error> {
    let failed = |error| Error::io("read", file)(error);
    let mut open = File::open(file).map_err(failed)?;
    // Looked at before it is read: what is written meanwhile makes it another one.
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
    /// Adds a section to the log of its day (LOG-01). What is given has been admitted by whoever made the section.
    pub fn log(&self, section: &Section, by: Actor, now: &Zoned) -> Result<Committed, Error> {
        let mut writer = self.writer(now)?;
        self.add_to_log(&mut writer, section, "daily", by, now.date())
    }

    /// The same for a section with a key, unless that key is in the log of this day or of the day before already (LOG-06):
    /// a step that is run twice logs once. `None` if there was nothing to do.
    pub fn log_once(&self, section: &Section, by: Actor, now: &Zoned) -> Result<Option<Committed>, Error> {
        self.log_once_on(now.date(), section, by, now)
    }

    /// The same in the log of another day: what was said counts for the day on which it was said.
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

    /// Whether a section with this key is in the log of a day, after whoever was killed while they wrote it came to an end.
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
        // A file that may not be written to can still be replaced, as every other note is.
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

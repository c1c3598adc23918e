//! Index over the archive: the usual segments, searched by keyword only, and one small file that lists the
//! live ones.
//!
//! ```text
//! messages/index/CURRENT      the live segments, as JSON: replaced atomically
//! messages/index/000007.seg   documents of some sessions; never changed
//! messages/index/writer.lock  held by the writer
//! ```
//!
//! New messages become a segment of their own; small segments are merged when there are many. Everything is
//! derived: delete the folder and the next update rebuilds it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::provenance::Origin;
use rekindle_core::recall::document::{Document, DocumentSource, FileStamp, SourceUnit};
use serde::{Deserialize, Serialize};

use super::archive::{self, ArchiveFile, ArchivedMessage};
use crate::index::merge::SegmentMerge;
use crate::index::segment::IndexSegment;
use crate::index::segment_folder::SegmentFolder;
use crate::index::{Error, IndexSnapshot, PreparedDocument, PreparedUnit, words_segment};
use crate::platform::disk;
use crate::platform::mmap::MappedFile;

/// The version of `CURRENT`; the segments have their own.
const FORMAT_VERSION: u32 = 1;
/// The number of bytes per segment: building one takes a few times that in memory.
const SEGMENT_BYTES: usize = 4 * 1024 * 1024;
/// The estimated bytes of a message besides its text: ids, place and words.
const MESSAGE_OVERHEAD_BYTES: usize = 1024;
/// A segment with fewer documents is small.
const SMALL_SEGMENT_DOCUMENTS: u32 = 10_000;
/// The number of small segments before a merge.
const MAX_SMALL_SEGMENTS: usize = 8;
/// The most documents in one merge, so that memory use stays flat.
const MAX_MERGED_DOCUMENTS: u32 = 10_000;
/// The longest wait for another process that writes to the index.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// The extension of a segment.
const SEGMENT: &str = "seg";
/// The value of [`Document::kind`] for a message.
pub const MESSAGE_KIND: &str = "message";

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct MessageManifest {
    format: u32,
    /// The numbers of the live segments, in order of creation.
    segments: Vec<u64>,
}

/// The index in a folder.
pub(super) struct MessageIndex {
    /// The folder of the archive.
    pub(super) archive: PathBuf,
    folder: SegmentFolder,
}

/// The result of an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageIndexUpdate {
    /// The number of messages added.
    pub added: u64,
    /// The number of messages in the index.
    pub messages: u64,
}

impl MessageIndex {
    pub(super) fn for_archive(archive: &Path) -> Self {
        let folder = SegmentFolder::new(archive.join("index"), FORMAT_VERSION, &[SEGMENT]);
        Self { archive: archive.to_owned(), folder }
    }

    fn current(&self) -> Result<Option<MessageManifest>, Error> {
        self.folder.manifest()
    }

    fn segment(&self, number: u64) -> Result<IndexSegment, Error> {
        self.folder.segment(number, SEGMENT)
    }

    fn segments(&self, current: &MessageManifest) -> Result<Vec<IndexSegment>, Error> {
        current.segments.iter().map(|number| self.segment(*number)).collect()
    }

    /// Opens a snapshot of the index; `None` if nothing was ever added.
    pub(super) fn open(&self) -> Result<Option<IndexSnapshot>, Error> {
        self.folder.open(|current| Ok(IndexSnapshot::of_distinct(self.segments(current)?)))
    }

    /// The number of sessions that are not fully indexed.
    pub(super) fn unindexed_sessions(&self) -> Result<usize, Error> {
        let segments = self.segments(&self.current()?.unwrap_or_default())?;
        let known = indexed_positions(&segments);
        let is_behind =
            |one: &ArchiveFile| one.size > known.get(key(one).as_str()).map_or(0, |place| place.bytes);
        Ok(archive::find_sessions(&self.archive, is_behind).len())
    }

    /// Indexes new messages. A damaged index is rebuilt. `progress` receives the bytes of the archive read
    /// and their total.
    pub(super) fn update(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<MessageIndexUpdate, Error> {
        if !self.archive.exists() {
            return Ok(MessageIndexUpdate::default());
        }
        let _lock = self.lock()?;
        let mut current = self.usable()?;
        let segments = self.segments(&current)?;
        let mut known = indexed_positions(&segments);
        let (mut there, mut shrunk) = (0, false);
        let mut stored = archive::find_sessions(&self.archive, |one| {
            let place = known.get(key(one).as_str());
            there += usize::from(place.is_some());
            let bytes = place.map_or(0, |place| place.bytes);
            shrunk |= one.size < bytes;
            one.size > bytes
        });
        // Something that was indexed is gone: index the rest from the start.
        if shrunk || there < known.len() {
            current = MessageManifest { format: FORMAT_VERSION, segments: Vec::new() };
            known.clear();
            stored = archive::sessions(&self.archive);
        }
        let of: u64 = stored
            .iter()
            .map(|one| one.size - known.get(key(one).as_str()).map_or(0, |place| place.bytes))
            .sum();
        let (mut done, mut updated) = (0, MessageIndexUpdate::default());
        let mut batch = SegmentBatch::default();
        for one in stored {
            let from = known.get(key(&one).as_str()).copied().unwrap_or_default();
            if one.size <= from.bytes {
                continue;
            }
            let mut unit = SessionReader::new(&one, from);
            let mut failure = None;
            archive::each_line(&one.path, from.bytes, &mut |end, line| {
                batch.bytes += unit.line(end, line);
                if batch.bytes >= SEGMENT_BYTES {
                    updated.added += batch.add(unit.take_unit());
                    failure = failure.take().or(self.add(&mut current, &mut batch).err());
                    progress(done + end - from.bytes, of);
                }
            })
            .map_err(Error::io("read", &one.path))?;
            failure.map_or(Ok(()), Err)?;
            updated.added += batch.add(unit.take_unit());
            done += one.size - from.bytes;
            progress(done, of);
        }
        self.add(&mut current, &mut batch)?;
        drop(segments);
        self.merge(&mut current)?;
        self.sweep(&current, disk::remove)?;
        updated.messages =
            self.segments(&current)?.iter().map(|segment| u64::from(segment.documents())).sum();
        Ok(updated)
    }

    /// Rebuilds the index from the archive.
    pub(super) fn rebuild(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<MessageIndexUpdate, Error> {
        if self.folder.path().exists() {
            let _lock = self.lock()?;
            self.folder.publish(&MessageManifest { format: FORMAT_VERSION, segments: Vec::new() })?;
        }
        self.update(progress)
    }

    /// Erases documents (B-08): rewrites their segments without them and overwrites the old bytes.
    pub(super) fn erase(&self, gone: &dyn Fn(&Document) -> bool) -> Result<usize, Error> {
        if !self.folder.path().exists() {
            return Ok(0);
        }
        let _lock = self.lock()?;
        let mut current = self.usable()?;
        let mut count = 0;
        for place in 0..current.segments.len() {
            let segment = self.segment(current.segments[place])?;
            let found = documents(&segment).filter(|document| gone(document)).count();
            if found == 0 {
                continue;
            }
            count += found;
            let mut units = units(&segment);
            for unit in &mut units {
                unit.documents.retain(|prepared| !gone(&prepared.document));
            }
            current.segments[place] = self.write_units(units)?;
        }
        if count > 0 {
            self.folder.publish(&current)?;
        }
        // Retired segments may still hold the erased text.
        self.sweep(&current, disk::shred)?;
        Ok(count)
    }

    /// The files that hold a matching document, live or left over.
    pub(super) fn segments_with(&self, wanted: &dyn Fn(&Document) -> bool) -> Vec<PathBuf> {
        let holds = |path: &PathBuf| {
            let segment = MappedFile::open(path).ok().and_then(|bytes| IndexSegment::open(bytes).ok());
            segment.is_some_and(|segment| documents(&segment).any(|document| wanted(&document)))
        };
        self.folder.files().into_iter().filter(|path| is_segment(path)).filter(holds).collect()
    }

    fn lock(&self) -> Result<File, Error> {
        self.folder.lock("writer.lock", LOCK_TIMEOUT)
    }

    /// The live segments if all of them can be read; otherwise none.
    fn usable(&self) -> Result<MessageManifest, Error> {
        let empty = MessageManifest { format: FORMAT_VERSION, segments: Vec::new() };
        let current = match self.current() {
            Ok(current) => current.unwrap_or(empty.clone()),
            Err(Error::Damaged { .. }) => return Ok(empty),
            Err(error) => return Err(error),
        };
        // One at a time: the check reads all bytes, which need not be in memory at once.
        for number in &current.segments {
            match self.segment(*number) {
                Ok(segment) if segment.verify().is_ok() => {}
                Ok(_) | Err(Error::Damaged { .. }) => return Ok(empty),
                Err(Error::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => return Ok(empty),
                Err(error) => return Err(error),
            }
        }
        Ok(current)
    }

    fn write_units(&self, units: Vec<PreparedUnit>) -> Result<u64, Error> {
        let bytes = words_segment(units);
        self.folder.write(SEGMENT, &mut |file| file.write_all(&bytes))
    }

    /// Writes a segment from a batch and makes it live.
    fn add(&self, current: &mut MessageManifest, batch: &mut SegmentBatch) -> Result<(), Error> {
        let SegmentBatch { units, .. } = std::mem::take(batch);
        if units.is_empty() {
            return if current.segments.is_empty() { self.folder.publish(current) } else { Ok(()) };
        }
        current.segments.push(self.write_units(units)?);
        self.folder.publish(current)
    }

    /// Merges the smallest segments if there are many small ones.
    fn merge(&self, current: &mut MessageManifest) -> Result<(), Error> {
        loop {
            let mut small = Vec::new();
            for number in &current.segments {
                let documents = self.segment(*number)?.documents();
                small.extend((documents < SMALL_SEGMENT_DOCUMENTS).then_some((documents, *number)));
            }
            if small.len() <= MAX_SMALL_SEGMENTS {
                return Ok(());
            }
            small.sort_unstable();
            let mut room = MAX_MERGED_DOCUMENTS;
            let fits = |(documents, _): &&(u32, u64)| {
                let fits = *documents <= room;
                room = room.saturating_sub(*documents);
                fits
            };
            // At least two, however large, or the loop would not end.
            let count = small.iter().take_while(fits).count().max(2);
            let mut gone: Vec<u64> = small.iter().take(count).map(|(_, number)| *number).collect();
            gone.sort_unstable();
            let sources: Vec<IndexSegment> =
                gone.iter().map(|number| self.segment(*number)).collect::<Result<_, _>>()?;
            let merge = SegmentMerge::of_distinct(sources.iter().collect());
            let merged = self.folder.write(SEGMENT, &mut |file| merge.write(file))?;
            current.segments.retain(|number| !gone.contains(number));
            current.segments.push(merged);
            self.folder.publish(current)?;
        }
    }

    /// Removes retired segments and the leftovers of a crash.
    fn sweep(
        &self,
        current: &MessageManifest,
        remove: impl Fn(&Path) -> io::Result<()>,
    ) -> Result<(), Error> {
        let live = current.segments.iter().map(|number| self.folder.numbered_file(*number, SEGMENT));
        self.folder.sweep(&live.collect::<Vec<_>>(), remove)
    }
}

fn is_segment(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == SEGMENT)
}

fn documents(segment: &IndexSegment) -> impl Iterator<Item = Document> {
    (0..segment.documents()).filter_map(|number| segment.document(number))
}

fn units(segment: &IndexSegment) -> Vec<PreparedUnit> {
    let known = (0..segment.units()).filter_map(|unit| segment.unit(unit));
    known
        .map(|unit| PreparedUnit {
            documents: unit
                .documents
                .filter_map(|number| segment.document(number))
                .map(PreparedDocument::words_only)
                .collect(),
            unit: SourceUnit { path: unit.path.to_owned(), stamp: unit.stamp, documents: Vec::new() },
            behind: None,
        })
        .collect()
}

/// The indexed position of each session.
fn indexed_positions(segments: &[IndexSegment]) -> HashMap<&str, SessionPosition> {
    let mut known: HashMap<&str, SessionPosition> = HashMap::new();
    for unit in segments.iter().flat_map(|segment| (0..segment.units()).filter_map(|unit| segment.unit(unit)))
    {
        let (Some((key, _)), Some(stamp)) = (unit.path.rsplit_once('@'), unit.stamp) else { continue };
        let place = known.entry(key).or_default();
        if stamp.size > place.bytes {
            *place = SessionPosition { bytes: stamp.size, lines: u32::try_from(stamp.modified).unwrap_or(0) };
        }
    }
    known
}

fn key(stored: &ArchiveFile) -> String {
    format!("{}/{}", stored.agent, stored.session)
}

/// The position up to which a session is indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SessionPosition {
    bytes: u64,
    lines: u32,
}

/// The documents of a segment to be written.
#[derive(Default)]
struct SegmentBatch {
    units: Vec<PreparedUnit>,
    /// Its estimated size in bytes.
    bytes: usize,
}

impl SegmentBatch {
    fn add(&mut self, unit: PreparedUnit) -> u64 {
        let count = unit.documents.len() as u64;
        self.units.push(unit);
        count
    }
}

/// A session while it is read: its documents since the last cut.
struct SessionReader<'a> {
    stored: &'a ArchiveFile,
    start: u64,
    end: u64,
    lines: u32,
    documents: Vec<PreparedDocument>,
}

impl<'a> SessionReader<'a> {
    fn new(stored: &'a ArchiveFile, from: SessionPosition) -> Self {
        Self { stored, start: from.bytes, end: from.bytes, lines: from.lines, documents: Vec::new() }
    }

    /// Reads a line of the archive and returns its estimated size in bytes.
    fn line(&mut self, end: u64, line: &[u8]) -> usize {
        self.end = end;
        self.lines += 1;
        let Ok(kept) = serde_json::from_slice::<ArchivedMessage>(line) else { return 0 };
        if kept.text.trim().is_empty() {
            return 0;
        }
        let bytes = kept.text.len() + MESSAGE_OVERHEAD_BYTES;
        self.documents.push(PreparedDocument::words_only(document(self.stored, kept, self.lines)));
        bytes
    }

    /// Returns the documents since the last cut as a unit that records its end.
    fn take_unit(&mut self) -> PreparedUnit {
        // Padded, so that the parts of a session sort in order.
        let path = format!("{}@{:012}", key(self.stored), self.start);
        let hash = ContentHash::from_bytes([0; 32]);
        let stamp = Some(FileStamp { modified: i64::from(self.lines), size: self.end, hash });
        self.start = self.end;
        PreparedUnit {
            unit: SourceUnit { path, stamp, documents: Vec::new() },
            documents: std::mem::take(&mut self.documents),
            behind: None,
        }
    }
}

/// Converts a message to a document that recall can find: it is never reviewed (B-01).
fn document(stored: &ArchiveFile, kept: ArchivedMessage, line: u32) -> Document {
    Document {
        id: format!("{}#{}", key(stored), kept.id),
        lines: Some((line, line)),
        kind: MESSAGE_KIND.to_owned(),
        created: kept.at,
        project: kept.project,
        origin: match kept.role.origin() {
            Origin::User => Origin::User,
            Origin::Tool => Origin::Tool,
            Origin::Agent | Origin::Import => Origin::Agent,
        },
        reviewed: false,
        thread: Some(stored.session.clone()),
        ..Document::unannotated(DocumentSource::Message, format!("messages/{}.jsonl", key(stored)), kept.text)
    }
}

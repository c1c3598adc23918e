//! Erases documents from the index for good (B-08), without writing it anew.
//!
//! A large segment holds the memories of years, so a forgotten document is overwritten in place: its JSON, its
//! path, numbers, vectors and postings. Every other byte stays, and readers treat it like a replaced document
//! (see [`ERASED_SCOPE`]). The small segments of the delta are written anew.
//!
//! The edits of large segments are first written to `erasing`, which is removed last, so the next writer finishes
//! what was interrupted. They hold nothing of the forgotten text.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use rekindle_core::recall::document::{Document, FileStamp};
use rekindle_core::vault::erase::ErasureTarget;

use super::blank::{BlankedDocuments, UNKNOWN_STAMP};
use super::build::build;
use super::error::Error;
use super::frames;
use super::segment::IndexSegment;
use super::snapshot::IndexSnapshot;
use super::store::{APPEND_LOCK_TIMEOUT, CHECKPOINT_FILE, GenerationWriter, RecallIndex, join};
use crate::platform::disk::{self, FileEdit};

/// The file with the edits of an erasure in progress.
const ERASURE_FILE: &str = "erasing";
/// The number of units that are searched before the memory that they took is returned.
const UNITS_PER_BATCH: u32 = 8192;
/// The minimum number of units for a second thread.
const MIN_UNITS_PER_THREAD: u32 = 1000;

/// The documents to erase.
#[derive(Clone, Copy)]
pub struct ErasureScope<'a> {
    /// The files of which everything is erased.
    pub paths: &'a BTreeSet<String>,
    /// The text whose documents are erased in every file.
    pub target: &'a ErasureTarget,
    /// True if a file may differ from what was indexed: it is gone, or it was changed since. Only then a document that
    /// shares no more than a fragment with the text may come from it, such as one with a shortened title.
    pub is_changed: &'a (dyn Fn(&str, &FileStamp) -> bool + Sync),
}

/// Documents to erase, as numbers of their segment.
#[derive(Debug, Default)]
struct FoundDocuments {
    /// The units of which everything is erased, because of their path.
    units: BTreeSet<u32>,
    /// The documents that match, including all of these units.
    documents: BTreeSet<u32>,
}

impl ErasureScope<'_> {
    /// True if a document of a file is to be erased because of what it says.
    fn names(&self, document: &Document, is_changed: bool) -> bool {
        [&document.text, &document.title]
            .into_iter()
            .any(|text| self.target.matches_text(text) || (is_changed && self.target.matches_fragment(text)))
    }

    /// [`Self::names`] for a document as JSON.
    fn matches(&self, json: &[u8], is_changed: bool) -> bool {
        (is_changed || self.target.may_be_in(json))
            && serde_json::from_slice(json).is_ok_and(|document| self.names(&document, is_changed))
    }

    /// Searches a segment.
    fn find(&self, segment: &IndexSegment) -> FoundDocuments {
        let mut found = FoundDocuments::default();
        for (number, unit) in self.paths.iter().filter_map(|path| segment.unit_of(path)) {
            found.units.insert(number);
            found.documents.extend(unit.documents);
        }
        if self.target.is_empty() {
            return found;
        }
        let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        let share = segment.units().div_ceil(threads).max(MIN_UNITS_PER_THREAD);
        let starts = (0..segment.units()).step_by(share as usize);
        let shares: Vec<Range<u32>> =
            starts.map(|start| start..start.saturating_add(share).min(segment.units())).collect();
        let search = |units: Range<u32>| self.find_in(segment, units);
        std::thread::scope(|scope| {
            let others: Vec<_> =
                shares.iter().skip(1).map(|units| scope.spawn(|| search(units.clone()))).collect();
            found.documents.extend(shares.first().map(|units| search(units.clone())).unwrap_or_default());
            for other in others {
                found.documents.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
        });
        found
    }

    fn find_in(&self, segment: &IndexSegment, units: Range<u32>) -> Vec<u32> {
        let mut found = Vec::new();
        for batch in units.clone().step_by(UNITS_PER_BATCH as usize) {
            let batch = batch..batch.saturating_add(UNITS_PER_BATCH).min(units.end);
            let known: Vec<_> = batch.filter_map(|number| segment.unit(number)).collect();
            for unit in &known {
                let is_changed = unit.stamp.as_ref().is_some_and(|stamp| (self.is_changed)(unit.path, stamp));
                let is_ours = |number: &u32| {
                    segment.document_blob(*number).is_some_and(|json| self.matches(json, is_changed))
                };
                found.extend(unit.documents.clone().filter(is_ours));
            }
            if let (Some(first), Some(last)) = (known.first(), known.last()) {
                segment.release_documents(first.documents.start..last.documents.end);
            }
        }
        found
    }
}

impl FoundDocuments {
    fn is_empty(&self) -> bool {
        self.units.is_empty() && self.documents.is_empty()
    }
}

impl RecallIndex {
    /// Erases documents permanently (B-08). Returns the number of erased documents. Other documents keep their
    /// vectors; a file of which only some documents are erased is read again by the next refresh.
    pub fn erase(&self, scope: &ErasureScope<'_>) -> Result<usize, Error> {
        if !self.folder().exists() {
            return Ok(0);
        }
        let partial = self.folder().join(CHECKPOINT_FILE);
        disk::shred(&partial).map_err(Error::io("removed", &partial))?;
        let writer = self.writer(APPEND_LOCK_TIMEOUT)?;
        match self.open() {
            Ok(Some(snapshot)) => writer.erase(&snapshot, scope),
            Ok(None) if self.abandoned_files().is_empty() => Ok(0),
            // Left-over or damaged files may hold the documents, so everything is discarded.
            Ok(None) | Err(Error::Damaged { .. }) => writer.discard().map(|()| 0),
            Err(error) => Err(error),
        }
    }

    /// The files of the index, current or left over, that hold such documents.
    pub fn files_with(&self, scope: &ErasureScope<'_>) -> Vec<PathBuf> {
        let holds = |path: &PathBuf| {
            self.segments_of(path).iter().any(|segment| !scope.find(segment).documents.is_empty())
        };
        self.all_files().into_iter().filter(holds).collect()
    }
}

impl GenerationWriter<'_> {
    fn erase(&self, snapshot: &IndexSnapshot, scope: &ErasureScope<'_>) -> Result<usize, Error> {
        // Nothing is appended from here on, so the small segments stay as they are.
        let _appender = self.index.appender()?;
        self.sweep_for_good()?;
        let mut found: Vec<FoundDocuments> =
            snapshot.segments().iter().map(|segment| scope.find(segment)).collect();
        if found.iter().all(FoundDocuments::is_empty) {
            return Ok(0);
        }
        let whole = whole_files(snapshot, scope, &found);
        for (segment, found) in snapshot.segments().iter().zip(&mut found) {
            for (number, unit) in whole.iter().filter_map(|path| segment.unit_of(path)) {
                found.units.insert(number);
                found.documents.extend(unit.documents);
            }
        }
        let (large, small) = found.split_at(snapshot.layers.min(found.len()));
        let mut edits = Vec::new();
        for ((segment, found), number) in snapshot.segments().iter().zip(large).zip(self.index.layers()?) {
            if !found.is_empty() {
                let blanked = BlankedDocuments { segment, units: &found.units, documents: &found.documents };
                edits.push((number, blanked.edits()));
            }
        }
        if !edits.is_empty() {
            let path = self.index.folder().join(ERASURE_FILE);
            disk::write_atomic(&path, &frames::frame(&encode(&edits)))
                .map_err(Error::io("written", &path))?;
            self.index.finish_erasure()?;
        }
        if snapshot.is_torn() || !small.iter().all(FoundDocuments::is_empty) {
            self.rewrite_delta(snapshot, scope, &whole)?;
        }
        Ok(found.iter().map(|found| found.documents.len()).sum())
    }

    /// Writes the delta anew, as one small segment without the documents.
    fn rewrite_delta(
        &self,
        snapshot: &IndexSnapshot,
        scope: &ErasureScope<'_>,
        whole: &BTreeSet<String>,
    ) -> Result<(), Error> {
        let space = snapshot.space();
        let mut units = snapshot.units_since(snapshot.layers, &space);
        units.retain(|path, unit| {
            let is_changed = unit.unit.stamp.as_ref().is_some_and(|stamp| (scope.is_changed)(path, stamp));
            let before = unit.documents.len();
            unit.documents.retain(|prepared| !scope.names(&prepared.document, is_changed));
            // The file is read again: more may match than was necessary.
            if let Some(stamp) = unit.unit.stamp.as_mut().filter(|_| unit.documents.len() < before) {
                *stamp = UNKNOWN_STAMP;
            }
            !whole.contains(path)
        });
        let segment = build(&space, units.into_values().collect());
        let new = frames::frame(&join(snapshot.last_seen_change(), &segment));
        let path = self.index.delta(snapshot.generation);
        loop {
            let old = frames::read(&path).map_err(Error::io("read", &path))?;
            if disk::replace_shredding(&path, &old, &new).map_err(Error::io("written", &path))? {
                return Ok(());
            }
        }
    }
}

/// The files without any document left: they leave with their names and all their earlier versions.
fn whole_files(
    snapshot: &IndexSnapshot,
    scope: &ErasureScope<'_>,
    found: &[FoundDocuments],
) -> BTreeSet<String> {
    let mut whole = scope.paths.clone();
    for (segment, found_here) in snapshot.segments().iter().zip(found) {
        let touched =
            found_here.documents.iter().filter_map(|number| Some(segment.unit_with(*number)?.1.path));
        for path in touched {
            let is_erased = |number: u32| {
                let place = snapshot.place_of(number);
                place.and_then(|(at, local)| Some(found.get(at)?.documents.contains(&local))).unwrap_or(true)
            };
            // A file that is empty now may keep its name, but not one that is gone.
            let leaves = match snapshot.count_of(path) {
                0 => snapshot.stamp(path).is_none(),
                _ => snapshot.numbers_of(path).all(is_erased),
            };
            if leaves {
                whole.insert(path.to_owned());
            }
        }
    }
    whole
}

impl RecallIndex {
    /// Finishes an erasure that was interrupted. The caller must hold the lock for writing.
    pub(super) fn finish_erasure(&self) -> Result<(), Error> {
        let path = self.folder().join(ERASURE_FILE);
        let bytes = frames::read(&path).map_err(Error::io("read", &path))?;
        if bytes.is_empty() {
            return Ok(());
        }
        // A damaged file was not written by us; the forget itself is repeated anyway.
        let (found, _) = frames::frames(&bytes);
        for (number, edits) in
            found.first().and_then(|range| decode(&bytes[range.clone()])).unwrap_or_default()
        {
            let base = self.base(number);
            disk::overwrite(&base, &edits).map_err(Error::io("written", &base))?;
        }
        disk::remove(&path).map_err(Error::io("removed", &path))
    }
}

/// The edits of each large segment.
type SegmentEdits = Vec<(u64, Vec<FileEdit>)>;

/// Encodes edits: for each segment its number, the number of edits, and for each edit its offset, length and bytes.
fn encode(all: &SegmentEdits) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, edits) in all {
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.extend_from_slice(&(edits.len() as u64).to_le_bytes());
        for (offset, new) in edits {
            bytes.extend_from_slice(&offset.to_le_bytes());
            bytes.extend_from_slice(&(new.len() as u64).to_le_bytes());
            bytes.extend_from_slice(new);
        }
    }
    bytes
}

fn decode(mut bytes: &[u8]) -> Option<SegmentEdits> {
    let number = |bytes: &mut &[u8]| bytes.split_off(..8)?.try_into().ok().map(u64::from_le_bytes);
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let (segment, count) = (number(&mut bytes)?, number(&mut bytes)?);
        let edits = (0..count).map(|_| {
            let (offset, length) = (number(&mut bytes)?, number(&mut bytes)?);
            Some((offset, bytes.split_off(..usize::try_from(length).ok()?)?.to_vec()))
        });
        all.push((segment, edits.collect::<Option<Vec<FileEdit>>>()?));
    }
    Some(all)
}

#[cfg(test)]
mod tests;

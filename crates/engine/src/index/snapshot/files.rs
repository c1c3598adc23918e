//! Reads a snapshot file by file, for the writer of the next generation.

use std::collections::BTreeMap;
use std::ops::Range;

use rekindle_core::recall::document::{FileStamp, SourceUnit};

use super::IndexSnapshot;
use crate::index::build::{PreparedDocument, PreparedUnit};
use crate::index::embedding::WindowSelection;
use crate::index::format::{VectorSpace, WindowKind};
use crate::index::merge::{MergedUnit, SegmentMerge};
use crate::index::segment::{IndexSegment, StoredWindow};

impl IndexSnapshot {
    /// The state of the file at a path when it was read.
    pub fn stamp(&self, path: &str) -> Option<FileStamp> {
        self.segments.iter().rev().find_map(|segment| segment.unit_of(path)).and_then(|(_, unit)| unit.stamp)
    }

    /// The stamp of every file in the index. Deleted files are left out.
    pub fn stamps(&self) -> BTreeMap<&str, FileStamp> {
        let mut stamps = BTreeMap::new();
        for segment in &self.segments {
            for unit in (0..segment.units()).filter_map(|unit| segment.unit(unit)) {
                match unit.stamp {
                    Some(stamp) => stamps.insert(unit.path, stamp),
                    None => stamps.remove(unit.path),
                };
            }
        }
        stamps
    }

    /// The numbers of a file's documents, in order.
    pub(in crate::index) fn numbers_of(&self, path: &str) -> impl DoubleEndedIterator<Item = u32> {
        let ranges: Vec<Range<u32>> = self
            .segments
            .iter()
            .zip(&self.first)
            .filter_map(|(segment, first)| Some((first, segment.unit_of(path)?.1.documents)))
            .map(|(first, documents)| first + documents.start..first + documents.end)
            .collect();
        ranges.into_iter().flatten().filter(|number| !self.is_replaced(*number))
    }

    pub(super) fn is_replaced(&self, number: u32) -> bool {
        self.replaced.get(number as usize).copied().unwrap_or(true)
    }

    /// The number of documents of a file.
    pub fn count_of(&self, path: &str) -> usize {
        self.numbers_of(path).count()
    }

    /// The last documents of a file that belong to this thread, at most `most`; `None` if there are more.
    pub fn last_of_thread(
        &self,
        path: &str,
        thread: Option<&str>,
        most: usize,
    ) -> Option<Vec<PreparedDocument>> {
        let mut last = Vec::new();
        for number in self.numbers_of(path).rev() {
            let (segment, local) = self.locate(number)?;
            let one = prepared(segment, local)?;
            if thread.is_none() || one.document.thread.as_deref() != thread {
                break;
            }
            if last.len() == most {
                return None;
            }
            last.push(one);
        }
        last.reverse();
        Some(last)
    }

    /// A file with its documents and their vectors.
    pub fn unit(&self, path: &str) -> Option<PreparedUnit> {
        let newest = self.segments.iter().rev().find_map(|segment| segment.unit_of(path))?.1;
        let documents = self.numbers_of(path).filter_map(|number| {
            let (segment, local) = self.locate(number)?;
            prepared(segment, local)
        });
        let documents = documents.collect();
        let unit = SourceUnit { path: newest.path.to_owned(), stamp: newest.stamp, documents: Vec::new() };
        Some(PreparedUnit { unit, documents, behind: None })
    }

    /// The paths after `after` of files with windows that have no vector, in order, with at most about `most`
    /// documents.
    pub fn paths_without_vectors(
        &self,
        after: Option<&str>,
        selection: WindowSelection,
        most: usize,
    ) -> Vec<String> {
        let kinds: &[WindowKind] = match selection {
            WindowSelection::Whole => &[WindowKind::Whole],
            WindowSelection::All => &[WindowKind::Whole, WindowKind::Fine],
        };
        let is_pending = |number: u32| {
            self.locate(number).is_some_and(|(segment, local)| {
                kinds.iter().any(|kind| segment.written_windows(local, *kind).pending() > 0)
            })
        };
        let (mut paths, mut documents) = (Vec::new(), 0);
        for path in self.stamps().into_keys().skip_while(|path| after.is_some_and(|after| *path <= after)) {
            if documents >= most {
                break;
            }
            if self.numbers_of(path).any(is_pending) {
                documents += self.count_of(path);
                paths.push(path.to_owned());
            }
        }
        paths
    }

    /// The documents of a file in the delta.
    pub fn small_segment_unit(&self, path: &str) -> Option<PreparedUnit> {
        let from = self.first.get(self.layers).copied()?;
        let documents: Vec<PreparedDocument> = self
            .numbers_of(path)
            .filter(|number| *number >= from)
            .filter_map(|number| self.locate(number).and_then(|(segment, local)| prepared(segment, local)))
            .collect();
        let unit = SourceUnit { path: path.to_owned(), stamp: None, documents: Vec::new() };
        Some(PreparedUnit { unit, documents, behind: None })
    }

    /// All files by path. Vectors of another model are dropped.
    pub fn all_units(&self, space: &VectorSpace) -> BTreeMap<String, PreparedUnit> {
        let mut all = self.units_since(0, space);
        all.retain(|_, unit| unit.unit.stamp.is_some());
        all
    }

    /// The merged units of the segments from this one on, by path.
    pub(in crate::index) fn units_since(
        &self,
        place: usize,
        space: &VectorSpace,
    ) -> BTreeMap<String, PreparedUnit> {
        let mut all: BTreeMap<String, PreparedUnit> = BTreeMap::new();
        for (segment, first) in self.segments.iter().zip(&self.first).skip(place) {
            let keep_vectors = segment.space() == *space;
            for known in (0..segment.units()).filter_map(|unit| segment.unit(unit)) {
                let documents = known.documents.clone().filter_map(|local| {
                    if self.is_replaced(first + local) {
                        return None;
                    }
                    match keep_vectors {
                        true => prepared(segment, local),
                        false => segment.document(local).map(PreparedDocument::new),
                    }
                });
                match (all.get_mut(known.path), known.behind) {
                    (Some(older), Some(behind)) => {
                        older.documents.extend(documents);
                        older.unit.stamp = known.stamp;
                        older.behind = older.behind.map(|before| before.min(behind));
                    }
                    (_, behind) => {
                        let documents = documents.collect();
                        let path = known.path.to_owned();
                        let unit =
                            SourceUnit { path: path.clone(), stamp: known.stamp, documents: Vec::new() };
                        // The first segment has no older one.
                        let behind = behind.filter(|_| place > 0);
                        all.insert(path, PreparedUnit { unit, documents, behind });
                    }
                }
            }
        }
        all
    }

    /// The merge of the segments from this one on, without reading them into memory. Vectors of another space are
    /// dropped, so that the windows have to be embedded again.
    pub(in crate::index) fn merge_since(&self, place: usize, space: &VectorSpace) -> SegmentMerge<'_> {
        let segments: Vec<&IndexSegment> = self.segments.iter().skip(place).collect();
        let mut all: BTreeMap<&str, MergedUnit<'_>> = BTreeMap::new();
        for (at, (segment, first)) in segments.iter().zip(self.first.iter().skip(place)).enumerate() {
            for known in (0..segment.units()).filter_map(|unit| segment.unit(unit)) {
                let runs = self.live_ranges(*first, known.documents).map(|run| (at, run));
                match (all.get_mut(known.path), known.behind) {
                    (Some(older), Some(behind)) => {
                        older.runs.extend(runs);
                        older.stamp = known.stamp;
                        older.behind = older.behind.map(|before| before.min(behind));
                    }
                    (_, behind) => {
                        let behind = behind.filter(|_| place > 0);
                        let (path, stamp, runs) = (known.path, known.stamp, runs.collect());
                        all.insert(path, MergedUnit { path, stamp, behind, runs });
                    }
                }
            }
        }
        if place == 0 {
            all.retain(|_, unit| unit.stamp.is_some());
        }
        SegmentMerge::new(segments, all.into_values().collect(), space.clone())
    }

    /// The ranges of a segment's documents that no later segment replaces.
    fn live_ranges(&self, first: u32, documents: Range<u32>) -> impl Iterator<Item = Range<u32>> {
        let mut left = documents;
        std::iter::from_fn(move || {
            let start = left.find(|local| !self.is_replaced(first + local))?;
            let end = left.find(|local| self.is_replaced(first + local)).unwrap_or(left.end);
            Some(start..end)
        })
    }
}

fn prepared(segment: &IndexSegment, local: u32) -> Option<PreparedDocument> {
    let embedded = |stored: StoredWindow<'_>| (stored.window, stored.vector());
    let windows = segment.windows_of(local).map(embedded).collect();
    let fine = segment.fine_of(local).map(embedded).collect();
    Some(PreparedDocument::with(segment.document(local)?, windows, fine))
}

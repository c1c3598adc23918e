//! The index as one reader sees it: the segments of one generation, the newest last, and which of their documents were
//! replaced since. A reader waits for nobody and writes nothing.

mod files;
mod rescore;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use rekindle_core::base::id::ChangeId;
use rekindle_core::base::scope::is_shown;
use rekindle_core::recall::collection::{DocumentColumns, TermPostings};
use rekindle_core::recall::document::Document;
use rekindle_core::recall::term_counts::TermCount;
use rekindle_core::recall::windows::TextWindow;
use rekindle_embed::QuantisedVector;

use super::build::{PreparedUnit, VectorSpace, build};
use super::scan::scan;
use super::segment::{DocumentInfo, IndexSegment, StoredWindow};

/// One generation, as it was when it was opened.
#[derive(Debug)]
pub struct IndexSnapshot {
    pub(super) generation: u64,
    /// How many of the segments are files of their own; the rest is the delta.
    pub(super) layers: usize,
    /// Bytes of the delta that this snapshot knows.
    pub(super) delta_bytes: usize,
    pub(super) seen: Option<ChangeId>,
    /// Whether the delta ends in something that is no whole frame.
    pub(super) torn: bool,
    segments: Vec<IndexSegment>,
    /// The first number of each segment's documents.
    first: Vec<u32>,
    /// For each document, whether a later segment holds its file.
    replaced: Vec<bool>,
}

/// Where a term stands.
pub(crate) struct TermRanges<'a> {
    snapshot: &'a IndexSnapshot,
    /// In each segment.
    ranges: Vec<Range<usize>>,
}

impl TermRanges<'_> {
    /// How often it stands in a document; `None` if it does not.
    pub(crate) fn count_in(&self, number: u32) -> Option<TermCount> {
        let place = self.snapshot.first.partition_point(|first| *first <= number).checked_sub(1)?;
        let segment = self.snapshot.segments.get(place)?;
        segment.count_in(self.ranges.get(place)?, number - self.snapshot.first[place])
    }
}

/// The documents of one project.
#[derive(Debug)]
pub struct ProjectMembers(Vec<bool>);

impl ProjectMembers {
    /// Whether a document is one of them.
    pub fn contains(&self, document: u32) -> bool {
        self.0.get(document as usize).copied().unwrap_or(false)
    }
}

/// How much of the index is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexSize {
    /// Documents that can be found.
    pub documents: usize,
    /// Windows of text.
    pub windows: usize,
    /// Windows without a vector.
    pub pending: usize,
    /// Bytes on disk.
    pub bytes: usize,
    /// Small segments that wait to be folded in.
    pub segments: usize,
    /// Bytes of those.
    pub delta: usize,
}

impl IndexSnapshot {
    pub(super) fn new(
        generation: u64,
        layers: usize,
        segments: Vec<IndexSegment>,
        seen: Option<ChangeId>,
        delta_bytes: usize,
        torn: bool,
    ) -> Self {
        let first = first_numbers(&segments);
        let replaced = replaced(&segments, &first);
        Self { generation, layers, delta_bytes, seen, torn, segments, first, replaced }
    }

    /// Segments none of whose units takes the place of another's.
    pub(crate) fn of_distinct(segments: Vec<IndexSegment>) -> Self {
        let first = first_numbers(&segments);
        let replaced = vec![false; segments.iter().map(|segment| segment.documents() as usize).sum()];
        let layers = segments.len();
        Self { generation: 0, layers, delta_bytes: 0, seen: None, torn: false, segments, first, replaced }
    }

    /// What is known about a document without reading it.
    pub(crate) fn about(&self, number: u32) -> Option<DocumentInfo<'_>> {
        let (segment, local) = self.locate(number)?;
        segment.about(local)
    }

    /// In how many documents a term stands, replaced ones too.
    pub(crate) fn frequency(&self, term: u64) -> usize {
        self.segments.iter().map(|segment| segment.frequency(term)).sum()
    }

    /// Where a term stands, in all segments, one by one.
    pub(crate) fn each_posting(&self, term: u64, mut each: impl FnMut(u32, TermCount)) {
        for (segment, first) in self.segments.iter().zip(&self.first) {
            let inside = segment.postings(term).filter(|(document, _)| *document < segment.documents());
            inside.for_each(|(document, count)| each(first + document, count));
        }
    }

    /// A term, to be looked for in single documents.
    pub(crate) fn term(&self, term: u64) -> TermRanges<'_> {
        let range = |segment: &IndexSegment| segment.postings_of(term).unwrap_or_default();
        TermRanges { snapshot: self, ranges: self.segments.iter().map(range).collect() }
    }

    /// How many terms a document has on average.
    pub(crate) fn mean_length(&self) -> f32 {
        let all: u64 = self.segments.iter().map(IndexSegment::length).sum();
        all as f32 / (self.replaced.len() as f32).max(1.0)
    }

    /// Units that are in no index, without vectors.
    pub fn in_memory(units: Vec<PreparedUnit>) -> Self {
        let space = VectorSpace { model: String::new(), dimension: 0 };
        let segments = IndexSegment::open(build(&space, units).into()).into_iter().collect();
        Self::new(0, 1, segments, None, 0, false)
    }

    /// The last change of the vault that it knows of.
    pub fn seen(&self) -> Option<&ChangeId> {
        self.seen.as_ref()
    }

    /// Whether the last append was cut off. What it held comes with the next [`super::DeltaAppender::append`].
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    /// How many documents there are, replaced ones too.
    pub fn len(&self) -> u32 {
        self.replaced.len() as u32
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.replaced.is_empty()
    }

    /// How much is there.
    pub fn size(&self) -> IndexSize {
        IndexSize {
            documents: self.replaced.iter().filter(|replaced| !**replaced).count(),
            windows: self.segments.iter().map(|segment| (segment.windows() + segment.fine()) as usize).sum(),
            pending: self.segments.iter().map(|segment| segment.pending() as usize).sum(),
            bytes: self.segments.iter().map(IndexSegment::size).sum(),
            segments: self.segments.len().saturating_sub(self.layers),
            delta: self.delta_bytes,
        }
    }

    /// Whether all vectors were made by this model.
    pub fn is_of(&self, space: &VectorSpace) -> bool {
        self.segments.iter().all(|segment| segment.windows() == 0 || segment.space() == *space)
    }

    /// The vectors of its large segment.
    pub fn space(&self) -> VectorSpace {
        self.segments
            .first()
            .map_or_else(|| VectorSpace { model: String::new(), dimension: 0 }, IndexSegment::space)
    }

    /// Reads every byte and says what is damaged.
    pub fn verify(&self) -> Result<(), super::format::SegmentDamage> {
        self.segments.iter().try_for_each(IndexSegment::verify)
    }

    /// Which documents belong to a project.
    pub fn project_members(&self, project: Option<&str>) -> ProjectMembers {
        let Some(project) = project else { return ProjectMembers(Vec::new()) };
        let mut members = Vec::with_capacity(self.replaced.len());
        for segment in &self.segments {
            let names = segment.projects();
            let ours: Vec<bool> = names.iter().map(|name| is_shown(Some(name), Some(project))).collect();
            let count = segment.documents() as usize;
            let is_ours = |scope: u32| ours.get((scope as usize).wrapping_sub(1)).copied().unwrap_or(false);
            members.extend(segment.scopes().take(count).map(is_ours));
        }
        ProjectMembers(members)
    }

    fn locate(&self, number: u32) -> Option<(&IndexSegment, u32)> {
        let place = self.first.partition_point(|first| *first <= number).checked_sub(1)?;
        Some((self.segments.get(place)?, number - self.first[place]))
    }

    /// What ranking reads of every document. What may be seen depends on the project: `sees` is asked for each
    /// project's name, and for `None`, which is everywhere.
    pub fn columns(&self, sees: impl Fn(Option<&str>) -> bool) -> DocumentColumns {
        let mut columns = DocumentColumns::default();
        let everywhere = sees(None);
        let mut threads = 0;
        for (segment, first) in self.segments.iter().zip(&self.first) {
            let count = segment.documents() as usize;
            columns.words.extend(segment.words().take(count));
            columns.lengths.extend(segment.lengths().take(count));
            // Threads are numbered from one in each segment.
            columns.threads.extend(segment.threads().take(count).map(|thread| threads + thread));
            threads = columns.threads.last().copied().unwrap_or(threads);
            columns.created.extend(segment.created().take(count));
            columns.flags.extend(segment.flags().take(count));
            let sees: Vec<bool> = segment.projects().into_iter().map(|project| sees(Some(project))).collect();
            let visible = segment.scopes().take(count).map(|scope| match scope {
                0 => everywhere,
                scope => sees.get(scope as usize - 1).copied().unwrap_or(false),
            });
            columns.visible.extend(visible);
            debug_assert_eq!(*first as usize + count, columns.visible.len());
        }
        for (visible, replaced) in columns.visible.iter_mut().zip(&self.replaced) {
            *visible &= !replaced;
        }
        columns
    }

    /// Where a term stands, in all segments.
    pub fn postings(&self, term: u64) -> TermPostings {
        let mut postings = Vec::with_capacity(self.frequency(term));
        self.each_posting(term, |document, count| postings.push((document, count)));
        postings
    }

    /// Brings into memory what [`IndexSnapshot::cosines`] reads.
    pub fn will_scan(&self) {
        self.segments.iter().for_each(IndexSegment::will_scan);
    }

    /// How close the best window of each document is to the query. Documents without a vector have [`f32::NEG_INFINITY`].
    pub fn cosines(&self, query: &QuantisedVector) -> Vec<f32> {
        let mut cosines = vec![f32::NEG_INFINITY; self.replaced.len()];
        let mut rest = cosines.as_mut_slice();
        for segment in &self.segments {
            let (own, others) = rest.split_at_mut(segment.documents() as usize);
            rest = others;
            scan(segment, query, own);
        }
        cosines
    }

    /// The part of a document that is closest to the query, and its vector.
    pub fn best_window(&self, number: u32, query: &QuantisedVector) -> Option<(TextWindow, QuantisedVector)> {
        let (segment, local) = self.locate(number).filter(|(segment, _)| segment.is_as_wide(query))?;
        let closest = |stored: &mut dyn Iterator<Item = StoredWindow<'_>>| {
            let with =
                stored.filter_map(|stored| Some((stored.cosine(query)?, stored.window, stored.vector()?)));
            with.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, window, vector)| (window, vector))
        };
        closest(&mut segment.fine_of(local)).or_else(|| closest(&mut segment.windows_of(local)))
    }

    /// The vector of a document that is one window as a whole.
    pub fn vector(&self, number: u32) -> Option<QuantisedVector> {
        let (segment, local) = self.locate(number)?;
        let mut windows = segment.windows_of(local);
        let first = windows.next()?.vector();
        if windows.next().is_none() { first } else { None }
    }

    /// The window of a document that is closest to the query: enough of it to be read by itself.
    pub fn best_passage(&self, number: u32, query: &QuantisedVector) -> Option<TextWindow> {
        let (segment, local) = self.locate(number).filter(|(segment, _)| segment.is_as_wide(query))?;
        let with =
            segment.windows_of(local).filter_map(|stored| Some((stored.cosine(query)?, stored.window)));
        with.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, window)| window)
    }

    /// A document, by number.
    pub fn document(&self, number: u32) -> Option<Document> {
        let (segment, local) = self.locate(number)?;
        segment.document(local)
    }

    /// The documents of each segment that is a file of its own, replaced ones too, and of the delta.
    pub(super) fn layer_sizes(&self) -> (Vec<usize>, usize) {
        let mut sizes: Vec<usize> =
            self.segments.iter().map(|segment| segment.documents() as usize).collect();
        let delta = sizes.split_off(self.layers.min(sizes.len())).into_iter().sum();
        (sizes, delta)
    }

    /// What a reader pays for the layers above the first: units that have to be looked up, documents that are read in vain.
    pub(super) fn burden(&self) -> (usize, usize) {
        let units = self.segments.iter().skip(1).map(|segment| segment.units() as usize).sum();
        (units, self.replaced.iter().filter(|replaced| **replaced).count())
    }
}

fn first_numbers(segments: &[IndexSegment]) -> Vec<u32> {
    let mut total = 0;
    let first = segments.iter().map(|segment| {
        let first = total;
        total += segment.documents();
        first
    });
    first.collect()
}

/// For each document, whether a later segment holds something else in its place.
fn replaced(segments: &[IndexSegment], first: &[u32]) -> Vec<bool> {
    let mut replaced = vec![false; segments.iter().map(|segment| segment.documents() as usize).sum()];
    let Some((oldest, newer)) = segments.split_first() else { return replaced };
    // The newer segments are small, the oldest is not: only what they hold is looked up in it.
    let mut live: HashMap<&str, Vec<Range<u32>>> = HashMap::new();
    for (segment, first) in newer.iter().zip(first.iter().skip(1)) {
        for unit in (0..segment.units()).filter_map(|unit| segment.unit(unit)) {
            let live = live.entry(unit.path).or_insert_with(|| {
                oldest.unit_of(unit.path).map(|(_, unit)| unit.documents).into_iter().collect()
            });
            let mut kept = unit.behind.unwrap_or(0);
            for range in &mut *live {
                let end = range.start + kept.min(range.len() as u32);
                kept -= end - range.start;
                let gone = replaced.get_mut(end as usize..range.end as usize);
                gone.into_iter().flatten().for_each(|replaced| *replaced = true);
                range.end = end;
            }
            live.retain(|range| !range.is_empty());
            live.push(first + unit.documents.start..first + unit.documents.end);
        }
    }
    replaced
}

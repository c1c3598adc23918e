//! A snapshot: the index as one reader sees it, with the segments of one generation, newest last, and the
//! documents that later segments replace. A reader never waits and never writes.

mod files;
mod rescore;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use rekindle_core::base::id::ChangeId;
use rekindle_core::base::scope::is_project_visible_in;
use rekindle_core::recall::collection::{DocumentColumns, TermPostings};
use rekindle_core::recall::document::Document;
use rekindle_core::recall::term_counts::TermCount;
use rekindle_core::recall::windows::{TextWindow, WindowSimilarity};
use rekindle_embed::QuantisedVector;

use super::build::{PreparedUnit, build};
use super::format::{ERASED_SCOPE, VectorSpace};
use super::scan::scan;
use super::segment::{DocumentInfo, IndexSegment, StoredWindow};

/// One generation, as of its opening.
#[derive(Debug)]
pub struct IndexSnapshot {
    pub(super) generation: u64,
    /// The number of segments with their own files; the rest is the delta.
    pub(super) layers: usize,
    /// The size in bytes of the delta in this snapshot.
    pub(super) delta_bytes: usize,
    pub(super) last_seen: Option<ChangeId>,
    /// True if the delta ends in an incomplete frame.
    pub(super) torn: bool,
    segments: Vec<IndexSegment>,
    /// The first document number of each segment.
    first: Vec<u32>,
    /// For each document, true if a later segment replaces it.
    replaced: Vec<bool>,
}

/// The postings of a term, for lookups by document.
pub(crate) struct TermRanges<'a> {
    snapshot: &'a IndexSnapshot,
    /// The range of the term's postings in each segment.
    ranges: Vec<Range<usize>>,
}

impl TermRanges<'_> {
    /// The counts of the term in a document; `None` if the document does not contain it.
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
    /// True if a document belongs to the project.
    pub fn contains(&self, document: u32) -> bool {
        self.0.get(document as usize).copied().unwrap_or(false)
    }
}

/// The size of the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexSize {
    /// The number of documents that search can find.
    pub documents: usize,
    /// The number of windows.
    pub windows: usize,
    /// The number of windows without a vector.
    pub pending: usize,
    /// The size on disk in bytes.
    pub bytes: usize,
    /// The number of small segments in the delta.
    pub segments: usize,
    /// The size of the delta in bytes.
    pub delta: usize,
}

impl IndexSnapshot {
    pub(super) fn new(
        generation: u64,
        layers: usize,
        segments: Vec<IndexSegment>,
        last_seen: Option<ChangeId>,
        delta_bytes: usize,
        torn: bool,
    ) -> Self {
        let first = first_numbers(&segments);
        let replaced = replaced(&segments, &first);
        Self { generation, layers, delta_bytes, last_seen, torn, segments, first, replaced }
    }

    /// A snapshot of segments that have no unit in common.
    pub(crate) fn of_distinct(segments: Vec<IndexSegment>) -> Self {
        let first = first_numbers(&segments);
        let replaced = vec![false; segments.iter().map(|segment| segment.documents() as usize).sum()];
        let layers = segments.len();
        Self {
            generation: 0,
            layers,
            delta_bytes: 0,
            last_seen: None,
            torn: false,
            segments,
            first,
            replaced,
        }
    }

    /// The properties of a document that are available without parsing it.
    pub(crate) fn document_info(&self, number: u32) -> Option<DocumentInfo<'_>> {
        let (segment, local) = self.locate(number)?;
        segment.document_info(local)
    }

    /// The number of documents that contain a term, including replaced ones.
    pub(crate) fn frequency(&self, term: u64) -> usize {
        self.segments.iter().map(|segment| segment.frequency(term)).sum()
    }

    /// Iterates over the postings of a term in all segments.
    pub(crate) fn each_posting(&self, term: u64, mut each: impl FnMut(u32, TermCount)) {
        for (segment, first) in self.segments.iter().zip(&self.first) {
            let inside = segment.postings(term).filter(|(document, _)| *document < segment.documents());
            inside.for_each(|(document, count)| each(first + document, count));
        }
    }

    /// Looks up a term, for its counts in single documents.
    pub(crate) fn term(&self, term: u64) -> TermRanges<'_> {
        let range = |segment: &IndexSegment| segment.postings_of(term).unwrap_or_default();
        TermRanges { snapshot: self, ranges: self.segments.iter().map(range).collect() }
    }

    /// The average number of terms per document.
    pub(crate) fn mean_length(&self) -> f32 {
        let all: u64 = self.segments.iter().map(IndexSegment::total_terms).sum();
        all as f32 / (self.replaced.len() as f32).max(1.0)
    }

    /// A snapshot of units outside of any index, without vectors.
    pub fn in_memory(units: Vec<PreparedUnit>) -> Self {
        let space = VectorSpace::none();
        let segments = IndexSegment::open(build(&space, units).into()).into_iter().collect();
        Self::new(0, 1, segments, None, 0, false)
    }

    /// The last change of the vault that it includes.
    pub fn last_seen_change(&self) -> Option<&ChangeId> {
        self.last_seen.as_ref()
    }

    /// True if the last append was torn. The next [`super::DeltaAppender::append`] includes its content.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    /// The number of documents, including replaced ones.
    pub fn len(&self) -> u32 {
        self.replaced.len() as u32
    }

    /// True if there are no documents.
    pub fn is_empty(&self) -> bool {
        self.replaced.is_empty()
    }

    /// Computes the size of the index.
    pub fn size(&self) -> IndexSize {
        IndexSize {
            documents: self.replaced.iter().filter(|replaced| !**replaced).count(),
            windows: self
                .segments
                .iter()
                .map(|segment| (segment.windows() + segment.fine_windows()) as usize)
                .sum(),
            pending: self.segments.iter().map(|segment| segment.pending() as usize).sum(),
            bytes: self.segments.iter().map(IndexSegment::size).sum(),
            segments: self.segments.len().saturating_sub(self.layers),
            delta: self.delta_bytes,
        }
    }

    /// True if all vectors belong to this space.
    pub fn is_from_model(&self, space: &VectorSpace) -> bool {
        self.segments.iter().all(|segment| segment.windows() == 0 || segment.space() == *space)
    }

    /// The vector space of its first segment.
    pub fn space(&self) -> VectorSpace {
        self.segments.first().map_or_else(VectorSpace::none, IndexSegment::space)
    }

    /// Verifies the checksums of all segments.
    pub fn verify(&self) -> Result<(), super::format::SegmentDamage> {
        self.segments.iter().try_for_each(IndexSegment::verify)
    }

    /// The documents that belong to a project.
    pub fn project_members(&self, project: Option<&str>) -> ProjectMembers {
        let Some(project) = project else { return ProjectMembers(Vec::new()) };
        let mut members = Vec::with_capacity(self.replaced.len());
        for segment in &self.segments {
            let names = segment.projects();
            let ours: Vec<bool> =
                names.iter().map(|name| is_project_visible_in(Some(name), Some(project))).collect();
            let count = segment.documents() as usize;
            let is_ours = |scope: u32| ours.get((scope as usize).wrapping_sub(1)).copied().unwrap_or(false);
            members.extend(segment.scopes().take(count).map(is_ours));
        }
        ProjectMembers(members)
    }

    /// Its segments, oldest first.
    pub(super) fn segments(&self) -> &[IndexSegment] {
        &self.segments
    }

    pub(super) fn into_segments(self) -> Vec<IndexSegment> {
        self.segments
    }

    /// The segment of a document, and its number there.
    pub(super) fn place_of(&self, number: u32) -> Option<(usize, u32)> {
        let place = self.first.partition_point(|first| *first <= number).checked_sub(1)?;
        Some((place, number - self.first.get(place)?))
    }

    fn locate(&self, number: u32) -> Option<(&IndexSegment, u32)> {
        let place = self.first.partition_point(|first| *first <= number).checked_sub(1)?;
        Some((self.segments.get(place)?, number - self.first[place]))
    }

    /// The columns of all documents for ranking. `sees` decides which documents are visible: it takes a
    /// project's name, or `None` for every project.
    pub fn columns(&self, sees: impl Fn(Option<&str>) -> bool) -> DocumentColumns {
        let mut columns = DocumentColumns::default();
        let everywhere = sees(None);
        let mut threads = 0;
        for (segment, first) in self.segments.iter().zip(&self.first) {
            let count = segment.documents() as usize;
            columns.words.extend(segment.word_counts().take(count));
            columns.lengths.extend(segment.lengths().take(count));
            // Thread numbers start from one in each segment.
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

    /// The postings of a term in all segments.
    pub fn postings(&self, term: u64) -> TermPostings {
        let mut postings = Vec::with_capacity(self.frequency(term));
        self.each_posting(term, |document, count| postings.push((document, count)));
        postings
    }

    /// Advises the system to load the vectors that [`IndexSnapshot::cosines`] reads.
    pub fn prefetch_vectors(&self) {
        self.segments.iter().for_each(IndexSegment::prefetch_vectors);
    }

    /// The highest cosine of each document's windows with the query; [`f32::NEG_INFINITY`] for a document
    /// without vectors.
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

    /// The window of a document, of either kind, with the highest cosine with the query, and its vector.
    pub fn best_window(&self, number: u32, query: &QuantisedVector) -> Option<(TextWindow, QuantisedVector)> {
        let (segment, local) = self.locate(number).filter(|(segment, _)| segment.has_dimension_of(query))?;
        let closest = |stored: &mut dyn Iterator<Item = StoredWindow<'_>>| {
            let with =
                stored.filter_map(|stored| Some((stored.cosine(query)?, stored.window, stored.vector()?)));
            with.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, window, vector)| (window, vector))
        };
        closest(&mut segment.fine_of(local)).or_else(|| closest(&mut segment.windows_of(local)))
    }

    /// The cosine of each fine window of a document with the query; of its whole windows if it has no fine ones.
    pub fn window_cosines(&self, number: u32, query: &QuantisedVector) -> Vec<WindowSimilarity> {
        let place = self.locate(number).filter(|(segment, _)| segment.has_dimension_of(query));
        let Some((segment, local)) = place else { return Vec::new() };
        let near = |stored: StoredWindow<'_>| {
            Some(WindowSimilarity { cosine: stored.cosine(query)?, window: stored.window })
        };
        let fine: Vec<WindowSimilarity> = segment.fine_of(local).filter_map(near).collect();
        if fine.is_empty() { segment.windows_of(local).filter_map(near).collect() } else { fine }
    }

    /// The vector of a document that has a single window.
    pub fn vector(&self, number: u32) -> Option<QuantisedVector> {
        let (segment, local) = self.locate(number)?;
        let mut windows = segment.windows_of(local);
        let first = windows.next()?.vector();
        if windows.next().is_none() { first } else { None }
    }

    /// The whole window of a document with the highest cosine with the query, which is long enough to read by
    /// itself.
    pub fn best_passage(&self, number: u32, query: &QuantisedVector) -> Option<TextWindow> {
        let (segment, local) = self.locate(number).filter(|(segment, _)| segment.has_dimension_of(query))?;
        let with =
            segment.windows_of(local).filter_map(|stored| Some((stored.cosine(query)?, stored.window)));
        with.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, window)| window)
    }

    /// The documents with this id. Searches their JSON, which is much faster than parsing all of it.
    pub fn documents_with_id(&self, id: &str) -> Vec<Document> {
        let wanted = format!("{{\"id\":{}", serde_json::Value::from(id));
        let found = self.segments.iter().zip(&self.first).flat_map(|(segment, first)| {
            segment.documents_with(wanted.as_bytes()).into_iter().map(move |local| first + local)
        });
        let live = found.filter(|number| !self.is_replaced(*number));
        live.filter_map(|number| self.document(number)).filter(|document| document.id == id).collect()
    }

    /// Parses a document by its number.
    pub fn document(&self, number: u32) -> Option<Document> {
        let (segment, local) = self.locate(number)?;
        segment.document(local)
    }

    /// The number of documents of each segment with its own file, including replaced ones, and of the delta.
    pub(super) fn layer_sizes(&self) -> (Vec<usize>, usize) {
        let mut sizes: Vec<usize> =
            self.segments.iter().map(|segment| segment.documents() as usize).collect();
        let delta = sizes.split_off(self.layers.min(sizes.len())).into_iter().sum();
        (sizes, delta)
    }

    /// The cost for readers of the segments above the first: the units to look up and the replaced documents
    /// to skip.
    pub(super) fn upper_layer_cost(&self) -> (usize, usize) {
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

/// For each document, true if it was erased or a later segment replaces it.
fn replaced(segments: &[IndexSegment], first: &[u32]) -> Vec<bool> {
    let mut replaced = Vec::with_capacity(segments.iter().map(|segment| segment.documents() as usize).sum());
    for (segment, first) in segments.iter().zip(first) {
        replaced
            .extend(segment.scopes().take(segment.documents() as usize).map(|scope| scope == ERASED_SCOPE));
        // A damaged segment may lack scopes.
        replaced.resize(*first as usize + segment.documents() as usize, false);
    }
    let Some((oldest, newer)) = segments.split_first() else { return replaced };
    // Newer segments are small and the oldest is large, so only their paths are looked up in it.
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

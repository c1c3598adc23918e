//! Reads a segment in place. Every access is checked; damaged data reads as absent.

use std::borrow::Cow;

use memchr::memmem;
use rekindle_core::base::hash::{ByteChecksum, ContentHash};
use rekindle_core::recall::collection::DocumentFlags;
use rekindle_core::recall::document::{Document, FileStamp};
use rekindle_core::recall::term_counts::TermCount;
use rekindle_core::recall::windows::TextWindow;
use rekindle_embed::{QuantisedVector, dots};

use super::format::{
    SegmentDamage, SegmentHeader, SegmentPart, UNIT_BYTES, VectorSpace, WINDOW_BYTES, WindowKind,
};
use super::nibbles;
use crate::platform::mmap::MappedFile;

/// The number of bytes of a file that are read once before the memory that they took is returned.
pub(super) const RELEASE_BYTES: usize = 32 << 20;

/// A segment: documents with all data for search.
#[derive(Debug)]
pub struct IndexSegment {
    bytes: MappedFile,
    header: SegmentHeader,
}

/// A unit of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedUnit<'a> {
    /// The path of the file, relative to the notes vault.
    pub path: &'a str,
    /// The state of the file when it was read.
    pub stamp: Option<FileStamp>,
    /// The numbers of its documents in the segment.
    pub documents: std::ops::Range<u32>,
    /// The number of documents in older segments that these follow; `None`: these replace all.
    pub behind: Option<u32>,
}

/// Properties of a document that are available without parsing it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentInfo<'a> {
    pub(crate) flags: DocumentFlags,
    /// The creation time in seconds since 1970, or [`rekindle_core::recall::collection::NO_TIMESTAMP`].
    pub(crate) created: i64,
    /// The number of terms of the document.
    pub(crate) length: u32,
    pub(crate) project: Option<&'a str>,
}

/// The windows of a document and their vectors, in serialised form.
pub(super) struct WrittenWindows<'a> {
    pub(super) windows: &'a [[u8; WINDOW_BYTES]],
    pub(super) vectors: &'a [u8],
}

impl WrittenWindows<'_> {
    /// No windows.
    pub(super) const fn none() -> Self {
        Self { windows: &[], vectors: &[] }
    }

    /// The number of windows without a vector.
    pub(super) fn pending(&self) -> u32 {
        let is_bare = |window: &&[u8; WINDOW_BYTES]| {
            !u32_at(*window, 2).is_some_and(|scale| f32::from_bits(scale) > 0.0)
        };
        self.windows.iter().filter(is_bare).count() as u32
    }
}

/// A window of a segment with its vector.
#[derive(Clone, Debug)]
pub struct StoredWindow<'a> {
    /// The range of the window in the searched text.
    pub window: TextWindow,
    /// The quantised vector, as signed bytes.
    pub steps: Cow<'a, [u8]>,
    /// The scale of a step; 0 without a vector.
    pub scale: f32,
}

impl StoredWindow<'_> {
    /// The vector, if it is computed.
    pub fn vector(&self) -> Option<QuantisedVector> {
        let steps = || self.steps.iter().map(|byte| byte.cast_signed()).collect();
        (self.scale > 0.0).then(|| QuantisedVector { steps: steps(), scale: self.scale })
    }

    /// The cosine with a query; `None` without a vector.
    pub fn cosine(&self, query: &QuantisedVector) -> Option<f32> {
        (self.scale > 0.0).then(|| {
            let mut product = [0];
            dots(&query.steps, &self.steps, &mut product);
            product[0] as f32 * self.scale * query.scale
        })
    }
}

impl IndexSegment {
    /// Opens a segment and reads only its header.
    pub fn open(bytes: MappedFile) -> Result<Self, SegmentDamage> {
        let header = SegmentHeader::decode(&bytes)?;
        Ok(Self { bytes, header })
    }

    /// Verifies the checksums of the whole segment.
    pub fn verify(&self) -> Result<(), SegmentDamage> {
        self.header.verify(|range| {
            let mut sum = ByteChecksum::default();
            self.sum_up(&mut sum, range);
            sum.sum()
        })
    }

    /// Adds a range of the file to a checksum, without keeping it in memory.
    pub(super) fn sum_up(&self, sum: &mut ByteChecksum, range: std::ops::Range<usize>) {
        for start in range.clone().step_by(RELEASE_BYTES) {
            let batch = start..(start + RELEASE_BYTES).min(range.end);
            sum.add(self.file_bytes(batch.clone()));
            self.release(batch);
        }
    }

    /// The number of documents.
    pub fn documents(&self) -> u32 {
        self.header.documents
    }

    /// The number of units.
    pub fn units(&self) -> u32 {
        self.header.units
    }

    /// The number of windows without a vector.
    pub fn pending(&self) -> u32 {
        self.header.pending
    }

    /// The number of whole windows.
    pub fn windows(&self) -> u32 {
        self.header.windows
    }

    /// The number of fine windows.
    pub fn fine_windows(&self) -> u32 {
        self.header.fine
    }

    /// The size on disk in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The space of its vectors.
    pub fn space(&self) -> VectorSpace {
        VectorSpace { model: self.header.model.clone(), dimension: self.header.dimension as usize }
    }

    /// The dimension of its vectors.
    pub fn width(&self) -> usize {
        self.header.dimension as usize
    }

    /// True if its vectors have the dimension of the query.
    pub fn has_dimension_of(&self, query: &QuantisedVector) -> bool {
        self.width() == query.steps.len()
    }

    pub(super) fn header(&self) -> &SegmentHeader {
        &self.header
    }

    /// A range of the bytes of the file.
    pub(super) fn file_bytes(&self, range: std::ops::Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// Returns the memory that a range of the file took.
    pub(super) fn release(&self, range: std::ops::Range<usize>) {
        self.bytes.release(range.start, range.len());
    }

    /// Returns the memory that the JSON of a range of documents took.
    pub(super) fn release_documents(&self, documents: std::ops::Range<u32>) {
        let start = |number| u64::from_le_bytes(self.cell(SegmentPart::Blobs, number)) as usize;
        let blob = self.header.range(SegmentPart::Blob).start;
        self.bytes.release(
            blob + start(documents.start),
            start(documents.end).saturating_sub(start(documents.start)),
        );
    }

    pub(super) fn part(&self, part: SegmentPart) -> &[u8] {
        self.header.part(&self.bytes, part)
    }

    /// Gets a unit by its number.
    pub fn unit(&self, number: u32) -> Option<IndexedUnit<'_>> {
        let units = self.part(SegmentPart::Units).as_chunks::<UNIT_BYTES>().0;
        let unit = units.get(number as usize)?;
        let (offset, length, first) = (u32_at(unit, 0)?, u32_at(unit, 1)?, u32_at(unit, 2)?);
        let path = self.name(offset, length)?;
        let state = u32_at(unit, 3)?;
        let stamp = match state {
            0 => None,
            _ => Some(FileStamp {
                modified: i64::from_le_bytes(unit[16..24].try_into().ok()?),
                size: u64::from_le_bytes(unit[24..32].try_into().ok()?),
                hash: ContentHash::from_bytes(unit[32..64].try_into().ok()?),
            }),
        };
        let next =
            units.get(number as usize + 1).map_or(Some(self.header.documents), |unit| u32_at(unit, 2))?;
        let documents = first.min(self.header.documents)
            ..next.clamp(first.min(self.header.documents), self.header.documents);
        Some(IndexedUnit { path, stamp, documents, behind: state.checked_sub(2) })
    }

    /// The range of a unit's path in the names.
    pub(super) fn unit_name_range(&self, number: u32) -> Option<std::ops::Range<usize>> {
        let unit = self.part(SegmentPart::Units).as_chunks::<UNIT_BYTES>().0.get(number as usize)?;
        let (offset, length) = (u32_at(unit, 0)? as usize, u32_at(unit, 1)? as usize);
        Some(offset..offset + length)
    }

    /// Finds the unit of a document.
    pub(super) fn unit_with(&self, document: u32) -> Option<(u32, IndexedUnit<'_>)> {
        let units = self.part(SegmentPart::Units).as_chunks::<UNIT_BYTES>().0;
        let starts_before = |unit: &[u8; UNIT_BYTES]| u32_at(unit, 2).is_some_and(|first| first <= document);
        let number = units.partition_point(starts_before).checked_sub(1)? as u32;
        Some((number, self.unit(number)?))
    }

    /// Finds a unit by its path.
    pub fn unit_of(&self, path: &str) -> Option<(u32, IndexedUnit<'_>)> {
        let (mut low, mut high) = (0, self.header.units);
        while low < high {
            let middle = low + (high - low) / 2;
            let unit = self.unit(middle)?;
            match unit.path.cmp(path) {
                std::cmp::Ordering::Equal => return Some((middle, unit)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn name(&self, offset: u32, length: u32) -> Option<&str> {
        let end = offset.checked_add(length)?;
        std::str::from_utf8(self.part(SegmentPart::Names).get(offset as usize..end as usize)?).ok()
    }

    /// The projects of its documents, in the order of their numbers.
    pub fn projects(&self) -> Vec<&str> {
        let pairs = self.part(SegmentPart::Projects).as_chunks::<8>().0;
        let name = |pair: &[u8; 8]| self.name(u32_at(pair, 0)?, u32_at(pair, 1)?);
        pairs.iter().map(|pair| name(pair).unwrap_or_default()).collect()
    }

    /// The number of running words of each document.
    pub fn word_counts(&self) -> impl Iterator<Item = u32> {
        numbers(self.part(SegmentPart::Words))
    }

    /// The number of terms of each document.
    pub fn lengths(&self) -> impl Iterator<Item = u32> {
        numbers(self.part(SegmentPart::Lengths))
    }

    /// The number of the thread of each document.
    pub fn threads(&self) -> impl Iterator<Item = u32> {
        numbers(self.part(SegmentPart::Threads))
    }

    /// The number of the project of each document plus one; 0 means every project.
    pub fn scopes(&self) -> impl Iterator<Item = u32> {
        numbers(self.part(SegmentPart::Scopes))
    }

    /// The flags of each document.
    pub fn flags(&self) -> impl Iterator<Item = DocumentFlags> {
        numbers(self.part(SegmentPart::Flags)).map(DocumentFlags::from_bits)
    }

    /// The creation time of each document in seconds since 1970, or
    /// [`rekindle_core::recall::collection::NO_TIMESTAMP`].
    pub fn created(&self) -> impl Iterator<Item = i64> {
        self.part(SegmentPart::Created).as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes))
    }

    /// The documents whose JSON contains these bytes.
    pub(super) fn documents_with(&self, wanted: &[u8]) -> Vec<u32> {
        let range = self.header.range(SegmentPart::Blob);
        let starts = self.part(SegmentPart::Blobs).as_chunks::<8>().0;
        let mut found = Vec::new();
        for from in range.clone().step_by(RELEASE_BYTES) {
            // A match may cross the end of a batch.
            let to = (from + RELEASE_BYTES + wanted.len()).min(range.end);
            let matches = memmem::find_iter(self.file_bytes(from..to), wanted);
            found.extend(matches.filter_map(|at| {
                let offset = (from - range.start + at) as u64;
                starts.partition_point(|start| u64::from_le_bytes(*start) <= offset).checked_sub(1)
            }));
            self.release(from..to);
        }
        found.dedup();
        found.into_iter().map(|number| number as u32).collect()
    }

    /// Parses a document by its number.
    pub fn document(&self, number: u32) -> Option<Document> {
        serde_json::from_slice(self.document_blob(number)?).ok()
    }

    /// The JSON of a document.
    pub(super) fn document_blob(&self, number: u32) -> Option<&[u8]> {
        let starts = self.part(SegmentPart::Blobs).as_chunks::<8>().0;
        let start = u64::from_le_bytes(*starts.get(number as usize)?) as usize;
        let end = u64::from_le_bytes(*starts.get(number as usize + 1)?) as usize;
        self.part(SegmentPart::Blob).get(start..end)
    }

    /// The vectors of all whole windows, concatenated.
    pub fn vectors(&self) -> &[u8] {
        self.part(SegmentPart::Vectors)
    }

    /// The whole windows of a document.
    pub fn windows_of(&self, document: u32) -> impl Iterator<Item = StoredWindow<'_>> {
        self.stored(document, WindowKind::Whole, Cow::Borrowed)
    }

    /// The fine windows of a document.
    pub fn fine_of(&self, document: u32) -> impl Iterator<Item = StoredWindow<'_>> {
        let dimension = self.header.dimension as usize;
        let unpack = move |bytes| {
            let mut steps = Vec::new();
            nibbles::unpack_nibbles(bytes, dimension, &mut steps);
            Cow::Owned(steps)
        };
        self.stored(document, WindowKind::Fine, unpack)
    }

    fn stored<'a>(
        &'a self,
        document: u32,
        kind: WindowKind,
        decode: impl Fn(&'a [u8]) -> Cow<'a, [u8]>,
    ) -> impl Iterator<Item = StoredWindow<'a>> {
        let (parts, width) = kind.parts(self.header.dimension as usize);
        let WrittenWindows { windows, vectors } = self.written_windows(document, kind);
        let none_yet = self.part(parts[2]).is_empty();
        let read = move |(place, window): (usize, &[u8; WINDOW_BYTES])| {
            let (start, end) = (u32_at(window, 0)? as usize, u32_at(window, 1)? as usize);
            let steps = match vectors.get(place * width..(place + 1) * width) {
                Some(steps) => decode(steps),
                None if none_yet => Cow::Borrowed(&[][..]),
                None => return None,
            };
            let scale = f32::from_bits(u32_at(window, 2)?);
            Some(StoredWindow { window: TextWindow { start, end }, steps, scale })
        };
        windows.iter().enumerate().filter_map(read)
    }

    /// Appends the scale and the steps of each vector of a document.
    pub(super) fn gather_vectors(
        &self,
        document: u32,
        kind: WindowKind,
        scales: &mut Vec<f32>,
        steps: &mut Vec<u8>,
    ) {
        let WrittenWindows { windows, vectors } = self.written_windows(document, kind);
        let (_, width) = kind.parts(self.width());
        if vectors.len() < windows.len() * width {
            return;
        }
        match kind {
            WindowKind::Whole => steps.extend_from_slice(vectors),
            WindowKind::Fine => nibbles::unpack_nibbles(vectors, self.width(), steps),
        }
        scales.extend(windows.iter().map(|window| f32::from_bits(u32_at(window, 2).unwrap_or(0))));
    }

    /// The range of a document's windows.
    pub(super) fn window_range(&self, document: u32, first: SegmentPart) -> std::ops::Range<usize> {
        let starts = self.part(first).as_chunks::<4>().0;
        let start = |place: usize| starts.get(place).map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
        start(document as usize)..start(document as usize + 1)
    }

    /// Advises the system to load the vectors.
    pub fn prefetch_vectors(&self) {
        let range = self.header.range(SegmentPart::Vectors);
        self.bytes.advise_will_need(range.start, range.len());
    }

    /// The postings of a term: documents in ascending order, with counts.
    pub fn postings(&self, term: u64) -> impl Iterator<Item = (u32, TermCount)> {
        let range = self.postings_of(term).unwrap_or_default();
        let documents = self.part(SegmentPart::PostingDocuments).as_chunks::<4>().0;
        let counts = self.part(SegmentPart::PostingCounts).as_chunks::<2>().0;
        let documents = documents.get(range.clone()).unwrap_or_default();
        let counts = counts.get(range).unwrap_or_default();
        let pair = |(document, count): (&[u8; 4], &[u8; 2])| {
            (u32::from_le_bytes(*document), TermCount::from_bits(u16::from_le_bytes(*count)))
        };
        documents.iter().zip(counts).map(pair)
    }

    /// The number of documents that contain a term.
    pub(crate) fn frequency(&self, term: u64) -> usize {
        self.postings_of(term).map_or(0, |range| range.len())
    }

    /// The counts in a document of the term whose postings are in `range`.
    pub(crate) fn count_in(&self, range: &std::ops::Range<usize>, document: u32) -> Option<TermCount> {
        let documents = self.part(SegmentPart::PostingDocuments).as_chunks::<4>().0.get(range.clone())?;
        let place = documents.binary_search_by_key(&document, |bytes| u32::from_le_bytes(*bytes)).ok()?;
        let counts = self.part(SegmentPart::PostingCounts).as_chunks::<2>().0;
        Some(TermCount::from_bits(u16::from_le_bytes(*counts.get(range.start + place)?)))
    }

    /// The properties of a document that are available without parsing it.
    pub(crate) fn document_info(&self, document: u32) -> Option<DocumentInfo<'_>> {
        let number =
            |part| self.part(part).as_chunks::<4>().0.get(document as usize).map(|b| u32::from_le_bytes(*b));
        let created = self.part(SegmentPart::Created).as_chunks::<8>().0.get(document as usize)?;
        let scope = number(SegmentPart::Scopes)?;
        let project = || {
            let pair =
                self.part(SegmentPart::Projects).as_chunks::<8>().0.get(scope.checked_sub(1)? as usize)?;
            self.name(u32_at(pair, 0)?, u32_at(pair, 1)?)
        };
        Some(DocumentInfo {
            flags: DocumentFlags::from_bits(number(SegmentPart::Flags)?),
            created: i64::from_le_bytes(*created),
            length: number(SegmentPart::Lengths)?,
            project: project(),
        })
    }

    /// The total number of terms of all documents.
    pub(crate) fn total_terms(&self) -> u64 {
        self.header.length
    }

    /// Gets a term by its position.
    pub(super) fn term(&self, place: usize) -> Option<u64> {
        self.part(SegmentPart::Terms).as_chunks::<8>().0.get(place).map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// The postings of the term at a position, with serialised counts.
    pub(super) fn written_postings(&self, place: usize) -> impl Iterator<Item = (u32, [u8; 2])> {
        let range = self.postings_at(place).unwrap_or_default();
        let documents = self.part(SegmentPart::PostingDocuments).as_chunks::<4>().0.get(range.clone());
        let counts = self.part(SegmentPart::PostingCounts).as_chunks::<2>().0.get(range);
        let documents = documents.unwrap_or_default().iter().map(|bytes| u32::from_le_bytes(*bytes));
        documents.zip(counts.unwrap_or_default().iter().copied())
    }

    /// A serialised cell of a column.
    pub(super) fn cell<const WIDTH: usize>(&self, column: SegmentPart, document: u32) -> [u8; WIDTH] {
        self.part(column).as_chunks::<WIDTH>().0.get(document as usize).copied().unwrap_or([0; WIDTH])
    }

    /// The windows of a document and their vectors, in serialised form.
    pub(super) fn written_windows(&self, document: u32, kind: WindowKind) -> WrittenWindows<'_> {
        let (parts, width) = kind.parts(self.header.dimension as usize);
        let range = self.window_range(document, parts[0]);
        let windows = self.part(parts[1]).as_chunks::<WINDOW_BYTES>().0.get(range.clone());
        let bytes = range.start.saturating_mul(width)..range.end.saturating_mul(width);
        let vectors = self.part(parts[2]).get(bytes).unwrap_or_default();
        WrittenWindows { windows: windows.unwrap_or_default(), vectors }
    }

    pub(super) fn postings_of(&self, term: u64) -> Option<std::ops::Range<usize>> {
        let terms = self.part(SegmentPart::Terms).as_chunks::<8>().0;
        let place = terms.binary_search_by_key(&term, |bytes| u64::from_le_bytes(*bytes)).ok()?;
        self.postings_at(place)
    }

    /// The range of the postings of the term at a position.
    pub(super) fn postings_at(&self, place: usize) -> Option<std::ops::Range<usize>> {
        let starts = self.part(SegmentPart::FirstPostings).as_chunks::<4>().0;
        let at = |place: usize| starts.get(place).map(|bytes| u32::from_le_bytes(*bytes) as usize);
        let (start, end) = (at(place)?, at(place + 1)?);
        (start <= end).then_some(start..end)
    }
}

pub(super) fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.as_chunks::<4>().0.get(place)?))
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes))
}

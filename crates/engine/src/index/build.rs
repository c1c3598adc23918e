//! Builds the bytes of a segment from units. The same units always give the same bytes, on every machine.

use std::io::{self, Cursor, Seek, Write};

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::Timestamp;
use rekindle_core::recall::collection::{DocumentFlags, NO_TIMESTAMP};
use rekindle_core::recall::document::{Document, FileStamp, SourceUnit};
use rekindle_core::recall::term_counts::{self, TermCounts};
use rekindle_core::recall::windows::{self, TextWindow};
use rekindle_core::text::terms::TermHasher;
use rekindle_embed::QuantisedVector;

use super::format::{
    PART_COUNT, SegmentHeader, SegmentPart, SegmentWriter, UNIT_BYTES, VectorSpace, WindowKind,
};
use super::nibbles;
use super::postings::{self, Posting};

/// A document with the vectors that are already computed.
#[derive(Clone, Debug)]
pub struct PreparedDocument {
    /// The document to index.
    pub document: Document,
    /// The windows, each with its vector if it is computed.
    pub windows: Vec<EmbeddedWindow>,
    /// The fine windows, each with its vector if it is computed.
    pub fine: Vec<EmbeddedWindow>,
    /// The serialised form for a segment, once it is computed.
    written: Option<WrittenDocument>,
}

/// The serialised form of a document without its windows.
#[derive(Clone, Debug)]
struct WrittenDocument {
    counted: TermCounts,
    /// The document as JSON.
    json: Vec<u8>,
}

/// A window of a text, and its vector if it is computed.
pub type EmbeddedWindow = (TextWindow, Option<QuantisedVector>);

impl PreparedDocument {
    /// Splits a document into windows without vectors.
    pub fn new(document: Document) -> Self {
        let (windows, fine) = windows::split_both(&document.searched_text());
        Self::with(document, bare(windows), bare(fine))
    }

    /// Splits a document into windows without vectors and counts its terms at once, instead of when the
    /// segment is built.
    pub fn with_counts(document: Document, numbers: &mut TermHasher) -> Self {
        let searched = document.searched_text();
        let (windows, fine) = windows::split_both(&searched);
        let written = Some(WrittenDocument::encode_document(&document, &searched, numbers));
        Self { written, ..Self::with(document, bare(windows), bare(fine)) }
    }

    /// A document for lexical search only, which never gets vectors.
    pub fn words_only(document: Document) -> Self {
        Self::with(document, Vec::new(), Vec::new())
    }

    /// A document with its windows.
    pub(super) fn with(document: Document, windows: Vec<EmbeddedWindow>, fine: Vec<EmbeddedWindow>) -> Self {
        Self { document, windows, fine, written: None }
    }
}

fn bare(windows: Vec<TextWindow>) -> Vec<EmbeddedWindow> {
    windows.into_iter().map(|window| (window, None)).collect()
}

impl WrittenDocument {
    fn encode_document(document: &Document, searched: &str, numbers: &mut TermHasher) -> Self {
        let mut json = Vec::with_capacity(document.text.len() + DOCUMENT_OVERHEAD_BYTES);
        serde_json::to_writer(&mut json, document).ignore_failure("a document always has a JSON form");
        Self { counted: term_counts::count(searched, numbers), json }
    }
}

/// A unit with prepared documents.
#[derive(Clone, Debug)]
pub struct PreparedUnit {
    /// The unit without its documents.
    pub unit: SourceUnit,
    /// The prepared documents of the unit.
    pub documents: Vec<PreparedDocument>,
    /// The number of indexed documents of the file that these follow; they replace the rest. `None`: they
    /// replace all. An appended file is thus indexed without reading all of it.
    pub behind: Option<u32>,
}

impl From<SourceUnit> for PreparedUnit {
    fn from(unit: SourceUnit) -> Self {
        Self::prepare_documents(unit, PreparedDocument::new)
    }
}

impl PreparedUnit {
    /// Prepares a unit and counts the terms of its documents.
    pub fn with_counts(unit: SourceUnit, numbers: &mut TermHasher) -> Self {
        Self::prepare_documents(unit, |document| PreparedDocument::with_counts(document, numbers))
    }

    fn prepare_documents(mut unit: SourceUnit, prepare: impl FnMut(Document) -> PreparedDocument) -> Self {
        let documents = std::mem::take(&mut unit.documents).into_iter().map(prepare).collect();
        Self { unit, documents, behind: None }
    }
}

/// The layout of a segment before it is written.
pub(super) struct SegmentLayout {
    header: SegmentHeader,
    parts: [Vec<u8>; PART_COUNT],
    /// The postings, in shares. Postings and documents are most of a segment without vectors, so they are not
    /// copied together.
    postings: Vec<PostingsBuilder>,
    /// The units, whose documents are written from here.
    units: Vec<PreparedUnit>,
}

impl SegmentLayout {
    /// Writes the segment to `out`.
    pub(super) fn write(&self, out: &mut (impl Write + Seek)) -> io::Result<()> {
        let mut parts = SegmentWriter::begin(out)?;
        for (part, bytes) in SegmentPart::ALL.into_iter().zip(&self.parts) {
            parts.next(part)?;
            parts.put(bytes)?;
            match part {
                SegmentPart::PostingDocuments => {
                    self.postings.iter().try_for_each(|share| parts.put(&share.documents))
                }
                SegmentPart::PostingCounts => {
                    self.postings.iter().try_for_each(|share| parts.put(&share.counts))
                }
                SegmentPart::Blob => self.kept_parts().try_for_each(|kept| parts.put(kept)),
                _ => Ok(()),
            }?;
        }
        parts.finish(self.header.clone())
    }

    fn kept_parts(&self) -> impl Iterator<Item = &[u8]> {
        let documents = self.units.iter().flat_map(|unit| &unit.documents);
        documents.filter_map(|prepared| Some(prepared.written.as_ref()?.json.as_slice()))
    }

    /// Frees the memory, on another thread if there is much of it. With many documents that takes as long as
    /// writing them and blocks other allocations, so it comes last.
    pub(super) fn free_in_background(self) {
        if is_shared(self.header.documents as usize) {
            std::thread::Builder::new()
                .spawn(move || drop(self))
                .ignore_failure("without a thread, it is given back here");
        }
    }
}

/// Builds the bytes of a segment.
pub(super) fn build(space: &VectorSpace, units: Vec<PreparedUnit>) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    lay_out_segment(space, units).write(&mut bytes).ignore_failure("memory takes whatever is written to it");
    bytes.into_inner()
}

/// Computes the layout of a segment.
pub(super) fn lay_out_segment(space: &VectorSpace, mut units: Vec<PreparedUnit>) -> SegmentLayout {
    units.sort_by(|a, b| a.unit.path.cmp(&b.unit.path));
    count_rest(&mut units);
    let mut parts: [Vec<u8>; PART_COUNT] = Default::default();
    let mut header = SegmentHeader {
        units: units.len() as u32,
        dimension: space.dimension as u32,
        model: space.model.clone(),
        ..SegmentHeader::default()
    };
    let of = |prepared| -> Option<(&PreparedDocument, &WrittenDocument)> {
        Some((prepared, prepared.written.as_ref()?))
    };
    let documents: Vec<(&PreparedDocument, &WrittenDocument)> =
        units.iter().flat_map(|unit| &unit.documents).filter_map(of).collect();
    header.documents = documents.len() as u32;
    let mut names = NameHeap::default();
    write_units(&units, &mut parts, &mut names);

    let counted: Vec<&TermCounts> = documents.iter().map(|(_, written)| &written.counted).collect();
    header.length = counted.iter().map(|counted| u64::from(counted.length)).sum();
    let rest = || {
        write_columns(&documents, &mut parts, &mut names);
        parts[SegmentPart::Names as usize] = std::mem::take(&mut names.heap);
        let coarse = [SegmentPart::FirstWindows, SegmentPart::Windows, SegmentPart::Vectors];
        header.windows =
            write_windows(&documents, |prepared| &prepared.windows, coarse, &mut parts, &mut header, bytes);
        let fine = [SegmentPart::FirstFine, SegmentPart::Fine, SegmentPart::FineVectors];
        header.fine =
            write_windows(&documents, |prepared| &prepared.fine, fine, &mut parts, &mut header, half_bytes);
    };
    let postings = postings::sorted_postings(&counted, PostingsBuilder::of, rest);
    header.terms = write_terms(&postings, &mut parts);
    SegmentLayout { header, parts, postings, units }
}

/// True if this many documents justify a second thread.
fn is_shared(documents: usize) -> bool {
    documents >= MIN_DOCUMENTS_PER_THREAD * 2
        && std::thread::available_parallelism().is_ok_and(|threads| threads.get() > 1)
}

fn write_units(units: &[PreparedUnit], parts: &mut [Vec<u8>; PART_COUNT], names: &mut NameHeap) {
    let mut first = 0_u32;
    let out = &mut parts[SegmentPart::Units as usize];
    for unit in units {
        let name = names.add(&unit.unit.path);
        out.extend_from_slice(&unit_bytes(name, first, unit.unit.stamp.as_ref(), unit.behind));
        first += unit.documents.len() as u32;
    }
}

/// Serialises a unit: the offset of its path, its first document, its stamp and the number of documents that
/// it follows.
pub(super) fn unit_bytes(
    (offset, length): (u32, u32),
    first: u32,
    stamp: Option<&FileStamp>,
    behind: Option<u32>,
) -> [u8; UNIT_BYTES] {
    // The state is 0 for a deleted file, 1 for a complete one, and n + 2 for one that follows n documents.
    let state = match (stamp, behind) {
        (None, _) => 0,
        (Some(_), None) => 1,
        (Some(_), Some(behind)) => behind.saturating_add(2),
    };
    let mut bytes = [0; UNIT_BYTES];
    for (place, value) in bytes.as_chunks_mut::<4>().0.iter_mut().zip([offset, length, first, state]) {
        *place = value.to_le_bytes();
    }
    if let Some(stamp) = stamp {
        bytes[16..24].copy_from_slice(&stamp.modified.to_le_bytes());
        bytes[24..32].copy_from_slice(&stamp.size.to_le_bytes());
        bytes[32..].copy_from_slice(&stamp.hash.bytes());
    }
    bytes
}

fn write_columns(
    documents: &[(&PreparedDocument, &WrittenDocument)],
    parts: &mut [Vec<u8>; PART_COUNT],
    names: &mut NameHeap,
) {
    let mut put = |part: SegmentPart, bytes: &[u8]| parts[part as usize].extend_from_slice(bytes);
    let mut projects: Vec<&str> = documents
        .iter()
        .filter_map(|(prepared, _)| prepared.document.project.as_ref())
        .map(ProjectId::as_str)
        .collect();
    projects.sort_unstable();
    projects.dedup();
    for project in &projects {
        let (offset, length) = names.add(project);
        put(SegmentPart::Projects, &offset.to_le_bytes());
        put(SegmentPart::Projects, &length.to_le_bytes());
    }
    let (mut thread, mut blob_bytes) = (0_u32, 0_u64);
    let mut before: Option<(&str, &str)> = None;
    for (prepared, WrittenDocument { counted, json: kept }) in documents {
        let document = &prepared.document;
        let here = document.thread.as_deref().map(|thread| (document.path.as_str(), thread));
        if here.is_none() || here != before {
            thread += 1;
        }
        before = here;
        let scope = document
            .project
            .as_ref()
            .and_then(|id| projects.binary_search(&id.as_str()).ok())
            .map_or(0, |place| place as u32 + 1);
        put(SegmentPart::Words, &counted.words.to_le_bytes());
        put(SegmentPart::Lengths, &counted.length.to_le_bytes());
        put(SegmentPart::Threads, &thread.to_le_bytes());
        put(SegmentPart::Created, &document.created.map_or(NO_TIMESTAMP, Timestamp::as_second).to_le_bytes());
        put(SegmentPart::Flags, &DocumentFlags::from_document(document).to_bits().to_le_bytes());
        put(SegmentPart::Scopes, &scope.to_le_bytes());
        put(SegmentPart::Blobs, &blob_bytes.to_le_bytes());
        blob_bytes += kept.len() as u64;
    }
    put(SegmentPart::Blobs, &blob_bytes.to_le_bytes());
}

/// Writes one kind of windows and returns their number.
fn write_windows(
    documents: &[(&PreparedDocument, &WrittenDocument)],
    of: impl Fn(&PreparedDocument) -> &Vec<EmbeddedWindow>,
    [first, windows, vectors]: [SegmentPart; 3],
    parts: &mut [Vec<u8>; PART_COUNT],
    header: &mut SegmentHeader,
    encode: impl Fn(&QuantisedVector) -> (Vec<u8>, f32),
) -> u32 {
    let dimension = header.dimension as usize;
    let nothing = encode(&missing_vector(dimension));
    let fits = |vector: &&QuantisedVector| vector.steps.len() == dimension;
    let all = || documents.iter().flat_map(|(prepared, _)| of(prepared));
    // The part of the vectors, which is the largest one, stays empty until the first vector.
    let any = all().any(|(_, vector)| vector.as_ref().filter(fits).is_some());
    parts[vectors as usize].reserve_exact(if any { all().count() * nothing.0.len() } else { 0 });
    let mut put = |part: SegmentPart, bytes: &[u8]| parts[part as usize].extend_from_slice(bytes);
    let mut count = 0_u32;
    for embedded in documents.iter().map(|(prepared, _)| of(prepared)) {
        put(first, &count.to_le_bytes());
        for (window, vector) in embedded {
            let vector = vector.as_ref().filter(fits);
            header.pending += u32::from(vector.is_none());
            let encoded = vector.map(&encode);
            let (steps, scale) = encoded.as_ref().unwrap_or(&nothing);
            put(windows, &(window.start as u32).to_le_bytes());
            put(windows, &(window.end as u32).to_le_bytes());
            put(windows, &scale.to_le_bytes());
            if any {
                put(vectors, steps);
            }
        }
        count += embedded.len() as u32;
    }
    put(first, &count.to_le_bytes());
    count
}

/// The placeholder of a missing vector.
fn missing_vector(dimension: usize) -> QuantisedVector {
    QuantisedVector { steps: vec![0; dimension], scale: 0.0 }
}

/// The placeholder in the serialised form of its kind.
pub(super) fn empty_windows(kind: WindowKind, dimension: usize) -> Vec<u8> {
    match kind {
        WindowKind::Whole => bytes(&missing_vector(dimension)).0,
        WindowKind::Fine => half_bytes(&missing_vector(dimension)).0,
    }
}

/// Serialises a vector for the scan: one byte per step.
fn bytes(vector: &QuantisedVector) -> (Vec<u8>, f32) {
    (vector.steps.iter().map(|step| step.cast_unsigned()).collect(), vector.scale)
}

/// Serialises a vector for rescoring: half a byte per step.
fn half_bytes(vector: &QuantisedVector) -> (Vec<u8>, f32) {
    let coarse = nibbles::quantise_to_nibbles(vector);
    (nibbles::pack_nibbles(&coarse.steps), coarse.scale)
}

/// A share of the postings in serialised form.
struct PostingsBuilder {
    terms: Vec<u8>,
    /// The index of the first posting of each term in this share.
    first: Vec<u32>,
    documents: Vec<u8>,
    counts: Vec<u8>,
}

impl PostingsBuilder {
    fn of(postings: &[Posting]) -> Self {
        let mut out = Self {
            terms: Vec::new(),
            first: Vec::new(),
            documents: Vec::with_capacity(postings.len() * 4),
            counts: Vec::with_capacity(postings.len() * 2),
        };
        let mut last = None;
        for (place, posting) in postings.iter().enumerate() {
            if last != Some(posting.term) {
                out.terms.extend_from_slice(&posting.term.to_le_bytes());
                out.first.push(place as u32);
                last = Some(posting.term);
            }
            out.documents.extend_from_slice(&posting.document.to_le_bytes());
            out.counts.extend_from_slice(&posting.count.to_bits().to_le_bytes());
        }
        out
    }
}

/// Writes the terms of the postings, share by share, and returns their number. No term is in two shares.
fn write_terms(postings: &[PostingsBuilder], parts: &mut [Vec<u8>; PART_COUNT]) -> u32 {
    let mut put = |part: SegmentPart, bytes: &[u8]| parts[part as usize].extend_from_slice(bytes);
    let (mut terms, mut before) = (0, 0_u32);
    for share in postings {
        put(SegmentPart::Terms, &share.terms);
        share.first.iter().for_each(|first| put(SegmentPart::FirstPostings, &(before + first).to_le_bytes()));
        terms += share.first.len() as u32;
        before += (share.documents.len() / 4) as u32;
    }
    put(SegmentPart::FirstPostings, &before.to_le_bytes());
    terms
}

/// Counts the terms of all documents without counts, in parallel.
fn count_rest(units: &mut [PreparedUnit]) {
    let count = |part: &mut [&mut PreparedDocument]| {
        let mut numbers = TermHasher::default();
        for prepared in part {
            prepared.written = Some(WrittenDocument::encode_document(
                &prepared.document,
                &prepared.document.searched_text(),
                &mut numbers,
            ));
        }
    };
    let mut rest: Vec<&mut PreparedDocument> = units
        .iter_mut()
        .flat_map(|unit| &mut unit.documents)
        .filter(|prepared| prepared.written.is_none())
        .collect();
    if !is_shared(rest.len()) {
        return count(&mut rest);
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = rest.len().div_ceil(threads).max(MIN_DOCUMENTS_PER_THREAD);
    std::thread::scope(|scope| {
        rest.chunks_mut(share).for_each(|part| drop(scope.spawn(|| count(part))));
    });
}

/// The approximate size in bytes of a serialised document without its text.
const DOCUMENT_OVERHEAD_BYTES: usize = 640;

/// The minimum number of documents per thread; fewer are counted before a thread has started.
const MIN_DOCUMENTS_PER_THREAD: usize = 200;

#[derive(Default)]
struct NameHeap {
    heap: Vec<u8>,
}

impl NameHeap {
    fn add(&mut self, name: &str) -> (u32, u32) {
        let offset = self.heap.len() as u32;
        self.heap.extend_from_slice(name.as_bytes());
        (offset, name.len() as u32)
    }
}

//! Units in, bytes of a segment out. The same units give the same bytes, whenever and wherever.

use std::io::{self, Cursor, Seek, Write};

use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::Timestamp;
use rekindle_core::recall::collection::{Flags, NO_TIME};
use rekindle_core::recall::counts::{self, Counted};
use rekindle_core::recall::document::{Document, Stamp, Unit};
use rekindle_core::recall::windows::{self, Window};
use rekindle_core::text::terms::Numbers;
use rekindle_embed::Quantised;

use super::format::{Header, PARTS, Part, Parts};
use super::nibbles;
use super::postings::{self, Posting};
use super::segment::{Kind, UNIT_BYTES};

/// One document with its vectors, as far as there are any.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The document.
    pub document: Document,
    /// Its windows, each with its vector once there is one.
    pub windows: Vec<Embedded>,
    /// Its fine windows likewise.
    pub fine: Vec<Embedded>,
    /// What a segment says of it, once that is known.
    written: Option<Written>,
}

/// What a segment says of a document apart from its windows.
#[derive(Clone, Debug)]
struct Written {
    counted: Counted,
    /// The document as it is kept.
    kept: Vec<u8>,
}

/// A part of a text, and its vector once there is one.
pub type Embedded = (Window, Option<Quantised>);

impl Prepared {
    /// A document without vectors.
    pub fn new(document: Document) -> Self {
        let (windows, fine) = windows::both(&document.searched());
        Self::with(document, bare(windows), bare(fine))
    }

    /// A document without vectors, whose words are counted as well. Otherwise they are when a segment is made.
    pub fn counted(document: Document, numbers: &mut Numbers) -> Self {
        let searched = document.searched();
        let (windows, fine) = windows::both(&searched);
        let written = Some(Written::of(&document, &searched, numbers));
        Self { written, ..Self::with(document, bare(windows), bare(fine)) }
    }

    /// A document that is found by its words alone and never gets a vector.
    pub fn by_words(document: Document) -> Self {
        Self::with(document, Vec::new(), Vec::new())
    }

    /// A document and its windows.
    pub(super) fn with(document: Document, windows: Vec<Embedded>, fine: Vec<Embedded>) -> Self {
        Self { document, windows, fine, written: None }
    }
}

fn bare(windows: Vec<Window>) -> Vec<Embedded> {
    windows.into_iter().map(|window| (window, None)).collect()
}

impl Written {
    fn of(document: &Document, searched: &str, numbers: &mut Numbers) -> Self {
        // A document is plain data: it always has a JSON form.
        let mut kept = Vec::with_capacity(document.text.len() + KEPT_BESIDE);
        serde_json::to_writer(&mut kept, document).unwrap_or_default();
        Self { counted: counts::count(searched, numbers), kept }
    }
}

/// A unit whose documents are prepared.
#[derive(Clone, Debug)]
pub struct PreparedUnit {
    /// The unit, without its documents.
    pub unit: Unit,
    /// They are here.
    pub documents: Vec<Prepared>,
    /// They come behind so many of the file's documents that are in the index already, and take the place of the rest;
    /// `None`: of all of them. A file that grows at its end is added to without being read again.
    pub behind: Option<u32>,
}

impl From<Unit> for PreparedUnit {
    fn from(unit: Unit) -> Self {
        Self::by(unit, Prepared::new)
    }
}

impl PreparedUnit {
    /// A unit whose documents are counted as well.
    pub fn counted(unit: Unit, numbers: &mut Numbers) -> Self {
        Self::by(unit, |document| Prepared::counted(document, numbers))
    }

    fn by(mut unit: Unit, prepare: impl FnMut(Document) -> Prepared) -> Self {
        let documents = std::mem::take(&mut unit.documents).into_iter().map(prepare).collect();
        Self { unit, documents, behind: None }
    }
}

/// Which vectors a segment holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// The model that makes them.
    pub model: String,
    /// Their width.
    pub dimension: usize,
}

/// A segment that is laid out and has not been written yet.
pub(super) struct Laid {
    header: Header,
    parts: [Vec<u8>; PARTS],
    /// Postings and documents are most of a segment without vectors, so they are not put together before: these are in shares,
    postings: Vec<Postings>,
    /// and those are where they are kept.
    units: Vec<PreparedUnit>,
}

impl Laid {
    /// Writes it.
    pub(super) fn write(&self, out: &mut (impl Write + Seek)) -> io::Result<()> {
        let mut parts = Parts::begin(out)?;
        for (part, bytes) in Part::ALL.into_iter().zip(&self.parts) {
            parts.next(part)?;
            parts.put(bytes)?;
            match part {
                Part::PostingDocuments => {
                    self.postings.iter().try_for_each(|share| parts.put(&share.documents))
                }
                Part::PostingCounts => self.postings.iter().try_for_each(|share| parts.put(&share.counts)),
                Part::Blob => self.kept().try_for_each(|kept| parts.put(kept)),
                _ => Ok(()),
            }?;
        }
        parts.finish(self.header.clone())
    }

    fn kept(&self) -> impl Iterator<Item = &[u8]> {
        let documents = self.units.iter().flat_map(|unit| &unit.documents);
        documents.filter_map(|prepared| Some(prepared.written.as_ref()?.kept.as_slice()))
    }

    /// Gives its memory back. With many documents that takes as long as writing them: nobody has to wait for it, and whoever
    /// still allocates would, so this comes last.
    pub(super) fn give_back(self) {
        if is_shared(self.header.documents as usize) {
            // Where no thread can be had, it is given back here.
            std::thread::Builder::new().spawn(move || drop(self)).ok();
        }
    }
}

/// The bytes of a segment.
pub(super) fn build(space: &Space, units: Vec<PreparedUnit>) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    // Memory takes whatever is written to it.
    lay_out(space, units).write(&mut bytes).ok();
    bytes.into_inner()
}

/// Lays out a segment.
pub(super) fn lay_out(space: &Space, mut units: Vec<PreparedUnit>) -> Laid {
    units.sort_by(|a, b| a.unit.path.cmp(&b.unit.path));
    count_rest(&mut units);
    let mut parts: [Vec<u8>; PARTS] = Default::default();
    let mut header = Header {
        units: units.len() as u32,
        dimension: space.dimension as u32,
        model: space.model.clone(),
        ..Header::default()
    };
    let of = |prepared| -> Option<(&Prepared, &Written)> { Some((prepared, prepared.written.as_ref()?)) };
    let documents: Vec<(&Prepared, &Written)> =
        units.iter().flat_map(|unit| &unit.documents).filter_map(of).collect();
    header.documents = documents.len() as u32;
    let mut names = Names::default();
    write_units(&units, &mut parts, &mut names);

    let counted: Vec<&Counted> = documents.iter().map(|(_, written)| &written.counted).collect();
    header.length = counted.iter().map(|counted| u64::from(counted.length)).sum();
    let rest = || {
        write_columns(&documents, &mut parts, &mut names);
        parts[Part::Names as usize] = std::mem::take(&mut names.heap);
        let coarse = [Part::FirstWindows, Part::Windows, Part::Vectors];
        header.windows =
            write_windows(&documents, |prepared| &prepared.windows, coarse, &mut parts, &mut header, bytes);
        let fine = [Part::FirstFine, Part::Fine, Part::FineVectors];
        header.fine =
            write_windows(&documents, |prepared| &prepared.fine, fine, &mut parts, &mut header, half_bytes);
    };
    let postings = postings::sorted(&counted, Postings::of, rest);
    header.terms = write_terms(&postings, &mut parts);
    Laid { header, parts, postings, units }
}

/// Whether a second thread is worth its start for so many documents.
fn is_shared(documents: usize) -> bool {
    documents >= MIN_SHARE * 2 && std::thread::available_parallelism().is_ok_and(|threads| threads.get() > 1)
}

fn write_units(units: &[PreparedUnit], parts: &mut [Vec<u8>; PARTS], names: &mut Names) {
    let mut first = 0_u32;
    let out = &mut parts[Part::Units as usize];
    for unit in units {
        let name = names.add(&unit.unit.path);
        out.extend_from_slice(&unit_bytes(name, first, unit.unit.stamp.as_ref(), unit.behind));
        first += unit.documents.len() as u32;
    }
}

/// A unit as it is written: its name's place, its first document, its stamp and what its documents come behind.
pub(super) fn unit_bytes(
    (offset, length): (u32, u32),
    first: u32,
    stamp: Option<&Stamp>,
    behind: Option<u32>,
) -> [u8; UNIT_BYTES] {
    // 0: gone, 1: whole, from 2 on: behind so many less two.
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

fn write_columns(documents: &[(&Prepared, &Written)], parts: &mut [Vec<u8>; PARTS], names: &mut Names) {
    let mut put = |part: Part, bytes: &[u8]| parts[part as usize].extend_from_slice(bytes);
    let mut projects: Vec<&str> = documents
        .iter()
        .filter_map(|(prepared, _)| prepared.document.project.as_ref())
        .map(ProjectId::as_str)
        .collect();
    projects.sort_unstable();
    projects.dedup();
    for project in &projects {
        let (offset, length) = names.add(project);
        put(Part::Projects, &offset.to_le_bytes());
        put(Part::Projects, &length.to_le_bytes());
    }
    let (mut thread, mut blob_bytes) = (0_u32, 0_u64);
    let mut before: Option<(&str, &str)> = None;
    for (prepared, Written { counted, kept }) in documents {
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
        put(Part::Words, &counted.words.to_le_bytes());
        put(Part::Lengths, &counted.length.to_le_bytes());
        put(Part::Threads, &thread.to_le_bytes());
        put(Part::Created, &document.created.map_or(NO_TIME, Timestamp::as_second).to_le_bytes());
        put(Part::Flags, &Flags::of(document).bits().to_le_bytes());
        put(Part::Scopes, &scope.to_le_bytes());
        put(Part::Blobs, &blob_bytes.to_le_bytes());
        blob_bytes += kept.len() as u64;
    }
    put(Part::Blobs, &blob_bytes.to_le_bytes());
}

/// Writes one kind of windows and says how many there are.
fn write_windows(
    documents: &[(&Prepared, &Written)],
    of: impl Fn(&Prepared) -> &Vec<Embedded>,
    [first, windows, vectors]: [Part; 3],
    parts: &mut [Vec<u8>; PARTS],
    header: &mut Header,
    encode: impl Fn(&Quantised) -> (Vec<u8>, f32),
) -> u32 {
    let dimension = header.dimension as usize;
    let nothing = encode(&none(dimension));
    let fits = |vector: &&Quantised| vector.steps.len() == dimension;
    let all = || documents.iter().flat_map(|(prepared, _)| of(prepared));
    // Before the first vector there are no places for them: they are most of the bytes.
    let any = all().any(|(_, vector)| vector.as_ref().filter(fits).is_some());
    parts[vectors as usize].reserve_exact(if any { all().count() * nothing.0.len() } else { 0 });
    let mut put = |part: Part, bytes: &[u8]| parts[part as usize].extend_from_slice(bytes);
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

/// What stands in the place of a vector that is not there yet.
fn none(dimension: usize) -> Quantised {
    Quantised { steps: vec![0; dimension], scale: 0.0 }
}

/// The same as it is written.
pub(super) fn written_none(kind: Kind, dimension: usize) -> Vec<u8> {
    match kind {
        Kind::Whole => bytes(&none(dimension)).0,
        Kind::Fine => half_bytes(&none(dimension)).0,
    }
}

/// A vector that everything is compared with: a byte to a step.
fn bytes(vector: &Quantised) -> (Vec<u8>, f32) {
    (vector.steps.iter().map(|step| step.cast_unsigned()).collect(), vector.scale)
}

/// A vector that is only looked at closely: half a byte to a step.
fn half_bytes(vector: &Quantised) -> (Vec<u8>, f32) {
    let coarse = nibbles::coarsen(vector);
    (nibbles::pack(&coarse.steps), coarse.scale)
}

/// A share of the postings as it is written.
struct Postings {
    terms: Vec<u8>,
    /// Where those of each term begin in this share.
    first: Vec<u32>,
    documents: Vec<u8>,
    counts: Vec<u8>,
}

impl Postings {
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
            out.counts.extend_from_slice(&posting.count.pack().to_le_bytes());
        }
        out
    }
}

/// Writes of which terms the postings are, one share after the other, and says how many there are. No term is in two of them.
fn write_terms(postings: &[Postings], parts: &mut [Vec<u8>; PARTS]) -> u32 {
    let mut put = |part: Part, bytes: &[u8]| parts[part as usize].extend_from_slice(bytes);
    let (mut terms, mut before) = (0, 0_u32);
    for share in postings {
        put(Part::Terms, &share.terms);
        share.first.iter().for_each(|first| put(Part::FirstPostings, &(before + first).to_le_bytes()));
        terms += share.first.len() as u32;
        before += (share.documents.len() / 4) as u32;
    }
    put(Part::FirstPostings, &before.to_le_bytes());
    terms
}

/// Counts the words of all documents that nobody has counted yet. Every text is on its own.
fn count_rest(units: &mut [PreparedUnit]) {
    let count = |part: &mut [&mut Prepared]| {
        let mut numbers = Numbers::default();
        for prepared in part {
            prepared.written =
                Some(Written::of(&prepared.document, &prepared.document.searched(), &mut numbers));
        }
    };
    let mut rest: Vec<&mut Prepared> = units
        .iter_mut()
        .flat_map(|unit| &mut unit.documents)
        .filter(|prepared| prepared.written.is_none())
        .collect();
    if !is_shared(rest.len()) {
        return count(&mut rest);
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = rest.len().div_ceil(threads).max(MIN_SHARE);
    std::thread::scope(|scope| {
        rest.chunks_mut(share).for_each(|part| drop(scope.spawn(|| count(part))));
    });
}

/// What is kept of a document beside its text takes about so many bytes.
const KEPT_BESIDE: usize = 640;

/// Fewer documents than this are counted before a thread has started.
const MIN_SHARE: usize = 200;

#[derive(Default)]
struct Names {
    heap: Vec<u8>,
}

impl Names {
    fn add(&mut self, name: &str) -> (u32, u32) {
        let offset = self.heap.len() as u32;
        self.heap.extend_from_slice(name.as_bytes());
        (offset, name.len() as u32)
    }
}

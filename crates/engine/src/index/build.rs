//! Units in, bytes of a segment out. The same units give the same bytes, whenever and wherever.

use rekindle_core::recall::collection::{Flags, NO_TIME};
use rekindle_core::recall::counts::{self, Counted};
use rekindle_core::recall::document::{Document, Stamp, Unit};
use rekindle_core::recall::terms::Numbers;
use rekindle_core::recall::windows::{self, Window};
use rekindle_core::scope::ProjectId;
use rekindle_core::time::Timestamp;
use rekindle_embed::Quantised;

use super::format::{Header, PARTS, Part, assemble};
use super::segment::{Kind, UNIT_BYTES};
use super::{nibbles, postings};

/// One document with its vectors, as far as there are any.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The document.
    pub document: Document,
    /// Its windows, each with its vector once there is one.
    pub windows: Vec<Embedded>,
    /// Its fine windows likewise.
    pub fine: Vec<Embedded>,
}

/// A part of a text, and its vector once there is one.
pub type Embedded = (Window, Option<Quantised>);

impl Prepared {
    /// A document without vectors.
    pub fn new(document: Document) -> Self {
        let searched = document.searched();
        let bare = |windows: Vec<Window>| windows.into_iter().map(|window| (window, None)).collect();
        let (windows, fine) = windows::both(&searched);
        Self { windows: bare(windows), fine: bare(fine), document }
    }
}

impl Prepared {
    /// A document that is found by its words alone and never gets a vector.
    pub fn by_words(document: Document) -> Self {
        Self { document, windows: Vec::new(), fine: Vec::new() }
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
    fn from(mut unit: Unit) -> Self {
        let documents = std::mem::take(&mut unit.documents).into_iter().map(Prepared::new).collect();
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

/// Lays out a segment.
pub(super) fn build(space: &Space, mut units: Vec<PreparedUnit>) -> Vec<u8> {
    units.sort_by(|a, b| a.unit.path.cmp(&b.unit.path));
    let mut parts: [Vec<u8>; PARTS] = Default::default();
    let mut header = Header {
        units: units.len() as u32,
        dimension: space.dimension as u32,
        model: space.model.clone(),
        ..Header::default()
    };
    let documents: Vec<&Prepared> = units.iter().flat_map(|unit| &unit.documents).collect();
    header.documents = documents.len() as u32;
    let mut names = Names::default();
    write_units(&units, &mut parts, &mut names);

    let (counted, blobs) = count_all(&documents);
    header.length = counted.iter().map(|counted| u64::from(counted.length)).sum();
    let mut rest = || {
        write_columns(&documents, &counted, &blobs, &mut parts, &mut names);
        parts[Part::Names as usize] = std::mem::take(&mut names.heap);
        let coarse = [Part::FirstWindows, Part::Windows, Part::Vectors];
        header.windows =
            write_windows(&documents, |prepared| &prepared.windows, coarse, &mut parts, &mut header, bytes);
        let fine = [Part::FirstFine, Part::Fine, Part::FineVectors];
        header.fine =
            write_windows(&documents, |prepared| &prepared.fine, fine, &mut parts, &mut header, half_bytes);
    };
    let postings = if is_shared(documents.len()) {
        std::thread::scope(|scope| {
            let postings = scope.spawn(|| write_postings(&counted));
            rest();
            postings.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    } else {
        rest();
        write_postings(&counted)
    };
    header.terms = (postings[0].1.len() / size_of::<u64>()) as u32;
    postings.into_iter().for_each(|(part, bytes)| parts[part as usize] = bytes);
    let bytes = assemble(header, &parts);
    // Giving the memory of many documents back takes as long as writing them; nobody has to wait for it.
    if is_shared(documents.len()) {
        // Where no thread can be had, it is given back here.
        std::thread::Builder::new().spawn(move || drop((units, counted, blobs, parts))).ok();
    }
    bytes
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

fn write_columns(
    documents: &[&Prepared],
    counted: &[Counted],
    blobs: &[Vec<u8>],
    parts: &mut [Vec<u8>; PARTS],
    names: &mut Names,
) {
    parts[Part::Blob as usize].reserve_exact(blobs.iter().map(Vec::len).sum());
    let mut put = |part: Part, bytes: &[u8]| parts[part as usize].extend_from_slice(bytes);
    let mut projects: Vec<&str> = documents
        .iter()
        .filter_map(|prepared| prepared.document.project.as_ref())
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
    for ((prepared, counted), blob) in documents.iter().zip(counted).zip(blobs) {
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
        blob_bytes += blob.len() as u64;
        put(Part::Blob, blob);
    }
    put(Part::Blobs, &blob_bytes.to_le_bytes());
}

/// Writes one kind of windows and says how many there are.
fn write_windows(
    documents: &[&Prepared],
    of: impl Fn(&Prepared) -> &Vec<Embedded>,
    [first, windows, vectors]: [Part; 3],
    parts: &mut [Vec<u8>; PARTS],
    header: &mut Header,
    encode: impl Fn(&Quantised) -> (Vec<u8>, f32),
) -> u32 {
    let dimension = header.dimension as usize;
    let nothing = encode(&none(dimension));
    let fits = |vector: &&Quantised| vector.steps.len() == dimension;
    let all = || documents.iter().flat_map(|prepared| of(prepared));
    // Before the first vector there are no places for them: they are most of the bytes.
    let any = all().any(|(_, vector)| vector.as_ref().filter(fits).is_some());
    parts[vectors as usize].reserve_exact(if any { all().count() * nothing.0.len() } else { 0 });
    let mut put = |part: Part, bytes: &[u8]| parts[part as usize].extend_from_slice(bytes);
    let mut count = 0_u32;
    for embedded in documents.iter().map(|prepared| of(prepared)) {
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

/// The terms, where the postings of each begin, and the postings.
fn write_postings(counted: &[Counted]) -> [(Part, Vec<u8>); 4] {
    let postings = postings::sorted(counted);
    let (mut terms, mut first) = (Vec::new(), Vec::new());
    let mut documents = Vec::with_capacity(postings.len() * 4);
    let mut counts = Vec::with_capacity(postings.len() * 2);
    let mut last = None;
    for (place, posting) in postings.iter().enumerate() {
        if last != Some(posting.term) {
            terms.extend_from_slice(&posting.term.to_le_bytes());
            first.extend_from_slice(&(place as u32).to_le_bytes());
            last = Some(posting.term);
        }
        documents.extend_from_slice(&posting.document.to_le_bytes());
        counts.extend_from_slice(&posting.count.pack().to_le_bytes());
    }
    first.extend_from_slice(&(postings.len() as u32).to_le_bytes());
    [
        (Part::Terms, terms),
        (Part::FirstPostings, first),
        (Part::PostingDocuments, documents),
        (Part::PostingCounts, counts),
    ]
}

/// The terms of all documents, and each as it is kept. That is most of the work, and every text is on its own.
fn count_all(documents: &[&Prepared]) -> (Vec<Counted>, Vec<Vec<u8>>) {
    // A document is plain data: it always has a JSON form.
    let count = |part: &[&Prepared]| -> (Vec<Counted>, Vec<Vec<u8>>) {
        let mut numbers = Numbers::default();
        let one = |prepared: &&Prepared| {
            let blob = serde_json::to_vec(&prepared.document).unwrap_or_default();
            (counts::count(&prepared.document.searched(), &mut numbers), blob)
        };
        part.iter().map(one).unzip()
    };
    if !is_shared(documents.len()) {
        return count(documents);
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = documents.len().div_ceil(threads).max(MIN_SHARE);
    std::thread::scope(|scope| {
        let shares: Vec<_> = documents.chunks(share).map(|part| scope.spawn(|| count(part))).collect();
        let (mut counted, mut blobs) =
            (Vec::with_capacity(documents.len()), Vec::with_capacity(documents.len()));
        for share in shares {
            let (more, kept) = share.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            counted.extend(more);
            blobs.extend(kept);
        }
        (counted, blobs)
    })
}

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

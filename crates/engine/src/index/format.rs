//! The file format of a segment: a header with the position of each part, then the parts. All numbers are
//! little-endian, so that any language on any machine can read it (STO-18).
//!
//! ```text
//! "rkindex\n"  version  header length  total length  counts …  parts: offset, length, checksum …  header checksum
//! ```
//!
//! Opening a segment reads only the header. Every later access is checked against the bounds of its part. A
//! truncated or overwritten file therefore gives wrong answers at worst, but never a crash; `verify` detects
//! the damage.

use std::io::{self, Seek, SeekFrom, Write};

use rekindle_core::base::hash::{ByteChecksum, checksum};

use super::nibbles;

/// The magic bytes of a segment.
const MAGIC: [u8; 8] = *b"rkindex\n";
/// The version of the format. A segment of another version is rebuilt.
pub(super) const FORMAT_VERSION: u32 = 3;
/// The alignment of parts, in bytes.
const ALIGNMENT: usize = 64;
const HEADER_BYTES: usize = 8 + 4 + 4 + 8 + 7 * 4 + 8 + MODEL_BYTES + PART_COUNT * 24 + 8;
/// The maximum length of a model's name, in bytes.
pub(super) const MODEL_BYTES: usize = 128;

/// The scope of an erased document. It is no project's, so readers that do not know this value never see it.
pub(super) const ERASED_SCOPE: u32 = u32::MAX;

/// The size of a unit in bytes.
pub(super) const UNIT_BYTES: usize = 64;
/// The size of a window in bytes.
pub(super) const WINDOW_BYTES: usize = 12;

/// The space of the vectors in a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorSpace {
    /// The model that computes the vectors.
    pub model: String,
    /// The dimension of the vectors.
    pub dimension: usize,
}

impl VectorSpace {
    /// The space of an index without vectors.
    pub fn none() -> Self {
        Self { model: String::new(), dimension: 0 }
    }
}

/// The parts of a segment, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum SegmentPart {
    /// For each unit: path offset and length, first document, state, modified, size, hash.
    Units,
    /// The paths of units and the names of projects, concatenated.
    Names,
    /// For each project: offset and length of its name.
    Projects,
    /// For each document: the number of running words.
    Words,
    /// For each document: the number of terms.
    Lengths,
    /// For each document: the number of its thread.
    Threads,
    /// For each document: the creation time in seconds since 1970.
    Created,
    /// For each document: its flags.
    Flags,
    /// For each document: the number of its project plus one; 0 means every project, [`ERASED_SCOPE`] that it was erased.
    Scopes,
    /// For each document and one more: the offset of its JSON in the blob.
    Blobs,
    /// The documents as JSON, concatenated.
    Blob,
    /// For each document and one more: its first window.
    FirstWindows,
    /// For each window: start and end in the searched text, and the scale of its vector (0: no vector yet).
    Windows,
    /// For each window: its vector. Empty if no window has a vector.
    Vectors,
    /// For each document and one more: its first fine window.
    FirstFine,
    /// For each fine window: as [`SegmentPart::Windows`].
    Fine,
    /// For each fine window: its vector, with four bits per step. Empty if no fine window has a vector.
    FineVectors,
    /// The hashes of all terms, ascending.
    Terms,
    /// For each term and one more: its first posting.
    FirstPostings,
    /// For each posting: the document.
    PostingDocuments,
    /// For each posting: the number of occurrences, in the whole text and at each end.
    PostingCounts,
}

/// The kinds of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowKind {
    /// Whole windows, which every query scans.
    Whole,
    /// Fine windows, which only rescoring reads.
    Fine,
}

impl WindowKind {
    /// The parts with the first window of each document, the windows and their vectors, and the size of a
    /// vector in bytes.
    pub(super) fn parts(self, dimension: usize) -> ([SegmentPart; 3], usize) {
        match self {
            Self::Whole => {
                ([SegmentPart::FirstWindows, SegmentPart::Windows, SegmentPart::Vectors], dimension)
            }
            Self::Fine => (
                [SegmentPart::FirstFine, SegmentPart::Fine, SegmentPart::FineVectors],
                nibbles::width(dimension),
            ),
        }
    }
}

/// The number of parts.
pub(super) const PART_COUNT: usize = 21;

impl SegmentPart {
    /// All parts, in order.
    pub(super) const ALL: [Self; PART_COUNT] = [
        Self::Units,
        Self::Names,
        Self::Projects,
        Self::Words,
        Self::Lengths,
        Self::Threads,
        Self::Created,
        Self::Flags,
        Self::Scopes,
        Self::Blobs,
        Self::Blob,
        Self::FirstWindows,
        Self::Windows,
        Self::Vectors,
        Self::FirstFine,
        Self::Fine,
        Self::FineVectors,
        Self::Terms,
        Self::FirstPostings,
        Self::PostingDocuments,
        Self::PostingCounts,
    ];
}

/// The header of a segment, with its counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) units: u32,
    pub(super) documents: u32,
    pub(super) windows: u32,
    pub(super) fine: u32,
    pub(super) terms: u32,
    /// The number of windows without a vector.
    pub(super) pending: u32,
    /// The dimension of a vector.
    pub(super) dimension: u32,
    /// The total number of terms of all documents.
    pub(super) length: u64,
    /// The model that made the vectors.
    pub(super) model: String,
    /// Offset, length and checksum of each part.
    pub(super) parts: [(u64, u64, u64); PART_COUNT],
}

/// The damage that makes a segment unusable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentDamage {
    /// The file is not a segment.
    #[error("it is not an index file")]
    Foreign,
    /// The file has the format of another version.
    #[error("it was made by another version of Rekindle (format {0}, this one reads {FORMAT_VERSION})")]
    Version(u32),
    /// A listed file is missing.
    #[error("it is not there")]
    Missing,
    /// The file was truncated or extended.
    #[error("it has {is} bytes and should have {should}")]
    Length {
        /// The actual length in bytes.
        is: u64,
        /// The length in bytes that the header gives.
        should: u64,
    },
    /// The content does not match its checksum.
    #[error("its {0} do not add up")]
    Checksum(&'static str),
}

/// Writes a segment part by part, in pieces. The header comes last, because it contains the lengths.
pub(super) struct SegmentWriter<'a, W: Write + Seek> {
    out: &'a mut W,
    /// The buffer of unwritten bytes.
    waiting: Vec<u8>,
    at: u64,
    done: [(u64, u64, u64); PART_COUNT],
    /// The current part: its start, and its checksum so far.
    part: Option<(SegmentPart, u64, ByteChecksum)>,
}

impl<'a, W: Write + Seek> SegmentWriter<'a, W> {
    /// Starts a segment and reserves space for the header.
    pub(super) fn begin(out: &'a mut W) -> io::Result<Self> {
        let mut parts = Self { out, waiting: Vec::new(), at: 0, done: [(0, 0, 0); PART_COUNT], part: None };
        parts.fill(HEADER_BYTES.next_multiple_of(ALIGNMENT))?;
        Ok(parts)
    }

    /// Ends a part and starts the next one, in the order of [`SegmentPart`].
    pub(super) fn next(&mut self, part: SegmentPart) -> io::Result<()> {
        self.end()?;
        self.part = Some((part, self.at, ByteChecksum::default()));
        Ok(())
    }

    /// Appends bytes to the current part.
    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some((.., sum)) = &mut self.part {
            sum.add(bytes);
        }
        self.write(bytes)
    }

    /// Writes the header, whose part positions are filled in here.
    pub(super) fn finish(mut self, mut header: SegmentHeader) -> io::Result<()> {
        self.end()?;
        header.parts = self.done;
        self.out.write_all(&self.waiting)?;
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&header.encode(self.at))?;
        self.out.flush()
    }

    fn end(&mut self) -> io::Result<()> {
        if let Some((part, start, sum)) = self.part.take() {
            self.done[part as usize] = (start, self.at - start, sum.sum());
            let used = (self.at % ALIGNMENT as u64) as usize;
            self.fill(used.next_multiple_of(ALIGNMENT) - used)?;
        }
        Ok(())
    }

    fn fill(&mut self, count: usize) -> io::Result<()> {
        self.write(&vec![0; count])
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(WRITE_BLOCK_BYTES - self.waiting.len()));
            self.waiting.extend_from_slice(now);
            bytes = later;
            if self.waiting.len() == WRITE_BLOCK_BYTES {
                self.out.write_all(&self.waiting)?;
                self.waiting.clear();
            }
        }
        Ok(())
    }
}

/// The block size of writes in bytes; writes are aligned to it. On most Linux file systems, the page cache
/// keeps a file in the pieces in which it was written and maps it in these pieces. With a buffer of 64 KiB,
/// 60 MB took 4.3 ms to map and 2.8 ms to unmap; with this block size, both together take 0.1 ms.
const WRITE_BLOCK_BYTES: usize = 2 * 1024 * 1024;

impl SegmentHeader {
    /// Serialises the header of a segment of `total` bytes.
    pub(super) fn encode(&self, total: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes.extend_from_slice(&(HEADER_BYTES as u32).to_le_bytes());
        bytes.extend_from_slice(&total.to_le_bytes());
        for count in
            [self.units, self.documents, self.windows, self.fine, self.terms, self.pending, self.dimension]
        {
            bytes.extend_from_slice(&count.to_le_bytes());
        }
        bytes.extend_from_slice(&self.length.to_le_bytes());
        let model = &self.model.as_bytes()[..self.model.len().min(MODEL_BYTES)];
        bytes.extend_from_slice(model);
        bytes.resize(bytes.len() + MODEL_BYTES - model.len(), 0);
        for (offset, length, sum) in self.parts {
            for value in [offset, length, sum] {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
        bytes.extend_from_slice(&checksum(&bytes).to_le_bytes());
        bytes
    }

    /// Parses the header and checks that all parts are within the file.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, SegmentDamage> {
        let mut fields = HeaderFields { bytes, at: 0 };
        if fields.take(8) != Some(&MAGIC) {
            return Err(SegmentDamage::Foreign);
        }
        let version = fields.u32().ok_or(SegmentDamage::Foreign)?;
        if version != FORMAT_VERSION {
            return Err(SegmentDamage::Version(version));
        }
        let short = |should: u64| SegmentDamage::Length { is: bytes.len() as u64, should };
        let whole = bytes.get(..HEADER_BYTES).ok_or(short(HEADER_BYTES as u64))?;
        let (head, sum) = whole.split_at(HEADER_BYTES - 8);
        if checksum(head).to_le_bytes() != sum {
            return Err(SegmentDamage::Checksum("header"));
        }
        let mut read = || -> Option<(Self, u64)> {
            fields.u32()?;
            let total = fields.u64()?;
            let mut header = Self {
                units: fields.u32()?,
                documents: fields.u32()?,
                windows: fields.u32()?,
                fine: fields.u32()?,
                terms: fields.u32()?,
                pending: fields.u32()?,
                dimension: fields.u32()?,
                length: fields.u64()?,
                ..Self::default()
            };
            let model = fields.take(MODEL_BYTES)?;
            let end = model.iter().position(|byte| *byte == 0).unwrap_or(MODEL_BYTES);
            header.model = String::from_utf8_lossy(&model[..end]).into_owned();
            for part in &mut header.parts {
                *part = (fields.u64()?, fields.u64()?, fields.u64()?);
            }
            Some((header, total))
        };
        let (header, total) = read().ok_or(SegmentDamage::Checksum("header"))?;
        if total != bytes.len() as u64 {
            return Err(short(total));
        }
        let inside = |(offset, length, _): &(u64, u64, u64)| {
            offset.checked_add(*length).is_some_and(|end| end <= total)
        };
        if !header.parts.iter().all(inside) {
            return Err(SegmentDamage::Checksum("header"));
        }
        Ok(header)
    }

    /// The bytes of a part. `bytes` must be those of the parsed file.
    pub(super) fn part<'a>(&self, bytes: &'a [u8], part: SegmentPart) -> &'a [u8] {
        let range = self.range(part);
        bytes.get(range).unwrap_or_default()
    }

    /// The byte range of a part.
    pub(super) fn range(&self, part: SegmentPart) -> std::ops::Range<usize> {
        let (offset, length, _) = self.parts[part as usize];
        offset as usize..offset as usize + length as usize
    }

    /// Compares the checksum of every part with the one that `sum` computes for its range in the file.
    pub(super) fn verify(&self, sum: impl Fn(std::ops::Range<usize>) -> u64) -> Result<(), SegmentDamage> {
        let good = |part: SegmentPart| sum(self.range(part)) == self.parts[part as usize].2;
        if SegmentPart::ALL.into_iter().all(good) { Ok(()) } else { Err(SegmentDamage::Checksum("parts")) }
    }
}

struct HeaderFields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> HeaderFields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at + count)?;
        self.at += count;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn example() -> Vec<u8> {
        let header =
            SegmentHeader { units: 1, documents: 2, model: "a/b".into(), ..SegmentHeader::default() };
        let mut bytes = io::Cursor::new(Vec::new());
        let mut parts = SegmentWriter::begin(&mut bytes).unwrap();
        for part in SegmentPart::ALL {
            parts.next(part).unwrap();
            parts.put(&vec![part as u8; part as usize * 7]).unwrap();
        }
        parts.finish(header).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn a_segment_reads_back() {
        let bytes = example();
        let header = SegmentHeader::decode(&bytes).unwrap();
        assert_eq!((header.units, header.documents, header.model.as_str()), (1, 2, "a/b"));
        assert_eq!(
            header.part(&bytes, SegmentPart::Terms),
            vec![SegmentPart::Terms as u8; SegmentPart::Terms as usize * 7]
        );
        assert_eq!(SegmentPart::PostingCounts as usize + 1, PART_COUNT);
        header.verify(|range| checksum(&bytes[range])).unwrap();
    }

    #[test]
    fn a_segment_of_many_blocks_reads_back() {
        let of = |part: SegmentPart| -> Vec<u8> {
            let length = [3, WRITE_BLOCK_BYTES - 1, WRITE_BLOCK_BYTES, 2 * WRITE_BLOCK_BYTES + 5, 0]
                .get(part as usize)
                .copied()
                .unwrap_or(9);
            (0..length).map(|at| (at * 31 + part as usize) as u8).collect()
        };
        let mut bytes = io::Cursor::new(Vec::new());
        let mut parts = SegmentWriter::begin(&mut bytes).unwrap();
        for part in SegmentPart::ALL {
            parts.next(part).unwrap();
            // The pieces do not align with blocks.
            of(part).chunks(700_001).for_each(|piece| parts.put(piece).unwrap());
        }
        parts.finish(SegmentHeader::default()).unwrap();
        let bytes = bytes.into_inner();
        let header = SegmentHeader::decode(&bytes).unwrap();
        header.verify(|range| checksum(&bytes[range])).unwrap();
        assert!(SegmentPart::ALL.into_iter().all(|part| header.part(&bytes, part) == of(part)));
    }

    #[test]
    fn damage_has_a_name() {
        let bytes = example();
        assert_eq!(SegmentHeader::decode(b""), Err(SegmentDamage::Foreign));
        assert_eq!(SegmentHeader::decode(&vec![0; bytes.len()]), Err(SegmentDamage::Foreign));
        assert!(matches!(SegmentHeader::decode(&bytes[..20]), Err(SegmentDamage::Length { .. })));
        assert!(matches!(
            SegmentHeader::decode(&bytes[..bytes.len() - 1]),
            Err(SegmentDamage::Length { .. })
        ));
        let mut newer = bytes.clone();
        newer[8] = 9;
        assert_eq!(SegmentHeader::decode(&newer), Err(SegmentDamage::Version(9)));
        let mut counts = bytes.clone();
        counts[24] = 9;
        assert_eq!(SegmentHeader::decode(&counts), Err(SegmentDamage::Checksum("header")));
        let mut inside = bytes.clone();
        *inside.last_mut().unwrap() ^= 1;
        let last = SegmentHeader::decode(&inside).unwrap();
        // Padding belongs to no part.
        assert!(last.verify(|range| checksum(&inside[range])).is_ok());
        let at = last.range(SegmentPart::Terms).start;
        inside[at] ^= 1;
        assert_eq!(last.verify(|range| checksum(&inside[range])), Err(SegmentDamage::Checksum("parts")));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..900), ours in any::<bool>()) {
            if ours && bytes.len() >= 12 {
                bytes[..12].copy_from_slice(&example()[..12]);
            }
            prop_assert!(SegmentHeader::decode(&bytes).is_err());
        }

        #[test]
        fn one_changed_byte_of_the_header_is_noticed(at in 0_usize..HEADER_BYTES, by in 1_u8..255) {
            let mut bytes = example();
            bytes[at] = bytes[at].wrapping_add(by);
            prop_assert!(SegmentHeader::decode(&bytes).is_err());
        }
    }
}

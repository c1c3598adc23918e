//! Computes the edits that overwrite documents in a segment. What remains is a valid segment: sorted, with right
//! checksums, and of the same length.

use std::collections::{BTreeMap, BTreeSet};

use rekindle_core::base::hash::{ByteChecksum, ContentHash};
use rekindle_core::recall::collection::NO_TIMESTAMP;
use rekindle_core::recall::document::FileStamp;

use super::build::unit_bytes;
use super::format::{ERASED_SCOPE, SegmentPart, UNIT_BYTES, WINDOW_BYTES, WindowKind};
use super::segment::{IndexSegment, IndexedUnit, u32_at};
use crate::platform::disk::FileEdit;

/// The stamp of a file of which documents were erased: no file has it, so the next refresh reads the file again.
pub(super) const UNKNOWN_STAMP: FileStamp =
    FileStamp { modified: 0, size: 0, hash: ContentHash::from_bytes([0; 32]) };

/// The byte that replaces the path of an erased file. No path of a note contains it.
const ERASED_NAME_BYTE: u8 = 1;
/// The document number in an erased posting: none, and larger than all others, so that a list stays sorted.
const ERASED_POSTING: u32 = u32::MAX;

/// Documents of a segment to overwrite.
pub(super) struct BlankedDocuments<'a> {
    pub(super) segment: &'a IndexSegment,
    /// The units that leave with their paths. All their documents are in `documents`.
    pub(super) units: &'a BTreeSet<u32>,
    pub(super) documents: &'a BTreeSet<u32>,
}

/// Edits by the offset in the file. They do not overlap.
#[derive(Default)]
struct EditList(BTreeMap<u64, Vec<u8>>);

impl BlankedDocuments<'_> {
    /// The edits of the file, the header last.
    pub(super) fn edits(&self) -> Vec<FileEdit> {
        let mut edits = EditList::default();
        let mut terms = 0_u64;
        for document in self.documents {
            terms += u64::from(u32::from_le_bytes(self.segment.cell(SegmentPart::Lengths, *document)));
            self.blank_columns(*document, &mut edits);
            self.blank_windows(*document, &mut edits);
        }
        self.blank_postings(&mut edits);
        self.blank_units(&mut edits);
        let mut header = self.segment.header().clone();
        header.length = header.length.saturating_sub(terms);
        for part in SegmentPart::ALL {
            let range = header.range(part);
            if edits.0.range(range.start as u64..range.end as u64).next().is_some() {
                header.parts[part as usize].2 = self.checksum(&range, &edits);
            }
        }
        let mut all: Vec<FileEdit> = edits.0.into_iter().collect();
        all.push((0, header.encode(self.segment.size() as u64)));
        all
    }

    fn put(&self, edits: &mut EditList, part: SegmentPart, offset: usize, bytes: Vec<u8>) {
        let range = self.segment.header().range(part);
        let is_inside = offset.checked_add(bytes.len()).is_some_and(|end| end <= range.len());
        // A damaged segment may claim positions outside of its parts.
        if is_inside && !bytes.is_empty() {
            edits.0.insert((range.start + offset) as u64, bytes);
        }
    }

    fn blank_columns(&self, document: u32, edits: &mut EditList) {
        let at = document as usize;
        for part in [SegmentPart::Words, SegmentPart::Lengths, SegmentPart::Flags] {
            self.put(edits, part, at * 4, vec![0; 4]);
        }
        self.put(edits, SegmentPart::Scopes, at * 4, ERASED_SCOPE.to_le_bytes().to_vec());
        self.put(edits, SegmentPart::Created, at * 8, NO_TIMESTAMP.to_le_bytes().to_vec());
        let start = u64::from_le_bytes(self.segment.cell(SegmentPart::Blobs, document)) as usize;
        let length = self.segment.document_blob(document).map_or(0, <[u8]>::len);
        self.put(edits, SegmentPart::Blob, start, vec![0; length]);
    }

    fn blank_windows(&self, document: u32, edits: &mut EditList) {
        for kind in [WindowKind::Whole, WindowKind::Fine] {
            let ([first, windows, vectors], width) = kind.parts(self.segment.width());
            let start = self.segment.window_range(document, first).start;
            let written = self.segment.written_windows(document, kind);
            // A window with a scale has its vector, so that nobody computes one.
            let blank = written.windows.iter().flat_map(|window| {
                let had = u32_at(window, 2).is_some_and(|scale| f32::from_bits(scale) > 0.0);
                let scale = if had { f32::MIN_POSITIVE } else { 0.0 };
                let mut blank = [0; WINDOW_BYTES];
                blank[8..].copy_from_slice(&scale.to_le_bytes());
                blank
            });
            self.put(edits, windows, start * WINDOW_BYTES, blank.collect());
            self.put(edits, vectors, start * width, vec![0; written.vectors.len()]);
        }
    }

    /// Removes the documents from all lists of postings. A list keeps its place, so the numbers at its end are
    /// invalid ones. The hash of a term without documents is replaced by one between its neighbours.
    fn blank_postings(&self, edits: &mut EditList) {
        let mut is_erased = vec![false; self.segment.documents() as usize];
        for document in self.documents {
            if let Some(erased) = is_erased.get_mut(*document as usize) {
                *erased = true;
            }
        }
        let is_gone = |document: u32| is_erased.get(document as usize).copied().unwrap_or(true);
        let (mut place, mut before) = (0, None::<u64>);
        while let Some(term) = self.segment.term(place) {
            let range = self.segment.postings_at(place).unwrap_or_default();
            let list = || self.segment.written_postings(place);
            let mut own = term;
            if let Some(first) =
                list().position(|(document, _)| is_erased.get(document as usize) == Some(&true))
            {
                let kept: Vec<(u32, [u8; 2])> =
                    list().skip(first).filter(|(document, _)| !is_gone(*document)).collect();
                let fill = range.len() - first - kept.len();
                let documents = kept.iter().map(|(document, _)| *document);
                let documents =
                    documents.chain(std::iter::repeat_n(ERASED_POSTING, fill)).flat_map(u32::to_le_bytes);
                let counts = kept.iter().map(|(_, count)| *count);
                let counts = counts.chain(std::iter::repeat_n([0; 2], fill)).flatten();
                self.put(
                    edits,
                    SegmentPart::PostingDocuments,
                    (range.start + first) * 4,
                    documents.collect(),
                );
                self.put(edits, SegmentPart::PostingCounts, (range.start + first) * 2, counts.collect());
                if first == 0 && kept.is_empty() {
                    own = before.map_or(0, |before| before.saturating_add(1));
                    self.put(edits, SegmentPart::Terms, place * 8, own.to_le_bytes().to_vec());
                }
            }
            (place, before) = (place + 1, Some(own));
        }
    }

    /// Overwrites the paths of the units that leave, and the stamps of all units with an erased document.
    fn blank_units(&self, edits: &mut EditList) {
        let touched = self.documents.iter().filter_map(|document| Some(self.segment.unit_with(*document)?.0));
        for number in touched.filter(|number| !self.units.contains(number)).collect::<BTreeSet<u32>>() {
            if let Some((unit, place)) = self.segment.unit(number).zip(self.segment.unit_name_range(number)) {
                let stamp = unit.stamp.as_ref().map(|_| &UNKNOWN_STAMP);
                self.put_unit(number, (place.start as u32, place.len() as u32), &unit, stamp, edits);
            }
        }
        for number in self.units {
            if let Some(place) = self.segment.unit_name_range(*number) {
                self.put(edits, SegmentPart::Names, place.start, vec![ERASED_NAME_BYTE; place.len()]);
            }
        }
        // Paths stay sorted: an erased one is that of the unit before, and some of the bytes that replace it. That unit
        // may be an erased one, so those that were erased earlier get new ranges too.
        let mut done = 0;
        for first in self.units {
            if *first < done {
                continue;
            }
            let start =
                (0..*first).rev().take_while(|number| self.is_blank(*number)).last().unwrap_or(*first);
            let before =
                start.checked_sub(1).and_then(|number| self.segment.unit_name_range(number)).unwrap_or(0..0);
            done = start;
            while self.is_blank(done) {
                if let Some(unit) = self.segment.unit(done) {
                    let length = before.len() as u32 + (done - start) + 1;
                    self.put_unit(done, (before.start as u32, length), &unit, None, edits);
                }
                done += 1;
            }
        }
    }

    /// True if the path of a unit is erased, now or earlier.
    fn is_blank(&self, number: u32) -> bool {
        let erased = |unit: IndexedUnit<'_>| unit.path.as_bytes().contains(&ERASED_NAME_BYTE);
        self.units.contains(&number) || self.segment.unit(number).is_some_and(erased)
    }

    fn put_unit(
        &self,
        number: u32,
        name: (u32, u32),
        unit: &IndexedUnit<'_>,
        stamp: Option<&FileStamp>,
        edits: &mut EditList,
    ) {
        let bytes = unit_bytes(name, unit.documents.start, stamp, unit.behind);
        self.put(edits, SegmentPart::Units, number as usize * UNIT_BYTES, bytes.to_vec());
    }

    /// The checksum of a part after the edits.
    fn checksum(&self, range: &std::ops::Range<usize>, edits: &EditList) -> u64 {
        let mut sum = ByteChecksum::default();
        let mut at = range.start;
        for (offset, bytes) in edits.0.range(range.start as u64..range.end as u64) {
            self.segment.sum_up(&mut sum, at..*offset as usize);
            sum.add(bytes);
            at = *offset as usize + bytes.len();
        }
        self.segment.sum_up(&mut sum, at..range.end);
        sum.sum()
    }
}

//! Merges segments into one, copying part by part. Memory holds only a few numbers per document, whatever its
//! size. The bytes are those that [`super::build`] would write.

use std::collections::BTreeMap;
use std::io::{self, Seek, Write};
use std::ops::Range;

use rekindle_core::recall::document::FileStamp;

use super::format::{
    SegmentDamage, SegmentHeader, SegmentPart, SegmentWriter, VectorSpace, WINDOW_BYTES, WindowKind,
};
use super::segment::{IndexSegment, RELEASE_BYTES, WrittenWindows};

/// The size of a posting in a segment.
const POSTING_BYTES: usize = 6;
/// Marks a document that the new segment omits.
const OMITTED_DOCUMENT: u32 = u32::MAX;

/// A unit of the new segment.
#[derive(Debug)]
pub(crate) struct MergedUnit<'a> {
    pub(crate) path: &'a str,
    pub(crate) stamp: Option<FileStamp>,
    pub(crate) behind: Option<u32>,
    /// The runs of its documents: a segment, and the numbers in it.
    pub(crate) runs: Vec<(usize, Range<u32>)>,
}

/// A merge of segments into one.
#[derive(Debug)]
pub(crate) struct SegmentMerge<'a> {
    segments: Vec<&'a IndexSegment>,
    /// The space of the vectors that are copied.
    space: VectorSpace,
    units: Vec<MergedUnit<'a>>,
    /// The source of each new document: a segment, and the number in it.
    order: Vec<(u32, u32)>,
    /// For each segment, the new number of each document.
    places: Vec<Vec<u32>>,
}

impl<'a> SegmentMerge<'a> {
    /// Merges all units of segments that have no unit in common.
    pub(crate) fn of_distinct(segments: Vec<&'a IndexSegment>) -> Self {
        let all = segments.iter().enumerate().flat_map(|(at, segment)| {
            let known = (0..segment.units()).filter_map(|unit| segment.unit(unit));
            known.map(move |unit| MergedUnit {
                path: unit.path,
                stamp: unit.stamp,
                behind: None,
                runs: vec![(at, unit.documents)],
            })
        });
        let units = all.collect();
        let space = segments.first().map_or_else(VectorSpace::none, |segment| segment.space());
        Self::new(segments, units, space)
    }

    /// Merges these units, whose documents are in these segments.
    pub(super) fn new(
        segments: Vec<&'a IndexSegment>,
        mut units: Vec<MergedUnit<'a>>,
        space: VectorSpace,
    ) -> Self {
        units.sort_by_key(|unit| unit.path);
        let mut places: Vec<Vec<u32>> =
            segments.iter().map(|segment| vec![OMITTED_DOCUMENT; segment.documents() as usize]).collect();
        let mut order = Vec::new();
        for (segment, run) in units.iter().flat_map(|unit| &unit.runs) {
            for local in run.clone() {
                if let Some(place) = places.get_mut(*segment).and_then(|of| of.get_mut(local as usize)) {
                    *place = order.len() as u32;
                    order.push((*segment as u32, local));
                }
            }
        }
        Self { segments, space, units, order, places }
    }

    /// Verifies the checksums of all sources.
    pub(crate) fn verify(&self) -> Result<(), SegmentDamage> {
        self.segments.iter().try_for_each(|segment| segment.verify())
    }

    /// Returns the memory that the sources took, after every [`RELEASE_BYTES`] that were written.
    fn release_after(&self, written: &mut usize, more: usize) {
        *written += more;
        if *written >= RELEASE_BYTES {
            *written = 0;
            self.segments.iter().for_each(|segment| segment.release(0..segment.size()));
        }
    }

    /// Writes the segment. Windows of sources with vectors of another space have none in the new segment.
    pub(crate) fn write(&self, out: &mut (impl Write + Seek)) -> io::Result<()> {
        let mut parts = SegmentWriter::begin(out)?;
        let mut header = SegmentHeader {
            units: self.units.len() as u32,
            documents: self.order.len() as u32,
            dimension: self.space.dimension as u32,
            model: self.space.model.clone(),
            ..SegmentHeader::default()
        };
        let scopes = self.scopes();
        self.write_units(&scopes, &mut parts)?;
        self.write_columns(&scopes, &mut header, &mut parts)?;
        self.write_windows(&mut header, &mut parts)?;
        self.write_postings(&mut header, &mut parts)?;
        parts.finish(header)
    }

    /// The documents in their new order, each with its segment.
    fn ordered_documents(&self) -> impl Iterator<Item = (&'a IndexSegment, u32)> {
        self.order
            .iter()
            .filter_map(|(segment, local)| Some((*self.segments.get(*segment as usize)?, *local)))
    }

    /// The projects of all documents with new numbers, and the new number of each old one.
    fn scopes(&self) -> ScopeTable<'a> {
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let known: Vec<Vec<&str>> = self.segments.iter().map(|segment| segment.projects()).collect();
        let old = |segment: u32, local: u32| -> Option<&&str> {
            let scope = number(self.segments.get(segment as usize)?, SegmentPart::Scopes, local);
            known.get(segment as usize)?.get(scope.checked_sub(1)? as usize)
        };
        for (segment, local) in &self.order {
            if let Some(project) = old(*segment, *local) {
                numbers.insert(project, 0);
            }
        }
        numbers.values_mut().enumerate().for_each(|(at, number)| *number = at as u32 + 1);
        let new =
            |names: &Vec<&str>| names.iter().map(|name| numbers.get(name).copied().unwrap_or(0)).collect();
        ScopeTable { new: known.iter().map(new).collect(), names: numbers.into_keys().collect() }
    }

    fn write_units<W: Write + Seek>(
        &self,
        scopes: &ScopeTable<'_>,
        parts: &mut SegmentWriter<'_, W>,
    ) -> io::Result<()> {
        let (mut offset, mut first) = (0_u32, 0_u32);
        parts.next(SegmentPart::Units)?;
        for unit in &self.units {
            let length = unit.path.len() as u32;
            parts.put(&super::build::unit_bytes(
                (offset, length),
                first,
                unit.stamp.as_ref(),
                unit.behind,
            ))?;
            offset += length;
            first += unit.runs.iter().map(|(_, run)| run.len() as u32).sum::<u32>();
        }
        parts.next(SegmentPart::Names)?;
        for name in self.units.iter().map(|unit| unit.path).chain(scopes.names.iter().copied()) {
            parts.put(name.as_bytes())?;
        }
        parts.next(SegmentPart::Projects)?;
        for project in &scopes.names {
            parts.put(&offset.to_le_bytes())?;
            parts.put(&(project.len() as u32).to_le_bytes())?;
            offset += project.len() as u32;
        }
        Ok(())
    }

    fn write_columns<W: Write + Seek>(
        &self,
        scopes: &ScopeTable<'_>,
        header: &mut SegmentHeader,
        parts: &mut SegmentWriter<'_, W>,
    ) -> io::Result<()> {
        for part in [SegmentPart::Words, SegmentPart::Lengths] {
            parts.next(part)?;
            self.ordered_documents()
                .try_for_each(|(segment, local)| parts.put(&segment.cell::<4>(part, local)))?;
        }
        header.length = self
            .ordered_documents()
            .map(|(segment, local)| u64::from(number(segment, SegmentPart::Lengths, local)))
            .sum();
        parts.next(SegmentPart::Threads)?;
        let (mut thread, mut before) = (0_u32, None);
        for at in &self.order {
            thread += u32::from(!before.is_some_and(|before| self.is_one_thread(before, *at)));
            before = Some(*at);
            parts.put(&thread.to_le_bytes())?;
        }
        parts.next(SegmentPart::Created)?;
        self.ordered_documents()
            .try_for_each(|(segment, local)| parts.put(&segment.cell::<8>(SegmentPart::Created, local)))?;
        parts.next(SegmentPart::Flags)?;
        self.ordered_documents()
            .try_for_each(|(segment, local)| parts.put(&segment.cell::<4>(SegmentPart::Flags, local)))?;
        parts.next(SegmentPart::Scopes)?;
        for (segment, local) in &self.order {
            let old = number(self.segments[*segment as usize], SegmentPart::Scopes, *local);
            let new = old.checked_sub(1).and_then(|old| scopes.new[*segment as usize].get(old as usize));
            parts.put(&new.copied().unwrap_or(0).to_le_bytes())?;
        }
        parts.next(SegmentPart::Blobs)?;
        let mut at = 0_u64;
        for (segment, local) in self.ordered_documents() {
            parts.put(&at.to_le_bytes())?;
            at += segment.document_blob(local).map_or(0, <[u8]>::len) as u64;
        }
        parts.put(&at.to_le_bytes())?;
        parts.next(SegmentPart::Blob)?;
        let mut waiting = 0;
        self.ordered_documents().try_for_each(|(segment, local)| {
            let blob = segment.document_blob(local).unwrap_or_default();
            self.release_after(&mut waiting, blob.len());
            parts.put(blob)
        })
    }

    /// True if a document continues the thread of the previous one.
    fn is_one_thread(&self, before: (u32, u32), this: (u32, u32)) -> bool {
        let segment = |(segment, _): (u32, u32)| self.segments[segment as usize];
        let number = |at: (u32, u32)| number(segment(at), SegmentPart::Threads, at.1);
        if before.0 == this.0 && before.1.checked_add(1) == Some(this.1) {
            return number(before) == number(this);
        }
        // The two were not adjacent before, so their threads have to be compared by name.
        let thread = |at: (u32, u32)| {
            let document = segment(at).document(at.1)?;
            Some((document.path, document.thread?))
        };
        thread(this).is_some_and(|this| thread(before) == Some(this))
    }

    fn write_windows<W: Write + Seek>(
        &self,
        header: &mut SegmentHeader,
        parts: &mut SegmentWriter<'_, W>,
    ) -> io::Result<()> {
        let dimension = header.dimension as usize;
        for kind in [WindowKind::Whole, WindowKind::Fine] {
            let ([first, windows, vectors], width) = kind.parts(dimension);
            let of_space: Vec<bool> =
                self.segments.iter().map(|segment| segment.space() == self.space).collect();
            let written = || {
                self.order.iter().filter_map(|(segment, local)| {
                    let source = self.segments.get(*segment as usize)?;
                    let written = source.written_windows(*local, kind);
                    let is_ours = of_space.get(*segment as usize).copied().unwrap_or(false);
                    Some((written.windows, if is_ours { written } else { WrittenWindows::none() }))
                })
            };
            let mut waiting = 0;
            let (mut count, mut pending) = (0_u32, 0_u32);
            parts.next(first)?;
            for (windows, written) in written() {
                parts.put(&count.to_le_bytes())?;
                count += windows.len() as u32;
                pending += written.pending() + (windows.len() - written.windows.len()) as u32;
            }
            header.pending += pending;
            parts.put(&count.to_le_bytes())?;
            match kind {
                WindowKind::Whole => header.windows = count,
                WindowKind::Fine => header.fine = count,
            }
            parts.next(windows)?;
            for (windows, written) in written() {
                match written.windows.is_empty() {
                    false => parts.put(windows.as_flattened())?,
                    // Without a vector, a window has no scale.
                    true => windows.iter().try_for_each(|window| {
                        parts.put(&window[..8])?;
                        parts.put(&[0; WINDOW_BYTES - 8])
                    })?,
                }
            }
            parts.next(vectors)?;
            if pending == count {
                continue;
            }
            let none = super::build::empty_windows(kind, dimension);
            for (windows, written) in written() {
                let there = written.vectors.len() == windows.len() * width;
                parts.put(if there { written.vectors } else { &[] })?;
                self.release_after(&mut waiting, written.vectors.len());
                // A source without vectors has no placeholders either.
                let missing = if there { 0 } else { windows.len() };
                (0..missing).try_for_each(|_| parts.put(&none))?;
            }
        }
        Ok(())
    }

    fn write_postings<W: Write + Seek>(
        &self,
        header: &mut SegmentHeader,
        parts: &mut SegmentWriter<'_, W>,
    ) -> io::Result<()> {
        parts.next(SegmentPart::Terms)?;
        self.each_term(|term, _| {
            header.terms += 1;
            parts.put(&term.to_le_bytes())
        })?;
        parts.next(SegmentPart::FirstPostings)?;
        let mut first = 0_u32;
        self.each_term(|_, postings| {
            let at = first;
            first += postings.len() as u32;
            parts.put(&at.to_le_bytes())
        })?;
        parts.put(&first.to_le_bytes())?;
        parts.next(SegmentPart::PostingDocuments)?;
        self.each_term(|_, postings| {
            postings.iter().try_for_each(|(document, _)| parts.put(&document.to_le_bytes()))
        })?;
        parts.next(SegmentPart::PostingCounts)?;
        self.each_term(|_, postings| postings.iter().try_for_each(|(_, count)| parts.put(count)))
    }

    /// Iterates over every remaining term in order, with its documents in order and the counts in each.
    fn each_term(&self, mut each: impl FnMut(u64, &[(u32, [u8; 2])]) -> io::Result<()>) -> io::Result<()> {
        let (mut next, mut waiting) = (vec![0_usize; self.segments.len()], 0);
        let mut postings: Vec<(u32, [u8; 2])> = Vec::new();
        loop {
            let terms = self.segments.iter().zip(&next).map(|(segment, next)| segment.term(*next));
            let Some(term) = terms.flatten().min() else { return Ok(()) };
            postings.clear();
            for ((segment, next), places) in self.segments.iter().zip(&mut next).zip(&self.places) {
                if segment.term(*next) != Some(term) {
                    continue;
                }
                let moved = segment.written_postings(*next).filter_map(|(document, count)| {
                    let place = places.get(document as usize).copied()?;
                    (place != OMITTED_DOCUMENT).then_some((place, count))
                });
                postings.extend(moved);
                *next += 1;
            }
            self.release_after(&mut waiting, postings.len() * POSTING_BYTES);
            postings.sort_unstable_by_key(|(document, _)| *document);
            if !postings.is_empty() {
                each(term, &postings)?;
            }
        }
    }
}

fn number(segment: &IndexSegment, column: SegmentPart, document: u32) -> u32 {
    u32::from_le_bytes(segment.cell(column, document))
}

struct ScopeTable<'a> {
    /// The names of the projects, in order.
    names: Vec<&'a str>,
    /// For each segment, the new number of each of its projects.
    new: Vec<Vec<u32>>,
}

#[cfg(test)]
mod tests;

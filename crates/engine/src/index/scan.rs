//! Scans every vector of a segment for a query, in blocks, so that memory does not grow with the number of
//! vectors.

use std::ops::Range;
use std::sync::Mutex;

use rekindle_embed::{QuantisedVector, dots};

use super::format::{SegmentPart, WINDOW_BYTES};
use super::segment::{IndexSegment, u32_at};

/// The number of vectors in a block.
const ROWS_PER_BLOCK: usize = 512;
/// The number of documents in a share of a thread.
const ROWS_PER_SHARE: usize = 4096;
/// The minimum number of windows for a second thread.
pub(super) const MIN_PARALLEL_ROWS: usize = 20_000;

/// Writes the highest cosine of each document's windows to `cosines`; [`f32::NEG_INFINITY`] for a document
/// without vectors.
pub(super) fn scan(segment: &IndexSegment, query: &QuantisedVector, cosines: &mut [f32]) {
    cosines.fill(f32::NEG_INFINITY);
    if !segment.has_dimension_of(query) || segment.part(SegmentPart::Vectors).is_empty() {
        return;
    }
    let scan = || VectorScan { segment, query, products: Vec::new() };
    if (segment.windows() as usize) < MIN_PARALLEL_ROWS {
        return scan().run(0, cosines);
    }
    // The lexical search runs at the same time, so the threads have unequal processor time: each takes the
    // next share when it is done.
    let shares = Mutex::new(cosines.chunks_mut(ROWS_PER_SHARE).enumerate());
    let next = || shares.lock().ok()?.next();
    let work = || {
        let mut scan = scan();
        while let Some((share, cosines)) = next() {
            scan.run(share * ROWS_PER_SHARE, cosines);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
}

struct VectorScan<'a> {
    segment: &'a IndexSegment,
    query: &'a QuantisedVector,
    products: Vec<i32>,
}

impl VectorScan<'_> {
    /// Scans the documents from `first` on. It stops at damage.
    fn run(&mut self, first: usize, cosines: &mut [f32]) {
        let segment = self.segment;
        let windows = |at: usize| segment.window_range((first + at) as u32, SegmentPart::FirstWindows);
        let mut done = 0;
        while done < cosines.len() {
            let from = windows(done).start;
            let more =
                (done + 1..cosines.len()).take_while(|at| windows(*at).end <= from + ROWS_PER_BLOCK).count();
            let some = done..done + 1 + more;
            if self.compare(from..windows(some.end - 1).end).is_none() {
                return;
            }
            for at in some.clone() {
                cosines[at] = self.closest(&windows(at), from);
            }
            done = some.end;
        }
    }

    /// Computes the dot products of a range of windows.
    fn compare(&mut self, windows: Range<usize>) -> Option<()> {
        let width = self.segment.width();
        let bytes = windows.start.checked_mul(width)?..windows.end.checked_mul(width)?;
        let vectors = self.segment.part(SegmentPart::Vectors).get(bytes)?;
        self.products.resize(windows.len(), 0);
        dots(&self.query.steps, vectors, &mut self.products);
        Some(())
    }

    /// The highest cosine of a range of windows; the first product is that of window `from`.
    fn closest(&self, windows: &Range<usize>, from: usize) -> f32 {
        let all = self.segment.part(SegmentPart::Windows).as_chunks::<WINDOW_BYTES>().0;
        let products = windows.start.saturating_sub(from)..windows.end.saturating_sub(from);
        let (Some(own), Some(products)) = (all.get(windows.clone()), self.products.get(products)) else {
            return f32::NEG_INFINITY;
        };
        let scales = own.iter().map(|window| f32::from_bits(u32_at(window, 2).unwrap_or(0)));
        let with = scales.zip(products).filter(|(scale, _)| *scale > 0.0);
        with.map(|(scale, product)| *product as f32 * scale * self.query.scale)
            .fold(f32::NEG_INFINITY, f32::max)
    }
}

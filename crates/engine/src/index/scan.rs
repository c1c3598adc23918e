//! A query against every vector of a segment. They are read piece by piece into memory that is used again: showing a process
//! so many pages of a file, and taking them back, would take longer than the comparison.

use std::ops::Range;

use rekindle_embed::{Quantised, dots};

use super::format::Part;
use super::segment::{Segment, WINDOW_BYTES, u32_at};

/// So many vectors are read and compared at once: few enough that they are still near.
const ROWS: usize = 512;
/// From so many windows on a second thread is worth its start.
pub(super) const SHARED_FROM: usize = 20_000;

/// How close the closest window of each document is to the query, into `cosines`; [`f32::NEG_INFINITY`] where there is none.
pub(super) fn scan(segment: &Segment, query: &Quantised, cosines: &mut [f32]) {
    cosines.fill(f32::NEG_INFINITY);
    if !segment.is_as_wide(query) || segment.part(Part::Vectors).is_empty() {
        return;
    }
    let scan_from =
        |first, cosines| Scan { segment, query, rows: Vec::new(), products: Vec::new() }.run(first, cosines);
    if (segment.windows() as usize) < SHARED_FROM {
        return scan_from(0, cosines);
    }
    let half = cosines.len() / 2;
    let (low, high) = cosines.split_at_mut(half);
    std::thread::scope(|scope| {
        scope.spawn(|| scan_from(half, high));
        scan_from(0, low);
    });
}

struct Scan<'a> {
    segment: &'a Segment,
    query: &'a Quantised,
    rows: Vec<u8>,
    products: Vec<i32>,
}

impl Scan<'_> {
    /// The documents from `first` on. Where the file is damaged, it ends.
    fn run(&mut self, first: usize, cosines: &mut [f32]) {
        let windows = |at: usize| self.segment.window_range((first + at) as u32, Part::FirstWindows);
        let windows: Vec<Range<usize>> = (0..cosines.len()).map(windows).collect();
        let mut done = 0;
        while let Some(from) = windows.get(done).map(|windows| windows.start) {
            let more = windows[done + 1..].iter().take_while(|windows| windows.end <= from + ROWS).count();
            let some = done..done + 1 + more;
            let to = windows[some.end - 1].end;
            if self.compare(from..to).is_none() {
                return;
            }
            for (windows, cosine) in windows[some.clone()].iter().zip(&mut cosines[some.clone()]) {
                *cosine = self.closest(windows, from);
            }
            done = some.end;
        }
    }

    /// Works out the products with some windows.
    fn compare(&mut self, windows: Range<usize>) -> Option<()> {
        let width = self.segment.width();
        let count = windows.end.checked_sub(windows.start)?;
        self.rows.resize(count.checked_mul(width)?, 0);
        self.products.resize(count, 0);
        let is_there = self.segment.read(Part::Vectors, windows.start.checked_mul(width)?, &mut self.rows);
        is_there.then(|| dots(&self.query.steps, &self.rows, &mut self.products))
    }

    /// The best of some windows, where the first product is that of window `from`.
    fn closest(&self, windows: &Range<usize>, from: usize) -> f32 {
        let all = self.segment.part(Part::Windows).as_chunks::<WINDOW_BYTES>().0;
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

//! Rescoring: gathers the vectors of all windows of a few documents once, and compares them with several
//! queries.

use std::ops::Range;

use rekindle_core::recall::fusion::RescoredSimilarity;
use rekindle_embed::{QuantisedVector, dots};

use super::IndexSnapshot;
use crate::index::format::WindowKind;

/// The vectors of the documents to rescore.
#[derive(Debug, Default)]
pub struct RescoringBatch {
    documents: Vec<RescoredDocument>,
    /// The scale of each window's vector.
    scales: Vec<f32>,
    steps: Vec<u8>,
}

#[derive(Debug)]
struct RescoredDocument {
    number: u32,
    /// The range of its whole windows.
    whole: Range<usize>,
    fine: Range<usize>,
}

impl IndexSnapshot {
    /// Gathers the vectors of documents, for queries of dimension `width`.
    pub fn pick_for_rescoring(&self, numbers: &[u32], width: usize) -> RescoringBatch {
        let mut picked = RescoringBatch::default();
        for &number in numbers {
            let found = self.locate(number).filter(|(segment, _)| segment.width() == width);
            let mut windows = |kind| {
                let from = picked.scales.len();
                if let Some((segment, local)) = found {
                    segment.gather_vectors(local, kind, &mut picked.scales, &mut picked.steps);
                }
                from..picked.scales.len()
            };
            let (whole, fine) = (windows(WindowKind::Whole), windows(WindowKind::Fine));
            picked.documents.push(RescoredDocument { number, whole, fine });
        }
        picked
    }
}

impl RescoringBatch {
    /// The similarity of each document to a query.
    pub fn close(&self, query: &QuantisedVector) -> impl Iterator<Item = (u32, RescoredSimilarity)> {
        let mut products = vec![0; self.scales.len()];
        dots(&query.steps, &self.steps, &mut products);
        let scale = query.scale;
        self.documents.iter().map(move |document| {
            let best = |windows: &Range<usize>| {
                let of = self.scales[windows.clone()].iter().zip(&products[windows.clone()]);
                let cosines =
                    of.filter(|(own, _)| **own > 0.0).map(|(own, product)| *product as f32 * own * scale);
                cosines.fold(f32::NEG_INFINITY, f32::max)
            };
            let (whole, fine) = (best(&document.whole), best(&document.fine));
            (document.number, RescoredSimilarity { whole, fine: if fine.is_finite() { fine } else { whole } })
        })
    }
}

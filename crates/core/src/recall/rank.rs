//! Ranks all documents before selection.

use serde::Serialize;

use super::collection::DocumentColumns;
use super::fusion::{FusionInput, RelevanceParts};
use super::score_factors::{FactorContext, ScoreFactors, factors};

/// A document with its rank score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RankedDocument {
    /// The number of the document.
    #[serde(skip)]
    pub document: u32,
    /// The rank score: relevance times the factors.
    pub score: f32,
    /// The parts of the relevance.
    pub parts: RelevanceParts,
    /// The factors of the score.
    pub factors: ScoreFactors,
}

impl RankedDocument {
    /// Raises the relevance to that of another document with the same text, if that is higher.
    #[must_use]
    pub fn with_min_of(self, other: &Self) -> Self {
        if other.parts.relevance <= self.parts.relevance {
            return self;
        }
        Self { score: other.parts.relevance * self.factors.combined(), parts: other.parts, ..self }
    }
}

/// The best `count` documents that `wanted` accepts, in descending order. `here` is true for documents of the
/// current project.
///
/// Equal scores are ordered by number here; the caller orders them by id, which survives a rebuild. All ties
/// for the last place are kept, up to [`MAX_TIED`], so that the cut does not depend on the numbers either.
pub fn rank(
    columns: &DocumentColumns,
    fusion: &FusionInput<'_>,
    circumstances: &FactorContext,
    here: impl Fn(u32) -> bool,
    wanted: impl Fn(u32) -> bool,
    count: usize,
) -> Vec<RankedDocument> {
    let all =
        || (0..columns.len() as u32).filter(|at| columns.visible[*at as usize] && wanted(*at)).collect();
    let pool = fusion.rescored(count).unwrap_or_else(all);
    let mut scored: Vec<(f32, u32)> = Vec::with_capacity(pool.len());
    for at in pool.into_iter().map(|at| at as usize) {
        let parts = fusion.relevance_parts(at);
        if parts.relevance > 0.0 {
            let factors = score_factors(columns, circumstances, at, &here);
            scored.push((parts.relevance * factors.combined(), at as u32));
        }
    }
    let order = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if scored.len() > count && count > 0 {
        let (_, last, _) = scored.select_nth_unstable_by(count - 1, order);
        let last = last.0;
        let mut equals = 0;
        scored.retain(|(score, _)| {
            let is_equal = *score == last;
            equals += usize::from(is_equal);
            *score > last || (is_equal && equals <= MAX_TIED)
        });
    }
    scored.sort_unstable_by(order);
    let ranked = |(score, document): (f32, u32)| {
        let at = document as usize;
        RankedDocument {
            document,
            score,
            parts: fusion.relevance_parts(at),
            factors: score_factors(columns, circumstances, at, &here),
        }
    };
    scored.into_iter().map(ranked).collect()
}

/// The maximum number of ties for the last place.
pub const MAX_TIED: usize = 4096;

fn score_factors(
    columns: &DocumentColumns,
    circumstances: &FactorContext,
    at: usize,
    here: &impl Fn(u32) -> bool,
) -> ScoreFactors {
    factors(circumstances, columns.flags[at], columns.created[at], 0.0, here(at as u32))
}

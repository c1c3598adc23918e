//! Merges observations that say the same in the results (STO-16, X-17). It stores nothing: the result depends
//! only on the documents and their vectors, so it is the same after a rebuild and contains nothing that was
//! forgotten.

use std::collections::HashSet;

use rekindle_core::recall::document::Document;
use rekindle_core::recall::merge::{MIN_SAME_SIMILARITY, MergeableObservation, ObservationMention};
use rekindle_embed::{QuantisedVector, dots};

use crate::index::IndexSnapshot;

/// Detects observations that repeat an earlier one in other words.
pub(super) struct ObservationMerger<'a> {
    snapshot: &'a IndexSnapshot,
    observations: Vec<(MergeableObservation, Option<QuantisedVector>)>,
    /// The documents that repeat an earlier one.
    pub(super) absorbed: Vec<(u32, Document, f32)>,
}

impl<'a> ObservationMerger<'a> {
    pub(super) fn new(snapshot: &'a IndexSnapshot) -> Self {
        Self { snapshot, observations: Vec::new(), absorbed: Vec::new() }
    }

    /// True if the document repeats no earlier one.
    pub(super) fn is_new(&mut self, number: u32, document: &Document, score: f32) -> bool {
        if self.observations.iter().any(|(other, _)| other.is_repeated_by(document)) {
            self.absorbed.push((number, document.clone(), score));
            return false;
        }
        let Some(observed) = MergeableObservation::new(document) else { return true };
        let vector = self.snapshot.vector(number);
        let known = self
            .observations
            .iter()
            .any(|(other, theirs)| observed.is_same(other, similarity(vector.as_ref(), theirs.as_ref())));
        if known {
            self.absorbed.push((number, document.clone(), score));
            return false;
        }
        self.observations.push((observed, vector));
        true
    }

    /// All observations in the index that say the same as document `number`, including itself, oldest first.
    /// `current` returns a document with the current text of its file, if it is visible. Documents in `taken`
    /// belong to another hit.
    pub(super) fn lineage(
        &self,
        number: u32,
        document: &Document,
        taken: &HashSet<u32>,
        mut current: impl FnMut(u32) -> Option<Document>,
    ) -> Vec<(u32, Document)> {
        let Some(observed) = MergeableObservation::new(document) else { return Vec::new() };
        let cosines = self.snapshot.vector(number).map(|vector| self.snapshot.cosines(&vector));
        // Without vectors, only the results of this search can be compared.
        let near: Vec<(u32, f32)> = match cosines {
            Some(cosines) => {
                (0..).zip(cosines).filter(|(_, cosine)| *cosine >= MIN_SAME_SIMILARITY).collect()
            }
            None => self.absorbed.iter().map(|(number, ..)| (*number, 0.0)).collect(),
        };
        let mut all = vec![(number, document.clone())];
        for (other, similar) in near {
            if other == number || taken.contains(&other) {
                continue;
            }
            let Some(theirs) = current(other) else { continue };
            let is_same =
                || MergeableObservation::new(&theirs).is_some_and(|other| observed.is_same(&other, similar));
            if observed.is_repeated_by(&theirs) || is_same() {
                all.push((other, theirs));
            }
        }
        all.sort_by(|(_, a), (_, b)| {
            ObservationMention::from_document(a)
                .sort_key()
                .cmp(&ObservationMention::from_document(b).sort_key())
        });
        all
    }
}

fn similarity(one: Option<&QuantisedVector>, other: Option<&QuantisedVector>) -> f32 {
    let (Some(one), Some(other)) = (one, other) else { return 0.0 };
    if one.steps.len() != other.steps.len() {
        return 0.0;
    }
    let bytes: Vec<u8> = other.steps.iter().map(|step| step.cast_unsigned()).collect();
    let mut product = [0];
    dots(&one.steps, &bytes, &mut product);
    product[0] as f32 * one.scale * other.scale
}

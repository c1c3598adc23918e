//! Fusion: combines meaning, words, context and time into one relevance.
//!
//! ```text
//! relevance = meaning + words + thread + identifiers + time - length
//! ```
//!
//! A first pass scores every document by the vectors of whole windows. The best [`MAX_CANDIDATES`] are then
//! rescored by the vectors of single sentences, with the query moved towards the best documents of the first
//! pass. The weights were chosen on development sets; docs/adr/0012 has the measurements and an ablation of
//! each part.

use std::collections::HashMap;

use serde::Serialize;

use super::collection::{DocumentColumns, NO_TIMESTAMP, TermPostings};
use super::lexical::LexicalScores;
use super::time_expressions::{self, TimeSpan};

/// The maximum number of documents to rescore.
pub const MAX_CANDIDATES: usize = 200;
/// The number of documents used for pseudo-relevance feedback.
pub const FEEDBACK_DOCS: usize = 2;
/// The maximum weight of the feedback documents in the query.
const MAX_FEEDBACK_WEIGHT: f32 = 0.4;
/// The relevance range over which feedback grows from nothing to its maximum. Feedback from barely relevant
/// documents would mislead the query.
const FEEDBACK_RELEVANCE_RANGE: (f32, f32) = (0.4, 0.7);

/// The share of the best fine window in the meaning; the rest is the best whole window.
const FINE_WINDOW_SHARE: f32 = 0.75;
/// The weight of the words for a document that contains all of them.
const LEXICAL_WEIGHT: f32 = 0.8;
/// The exponent that lowers the weight of words if even the best document contains few of them. The query is
/// then worded differently, and lexical matches are accidental.
const LEXICAL_COVERAGE_EXPONENT: f32 = 1.5;
const THREAD_WEIGHT: f32 = 0.2;
const IDENTIFIER_WEIGHT: f32 = 0.3;
const TIME_WEIGHT: f32 = 0.4;
const LENGTH_PENALTY: f32 = 0.1;
/// The number of words above which a text is penalised, because a longer text has more chances of an
/// accidental match.
const LENGTH_PENALTY_FROM_WORDS: f32 = 80.0;

/// The method that combines lexical and vector scores (R-08).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FusionMethod {
    /// The method that measures best; docs/adr/0012 has the measurements.
    Measured,
    /// The formula of REC-02: similarity and the number of matching keywords, each with a weight.
    Linear {
        /// The weight of the cosine similarity.
        similarity: f32,
        /// The weight of each matching keyword.
        keyword: f32,
        /// The maximum number of keywords to count; `None` counts all, as in the formula.
        cap: Option<u32>,
    },
}

/// The terms of one document's relevance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RelevanceParts {
    /// The similarity to the query.
    pub meaning: f32,
    /// The lexical score of the document with its neighbours.
    pub words: f32,
    /// The lexical score of the rest of its thread.
    pub thread: f32,
    /// The share of the query's identifiers that it contains.
    pub identifiers: f32,
    /// The score for a creation time within a time that the query names.
    pub time: f32,
    /// The penalty for a long text.
    pub length: f32,
    /// The sum of the parts.
    pub relevance: f32,
}

impl RelevanceParts {
    fn sum(self) -> Self {
        let relevance = self.meaning + self.words + self.thread + self.identifiers + self.time + self.length;
        Self { relevance, ..self }
    }
}

/// The similarity of a document to the query after rescoring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RescoredSimilarity {
    /// The cosine of its best whole window.
    pub whole: f32,
    /// The cosine of its best fine window.
    pub fine: f32,
}

/// The parts of a query other than its embedding.
#[derive(Clone, Copy, Debug)]
pub struct FusionQuery<'a> {
    /// The postings of each term.
    pub postings: &'a [TermPostings],
    /// True for each term that is an identifier.
    pub identifiers: &'a [bool],
    /// The time spans that the query names.
    pub times: &'a [TimeSpan],
}

/// A query with all its scores.
#[derive(Debug)]
pub struct FusionInput<'a> {
    method: FusionMethod,
    columns: &'a DocumentColumns,
    lexical: &'a LexicalScores,
    /// The cosine of every document's best window; empty for a lexical search (REC-11).
    cosines: &'a [f32],
    /// The number of terms that each document contains, if the method counts them.
    matches: Vec<u32>,
    /// The share of the query's identifiers that each document contains; empty if the query has none.
    identifiers: Vec<f32>,
    times: &'a [TimeSpan],
    /// The number of words in each document's thread; empty if every thread has one document.
    thread_words: Vec<u32>,
    words_scale: f32,
    thread_scale: f32,
    looked_at: HashMap<u32, RescoredSimilarity>,
    /// The lowest relevance among the rescored documents: nothing else ranks above it.
    floor: f32,
}

/// The reciprocal of the highest score; 0 if there is none.
fn inverse_top(scores: &[f32]) -> f32 {
    let top = scores.iter().copied().fold(0.0, f32::max);
    if top > 0.0 { 1.0 / top } else { 0.0 }
}

impl<'a> FusionInput<'a> {
    /// Combines the scores of the first pass.
    pub fn new(
        method: FusionMethod,
        columns: &'a DocumentColumns,
        lexical: &'a LexicalScores,
        cosines: &'a [f32],
        asked: &FusionQuery<'a>,
    ) -> Self {
        let top = inverse_top(&lexical.context);
        let reached = if top > 0.0 && lexical.ideal > 0.0 { 1.0 / (top * lexical.ideal) } else { 0.0 };
        Self {
            method,
            columns,
            lexical,
            cosines,
            matches: match method {
                FusionMethod::Linear { .. } => count_matches(columns.len(), asked.postings),
                FusionMethod::Measured => Vec::new(),
            },
            identifiers: identifier_shares(columns, lexical, asked),
            times: asked.times,
            thread_words: if lexical.thread.is_empty() { Vec::new() } else { thread_words(columns) },
            words_scale: LEXICAL_WEIGHT * top * reached.powf(LEXICAL_COVERAGE_EXPONENT),
            thread_scale: THREAD_WEIGHT * inverse_top(&lexical.thread),
            looked_at: HashMap::new(),
            floor: f32::INFINITY,
        }
    }

    /// The documents to rescore, among those that `wanted` accepts. Empty if there is nothing to rescore.
    pub fn rescoring_candidates(&self, wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        if self.cosines.is_empty() || self.method != FusionMethod::Measured {
            return Vec::new();
        }
        let mut top = TopDocuments::with_capacity(MAX_CANDIDATES);
        let most_beside = self.most_beside();
        let near = self.cosines.iter().zip(&self.lexical.context).zip(&self.columns.visible);
        for (at, ((cosine, context), visible)) in near.enumerate() {
            // Most documents are so dissimilar that the other parts cannot make up for it.
            let most = cosine.max(0.0) + self.words_scale * context + most_beside;
            if *visible && top.would_take(most) && wanted(at as u32) {
                top.offer(self.relevance_parts(at).relevance, at as u32);
            }
        }
        top.documents()
    }

    /// An upper bound on the relevance that all parts except meaning and words can add. It includes a margin
    /// for rounding.
    fn most_beside(&self) -> f32 {
        let when = |there: bool, most: f32| if there { most } else { 0.0 };
        when(!self.thread_words.is_empty(), THREAD_WEIGHT)
            + when(!self.identifiers.is_empty(), IDENTIFIER_WEIGHT)
            + when(!self.times.is_empty(), TIME_WEIGHT)
            + 1e-4
    }

    /// Adds the results of rescoring.
    pub fn rescore(&mut self, closer: impl IntoIterator<Item = (u32, RescoredSimilarity)>) {
        self.looked_at = closer.into_iter().collect();
        self.floor = f32::INFINITY;
        let lowest = self.looked_at.keys().map(|at| self.relevance_parts(*at as usize).relevance);
        self.floor = lowest.fold(f32::INFINITY, f32::min);
    }

    /// The rescored documents, if there are at least `count`: the best are then among them.
    pub fn rescored(&self, count: usize) -> Option<Vec<u32>> {
        (self.looked_at.len() >= count.max(1)).then(|| self.looked_at.keys().copied().collect())
    }

    /// The best rescored documents, for pseudo-relevance feedback.
    pub fn feedback_docs(&self) -> Vec<u32> {
        let mut top = TopDocuments::with_capacity(FEEDBACK_DOCS);
        for at in self.looked_at.keys() {
            top.offer(self.relevance_parts(*at as usize).relevance, *at);
        }
        top.documents()
    }

    /// The weight of `feedback_docs` in the query.
    pub fn feedback_weight(&self, feedback_docs: &[u32]) -> f32 {
        let sum: f32 = feedback_docs.iter().map(|at| self.relevance_parts(*at as usize).relevance).sum();
        let mean = sum / feedback_docs.len().max(1) as f32;
        MAX_FEEDBACK_WEIGHT
            * ((mean - FEEDBACK_RELEVANCE_RANGE.0)
                / (FEEDBACK_RELEVANCE_RANGE.1 - FEEDBACK_RELEVANCE_RANGE.0))
                .clamp(0.0, 1.0)
    }

    fn cosine(&self, at: usize) -> f32 {
        self.cosines.get(at).copied().unwrap_or(0.0).max(0.0)
    }

    /// Computes the relevance of a document and its parts.
    pub fn relevance_parts(&self, at: usize) -> RelevanceParts {
        match self.method {
            FusionMethod::Measured => {
                let looked_at = self.looked_at.get(&(at as u32));
                let meaning = match looked_at {
                    Some(close) => {
                        (1.0 - FINE_WINDOW_SHARE) * close.whole.max(0.0)
                            + FINE_WINDOW_SHARE * close.fine.max(0.0)
                    }
                    None => self.cosine(at),
                };
                let parts = self.measured(at, meaning);
                match looked_at {
                    None if parts.relevance > self.floor => RelevanceParts { relevance: self.floor, ..parts },
                    _ => parts,
                }
            }
            FusionMethod::Linear { similarity, keyword, cap } => {
                let matches = self.matches.get(at).copied().unwrap_or(0);
                let counted = cap.map_or(matches, |cap| matches.min(cap));
                let parts = RelevanceParts {
                    meaning: self.cosine(at) * similarity,
                    words: counted as f32 * keyword,
                    ..RelevanceParts::default()
                };
                parts.sum()
            }
        }
    }

    fn measured(&self, at: usize, meaning: f32) -> RelevanceParts {
        let (words, created) = (self.columns.words[at] as f32, self.columns.created[at]);
        let parts = RelevanceParts {
            meaning,
            words: self.words_scale * self.lexical.context[at],
            thread: match self.thread_words.get(at) {
                Some(all) => {
                    let rest = 1.0 - words / (*all as f32).max(1.0);
                    self.thread_scale * rest * self.lexical.thread[at]
                }
                None => 0.0,
            },
            identifiers: IDENTIFIER_WEIGHT * self.identifiers.get(at).copied().unwrap_or(0.0),
            time: if self.times.is_empty() || created == NO_TIMESTAMP {
                0.0
            } else {
                TIME_WEIGHT * time_expressions::time_fit(created, self.times)
            },
            length: -LENGTH_PENALTY * (words / LENGTH_PENALTY_FROM_WORDS).max(1.0).ln(),
            relevance: 0.0,
        };
        parts.sum()
    }
}

/// Collects the best of a stream of documents; ties go to the lower number.
struct TopDocuments {
    count: usize,
    /// The candidates so far, at most twice the count.
    candidates: Vec<(f32, u32)>,
    /// Documents below this score are not among the best.
    floor: f32,
}

impl TopDocuments {
    fn with_capacity(count: usize) -> Self {
        Self { count, candidates: Vec::with_capacity(2 * count), floor: f32::NEG_INFINITY }
    }

    fn would_take(&self, score: f32) -> bool {
        score >= self.floor
    }

    fn offer(&mut self, score: f32, document: u32) {
        if self.would_take(score) {
            self.candidates.push((score, document));
        }
        if self.candidates.len() == 2 * self.count {
            truncate_to_best(&mut self.candidates, self.count);
            self.floor = self.candidates.last().map_or(self.floor, |(score, _)| *score);
        }
    }

    /// The best documents, in descending order.
    fn documents(mut self) -> Vec<u32> {
        truncate_to_best(&mut self.candidates, self.count);
        self.candidates.into_iter().map(|(_, document)| document).collect()
    }
}

/// Keeps the best `count` in descending order; ties go to the lower number.
fn truncate_to_best(scored: &mut Vec<(f32, u32)>, count: usize) {
    let order = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if scored.len() > count {
        scored.select_nth_unstable_by(count, order);
        scored.truncate(count);
    }
    scored.sort_unstable_by(order);
}

fn count_matches(documents: usize, postings: &[TermPostings]) -> Vec<u32> {
    let mut matches = vec![0; documents];
    for (document, _) in postings.iter().flatten() {
        if let Some(count) = matches.get_mut(*document as usize) {
            *count += 1;
        }
    }
    matches
}

fn identifier_shares(
    columns: &DocumentColumns,
    lexical: &LexicalScores,
    asked: &FusionQuery<'_>,
) -> Vec<f32> {
    let all = || asked.identifiers.iter().zip(&lexical.idf).zip(asked.postings).filter(|((is, _), _)| **is);
    let total: f32 = all().map(|((_, idf), _)| idf).sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let mut shares = vec![0.0; columns.len()];
    for ((_, idf), postings) in all() {
        for (document, _) in postings {
            if let Some(share) = shares.get_mut(*document as usize) {
                *share += idf / total;
            }
        }
    }
    shares
}

/// Invisible documents are not part of a thread.
fn thread_words(columns: &DocumentColumns) -> Vec<u32> {
    let mut words = vec![0; columns.len()];
    let mut start = 0;
    for thread in columns.threads.chunk_by(|a, b| a == b) {
        let range = start..start + thread.len();
        start = range.end;
        let visible = range.clone().filter(|at| columns.visible[*at]);
        let total = visible.map(|at| columns.words[at]).fold(0_u32, u32::saturating_add);
        words[range].fill(total);
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::recall::collection::DocumentFlags;
    use crate::recall::lexical;
    use crate::recall::term_counts::TermCount;

    fn columns(words: &[u32]) -> DocumentColumns {
        let count = words.len();
        DocumentColumns {
            words: words.to_vec(),
            lengths: words.to_vec(),
            threads: (1..=count as u32).collect(),
            created: vec![NO_TIMESTAMP; count],
            flags: vec![DocumentFlags::from_bits(0); count],
            visible: vec![true; count],
        }
    }

    fn once(documents: &[u32]) -> TermPostings {
        documents.iter().map(|document| (*document, TermCount { all: 1, head: 1, tail: 1 })).collect()
    }

    #[test]
    fn r_08_feedback_uses_confident_hits_only() {
        let columns = columns(&[10, 10]);
        let postings = [once(&[])];
        let lexical = lexical::score(&columns, &postings);
        let asked = FusionQuery { postings: &postings, identifiers: &[false], times: &[] };
        let feedback_weight = |cosine: f32| {
            let cosines = [cosine, cosine];
            FusionInput::new(FusionMethod::Measured, &columns, &lexical, &cosines, &asked)
                .feedback_weight(&[0, 1])
        };
        assert_eq!(
            (feedback_weight(0.1), feedback_weight(FEEDBACK_RELEVANCE_RANGE.0), feedback_weight(0.9)),
            (0.0, 0.0, MAX_FEEDBACK_WEIGHT)
        );
        assert!(
            (feedback_weight((FEEDBACK_RELEVANCE_RANGE.0 + FEEDBACK_RELEVANCE_RANGE.1) / 2.0)
                - MAX_FEEDBACK_WEIGHT / 2.0)
                .abs()
                < 1e-6
        );
        let fusion = FusionInput::new(FusionMethod::Measured, &columns, &lexical, &[], &asked);
        assert_eq!(fusion.feedback_weight(&[]), 0.0);
    }

    #[test]
    fn rec_02_the_literal_formula_is_there() {
        let columns = columns(&[10, 10, 10]);
        let postings = [once(&[0, 1]), once(&[1])];
        let lexical = lexical::score(&columns, &postings);
        let asked = FusionQuery { postings: &postings, identifiers: &[false, false], times: &[] };
        let cosines = [0.9, 0.1, 0.5];
        let linear = FusionMethod::Linear { similarity: 0.7, keyword: 0.3, cap: None };
        let fusion = FusionInput::new(linear, &columns, &lexical, &cosines, &asked);
        for (at, truth) in [0.9 * 0.7 + 0.3, 0.1 * 0.7 + 0.6, 0.5 * 0.7].into_iter().enumerate() {
            assert!((fusion.relevance_parts(at).relevance - truth).abs() < 1e-6);
        }
        assert!(fusion.rescoring_candidates(|_| true).is_empty());
        // X-20: the number of words is capped.
        let capped = FusionMethod::Linear { similarity: 0.7, keyword: 0.3, cap: Some(1) };
        let fusion = FusionInput::new(capped, &columns, &lexical, &cosines, &asked);
        assert!((fusion.relevance_parts(1).relevance - (0.1 * 0.7 + 0.3)).abs() < 1e-6);
    }

    /// Requirements: OPS-10.
    #[test]
    fn rec_11_without_vectors_words_decide() {
        let columns = columns(&[10, 10]);
        let postings = [once(&[1])];
        let lexical = lexical::score(&columns, &postings);
        let asked = FusionQuery { postings: &postings, identifiers: &[false], times: &[] };
        let fusion = FusionInput::new(FusionMethod::Measured, &columns, &lexical, &[], &asked);
        assert!(fusion.relevance_parts(1).relevance > fusion.relevance_parts(0).relevance);
        assert_eq!(fusion.relevance_parts(0).relevance, 0.0);
        assert!(fusion.rescoring_candidates(|_| true).is_empty());
    }

    proptest! {
        #[test]
        fn the_top_of_many_is_the_top_of_all_sorted(scores in prop::collection::vec(-9_i8..9, 0..60), count in 1_usize..8) {
            let mut top = TopDocuments::with_capacity(count);
            let mut all: Vec<(f32, u32)> = (0..).zip(scores).map(|(at, score)| (f32::from(score), at)).collect();
            // The order of arrival does not matter.
            all.sort_by_key(|(_, at)| at.wrapping_mul(2_654_435_761));
            all.iter().for_each(|(score, at)| top.offer(*score, *at));
            truncate_to_best(&mut all, count);
            prop_assert_eq!(top.documents(), all.into_iter().map(|(_, at)| at).collect::<Vec<_>>());
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_worth_a_look_is_passed_over(
            documents in prop::collection::vec((1_u32..200, 0_u32..3, -20_i32..100, any::<bool>()), 500..1300),
            terms in prop::collection::vec((prop::collection::btree_set(0_u32..1300, 0..300), any::<bool>()), 0..4),
            asks_for_a_time in any::<bool>(),
        ) {
            let mut columns = columns(&documents.iter().map(|(words, ..)| *words).collect::<Vec<_>>());
            for (at, (_, begins, _, visible)) in documents.iter().enumerate() {
                let before = at.checked_sub(1).map_or(0, |before| columns.threads[before]);
                columns.threads[at] = before + u32::from(*begins == 0 || at == 0);
                columns.visible[at] = *visible || at % 3 > 0;
                columns.created[at] = at as i64 * 300;
            }
            let inside = |numbers: &std::collections::BTreeSet<u32>| {
                once(&numbers.iter().copied().filter(|at| (*at as usize) < documents.len()).collect::<Vec<_>>())
            };
            let postings: Vec<TermPostings> = terms.iter().map(|(numbers, _)| inside(numbers)).collect();
            let identifiers: Vec<bool> = terms.iter().map(|(_, identifier)| *identifier).collect();
            let cosines: Vec<f32> = documents.iter().map(|(_, _, cosine, _)| *cosine as f32 / 100.0).collect();
            let times = time_expressions::spans("what did we do yesterday", 400_000);
            let times = if asks_for_a_time { &times[..] } else { &[] };
            let lexical = lexical::score(&columns, &postings);
            let asked = FusionQuery { postings: &postings, identifiers: &identifiers, times };
            let fusion = FusionInput::new(FusionMethod::Measured, &columns, &lexical, &cosines, &asked);
            let wanted = |at: u32| !at.is_multiple_of(7);
            let visible = (0..columns.len()).filter(|at| columns.visible[*at] && wanted(*at as u32));
            let mut truth: Vec<(f32, u32)> = visible.map(|at| (fusion.relevance_parts(at).relevance, at as u32)).collect();
            truncate_to_best(&mut truth, MAX_CANDIDATES);
            prop_assert_eq!(fusion.rescoring_candidates(wanted), truth.into_iter().map(|(_, at)| at).collect::<Vec<_>>());
        }
    }

    #[test]
    fn unrescored_documents_never_rank_above_rescored_ones() {
        let columns = columns(&[10; 300]);
        let lexical = lexical::score(&columns, &[]);
        let cosines: Vec<f32> = (0..300).map(|at| 0.9 - at as f32 * 0.001).collect();
        let asked = FusionQuery { postings: &[], identifiers: &[], times: &[] };
        let mut fusion = FusionInput::new(FusionMethod::Measured, &columns, &lexical, &cosines, &asked);
        let looked = fusion.rescoring_candidates(|document| document != 3);
        assert_eq!(looked.len(), MAX_CANDIDATES);
        assert!(!looked.contains(&3));
        fusion.rescore(looked.iter().map(|at| (*at, RescoredSimilarity { whole: 0.1, fine: 0.1 })));
        let lowest =
            looked.iter().map(|at| fusion.relevance_parts(*at as usize).relevance).fold(1.0, f32::min);
        assert!(
            fusion.relevance_parts(3).relevance <= lowest && fusion.relevance_parts(299).relevance <= lowest
        );
        assert_eq!(fusion.feedback_docs().len(), FEEDBACK_DOCS);
    }

    #[test]
    fn an_identifier_held_whole_outweighs_its_parts() {
        let columns = columns(&[10, 10, 10, 10]);
        // The words are `parse`, `token` and `parse_token`.
        let postings = [once(&[0, 1, 2]), once(&[0, 1]), once(&[1])];
        let lexical = lexical::score(&columns, &postings);
        let asked = FusionQuery { postings: &postings, identifiers: &[false, false, true], times: &[] };
        let fusion = FusionInput::new(FusionMethod::Measured, &columns, &lexical, &[], &asked);
        assert!((fusion.relevance_parts(1).identifiers - IDENTIFIER_WEIGHT).abs() < 1e-6);
        assert_eq!(fusion.relevance_parts(0).identifiers, 0.0);
    }

    #[test]
    fn a_long_text_pays_for_its_chances() {
        let columns = columns(&[40, 80, 800]);
        let lexical = lexical::score(&columns, &[]);
        let cosines = [0.5, 0.5, 0.5];
        let asked = FusionQuery { postings: &[], identifiers: &[], times: &[] };
        let fusion = FusionInput::new(FusionMethod::Measured, &columns, &lexical, &cosines, &asked);
        assert_eq!(fusion.relevance_parts(0).relevance, fusion.relevance_parts(1).relevance);
        assert!(fusion.relevance_parts(2).relevance < fusion.relevance_parts(1).relevance);
    }
}

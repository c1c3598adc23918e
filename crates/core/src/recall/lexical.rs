//! BM25 at two levels: for each document together with its neighbours, and for its whole thread. A short turn
//! says little alone; the turns around it give its topic.
//!
//! Only visible documents contribute to the statistics, so deleted documents leave no trace in the scores of
//! others.

use super::bm25::{self, Bm25, inverse_document_frequency};
use super::collection::{DocumentColumns, TermPostings};
use super::term_counts::{MAX_NEIGHBOUR_WORDS, TermCount};

/// The weight of a document's own words relative to those of its neighbours.
const OWN_WORDS_WEIGHT: f32 = 2.0;

/// The lexical scores for a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LexicalScores {
    /// The score of each document with its neighbours.
    pub context: Vec<f32>,
    /// The score of the thread of each document; empty if every thread has one document.
    pub thread: Vec<f32>,
    /// The inverse document frequency of each query term.
    pub idf: Vec<f32>,
    /// The score of an ideal document that contains every term.
    pub ideal: f32,
}

/// Scores every document for the terms of a query. A term without occurrences has the weight of the rarest
/// possible term.
pub fn score(columns: &DocumentColumns, postings: &[TermPostings]) -> LexicalScores {
    let shape = CollectionShape::of(columns);
    let mut scores = LexicalScores { context: zeros(columns.len()), ..LexicalScores::default() };
    let holding = |postings: &TermPostings| visible_postings(columns, postings).count();
    let holding: Vec<usize> = postings.iter().map(holding).collect();
    scores.idf = holding.iter().map(|holding| inverse_document_frequency(shape.visible, *holding)).collect();
    scores.ideal = scores.idf.iter().copied().map(bm25::upper_bound).sum();
    let terms = postings.iter().zip(&scores.idf);
    if shape.is_all_alone() {
        let bm25 = Bm25::with_average_length(shape.length * OWN_WORDS_WEIGHT);
        for (postings, idf) in terms {
            for (at, times) in visible_postings(columns, postings) {
                let length = columns.lengths[at] as f32 * OWN_WORDS_WEIGHT;
                scores.context[at] += bm25.score(*idf, f32::from(times.all) * OWN_WORDS_WEIGHT, length);
            }
        }
        return scores;
    }
    let around = SurroundingLengths::of(columns, &shape);
    let (in_context, in_thread) =
        (Bm25::with_average_length(around.context), Bm25::with_average_length(around.thread));
    let mut by_thread = vec![0.0; around.threads.len()];
    // The count of the current term in each document, including the neighbours' share; all zero between
    // terms.
    let mut times_there = zeros(columns.len());
    for (postings, idf_own) in terms {
        let mut threads: Vec<(u32, f32)> = Vec::new();
        for (at, times) in visible_postings(columns, postings) {
            let own = f32::from(times.all);
            let thread = around.thread_of[at];
            match threads.last_mut() {
                Some((last, sum)) if *last == thread => *sum += own,
                _ => threads.push((thread, own)),
            }
            times_there[at] += own * OWN_WORDS_WEIGHT;
            if let Some(before) = previous_in_thread(columns, at) {
                times_there[before] += f32::from(times.head);
            }
            if let Some(after) = after(columns, at) {
                times_there[after] += f32::from(times.tail);
            }
        }
        for (at, _) in visible_postings(columns, postings) {
            let near = at.saturating_sub(1)..(at + 2).min(columns.len());
            for (times, place) in times_there[near.clone()].iter_mut().zip(near) {
                let times = std::mem::take(times);
                if times > 0.0 {
                    scores.context[place] += in_context.score(*idf_own, times, around.contexts[place]);
                }
            }
        }
        let idf_thread = inverse_document_frequency(around.threads.len(), threads.len());
        for (thread, times) in threads {
            let length = around.threads[thread as usize];
            by_thread[thread as usize] += in_thread.score(idf_thread, times, length);
        }
    }
    let of = |at: usize| if columns.visible[at] { by_thread[around.thread_of[at] as usize] } else { 0.0 };
    scores.thread = (0..columns.len()).map(of).collect();
    scores
}

/// The postings of a term in visible documents.
fn visible_postings<'a>(
    columns: &DocumentColumns,
    postings: &'a TermPostings,
) -> impl Iterator<Item = (usize, &'a TermCount)> {
    let places = postings.iter().map(|(document, count)| (*document as usize, count));
    places.filter(|(at, _)| columns.visible.get(*at).copied().unwrap_or(false))
}

/// Allocates zeros and writes them. Lazily zeroed memory would fault twice: on the first read and on the
/// first write.
fn zeros(count: usize) -> Vec<f32> {
    let mut zeros = Vec::with_capacity(count);
    zeros.resize(count, 0.0);
    zeros
}

/// The size of the visible collection.
struct CollectionShape {
    /// The number of visible documents.
    visible: usize,
    /// The number of threads with visible documents.
    threads: usize,
    /// The average number of terms per document.
    length: f32,
}

impl CollectionShape {
    fn of(columns: &DocumentColumns) -> Self {
        let (mut visible, mut threads, mut length, mut last) = (0, 0, 0_u64, None);
        let all = columns.visible.iter().zip(&columns.threads).zip(&columns.lengths);
        for ((_, thread), terms) in all.filter(|((visible, _), _)| **visible) {
            visible += 1;
            threads += usize::from(last != Some(*thread));
            length += u64::from(*terms);
            last = Some(*thread);
        }
        Self { visible, threads, length: average(length as f64, visible) }
    }

    /// True if no document has a neighbour.
    fn is_all_alone(&self) -> bool {
        self.visible == self.threads
    }
}

fn average(sum: f64, count: usize) -> f32 {
    if sum > 0.0 { (sum / count as f64) as f32 } else { 1.0 }
}

/// The lengths of documents with their neighbours, and of threads.
struct SurroundingLengths {
    /// The average number of terms of a document with its neighbours, and of a thread.
    context: f32,
    thread: f32,
    /// The number of terms of each document with its neighbours' share.
    contexts: Vec<f32>,
    /// The number of terms of each thread.
    threads: Vec<f32>,
    /// The index of each document's thread among the visible threads.
    thread_of: Vec<u32>,
}

impl SurroundingLengths {
    fn of(columns: &DocumentColumns, shape: &CollectionShape) -> Self {
        let (mut contexts, mut thread_of) = (vec![0.0; columns.len()], vec![0; columns.len()]);
        let mut threads: Vec<f32> = Vec::with_capacity(shape.threads);
        let (mut last, mut context) = (None, 0.0_f64);
        for at in (0..columns.len()).filter(|at| columns.visible[*at]) {
            if last != Some(columns.threads[at]) {
                last = Some(columns.threads[at]);
                threads.push(0.0);
            }
            let own = columns.lengths[at] as f32;
            if let Some(thread) = threads.last_mut() {
                *thread += own;
            }
            thread_of[at] = (threads.len() - 1) as u32;
            let neighbours = [previous_in_thread(columns, at), after(columns, at)];
            let lent: f32 = neighbours.into_iter().flatten().map(|at| lendable(columns, at)).sum();
            contexts[at] = own * OWN_WORDS_WEIGHT + lent;
            context += f64::from(contexts[at]);
        }
        let length = f64::from(shape.length) * shape.visible as f64;
        Self {
            context: average(context, shape.visible),
            thread: average(length, threads.len()),
            contexts,
            threads,
            thread_of,
        }
    }
}

/// The previous document, if it is visible and in the same thread.
fn previous_in_thread(columns: &DocumentColumns, at: usize) -> Option<usize> {
    at.checked_sub(1).filter(|before| is_neighbour(columns, at, *before))
}

/// The next document, if it is visible and in the same thread.
fn after(columns: &DocumentColumns, at: usize) -> Option<usize> {
    Some(at + 1).filter(|after| is_neighbour(columns, at, *after))
}

fn is_neighbour(columns: &DocumentColumns, at: usize, other: usize) -> bool {
    other < columns.len() && columns.visible[other] && columns.threads[other] == columns.threads[at]
}

/// The approximate number of terms that a document lends to one neighbour.
fn lendable(columns: &DocumentColumns, at: usize) -> f32 {
    let (words, length) = (columns.words[at], columns.lengths[at] as f32);
    if words <= MAX_NEIGHBOUR_WORDS { length } else { length * MAX_NEIGHBOUR_WORDS as f32 / words as f32 }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::recall::collection::{DocumentFlags, NO_TIMESTAMP};
    use crate::recall::term_counts::TermCount;

    /// A document for the tests: the start of a thread (0), its visibility and its words.
    type Bag = (u32, bool, Vec<u8>);

    /// Generates documents as bags of small numbers, in threads of random length.
    fn collection() -> impl Strategy<Value = (Vec<Bag>, Vec<u8>)> {
        let document =
            |most: u32| (0..most, prop::bool::weighted(0.85), prop::collection::vec(0_u8..6, 0..90));
        // Every document of the second kind is a thread by itself.
        let documents = [document(4), document(1)].map(|document| prop::collection::vec(document, 0..12));
        let [some, alone] = documents;
        let documents = prop_oneof![some, alone];
        (documents, prop::collection::vec(0_u8..8, 0..5))
    }

    fn columns(documents: &[Bag]) -> DocumentColumns {
        let mut columns = DocumentColumns::default();
        let mut thread = 0;
        for (begins, visible, words) in documents {
            thread += u32::from(*begins == 0);
            columns.threads.push(thread);
            columns.words.push(words.len() as u32);
            columns.lengths.push(words.len() as u32);
            columns.created.push(NO_TIMESTAMP);
            columns.flags.push(DocumentFlags::from_bits(0));
            columns.visible.push(*visible);
        }
        columns
    }

    fn postings(documents: &[Bag], term: u8) -> TermPostings {
        let is = |word: &&u8| **word == term;
        let lent = MAX_NEIGHBOUR_WORDS as usize;
        let count = |words: &[u8]| words.iter().filter(is).count() as u8;
        let of = |(at, (_, _, words)): (usize, &Bag)| {
            let head = &words[..words.len().min(lent)];
            let tail = &words[words.len().saturating_sub(lent)..];
            let times = TermCount { all: count(words), head: count(head), tail: count(tail) };
            (times.all > 0).then_some((at as u32, times))
        };
        documents.iter().enumerate().filter_map(of).collect()
    }

    /// Textbook BM25 over whole texts, computed from scratch for every term.
    fn textbook(
        texts: &BTreeMap<usize, Vec<u8>>,
        query: &[u8],
        idfs: Option<&[f32]>,
    ) -> BTreeMap<usize, f32> {
        let average = texts.values().map(Vec::len).sum::<usize>() as f32 / texts.len().max(1) as f32;
        let mut scores = BTreeMap::new();
        for (name, text) in texts {
            let mut score = 0.0;
            for (place, term) in query.iter().enumerate() {
                let holding = texts.values().filter(|text| text.contains(term)).count();
                let says = idfs.map_or_else(
                    || (1.0 + (texts.len() as f32 - holding as f32 + 0.5) / (holding as f32 + 0.5)).ln(),
                    |idfs| idfs[place],
                );
                let count = text.iter().filter(|word| *word == term).count() as f32;
                if count > 0.0 {
                    score += says * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * text.len() as f32 / average));
                }
            }
            scores.insert(*name, score);
        }
        scores
    }

    fn close(found: f32, truth: f32) -> bool {
        (found - truth).abs() <= 1e-4 * truth.abs().max(1.0)
    }

    proptest! {
        #[test]
        fn rec_01_scores_are_those_of_the_textbook((documents, query) in collection()) {
            let columns = columns(&documents);
            let lists: Vec<TermPostings> = query.iter().map(|term| postings(&documents, *term)).collect();
            let scores = score(&columns, &lists);

            let visible: Vec<usize> = (0..documents.len()).filter(|at| documents[*at].1).collect();
            let holding = |term: &u8| visible.iter().filter(|at| documents[**at].2.contains(term)).count();
            for (term, idf) in query.iter().zip(&scores.idf) {
                let (all, holding) = (visible.len() as f32, holding(term) as f32);
                prop_assert!(close(*idf, (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln()));
            }

            let lent = MAX_NEIGHBOUR_WORDS as usize;
            let neighbour = |at: usize, other: usize| {
                (documents[other].1 && columns.threads[at] == columns.threads[other]).then(|| &documents[other].2)
            };
            let context: BTreeMap<usize, Vec<u8>> = visible.iter().map(|&at| {
                let mut text = [documents[at].2.clone(), documents[at].2.clone()].concat();
                if let Some(before) = at.checked_sub(1).and_then(|before| neighbour(at, before)) {
                    text.extend(&before[before.len().saturating_sub(lent)..]);
                }
                if let Some(after) = (at + 1 < documents.len()).then(|| neighbour(at, at + 1)).flatten() {
                    text.extend(&after[..after.len().min(lent)]);
                }
                (at, text)
            }).collect();
            for (at, truth) in textbook(&context, &query, Some(&scores.idf)) {
                prop_assert!(close(scores.context[at], truth), "context {at}: {} {truth}", scores.context[at]);
            }

            let mut threads: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
            for &at in &visible {
                threads.entry(columns.threads[at] as usize).or_default().extend(&documents[at].2);
            }
            prop_assert_eq!(scores.thread.is_empty(), threads.len() == visible.len());
            let truths = textbook(&threads, &query, None);
            for &at in visible.iter().filter(|_| !scores.thread.is_empty()) {
                let truth = truths[&(columns.threads[at] as usize)];
                prop_assert!(close(scores.thread[at], truth), "thread {at}: {} {truth}", scores.thread[at]);
            }
            for at in (0..documents.len()).filter(|at| !documents[*at].1) {
                prop_assert_eq!([scores.context[at], scores.thread.get(at).copied().unwrap_or(0.0)], [0.0; 2]);
            }
        }
    }
}

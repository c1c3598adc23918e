//! BM25, three times: of a document by itself, of a document with the words its neighbours lend it, and of the whole
//! thread it is a part of. A short turn says little alone; what was said around it says what it is about.
//!
//! Only visible documents count, in every statistic: a document that is gone leaves no trace in the scores of others.

use super::collection::{Columns, Postings};
use super::counts::LENT_WORDS;

/// How soon more of the same term stops counting.
pub const K1: f32 = 1.2;
/// How much a long text has to say to be worth as much as a short one.
pub const B: f32 = 0.75;
/// A document's own words count this often beside those its neighbours lend it.
const OWN: f32 = 2.0;

/// The lexical scores of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lexical {
    /// Of each document by itself.
    pub own: Vec<f32>,
    /// Of each document with its neighbours.
    pub context: Vec<f32>,
    /// Of the thread of each document.
    pub thread: Vec<f32>,
    /// How much each term of the query says.
    pub idf: Vec<f32>,
    /// What a document that is full of every term would have.
    pub ideal: f32,
}

/// How much a term says that stands in `holding` of `all`.
fn idf(all: usize, holding: usize) -> f32 {
    let (all, holding) = (all as f32, holding as f32);
    (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln()
}

/// What a term adds that stands `count` times in a text of `length`.
fn weight(idf: f32, count: f32, length: f32, average: f32) -> f32 {
    idf * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / average))
}

/// Scores every document for the terms of a query. Terms that stand nowhere are worth what the rarest would be.
pub fn score(columns: &Columns, postings: &[Postings]) -> Lexical {
    let count = columns.len();
    let shape = Shape::of(columns);
    let mut scores = Lexical {
        own: vec![0.0; count],
        context: vec![0.0; count],
        thread: vec![0.0; count],
        ..Lexical::default()
    };
    let mut by_thread = vec![0.0; shape.threads.len()];
    // How often the term at hand stands in each document and what its neighbours lend it; all zero between terms.
    let mut times_there = vec![0.0_f32; count];
    for postings in postings {
        let seen = |document: u32| columns.visible.get(document as usize).copied().unwrap_or(false);
        let visible: Vec<_> = postings.iter().filter(|(document, _)| seen(*document)).collect();
        let idf_own = idf(shape.visible, visible.len());
        scores.idf.push(idf_own);
        scores.ideal += idf_own * (K1 + 1.0);

        let mut threads: Vec<(u32, f32)> = Vec::new();
        for (document, times) in &visible {
            let at = *document as usize;
            let own = f32::from(times.all);
            scores.own[at] += weight(idf_own, own, columns.lengths[at] as f32, shape.length);
            let thread = shape.thread_of[at];
            match threads.last_mut() {
                Some((last, sum)) if *last == thread => *sum += own,
                _ => threads.push((thread, own)),
            }
            times_there[at] += own * OWN;
            if let Some(before) = shape.before(columns, at) {
                times_there[before] += f32::from(times.head);
            }
            if let Some(after) = shape.after(columns, at) {
                times_there[after] += f32::from(times.tail);
            }
        }
        for (document, _) in &visible {
            let at = *document as usize;
            let around = at.saturating_sub(1)..(at + 2).min(count);
            for (times, place) in times_there[around.clone()].iter_mut().zip(around) {
                let times = std::mem::take(times);
                if times > 0.0 {
                    scores.context[place] += weight(idf_own, times, shape.contexts[place], shape.context);
                }
            }
        }
        let idf_thread = idf(shape.threads.len(), threads.len());
        for (thread, times) in threads {
            by_thread[thread as usize] +=
                weight(idf_thread, times, shape.threads[thread as usize], shape.thread);
        }
    }
    for (at, score) in scores.thread.iter_mut().enumerate() {
        if columns.visible[at] {
            *score = by_thread[shape.thread_of[at] as usize];
        }
    }
    scores
}

/// The lengths that scores are measured against.
struct Shape {
    visible: usize,
    /// Average terms of a document, of one with its neighbours, of a thread.
    length: f32,
    context: f32,
    thread: f32,
    /// Terms of each document with what its neighbours lend.
    contexts: Vec<f32>,
    /// Terms of each thread.
    threads: Vec<f32>,
    /// The place of each document's thread among those that can be seen.
    thread_of: Vec<u32>,
}

impl Shape {
    fn of(columns: &Columns) -> Self {
        let mut shape = Self {
            visible: 0,
            length: 1.0,
            context: 1.0,
            thread: 1.0,
            contexts: vec![0.0; columns.len()],
            threads: Vec::new(),
            thread_of: vec![0; columns.len()],
        };
        let mut last = None;
        for at in 0..columns.len() {
            if !columns.visible[at] {
                continue;
            }
            shape.visible += 1;
            if last != Some(columns.threads[at]) {
                last = Some(columns.threads[at]);
                shape.threads.push(0.0);
            }
            let place = shape.threads.len() - 1;
            shape.thread_of[at] = place as u32;
            shape.threads[place] += columns.lengths[at] as f32;
        }
        let (mut length, mut context) = (0.0_f64, 0.0_f64);
        for at in (0..columns.len()).filter(|at| columns.visible[*at]) {
            let own = columns.lengths[at] as f32;
            let neighbours = [shape.before(columns, at), shape.after(columns, at)];
            let lent: f32 = neighbours.into_iter().flatten().map(|at| lendable(columns, at)).sum();
            shape.contexts[at] = own * OWN + lent;
            length += f64::from(own);
            context += f64::from(shape.contexts[at]);
        }
        let average = |sum: f64, count: usize| if sum > 0.0 { (sum / count as f64) as f32 } else { 1.0 };
        shape.thread = average(length, shape.threads.len());
        shape.length = average(length, shape.visible);
        shape.context = average(context, shape.visible);
        shape
    }

    fn before(&self, columns: &Columns, at: usize) -> Option<usize> {
        let before = at.checked_sub(1)?;
        (columns.visible[before] && columns.threads[before] == columns.threads[at]).then_some(before)
    }

    fn after(&self, columns: &Columns, at: usize) -> Option<usize> {
        let after = at + 1;
        let is_neighbour =
            after < columns.len() && columns.visible[after] && columns.threads[after] == columns.threads[at];
        is_neighbour.then_some(after)
    }
}

/// About how many terms a document lends to one neighbour.
fn lendable(columns: &Columns, at: usize) -> f32 {
    let (words, length) = (columns.words[at], columns.lengths[at] as f32);
    if words <= LENT_WORDS { length } else { length * LENT_WORDS as f32 / words as f32 }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::recall::collection::{Flags, NO_TIME};
    use crate::recall::counts::Count;

    /// Whether a thread begins (0), whether it is visible, its words.
    type Bag = (u32, bool, Vec<u8>);

    /// Documents as bags of small numbers, in threads of their own length.
    fn collection() -> impl Strategy<Value = (Vec<Bag>, Vec<u8>)> {
        let document = (0_u32..4, prop::bool::weighted(0.85), prop::collection::vec(0_u8..6, 0..90));
        (prop::collection::vec(document, 0..12), prop::collection::vec(0_u8..8, 0..5))
    }

    fn columns(documents: &[Bag]) -> Columns {
        let mut columns = Columns::default();
        let mut thread = 0;
        for (begins, visible, words) in documents {
            thread += u32::from(*begins == 0);
            columns.threads.push(thread);
            columns.words.push(words.len() as u32);
            columns.lengths.push(words.len() as u32);
            columns.created.push(NO_TIME);
            columns.flags.push(Flags::from_bits(0));
            columns.visible.push(*visible);
        }
        columns
    }

    fn postings(documents: &[Bag], term: u8) -> Postings {
        let is = |word: &&u8| **word == term;
        let lent = LENT_WORDS as usize;
        let count = |words: &[u8]| words.iter().filter(is).count() as u8;
        let of = |(at, (_, _, words)): (usize, &Bag)| {
            let head = &words[..words.len().min(lent)];
            let tail = &words[words.len().saturating_sub(lent)..];
            let times = Count { all: count(words), head: count(head), tail: count(tail) };
            (times.all > 0).then_some((at as u32, times))
        };
        documents.iter().enumerate().filter_map(of).collect()
    }

    /// BM25 as a textbook has it: whole texts, counted anew for every term.
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
            let lists: Vec<Postings> = query.iter().map(|term| postings(&documents, *term)).collect();
            let scores = score(&columns, &lists);

            let visible: Vec<usize> = (0..documents.len()).filter(|at| documents[*at].1).collect();
            let own: BTreeMap<usize, Vec<u8>> = visible.iter().map(|at| (*at, documents[*at].2.clone())).collect();
            for (at, truth) in textbook(&own, &query, None) {
                prop_assert!(close(scores.own[at], truth), "own {at}: {} {truth}", scores.own[at]);
            }

            let lent = LENT_WORDS as usize;
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
            let truths = textbook(&threads, &query, None);
            for &at in &visible {
                let truth = truths[&(columns.threads[at] as usize)];
                prop_assert!(close(scores.thread[at], truth), "thread {at}: {} {truth}", scores.thread[at]);
            }
            for at in (0..documents.len()).filter(|at| !documents[*at].1) {
                prop_assert_eq!([scores.own[at], scores.context[at], scores.thread[at]], [0.0; 3]);
            }
        }
    }
}

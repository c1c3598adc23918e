//! Sorts postings into the order of a segment: by term, then by document.
//!
//! Terms are hashes and thus evenly distributed: their first bits divide them into buckets of similar size,
//! and only the buckets have to be sorted. Threads first distribute shares of the documents to buckets, then
//! sort shares of the buckets.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rekindle_core::recall::term_counts::{TermCount, TermCounts};

/// A posting: a term, a document and the counts of the term in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) term: u64,
    pub(super) document: u32,
    pub(super) count: TermCount,
}

/// The approximate number of postings in a bucket, so that a bucket fits into the processor's cache.
const BUCKET_POSTINGS: usize = 256;
/// The maximum number of bits that select a bucket. More buckets would take longer to fill than larger ones
/// take to sort.
const MAX_BUCKET_BITS: u32 = 12;
/// The maximum number of shares of a step.
const MAX_THREAD_SHARES: usize = 16;
/// The minimum number of postings for a second thread; fewer are sorted before one has started.
const MIN_PARALLEL_POSTINGS: usize = 100_000;

/// Sorts all postings and applies `make` to each share, in order. `meanwhile` runs concurrently if a thread
/// is worth it.
pub(super) fn sorted_postings<T: Send>(
    counted: &[&TermCounts],
    make: impl Fn(&[Posting]) -> T + Sync,
    meanwhile: impl FnOnce(),
) -> Vec<T> {
    let total: usize = counted.iter().map(|counted| counted.terms.len()).sum();
    let bits = (total / BUCKET_POSTINGS).max(1).ilog2().min(MAX_BUCKET_BITS);
    let is_shared = total >= MIN_PARALLEL_POSTINGS
        && std::thread::available_parallelism().is_ok_and(|threads| threads.get() > 1);
    let shares = if is_shared { MAX_THREAD_SHARES } else { 1 };
    let deal = |share| {
        let documents = share_range(counted.len(), share, shares);
        distribute(&counted[documents.clone()], documents.start as u32, bits)
    };
    let dealt = in_shares(shares, deal, meanwhile);
    in_shares(shares, |share| make(&sort(&dealt, share_range(1 << bits, share, shares))), || ())
}

/// The range of one share.
fn share_range(things: usize, share: usize, shares: usize) -> Range<usize> {
    things * share / shares..things * (share + 1) / shares
}

/// Applies `make` to each share; the results are in order.
fn in_shares<T: Send>(shares: usize, make: impl Fn(usize) -> T + Sync, meanwhile: impl FnOnce()) -> Vec<T> {
    if shares == 1 {
        meanwhile();
        return vec![make(0)];
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let mine = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed))
            .take_while(|share| *share < shares);
        mine.map(|share| (share, make(share))).collect::<Vec<_>>()
    };
    let mut made = std::thread::scope(|scope| {
        let other = scope.spawn(take);
        meanwhile();
        let mut made = take();
        made.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        made
    });
    made.sort_unstable_by_key(|(share, _)| *share);
    made.into_iter().map(|(_, made)| made).collect()
}

/// The postings of some documents by bucket, and the start of each bucket.
struct PostingBuckets {
    postings: Vec<Posting>,
    starts: Vec<usize>,
}

/// Distributes the terms of documents to buckets. The documents are numbered from `first`.
fn distribute(counted: &[&TermCounts], first: u32, bits: u32) -> PostingBuckets {
    let heap = |term: u64| term.checked_shr(u64::BITS - bits).unwrap_or(0) as usize;
    let all = || counted.iter().flat_map(|counted| &counted.terms);
    let mut next = vec![0_usize; (1 << bits) + 1];
    all().for_each(|(term, _)| next[heap(*term) + 1] += 1);
    for at in 1..next.len() {
        next[at] += next[at - 1];
    }
    let starts = next.clone();
    let nothing = Posting { term: 0, document: 0, count: TermCount { all: 0, head: 0, tail: 0 } };
    let mut postings = vec![nothing; starts.last().copied().unwrap_or(0)];
    for (document, counted) in (first..).zip(counted) {
        for &(term, count) in &counted.terms {
            let place = &mut next[heap(term)];
            postings[*place] = Posting { term, document, count };
            *place += 1;
        }
    }
    PostingBuckets { postings, starts }
}

/// Collects the postings of a range of buckets and sorts each bucket.
fn sort(dealt: &[PostingBuckets], heaps: Range<usize>) -> Vec<Posting> {
    let of =
        |dealt: &PostingBuckets, heaps: &Range<usize>| dealt.starts[heaps.start]..dealt.starts[heaps.end];
    let total = dealt.iter().map(|dealt| of(dealt, &heaps).len()).sum();
    let mut postings = Vec::with_capacity(total);
    for heap in heaps {
        let start = postings.len();
        dealt
            .iter()
            .for_each(|dealt| postings.extend_from_slice(&dealt.postings[of(dealt, &(heap..heap + 1))]));
        postings[start..].sort_unstable_by_key(|posting| (posting.term, posting.document));
    }
    postings
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plainly(counted: &[TermCounts]) -> Vec<Posting> {
        let mut all: Vec<Posting> = Vec::new();
        for (document, counted) in counted.iter().enumerate() {
            let of = |&(term, count): &(u64, TermCount)| Posting { term, document: document as u32, count };
            all.extend(counted.terms.iter().map(of));
        }
        all.sort_by_key(|posting| (posting.term, posting.document));
        all
    }

    fn documents(terms: Vec<Vec<u64>>) -> Vec<TermCounts> {
        let counted = |terms: Vec<u64>| TermCounts {
            words: 0,
            length: 0,
            terms: terms
                .into_iter()
                .map(|term| (term, TermCount { all: term as u8, head: 0, tail: 0 }))
                .collect(),
        };
        terms.into_iter().map(counted).collect()
    }

    fn at_once(counted: &[TermCounts]) -> Vec<Posting> {
        let mut done = 0;
        let all = sorted_postings(&counted.iter().collect::<Vec<_>>(), <[_]>::to_vec, || done += 1);
        assert_eq!(done, 1);
        all.concat()
    }

    proptest! {
        #[test]
        fn heaps_are_sorted_as_the_whole_is(
            terms in prop::collection::vec(prop::collection::btree_set(prop_oneof![any::<u64>(), 0..9_u64], 0..40), 0..40)
        ) {
            let counted = documents(terms.into_iter().map(|terms| terms.into_iter().collect()).collect());
            prop_assert_eq!(at_once(&counted), plainly(&counted));
        }
    }

    #[test]
    fn two_threads_sort_as_one_does() {
        let term = |document: u64, place: u64| {
            rekindle_core::text::terms::hash(&format!("{}", (document * 31 + place * 7) % 5000))
        };
        let of = |document| {
            let terms: std::collections::BTreeSet<u64> = (0..40).map(|place| term(document, place)).collect();
            terms.into_iter().collect()
        };
        let counted = documents((0..3000).map(of).collect());
        assert!(plainly(&counted).len() >= MIN_PARALLEL_POSTINGS);
        assert_eq!(at_once(&counted), plainly(&counted));
    }
}

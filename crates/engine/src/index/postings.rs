//! Postings in the order in which they are written: by term, then by document.

use rekindle_core::recall::counts::{Count, Counted};

/// How often a term stands in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posting {
    pub(super) term: u64,
    pub(super) document: u32,
    pub(super) count: Count,
}

/// About so many postings are sorted at once: they fit where the processor is fast.
const HEAP: usize = 256;
/// More heaps than this would be slower to fill than larger ones are to sort.
const MOST_BITS: u32 = 12;
/// Fewer postings than this are sorted before a thread has started.
const SHARED_FROM: usize = 100_000;

/// All postings, sorted. Terms are hashes and as such evenly spread: by their first bits they fall into small heaps of
/// about the same size, and only those have to be sorted.
pub(super) fn sorted(counted: &[Counted]) -> Vec<Posting> {
    let total: usize = counted.iter().map(|counted| counted.terms.len()).sum();
    let bits = (total / HEAP).max(1).ilog2().min(MOST_BITS);
    let heap = |term: u64| term.checked_shr(u64::BITS - bits).unwrap_or(0) as usize;
    let all = || counted.iter().flat_map(|counted| &counted.terms);
    let mut next = vec![0_usize; (1 << bits) + 1];
    all().for_each(|(term, _)| next[heap(*term) + 1] += 1);
    for at in 1..next.len() {
        next[at] += next[at - 1];
    }
    let starts = next.clone();
    let nothing = Posting { term: 0, document: 0, count: Count { all: 0, head: 0, tail: 0 } };
    let mut postings = vec![nothing; total];
    for (document, counted) in counted.iter().enumerate() {
        for &(term, count) in &counted.terms {
            let place = &mut next[heap(term)];
            postings[*place] = Posting { term, document: document as u32, count };
            *place += 1;
        }
    }
    let middle = starts.len() / 2;
    if total < SHARED_FROM {
        sort(&mut postings, &starts);
    } else {
        let (low, high) = postings.split_at_mut(starts[middle]);
        std::thread::scope(|scope| {
            scope.spawn(|| sort(low, &starts[..=middle]));
            sort(high, &starts[middle..]);
        });
    }
    postings
}

/// Sorts each heap; the first of `starts` is where `postings` begin.
fn sort(mut postings: &mut [Posting], starts: &[usize]) {
    for pair in starts.windows(2) {
        let (heap, rest) = postings.split_at_mut(pair[1] - pair[0]);
        heap.sort_unstable_by_key(|posting| (posting.term, posting.document));
        postings = rest;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plainly(counted: &[Counted]) -> Vec<Posting> {
        let mut all: Vec<Posting> = Vec::new();
        for (document, counted) in counted.iter().enumerate() {
            let of = |&(term, count): &(u64, Count)| Posting { term, document: document as u32, count };
            all.extend(counted.terms.iter().map(of));
        }
        all.sort_by_key(|posting| (posting.term, posting.document));
        all
    }

    fn documents(terms: Vec<Vec<u64>>) -> Vec<Counted> {
        let counted = |terms: Vec<u64>| Counted {
            words: 0,
            length: 0,
            terms: terms
                .into_iter()
                .map(|term| (term, Count { all: term as u8, head: 0, tail: 0 }))
                .collect(),
        };
        terms.into_iter().map(counted).collect()
    }

    proptest! {
        #[test]
        fn heaps_are_sorted_as_the_whole_is(
            terms in prop::collection::vec(prop::collection::btree_set(prop_oneof![any::<u64>(), 0..9_u64], 0..40), 0..40)
        ) {
            let counted = documents(terms.into_iter().map(|terms| terms.into_iter().collect()).collect());
            prop_assert_eq!(sorted(&counted), plainly(&counted));
        }
    }

    #[test]
    fn two_threads_sort_as_one_does() {
        let term = |document: u64, place: u64| {
            rekindle_core::recall::terms::hash(&format!("{}", (document * 31 + place * 7) % 5000))
        };
        let counted = documents(
            (0..3000).map(|document| (0..40).map(|place| term(document, place)).collect()).collect(),
        );
        assert!(counted.len() * 40 >= SHARED_FROM);
        assert_eq!(sorted(&counted), plainly(&counted));
    }
}

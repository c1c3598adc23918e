//! The standard metrics of retrieval quality, computed from the ranks of the expected items.

/// The ranks of the expected items in the answer to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedRanks {
    /// The ranks of the items that were found, counted from 1, in ascending order.
    pub places: Vec<usize>,
    /// The number of expected items.
    pub expected: usize,
}

impl ExpectedRanks {
    /// Looks up each expected item in an answer; `matches` compares the two.
    pub fn new<A, E>(answer: &[A], expected: &[E], matches: impl Fn(&A, &E) -> bool) -> Self {
        let place =
            |wanted: &E| answer.iter().position(|item| matches(item, wanted)).map(|before| before + 1);
        let mut places: Vec<usize> = expected.iter().filter_map(place).collect();
        places.sort_unstable();
        Self { places, expected: expected.len() }
    }

    /// True if an expected item is among the first `k`.
    pub fn is_hit(&self, k: usize) -> bool {
        self.places.first().is_some_and(|first| *first <= k)
    }
}

/// The share of questions with an expected item among the first `k`; 0 without questions.
pub fn hit_at(standings: &[ExpectedRanks], k: usize) -> f64 {
    mean(standings, |standing| f64::from(u8::from(standing.is_hit(k))))
}

/// The mean share of the expected items that are among the first `k`.
pub fn recall_at(standings: &[ExpectedRanks], k: usize) -> f64 {
    mean(standings, |standing| {
        let found = standing.places.iter().filter(|place| **place <= k).count();
        if standing.expected == 0 { 0.0 } else { found as f64 / standing.expected as f64 }
    })
}

/// The mean reciprocal rank of the first expected item; a question without one counts 0.
pub fn mean_reciprocal_rank(standings: &[ExpectedRanks]) -> f64 {
    mean(standings, |standing| standing.places.first().map_or(0.0, |place| 1.0 / *place as f64))
}

fn mean(standings: &[ExpectedRanks], worth: impl Fn(&ExpectedRanks) -> f64) -> f64 {
    if standings.is_empty() {
        return 0.0;
    }
    standings.iter().map(worth).sum::<f64>() / standings.len() as f64
}

/// The percentile of `share` (0 to 1): the smallest value that is at least as large as that share of the
/// values; 0 without values.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (share.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
    sorted.get(place.max(1) - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn standing(places: &[usize], expected: usize) -> ExpectedRanks {
        ExpectedRanks { places: places.to_vec(), expected }
    }

    #[test]
    fn b_10_the_numbers_are_those_that_everybody_uses() {
        let all = [standing(&[1], 1), standing(&[2, 4], 2), standing(&[], 1), standing(&[5], 4)];
        assert_eq!(hit_at(&all, 1), 0.25);
        assert_eq!(hit_at(&all, 4), 0.5);
        assert_eq!(hit_at(&all, 5), 0.75);
        assert_eq!(recall_at(&all, 3), (1.0 + 0.5) / 4.0);
        assert_eq!(recall_at(&all, 5), (1.0 + 1.0 + 0.25) / 4.0);
        assert_eq!(mean_reciprocal_rank(&all), (1.0 + 0.5 + 0.2) / 4.0);
    }

    #[test]
    fn nothing_asked_is_nothing_found() {
        assert_eq!((hit_at(&[], 5), recall_at(&[], 5), mean_reciprocal_rank(&[])), (0.0, 0.0, 0.0));
        assert_eq!(recall_at(&[standing(&[], 0)], 5), 0.0);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }

    #[test]
    fn a_standing_is_where_the_expected_are() {
        let same = |item: &char, wanted: &char| item == wanted;
        assert_eq!(ExpectedRanks::new(&['a', 'b', 'c'], &['c', 'a', 'x'], same), standing(&[1, 3], 3));
        // An item that matches two expected ones counts for both.
        let any = |_: &char, _: &char| true;
        assert_eq!(ExpectedRanks::new(&['a'], &['p', 'q'], any), standing(&[1, 1], 2));
        assert_eq!(ExpectedRanks::new(&[], &['p'], any), standing(&[], 1));
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(percentile(&values, 0.5), 2.0);
        assert_eq!(percentile(&values, 0.95), 4.0);
        assert_eq!(percentile(&values, 0.0), 1.0);
        assert_eq!(percentile(&values, 7.0), 4.0);
        assert_eq!(percentile(&[9.0], 0.5), 9.0);
    }

    proptest! {
        #[test]
        fn more_room_never_makes_it_worse(places in prop::collection::vec(prop::option::of(1usize..20), 1..30), k in 1usize..20) {
            let all: Vec<ExpectedRanks> =
                places.iter().map(|place| ExpectedRanks { places: place.iter().copied().collect(), expected: 1 }).collect();
            prop_assert!(hit_at(&all, k) <= hit_at(&all, k + 1));
            prop_assert!(recall_at(&all, k) <= recall_at(&all, k + 1));
            // With one expected item each, the reciprocal rank lies between hit@1 and hit@20.
            let reciprocal = mean_reciprocal_rank(&all);
            prop_assert!(hit_at(&all, 1) <= reciprocal + 1e-12 && reciprocal <= hit_at(&all, 20) + 1e-12);
        }

        #[test]
        fn so_many_values_do_not_exceed_a_percentile(values in prop::collection::vec(-1e6f64..1e6, 1..50), share in 0.0f64..=1.0) {
            let found = percentile(&values, share);
            prop_assert!(values.contains(&found));
            let within = values.iter().filter(|value| **value <= found).count();
            prop_assert!(within as f64 >= share * values.len() as f64 - 1e-9);
        }
    }
}

//! Which raw messages answer a prompt. Words alone decide here, so they have to cover what the prompt is about, or a
//! message is not shown at all (B-06): it is there for want of something better, never for want of anything.

use crate::base::provenance::Origin;

/// How much of what a prompt is about a message has to hold.
pub const MIN_COVERAGE: f64 = 0.6;
/// And how much that has to be: a word that is said all the time is no match.
const MIN_COVERED_RARITY: f64 = 0.5;
/// What a prompt is about: so many of its words, those that say most.
pub const MAX_TELLING_WORDS: usize = 6;
/// What a word that every programmer says counts for.
const COMMON_TERM_FACTOR: f64 = 0.25;
/// How much of the order is up to the words beyond what has to be covered: how often, and in how short a text.
const TIE_BREAK_WEIGHT: f64 = 0.3;
/// Sums in another order differ by this much at most.
const COVERAGE_EPSILON: f64 = 1e-9;
/// BM25 as everywhere.
const BM25_K1: f64 = 1.2;
const BM25_B: f64 = 0.75;

/// One word of the prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PromptWord {
    /// What it says about what is asked, from 0 to 1.
    pub weight: f64,
    /// How rare it is among the messages.
    pub idf: f64,
}

impl PromptWord {
    /// From how rare it is in general, and whether it is a commonplace or a name written as only code writes. It stands in
    /// `frequency` of `all` messages.
    pub fn new(rarity: f64, commonplace: bool, identifier: bool, frequency: usize, all: usize) -> Self {
        let weight = match (identifier, commonplace) {
            (true, _) => 1.0,
            (false, true) => COMMON_TERM_FACTOR * rarity,
            (false, false) => rarity,
        };
        #[expect(clippy::cast_precision_loss, reason = "how many messages there are, to a few digits")]
        let (frequency, all) = (frequency as f64, all as f64);
        Self { weight, idf: (1.0 + (all - frequency + 0.5).max(0.5) / (frequency + 0.5)).ln() }
    }
}

/// A prompt as it is held against messages.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageQuery {
    words: Vec<PromptWord>,
    /// The places of the words that say what it is about.
    telling: Vec<usize>,
    about: f64,
    ideal: f64,
}

/// How well a message answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageMatch {
    /// How much of what the prompt is about it holds, from 0 to 1.
    pub coverage: f64,
    /// What the order goes by, from 0 to 1.
    pub worth: f64,
}

impl MessageQuery {
    /// Of words in any order; all later lists of them are in the same.
    pub fn new(words: Vec<PromptWord>) -> Self {
        let mut telling: Vec<usize> = (0..words.len()).filter(|place| words[*place].weight > 0.0).collect();
        telling.sort_by(|a, b| words[*b].weight.total_cmp(&words[*a].weight).then(a.cmp(b)));
        telling.truncate(MAX_TELLING_WORDS);
        let about = telling.iter().map(|place| words[*place].weight).sum();
        let ideal = words.iter().map(|word| word.idf * (BM25_K1 + 1.0)).sum();
        Self { words, telling, about, ideal }
    }

    /// Words of which every message that is shown holds at least one, those in the fewest messages first. Whoever holds
    /// none of them lacks too much.
    pub fn needed(&self, frequency: impl Fn(usize) -> usize) -> Vec<usize> {
        let mut places = self.telling.clone();
        places.sort_by_key(|place| (frequency(*place), *place));
        let mut weight = 0.0;
        let mut needed = Vec::new();
        for place in places {
            needed.push(place);
            weight += self.words[place].weight;
            if weight > (1.0 - MIN_COVERAGE) * self.about + COVERAGE_EPSILON {
                break;
            }
        }
        needed
    }

    /// The places of the words that say what it is about, those that say most first.
    pub fn telling(&self) -> &[usize] {
        &self.telling
    }

    /// Whether a message covers enough of what is asked; `holds` says whether it holds the word at a place among the
    /// telling ones. Most do not, and are told apart by a word or two.
    pub fn covers(&self, holds: impl Fn(usize) -> bool) -> bool {
        let mut missing = 0.0;
        for (at, place) in self.telling.iter().enumerate() {
            if !holds(at) {
                missing += self.words[*place].weight;
                if missing > (1.0 - MIN_COVERAGE) * self.about + COVERAGE_EPSILON {
                    return false;
                }
            }
        }
        true
    }

    /// How well a message answers; `None` if it does not. `counts` has for each word how often it holds it.
    pub fn judge(
        &self,
        counts: &[u8],
        length: u32,
        mean_length: f64,
        origin: Origin,
    ) -> Option<MessageMatch> {
        let count = |place: usize| counts.get(place).copied().unwrap_or(0);
        let held: f64 = self
            .telling
            .iter()
            .filter(|place| count(**place) > 0)
            .map(|place| self.words[*place].weight)
            .sum();
        let coverage = if self.about > 0.0 { held / self.about } else { 0.0 };
        if coverage < MIN_COVERAGE - COVERAGE_EPSILON || held < MIN_COVERED_RARITY.min(self.about) {
            return None;
        }
        let norm = BM25_K1 * (1.0 - BM25_B + BM25_B * f64::from(length) / mean_length.max(1.0));
        let bm25: f64 = self
            .words
            .iter()
            .enumerate()
            .map(|(place, word)| {
                let often = f64::from(count(place));
                word.idf * often * (BM25_K1 + 1.0) / (often + norm)
            })
            .sum();
        let finer = if self.ideal > 0.0 { bm25 / self.ideal } else { 0.0 };
        // What a person said is worth more than what an agent made of it, and that more than what a tool printed.
        let whose = match origin {
            Origin::User => 1.0,
            Origin::Agent | Origin::Import => 0.9,
            Origin::Tool => 0.7,
        };
        Some(MessageMatch {
            coverage,
            worth: ((1.0 - TIE_BREAK_WEIGHT) * coverage + TIE_BREAK_WEIGHT * finer) * whose,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn question(weights: &[f64]) -> MessageQuery {
        MessageQuery::new(weights.iter().map(|weight| PromptWord { weight: *weight, idf: 1.0 }).collect())
    }

    #[test]
    fn b_06_a_message_has_to_cover_what_is_asked() {
        let question = question(&[0.9, 0.8, 0.1]);
        let judge = |counts: &[u8]| question.judge(counts, 10, 10.0, Origin::User);
        assert!(judge(&[1, 1, 0]).is_some());
        assert!(judge(&[1, 0, 1]).is_none(), "half of it is not enough");
        assert!(judge(&[0, 0, 9]).is_none());
        assert!(judge(&[1, 1, 1]).unwrap().worth > judge(&[1, 1, 0]).unwrap().worth);
    }

    #[test]
    fn b_06_a_word_that_everybody_says_is_no_match() {
        assert_eq!(question(&[]).judge(&[], 1, 1.0, Origin::User), None);
        let common = MessageQuery::new(vec![
            PromptWord::new(0.2, true, false, 90, 100),
            PromptWord::new(0.1, false, false, 95, 100),
        ]);
        // All that was asked for is such words: then they are what it is about.
        assert!(common.judge(&[1, 1], 5, 10.0, Origin::User).is_some());
        let one = MessageQuery::new(vec![
            PromptWord::new(0.9, false, false, 1, 100),
            PromptWord::new(0.9, true, false, 50, 100),
        ]);
        assert!(one.judge(&[0, 3], 5, 10.0, Origin::User).is_none());
        assert!(one.judge(&[1, 0], 5, 10.0, Origin::User).is_some());
    }

    #[test]
    fn b_01_the_persons_own_words_come_first() {
        let question = question(&[0.9]);
        let worth = |origin| question.judge(&[1], 10, 10.0, origin).unwrap().worth;
        assert!(worth(Origin::User) > worth(Origin::Agent) && worth(Origin::Agent) > worth(Origin::Tool));
    }

    proptest! {
        /// Whoever is shown holds one of the needed words, so nobody else has to be looked at.
        #[test]
        fn nobody_is_missed(
            words in proptest::collection::vec((0.0_f64..1.0, 0_u8..3, 0_usize..50), 0..12),
        ) {
            let question = question(&words.iter().map(|word| word.0).collect::<Vec<_>>());
            let counts: Vec<u8> = words.iter().map(|word| word.1).collect();
            let needed = question.needed(|place| words[place].2);
            if let Some(found) = question.judge(&counts, 20, 30.0, Origin::User) {
                prop_assert!(needed.iter().any(|place| counts[*place] > 0));
                prop_assert!(question.covers(|at| counts[question.telling()[at]] > 0));
                prop_assert!(found.coverage <= 1.0 + 1e-9 && found.worth > 0.0 && found.worth <= 1.01);
            }
        }
    }
}

//! Matches raw messages against a prompt, by words alone. A message must cover the subject of the prompt, or
//! it is not shown (B-06): messages fill in for missing memories, but only if they match.

use super::bm25::{self, Bm25, inverse_document_frequency};
use crate::base::provenance::Origin;

/// The minimum share of the prompt's weight that a message must cover.
pub const MIN_COVERAGE: f64 = 0.6;
/// The minimum rarity of the covered words: words that occur everywhere do not match.
const MIN_COVERED_RARITY: f64 = 0.5;
/// The maximum number of words that define the subject of a prompt, those of the highest weight.
pub const MAX_TELLING_WORDS: usize = 6;
/// The factor for the weight of words that are common among programmers.
const COMMON_TERM_FACTOR: f64 = 0.25;
/// The share of BM25 over all words in the rank; coverage has the rest.
const TIE_BREAK_WEIGHT: f64 = 0.3;
/// The tolerance for rounding when coverage is summed in a different order.
const COVERAGE_EPSILON: f64 = 1e-9;

/// The maximum number of raw messages beside notes.
pub const MAX_MESSAGES: usize = 3;
/// The rarity of a word that no vocabulary has: as rare as among the messages, on this logarithmic scale.
pub const MAX_RARITY: f64 = 8.0;
/// The factor for the score of a raw message.
const MESSAGE_SCORE_WEIGHT: f32 = 0.5;
/// The factor that keeps messages below the last note.
const BELOW_NOTES_FACTOR: f32 = 0.99;

/// The score of a raw message beside notes, of which the last has the score `lowest`: it ranks below the notes
/// that were distilled from messages.
pub fn score_below_notes(score: f32, lowest: f32) -> f32 {
    (score * MESSAGE_SCORE_WEIGHT).min(lowest * BELOW_NOTES_FACTOR)
}

/// A word of the prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PromptWord {
    /// The weight of the word, from 0 to 1.
    pub weight: f64,
    /// The inverse document frequency among the messages.
    pub idf: f32,
}

impl PromptWord {
    /// Weighs a word by its general rarity, by whether it is a commonplace, and by whether it is an
    /// identifier. `frequency` of `all` messages contain it.
    pub fn new(rarity: f64, commonplace: bool, identifier: bool, frequency: usize, all: usize) -> Self {
        let weight = match (identifier, commonplace) {
            (true, _) => 1.0,
            (false, true) => COMMON_TERM_FACTOR * rarity,
            (false, false) => rarity,
        };
        Self { weight, idf: inverse_document_frequency(all.max(frequency), frequency) }
    }
}

/// A prompt, prepared for matching against messages.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageQuery {
    words: Vec<PromptWord>,
    /// The indexes of the words that define the subject.
    telling: Vec<usize>,
    subject_weight: f64,
    ideal: f32,
}

/// The match of a message against a prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageMatch {
    /// The share of the prompt's weight that the message covers, from 0 to 1.
    pub coverage: f64,
    /// The rank of the message, from 0 to 1.
    pub worth: f64,
}

impl MessageQuery {
    /// Prepares a prompt from its words. Later lists of words must keep the same order.
    pub fn new(words: Vec<PromptWord>) -> Self {
        let mut telling: Vec<usize> = (0..words.len()).filter(|place| words[*place].weight > 0.0).collect();
        telling.sort_by(|a, b| words[*b].weight.total_cmp(&words[*a].weight).then(a.cmp(b)));
        telling.truncate(MAX_TELLING_WORDS);
        let subject_weight = telling.iter().map(|place| words[*place].weight).sum();
        let ideal = words.iter().map(|word| bm25::upper_bound(word.idf)).sum();
        Self { words, telling, subject_weight, ideal }
    }

    /// A set of words, those in the fewest messages first, of which every match contains at least one. A
    /// message without any of them cannot reach the coverage.
    pub fn required_words(&self, frequency: impl Fn(usize) -> usize) -> Vec<usize> {
        let mut places = self.telling.clone();
        places.sort_by_key(|place| (frequency(*place), *place));
        let mut weight = 0.0;
        let mut needed = Vec::new();
        for place in places {
            needed.push(place);
            weight += self.words[place].weight;
            if weight > (1.0 - MIN_COVERAGE) * self.subject_weight + COVERAGE_EPSILON {
                break;
            }
        }
        needed
    }

    /// The indexes of the words that define the subject, those of the highest weight first.
    pub fn telling_words(&self) -> &[usize] {
        &self.telling
    }

    /// True if a message covers enough of the prompt. `holds` takes an index into `telling`. Most
    /// messages fail after a word or two.
    pub fn covers(&self, holds: impl Fn(usize) -> bool) -> bool {
        let mut missing = 0.0;
        for (at, place) in self.telling.iter().enumerate() {
            if !holds(at) {
                missing += self.words[*place].weight;
                if missing > (1.0 - MIN_COVERAGE) * self.subject_weight + COVERAGE_EPSILON {
                    return false;
                }
            }
        }
        true
    }

    /// Ranks a message; `None` if it does not match. `counts` has the occurrences of each word.
    pub fn match_message(
        &self,
        counts: &[u8],
        length: u32,
        bm25: Bm25,
        origin: Origin,
    ) -> Option<MessageMatch> {
        let count = |place: usize| counts.get(place).copied().unwrap_or(0);
        let held: f64 = self
            .telling
            .iter()
            .filter(|place| count(**place) > 0)
            .map(|place| self.words[*place].weight)
            .sum();
        let coverage = if self.subject_weight > 0.0 { held / self.subject_weight } else { 0.0 };
        if coverage < MIN_COVERAGE - COVERAGE_EPSILON || held < MIN_COVERED_RARITY.min(self.subject_weight) {
            return None;
        }
        let words = self.words.iter().enumerate();
        let score: f32 =
            words.map(|(place, word)| bm25.score(word.idf, f32::from(count(place)), length as f32)).sum();
        let finer = if self.ideal > 0.0 { f64::from(score / self.ideal) } else { 0.0 };
        // The user's words rank above the agent's, and those above the output of tools.
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

    fn bm25(average: f32) -> Bm25 {
        Bm25::with_average_length(average)
    }

    fn question(weights: &[f64]) -> MessageQuery {
        MessageQuery::new(weights.iter().map(|weight| PromptWord { weight: *weight, idf: 1.0 }).collect())
    }

    #[test]
    fn b_06_a_message_must_cover_the_question() {
        let question = question(&[0.9, 0.8, 0.1]);
        let judge = |counts: &[u8]| question.match_message(counts, 10, bm25(10.0), Origin::User);
        assert!(judge(&[1, 1, 0]).is_some());
        assert!(judge(&[1, 0, 1]).is_none(), "half of it is not enough");
        assert!(judge(&[0, 0, 9]).is_none());
        assert!(judge(&[1, 1, 1]).unwrap().worth > judge(&[1, 1, 0]).unwrap().worth);
    }

    #[test]
    fn b_06_a_word_that_everybody_says_is_no_match() {
        assert_eq!(question(&[]).match_message(&[], 1, bm25(1.0), Origin::User), None);
        let common = MessageQuery::new(vec![
            PromptWord::new(0.2, true, false, 90, 100),
            PromptWord::new(0.1, false, false, 95, 100),
        ]);
        // A prompt of common words alone is about those words.
        assert!(common.match_message(&[1, 1], 5, bm25(10.0), Origin::User).is_some());
        let one = MessageQuery::new(vec![
            PromptWord::new(0.9, false, false, 1, 100),
            PromptWord::new(0.9, true, false, 50, 100),
        ]);
        assert!(one.match_message(&[0, 3], 5, bm25(10.0), Origin::User).is_none());
        assert!(one.match_message(&[1, 0], 5, bm25(10.0), Origin::User).is_some());
    }

    #[test]
    fn b_01_the_persons_own_words_come_first() {
        let question = question(&[0.9]);
        let worth = |origin| question.match_message(&[1], 10, bm25(10.0), origin).unwrap().worth;
        assert!(worth(Origin::User) > worth(Origin::Agent) && worth(Origin::Agent) > worth(Origin::Tool));
    }

    proptest! {
        /// Every match contains a needed word, so no other message has to be checked.
        #[test]
        fn nobody_is_missed(
            words in proptest::collection::vec((0.0_f64..1.0, 0_u8..3, 0_usize..50), 0..12),
        ) {
            let question = question(&words.iter().map(|word| word.0).collect::<Vec<_>>());
            let counts: Vec<u8> = words.iter().map(|word| word.1).collect();
            let needed = question.required_words(|place| words[place].2);
            if let Some(found) = question.match_message(&counts, 20, bm25(30.0), Origin::User) {
                prop_assert!(needed.iter().any(|place| counts[*place] > 0));
                prop_assert!(question.covers(|at| counts[question.telling_words()[at]] > 0));
                prop_assert!(found.coverage <= 1.0 + 1e-9 && found.worth > 0.0 && found.worth <= 1.01);
            }
        }
    }
}

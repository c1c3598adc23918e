//! The words of a statement, and a test of two statements about the same subject for contradiction.

use std::collections::BTreeSet;

use super::terms;

/// The minimum overlap, relative to the shorter text, of two texts about the same subject.
const MIN_SAME_SUBJECT_OVERLAP: f32 = 0.7;

/// The words of a text, with the numbers, versions and negations separated from the rest.
#[derive(Clone, Debug)]
pub(crate) struct WordSet {
    /// The number of distinct words.
    count: usize,
    /// The hashes of the remaining words, which name the subject, in order.
    plain: Vec<u64>,
    pub(crate) telling: BTreeSet<u64>,
}

/// Words that negate a statement.
const NEGATION_WORDS: [&str; 12] = [
    "not", "never", "no", "don't", "dont", "without", "instead", "longer", "avoid", "disabled", "nicht",
    "kein",
];

impl WordSet {
    pub(crate) fn from_text(text: &str) -> Self {
        let (mut plain, mut numbers) = (Vec::new(), Vec::new());
        terms::each_term(text, |term| {
            let hash = terms::hash(term.text);
            plain.push(hash);
            // A name that contains a digit is a subject; a plain number is a value.
            let digits = term.text.bytes().any(|byte| byte.is_ascii_digit());
            let letters = term.text.bytes().any(|byte| byte.is_ascii_alphabetic());
            if digits && !letters {
                numbers.push((term.word, hash));
            } else if term.identifier && letters {
                // The number in `gauge_30` is part of the name, which has the position of its first part.
                numbers.retain(|(word, _)| *word < term.word);
            }
        });
        let mut telling: BTreeSet<u64> = numbers.into_iter().map(|(_, hash)| hash).collect();
        for word in text.split_whitespace() {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            if NEGATION_WORDS.iter().any(|turning| word.eq_ignore_ascii_case(turning)) {
                telling.insert(terms::hash("not"));
            }
        }
        plain.sort_unstable();
        plain.dedup();
        let count = plain.len();
        plain.retain(|hash| !telling.contains(hash));
        Self { count, plain, telling }
    }

    /// True if both have the same subject but say different things.
    pub(crate) fn contradicts(&self, other: &Self) -> bool {
        let least = self.plain.len().min(other.plain.len());
        if self.count.min(other.count) < 3 || least < 2 {
            return false;
        }
        let is_same_subject =
            || shared(&self.plain, &other.plain) as f32 / least as f32 >= MIN_SAME_SUBJECT_OVERLAP;
        let says_otherwise = self.turns() != other.turns()
            || !(self.telling.is_subset(&other.telling) || other.telling.is_subset(&self.telling));
        says_otherwise && is_same_subject()
    }

    fn turns(&self) -> bool {
        self.telling.contains(&terms::hash("not"))
    }
}

/// The number of common items in two sorted lists.
fn shared(ours: &[u64], theirs: &[u64]) -> usize {
    let (mut at, mut shared) = (0, 0);
    for ours in ours {
        at += theirs[at..].iter().take_while(|theirs| *theirs < ours).count();
        shared += usize::from(theirs.get(at) == Some(ours));
    }
    shared
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shared_words_are_counted(ours in prop::collection::btree_set(0_u64..40, 0..30), theirs in prop::collection::btree_set(0_u64..40, 0..30)) {
            let [a, b] = [&ours, &theirs].map(|words| words.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(shared(&a, &b), ours.intersection(&theirs).count());
        }
    }
}

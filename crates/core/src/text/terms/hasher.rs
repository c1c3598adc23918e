//! Hashes the terms of many texts. A few thousand words make up nearly all prose, so the result for a word is
//! cached until another word takes its slot.

use super::TextTerm;
use super::hash::hash;
use super::split::{TermSink, TermSplitter};
use crate::text::language::Language;

/// The number of cache slots, chosen to fit into the processor's cache with everything else.
const CACHE_SLOTS: usize = 4096;

/// A plain word in the cache.
#[derive(Clone, Copy, Default)]
struct CachedWord {
    letters: [u64; 2],
    /// The length of the word; 0 for an empty slot.
    length: usize,
    /// The hashed term; `None` for a function word.
    term: Option<u64>,
}

impl CachedWord {
    /// Packs a word of at most sixteen letters; longer ones are rare and not cached.
    fn from_word(word: &[u8], term: Option<u64>) -> Option<Self> {
        let letters = match word {
            [] => return None,
            [one] => [u64::from(*one), 0],
            [one, two] => [u64::from(*one) | u64::from(*two) << 8, 0],
            [one, two, three] => [u64::from(*one) | u64::from(*two) << 8 | u64::from(*three) << 16, 0],
            // The parts may overlap, since the length is known.
            _ if word.len() < 8 => {
                let part =
                    |four: Option<&[u8; 4]>| four.map_or(0, |four| u64::from(u32::from_le_bytes(*four)));
                [part(word.first_chunk()) | part(word.last_chunk()) << 32, 0]
            }
            _ if word.len() <= 16 => {
                let part = |eight: Option<&[u8; 8]>| eight.map_or(0, |eight| u64::from_le_bytes(*eight));
                [part(word.first_chunk()), part(word.last_chunk())]
            }
            _ => return None,
        };
        Some(Self { letters, length: word.len(), term })
    }

    /// The cache slot of the word.
    fn cache_slot(&self) -> usize {
        let [first, last] = self.letters;
        let mixed = (first ^ last.rotate_left(23) ^ self.length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> (u64::BITS - CACHE_SLOTS.ilog2())) as usize
    }

    fn same_word(&self, other: &Self) -> bool {
        (self.letters, self.length) == (other.letters, other.length)
    }
}

/// Hashes the terms of one text after the other, with a cache.
pub struct TermHasher {
    places: Vec<CachedWord>,
    counts: Vec<(u64, u32)>,
}

impl Default for TermHasher {
    fn default() -> Self {
        Self { places: vec![CachedWord::default(); CACHE_SLOTS], counts: Vec::new() }
    }
}

impl TermHasher {
    /// The hashed terms of `text` with their word positions, equal to [`super::terms`].
    pub fn hash_terms(&mut self, text: &str) -> &mut [(u64, u32)] {
        self.hash_terms_in(None, text)
    }

    /// The same for a text in `language`, as [`super::each_term_in`] splits it.
    pub fn hash_terms_in(&mut self, language: Option<Language>, text: &str) -> &mut [(u64, u32)] {
        self.counts.clear();
        TermSplitter::new(&mut *self).in_language(language).text(text);
        &mut self.counts
    }
}

impl TermSink for &mut TermHasher {
    fn term(&mut self, term: TextTerm<'_>) {
        self.counts.push((hash(term.text), term.word));
    }

    fn is_cached(&mut self, word: &str, at: u32) -> bool {
        let Some(asked) = CachedWord::from_word(word.as_bytes(), None) else { return false };
        let Some(known) = self.places.get(asked.cache_slot()).filter(|known| known.same_word(&asked)) else {
            return false;
        };
        self.counts.extend(known.term.map(|term| (term, at)));
        true
    }

    fn cache_result(&mut self, word: &str, counted: bool) {
        let term = self.counts.last().filter(|_| counted).map(|(term, _)| *term);
        let Some(known) = CachedWord::from_word(word.as_bytes(), term) else { return };
        if let Some(place) = self.places.get_mut(known.cache_slot()) {
            *place = known;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::terms;
    use super::*;

    #[test]
    fn the_cache_returns_the_tokenised_terms() {
        let mut numbers = TermHasher::default();
        // Twice: in the second round most words are cached.
        for text in [
            "The engines are running; an engine of the Engines ran.",
            "aaaaa aaaaaa aaaaaaaaa aaaaaaaaaa a aa",
        ] {
            for _ in 0..2 {
                assert_eq!(*numbers.hash_terms(text), terms(text)[..], "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn sto_13_remembering_changes_nothing(texts in prop::collection::vec("([a-cTS]{1,17}[ ,.]{1,2}|[a-z_./0-9é設]{1,6} ){0,40}", 1..6)) {
            let mut numbers = TermHasher::default();
            for text in texts.iter().chain(&texts) {
                prop_assert_eq!(&*numbers.hash_terms(text), &terms(text)[..], "{}", text);
            }
        }
    }
}

//! Counts the occurrences of terms in a text: in the whole text and at each end.

use crate::text::language;
use crate::text::terms::TermHasher;

/// The maximum number of words that a neighbour lends: its last ones to the following text, its first ones to
/// the preceding text.
pub const MAX_NEIGHBOUR_WORDS: u32 = 60;

/// The number of occurrences of a term in a text. Counts saturate at the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermCount {
    /// The count in the whole text.
    pub all: u8,
    /// The count in the first [`MAX_NEIGHBOUR_WORDS`] words.
    pub head: u8,
    /// The count in the last [`MAX_NEIGHBOUR_WORDS`] words.
    pub tail: u8,
}

impl TermCount {
    const ALL: u16 = 63;
    const END: u16 = 31;

    /// Packs the counts into two bytes: six bits for the whole text, five for each end.
    pub fn to_bits(self) -> u16 {
        let (all, head, tail) = (u16::from(self.all), u16::from(self.head), u16::from(self.tail));
        all.min(Self::ALL) << 10 | head.min(Self::END) << 5 | tail.min(Self::END)
    }

    /// Unpacks counts that [`Self::to_bits`] packed.
    pub fn from_bits(bits: u16) -> Self {
        Self { all: (bits >> 10) as u8, head: (bits >> 5 & Self::END) as u8, tail: (bits & Self::END) as u8 }
    }
}

/// A text with its terms counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermCounts {
    /// The number of running words.
    pub words: u32,
    /// The number of terms, including repeated ones.
    pub length: u32,
    /// The distinct terms, by ascending hash.
    pub terms: Vec<(u64, TermCount)>,
}

/// Counts the terms of a text.
pub fn count(text: &str, numbers: &mut TermHasher) -> TermCounts {
    let found = numbers.hash_terms_in(language::guess(text), text);
    let words = found.iter().map(|(_, word)| word + 1).max().unwrap_or(0);
    let length = found.len() as u32;
    found.sort_unstable();
    let mut terms: Vec<(u64, TermCount)> = Vec::with_capacity(found.len());
    for &mut (hash, word) in found {
        let (head, tail) =
            (u8::from(word < MAX_NEIGHBOUR_WORDS), u8::from(word + MAX_NEIGHBOUR_WORDS >= words));
        match terms.last_mut() {
            Some((last, count)) if *last == hash => {
                count.all = count.all.saturating_add(1);
                count.head = count.head.saturating_add(head);
                count.tail = count.tail.saturating_add(tail);
            }
            _ => terms.push((hash, TermCount { all: 1, head, tail })),
        }
    }
    TermCounts { words, length, terms }
}

//! How often each term stands in a text, in all and at either end.

use crate::text::terms::TermHasher;

/// A neighbour lends this many words: its last ones to the text after it, its first ones to the text before it.
pub const MAX_NEIGHBOUR_WORDS: u32 = 60;

/// How often a term stands in a text. More than can be written down counts as the most that can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermCount {
    /// In all of it.
    pub all: u8,
    /// Among its first [`MAX_NEIGHBOUR_WORDS`].
    pub head: u8,
    /// Among its last [`MAX_NEIGHBOUR_WORDS`].
    pub tail: u8,
}

impl TermCount {
    const ALL: u16 = 63;
    const END: u16 = 31;

    /// Two bytes: six bits for all of it, five for each end.
    pub fn pack(self) -> u16 {
        let (all, head, tail) = (u16::from(self.all), u16::from(self.head), u16::from(self.tail));
        all.min(Self::ALL) << 10 | head.min(Self::END) << 5 | tail.min(Self::END)
    }

    /// The way back.
    pub fn unpack(bits: u16) -> Self {
        Self { all: (bits >> 10) as u8, head: (bits >> 5 & Self::END) as u8, tail: (bits & Self::END) as u8 }
    }
}

/// A text as the index counts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermCounts {
    /// Its running words.
    pub words: u32,
    /// Its terms, repeated ones too.
    pub length: u32,
    /// Each of its terms once, by ascending hash.
    pub terms: Vec<(u64, TermCount)>,
}

/// Counts a text.
pub fn count(text: &str, numbers: &mut TermHasher) -> TermCounts {
    let found = numbers.of(text);
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

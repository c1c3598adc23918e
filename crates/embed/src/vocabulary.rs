//! The vocabulary of a model, in a hash table that is used in place.

/// The prefix of a piece that continues a word.
pub(crate) const CONTINUATION_MARK: &str = "##";

/// Spellings in id order, and an open-addressing table from a spelling to its id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vocabulary<'a> {
    /// The id plus one, or zero for an empty slot. The length is a power of two.
    pub(crate) slots: &'a [u32],
    /// The start of each spelling, with one final end.
    pub(crate) offsets: &'a [u32],
    pub(crate) spelling: &'a [u8],
}

/// The hash of a spelling, computed byte by byte, so that every prefix of a word is hashed on the way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpellingHash(u64);

impl SpellingHash {
    /// The hash of the empty spelling, or of the prefix `##` alone.
    pub(crate) fn new(continued: bool) -> Self {
        let empty = Self(0xcbf2_9ce4_8422_2325);
        if continued { empty.with_bytes(CONTINUATION_MARK.as_bytes()) } else { empty }
    }

    pub(crate) fn with_bytes(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// The first slot to probe in a table of `slots`, a power of two.
    fn slot(self, slots: usize) -> usize {
        (self.0 ^ (self.0 >> 29)) as usize & (slots - 1)
    }
}

impl<'a> Vocabulary<'a> {
    /// The spelling of `id`. `None` if there is no such id or the file is damaged there.
    pub(crate) fn spelling(&self, id: u32) -> Option<&'a [u8]> {
        let (start, end) = (*self.offsets.get(id as usize)?, *self.offsets.get(id as usize + 1)?);
        self.spelling.get(start as usize..end as usize)
    }

    /// The id of `piece`, whose hash is `hash`.
    pub(crate) fn find(&self, continued: bool, piece: &[u8], hash: SpellingHash) -> Option<u32> {
        let first = hash.slot(self.slots.len());
        // A damaged table may be full, so stop after one round.
        for step in 0..self.slots.len() {
            let id = self.slots[(first + step) & (self.slots.len() - 1)].checked_sub(1)?;
            let spelling = self.spelling(id)?;
            let same = if continued {
                spelling.strip_prefix(CONTINUATION_MARK.as_bytes()) == Some(piece)
            } else {
                spelling == piece
            };
            // An id beyond the vocabulary has no spelling, so every returned id is valid.
            if same {
                return Some(id);
            }
        }
        None
    }
}

/// Builds the three parts of a vocabulary from `words` in id order.
pub(crate) fn build(words: &[&str]) -> (Vec<u32>, Vec<u32>, Vec<u8>) {
    let mut slots = vec![0_u32; (2 * words.len()).next_power_of_two().max(8)];
    let mut offsets = vec![0];
    let mut spelling = Vec::new();
    for (id, word) in (1_u32..).zip(words) {
        spelling.extend_from_slice(word.as_bytes());
        offsets.push(spelling.len() as u32);
        let mut slot = SpellingHash::new(false).with_bytes(word.as_bytes()).slot(slots.len());
        // Of several equal words the first is found; the others need no slot.
        while slots[slot] != 0 && words[slots[slot] as usize - 1] != *word {
            slot = (slot + 1) & (slots.len() - 1);
        }
        if slots[slot] == 0 {
            slots[slot] = id;
        }
    }
    (slots, offsets, spelling)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_as_itself_and_as_a_continuation() {
        let words: Vec<String> =
            (0..1000).map(|n| if n % 2 == 0 { format!("w{n}") } else { format!("##w{n}") }).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (slots, offsets, spelling) = build(&words);
        let vocabulary = Vocabulary { slots: &slots, offsets: &offsets, spelling: &spelling };
        let find = |continued, piece: &str| {
            vocabulary.find(
                continued,
                piece.as_bytes(),
                SpellingHash::new(continued).with_bytes(piece.as_bytes()),
            )
        };
        for (id, word) in (0_u32..).zip(&words) {
            assert_eq!(find(false, word), Some(id));
            assert_eq!(find(true, word.trim_start_matches('#')), (id % 2 == 1).then_some(id));
        }
        assert_eq!(find(false, "absent"), None);
        assert_eq!(find(false, ""), None);
    }

    #[test]
    fn a_million_equal_words_take_one_place() {
        let mut words = vec![""; 1_000_000];
        words.extend(["a", "b", "a"]);
        let (slots, offsets, spelling) = build(&words);
        let vocabulary = Vocabulary { slots: &slots, offsets: &offsets, spelling: &spelling };
        let find = |piece: &str| {
            vocabulary.find(false, piece.as_bytes(), SpellingHash::new(false).with_bytes(piece.as_bytes()))
        };
        assert_eq!((find("a"), find("b"), find("c")), (Some(1_000_000), Some(1_000_001), None));
        assert_eq!(slots.iter().filter(|slot| **slot != 0).count(), 3);
    }

    #[test]
    fn a_full_or_wild_table_ends_the_search() {
        for id in [1, 7, u32::MAX] {
            let vocabulary = Vocabulary { slots: &[id; 8], offsets: &[0, 3], spelling: b"abc" };
            assert_eq!(vocabulary.find(false, b"abd", SpellingHash::new(false).with_bytes(b"abd")), None);
        }
        let vocabulary = Vocabulary { slots: &[1; 8], offsets: &[9, 2], spelling: b"abc" };
        assert_eq!(vocabulary.find(false, b"abc", SpellingHash::new(false)), None);
    }
}

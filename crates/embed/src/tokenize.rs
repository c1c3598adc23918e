//! A WordPiece tokenizer, exactly equal to the reference implementation.

use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;

use crate::characters::{CharRanges, NONSPACING_MARKS, PUNCTUATION_CHARACTERS, REMOVED_CHARACTERS};
use crate::vocabulary::{SpellingHash, Vocabulary};

/// The maximum length of a word. A longer one is unknown as a whole.
const MAX_WORD_CHARS: usize = 100;

/// Marks the id of a piece of the multilingual vocabulary.
pub(crate) const MULTILINGUAL_ID: u32 = 1 << 31;

/// The model's parameters for the tokenizer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenizerRules<'a> {
    pub(crate) vocabulary: Vocabulary<'a>,
    /// The vocabulary that comes first, for a text that is not English.
    pub(crate) multilingual: Option<Vocabulary<'a>>,
    /// The ids of `[CLS]`, `[SEP]`, `[UNK]`, `[PAD]`, `[MASK]`.
    pub(crate) special: [u32; 5],
    /// True for a vocabulary in lower case without accents.
    pub(crate) uncased: bool,
    /// The maximum number of ids, including the two special ones.
    pub(crate) max_tokens: usize,
}

/// The token ids of `text`, between `[CLS]` and `[SEP]`. Reading stops at the limit, so a megabyte costs
/// little more than a page.
pub(crate) fn tokenize(rules: &TokenizerRules<'_>, text: &str) -> Vec<u32> {
    let [cls, sep, ..] = rules.special;
    let last = rules.max_tokens - 1;
    let mut ids = vec![cls];
    let mut rest = text;
    while ids.len() < last {
        let (plain, special) = split_special(rules, &mut rest);
        // Reaching the limit is not an error.
        let _stopped = split_words(rules.uncased, plain, &mut |word| {
            add_word(rules, word, &mut ids);
            ids.truncate(last);
            if ids.len() < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        match special {
            Some(id) if ids.len() < last => ids.push(id),
            Some(_) => {}
            None => break,
        }
    }
    ids.push(sep);
    ids
}

/// Takes the text up to and including the next literal special token. The reference recognises these before
/// anything else, in this spelling only.
fn split_special<'t>(rules: &TokenizerRules<'_>, rest: &mut &'t str) -> (&'t str, Option<u32>) {
    let text = *rest;
    for (at, _) in text.match_indices('[') {
        for id in rules.special {
            let spelling = rules.vocabulary.spelling(id).unwrap_or_default();
            let end = at + spelling.len();
            if spelling.first() == Some(&b'[')
                && text.as_bytes().get(at..end) == Some(spelling)
                && let Some(after) = text.get(end..)
            {
                *rest = after;
                return (&text[..at], Some(id));
            }
        }
    }
    *rest = "";
    (text, None)
}

/// A word as the reference splits it.
#[derive(Debug, Clone, Copy)]
enum ReferenceWord<'w> {
    Whole(&'w str),
    TooLong,
}

/// Cleans and splits `text`, and passes its words to `each` until that breaks.
fn split_words(
    uncased: bool,
    text: &str,
    each: &mut impl FnMut(ReferenceWord<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let clean = text.chars().filter(|&c| !is_removed(c)).flat_map(|c| {
        // A CJK character is a separate word.
        let around = is_cjk(c).then_some(' ');
        around.into_iter().chain([if c.is_whitespace() { ' ' } else { c }]).chain(around)
    });
    if uncased {
        split(clean.nfd().filter(|&c| !is_in(NONSPACING_MARKS, c)).flat_map(char::to_lowercase), each)
    } else {
        split(clean, each)
    }
}

fn split(
    characters: impl Iterator<Item = char>,
    each: &mut impl FnMut(ReferenceWord<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut word = String::new();
    let mut length = 0;
    let mut end = |word: &mut String, length: &mut usize| {
        let flow = match length {
            0 => ControlFlow::Continue(()),
            1..=MAX_WORD_CHARS => each(ReferenceWord::Whole(word)),
            _ => each(ReferenceWord::TooLong),
        };
        word.clear();
        *length = 0;
        flow
    };
    for c in characters {
        let alone = is_punctuation(c);
        if alone || c.is_whitespace() {
            end(&mut word, &mut length)?;
        }
        if !c.is_whitespace() {
            length += 1;
            // Don't store a word that is too long: a line of a megabyte may be one word.
            if length <= MAX_WORD_CHARS {
                word.push(c);
            }
        }
        if alone {
            end(&mut word, &mut length)?;
        }
    }
    end(&mut word, &mut length)
}

/// Appends the pieces of a word, the longest match first. A word with a part that is no piece is unknown.
fn add_word(rules: &TokenizerRules<'_>, word: ReferenceWord<'_>, ids: &mut Vec<u32>) {
    let [_, _, unknown, ..] = rules.special;
    let before = ids.len();
    let mut rest = match word {
        ReferenceWord::Whole(word) => Some(word),
        ReferenceWord::TooLong => None,
    };
    let (vocabulary, mark) = match &rules.multilingual {
        Some(multilingual) => {
            // An English word in another language keeps its English embedding, unless it is a word there too.
            if let Some(id) = rest
                .filter(|word| whole(multilingual, word).is_none())
                .and_then(|word| whole(&rules.vocabulary, word))
            {
                ids.push(id);
                return;
            }
            (multilingual, MULTILINGUAL_ID)
        }
        None => (&rules.vocabulary, 0),
    };
    while let Some(left) = rest.filter(|left| !left.is_empty()) {
        rest = longest_piece(vocabulary, ids.len() > before, left).map(|(id, length)| {
            ids.push(id | mark);
            &left[length..]
        });
    }
    if rest.is_none() {
        ids.truncate(before);
        ids.push(unknown);
    }
}

fn whole(vocabulary: &Vocabulary<'_>, word: &str) -> Option<u32> {
    vocabulary.find(false, word.as_bytes(), SpellingHash::new(false).with_bytes(word.as_bytes()))
}

fn longest_piece(vocabulary: &Vocabulary<'_>, continued: bool, word: &str) -> Option<(u32, usize)> {
    let mut hashes = [SpellingHash::new(continued); MAX_WORD_CHARS];
    let mut ends = [0; MAX_WORD_CHARS];
    let mut hash = SpellingHash::new(continued);
    let mut count = 0;
    for ((start, c), (place, end)) in word.char_indices().zip(hashes.iter_mut().zip(&mut ends)) {
        *end = start + c.len_utf8();
        hash = hash.with_bytes(&word.as_bytes()[start..*end]);
        *place = hash;
        count += 1;
    }
    let ends = ends[..count].iter().zip(&hashes).rev();
    ends.into_iter().find_map(|(&end, &hash)| {
        let id = vocabulary.find(continued, &word.as_bytes()[..end], hash)?;
        Some((id, end))
    })
}

fn is_in(ranges: CharRanges, c: char) -> bool {
    let c = c as u32;
    ranges.get(ranges.partition_point(|&(_, high)| high < c)).is_some_and(|&(low, _)| low <= c)
}

fn is_removed(c: char) -> bool {
    !(' '..='~').contains(&c) && is_in(REMOVED_CHARACTERS, c)
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { is_in(PUNCTUATION_CHARACTERS, c) }
}

/// True for Chinese characters, not for kana or Hangul.
fn is_cjk(c: char) -> bool {
    matches!(c as u32,
        0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x20000..=0x2a6df | 0x2a700..=0x2b73f | 0x2b740..=0x2b81f
        | 0x2b920..=0x2ceaf | 0xf900..=0xfaff | 0x2f800..=0x2fa1f)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CRC-32 as in zlib, one bit at a time.
    fn crc(start: u32, bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!start, |crc, &byte| {
            (0..8).fold(crc ^ u32::from(byte), |crc, _| {
                (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1))
            })
        })
    }

    fn split(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let flow = split_words(true, text, &mut |word| {
            found.push(match word {
                ReferenceWord::Whole(word) => word.to_owned(),
                ReferenceWord::TooLong => "too long".to_owned(),
            });
            ControlFlow::Continue(())
        });
        assert!(flow.is_continue());
        found
    }

    /// Characters that Unicode 13 and 16 decompose and that the reference's tables do not know. No vocabulary
    /// has these letters, so a word with one of them is unknown either way, and the golden tokens have each
    /// of them.
    const NEWER: CharRanges = &[
        (0x105c9, 0x105c9),
        (0x105e4, 0x105e4),
        (0x11383, 0x11383),
        (0x11385, 0x11385),
        (0x1138e, 0x1138e),
        (0x11391, 0x11391),
        (0x113c5, 0x113c5),
        (0x113c7, 0x113c8),
        (0x11938, 0x11938),
        (0x16121, 0x16128),
        (0x16d68, 0x16d6a),
    ];

    #[test]
    fn every_character_of_unicode_is_taken_as_the_reference_takes_it() {
        let golden = include_bytes!("../tests/golden/unicode.crc").as_chunks().0;
        assert_eq!(golden.len(), 0x110000 / 256);
        for (block, &golden) in (0_u32..).zip(golden) {
            let characters = (block * 256..(block + 1) * 256).filter_map(char::from_u32);
            let characters = characters.filter(|&c| !is_in(NEWER, c));
            let ours = characters
                .fold(0, |sum, c| crc(crc(sum, split(&format!("a{c}B")).join("\n").as_bytes()), b"\0"));
            assert_eq!(
                ours,
                u32::from_le_bytes(golden),
                "U+{:04X} to U+{:04X}",
                block * 256,
                block * 256 + 255
            );
        }
    }

    #[test]
    fn words_are_cleaned_split_and_limited() {
        assert_eq!(split("Don't  PANIC,\u{0} Zoë!"), ["don", "'", "t", "panic", ",", "zoe", "!"]);
        assert_eq!(split("日本go"), ["日", "本", "go"]);
        assert_eq!(split(&"x".repeat(100)), ["x".repeat(100)]);
        assert_eq!(split(&format!("a {}b c", "x".repeat(100))), ["a", "too long", "c"]);
        assert_eq!(split(" \t\r\n"), [""; 0]);
    }

    #[test]
    fn a_huge_text_is_only_read_as_far_as_it_counts() {
        let mut read = 0;
        let characters = "word ".repeat(100_000);
        let flow = split_words(true, &characters, &mut |_| {
            read += 1;
            if read < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert!(flow.is_break());
        assert_eq!(read, 3);
    }
}

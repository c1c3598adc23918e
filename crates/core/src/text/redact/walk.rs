//! Small text operations that the scanners share.

use super::SecretKind;

/// The byte that masks redacted text. No scanner's alphabet contains it, none looks across it, and the length
/// of a run of masks reveals nothing.
pub(super) const MASK_BYTE: u8 = 1;

/// The maximum number of bytes of a value that are judged. Longer values are still redacted as a whole.
const MAX_JUDGED_BYTES: usize = 128;

/// The byte range of a secret in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SecretSpan {
    pub(super) kind: SecretKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// True if a token may begin at `at`: after anything except a letter or digit, or after an escape such as
/// `\n`, `\u003d` or `%3D` in quoted text.
pub(super) fn starts_word(bytes: &[u8], at: usize) -> bool {
    match &bytes[..at] {
        [.., before] if !before.is_ascii_alphanumeric() => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
        [.., b'\\', b'u', a, b, c, d] => [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()),
        before => before.is_empty(),
    }
}

/// The end of the run of bytes from `at` on that `belongs` accepts.
pub(super) fn run_end(bytes: &[u8], at: usize, belongs: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().position(|b| !belongs(*b)).map_or(bytes.len(), |length| at + length)
}

/// The end of the spaces and tabs at `at`. More than a screen's width of them is a separator, not alignment.
pub(super) fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    let end = bytes.len().min(at + 120);
    bytes[at..end].iter().position(|b| !matches!(b, b' ' | b'\t')).map_or(end, |length| at + length)
}

/// Remembers the end of the last run, so that many starts inside one long run cost a single walk.
#[derive(Default)]
pub(super) struct RunEndCache {
    start: usize,
    end: usize,
    tries: usize,
}

impl RunEndCache {
    /// [`run_end`] with a cache; `belongs` must be the same for all calls.
    pub(super) fn find(&mut self, bytes: &[u8], at: usize, belongs: impl Fn(u8) -> bool) -> usize {
        if !(self.start..self.end).contains(&at) {
            *self = Self { start: at, end: run_end(bytes, at, belongs), tries: 0 };
        }
        self.end
    }

    /// True if another value in the last run is worth judging. A run without spaces in which this many values
    /// failed is no list of settings, and judging is expensive.
    pub(super) fn may_try(&mut self) -> bool {
        const MAX_RUN_TRIES: usize = 16;
        self.tries += 1;
        self.tries <= MAX_RUN_TRIES
    }
}

/// An index of words by their first two bytes. One look-up rejects nearly all positions of a text, and only
/// plausible words are compared.
pub(super) struct PrefixTable<const N: usize> {
    /// The first word of each bucket, counted from 1; 0 for an empty bucket.
    first: [u8; PAIR_SLOTS],
    /// The next word in the same bucket, for each word.
    next: [u8; N],
    /// A bit per three initial bytes of a word; a word of two bytes sets the bits of every third byte.
    triples: [u64; TRIPLE_SLOTS / 64],
}

const PAIR_SLOTS: usize = 1024;
const TRIPLE_SLOTS: usize = 8192;

impl<const N: usize> PrefixTable<N> {
    pub(super) const fn empty() -> Self {
        assert!(N < u8::MAX as usize);
        Self { first: [0; PAIR_SLOTS], next: [0; N], triples: [0; TRIPLE_SLOTS / 64] }
    }

    /// Adds a word with its index in the list. Words must be added last to first, so that they are found in
    /// list order.
    pub(super) const fn with_word(mut self, number: usize, word: &str) -> Self {
        let place = Self::pair_slot(word.as_bytes()[0], word.as_bytes()[1]);
        self.next[number] = self.first[place];
        self.first[place] = number as u8 + 1;
        let word = word.as_bytes();
        let mut third = if word.len() > 2 { word[2] } else { 0 };
        loop {
            let triple = Self::triple(word[0], word[1], third);
            self.triples[triple / 64] |= 1 << (triple % 64);
            if word.len() > 2 || third == u8::MAX {
                return self;
            }
            third += 1;
        }
    }

    const fn triple(first: u8, second: u8, third: u8) -> usize {
        (first as usize * 961 + second as usize * 31 + third as usize) % TRIPLE_SLOTS
    }

    /// The bucket of a pair of bytes. A collision costs only a comparison.
    const fn pair_slot(first: u8, second: u8) -> usize {
        (first as usize * 31 + second as usize) % PAIR_SLOTS
    }

    /// Quick test: true if a word may begin with these bytes. False for nearly all positions of a text.
    pub(super) fn may_begin(&self, first: u8, second: u8, third: u8) -> bool {
        let triple = Self::triple(first, second, third);
        self.triples[triple / 64] & (1 << (triple % 64)) != 0
    }

    /// The indexes of all words that begin with this pair, and possibly of others, in list order.
    pub(super) fn words_with_pair(&self, first: u8, second: u8) -> impl Iterator<Item = usize> {
        let number = |found: u8| usize::from(found).checked_sub(1);
        let head = number(self.first[Self::pair_slot(first, second)]);
        std::iter::successors(head, move |before| number(self.next[*before]))
    }
}

/// The part of `value` that is judged.
pub(super) fn judged_part(value: &str) -> &str {
    &value[..value.floor_char_boundary(MAX_JUDGED_BYTES)]
}

/// The length of the prefix of `text` that equals `word`, ignoring case. `word` must be in lower case.
pub(super) fn prefix_in_any_case(text: &str, word: &str) -> Option<usize> {
    if word.is_ascii() {
        let start = text.as_bytes().get(..word.len())?;
        return start.eq_ignore_ascii_case(word.as_bytes()).then_some(word.len());
    }
    let mut rest = text.chars();
    for expected in word.chars() {
        let actual = rest.next()?;
        if actual != expected && !actual.to_lowercase().eq([expected]) {
            return None;
        }
    }
    Some(text.len() - rest.as_str().len())
}

/// True if `word` (lower-case ASCII) begins at `at` as the start of a word, ignoring case.
pub(super) fn is_word_in_any_case(bytes: &[u8], at: usize, word: &str) -> bool {
    let there = bytes.get(at..at + word.len());
    there.is_some_and(|there| there.eq_ignore_ascii_case(word.as_bytes())) && starts_word(bytes, at)
}

/// Decodes base64 (either alphabet, padding optional). `None` if the text is not base64.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xFF) as u8);
        }
    }
    Some(out)
}

/// Calls `judge` with each word of `value` in lower case, split at separators and before capitals, until one
/// fails.
pub(super) fn each_word(value: &str, mut judge: impl FnMut(&str) -> bool) -> bool {
    let mut word = String::new();
    let mut previous = ' ';
    for c in value.chars() {
        let begins = !c.is_alphanumeric() || (c.is_uppercase() && previous.is_lowercase());
        if begins && !word.is_empty() {
            if !judge(&word) {
                return false;
            }
            word.clear();
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        previous = c;
    }
    word.is_empty() || judge(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_start_after_separators_and_escapes() {
        for (text, starts) in
            [("abc", false), ("=abc", true), ("\\nabc", true), ("%3Dabc", true), ("\\u003dabc", true)]
        {
            assert!(!starts_word(text.as_bytes(), text.len() - 2), "{text}");
            let begin = text.len() - 3;
            assert_eq!(starts_word(text.as_bytes(), begin), starts || begin == 0, "{text}");
        }
        assert!(!starts_word(b"xabc", 1));
    }

    #[test]
    fn words_are_found_in_any_case() {
        let text = b"cookie Cookie xcookie cook";
        let found = (0..text.len()).filter(|at| is_word_in_any_case(text, *at, "cookie"));
        assert_eq!(found.collect::<Vec<_>>(), [0, 7]);
        assert_eq!(prefix_in_any_case("ПАРОЛЬ: x", "пароль"), Some("ПАРОЛЬ".len()));
        assert_eq!(prefix_in_any_case("parole", "password"), None);
    }

    #[test]
    fn base64_is_read_in_both_alphabets() {
        assert_eq!(base64("dXNlcjpwYXNz").unwrap(), b"user:pass");
        assert_eq!(base64("_-8=").unwrap(), base64("/+8").unwrap());
        assert_eq!(base64("a b"), None);
    }
}

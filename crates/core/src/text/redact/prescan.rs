//! The first pass over a text, which tells every scanner the places to examine. It excludes nearly all of a
//! text, and no scanner has to walk the rest again.

/// Candidate positions. Each list is in order and contains at least every position at which its scanners
/// could match. The scanners still decide.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScanMarks {
    /// The starts of words of ASCII letters and digits.
    pub(super) words: Vec<usize>,
    /// Signs that may separate a name from its value.
    pub(super) signs: Vec<usize>,
    /// Bytes that may reveal a token's shape.
    pub(super) shapes: Vec<usize>,
    /// True if a word may be an option of a command.
    pub(super) options: bool,
    /// True if the text is all ASCII.
    pub(super) ascii: bool,
}

const WORD_CLASS: u8 = 1;
const SIGN_CLASS: u8 = 2;
/// A shape begins with this byte, at the start of a word.
const SHAPE_CLASS: u8 = 4;
/// This byte needs a look at its neighbours.
const ODD_CLASS: u8 = 8;
/// A word may begin directly behind the escape that this byte begins.
const ESCAPE_CLASS: u8 = 16;

/// All bytes that are a sign, odd or an escape.
const REST_BYTES: &[u8; 9] = b"Q=>,(:-\\%";

/// One byte per bit of a number.
const BLOCK_BYTES: usize = u64::BITS as usize;

static BYTE_CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        classes[at] = match byte {
            b'e' | b'M' | b'N' | b'O' | b'S' | b'p' | b'A' => WORD_CLASS | SHAPE_CLASS,
            b'Q' => WORD_CLASS | ODD_CLASS,
            b'=' | b'>' | b',' | b'(' => SIGN_CLASS,
            b':' => SIGN_CLASS | ODD_CLASS,
            b'-' => ODD_CLASS,
            b'\\' | b'%' => ESCAPE_CLASS,
            _ if byte.is_ascii_alphanumeric() => WORD_CLASS,
            _ => 0,
        };
        at += 1;
    }
    classes
};

impl ScanMarks {
    pub(super) fn scan(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut marks =
            Self { words: Vec::with_capacity(bytes.len() / 5), ascii: text.is_ascii(), ..Self::default() };
        // For each block, first classify all bytes into bit masks, then visit the set bits only.
        let mut word_before = 0;
        for (nth, block) in bytes.chunks(BLOCK_BYTES).enumerate() {
            let (word, rest) = match block.as_array() {
                Some(block) => classes(block),
                None => {
                    let mut last = [0; BLOCK_BYTES];
                    last[..block.len()].copy_from_slice(block);
                    classes(&last)
                }
            };
            for bit in bits(word & !(word << 1 | word_before)) {
                let at = nth * BLOCK_BYTES + bit;
                marks.words.push(at);
                if BYTE_CLASSES[usize::from(bytes[at])] & SHAPE_CLASS != 0 {
                    marks.shapes.push(at);
                }
            }
            word_before = word >> (BLOCK_BYTES - 1);
            for at in bits(rest).map(|bit| nth * BLOCK_BYTES + bit) {
                let class = BYTE_CLASSES[usize::from(bytes[at])];
                if class & ESCAPE_CLASS != 0 {
                    return Self::all_positions(text);
                }
                if class & SIGN_CLASS != 0 {
                    marks.signs.push(at);
                }
                if class & ODD_CLASS != 0 {
                    marks.mark_odd(bytes, at);
                }
            }
        }
        marks.shapes.sort_unstable();
        marks
    }

    /// Every position, for texts with escapes (`\n`, `%3D`), behind which words begin in the middle of a run
    /// of letters.
    pub(super) fn all_positions(text: &str) -> Self {
        let all = || text.char_indices().map(|(at, _)| at).collect();
        Self { words: all(), signs: all(), shapes: all(), options: true, ascii: text.is_ascii() }
    }

    fn mark_odd(&mut self, bytes: &[u8], at: usize) {
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        match bytes[at] {
            b'Q' if next == b'~' => self.shapes.push(at),
            b':' if next == b'A' => self.shapes.push(at),
            b'-' if !self.options => {
                let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
                let leads =
                    before.is_ascii_whitespace() || matches!(before, b'"' | b'\'' | b'`' | b'(' | b'[');
                let named = if next == b'-' { bytes.get(at + 2).copied().unwrap_or(0) } else { next };
                self.options = leads && named.is_ascii_alphabetic();
            }
            _ => {}
        }
    }
}

/// Two bit masks of a block: bytes of words, and bytes that need a closer look. The same classes as in
/// [`BYTE_CLASSES`], computed for many bytes at once.
fn classes(block: &[u8; BLOCK_BYTES]) -> (u64, u64) {
    let word = block
        .map(|byte| u8::from((byte | 0x20).wrapping_sub(b'a') < 26) | u8::from(byte.wrapping_sub(b'0') < 10));
    let rest = block.map(|byte| REST_BYTES.iter().fold(0, |found, rest| found | u8::from(byte == *rest)));
    (as_bits(&word), as_bits(&rest))
}

/// Packs bytes that are 0 or 1 into bits: the multiplication moves one bit of each eight to the top.
fn as_bits(bytes: &[u8; BLOCK_BYTES]) -> u64 {
    let eights = bytes.as_chunks().0.iter();
    let bits = eights.map(|eight| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56);
    bits.enumerate().fold(0, |all, (nth, eight)| all | eight << (nth * 8))
}

/// The indexes of the set bits.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn many_bytes_at_once_are_what_each_is() {
        for byte in 0..=u8::MAX {
            for place in [0, 7, 8, BLOCK_BYTES - 1] {
                let mut block = [b' '; BLOCK_BYTES];
                block[place] = byte;
                let class = BYTE_CLASSES[usize::from(byte)];
                let bit = |is: bool| u64::from(is) << place;
                assert_eq!(
                    classes(&block),
                    (bit(class & WORD_CLASS != 0), bit(class & (SIGN_CLASS | ODD_CLASS | ESCAPE_CLASS) != 0)),
                    "{byte} at {place}"
                );
            }
        }
    }

    proptest! {
        /// Scanning by block finds the same as scanning by byte, across block boundaries too.
        #[test]
        fn every_place_is_marked(text in "[ aeQM9:,=(>A~é_-]{0,200}") {
            let bytes = text.as_bytes();
            let marks = ScanMarks::scan(&text);
            let is = |at: usize, among: &[u8]| among.contains(&bytes[at]);
            let begins = |at: &usize| {
                bytes[*at].is_ascii_alphanumeric() && !(*at > 0 && bytes[at - 1].is_ascii_alphanumeric())
            };
            let all = || 0..bytes.len();
            prop_assert_eq!(marks.words, all().filter(begins).collect::<Vec<_>>());
            prop_assert_eq!(marks.signs, all().filter(|at| is(*at, b"=>,(:")).collect::<Vec<_>>());
            let shapes = all().filter(|at| {
                let next = bytes.get(at + 1);
                (begins(at) && is(*at, b"eMNOSpA"))
                    || (bytes[*at] == b'Q' && next == Some(&b'~'))
                    || (bytes[*at] == b':' && next == Some(&b'A'))
            });
            prop_assert_eq!(marks.shapes, shapes.collect::<Vec<_>>());
            prop_assert_eq!(marks.ascii, text.is_ascii());
        }
    }
}

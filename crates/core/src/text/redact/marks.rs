//! One look at a text, from which every scanner knows where to look closer. Nearly all of a text is passed over by it,
//! and no scanner has to walk the rest again.

/// Where something may be. Each list is in order and holds at least the places at which its scanners find anything; they
/// still decide.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// Where a word of ASCII letters and digits begins.
    pub(super) words: Vec<usize>,
    /// What may stand between a name and its value.
    pub(super) signs: Vec<usize>,
    /// What may give away a shape.
    pub(super) shapes: Vec<usize>,
    /// Whether a word may be an option of a command.
    pub(super) options: bool,
    /// Whether it is all ASCII.
    pub(super) ascii: bool,
}

const WORD: u8 = 1;
const SIGN: u8 = 2;
/// A shape begins with it, at the start of a word.
const SHAPE: u8 = 4;
/// It needs a look at its neighbours.
const ODD: u8 = 8;
/// A word may begin right behind what it begins.
const ESCAPE: u8 = 16;

/// There is no more.
const END: u8 = 32;
/// Inside a word they are nothing else.
const INSIDE: u8 = WORD;
const INSIDE_SHAPE: u8 = WORD | SHAPE;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        classes[at] = match byte {
            b'e' | b'M' | b'N' | b'O' | b'S' | b'p' | b'A' => WORD | SHAPE,
            b'Q' => WORD | ODD,
            b'=' | b'>' | b',' | b'(' => SIGN,
            b':' => SIGN | ODD,
            b'-' => ODD,
            b'\\' | b'%' => ESCAPE,
            _ if byte.is_ascii_alphanumeric() => WORD,
            _ => 0,
        };
        at += 1;
    }
    classes
};

impl Marks {
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut marks =
            Self { words: Vec::with_capacity(bytes.len() / 5), ascii: text.is_ascii(), ..Self::default() };
        let class_at = |at: usize| bytes.get(at).map_or(END, |byte| CLASSES[usize::from(*byte)]);
        let (mut at, mut before) = (0, 0);
        loop {
            let class = class_at(at);
            if class & !before & WORD != 0 {
                marks.words.push(at);
                if class & SHAPE != 0 {
                    marks.shapes.push(at);
                }
            }
            if class & (SIGN | ODD | ESCAPE | END) != 0 {
                if class & END != 0 {
                    return marks;
                }
                if class & ESCAPE != 0 {
                    return Self::everywhere(text);
                }
                if class & SIGN != 0 {
                    marks.signs.push(at);
                }
                if class & ODD != 0 {
                    marks.odd(bytes, at);
                }
            }
            (at, before) = (at + 1, class);
            // Within a word there is next to nothing to see.
            while before & WORD != 0 && matches!(class_at(at), INSIDE | INSIDE_SHAPE) {
                at += 1;
            }
        }
    }

    /// Every place: what the scanners would do without a first look. For texts with escapes in them (`\n`, `%3D`), behind
    /// which words begin in the middle of a run of letters.
    pub(super) fn everywhere(text: &str) -> Self {
        let all = || text.char_indices().map(|(at, _)| at).collect();
        Self { words: all(), signs: all(), shapes: all(), options: true, ascii: text.is_ascii() }
    }

    fn odd(&mut self, bytes: &[u8], at: usize) {
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

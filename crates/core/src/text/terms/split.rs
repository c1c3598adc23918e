//! The splitter: words between blanks, names inside of them, words inside of names.
//!
//! Each piece between two blanks is split independently, so the terms of two texts are the terms of both
//! joined by a blank. A name is emitted whole and in its parts, on three levels: a path (`core/src/lib.rs`),
//! the segments between its slashes (`lib.rs`, `std::fs::File`), and the words of each name (`parse_token`,
//! `parseToken`, `parse-token`).

use std::ops::Range;

use super::fold::{fold, is_joiner, is_unspaced, is_word};
use super::hash::hash;
use super::known_words::{KnownWord, lookup};
use super::stem::stem;
use super::stem_languages::stem_in;
use super::{MAX_TERM_BYTES, TextTerm};
use crate::text::byte_runs::count_leading;
use crate::text::language::Language;

/// The maximum length of a whole name. Of a longer one only the parts are emitted.
const MAX_WHOLE_BYTES: usize = 256;

/// A consumer of terms.
pub(super) trait TermSink {
    /// Receives the next term.
    fn term(&mut self, term: TextTerm<'_>);

    /// Announces a plain word. Returns true if its term is known and was taken already.
    fn is_cached(&mut self, _word: &str, _at: u32) -> bool {
        false
    }

    /// Reports the result of that word: the last term, or none.
    fn cache_result(&mut self, _word: &str, _told: bool) {}
}

impl<F: FnMut(TextTerm<'_>)> TermSink for F {
    fn term(&mut self, term: TextTerm<'_>) {
        self(term);
    }
}

pub(super) struct TermSplitter<T> {
    take: T,
    /// The language of the text, if it is not English.
    language: Option<Language>,
    /// The number of running words so far.
    words: u32,
    /// The folded text between two blanks.
    folded: String,
    /// The term under construction.
    term: String,
}

/// The character classes that occur in a name, collected in one pass, so that levels without work can be
/// skipped.
#[derive(Clone, Copy)]
struct NameFeatures(u8);

impl NameFeatures {
    const SLASH: u8 = 1;
    const DOT: u8 = 2;
    const DASH: u8 = 4;
    const CAPITAL: u8 = 8;
    const DIGIT: u8 = 16;
    const QUOTE: u8 = 32;
    const WIDE: u8 = 64;

    fn of_name(name: &str) -> Self {
        Self(name.bytes().fold(0, |all, byte| all | BYTE_FEATURES[usize::from(byte)]))
    }

    fn any(self, of: u8) -> bool {
        self.0 & of != 0
    }
}

static BYTE_FEATURES: [u8; 256] = {
    let mut holds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        holds[byte] = match byte as u8 {
            b'/' | b'\\' => NameFeatures::SLASH,
            b'.' | b'@' | b':' => NameFeatures::DOT,
            b'_' | b'-' => NameFeatures::DASH,
            b'A'..=b'Z' => NameFeatures::CAPITAL,
            b'0'..=b'9' => NameFeatures::DIGIT,
            b'\'' => NameFeatures::QUOTE,
            128.. => NameFeatures::WIDE,
            _ => 0,
        };
        byte += 1;
    }
    holds
};

/// The findings about the parts of a name.
#[derive(Clone, Copy, Default)]
struct NameParts {
    /// The number of parts.
    parts: usize,
    /// True if a part is not a stop word.
    telling: bool,
    /// True if it is written in code syntax.
    code: bool,
}

impl<T: TermSink> TermSplitter<T> {
    pub(super) fn new(take: T) -> Self {
        Self {
            take,
            language: None,
            words: 0,
            folded: String::new(),
            term: String::with_capacity(2 * MAX_TERM_BYTES),
        }
    }

    /// Splits a text of `language`, whose function words are left out and whose words are stemmed in both languages:
    /// English names and terms stand in every text.
    pub(super) fn in_language(self, language: Option<Language>) -> Self {
        Self { language, ..self }
    }

    pub(super) fn text(&mut self, text: &str) {
        let mut at = 0;
        while at < text.len() {
            if let Some(plain) = plain_word(text.as_bytes(), at) {
                self.simple(&text[plain.word]);
                at = plain.end;
            } else {
                let end = piece_end(text, at);
                self.split_piece(&text[at..end]);
                at = end + text[end..].chars().next().map_or(0, char::len_utf8);
            }
        }
    }

    /// Handles a word without inner structure, which is nearly all of prose.
    fn simple(&mut self, word: &str) {
        if let Some(language) = self.language {
            self.term.clear();
            self.term.push_str(word);
            self.term.make_ascii_lowercase();
            self.finish_foreign(language, self.words);
        } else if !self.take.is_cached(word, self.words) {
            self.term.clear();
            self.term.push_str(word);
            self.term.make_ascii_lowercase();
            let counted = self.finish_word(self.words);
            self.take.cache_result(word, counted);
        }
        self.words += 1;
    }

    /// Handles any piece between two blanks.
    pub(super) fn split_piece(&mut self, piece: &str) {
        if piece.is_ascii() {
            return self.names(piece);
        }
        let mut folded = std::mem::take(&mut self.folded);
        fold(piece, &mut folded);
        self.names(&folded);
        self.folded = folded;
    }

    /// Handles the names in a piece: runs of word characters and joiners.
    fn names(&mut self, piece: &str) {
        let mut from = 0;
        while let Some(start) = name_start(piece, from) {
            let end = name_end(piece, start);
            self.name_with_marks(&piece[start..end], &piece[end..]);
            from = end;
        }
    }

    /// Handles a name with marks around it: `--force`, `c++`, `c#`.
    fn name_with_marks(&mut self, run: &str, after: &str) {
        let name = run.trim_matches(is_joiner_or_colon);
        if name.is_empty() {
            return;
        }
        let word = self.words;
        let holds = NameFeatures::of_name(name);
        if holds.any(NameFeatures::SLASH) {
            self.path(name, run.starts_with(['/', '\\']), holds);
        } else {
            self.dotted(name, holds);
        }
        let dashes = run[..run.find(is_word).unwrap_or(0)].bytes().rev().take_while(|b| *b == b'-').count();
        let is_flag = match dashes {
            1 => name.len() <= 3 && name.starts_with(|c: char| c.is_ascii_alphabetic()),
            2 => name.starts_with(|c: char| c.is_ascii_alphabetic()),
            _ => false,
        };
        let is_letters = name.bytes().all(|b| b.is_ascii_alphabetic());
        if is_flag && name.len() <= MAX_TERM_BYTES {
            self.term.clear();
            self.term.push_str(&"--"[..dashes]);
            self.term.push_str(name);
            self.finish_whole(word, true);
        } else if is_letters && run.ends_with(name) && ends_with_mark(name, after) {
            self.term.clear();
            self.term.push_str(name);
            self.term.push_str(if after.starts_with('#') { "#" } else { "++" });
            self.finish_whole(word, true);
        }
    }

    /// The first level: segments between slashes.
    fn path(&mut self, path: &str, rooted: bool, holds: NameFeatures) {
        let word = self.words;
        let mut all = NameParts::default();
        let mut structured = false;
        for part in path.split(['/', '\\']) {
            let part = part.trim_matches(is_joiner_or_colon);
            if part.is_empty() {
                continue;
            }
            let seen = self.dotted(part, holds);
            structured |= seen.parts > 1;
            all = NameParts { parts: all.parts + 1, telling: all.telling | seen.telling, code: seen.code };
        }
        if all.parts > 1 && all.telling && path.len() <= MAX_WHOLE_BYTES {
            self.term.clear();
            for part in path.split(['/', '\\']).map(|part| part.trim_matches(is_joiner_or_colon)) {
                if !self.term.is_empty() && !part.is_empty() {
                    self.term.push('/');
                }
                push_normal(part, &mut self.term);
            }
            // `read/write` is prose, `src/main.rs` and `a/b/c` are paths.
            self.finish_whole(word, structured || rooted || all.parts > 2);
        }
    }

    /// The second level: parts between dots, `::` and `@`.
    fn dotted(&mut self, name: &str, holds: NameFeatures) -> NameParts {
        if !holds.any(NameFeatures::DOT) {
            return self.name(name, false, holds);
        }
        let word = self.words;
        let is_dot = |c| matches!(c, '.' | '@' | ':');
        let mut parts = name.split(is_dot).filter(|part| !part.is_empty());
        if let (Some(only), None) = (parts.next(), parts.next()) {
            return self.name(only, false, holds);
        }
        let mut all = NameParts { parts: 0, telling: false, code: true };
        for part in name.split(is_dot) {
            let part = part.trim_matches(is_joiner);
            if !part.is_empty() {
                let seen = self.name(part, true, holds);
                all.parts += 1;
                all.telling |= seen.telling || part.bytes().any(|b| b.is_ascii_digit());
            }
        }
        if name.len() <= MAX_WHOLE_BYTES {
            self.term.clear();
            let numbered = matches!(name.as_bytes(), [b'v' | b'V', b'0'..=b'9', ..]);
            let mut last = ' ';
            for c in name[usize::from(numbered)..].chars() {
                let c = if c == ':' { '.' } else { c };
                if !(c == '.' && last == '.') {
                    push_normal_char(c, &mut self.term);
                }
                last = c;
            }
            self.finish_whole(word, true);
        }
        all
    }

    /// The third level: the words of a name.
    fn name(&mut self, name: &str, inside: bool, holds: NameFeatures) -> NameParts {
        let word = self.words;
        let is_spaced = || !(holds.any(NameFeatures::WIDE) && name.contains(is_unspaced));
        if name.len() > MAX_TERM_BYTES && is_spaced() {
            self.term.clear();
            push_normal(name, &mut self.term);
            self.finish_whole(word, true);
            self.words += 1;
            return NameParts { parts: 1, telling: true, code: true };
        }
        let mut seen = NameParts::default();
        if holds.any(NameFeatures::DASH) {
            for part in name.split(['_', '-']).filter(|part| !part.is_empty()) {
                let of_many = inside || part.len() < name.len();
                let found = self.humps(part, of_many, holds);
                seen.parts += found.parts;
                seen.telling |= found.telling;
                seen.code |= found.code;
            }
        } else {
            seen = self.humps(name, inside, holds);
        }
        seen.code |= (holds.any(NameFeatures::DASH) && name.contains('_'))
            || (holds.any(NameFeatures::DIGIT) && name.bytes().any(|b| b.is_ascii_digit()));
        seen.code &= !(holds.any(NameFeatures::QUOTE) && name.contains('\''));
        if seen.parts > 1 && seen.telling && is_spaced() {
            self.term.clear();
            push_normal(name, &mut self.term);
            stem(&mut self.term);
            self.finish_whole(word, seen.code);
        }
        seen
    }

    /// The words of `camelCase`, and of scripts without spaces.
    fn humps(&mut self, name: &str, of_many: bool, holds: NameFeatures) -> NameParts {
        if !holds.any(NameFeatures::CAPITAL | NameFeatures::WIDE) {
            return self.split_word(name, of_many, holds);
        }
        let count = humps(name).count();
        if count == 1 || count * 2 > name.len() {
            return self.split_word(name, of_many, holds);
        }
        let mut seen = NameParts { code: true, ..NameParts::default() };
        for hump in humps(name) {
            if hump.starts_with(is_unspaced) {
                self.pairs(hump);
                seen.telling = true;
                // A word next to another script does not form a name with it.
                continue;
            }
            seen.telling |= self.split_word(hump, true, holds).telling;
            seen.parts += 1;
        }
        seen.code = seen.parts > 1;
        seen
    }

    /// One word. A single letter or digit is ignored as a part of a name.
    fn split_word(&mut self, word: &str, of_many: bool, holds: NameFeatures) -> NameParts {
        if holds.any(NameFeatures::WIDE) && word.starts_with(is_unspaced) {
            self.pairs(word);
            return NameParts { parts: 1, telling: true, code: false };
        }
        let at = self.words;
        self.term.clear();
        self.words += 1;
        if holds.any(NameFeatures::QUOTE) {
            let mut parts = word.split('\'');
            let first = parts.next().unwrap_or(word);
            match (parts.next(), parts.next()) {
                // Drop the article of a French word and the O of an Irish name.
                (Some(rest), None) if first.len() == 1 && rest.len() > 2 => push_lower(rest, &mut self.term),
                (Some(rest), None) if is_contraction(rest) => push_lower(first, &mut self.term),
                _ => word.split('\'').for_each(|part| push_lower(part, &mut self.term)),
            }
        } else if holds.any(NameFeatures::WIDE) {
            push_lower(word, &mut self.term);
        } else {
            self.term.push_str(word);
            self.term.make_ascii_lowercase();
        }
        if of_many && self.term.len() == 1 {
            return NameParts { parts: 1, telling: false, code: false };
        }
        if !(holds.any(NameFeatures::DIGIT) && is_code(&self.term)) {
            let telling = match self.language.filter(|_| !of_many) {
                Some(language) => self.finish_foreign(language, at),
                None => self.finish_word(at),
            };
            return NameParts { parts: 1, telling, code: false };
        }
        // `python3` is also indexed as `python`.
        let letters = self.term.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
        let is_numbered =
            (3..40).contains(&letters) && self.term[letters..].bytes().all(|b| b.is_ascii_digit());
        self.finish_whole(at, true);
        if is_numbered {
            self.term.truncate(letters);
            self.finish_word(at);
        }
        NameParts { parts: 1, telling: true, code: true }
    }

    /// Emits pairs of characters; every two pairs count as one running word.
    fn pairs(&mut self, run: &str) {
        let mut chars = run.char_indices().map(|(at, c)| at + c.len_utf8());
        let (mut start, mut end) = (0, chars.next().unwrap_or(0));
        let mut count: u32 = 1;
        for next in chars {
            self.emit(&run[start..next], self.words + (count - 1) / 2, false);
            (start, end) = (end, next);
            count += 1;
        }
        if count == 1 {
            self.emit(&run[start..end], self.words, false);
        }
        self.words += count.div_ceil(2);
    }

    /// Emits the word in `term`, stemmed as English, and also stemmed in `language` if that differs.
    fn finish_foreign(&mut self, language: Language, word: u32) -> bool {
        if language.is_function_word(&self.term) {
            return false;
        }
        let mut own = self.term.clone();
        stem_in(language, &mut own);
        let counted = self.finish_word(word);
        if counted && own != self.term {
            self.term = own;
            return self.finish(word, false);
        }
        counted
    }

    /// Emits the word in `term`, stemmed, unless it is a stop word. Returns true if it was emitted.
    fn finish_word(&mut self, word: u32) -> bool {
        match lookup(&self.term) {
            Some(KnownWord::Stop) => return false,
            Some(KnownWord::Stem(own)) => {
                self.take.term(TextTerm { text: own, word, identifier: false });
                return true;
            }
            None => stem(&mut self.term),
        }
        self.finish(word, false)
    }

    /// Emits the name in `term` without stemming.
    fn finish_whole(&mut self, word: u32, identifier: bool) -> bool {
        self.term.make_ascii_lowercase();
        if lookup(&self.term) == Some(KnownWord::Stop) {
            return false;
        }
        self.finish(word, identifier)
    }

    fn finish(&mut self, word: u32, identifier: bool) -> bool {
        if self.term.is_empty() {
            return false;
        }
        if self.term.len() > MAX_TERM_BYTES {
            let number = hash(&self.term);
            self.term.truncate(self.term.floor_char_boundary(MAX_TERM_BYTES - 17));
            self.term.push_str(&format!("~{number:016x}"));
        }
        self.take.term(TextTerm { text: &self.term, word, identifier });
        true
    }

    fn emit(&mut self, text: &str, word: u32, identifier: bool) {
        self.take.term(TextTerm { text, word, identifier });
    }
}

/// A piece that is one word, in lower case or with one capital, with punctuation around it.
struct PlainWord {
    word: Range<usize>,
    /// The end of the piece.
    end: usize,
}

/// The plain word that begins at `at`, if the piece is one. A fast path for most pieces, equal to the general
/// path (a test checks it).
fn plain_word(text: &[u8], at: usize) -> Option<PlainWord> {
    let opens = |b: &u8| matches!(b, b'(' | b'"' | b'\'' | b'*' | b'`' | b'[');
    let closes = |b: &u8| {
        matches!(b, b'.' | b',' | b';' | b':' | b'!' | b'?' | b')' | b'"' | b'\'' | b'*' | b'`' | b']')
    };
    let start = at + text[at..].iter().take_while(|b| opens(b)).count();
    if !text.get(start)?.is_ascii_alphabetic() {
        return None;
    }
    let after = start + 1 + count_leading(&text[start + 1..], |b| b.is_ascii_lowercase());
    let end = after + text[after..].iter().take_while(|b| closes(b)).count();
    let ends = text.get(end).is_none_or(|b| matches!(b, b' ' | b'\t'..=b'\r'));
    (ends && after - start <= MAX_TERM_BYTES).then_some(PlainWord { word: start..after, end })
}

/// The end of the piece at `at`: the next white space.
fn piece_end(text: &str, at: usize) -> usize {
    text[at..].find(char::is_whitespace).map_or(text.len(), |length| at + length)
}

fn is_joiner_or_colon(c: char) -> bool {
    is_joiner(c) || c == ':'
}

/// True if a byte is a word character or a joiner. `None` for a part of a multi-byte character.
fn is_of_name(byte: u8) -> Option<bool> {
    byte.is_ascii().then(|| byte.is_ascii_alphanumeric() || is_joiner(char::from(byte)))
}

/// The start of the next run of word characters and joiners.
fn name_start(piece: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match is_of_name(*piece.as_bytes().get(at)?) {
            Some(true) => return Some(at),
            Some(false) => at += 1,
            None => {
                let c = piece[at..].chars().next()?;
                if is_word(c) {
                    return Some(at);
                }
                at += c.len_utf8();
            }
        }
    }
}

/// The end of a run of word characters and joiners. A colon belongs to it only if doubled.
fn name_end(piece: &str, start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = piece.as_bytes().get(at) {
        match is_of_name(*byte) {
            Some(true) => at += 1,
            Some(false) if piece[at..].starts_with("::") => at += 2,
            Some(false) => break,
            None => match piece[at..].chars().next() {
                Some(c) if is_word(c) => at += c.len_utf8(),
                _ => break,
            },
        }
    }
    at
}

/// True if the name ends with a mark as in `c++` or `c#`.
fn ends_with_mark(name: &str, after: &str) -> bool {
    let rest = match after.strip_prefix("++") {
        Some(rest) => rest,
        None if name.len() <= 2 => match after.strip_prefix('#') {
            Some(rest) => rest,
            None => return false,
        },
        None => return false,
    };
    !rest.starts_with(|c| is_word(c) || matches!(c, '+' | '#'))
}

fn is_contraction(rest: &str) -> bool {
    ["s", "d", "m", "re", "ve", "ll"].iter().any(|ending| rest.eq_ignore_ascii_case(ending))
}

/// True if a lower-case word mixes letters and digits like a code (`e0277`, `sha256`, `8762cce`), not like
/// prose (`10am`, `2nd`, `90s`).
fn is_code(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let leading = word.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && digits < word.len() && !(leading == digits && word.len() - digits <= 2)
}

/// The words of a `camelCase` name, and its runs of scripts without spaces. `HTTPServer` is two, `URLs` is
/// one.
fn humps(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = if rest.is_ascii() { plain_hump_end(rest.as_bytes()) } else { hump_end(rest) };
        let (hump, after) = rest.split_at(end);
        rest = after;
        Some(hump)
    })
}

/// [`hump_end`] for ASCII names, faster.
fn plain_hump_end(name: &[u8]) -> usize {
    let mut capitals = usize::from(name.first().is_some_and(u8::is_ascii_uppercase));
    for (at, pair) in name.array_windows().enumerate() {
        let [last, byte] = *pair;
        if byte.is_ascii_uppercase() {
            if !last.is_ascii_uppercase() {
                return at + 1;
            }
            capitals += 1;
            continue;
        }
        if capitals > 1 && byte.is_ascii_lowercase() {
            let is_plural = byte == b's' && !name.get(at + 2).is_some_and(u8::is_ascii_lowercase);
            if !is_plural {
                return at;
            }
        }
        capitals = 0;
    }
    name.len()
}

fn hump_end(name: &str) -> usize {
    let mut chars = name.char_indices().peekable();
    let Some((_, mut last)) = chars.next() else { return 0 };
    let mut capitals = usize::from(last.is_uppercase());
    let mut start_of_last = 0;
    while let Some((at, c)) = chars.next() {
        if is_unspaced(last) != is_unspaced(c) || (c.is_uppercase() && !last.is_uppercase()) {
            return at;
        }
        if c.is_lowercase() && last.is_uppercase() && capitals > 1 {
            let is_plural = c == 's' && !chars.peek().is_some_and(|(_, next)| next.is_lowercase());
            if !is_plural {
                return start_of_last;
            }
        }
        capitals = if c.is_uppercase() { capitals + 1 } else { 0 };
        (last, start_of_last) = (c, at);
    }
    name.len()
}

/// Appends the normal form of a name: `fooBar`, `foo_bar` and `foo-bar` are equal.
fn push_normal(name: &str, out: &mut String) {
    name.chars().for_each(|c| push_normal_char(c, out));
}

fn push_normal_char(c: char, out: &mut String) {
    if !matches!(c, '_' | '-' | '\'') {
        push_lower_char(c, out);
    }
}

fn push_lower(word: &str, out: &mut String) {
    word.chars().for_each(|c| push_lower_char(c, out));
}

fn push_lower_char(c: char, out: &mut String) {
    if c.is_ascii() { out.push(c.to_ascii_lowercase()) } else { out.extend(c.to_lowercase()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn plain_names_have_the_humps_that_all_have(name in "[A-Dasxy0-2]{1,12}") {
            prop_assert_eq!(plain_hump_end(name.as_bytes()), hump_end(&name), "{}", name);
        }
    }
}

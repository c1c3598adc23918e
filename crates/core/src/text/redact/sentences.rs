//! Scanner for passwords and keys in sentences, in the languages that people write to their agents.
//!
//! It looks for a cue ("the password"), within a few words a connector ("is", "lautet", ":"), then the value.
//! The lists of all languages are used together: the value must look like a credential in any case, so a
//! foreign connector does no harm, and people mix languages.

use super::SecretKind;
use super::columns::values_below;
use super::connectors::{
    ASPECTS, BACKWARD, CONNECTORS, EASTERN_CONNECTORS, FILLERS, PREPOSITIONS, STEMS, STEMS_WITH_IN,
};
use super::cue_words::{cue_at, is_bare_pass, is_eastern, may_begin};
use super::names::SecretFamily;
use super::phrases::{eastern_password, phrase_directly_behind, read_phrase};
use super::prescan::ScanMarks;
use super::values::{is_base32, is_literal, is_password, is_token};
use super::walk::{MASK_BYTE, RunEndCache, SecretSpan, judged_part, prefix_in_any_case, starts_word};
use super::words::{is_camel_words, is_joined_words, is_numbered_phrase, is_word_list};

/// Opening quotes with their closing quotes.
const QUOTES: [(char, &str); 10] = [
    ('`', "`"),
    ('"', "\""),
    ('\'', "'"),
    ('“', "”"),
    ('„', "“”"),
    ('‘', "’"),
    ('«', "»"),
    ('»', "«"),
    ('「', "」"),
    ('『', "』"),
];

/// The maximum number of words, signs and East Asian characters examined after a cue.
const MAX_PIECES: usize = 24;
const MAX_WORDS: usize = 8;

pub(super) fn scan(text: &str, marks: &ScanMarks, found: &mut Vec<SecretSpan>) {
    // Cues of other scripts are not ASCII words, and some are parts of longer words.
    match marks.ascii {
        true => scan_at(text, marks.words.iter().copied(), found),
        false => scan_at(text, text.char_indices().map(|(at, _)| at), found),
    }
}

fn scan_at(text: &str, places: impl Iterator<Item = usize>, found: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    let mut ends = RunEndCache::default();
    let mut from = 0;
    for at in places {
        if at < from || (bytes[at].is_ascii() && !may_begin(bytes, at)) {
            continue;
        }
        let Some(c) = text[at..].chars().next() else { continue };
        let previous = text[..at].chars().next_back().unwrap_or('\n');
        let begins = if previous.is_ascii() {
            starts_word(bytes, at)
        } else {
            !previous.is_alphanumeric() || is_eastern(previous)
        };
        let Some((family, end)) = cue_at(text, at, c, begins) else { continue };
        let column = values_below(text, at, end, family).into_iter();
        found.extend(column.map(|(start, end)| SecretSpan { kind: kind(family, &text[at..]), start, end }));
        if is_bare_pass(text, at, end) {
            continue;
        }
        let value = after_cue(text, at, end, family, &mut ends).or_else(|| {
            before_cue(text, at, end).filter(|_| family == SecretFamily::Password && !is_words_only(text, at))
        });
        if let Some((start, stop)) = value {
            found.push(SecretSpan { kind: kind(family, &text[at..]), start, end: stop });
            from = stop;
        }
    }
}

/// The kind of secret that the cue at the start of `text` announces.
fn kind(family: SecretFamily, text: &str) -> SecretKind {
    match family {
        SecretFamily::Number if text.starts_with(['s', 'S']) => SecretKind::SocialSecurityNumber,
        SecretFamily::Password | SecretFamily::Number => SecretKind::Password,
        _ => SecretKind::Secret,
    }
}

/// One element of the text after a cue.
enum CuePiece {
    /// A sign that connects to the value.
    Sign(usize),
    Skip(usize),
    /// A quotation: the range inside of the quotes, and its end with the quote.
    Quoted(usize, usize, usize),
    Word(usize, usize),
    Break(usize),
    End,
}

fn piece_at(text: &str, at: usize, ends: &mut RunEndCache) -> CuePiece {
    let bytes = text.as_bytes();
    let Some(c) = text[at..].chars().next() else { return CuePiece::End };
    let next = at + c.len_utf8();
    if let Some(rest) = text[at..].strip_prefix("'s ").or_else(|| text[at..].strip_prefix("’s ")) {
        return CuePiece::Sign(text.len() - rest.len());
    }
    if let Some((_, closing)) = QUOTES.iter().find(|(open, _)| *open == c)
        && let Some(inside) = quotation(text, next, closing)
    {
        return inside;
    }
    match c {
        '\n' => CuePiece::Break(next),
        // `password=x` is an assignment, whose scanner knows better where the value ends.
        '=' if bytes.get(next).is_some_and(|b| !b.is_ascii_whitespace()) => CuePiece::End,
        ':' if bytes.get(next) == Some(&b':') => CuePiece::End,
        ':' | '=' | '：' | '＝' | '→' | '—' | '–' | '|' => CuePiece::Sign(next),
        '-' if matches!(bytes.get(next), Some(b' ' | b'>')) => CuePiece::Sign(next + 1),
        '.' | '!' | '?' | ';' | '。' | '！' | '？' | '\u{1}' => CuePiece::End,
        _ if c.is_whitespace()
            || matches!(c, '*' | '_' | ')' | '(' | '"' | '\'' | '`' | ',' | '、' | '，' | '\\') =>
        {
            CuePiece::Skip(next)
        }
        _ if is_eastern(c) => {
            if EASTERN_CONNECTORS.contains(&c) {
                CuePiece::Sign(next)
            } else {
                CuePiece::Skip(next)
            }
        }
        _ => CuePiece::Word(at, ends.find(bytes, at, is_prose)),
    }
}

/// Bytes of a word in running text. A word ends at an East Asian script or typographic punctuation.
fn is_prose(b: u8) -> bool {
    !b.is_ascii_whitespace() && !matches!(b, b'"' | b'`' | b'\\' | MASK_BYTE | 0xE2..=0xED | 0xEF)
}

/// The quotation that begins at `start`, if it ends soon and on the same line.
fn quotation(text: &str, start: usize, closing: &str) -> Option<CuePiece> {
    const MAX_QUOTATION_BYTES: usize = 120;
    let window = &text[start..text.floor_char_boundary(start + MAX_QUOTATION_BYTES)];
    let (length, c) =
        window.char_indices().find(|(_, c)| closing.contains(*c) || matches!(c, '\n' | '\u{1}'))?;
    let inside = window[..length].trim_end_matches('\\');
    (closing.contains(c) && !inside.is_empty() && !inside.starts_with(' '))
        .then(|| CuePiece::Quoted(start, start + inside.len(), start + length + c.len_utf8()))
}

/// A cue, with the state of reading the text after it.
struct CueParser<'a> {
    text: &'a str,
    family: SecretFamily,
    cue: usize,
    cue_end: usize,
    /// True if the last word or sign connects to a value.
    led: bool,
    /// True if that connector was a sign or a copula, which are unambiguous.
    sure: bool,
    /// True if nothing that could be a value came yet.
    first: bool,
    /// The number of words that were neither a value nor a connector.
    words: usize,
}

fn after_cue(
    text: &str,
    cue: usize,
    cue_end: usize,
    family: SecretFamily,
    ends: &mut RunEndCache,
) -> Option<(usize, usize)> {
    let mut reading =
        CueParser { text, family, cue, cue_end, led: false, sure: false, first: true, words: 0 };
    let mut at = cue_end;
    let mut broken = false;
    let directly = phrase_directly_behind(text, cue, cue_end);
    if directly.is_some() {
        return directly;
    }
    for _ in 0..MAX_PIECES {
        let eastern = reading.awaits_password().then(|| eastern_password(text, at)).flatten();
        if eastern.is_some() {
            return eastern;
        }
        match piece_at(text, at, ends) {
            CuePiece::End => break,
            // "The password is" and a line break, then the value.
            CuePiece::Break(_) if !reading.led || broken => break,
            CuePiece::Break(next) => (at, broken) = (next, true),
            CuePiece::Sign(next) => {
                (at, reading.led, reading.sure) = (next, true, true);
                if let Some(phrase) = read_phrase(text, cue, at) {
                    return Some(phrase);
                }
            }
            CuePiece::Skip(next) => {
                reading.first &= !text[at..next].contains([',', '、', '，']);
                at = next;
            }
            CuePiece::Quoted(start, end, next) => {
                if reading.is_quoted_value(start, end) {
                    return Some((start, end));
                }
                reading.skip_piece();
                at = next;
            }
            CuePiece::Word(start, end) => {
                let (from, to) = bare_word(text, start, end);
                let word = judged_part(&text[from..to]);
                // Another cue takes over here.
                let spoken = text[from..].chars().next().and_then(|c| cue_at(text, from, c, true));
                if spoken.is_some_and(|(other, _)| other == family || other == SecretFamily::Password) {
                    break;
                }
                if reading.first && is_listed(&ASPECTS, word) {
                    break;
                }
                let copula = is_listed(&CONNECTORS, word) || (word == "to" && reading.is_polish());
                if copula || is_listed(&PREPOSITIONS, word) || reading.is_changed_in(word, start) {
                    (reading.led, reading.sure, reading.first) = (true, copula, false);
                    if let Some(phrase) = read_phrase(text, cue, end) {
                        return Some(phrase);
                    }
                } else if !(reading.led && is_listed(&FILLERS, word)) {
                    if reading.is_value(word, start, to)
                        && ends.may_try()
                        && reading.is_secret(word, from, to)
                    {
                        return Some((from, to));
                    }
                    reading.skip_piece();
                    // "The password for root: hunter2".
                    let sign = text[to..end].ends_with(':');
                    (reading.led, reading.sure) = (sign, sign);
                }
                if text[to..end].contains(['.', ';', '?']) {
                    break;
                }
                at = end;
            }
        }
        if reading.words >= MAX_WORDS {
            break;
        }
    }
    None
}

impl CueParser<'_> {
    /// Skips a word or quotation that was not a value.
    fn skip_piece(&mut self) {
        (self.led, self.first) = (false, false);
        self.words += 1;
    }

    /// True if `word`, which begins at `start`, is the "in" of "changed in": Italian and Dutch for "changed
    /// to".
    fn is_changed_in(&mut self, word: &str, start: usize) -> bool {
        let before = &self.text[self.text.ceil_char_boundary(self.cue.saturating_sub(60))..start];
        let before = before.rsplit(char::from(MASK_BYTE)).next().unwrap_or_default().to_lowercase();
        let changed = word == "in" && STEMS_WITH_IN.iter().any(|stem| before.contains(stem));
        if changed {
            // The verb between the cue and "in" was not a value.
            self.words = 0;
        }
        changed
    }

    fn announces_words_only(&self) -> bool {
        is_words_only(self.text, self.cue)
    }

    fn awaits_password(&self) -> bool {
        self.family == SecretFamily::Password && self.led && self.sure && !self.announces_words_only()
    }

    /// True for Polish, in which "to" is a copula.
    fn is_polish(&self) -> bool {
        ["has", "klucz"].iter().any(|word| prefix_in_any_case(&self.text[self.cue..], word).is_some())
    }

    /// True for "password hunter2", with only a space in between.
    fn is_direct(&self, start: usize) -> bool {
        let one_time =
            self.family == SecretFamily::Token && self.text[self.cue..self.cue_end].ends_with("seed");
        let hex = self.family == SecretFamily::Token && is_hex_key(&self.text[start..]);
        self.first
            && (self.family == SecretFamily::Password || one_time || hex)
            && is_near(&self.text[self.cue_end..start])
    }

    /// True if a value is expected at `word`.
    fn is_value(&self, word: &str, start: usize, end: usize) -> bool {
        if self.is_direct(start)
            || (self.led && self.sure)
            || (self.family == SecretFamily::Number && self.words == 0)
        {
            self.words <= 2 || !is_commit(word)
        } else {
            // "Changed the password to hunter2", but not "the password to server2".
            self.led && self.words == 0 && is_set(self.text, self.cue, end)
        }
    }

    fn is_secret(&self, word: &str, start: usize, end: usize) -> bool {
        if word.contains(['<', '>']) || self.announces_words_only() {
            return false;
        }
        let number = word.len() >= 4 && word.bytes().all(|b| b.is_ascii_digit());
        let ends = ends_sentence(self.text, end);
        match self.family {
            SecretFamily::Password => {
                is_password(word, 5)
                    || (self.led && number && ends)
                    || (ends && (self.led || self.is_direct(start)) && is_joined_words(word))
                    || (ends && self.follows_copula(start) && is_camel_words(word))
                    || (is_literal(word, 5, false) && self.is_alone(word, start, end))
            }
            SecretFamily::Number => self.is_number(word, end),
            _ => is_token(word, 8) || is_base32(word),
        }
    }

    /// True if a word such as "is" connects to the text at `start`. Signs do not count, because names also
    /// follow them.
    fn follows_copula(&self, start: usize) -> bool {
        self.led && self.sure && self.text[self.cue_end..start].trim_end().ends_with(char::is_alphabetic)
    }

    /// True if a plain word is alone on its line behind a sign: "password: swordfish". In a `.netrc` no sign
    /// is needed.
    fn is_alone(&self, word: &str, start: usize, end: usize) -> bool {
        let rest = self.text[end..].trim_start_matches([' ', '\r', '.', '!']);
        let before = self.text[self.cue_end..start].trim_end();
        let signed = self.led && self.words <= 2 && before.ends_with([':', '：', '—', '–', '→', '|']);
        let letters = word.chars().all(char::is_alphabetic);
        letters
            && (rest.is_empty() || rest.starts_with('\n'))
            && (signed || (self.words == 0 && follows_login(self.text, self.cue)))
    }

    /// True for a PIN, the check digits of a card or a social security number, judged by length.
    fn is_number(&self, word: &str, end: usize) -> bool {
        let cue = &self.text[self.cue..self.cue_end];
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let only = word.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        let length = match cue.chars().next().map(|c| c.to_ascii_lowercase()) {
            Some('c') => 3..=4,
            Some('s') => 9..=9,
            _ => 4..=8,
        };
        // "PIN 90817", in capitals, needs no connector; the pins of boards have fewer digits.
        let shouted = self.words == 0 && cue.bytes().all(|b| b.is_ascii_uppercase());
        let card = length == (3..=4) && self.first && is_near(&self.text[self.cue_end..end - word.len()]);
        let led = self.led && self.sure && ends_sentence(self.text, end);
        only && length.contains(&digits) && (led || shouted || card)
    }

    fn is_quoted_value(&self, start: usize, end: usize) -> bool {
        if self.announces_words_only() {
            return false;
        }
        let direct = self.is_direct(start);
        // `ALTER USER bob PASSWORD 'x'` needs no connector. Nobody puts a word in guillemets that only
        // follows the cue.
        let psk = prefix_in_any_case(&self.text[self.cue..], "psk").is_some();
        let shared = direct && (psk || self.text[..start].ends_with('«'));
        let sql = shared || (direct && self.text[..start].ends_with('\''));
        (self.led || direct)
            && is_quoted_secret(judged_part(&self.text[start..end]), self.family, self.led || sql)
    }
}

/// True if a cue announces only the words of a wallet. "Seed" has many other meanings.
fn is_words_only(text: &str, cue: usize) -> bool {
    ["seed", "recovery words", "mnemonic", "wallet words", "12 words", "24 words"]
        .iter()
        .any(|word| prefix_in_any_case(&text[cue..], word).is_some())
}

/// True if a `.netrc` entry continues at a cue: `login bob password`.
fn follows_login(text: &str, cue: usize) -> bool {
    let before = &text[text.ceil_char_boundary(cue.saturating_sub(120))..cue];
    let mut words = before.rsplit(char::from(MASK_BYTE)).next().unwrap_or_default().split_whitespace().rev();
    words.nth(1) == Some("login") && words.take(2).any(|word| matches!(word, "machine" | "default"))
        || before.trim_end().ends_with("default login anonymous")
}

/// A word without the punctuation around it. An exclamation mark stays, because it ends passwords more often
/// than sentences.
fn bare_word(text: &str, start: usize, end: usize) -> (usize, usize) {
    let word = &text[start..end];
    let begun = word.trim_start_matches(['(', '*', '_', '[']);
    let ended =
        begun.trim_end_matches(['.', ',', ';', ':', '?', ')', ']', '}', '>', '*', '_', '|', '\'', '\\', '=']);
    let from = end - begun.len();
    (from, from + ended.len())
}

fn ends_sentence(text: &str, at: usize) -> bool {
    if ["btw", "fyi", "now"]
        .iter()
        .any(|word| text[at..].strip_prefix(' ').is_some_and(|rest| rest.starts_with(word)))
    {
        return true;
    }
    matches!(
        text[at..].trim_start_matches([' ', '*', '`']).chars().next(),
        None | Some('\n' | '.' | ',' | ')' | '。' | '!')
    )
}

/// True if only a space, emphasis or an opening quote is between a cue and its possible value.
fn is_near(between: &str) -> bool {
    between.starts_with([' ', '\t', '*', '_']) && between.chars().all(|c| " \t*_('`\"«".contains(c))
}

/// True if `word` may be a commit hash near a cue.
fn is_commit(word: &str) -> bool {
    matches!(word.len(), 7..=12 | 40 | 64) && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// True if `text` begins with a key in hex. Commit hashes have forty digits.
fn is_hex_key(text: &str) -> bool {
    let digits = text.bytes().take(65).take_while(u8::is_ascii_hexdigit).count();
    matches!(digits, 32 | 48 | 64) && !text[digits..].starts_with(|c: char| c.is_alphanumeric() || c == '-')
}

/// True if the sentence around a cue and its value says that something is set.
fn is_set(text: &str, cue: usize, value_end: usize) -> bool {
    let before = &text[text.ceil_char_boundary(cue.saturating_sub(60))..cue];
    let after = &text[value_end..text.floor_char_boundary(value_end + 30)];
    let before = before.rsplit(char::from(MASK_BYTE)).next().unwrap_or_default().to_lowercase();
    let after = after.split(char::from(MASK_BYTE)).next().unwrap_or_default().to_lowercase();
    STEMS.iter().any(|stem| before.contains(stem) || after.contains(stem))
}

fn is_listed(list: &[&str], word: &str) -> bool {
    word.len() <= 16 && list.contains(&word.to_lowercase().as_str())
}

fn is_quoted_secret(value: &str, family: SecretFamily, led: bool) -> bool {
    if value.contains(' ') {
        let phrase = is_word_list(value, ' ') || (led && is_numbered_phrase(value));
        return family == SecretFamily::Password && phrase;
    }
    let name = value.contains('_') && value.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    match family {
        SecretFamily::Number => false,
        SecretFamily::Password if led => is_literal(value, 4, true) && (!name || is_joined_words(value)),
        SecretFamily::Password => is_password(value, 4),
        _ => is_token(value, 6),
    }
}

/// The value in "hunter2 is the password": two or three words back, behind a connector.
fn before_cue(text: &str, cue: usize, end_of_cue: usize) -> Option<(usize, usize)> {
    const MAX_LOOK_BACK_BYTES: usize = 80;
    // "x1 as the password field" is about something else.
    let after = text[end_of_cue..].trim_start_matches([' ', '`', '*', '"']);
    let goes_on = ["for ", "to ", "on ", "of ", "in ", "für ", "para ", "pour ", "del ", "de "];
    if after.starts_with(char::is_alphanumeric) && !goes_on.iter().any(|word| after.starts_with(word)) {
        return None;
    }
    let from = text.ceil_char_boundary(cue.saturating_sub(MAX_LOOK_BACK_BYTES));
    let line = text[from..cue].rfind(['\n', '\u{1}']).map_or(from, |at| from + at + 1);
    let mut words =
        std::iter::successors(word_before(text, line, cue), |word| word_before(text, line, word.0));
    words.by_ref().take(3).find(|(start, end)| is_listed(&BACKWARD, &text[*start..*end]))?;
    let (start, end) = words.next()?;
    let inner = text[start..end].trim_start_matches(['`', '"', '\'', '*', '(']);
    let start = end - inner.len();
    let quoted = text[..start].ends_with(['`', '"', '\'']);
    let (start, end) = bare_word(text, start, start + inner.trim_end_matches(['`', '"', '\'', '*']).len());
    let value = judged_part(&text[start..end]);
    let secret = match quoted {
        true => is_quoted_secret(value, SecretFamily::Password, true),
        false => is_password(value, 6) || (is_joined_words(value) && ends_sentence(text, end_of_cue)),
    };
    // If looking back stopped inside of a long value, redact all of it.
    let whole = text[..start].rfind(|c: char| c.is_whitespace() || c == char::from(MASK_BYTE));
    let start = if start == from { whole.map_or(0, |at| text.ceil_char_boundary(at + 1)) } else { start };
    secret.then_some((start, end))
}

/// The word that ends before `end` and begins at `from` or later.
fn word_before(text: &str, from: usize, end: usize) -> Option<(usize, usize)> {
    let before = text[from..end].trim_end();
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let start = before.ceil_char_boundary(start);
    (start < before.len()).then_some((from + start, from + before.len()))
}

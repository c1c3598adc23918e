//! Literal values in a text, quoted or bare.

use super::walk::{MASK_BYTE, RunEndCache};

/// The maximum length of a quoted value. An unclosed quote must not cause a scan of the whole text.
const MAX_LITERAL_BYTES: usize = 4096;

/// The range of a value, without its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SecretLiteral {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) quoted: bool,
}

/// The quoted value at `at`. Supports the string prefixes of programming languages, triple quotes, and
/// escaped quotes inside of a string (`\"x\"`).
pub(super) fn read_quoted(text: &str, at: usize) -> Option<SecretLiteral> {
    let bytes = text.as_bytes();
    let prefix = bytes[at..].iter().take(2).take_while(|b| b"rbfuL@#".contains(b)).count();
    let escapes = bytes[at + prefix..].iter().take(8).take_while(|b| **b == b'\\').count();
    let open = at + prefix + escapes;
    let quote = *bytes.get(open).filter(|b| matches!(b, b'"' | b'\'' | b'`'))?;
    let triple = bytes[open + 1..].starts_with(&[quote, quote]);
    let start = open + if triple { 3 } else { 1 };
    let mut slashes = 0;
    for (at, byte) in bytes.iter().enumerate().skip(start).take(MAX_LITERAL_BYTES) {
        match *byte {
            b'\\' => slashes += 1,
            b'\n' | MASK_BYTE => return None,
            b if b == quote && (if escapes > 0 { slashes <= escapes } else { slashes % 2 == 0 }) => {
                let end = if escapes > 0 { at - slashes } else { at };
                return Some(SecretLiteral { start, end, quoted: true });
            }
            _ => slashes = 0,
        }
    }
    None
}

/// True for a byte of a bare value. The excluded non-ASCII bytes start spaces, dashes, typographic quotes,
/// and the punctuation and syllables that follow a value in Japanese and Chinese. Accented letters are
/// allowed.
fn is_bare(b: u8) -> bool {
    !b.is_ascii_whitespace()
        && !matches!(b, b'"' | b'\'' | b'`' | b'<' | b';' | b',' | b'&' | b'|' | b'\\' | MASK_BYTE)
        && !matches!(b, 0xC2 | 0xE2 | 0xE3 | 0xEF)
}

/// The bare value at `at`, without the punctuation that ends a sentence or closes a bracket.
pub(super) fn read_bare(text: &str, at: usize, ends: &mut RunEndCache) -> SecretLiteral {
    let end = ends.find(text.as_bytes(), at, is_bare);
    let trimmed = text[at..end].trim_end_matches(['.', ':', '?', ')', ']', '}', '*']);
    SecretLiteral { start: at, end: at + trimmed.len(), quoted: false }
}

/// The bare value at `at` if the line has nothing else: up to the next space.
pub(super) fn read_bare_line(text: &str, at: usize) -> SecretLiteral {
    let rest = &text[at..];
    let end = rest.find(|c: char| c.is_whitespace() || c == char::from(MASK_BYTE)).unwrap_or(rest.len());
    SecretLiteral { start: at, end: at + rest[..end].trim_end_matches(';').len(), quoted: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_read_as_languages_write_them() {
        for (text, value) in [
            (r#""abc""#, "abc"),
            (r#"'it\'s'"#, r"it\'s"),
            (r#"b"abc""#, "abc"),
            (r##"r#"abc"#"##, "abc"),
            (r#"\"abc\", x"#, "abc"),
            (r#"\\\"abc\\\""#, "abc"),
            (r#""""abc""""#, "abc"),
            ("`a b`", "a b"),
        ] {
            let literal = read_quoted(text, 0).unwrap();
            assert_eq!(&text[literal.start..literal.end], value, "{text}");
        }
        for text in ["abc", "\"abc", "\"a\nb\"", ""] {
            assert_eq!(read_quoted(text, 0), None, "{text}");
        }
    }

    #[test]
    fn bare_values_end_where_a_reader_ends_them() {
        for (text, value) in [
            ("abc def", "abc"),
            ("abc.", "abc"),
            ("ab.c), x", "ab.c"),
            ("abc&d=e", "abc"),
            ("abcé ü", "abcé"),
            ("abcです", "abc"),
            ("abc”", "abc"),
        ] {
            let literal = read_bare(text, 0, &mut RunEndCache::default());
            assert_eq!(&text[literal.start..literal.end], value, "{text}");
        }
        let literal = read_bare_line("p&ss,w'rd; next", 0);
        assert_eq!(literal.end, "p&ss,w'rd".len());
    }
}

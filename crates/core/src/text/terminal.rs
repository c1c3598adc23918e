//! Makes text safe for a terminal. Escape sequences in a note or a file name could move the cursor, rename
//! the window or fill the clipboard (B-02).

use std::borrow::Cow;

/// The text styles of our own output, which do no harm anywhere.
const ALLOWED_STYLES: &[&str] = &["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"];

/// Removes control characters and escape sequences except our own styles. Line breaks and tabs stay.
pub fn strip_controls(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = after;
        match c {
            '\u{1b}' => {
                if let Some(style) = ALLOWED_STYLES.iter().find(|style| after.starts_with(**style)) {
                    out.push(c);
                    out.push_str(style);
                    rest = &after[style.len()..];
                } else {
                    rest = behind_sequence(after);
                }
            }
            '\r' if after.starts_with('\n') => out.push(c),
            c if c.is_control() && !matches!(c, '\n' | '\t') => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The text behind an escape sequence whose escape character was removed. An unterminated sequence extends to
/// the end of the line.
fn behind_sequence(text: &str) -> &str {
    let line = text.find('\n').unwrap_or(text.len());
    match text.as_bytes().first() {
        // CSI sequences: parameters up to a letter.
        Some(b'[') => {
            let end = text[1..line].find(|c: char| matches!(c, '@'..='~')).map(|at| at + 2);
            &text[end.unwrap_or(line)..]
        }
        // OSC, DCS, SOS, PM, APC: text up to BEL or the string terminator.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let bell = text[..line].find('\u{7}').map(|at| at + 1);
            let terminator = text[..line].find("\u{1b}\\").map(|at| at + 2);
            &text[bell.into_iter().chain(terminator).min().unwrap_or(line)..]
        }
        Some(byte) if byte.is_ascii() && line > 0 => &text[1..],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn b_02_escape_sequences_never_reach_a_terminal() {
        for (text, left) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}]0;owned\u{7}title", "title"),
            ("\u{1b}]52;c;ZXZpbA==\u{1b}\\clip", "clip"),
            ("\u{1b}[2J\u{1b}[Hclear", "clear"),
            ("\u{9b}2Jc1\u{8}\u{7f}", "2Jc1"),
            ("\u{1b}[1mbold\u{1b}[0m", "\u{1b}[1mbold\u{1b}[0m"),
            ("one\r\ntwo\rthree", "one\r\ntwothree"),
            ("\u{1b}]0;never ends\nnext", "\nnext"),
        ] {
            assert_eq!(strip_controls(text), left, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_is_safe_once_and_for_all(text in "[\\x1b\\x07\\[\\]0-9mJ;\\\\ab\n\r\u{9b}]{0,40}") {
            let once = strip_controls(&text).into_owned();
            prop_assert_eq!(strip_controls(&once), once.as_str());
        }
    }
}

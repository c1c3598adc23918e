//! Pieces of the line around a keyword, and the interface of the scanners of line formats.

use super::walk::MASK_BYTE;

/// Finds the secrets of a line format, given the text and the start and end of the format's keyword.
pub(super) type FormScanner = fn(&str, usize, usize) -> Vec<(usize, usize)>;

/// The maximum length of a line.
pub(super) const MAX_LINE_BYTES: usize = 400;

/// The part of the line before `at` and after the last mask.
pub(super) fn line_before(text: &str, at: usize) -> &str {
    let from = text.ceil_char_boundary(at.saturating_sub(MAX_LINE_BYTES));
    text[from..at].rsplit(['\n', char::from(MASK_BYTE)]).next().unwrap_or_default()
}

pub(super) fn line_after(text: &str, at: usize) -> &str {
    let window = &text[at..text.floor_char_boundary(at + MAX_LINE_BYTES)];
    window.split(['\n', '\r', char::from(MASK_BYTE)]).next().unwrap_or_default()
}

/// The first word from `start` on that is not an option, without its quotes.
pub(super) fn command_word(text: &str, start: usize, end: usize) -> (usize, usize) {
    let mut at = start;
    for word in text[start..end].split(' ') {
        if !word.is_empty() && !word.starts_with('-') {
            let inner = word.trim_matches(['"', '\'']);
            let from = at + word.find(inner).unwrap_or(0);
            return (from, from + inner.len());
        }
        at += word.len() + 1;
    }
    (start, start)
}

//! The text of a file's lines as a reader sees it. Note apps hide comments, and hidden text must not reach an
//! agent (B-02). Comments leave empty lines behind, so that every other line keeps its number.

use std::ops::Range;

use super::LocatedText;
use crate::vault::lines::{LineKind, MarkdownLine};
use crate::vault::tombstone::Graveyard;

const COMMENT_OPEN: &str = "<!--";
const COMMENT_CLOSE: &str = "-->";

/// The visible text on `range` of `lines`; `None` if there is none.
pub(super) fn visible_words(lines: &[MarkdownLine<'_>], range: Range<usize>) -> Option<LocatedText> {
    let mut out: Vec<String> = Vec::with_capacity(range.len());
    // The index after the line that closes a multi-line comment.
    let mut hidden_until = 0;
    // No comment closes before this index, so a paragraph full of openers is scanned once.
    let mut unclosed_until = 0;
    for at in range.clone() {
        let line = &lines[at];
        out.push(match line.kind {
            LineKind::Comment | LineKind::Frontmatter => String::new(),
            _ if at < hidden_until => match line.text.split_once(COMMENT_CLOSE) {
                Some((_, after)) if at + 1 == hidden_until => without_comments(after).0,
                _ => String::new(),
            },
            LineKind::Fence => line.text.trim_end().to_owned(),
            _ => match without_comments(line.text) {
                (words, false) => words,
                (words, true) if at >= unclosed_until => match closing_line(lines, at + 1..range.end) {
                    Ok(close) => {
                        hidden_until = close;
                        words
                    }
                    Err(end) => {
                        unclosed_until = end;
                        line.text.trim_end().to_owned()
                    }
                },
                // An unclosed comment counts as text.
                (_, true) => line.text.trim_end().to_owned(),
            },
        });
    }
    let is_full = |line: &String| !line.trim().is_empty();
    let first = out.iter().position(is_full)?;
    let last = out.iter().rposition(is_full)?;
    let number = |at: usize| u32::try_from(lines[range.start + at].number).unwrap_or(u32::MAX);
    Some(LocatedText {
        text: out[first..=last].join("\n").trim().to_owned(),
        lines: (number(first), number(last)),
    })
}

/// A line without its comments, and true if one stays open.
fn without_comments(text: &str) -> (String, bool) {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(COMMENT_OPEN) {
        let is_text = rest[..at].ends_with(['`', '\\']);
        match (is_text, rest[at..].find(COMMENT_CLOSE)) {
            (true, _) => {
                out.push_str(&rest[..at + COMMENT_OPEN.len()]);
                rest = &rest[at + COMMENT_OPEN.len()..];
            }
            (false, Some(close)) => {
                out.push_str(&rest[..at]);
                rest = &rest[at + close + COMMENT_CLOSE.len()..];
            }
            (false, None) => {
                out.push_str(&rest[..at]);
                return (out.trim_end().to_owned(), true);
            }
        }
    }
    out.push_str(rest);
    (out.trim_end().to_owned(), false)
}

/// The index after the line that closes a comment, or the end of the paragraph if none does.
fn closing_line(lines: &[MarkdownLine<'_>], range: Range<usize>) -> Result<usize, usize> {
    let end = range.end;
    for at in range {
        if lines[at].is_blank() {
            return Err(at);
        }
        if lines[at].text.contains(COMMENT_CLOSE) {
            return Ok(at + 1);
        }
    }
    Err(end)
}

/// Removes the forgotten paragraphs and list items from `text` (B-08).
pub(super) fn without_forgotten(text: &str, graves: &Graveyard) -> String {
    if graves.holds_text(text) {
        return String::new();
    }
    let mut kept = String::with_capacity(text.len());
    let mut block = String::new();
    let mut flush = |block: &mut String| {
        if !graves.holds_text(block) {
            kept.push_str(block);
        }
        block.clear();
    };
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let begins =
            bare.trim().is_empty() || ["- ", "* ", "+ ", "#"].iter().any(|mark| bare.starts_with(mark));
        if begins && !block.is_empty() {
            flush(&mut block);
        }
        block.push_str(line);
        if bare.trim().is_empty() {
            flush(&mut block);
        }
    }
    flush(&mut block);
    kept.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::parse;
    use crate::vault::lines::parse_lines;
    use crate::vault::tombstone::Tombstone;

    fn seen(text: &str) -> Option<(String, (u32, u32))> {
        let lines = parse_lines(text).lines;
        visible_words(&lines, 0..lines.len()).map(|text| (text.text, text.lines))
    }

    #[test]
    fn b_02_comments_are_not_seen_and_lines_keep_their_place() {
        let some = |text: &str, lines| Some((text.to_owned(), lines));
        assert_eq!(
            seen("\none <!-- x --> two\n<!-- y\nz -->\nthree\n\n"),
            some("one  two\n\n\nthree", (2, 5))
        );
        assert_eq!(seen("one <!-- hid\nden --> two\nthree"), some("one\n two\nthree", (1, 3)));
        assert_eq!(seen("a <!-- never\n\nclosed"), some("a <!-- never\n\nclosed", (1, 3)));
        assert_eq!(seen("`<!-- code -->`"), some("`<!-- code -->`", (1, 1)));
        assert_eq!(seen("```\n<!-- code -->\n```"), some("```\n<!-- code -->\n```", (1, 3)));
        assert_eq!(seen("---\na: b\n---\n\n# T\n"), some("# T", (5, 5)));
        assert_eq!(seen("<!-- x -->\n"), None);
        assert_eq!(seen(""), None);
    }

    #[test]
    fn b_08_forgotten_text_is_cut_out() {
        let stone = Tombstone::new(parse("2026-11-15").unwrap(), "salt", "The host is hermes.", None, vec![]);
        let graves = Graveyard::parse(&stone.render());
        assert_eq!(without_forgotten("* the host is **hermes**", &graves), "");
        assert_eq!(without_forgotten("one\n\nThe host is hermes\n\ntwo", &graves), "one\n\n\ntwo");
        assert_eq!(without_forgotten("- a\n- The host\n  is hermes\n- b", &graves), "- a\n- b");
        assert_eq!(without_forgotten("other", &graves), "other");
    }
}

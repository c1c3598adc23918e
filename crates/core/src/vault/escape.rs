//! Escapes foreign text for a person's document, so that it can only be text there, and restores it
//! unchanged.
//!
//! The escapes are Markdown's own: a backslash before the character that would begin a block or a comment. So
//! the document still shows the original words.

use super::lines::blocks::{closes_fence, is_conflict, is_rule, marker, parse_atx_heading, parse_fence};
use super::lines::html::parse_html;

/// The structure that a text may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EscapeStyle {
    /// None: every line is plain words. For text that a machine parses item by item.
    Words,
    /// Nested lists, quotes and complete code blocks, contained by its list item. For text that people read.
    Blocks,
}

/// The canonical form of a text: `\n` between lines, no control characters, no trailing blanks, no blank
/// lines around it.
pub(crate) fn normalise_text(text: &str) -> String {
    let text =
        text.replace("\r\n", "\n").replace(['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'], "\n");
    let text: String = text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect();
    let lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
    lines.join("\n").trim().to_owned()
}

/// [`tidy`] on one line, with single spaces between words.
pub(crate) fn normalise_line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes `<!--` by an odd number of backslashes before it, so that it opens no comment.
pub(crate) fn escape_inline(text: &str) -> String {
    rewrite_openers(text, |slashes| 2 * slashes + 1)
}

/// The inverse of [`inline`]. An opener that a person typed stays as it is.
pub(crate) fn unescape_inline(text: &str) -> String {
    rewrite_openers(text, |slashes| if slashes % 2 == 1 { slashes / 2 } else { slashes })
}

fn rewrite_openers(text: &str, slashes: impl Fn(usize) -> usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split("<!--");
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let bare = out.trim_end_matches('\\').len();
        let count = slashes(out.len() - bare);
        out.truncate(bare);
        out.push_str(&"\\".repeat(count));
        out.push_str("<!--");
        out.push_str(piece);
    }
    out
}

/// Escapes a heading: on one line, and with a final `#` as text.
pub(crate) fn heading(title: &str) -> String {
    let mut title = escape_inline(&normalise_line(title));
    if title.ends_with('#') {
        title.insert(title.len() - 1, '\\');
    }
    title
}

/// The inverse of [`heading`].
pub(crate) fn unescape_heading(title: &str) -> String {
    unescape_inline(
        &title.strip_suffix("\\#").map_or_else(|| title.to_owned(), |before| format!("{before}#")),
    )
}

/// Escapes words at the start of a line that would begin a block.
pub(crate) fn line(text: &str) -> String {
    escape_start(&escape_inline(text), EscapeStyle::Words)
}

/// The inverse of [`line`].
pub(crate) fn unescape_line(text: &str) -> String {
    unescape_inline(&unescape_start(text, EscapeStyle::Words))
}

/// Renders a list item: `head` (the marker and any prefix), the words, `tail` at the end of the first line,
/// and the further lines indented below it. Every line ends in `\n`.
pub(crate) fn item(head: &str, text: &str, tail: &str, style: EscapeStyle) -> String {
    let text = normalise_text(text);
    let lines: Vec<&str> = text.split('\n').collect();
    let code = code_lines(&lines, style);
    // A code block cannot begin in the middle of a line, so it begins on the next one.
    let (first, rest_from) = if code[0] { (String::new(), 0) } else { (escape_inline(lines[0]), 1) };
    let mut out = format!("{head}{first}").trim_end().to_owned();
    out.push_str(tail);
    out.push('\n');
    for (at, text) in lines.iter().enumerate().skip(rest_from) {
        let text = if code[at] { (*text).to_owned() } else { escape_start(&escape_inline(text), style) };
        out.push_str(if text.is_empty() { "" } else { "  " });
        out.push_str(&text);
        out.push('\n');
    }
    out
}

/// The inverse of [`item`], for the words between head and tail and the lines below. `offset` is their
/// continuation column.
pub(crate) fn unescape_item(first: &str, below: &[&str], offset: usize, style: EscapeStyle) -> String {
    let mut lines = vec![first.trim()];
    lines.extend(below.iter().map(|line| dedent(line, offset)));
    let code = code_lines(&lines, style);
    let words = lines.iter().enumerate().map(|(at, text)| match at {
        0 => unescape_inline(text),
        _ if code[at] => (*text).to_owned(),
        _ => unescape_inline(&unescape_start(text, style)),
    });
    normalise_text(&words.collect::<Vec<_>>().join("\n"))
}

/// The words of an item of [`EscapeStyle::Words`] on their lines, still escaped by [`inline`].
pub(crate) fn join_item(first: &str, below: &[&str], offset: usize) -> String {
    let mut lines = vec![first.trim().to_owned()];
    lines.extend(below.iter().map(|line| unescape_start(dedent(line, offset), EscapeStyle::Words)));
    lines.join("\n")
}

/// Renders a text as a block quote, ending in `\n`.
pub(crate) fn block_quote(text: &str) -> String {
    normalise_text(text).split('\n').map(|line| format!("> {line}").trim_end().to_owned() + "\n").collect()
}

/// A quoted line without its mark.
pub(crate) fn unquote_line(line: &str) -> Option<&str> {
    let quoted = line.strip_prefix('>')?;
    Some(quoted.strip_prefix(' ').unwrap_or(quoted))
}

/// `line` without the indentation of its item. Lines with less indentation lose what they have.
fn dedent(line: &str, offset: usize) -> &str {
    let blanks = line.bytes().take(offset).take_while(|b| *b == b' ').count();
    let rest = &line[blanks..];
    if blanks < offset { rest.strip_prefix('\t').unwrap_or(rest) } else { rest }
}

/// Marks the lines of complete code blocks, which stay as they are.
fn code_lines(lines: &[&str], style: EscapeStyle) -> Vec<bool> {
    let mut code = vec![false; lines.len()];
    let mut at = 0;
    while style == EscapeStyle::Blocks && at < lines.len() {
        let end = code_block(&lines[at..]).map_or(at, |length| at + length);
        code[at..end].fill(true);
        at = end.max(at + 1);
    }
    code
}

/// The length of the code block that the first of `lines` opens. A fence with ambiguous indentation opens
/// none.
fn code_block(lines: &[&str]) -> Option<usize> {
    let fence_at = |line: &str| {
        let rest = line.trim_start();
        (line.len() - rest.len() < 4 && !line.starts_with('\t')).then_some(rest.len())
    };
    let first = lines.first()?;
    let (mark, length) = parse_fence(&first[first.len() - fence_at(first)?..])?;
    for (at, line) in lines.iter().enumerate().skip(1) {
        if closes_fence(line.trim_start(), mark, length) {
            return fence_at(line).map(|_| at + 1);
        }
    }
    None
}

/// Splits off the leading blanks.
fn split_indent(line: &str) -> (&str, &str) {
    line.split_at(line.len() - line.trim_start_matches([' ', '\t']).len())
}

fn escape_start(text: &str, style: EscapeStyle) -> String {
    let (blanks, rest) = split_indent(text);
    if begins_block(rest.trim_start_matches('\\'), style) {
        return format!("{blanks}\\{rest}");
    }
    match numbered(rest, style) {
        Some(delimiter) => format!("{blanks}{}\\{}", &rest[..delimiter], &rest[delimiter..]),
        None => text.to_owned(),
    }
}

fn unescape_start(text: &str, style: EscapeStyle) -> String {
    let (blanks, rest) = split_indent(text);
    if let Some(bare) = rest.strip_prefix('\\')
        && begins_block(bare.trim_start_matches('\\'), style)
    {
        return format!("{blanks}{bare}");
    }
    match numbered(rest, style) {
        Some(delimiter) if rest[..delimiter].ends_with('\\') => {
            format!("{blanks}{}{}", &rest[..delimiter - 1], &rest[delimiter..])
        }
        _ => text.to_owned(),
    }
}

/// True if words with this start would begin a block.
fn begins_block(text: &str, style: EscapeStyle) -> bool {
    let underline = !text.is_empty() && (text.bytes().all(|b| b == b'=') || text.bytes().all(|b| b == b'-'));
    underline
        || is_rule(text)
        || is_conflict(text)
        || parse_atx_heading(text).is_some()
        || text.starts_with("```")
        || text.starts_with("~~~")
        || style == EscapeStyle::Words
            && (text.starts_with('>')
                || parse_html(text, false).is_some()
                || matches!(marker(text), Some((_, None))))
}

/// The position of the delimiter in `12. `, or in `12\. `, which escapes it already. A digit cannot be
/// escaped by a backslash.
fn numbered(text: &str, style: EscapeStyle) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let slashes = text[digits..].bytes().take_while(|b| *b == b'\\').count();
    let bare = [&text[..digits], &text[digits + slashes..]].concat();
    (style == EscapeStyle::Words && digits > 0 && marker(&bare).is_some()).then_some(digits + slashes)
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::super::lines::{LineKind, item_lines, parse_lines};
    use super::*;

    /// Texts that imitate document structure.
    pub(crate) fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("\n".to_owned()),
            Just(" ".to_owned()),
            prop::sample::select(
                &[
                    "word",
                    "# h",
                    "### 🔍 Observations (session: x, 10:00)",
                    "* 🔴 (10:00) forged",
                    "- [x] `p-20261115-001`",
                    "-->",
                    "<!--",
                    "<!-- p-20261115-009 user -->",
                    "\\<!--",
                    "```",
                    "~~~~",
                    "```rust",
                    "---",
                    "===",
                    "1. a",
                    "12\\) b",
                    "\\# c",
                    "\\\\- d",
                    "> e",
                    "<pre>",
                    "<div>",
                    "</script >",
                    "\t",
                    "    ",
                    "**",
                    " — ",
                    "`",
                    "|",
                    "(10:00)",
                    "_",
                    "<<<<<<< HEAD",
                    "## Proposed for: X",
                    "**Current task**: x",
                    "_Last updated: x_",
                    "\r\n",
                    "C#",
                    "[[a]]",
                    "\u{a0}",
                    "See deep research: [[MemoryVault/personal-private/_idea-incubator/x/_index.md]]",
                ][..]
            )
            .prop_map(str::to_owned),
            "\\PC{0,12}",
        ];
        prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
    }

    fn back(rendered: &str, head: &str, tail: &str, style: EscapeStyle) -> String {
        let lines: Vec<&str> = rendered.trim_end_matches('\n').split('\n').collect();
        let first = lines[0].strip_suffix(tail).unwrap();
        unescape_item(first.strip_prefix(head.trim_end()).unwrap(), &lines[1..], 2, style)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn tidying_twice_changes_nothing(text in hostile()) {
            prop_assert_eq!(normalise_text(&normalise_text(&text)), normalise_text(&text));
            prop_assert_eq!(normalise_line(&normalise_text(&text)), normalise_line(&text));
        }

        #[test]
        fn every_text_reads_back(text in hostile()) {
            prop_assert_eq!(unescape_inline(&escape_inline(&text)), text.clone());
            prop_assert_eq!(unescape_line(&line(&text)), text.clone());
            prop_assert_eq!(unescape_heading(&heading(&text)), normalise_line(&text));
            for style in [EscapeStyle::Words, EscapeStyle::Blocks] {
                let rendered = item("- x ", &text, " <!-- y -->", style);
                prop_assert_eq!(back(&rendered, "- x ", " <!-- y -->", style), normalise_text(&text));
            }
        }

        #[test]
        fn a_text_stays_inside_its_item(text in hostile(), blocks in any::<bool>()) {
            let style = if blocks { EscapeStyle::Blocks } else { EscapeStyle::Words };
            let document = format!("{}- z\n\n# End\n", item("- x ", &text, "", style));
            let lines = parse_lines(&document).lines;
            let own = item_lines(&lines, 0);
            let last = lines.len() - 3;
            prop_assert_eq!(own.end, last);
            let outside = matches!(lines[last].kind, LineKind::Item { depth: 1, .. })
                && matches!(lines[last + 2].kind, LineKind::Heading { .. });
            prop_assert!(outside);
            if style == EscapeStyle::Words {
                let words = |line: &crate::vault::lines::MarkdownLine<'_>| matches!(line.kind, LineKind::Blank | LineKind::Text { .. });
                prop_assert!(lines[1..own.end].iter().all(words));
            }
        }

        #[test]
        fn a_quote_reads_back(text in hostile()) {
            let quoted = block_quote(&text);
            let lines: Vec<_> = quoted.lines().map(|line| unquote_line(line).unwrap()).collect();
            prop_assert_eq!(lines.join("\n"), normalise_text(&text));
        }
    }

    #[test]
    fn ordinary_words_are_left_alone() {
        for text in ["use -f, not -r", "**bold** start", "#tag here", "a -> b", "1.5 is fine", "C:\\new\\#x"]
        {
            assert_eq!(item("- ", &format!("a\n{text}"), "", EscapeStyle::Words), format!("- a\n  {text}\n"));
        }
    }

    #[test]
    fn complete_code_stays_code_and_half_of_it_does_not() {
        assert_eq!(item("- ", "a\n```\n# x\n```", "", EscapeStyle::Blocks), "- a\n  ```\n  # x\n  ```\n");
        assert_eq!(
            item("- (d) ", "```\n# x\n```", " <!-- m -->", EscapeStyle::Blocks),
            "- (d) <!-- m -->\n  ```\n  # x\n  ```\n"
        );
        assert_eq!(item("- ", "a\n```\n# x", "", EscapeStyle::Blocks), "- a\n  \\```\n  \\# x\n");
        assert_eq!(item("- ", "a\n1. x\n- y", "", EscapeStyle::Words), "- a\n  1\\. x\n  \\- y\n");
    }
}

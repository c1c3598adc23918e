//! Markdown as lines with exact byte ranges: just enough structure to know where a change may go.
//!
//! A full Markdown parser answers how a document looks, but we need the position of each byte. So this module
//! applies the block rules of CommonMark line by line (list items and their continuation, quotes, tables, fences,
//! HTML, headings of both sorts) and ignores everything inside of a line.

pub(crate) mod blocks;
mod document_ending;
pub(crate) mod html;
#[cfg(test)]
pub(crate) mod tests;
mod walker;

use std::ops::Range;

use thiserror::Error;

pub use document_ending::DocumentEnding;

use blocks::is_conflict;
use walker::LineWalker;

const BOM: &str = "\u{feff}";

/// One line of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownLine<'a> {
    /// The line number, starting at 1 as in an editor.
    pub number: usize,
    /// The byte offset of the line, including a byte-order mark.
    pub start: usize,
    /// The byte offset of its text, behind a byte-order mark.
    pub text_start: usize,
    /// The text without its ending.
    pub text: &'a str,
    /// The line ending: `\n`, `\r\n`, `\r`, or nothing at the end of the document.
    pub ending: &'a str,
    /// The number of list items that contain the line, including one that it begins.
    pub depth: usize,
    /// The structural role of the line.
    pub kind: LineKind<'a>,
}

/// The structural role of a line, as far as a change needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineKind<'a> {
    /// A line without text.
    Blank,
    /// Part of the YAML block at the top.
    Frontmatter,
    /// Part of a fenced code block, including its fences.
    Fence,
    /// Part of an HTML comment that begins its line.
    Comment,
    /// The first line of a heading outside of lists and quotes.
    Heading {
        /// The heading level, 1 to 6.
        level: u8,
        /// The words without the hashes around them. Those of an underlined heading can have several lines.
        title: &'a str,
        /// True if a line below underlines it.
        underlined: bool,
    },
    /// A further line of an underlined heading: more words, or the underline.
    HeadingContinuation {
        /// The heading level: 1 for `===`, 2 for `---`.
        level: u8,
    },
    /// The first line of a list item.
    Item {
        /// The nesting depth of the item; 1 at the top.
        depth: usize,
        /// The byte offset of its content within the line's text.
        content: usize,
        /// The column of its continuation lines.
        offset: usize,
    },
    /// A thematic break such as `---`.
    Rule,
    /// Any other line with text.
    Text {
        /// True if it continues a list item's paragraph without indentation.
        lazy: bool,
    },
}

impl MarkdownLine<'_> {
    /// The byte range of the whole line, including its ending.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end()
    }

    /// The byte offset of the next line.
    pub fn end(&self) -> usize {
        self.text_end() + self.ending.len()
    }

    /// The byte offset of the end of the text, before the line ending.
    pub fn text_end(&self) -> usize {
        self.text_start + self.text.len()
    }

    /// True if both lines have the same structural role, whatever their words.
    pub(crate) fn has_same_structure(&self, other: &MarkdownLine<'_>) -> bool {
        self.kind == other.kind && (self.is_blank() || self.depth == other.depth)
    }

    /// True if the line has no text.
    pub fn is_blank(&self) -> bool {
        self.kind == LineKind::Blank
    }
}

/// A block that is still open at the end of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenBlock {
    /// An open code fence.
    Fence {
        /// The line that opens it.
        line: usize,
        /// The fence character, `` ` `` or `~`.
        mark: char,
        /// The length of the fence.
        length: usize,
    },
    /// An open HTML comment.
    Comment {
        /// The line that opens it.
        line: usize,
    },
    /// An open HTML element with verbatim content, such as `<pre>`.
    Html {
        /// The line that opens it.
        line: usize,
        /// The text that closes it.
        close: &'static str,
    },
}

impl OpenBlock {
    /// The line that would close the block.
    pub fn closing_line(self) -> String {
        match self {
            Self::Fence { mark, length, .. } => mark.to_string().repeat(length),
            Self::Comment { .. } => "-->".to_owned(),
            Self::Html { close, .. } => close.to_owned(),
        }
    }
}

/// The reason why a document cannot be changed: its structure is ambiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BrokenDocument {
    /// A code fence is never closed, so everything after it is code.
    #[error("line {line} opens a code block that is never closed; close it and try again")]
    Fence {
        /// The line that opens it.
        line: usize,
    },
    /// A comment is never closed, so everything after it is hidden.
    #[error("line {line} opens an HTML comment that is never closed; close it with `-->` and try again")]
    Comment {
        /// The line that opens it.
        line: usize,
    },
    /// An HTML element such as `<pre>` is never closed, so everything after it is HTML.
    #[error("line {line} opens an HTML block that is never closed; close it with `{close}` and try again")]
    Html {
        /// The line that opens it.
        line: usize,
        /// The text that closes it.
        close: &'static str,
    },
    /// The file contains two versions of the document.
    #[error("line {line} is a merge-conflict marker; keep one of the two versions and try again")]
    Conflict {
        /// The line at which the conflict begins.
        line: usize,
    },
}

impl BrokenDocument {
    /// The line of the problem.
    pub fn line(&self) -> usize {
        match *self {
            Self::Fence { line }
            | Self::Comment { line }
            | Self::Html { line, .. }
            | Self::Conflict { line } => line,
        }
    }
}

/// A document's lines, with the block left open at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownLines<'a> {
    /// Every line, in order. Their ranges cover the document without gaps.
    pub lines: Vec<MarkdownLine<'a>>,
    /// A block outside of lists that never closes.
    pub open: Option<OpenBlock>,
}

/// The most frequent line ending of `text`; `\n` by default.
pub fn newline_of(text: &str) -> &'static str {
    let mut counts = [("\n", 0usize), ("\r\n", 0), ("\r", 0)];
    for line in split(text) {
        if let Some(count) = counts.iter_mut().find(|(ending, _)| *ending == line.ending) {
            count.1 += 1;
        }
    }
    most_common(&counts)
}

fn most_common(counts: &[(&'static str, usize)]) -> &'static str {
    // `max_by_key` prefers the last of equals, and `\n` should win a tie.
    counts.iter().rev().max_by_key(|(_, count)| count).map_or("\n", |(ending, _)| ending)
}

/// Walks the document; never fails.
pub fn parse_lines(text: &str) -> MarkdownLines<'_> {
    let mut lines = split(text);
    let body = frontmatter_lines(&lines);
    for line in &mut lines[..body] {
        line.kind = LineKind::Frontmatter;
    }
    let mut walker = LineWalker::default();
    for at in body..lines.len() {
        let (kind, depth) = walker.step(lines[at].text, lines[at].number);
        if let LineKind::HeadingContinuation { level } = kind {
            let first = lines.partition_point(|line| line.number < walker.heading_line);
            let title = text[lines[first].text_start..lines[at].start].trim();
            lines[first + 1..at].iter_mut().for_each(|line| line.kind = kind.clone());
            lines[first].kind = LineKind::Heading { level, title, underlined: true };
        }
        lines[at].kind = kind;
        lines[at].depth = depth;
    }
    let open = walker.open.filter(|_| walker.containers.is_empty());
    MarkdownLines { lines, open }
}

/// Walks a document that is about to be changed. Fails if its structure is ambiguous.
pub fn read(text: &str) -> Result<Vec<MarkdownLine<'_>>, BrokenDocument> {
    let walk = parse_lines(text);
    let conflict = walk.lines.iter().find(|line| line.kind != LineKind::Fence && is_conflict(line.text));
    if let Some(line) = conflict {
        return Err(BrokenDocument::Conflict { line: line.number });
    }
    match walk.open {
        Some(OpenBlock::Fence { line, .. }) => Err(BrokenDocument::Fence { line }),
        Some(OpenBlock::Comment { line }) => Err(BrokenDocument::Comment { line }),
        Some(OpenBlock::Html { line, close }) => Err(BrokenDocument::Html { line, close }),
        None => Ok(walk.lines),
    }
}

/// The indexes of the lines of the list item that begins at `at`: including its continuation and nested
/// items, without blank lines after it.
pub fn item_lines(lines: &[MarkdownLine<'_>], at: usize) -> Range<usize> {
    let Some(&MarkdownLine { kind: LineKind::Item { depth, .. }, .. }) = lines.get(at) else { return at..at };
    let mut end = at + 1;
    for (index, line) in lines.iter().enumerate().skip(at + 1) {
        let next_item = matches!(line.kind, LineKind::Item { depth: other, .. } if other <= depth);
        if line.is_blank() {
            continue;
        }
        if next_item || line.depth < depth {
            break;
        }
        end = index + 1;
    }
    at..end
}

/// The words of a heading without emoji, punctuation, case, or a bracket at the end, for comparing the
/// variants that people write.
pub fn heading_words(title: &str) -> String {
    let named = title.split_once('(').map_or(title, |(before, _)| before);
    let words = bare_words(named);
    if words.is_empty() { title.trim().to_owned() } else { words }
}

fn bare_words(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    spaced.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `text` with `range` replaced.
pub(crate) fn splice(text: &str, range: Range<usize>, with: &str) -> String {
    [&text[..range.start], with, &text[range.end..]].concat()
}

/// New lines for a document, with their position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineInsertion {
    /// The index of the line that follows them.
    pub(crate) at: usize,
    /// The lines, each ending in `\n`.
    pub(crate) block: String,
    /// True to separate them from a line before that is not blank.
    pub(crate) blank_before: bool,
    /// True to separate them from the line behind.
    pub(crate) blank_behind: bool,
}

impl LineInsertion {
    /// The byte offset and the bytes to insert: with the document's own newlines, and without a final one if
    /// the document has none.
    pub(crate) fn bytes(&self, text: &str, lines: &[MarkdownLine<'_>]) -> (usize, String) {
        let position = match (self.at, lines.get(self.at)) {
            (0, Some(first)) => first.text_start,
            (_, Some(line)) => line.start,
            (_, None) => text.len(),
        };
        let before = self
            .at
            .checked_sub(1)
            .and_then(|before| lines.get(before))
            .filter(|line| !line.range().is_empty());
        let unended = before.is_some_and(|line| line.ending.is_empty() && !line.text.is_empty());
        let mut block = String::new();
        if unended {
            block.push('\n');
        }
        if self.blank_before && before.is_some_and(|line| !line.is_blank()) {
            block.push('\n');
        }
        block.push_str(&self.block);
        if self.blank_behind && lines.get(self.at).is_some_and(|line| !line.is_blank()) {
            block.push('\n');
        }
        if unended {
            block.pop();
        }
        let newline = newline_of(text);
        // `\r` before `\n` would be one line end instead of two.
        if newline == "\n" && block.starts_with('\n') && text[..position].ends_with('\r') {
            block.insert(0, '\n');
        }
        (position, block.replace('\n', newline))
    }

    /// The document with the lines inserted, if all old lines keep their structural role: an item could
    /// absorb the indented line behind it.
    pub(crate) fn apply(&self, text: &str, lines: &[MarkdownLine<'_>]) -> Option<String> {
        let (position, block) = self.bytes(text, lines);
        let changed = splice(text, position..position, &block);
        let walked = parse_lines(&changed).lines;
        let new = walked.len().checked_sub(lines.len())?;
        let same = lines.iter().enumerate().all(|(index, line)| {
            let index = if index < self.at { index } else { index + new };
            walked.get(index).is_some_and(|moved| moved.has_same_structure(line))
        });
        same.then_some(changed)
    }
}

fn split(text: &str) -> Vec<MarkdownLine<'_>> {
    let mut lines = Vec::new();
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let body = rest.bytes().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
        let ending = if rest[body..].starts_with("\r\n") { 2 } else { (rest.len() - body).min(1) };
        let mark = if start == 0 && rest.starts_with(BOM) { BOM.len() } else { 0 };
        lines.push(MarkdownLine {
            number: lines.len() + 1,
            start,
            text_start: start + mark,
            text: &rest[mark..body],
            ending: &rest[body..body + ending],
            depth: 0,
            kind: LineKind::Blank,
        });
        start += body + ending;
    }
    lines
}

/// The number of lines of frontmatter. An unclosed block is a rule and text, as note apps interpret it.
fn frontmatter_lines(lines: &[MarkdownLine<'_>]) -> usize {
    let is_edge = |line: &MarkdownLine<'_>| line.text.trim_end() == "---";
    if !lines.first().is_some_and(is_edge) {
        return 0;
    }
    lines.iter().skip(1).position(is_edge).map_or(0, |close| close + 2)
}

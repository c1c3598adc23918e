//! The state between lines: open list items, quote, fence, comment, HTML block and paragraph.

use super::blocks::{
    closes_fence, delimited_cells, is_link_definition, is_rule, marker, parse_atx_heading, parse_fence,
    parse_underline, skip_indent, table_cells,
};
use super::html::{HtmlEnd, closes_html, parse_html};
use super::{LineKind, OpenBlock};

/// The maximum nesting depth of lists, and that of quotes. It bounds the time for a line of a million markers.
const MAX_DEPTH: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ParagraphState {
    #[default]
    None,
    /// A paragraph that an underline would make a heading.
    Words {
        /// The number of its first line behind link definitions.
        line: usize,
        /// The number of table cells on its last line, if that can be a table's header.
        cells: usize,
    },
}

#[derive(Clone, Debug, Default)]
pub(super) struct LineWalker {
    /// The content columns of the open list items.
    pub(super) containers: Vec<usize>,
    pub(super) open: Option<OpenBlock>,
    /// True inside of an HTML block that the next blank line ends.
    in_html: bool,
    /// True inside of a table, behind its header.
    in_table: bool,
    paragraph: ParagraphState,
    /// The number of the line at which the last underlined heading began.
    pub(super) heading_line: usize,
    /// True behind the first line of an item that is empty but for its marker.
    empty_item: bool,
    /// The state inside of the open quote.
    quote: Option<Box<LineWalker>>,
    /// The number of quotes around this one.
    quotes: usize,
}

impl LineWalker {
    /// The role of the next line, and the number of list items that contain it.
    pub(super) fn step<'a>(&mut self, text: &'a str, number: usize) -> (LineKind<'a>, usize) {
        let (column, rest) = skip_indent(text, 0);
        if let Some(kind) = self.line_in_open_block(column, rest) {
            return (kind, self.containers.len());
        }
        let empty_item = std::mem::take(&mut self.empty_item);
        if rest.is_empty() {
            (self.paragraph, self.in_table, self.quote) = (ParagraphState::None, false, None);
            if empty_item {
                self.containers.pop();
            }
            return (LineKind::Blank, self.containers.len());
        }
        let matched = self.containers.iter().take_while(|offset| column >= **offset).count();
        let base = matched.checked_sub(1).map_or(0, |last| self.containers[last]);
        let near = column - base < 4;
        let quoted = near && self.begins_quote(rest);
        let same_place = matched == self.containers.len() && (self.quote.is_none() || quoted);
        if let ParagraphState::Words { line, .. } = self.paragraph
            && line < number
            && same_place
            && near
            && let Some(level) = parse_underline(rest)
        {
            return (self.underline(rest, level, line), self.containers.len());
        }
        let continues = same_place && self.paragraph != ParagraphState::None;
        let interrupts = |rest: &str| match marker(rest) {
            Some((width, number)) => {
                !(continues && (number.is_some_and(|n| n != 1) || rest[width..].trim().is_empty()))
            }
            None => false,
        };
        let begins_item = near && matched < MAX_DEPTH && !is_rule(rest) && interrupts(rest);
        let begins_block = near
            && (begins_item
                || quoted
                || is_rule(rest)
                || parse_fence(rest).is_some()
                || parse_atx_heading(rest).is_some()
                || rest.starts_with("<!--")
                || parse_html(rest, true).is_some());
        if !same_place && !begins_block && self.in_paragraph() {
            return (LineKind::Text { lazy: true }, self.containers.len());
        }
        if !same_place || begins_item {
            (self.paragraph, self.in_table, self.quote) = (ParagraphState::None, false, None);
        }
        self.containers.truncate(matched);
        let item = if begins_item { Some(self.enter_items(text, column, rest)) } else { None };
        let (leaf, leaf_near) = match &item {
            Some((_, leaf, leaf_near)) => (*leaf, *leaf_near),
            None => (rest, near),
        };
        let kind = self.leaf(leaf, leaf_near, number);
        (item.map_or(kind, |(item, _, _)| item), self.containers.len())
    }

    /// True if text without a marker would continue a paragraph.
    fn in_paragraph(&self) -> bool {
        self.paragraph != ParagraphState::None
            || self.quote.as_ref().is_some_and(|quote| quote.in_paragraph())
    }

    fn begins_quote(&self, text: &str) -> bool {
        text.starts_with('>') && self.quotes < MAX_DEPTH
    }

    /// Ends the heading that began at `line`. Headings in lists stay words.
    fn underline<'a>(&mut self, rest: &str, level: u8, line: usize) -> LineKind<'a> {
        self.paragraph = ParagraphState::None;
        self.heading_line = line;
        match self.containers.is_empty() {
            true => LineKind::HeadingContinuation { level },
            false if is_rule(rest) => LineKind::Rule,
            false => LineKind::Text { lazy: false },
        }
    }

    /// The role of a line inside of an open fence, comment or HTML block. A list item that ends also ends its
    /// open block.
    fn line_in_open_block<'a>(&mut self, column: usize, rest: &str) -> Option<LineKind<'a>> {
        let base = self.containers.last().copied().unwrap_or(0);
        let outside = !rest.is_empty() && column < base;
        if self.in_html {
            self.in_html = !outside && !rest.is_empty();
            return self.in_html.then_some(LineKind::Text { lazy: false });
        }
        let open = self.open?;
        if outside {
            self.open = None;
            self.paragraph = ParagraphState::None;
            return None;
        }
        let (closed, kind) = match open {
            OpenBlock::Fence { mark, length, .. } => {
                (column < base + 4 && closes_fence(rest, mark, length), LineKind::Fence)
            }
            OpenBlock::Comment { .. } => (rest.contains("-->"), LineKind::Comment),
            OpenBlock::Html { .. } if rest.is_empty() => (false, LineKind::Blank),
            OpenBlock::Html { close, .. } => (closes_html(rest, close), LineKind::Text { lazy: false }),
        };
        if closed {
            self.open = None;
        }
        Some(kind)
    }

    /// Opens the items that `rest` begins. The outermost gives the line's role, the words behind the
    /// innermost are its content.
    fn enter_items<'a>(
        &mut self,
        text: &str,
        column: usize,
        rest: &'a str,
    ) -> (LineKind<'static>, &'a str, bool) {
        let depth = self.containers.len() + 1;
        let mut item = LineKind::Blank;
        let (mut column, mut leaf, mut near) = (column, rest, true);
        while near
            && self.containers.len() < MAX_DEPTH
            && let Some((width, _)) = marker(leaf).filter(|_| !is_rule(leaf))
        {
            let (next, after) = skip_indent(&leaf[width..], column + width);
            near = next <= column + width + 4;
            let offset = if after.is_empty() || !near { column + width + 1 } else { next };
            self.containers.push(offset);
            if item == LineKind::Blank {
                item = LineKind::Item { depth, content: text.len() - after.len(), offset };
            }
            (column, leaf) = (next, after);
        }
        self.empty_item = leaf.is_empty();
        (item, leaf, near)
    }

    fn leaf<'a>(&mut self, leaf: &'a str, near: bool, number: usize) -> LineKind<'a> {
        let before = std::mem::take(&mut self.paragraph);
        let in_table = std::mem::take(&mut self.in_table);
        let quote = self.quote.take();
        let continues = before != ParagraphState::None;
        if near {
            if self.begins_quote(leaf) {
                let quotes = self.quotes + 1;
                let mut quote = quote.unwrap_or_else(|| Box::new(Self { quotes, ..Self::default() }));
                quote.step(leaf[1..].strip_prefix([' ', '\t']).unwrap_or(&leaf[1..]), number);
                self.quote = Some(quote);
                return LineKind::Text { lazy: false };
            }
            if let Some((mark, length)) = parse_fence(leaf) {
                self.open = Some(OpenBlock::Fence { line: number, mark, length });
                return LineKind::Fence;
            }
            if leaf.starts_with("<!--") {
                if !leaf.contains("-->") {
                    self.open = Some(OpenBlock::Comment { line: number });
                }
                return LineKind::Comment;
            }
            if let Some(end) = parse_html(leaf, continues || in_table) {
                match end {
                    HtmlEnd::Blank => self.in_html = true,
                    HtmlEnd::Close(close) if closes_html(leaf, close) => {}
                    HtmlEnd::Close(close) => self.open = Some(OpenBlock::Html { line: number, close }),
                }
                return LineKind::Text { lazy: false };
            }
            if let Some((level, title)) = parse_atx_heading(leaf) {
                let top = self.containers.is_empty();
                return if top {
                    LineKind::Heading { level, title, underlined: false }
                } else {
                    LineKind::Text { lazy: false }
                };
            }
            if is_rule(leaf) {
                return LineKind::Rule;
            }
        }
        let first = match before {
            ParagraphState::Words { line, .. } => line,
            ParagraphState::None => number,
        };
        let is_header = leaf.starts_with('|') || first == number && leaf.contains('|');
        let words = ParagraphState::Words {
            line: if first == number && is_link_definition(leaf) { number + 1 } else { first },
            cells: if is_header { table_cells(leaf) } else { 0 },
        };
        match before {
            ParagraphState::Words { cells, .. } if near && delimited_cells(leaf) == Some(cells) => {
                self.in_table = true;
            }
            ParagraphState::Words { .. } => self.paragraph = words,
            ParagraphState::None if in_table && near => self.in_table = true,
            ParagraphState::None if leaf.is_empty() || !near => {}
            ParagraphState::None => self.paragraph = words,
        }
        LineKind::Text { lazy: false }
    }
}

//! The state between lines: open list items, fence, comment and paragraph.

use super::blocks::{
    closes_fence, is_rule, marker, parse_atx_heading, parse_fence, parse_underline, skip_indent,
};
use super::{LineKind, OpenBlock};

/// The maximum nesting depth of lists. It bounds the time for a line of a million markers.
const MAX_DEPTH: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ParagraphState {
    #[default]
    None,
    /// A paragraph outside of lists, quotes and tables, which an underline would make a heading.
    Top,
    Contained,
}

#[derive(Clone, Debug, Default)]
pub(super) struct LineWalker {
    /// The content columns of the open list items.
    pub(super) containers: Vec<usize>,
    pub(super) open: Option<OpenBlock>,
    paragraph: ParagraphState,
}

impl LineWalker {
    /// The role of the next line, and the number of list items that contain it.
    pub(super) fn step<'a>(&mut self, text: &'a str, number: usize) -> (LineKind<'a>, usize) {
        let (column, rest) = skip_indent(text, 0);
        if let Some(kind) = self.line_in_open_block(column, rest) {
            return (kind, self.containers.len());
        }
        if rest.is_empty() {
            self.paragraph = ParagraphState::None;
            return (LineKind::Blank, self.containers.len());
        }
        let matched = self.containers.iter().take_while(|offset| column >= **offset).count();
        let same_place = matched == self.containers.len();
        let base = matched.checked_sub(1).map_or(0, |last| self.containers[last]);
        if self.containers.is_empty()
            && self.paragraph == ParagraphState::Top
            && column < 4
            && let Some(level) = parse_underline(rest)
        {
            self.paragraph = ParagraphState::None;
            return (LineKind::Underline { level }, 0);
        }
        let interrupts = |rest: &str| match marker(rest) {
            Some((width, number)) => {
                let blocked = number.is_some_and(|n| n != 1) || rest[width..].trim().is_empty();
                !(same_place && self.paragraph != ParagraphState::None && blocked)
            }
            None => false,
        };
        let near = column - base < 4;
        let begins_item = near && matched < MAX_DEPTH && !is_rule(rest) && interrupts(rest);
        let begins_block = near
            && (begins_item
                || is_rule(rest)
                || parse_fence(rest).is_some()
                || parse_atx_heading(rest).is_some()
                || rest.starts_with("<!--"));
        if !same_place && !begins_block && self.paragraph != ParagraphState::None {
            return (LineKind::Text { lazy: true }, self.containers.len());
        }
        self.containers.truncate(matched);
        let item = if begins_item { Some(self.enter_items(text, column, rest)) } else { None };
        let (leaf, leaf_near) = match &item {
            Some((_, leaf, leaf_near)) => (*leaf, *leaf_near),
            None => (rest, near),
        };
        let continues = same_place && item.is_none() && self.paragraph != ParagraphState::None;
        let kind = self.leaf(leaf, leaf_near, continues, number);
        (item.map_or(kind, |(item, _, _)| item), self.containers.len())
    }

    /// The role of a line inside of an open fence or comment. A list item that ends also ends its open block.
    fn line_in_open_block<'a>(&mut self, column: usize, rest: &str) -> Option<LineKind<'a>> {
        let open = self.open?;
        let base = self.containers.last().copied().unwrap_or(0);
        if !rest.is_empty() && column < base {
            self.open = None;
            self.paragraph = ParagraphState::None;
            return None;
        }
        let (closed, kind) = match open {
            OpenBlock::Fence { mark, length, .. } => {
                (column < base + 4 && closes_fence(rest, mark, length), LineKind::Fence)
            }
            OpenBlock::Comment { .. } => (rest.contains("-->"), LineKind::Comment),
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
        (item, leaf, near)
    }

    fn leaf<'a>(&mut self, leaf: &'a str, near: bool, continues: bool, number: usize) -> LineKind<'a> {
        let before = std::mem::take(&mut self.paragraph);
        if near {
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
        self.paragraph = if continues {
            before
        } else if leaf.is_empty() || !near {
            ParagraphState::None
        } else if self.containers.is_empty() && !leaf.starts_with(['>', '|', '<']) {
            ParagraphState::Top
        } else {
            ParagraphState::Contained
        };
        LineKind::Text { lazy: false }
    }
}

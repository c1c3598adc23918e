//! The state at the end of a document, found piece by piece, so that appending does not need the document in
//! memory.

use super::walker::LineWalker;
use super::{LineKind, OpenBlock, most_common, split};

/// The state of the frontmatter block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FrontmatterState {
    /// Nothing was read yet.
    #[default]
    Unknown,
    /// It has begun. If it never ends, it is no frontmatter.
    Open,
    /// There is none, or it has ended.
    Over,
}

/// The state at the end of a document, as far as it was read.
#[derive(Clone, Debug)]
pub struct DocumentEnding {
    walker: LineWalker,
    head: FrontmatterState,
    lines: usize,
    endings: [(&'static str, usize); 3],
    /// The last line: true if blank, and true if it has a line end. `None` without a line.
    last: Option<(bool, bool)>,
    /// True if the last line ends in a lone `\r`.
    ends_in_return: bool,
}

impl Default for DocumentEnding {
    fn default() -> Self {
        let endings = [("\n", 0), ("\r\n", 0), ("\r", 0)];
        Self {
            walker: LineWalker::default(),
            head: FrontmatterState::default(),
            lines: 0,
            endings,
            last: None,
            ends_in_return: false,
        }
    }
}

impl DocumentEnding {
    /// Reads the next piece: whole lines that end in `\n`, or the last piece. Calls `each` with every line.
    pub fn read(&mut self, piece: &str, mut each: impl FnMut(&str)) {
        let is_first = self.lines == 0;
        for line in split(piece) {
            // Only a byte-order mark at the start of the document is not text.
            let text = if is_first { line.text } else { &piece[line.start..line.text_end()] };
            each(text);
            self.lines += 1;
            let is_edge = text.trim_end() == "---";
            let (kind, _) = self.walker.step(text, self.lines);
            let mut is_blank = kind == LineKind::Blank;
            match self.head {
                FrontmatterState::Unknown => {
                    self.head = if is_edge { FrontmatterState::Open } else { FrontmatterState::Over }
                }
                FrontmatterState::Open if is_edge => {
                    // It was frontmatter after all, so the walk starts anew behind it.
                    (self.walker, self.head, is_blank) =
                        (LineWalker::default(), FrontmatterState::Over, false);
                }
                FrontmatterState::Open | FrontmatterState::Over => {}
            }
            if let Some(count) = self.endings.iter_mut().find(|(ending, _)| *ending == line.ending) {
                count.1 += 1;
            }
            self.ends_in_return = line.ending == "\r";
            self.last = Some((is_blank, !line.ending.is_empty() || text.is_empty()));
        }
    }

    /// The number of lines read.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// True if appended text would begin a new line.
    pub fn is_ended(&self) -> bool {
        self.last.is_none_or(|(_, ended)| ended)
    }

    /// True if an appended line end would become one with the last: `\r` and `\n` make `\r\n`.
    pub(crate) fn would_merge(&self) -> bool {
        self.ends_in_return && self.newline() == "\n"
    }

    /// True if the last line is blank, or there is none.
    pub fn is_blank(&self) -> bool {
        self.last.is_none_or(|(blank, _)| blank)
    }

    /// An unclosed block outside of lists.
    pub fn open(&self) -> Option<OpenBlock> {
        self.walker.open.filter(|_| self.walker.containers.is_empty())
    }

    /// The most frequent line ending; `\n` by default.
    pub fn newline(&self) -> &'static str {
        most_common(&self.endings)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::document;
    use super::super::{newline_of, parse_lines};
    use super::*;

    proptest! {
        #[test]
        fn the_end_is_the_same_however_it_is_read(text in document(), size in 1_usize..40) {
            let mut ending = DocumentEnding::default();
            let mut lines = 0;
            let mut piece = String::new();
            for line in text.split_inclusive('\n') {
                piece.push_str(line);
                if piece.len() >= size && piece.ends_with('\n') {
                    ending.read(&std::mem::take(&mut piece), |_| lines += 1);
                }
            }
            ending.read(&piece, |_| lines += 1);
            let walked = parse_lines(&text);
            let last = walked.lines.last();
            prop_assert_eq!((ending.lines(), lines), (walked.lines.len(), walked.lines.len()));
            prop_assert_eq!(ending.open(), walked.open);
            prop_assert_eq!(ending.newline(), newline_of(&text));
            prop_assert_eq!(ending.is_blank(), last.is_none_or(crate::vault::lines::MarkdownLine::is_blank));
            let unended = last.is_some_and(|line| line.ending.is_empty() && !line.text.is_empty());
            prop_assert_eq!(ending.is_ended(), !unended);
        }
    }
}

//! The state of a log needed for appending: its ending, and the keys that it may contain.

use std::collections::HashSet;

use super::render::{DEDUPE, render};
use super::{LogSection, comment};
use crate::base::hash::checksum;
use crate::vault::lines::DocumentEnding;

/// A log, read in pieces without keeping the text.
#[derive(Clone, Debug, Default)]
pub struct LogTail {
    ending: DocumentEnding,
    /// Checksums of the sections' keys.
    keys: HashSet<u64>,
}

impl LogTail {
    /// Reads a complete log.
    pub fn from_log(text: &str) -> Self {
        let mut tail = Self::default();
        tail.read(text);
        tail
    }

    /// Reads the next piece: whole lines that end in `\n`, or the last piece.
    pub fn read(&mut self, piece: &str) {
        let keys = &mut self.keys;
        self.ending.read(piece, |line| {
            let pairs = line.starts_with("<!--").then(|| comment::parse(line)).flatten().unwrap_or_default();
            keys.extend(comment::value(&pairs, DEDUPE).map(|key| checksum(key.as_bytes())));
        });
    }

    /// The number of lines read.
    pub fn lines(&self) -> usize {
        self.ending.lines()
    }

    /// True if appended text would begin a new line, so that it can be read as the next piece.
    pub fn is_ended(&self) -> bool {
        self.ending.is_ended()
    }

    /// True if the log may contain a section with this key. `false` is certain; [`super::contains_key`]
    /// decides the rest.
    pub fn may_contain_key(&self, dedupe_key: &str) -> bool {
        self.keys.contains(&checksum(dedupe_key.as_bytes()))
    }

    /// The text to append so that the log contains `section` (LOG-01).
    ///
    /// An unclosed code block or comment would hide the section, so it is closed first. The log accepts a
    /// section even then, because it is the store of last resort (LOG-07).
    pub fn render_addition(&self, section: &LogSection) -> String {
        let mut block = String::new();
        if !self.ending.is_ended() {
            block.push('\n');
        }
        let open = self.ending.open();
        if let Some(open) = open {
            block.push_str(&open.closing_line());
            block.push('\n');
        }
        if !self.ending.is_blank() || open.is_some() {
            block.push('\n');
        }
        block.push_str(&render(section));
        if block.starts_with('\n') && self.ending.would_merge() {
            block.insert(0, '\n');
        }
        block.replace('\n', self.ending.newline())
    }
}

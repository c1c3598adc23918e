//! What has to be known of a log to add to it: how it ends, and which keys it may have.

use std::collections::HashSet;

use super::render::{DEDUPE, render};
use super::{Section, comment};
use crate::base::hash::checksum;
use crate::vault::lines::Ending;

/// A log, read piece by piece and not kept.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    ending: Ending,
    /// Sums of the keys of its sections.
    keys: HashSet<u64>,
}

impl Tail {
    /// Of a whole log.
    pub fn of(text: &str) -> Self {
        let mut tail = Self::default();
        tail.read(text);
        tail
    }

    /// The next piece: whole lines that end in `\n`, or the last piece of all.
    pub fn read(&mut self, piece: &str) {
        let keys = &mut self.keys;
        self.ending.read(piece, |line| {
            let pairs = line.starts_with("<!--").then(|| comment::parse(line)).flatten().unwrap_or_default();
            keys.extend(comment::value(&pairs, DEDUPE).map(|key| checksum(key.as_bytes())));
        });
    }

    /// How many lines it has.
    pub fn lines(&self) -> usize {
        self.ending.lines()
    }

    /// Whether what is added begins a line of its own, so that it can be read as the next piece.
    pub fn is_ended(&self) -> bool {
        self.ending.is_ended()
    }

    /// Whether a section with this key may be in it. `false` is certain; see [`super::contains_key`] for the rest.
    pub fn may_contain_key(&self, dedupe_key: &str) -> bool {
        self.keys.contains(&checksum(dedupe_key.as_bytes()))
    }

    /// What is written behind everything the log has, for it to have `section` (LOG-01).
    ///
    /// A code block or comment that somebody left open would hide the section, so it is closed first. The log takes
    /// what it is given even then: it is the store of last resort (LOG-07).
    pub fn addition(&self, section: &Section) -> String {
        let mut block = String::new();
        if !self.ending.is_ended() {
            block.push('\n');
        }
        let open = self.ending.open();
        if let Some(open) = open {
            block.push_str(&open.closer());
            block.push('\n');
        }
        if !self.ending.is_blank() || open.is_some() {
            block.push('\n');
        }
        block.push_str(&render(section));
        block.replace('\n', self.ending.newline())
    }
}

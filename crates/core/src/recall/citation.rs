//! Citations: the messages that memories come from, and the messages that a memory replaces in results.

use std::collections::HashMap;

use super::document::Document;
use crate::base::hash::ContentHash;

/// A message is longer than its statement if it has more than this many times the statement's characters.
const MOST_BESIDE: usize = 3;
/// The number of hex digits of a hash; about one message in billions collides.
const DIGITS: usize = 16;
const SUPERSEDED: &str = "superseded";

/// A message that an entry cites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    key: String,
    covers: Covers,
}

/// The part of a message that its entry covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Covers {
    /// A statement of this many characters.
    Statement(usize),
    /// The entry superseded something in the message.
    Superseded,
}

impl Citation {
    /// Cites a message that contains a statement of `chars` characters.
    pub fn of_statement(session: &str, message: &str, chars: usize) -> Self {
        Self { key: key(session, message), covers: Covers::Statement(chars) }
    }

    /// Cites a message whose statement was superseded.
    pub fn superseded(session: &str, message: &str) -> Self {
        Self { key: key(session, message), covers: Covers::Superseded }
    }

    /// Renders the citation as a line that [`Cited::parse`] reads.
    pub fn line(&self) -> String {
        match self.covers {
            Covers::Statement(chars) => format!("{} {chars}\n", self.key),
            Covers::Superseded => format!("{} {SUPERSEDED}\n", self.key),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let (key, covers) = line.split_once(' ')?;
        let covers = match covers {
            SUPERSEDED => Covers::Superseded,
            chars => Covers::Statement(chars.parse().ok()?),
        };
        Some(Self { key: key.to_owned(), covers })
    }
}

fn key(session: &str, message: &str) -> String {
    ContentHash::of_parts(&[session.as_bytes(), message.as_bytes()]).short_hex(DIGITS)
}

/// All citations, by message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cited {
    covers: HashMap<String, Covers>,
}

impl Cited {
    /// Parses one citation per line. Damaged lines are skipped; the only cost is a repeated result.
    pub fn parse(text: &str) -> Self {
        let mut cited = Self::default();
        for Citation { key, covers } in text.lines().filter_map(Citation::parse) {
            let known = cited.covers.entry(key).or_insert(covers);
            *known = match (*known, covers) {
                (Covers::Statement(one), Covers::Statement(other)) => Covers::Statement(one.max(other)),
                _ => Covers::Superseded,
            };
        }
        cited
    }

    /// True if an entry covers the message or superseded it.
    pub fn stands_for(&self, message: &Document) -> bool {
        let (Some(session), Some((_, id))) = (&message.thread, message.id.split_once('#')) else {
            return false;
        };
        match self.covers.get(&key(session, id)) {
            Some(Covers::Superseded) => true,
            Some(Covers::Statement(chars)) => message.text.chars().count() <= chars * MOST_BESIDE,
            None => false,
        }
    }
}

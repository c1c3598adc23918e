//! Citations: the messages that memories were made from, and which messages a memory stands for.

use std::collections::HashMap;

use super::document::Document;
use crate::base::hash::ContentHash;

/// A message with more text than this many times its statement says more than the statement.
const MOST_BESIDE: usize = 3;
/// Hex digits of a hash: one message in billions shares them with another.
const DIGITS: usize = 16;
const SUPERSEDED: &str = "superseded";

/// One message that an entry cites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    key: String,
    covers: Covers,
}

/// How much of a message its entry stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Covers {
    /// A statement of so many characters.
    Statement(usize),
    /// Something in it does not hold any more.
    Superseded,
}

impl Citation {
    /// A message that holds a statement of `chars` characters.
    pub fn of_statement(session: &str, message: &str, chars: usize) -> Self {
        Self { key: key(session, message), covers: Covers::Statement(chars) }
    }

    /// A message whose statement was superseded.
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
    ContentHash::of_parts(&[session.as_bytes(), message.as_bytes()]).short(DIGITS)
}

/// All citations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cited {
    covers: HashMap<String, Covers>,
}

impl Cited {
    /// Parses one citation a line. Lines that are torn are left out, which only costs repetition.
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

    /// Whether an entry says what a message says, or says that it does not hold any more.
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

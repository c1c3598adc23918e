//! Messages that entries were made from, by the hash of session and message id.
//!
//! Recall shows the entry. The raw message beside it would say the same twice, and once the entry has a new value the
//! message still has the old one (REC-10). Everything here follows from the frontmatter of the entries and of their
//! archived versions, so `reindex --all` can write it again.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::recall::document::Document;

use crate::disk;

const FILE: &str = "cited";
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

    fn line(&self) -> String {
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
    /// Those of an archive; none if the file is missing or unreadable, which only costs repetition.
    pub(super) fn read(archive: &Path) -> Self {
        let text = std::fs::read_to_string(archive.join(FILE)).unwrap_or_default();
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

/// Adds citations.
pub(super) fn append(archive: &Path, citations: &[Citation]) -> io::Result<()> {
    if citations.is_empty() {
        return Ok(());
    }
    disk::make_folder(archive)?;
    let lines: String = citations.iter().map(Citation::line).collect();
    disk::Lines::open(&archive.join(FILE))?.append(&lines, false)
}

/// Puts these citations in the place of all others.
pub(super) fn replace(archive: &Path, citations: &[Citation]) -> io::Result<()> {
    disk::make_folder(archive)?;
    let lines: String = citations.iter().map(Citation::line).collect();
    disk::write_whole(&archive.join(FILE), lines.as_bytes())
}

#[cfg(test)]
mod tests {
    use rekindle_core::recall::document::Source;

    use super::*;

    fn message(id: &str, text: &str) -> Document {
        Document {
            id: format!("claude/s1#{id}"),
            thread: Some("s1".to_owned()),
            ..Document::plain(Source::Message, "messages/claude/s1.jsonl".to_owned(), text.to_owned())
        }
    }

    #[test]
    fn an_entry_stands_for_a_short_message_and_for_every_superseded_one() {
        let folder = tempfile::tempdir().unwrap();
        let (short, long) = ("no, staging is on 5433", "word ".repeat(100));
        let of = |id| Citation::of_statement("s1", id, 21);
        append(folder.path(), &[of("a"), of("b")]).unwrap();
        let cited = Cited::read(folder.path());
        assert!(cited.stands_for(&message("a", short)));
        assert!(!cited.stands_for(&message("b", &long)), "it says more than the entry");
        assert!(!cited.stands_for(&message("c", short)), "no entry cites it");

        append(folder.path(), &[Citation::superseded("s1", "b"), of("b")]).unwrap();
        assert!(Cited::read(folder.path()).stands_for(&message("b", &long)));

        replace(folder.path(), &[of("c")]).unwrap();
        let cited = Cited::read(folder.path());
        assert!(cited.stands_for(&message("c", short)) && !cited.stands_for(&message("a", short)));
        disk::write_whole(&folder.path().join(FILE), b"torn\nx y\n").unwrap();
        assert!(!Cited::read(folder.path()).stands_for(&message("c", short)));
    }
}

//! Tombstones of forgotten texts, so that no machine mines them again (B-08).
//!
//! A tombstone travels with the vault and must not contain the text. It has a salted hash of the text's
//! normal form, the memory's id and the ids of the source messages.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::base::hash::ContentHash;
use crate::base::id::EntryId;
use crate::base::time::{Timestamp, format_utc};
use crate::text::normalise::normalise;

/// One line of `_meta/tombstones.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// The version of this format.
    pub v: u32,
    /// The time of forgetting, ISO 8601.
    pub at: String,
    /// The id of the memory, if the text was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryId>,
    /// The salt: one random value per vault, so that a text is hashed once, not once per line.
    pub salt: String,
    /// The hash of salt and normal form.
    pub hash: ContentHash,
    /// The ids of the source messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
}

/// The salted hash of a text.
pub fn tombstone_hash(salt: &str, text: &str) -> ContentHash {
    ContentHash::of_parts(&[salt.as_bytes(), normalise(text).as_bytes()])
}

impl Tombstone {
    /// Creates a tombstone for `text`.
    pub fn new(at: Timestamp, salt: &str, text: &str, entry: Option<EntryId>, messages: Vec<String>) -> Self {
        Self {
            v: 1,
            at: format_utc(at),
            entry,
            salt: salt.to_owned(),
            hash: tombstone_hash(salt, text),
            messages,
        }
    }

    /// Renders the tombstone as one line.
    pub fn render(&self) -> String {
        // A struct of strings always serialises. An empty line would be skipped on reading.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

/// All tombstones of a vault, indexed for queries.
#[derive(Clone, Debug, Default)]
pub struct Graveyard {
    salts: Vec<String>,
    hashes: HashSet<ContentHash>,
    entries: HashSet<EntryId>,
    messages: HashSet<String>,
    /// The numbers (from 1) of unreadable lines. They stay in the file.
    pub broken: Vec<usize>,
}

impl Graveyard {
    /// Parses the file. Lines from newer versions count as far as they can be read.
    pub fn parse(text: &str) -> Self {
        let mut all = Self::default();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            match serde_json::from_str::<Tombstone>(line) {
                Ok(stone) => all.add(stone),
                Err(_) => all.broken.push(number + 1),
            }
        }
        all
    }

    fn add(&mut self, stone: Tombstone) {
        if !self.salts.contains(&stone.salt) {
            self.salts.push(stone.salt);
        }
        self.hashes.insert(stone.hash);
        self.entries.extend(stone.entry);
        self.messages.extend(stone.messages);
    }

    /// The salt for new tombstones of this vault.
    pub fn salt(&self) -> Option<&str> {
        self.salts.first().map(String::as_str)
    }

    /// True if nothing was ever forgotten here.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty() && self.entries.is_empty()
    }

    /// True if this memory was forgotten.
    pub fn holds_entry(&self, id: &EntryId) -> bool {
        self.entries.contains(id)
    }

    /// True if this text was forgotten, ignoring spacing, case and list markers.
    pub fn holds_text(&self, text: &str) -> bool {
        self.salts.iter().any(|salt| self.hashes.contains(&tombstone_hash(salt, text)))
    }

    /// True if the text of this message was forgotten.
    pub fn holds_message(&self, id: &str) -> bool {
        self.messages.contains(id)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_rendered_reads_back(
            text in any::<String>(), salt in "[0-9a-f]{8,32}", messages in prop::collection::vec(any::<String>(), 0..3),
            id in prop::option::of(any::<[u8; 8]>()),
        ) {
            let id = id.map(EntryId::new);
            let at = crate::base::time::parse("2026-11-15").unwrap();
            let stone = Tombstone::new(at, &salt, &text, id.clone(), messages.clone());
            let line = stone.render();
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert_eq!(&serde_json::from_str::<Tombstone>(&line).unwrap(), &stone);
            let yard = Graveyard::parse(&line);
            prop_assert!(yard.broken.is_empty() && yard.holds_text(&text));
            prop_assert!(id.iter().all(|id| yard.holds_entry(id)));
            prop_assert!(messages.iter().all(|message| yard.holds_message(message)));
        }
    }

    #[test]
    fn b_08_a_forgotten_text_is_known_in_any_dress_and_its_words_are_not_kept() {
        let stone = Tombstone::new(
            crate::base::time::parse("2026-11-15").unwrap(),
            "salt",
            "The staging host is  Hermes.",
            Some(EntryId::new([1; 8])),
            vec!["msg-1".into()],
        );
        let file = stone.render() + "{broken\n" + &stone.render();
        assert!(!file.to_lowercase().contains("hermes"));
        let yard = Graveyard::parse(&file);
        assert!(yard.holds_text("* the staging host is **hermes**"));
        assert!(!yard.holds_text("the staging host is zeus"));
        assert!(yard.holds_entry(&EntryId::new([1; 8])) && yard.holds_message("msg-1"));
        assert_eq!((yard.salt(), yard.broken.as_slice()), (Some("salt"), [2].as_slice()));
    }
}

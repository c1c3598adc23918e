//! Generated ids. Randomness comes in as bytes.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::base::id_match::MIN_ID_CHARS;

/// Crockford's base-32 alphabet in lower case, without I, L, O and U: safe to read aloud and to type.
const CROCKFORD_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

fn base32(value: u128, digits: u32) -> String {
    (0..digits).rev().map(|i| char::from(CROCKFORD_ALPHABET[((value >> (5 * i)) & 31) as usize])).collect()
}

/// The id of an observation in a vector collection (STO-07): the version 5 UUID of its dedupe key, so that
/// storing the same observation again replaces it.
pub fn point_id(dedupe_key: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_URL, dedupe_key.as_bytes()).to_string()
}

/// The id of one memory: `m-` and twelve characters. A new version of a memory gets a new id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(String);

impl EntryId {
    /// Makes an id from eight random bytes.
    pub fn new(random: [u8; 8]) -> Self {
        Self(format!("m-{}", base32(u128::from(u64::from_le_bytes(random)), 12)))
    }

    /// Parses an id found in an entry. `None` if the text is not a valid id.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("m-")?;
        let ours = digits.len() == 12 && digits.bytes().all(|b| CROCKFORD_ALPHABET.contains(&b));
        ours.then(|| Self(text.to_owned()))
    }

    /// The id as text, with its prefix.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The id of one change to the vault: a ULID, so ids sort by time (EXE-10 describes the shape).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChangeId(String);

impl ChangeId {
    /// Makes an id for a change at `at`; ten random bytes make it unique.
    pub fn new(at: Timestamp, random: [u8; 10]) -> Self {
        let millis = u128::try_from(at.as_millisecond()).unwrap_or(0) & ((1 << 48) - 1);
        let noise = random.iter().fold(0u128, |sum, byte| (sum << 8) | u128::from(*byte));
        Self(base32((millis << 80) | noise, 26).to_uppercase())
    }

    /// The id as text, 26 characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses an id that was written down. `None` if the text is not a valid id.
    pub fn parse(text: &str) -> Option<Self> {
        let ours =
            text.len() == 26 && text.bytes().all(|b| CROCKFORD_ALPHABET.contains(&b.to_ascii_lowercase()));
        ours.then(|| Self(text.to_owned()))
    }

    /// The time of the change, to the millisecond.
    pub fn created_at(&self) -> Option<Timestamp> {
        const TIME_DIGITS: usize = 10;
        let digit = |byte: u8| CROCKFORD_ALPHABET.iter().position(|ours| *ours == byte.to_ascii_lowercase());
        let digits = self.0.bytes().take(TIME_DIGITS).map(digit);
        let millis =
            digits.into_iter().try_fold(0i64, |sum, digit| Some((sum << 5) | i64::try_from(digit?).ok()?));
        Timestamp::from_millisecond(millis?).ok()
    }

    /// True if `typed` names this change: the whole id, its end, or the start of the tail that listings show.
    /// A prefix of the whole id does not count, because it encodes the time and recent changes share it.
    pub fn matches(&self, typed: &str) -> bool {
        let typed = typed.to_uppercase();
        typed.len() >= MIN_ID_CHARS && (self.0.ends_with(&typed) || self.short_id().starts_with(&typed))
    }

    /// The last eight characters, as listings show them.
    pub fn short_id(&self) -> &str {
        self.0.get(self.0.len().saturating_sub(8)..).unwrap_or(&self.0)
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_ids_read_back_and_foreign_ones_do_not() {
        let id = EntryId::new([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(EntryId::parse(id.as_str()), Some(id));
        assert_eq!(EntryId::parse("m-short"), None);
        assert_eq!(EntryId::parse("m-00000000000U"), None);
    }

    #[test]
    fn sto_07_a_point_id_is_the_uuid_of_its_key() {
        // The same values as Python's `uuid.uuid5(uuid.NAMESPACE_URL, key)`.
        assert_eq!(point_id("https://example.com/"), "dd2c1780-811a-5296-81c5-178a0ef488bc");
        assert_eq!(point_id("session-1:shutdown"), "e345bad2-d704-5149-92ea-e9cccb094bc9");
    }

    #[test]
    fn exe_10_change_ids_sort_by_time_and_match_by_their_tail() {
        let early = ChangeId::new("2026-01-01T00:00:00Z".parse().unwrap(), [255; 10]);
        let late = ChangeId::new("2026-01-01T00:00:00.001Z".parse().unwrap(), [0; 10]);
        assert!(early < late);
        assert_eq!(early.as_str().len(), 26);
        assert_eq!(late.created_at(), Some("2026-01-01T00:00:00.001Z".parse().unwrap()));
        assert!(early.matches(early.short_id()) && early.matches(early.as_str()));
        assert!(early.matches(&early.short_id().to_lowercase()));
        assert!(early.matches(&early.short_id()[..4]), "the beginning of what is shown");
        assert!(!early.matches("zzz"));
    }
}

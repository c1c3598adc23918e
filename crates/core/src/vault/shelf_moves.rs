//! Moves a note to another shelf: changes only the properties for that, and keeps the body byte for byte.

use super::frontmatter::{Error, ParsedNote};
use super::layout::EntryGroup;
use crate::base::time::{Timestamp, iso};

/// The number of notes in the inbox above which a reminder is due (SID-08).
pub const MAX_INBOX_ENTRIES: usize = 50;

/// The status of a discarded inbox note.
pub const DROPPED_STATUS: &str = "dropped";
/// The status of an archived idea.
pub const ARCHIVED_STATUS: &str = "archived";

/// The text of an inbox note that the person keeps: active and reviewed. `kind` only if the person changes
/// it.
pub fn kept(old: &str, kind: Option<&str>, always_load: bool, at: Timestamp) -> Result<String, Error> {
    let at = iso(at);
    let mut changes = vec![("status", "active"), ("reviewed", at.as_str())];
    changes.extend(kind.map(|kind| ("kind", kind)));
    if always_load {
        changes.push(("always_load", "true"));
    }
    with(old, &changes)
}

/// The text of a discarded inbox note, for the archive.
pub fn dropped(old: &str) -> Result<String, Error> {
    with(old, &[("status", DROPPED_STATUS)])
}

/// The index page of an idea that became a project (IDEA-05).
pub fn promoted(old: &str, at: Timestamp) -> Result<String, Error> {
    let group = EntryGroup::PersonalProjects.word();
    with(old, &[("status", "active"), ("group", group), ("reviewed", &iso(at))])
}

/// The index page of an idea that the person keeps in the incubator (IDEA-06).
pub fn looked_at(old: &str, at: Timestamp) -> Result<String, Error> {
    with(old, &[("reviewed", &iso(at))])
}

/// The index page of an archived idea (IDEA-06).
pub fn archived(old: &str) -> Result<String, Error> {
    with(old, &[("status", ARCHIVED_STATUS)])
}

/// Sets properties of `old`. Those that have the value already are not touched, however they are written.
fn with(old: &str, changes: &[(&str, &str)]) -> Result<String, Error> {
    let note = ParsedNote::parse(old)?;
    let needed: Vec<(&str, Option<&str>)> = changes
        .iter()
        .filter(|(key, value)| note.text_of(key) != Some(value))
        .map(|(key, value)| (*key, Some(*value)))
        .collect();
    if needed.is_empty() {
        return Ok(old.to_owned());
    }
    // Write a boolean without quotes, which would make it a string for other programs.
    let head = note.head_with(&needed)?.replace("always_load: \"true\"", "always_load: true");
    Ok(head + note.body())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::time::parse;

    const INBOXED: &str =
        "---\r\nkind: \"fix\" # mine\r\nmine: [1, 2]\r\nstatus: active\r\n---\r\n\r\nText  \r\nno newline";

    fn at() -> Timestamp {
        parse("2026-11-15T02:13:08Z").unwrap()
    }

    #[test]
    fn what_is_kept_changes_only_where_it_stands() {
        assert_eq!(
            kept(INBOXED, None, false, at()).unwrap(),
            INBOXED.replace("active\r\n", "active\r\nreviewed: 2026-11-15T02:13:08Z\r\n")
        );
        let always = kept(INBOXED, Some("rule"), true, at()).unwrap();
        let note = ParsedNote::parse(&always).unwrap();
        assert_eq!(
            (note.text_of("kind"), note.text_of("scope")),
            (Some("rule"), None),
            "it stays where it holds"
        );
        assert_eq!(note.text_of("always_load"), Some("true"));
        assert!(always.contains("\r\nalways_load: true\r\n"), "{always}");
        assert_eq!(dropped(INBOXED).unwrap(), INBOXED.replace("active", "dropped"));
        assert_eq!(archived(&archived(INBOXED).unwrap()).unwrap(), archived(INBOXED).unwrap());
    }

    #[test]
    fn a_note_without_properties_gets_them() {
        let kept = kept("Typed by hand.\n", Some("fix"), false, at()).unwrap();
        assert_eq!(
            kept,
            "---\nstatus: active\nreviewed: 2026-11-15T02:13:08Z\nkind: fix\n---\nTyped by hand.\n"
        );
        assert!(dropped("---\nnever: closed\n").is_err());
    }

    proptest! {
        #[test]
        fn the_body_stays_byte_for_byte(body in any::<String>(), mine in "[a-z ]{0,12}", always in any::<bool>()) {
            let old = format!("---\nmine: {}\n---\n{body}", crate::vault::frontmatter::scalar(&mine));
            let before = ParsedNote::parse(&old).unwrap();
            for new in [
                kept(&old, Some("rule"), always, at()), dropped(&old), promoted(&old, at()), archived(&old),
                looked_at(&old, at()),
            ] {
                let new = new.unwrap();
                let after = ParsedNote::parse(&new).unwrap();
                prop_assert_eq!(after.body(), before.body());
                prop_assert_eq!(after.get("mine"), before.get("mine"));
            }
        }
    }
}

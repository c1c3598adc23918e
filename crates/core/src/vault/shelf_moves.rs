//! Moves a note to another shelf: changes only the properties for that, and keeps the body byte for byte.

use super::frontmatter::{Error, ParsedNote};
use super::layout::EntryGroup;
use crate::base::time::{Timestamp, format_utc};

/// The number of notes in the inbox above which a reminder is due (SID-08).
pub const MAX_INBOX_ENTRIES: usize = 50;

/// The status of a discarded inbox note.
pub const DROPPED_STATUS: &str = "dropped";
/// The status of an archived idea.
pub const ARCHIVED_STATUS: &str = "archived";

/// The text of an inbox note that the person keeps: active and reviewed. `kind` only if the person changes
/// it.
pub fn keep_note(old: &str, kind: Option<&str>, always_load: bool, at: Timestamp) -> Result<String, Error> {
    let at = format_utc(at);
    let mut changes = vec![("status", "active"), ("reviewed", at.as_str())];
    changes.extend(kind.map(|kind| ("kind", kind)));
    if always_load {
        changes.push(("always_load", "true"));
    }
    with_properties(old, &changes)
}

/// The text of a discarded inbox note, for the archive.
pub fn drop_note(old: &str) -> Result<String, Error> {
    with_properties(old, &[("status", DROPPED_STATUS)])
}

/// The index page of an idea that became a project (IDEA-05).
pub fn promote_idea_page(old: &str, at: Timestamp) -> Result<String, Error> {
    let group = EntryGroup::PersonalProjects.folder_name();
    with_properties(old, &[("status", "active"), ("group", group), ("reviewed", &format_utc(at))])
}

/// The index page of an idea that the person keeps in the incubator (IDEA-06).
pub fn keep_idea_page(old: &str, at: Timestamp) -> Result<String, Error> {
    with_properties(old, &[("reviewed", &format_utc(at))])
}

/// The index page of an archived idea (IDEA-06).
pub fn archive_idea_page(old: &str) -> Result<String, Error> {
    with_properties(old, &[("status", ARCHIVED_STATUS)])
}

/// Sets properties of `old`. Those that have the value already are not touched, however they are written.
fn with_properties(old: &str, changes: &[(&str, &str)]) -> Result<String, Error> {
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
            keep_note(INBOXED, None, false, at()).unwrap(),
            INBOXED.replace("active\r\n", "active\r\nreviewed: 2026-11-15T02:13:08Z\r\n")
        );
        let always = keep_note(INBOXED, Some("rule"), true, at()).unwrap();
        let note = ParsedNote::parse(&always).unwrap();
        assert_eq!(
            (note.text_of("kind"), note.text_of("scope")),
            (Some("rule"), None),
            "it stays where it holds"
        );
        assert_eq!(note.text_of("always_load"), Some("true"));
        assert!(always.contains("\r\nalways_load: true\r\n"), "{always}");
        assert_eq!(drop_note(INBOXED).unwrap(), INBOXED.replace("active", "dropped"));
        assert_eq!(
            archive_idea_page(&archive_idea_page(INBOXED).unwrap()).unwrap(),
            archive_idea_page(INBOXED).unwrap()
        );
    }

    #[test]
    fn a_note_without_properties_gets_them() {
        let kept = keep_note("Typed by hand.\n", Some("fix"), false, at()).unwrap();
        assert_eq!(
            kept,
            "---\nstatus: active\nreviewed: 2026-11-15T02:13:08Z\nkind: fix\n---\nTyped by hand.\n"
        );
        assert!(drop_note("---\nnever: closed\n").is_err());
    }

    proptest! {
        #[test]
        fn the_body_stays_byte_for_byte(body in any::<String>(), mine in "[a-z ]{0,12}", always in any::<bool>()) {
            let old = format!("---\nmine: {}\n---\n{body}", crate::vault::frontmatter::render_scalar(&mine));
            let before = ParsedNote::parse(&old).unwrap();
            for new in [
                keep_note(&old, Some("rule"), always, at()), drop_note(&old), promote_idea_page(&old, at()), archive_idea_page(&old),
                keep_idea_page(&old, at()),
            ] {
                let new = new.unwrap();
                let after = ParsedNote::parse(&new).unwrap();
                prop_assert_eq!(after.body(), before.body());
                prop_assert_eq!(after.get("mine"), before.get("mine"));
            }
        }
    }
}

//! Tests with damaged files of the message archive and index.

use std::collections::BTreeSet;

use super::*;
use rekindle_testkit::damage::{damage, intact_lines};

const SESSIONS: [&str; 3] = ["a", "b", "c"];

fn said(of: &str) -> Vec<Message> {
    let text = |number: usize| format!("harbour {number} of {of} has a crane");
    (0..6).map(|number| message(&number.to_string(), MessageRole::User, &text(number))).collect()
}

fn id(of: &str, number: usize) -> String {
    format!("claude/{of}#{number}")
}

/// Builds an archive of a few sessions, each in a segment of its own.
fn kept() -> (tempfile::TempDir, MessageStore) {
    let (folder, messages) = empty();
    for of in SESSIONS {
        assert_eq!(add(&messages, &session(of), &said(of)), 6);
    }
    (folder, messages)
}

fn update(messages: &MessageStore) {
    messages.update(&mut |_, _| {}).unwrap();
}

/// The ids in the index.
fn ids(messages: &MessageStore) -> BTreeSet<String> {
    let snapshot = messages.open().unwrap().unwrap();
    (0..snapshot.len()).filter_map(|number| snapshot.document(number)).map(|document| document.id).collect()
}

/// The ids of all messages in these sessions.
fn all_of(sessions: &[&str]) -> BTreeSet<String> {
    sessions.iter().flat_map(|of| (0..6).map(|number| id(of, number))).collect()
}

/// Reads everything, whatever state it is in.
fn look(messages: &MessageStore) {
    drop(messages.unindexed_sessions());
    if let Ok(Some(snapshot)) = messages.open() {
        for prompt in ["harbour crane", "harbour 3 of b", "nothing of the kind"] {
            find(&snapshot, None, prompt, None, &rules(None), &any(), 5);
        }
        (0..snapshot.len()).for_each(|number| drop(snapshot.document(number)));
    }
    drop(messages.files_with(&ErasureTarget::new(&["harbour 3 of b has a crane"])));
}

/// The files of the index.
fn index_files(messages: &MessageStore) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(messages.folder().join("index")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_none_or(|end| end != "lock"));
    files.sort();
    files
}

#[test]
fn each_session_has_a_segment_of_its_own() {
    let (_folder, messages) = kept();
    assert_eq!(index_files(&messages).len(), SESSIONS.len() + 1);
    assert_eq!(ids(&messages), all_of(&SESSIONS));
}

#[test]
fn b_08_a_forgotten_text_goes_from_a_damaged_line_too() {
    let (_folder, messages) = kept();
    let file = messages.folder().join("claude/b.jsonl");
    let mut bytes = std::fs::read(&file).unwrap();
    let third = bytes.windows(14).position(|part| part == b"harbour 3 of b").unwrap();
    // Put an invalid byte in front of the text to forget and in front of another message.
    bytes[third - 2] = 0xff;
    let fifth = bytes.windows(14).position(|part| part == b"harbour 5 of b").unwrap();
    bytes[fifth - 2] = 0xff;
    std::fs::write(&file, &bytes).unwrap();
    // Neither the exact text nor a variant of the same form may stay.
    for forgotten in ["harbour 3 of b has a crane", "Harbour **3** of `b` has a crane!"] {
        std::fs::write(&file, &bytes).unwrap();
        let target = ErasureTarget::new(&[forgotten]);
        assert_eq!(messages.files_with(&target).unwrap()[0], file, "{forgotten}");
        assert_eq!(messages.erase(&target).unwrap(), 1);
        assert!(messages.files_with(&target).unwrap().is_empty());
        let left = std::fs::read(&file).unwrap();
        assert_eq!(left.len(), bytes.len(), "what stands behind it has not moved");
        assert!(!left.windows(14).any(|part| part == b"harbour 3 of b"));
        assert!(left.windows(14).any(|part| part == b"harbour 5 of b"), "what was not meant stays");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Intact messages stay searchable, and other messages of the session can be appended again.
    #[test]
    fn b_14_damage_to_a_session_takes_no_other_message_away(damage in damage()) {
        let (_folder, messages) = kept();
        let file = messages.folder().join("claude/b.jsonl");
        let before = std::fs::read(&file).unwrap();
        let after = damage.to(&before);
        std::fs::write(&file, &after).unwrap();
        let mut whole = all_of(&["a", "c"]);
        whole.extend(intact_lines(&before, &after).into_iter().map(|number| id("b", number)));
        look(&messages);
        update(&messages);
        messages.rebuild(&mut |_, _| {}).unwrap();
        prop_assert!(ids(&messages).is_superset(&whole));
        add(&messages, &session("b"), &said("b"));
        prop_assert!(ids(&messages).is_superset(&all_of(&SESSIONS)));
        look(&messages);
    }

    #[test]
    fn b_14_any_bytes_in_the_place_of_a_session_are_passed_over(
        bytes in prop::collection::vec(proptest::arbitrary::any::<u8>(), 0..400),
    ) {
        let (_folder, messages) = kept();
        std::fs::write(messages.folder().join("claude/b.jsonl"), bytes).unwrap();
        look(&messages);
        messages.rebuild(&mut |_, _| {}).unwrap();
        prop_assert_eq!(ids(&messages), all_of(&["a", "c"]));
        prop_assert_eq!(add(&messages, &session("b"), &said("b")), 6);
        prop_assert_eq!(ids(&messages), all_of(&SESSIONS));
    }

    /// After any damage to the index, the next update rebuilds it from the archive.
    #[test]
    fn b_14_a_damaged_index_harms_nothing_and_is_mended(
        which in proptest::arbitrary::any::<prop::sample::Index>(), damage in damage(),
    ) {
        let (_folder, messages) = kept();
        let files = index_files(&messages);
        let file = &files[which.index(files.len())];
        let bytes = damage.to(&std::fs::read(file).unwrap());
        std::fs::write(file, bytes).unwrap();
        look(&messages);
        update(&messages);
        prop_assert_eq!(ids(&messages), all_of(&SESSIONS));
    }

    #[test]
    fn b_14_any_bytes_in_the_index_are_made_again(
        which in proptest::arbitrary::any::<prop::sample::Index>(),
        bytes in prop::collection::vec(proptest::arbitrary::any::<u8>(), 0..400),
    ) {
        let (_folder, messages) = kept();
        let files = index_files(&messages);
        std::fs::write(&files[which.index(files.len())], bytes).unwrap();
        look(&messages);
        update(&messages);
        prop_assert_eq!(ids(&messages), all_of(&SESSIONS));
    }
}

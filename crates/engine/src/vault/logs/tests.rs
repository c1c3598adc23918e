#![expect(
    clippy::disallowed_methods,
    reason = "a person's editor writes as it likes, and a crash leaves what it likes"
)]

use std::fs;

use rekindle_core::base::time::{TimeZone, Timestamp};
use rekindle_core::vault::daily_log::{LoggedHandoff, SectionSource};
use rekindle_core::vault::journal::FileOperation;

use super::*;
use crate::ops::forget::ForgetRequest;
use crate::test_notes::TestNotes;

struct LogsFixture {
    notes: TestNotes,
}

impl LogsFixture {
    fn new() -> Self {
        Self { notes: TestNotes::new() }
    }

    /// A second process, without cached state.
    fn other(&self) -> Vault {
        Vault::open(&self.notes.places).unwrap().in_zone(TimeZone::UTC)
    }

    fn file(&self) -> PathBuf {
        self.notes.places.vault().join("memory/2026-11-15.md")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn add(&self, key: &str) -> bool {
        self.notes.vault.log_once(&handoff(key), ChangeActor::Worker, &now()).unwrap().is_some()
    }

    fn newest_op(&self) -> FileOperation {
        self.notes.vault.changes().unwrap().next().unwrap().unwrap().change.ops.remove(0)
    }
}

fn now() -> Zoned {
    "2026-11-15T02:13:08Z".parse::<Timestamp>().unwrap().to_zoned(TimeZone::UTC)
}

fn handoff(key: &str) -> LogSection {
    let source = SectionSource { dedupe_key: Some(key.to_owned()), ..SectionSource::default() };
    let text = format!("Go on with {key}.");
    LogSection::Handoff(LoggedHandoff { source, time: "10:30".parse().unwrap(), text })
}

/// The expected log, built in memory.
fn made(keys: &[&str]) -> String {
    keys.iter().fold(daily_log::render_new(now().date()), |text, key| daily_log::append(&text, &handoff(key)))
}

#[test]
fn log_01_a_section_is_added_in_the_files_place_and_log_06_once() {
    let ground = LogsFixture::new();
    assert!(ground.add("a"));
    let first = FileIdentity::from_metadata(&fs::metadata(ground.file()).unwrap());
    for key in ["b", "c", "d"] {
        assert!(ground.add(key) && !ground.add(key), "{key}");
        assert!(matches!(ground.newest_op(), FileOperation::Append { .. }));
        assert!(
            ground.other().log_once(&handoff(key), ChangeActor::Worker, &now()).unwrap().is_none(),
            "{key}"
        );
    }
    assert_eq!(ground.text(), made(&["a", "b", "c", "d"]));
    let last = FileIdentity::from_metadata(&fs::metadata(ground.file()).unwrap());
    assert!(last.is_same_file(&first), "it was replaced, not added to");
    // The cached state was updated, not read again, and equals a fresh read.
    let known = ground.notes.vault.logs.0.lock().unwrap()[0].clone();
    assert_eq!(known.identity, last);
    let again = read(&ground.file()).unwrap();
    assert_eq!((known.hashing.current(), known.tail.lines()), (again.hashing.current(), again.tail.lines()));
    assert_eq!(known.hashing.current(), ContentHash::of_bytes(ground.text().as_bytes()));
}

#[test]
fn log_06_a_key_of_yesterday_counts() {
    let ground = LogsFixture::new();
    assert!(ground.add("a"));
    let tomorrow = now().checked_add(jiff::Span::new().days(1)).unwrap();
    assert!(ground.notes.vault.log_once(&handoff("a"), ChangeActor::Worker, &tomorrow).unwrap().is_none());
    assert!(ground.notes.vault.log_once(&handoff("b"), ChangeActor::Worker, &tomorrow).unwrap().is_some());
}

#[test]
fn b_09_whatever_an_editor_did_meanwhile_stays_and_the_section_comes_behind_it() {
    let ground = LogsFixture::new();
    assert!(ground.add("a") && ground.add("b"));
    let in_place = |text: &str| fs::write(ground.file(), text).unwrap();
    let by_rename = |text: &str| {
        fs::write(ground.file().with_extension("new"), text).unwrap();
        fs::rename(ground.file().with_extension("new"), ground.file()).unwrap();
    };
    let mut expected = ground.text();
    for (number, end) in
        ["Mine.\n", "Without an end", "```\nopen\n", "<!-- open\n", "CRLF\r\n"].iter().enumerate()
    {
        for (save, how) in [(&in_place as &dyn Fn(&str), "place"), (&by_rename, "rename")] {
            expected = format!("Above {number}.\n{expected}{end}");
            save(&expected);
            let key = format!("{how}-{number}");
            assert!(ground.add(&key));
            expected = daily_log::append(&expected, &handoff(&key));
            assert_eq!(ground.text(), expected);
        }
    }
    // After the user removed a section, it may be added again.
    in_place(&ground.text().replace("dedupe=a ", ""));
    assert!(ground.add("a"));
}

#[test]
fn b_09_what_changed_since_it_was_looked_at_is_not_added_to() {
    let ground = LogsFixture::new();
    assert!(ground.add("a"));
    let place = ChangedFile::vault(layout::daily_log(now().date()));
    let mut writer = ground.notes.vault.writer(&now()).unwrap();
    let (end, text) = ground.notes.vault.logs.addition(&ground.file(), &handoff("b")).unwrap().unwrap();
    let edited = ground.text() + "By hand.\n";
    fs::write(ground.file(), &edited).unwrap();
    let write = FileWrite::Append { place, end, text };
    let refused = writer.commit(ChangeDraft::new("daily", ChangeActor::Worker, vec![write]));
    assert!(matches!(refused, Err(Error::Changed(_))), "{refused:?}");
    assert_eq!(ground.text(), edited);
}

#[test]
fn log_01_an_addition_that_was_cut_off_anywhere_is_finished_by_the_next_writer() {
    let ground = LogsFixture::new();
    assert!(ground.add("a") && ground.add("b"));
    let (before, after) = (made(&["a"]), made(&["a", "b"]));
    let journal = fs::read_to_string(ground.notes.places.journal_file()).unwrap();
    let begun = journal.rsplit_once("{\"end\"").unwrap().0.to_owned();
    for cut in before.len()..=after.len() {
        fs::write(ground.file(), &after.as_bytes()[..cut]).unwrap();
        fs::write(ground.notes.places.journal_file(), &begun).unwrap();
        drop(ground.other().writer(&now()).unwrap());
        assert_eq!(ground.text(), after, "cut at {cut} of {}", after.len());
        assert!(!ground.add("b"));
    }
    // If somebody edits it before the next writer comes, it stays as edited.
    for theirs in [
        "",
        "Mine.\n",
        &format!("Mine.\n{after}"),
        &format!("{before}Mine.\n"),
        &after.replace("on with b", "home"),
    ] {
        fs::write(ground.file(), theirs).unwrap();
        fs::write(ground.notes.places.journal_file(), &begun).unwrap();
        drop(ground.other().writer(&now()).unwrap());
        assert_eq!(ground.text(), *theirs);
    }
}

#[test]
fn log_01_undo_takes_back_one_section_and_nothing_else() {
    let ground = LogsFixture::new();
    for key in ["a", "b", "c"] {
        assert!(ground.add(key));
    }
    let change = ground.notes.vault.changes().unwrap().nth(1).unwrap().unwrap().change.id;
    ground.notes.vault.undo(Some(change.as_str()), ChangeActor::User, &now()).unwrap();
    assert_eq!(ground.text(), made(&["a", "c"]));
    ground.notes.vault.undo(None, ChangeActor::User, &now()).unwrap();
    assert_eq!(ground.text(), made(&["a"]));
    assert!(ground.add("d"));
    assert_eq!(ground.text(), made(&["a", "d"]));
}

#[test]
fn b_08_what_was_forgotten_is_in_no_section_and_not_in_the_journal() {
    let ground = LogsFixture::new();
    for key in ["a", "the secret", "c"] {
        assert!(ground.add(key));
    }
    ground
        .notes
        .vault
        .forget(ForgetRequest::Text("Go on with the secret."), ChangeActor::User, &now())
        .unwrap();
    let journal = fs::read_to_string(ground.notes.places.journal_file()).unwrap();
    assert!(!ground.text().contains("with the secret") && !journal.contains("with the secret"));
    assert!(ground.text().contains("Go on with a.") && ground.text().contains("Go on with c."));
    assert!(ground.add("d"));
    assert!(ground.text().ends_with("Go on with d.\n"));
}

#[cfg(unix)]
#[test]
fn log_07_a_log_that_may_not_be_written_to_is_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let ground = LogsFixture::new();
    assert!(ground.add("a"));
    fs::set_permissions(ground.file(), fs::Permissions::from_mode(0o400)).unwrap();
    assert!(ground.add("b"));
    assert_eq!(ground.text(), made(&["a", "b"]));
    assert_eq!(fs::metadata(ground.file()).unwrap().permissions().mode() & 0o777, 0o400);
}

#[test]
fn log_07_a_log_larger_than_any_note_still_grows() {
    let ground = LogsFixture::new();
    assert!(ground.add("a"));
    let long = ground.text() + &"A line of the person's own.\n".repeat(400_000);
    assert!(long.len() as u64 > crate::vault::MAX_NOTE_BYTES);
    fs::write(ground.file(), &long).unwrap();
    assert!(ground.add("b") && !ground.add("a"));
    assert!(ground.text().starts_with(&long) && ground.text().ends_with("Go on with b.\n"));
}

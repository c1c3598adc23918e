#![expect(clippy::disallowed_methods, reason = "a person's editor writes as it likes")]

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use rekindle_core::base::time::Zoned;
use rekindle_core::recall::document::DocumentSource;
use rekindle_core::vault::daily_log::{LogSection, LoggedNote, TimeOfDay};
use rekindle_core::vault::journal::ChangeActor;

use super::*;
use crate::ops::forget::ForgetRequest;
use crate::test_notes::{TestNotes, paths_in};

fn listed(notes: &TestNotes) -> Vec<String> {
    list(&notes.vault).unwrap().files.into_iter().map(|file| file.path).collect()
}

fn texts(unit: &SourceUnit) -> Vec<&str> {
    unit.documents.iter().map(|document| document.text.as_str()).collect()
}

fn now() -> Zoned {
    "2026-11-15T02:13:08Z".parse::<Timestamp>().unwrap().to_zoned(TimeZone::UTC)
}

#[test]
fn rec_21_every_note_is_listed_and_nothing_else() {
    let notes = TestNotes::new();
    for path in [
        "Ideas.md",
        "a.txt",
        "deep/er/note.md",
        "MemoryVault/MEMORY.md",
        "MemoryVault/personal-private/fix/x.md",
        "MemoryVault/_meta/tombstones.jsonl",
        "MemoryVault/_meta/x.md",
        "MemoryVault/system-log.jsonl",
        ".obsidian/workspace.md",
        ".git/x.md",
        ".trash/x.md",
        "web/node_modules/p/README.md",
        "photo.png",
        "a (conflicted copy 2026-11-15).md",
        "MemoryVault/.rekindle-write-00.tmp",
    ] {
        notes.write(path, "text\n");
    }
    let expected = [
        "Ideas.md",
        "MemoryVault/MEMORY.md",
        "MemoryVault/personal-private/fix/x.md",
        "a.txt",
        "deep/er/note.md",
    ];
    assert_eq!(listed(&notes), expected);
    let listing = list(&notes.vault).unwrap();
    assert!(
        listing.files.iter().all(|file| file.size == 5 && file.modified > 0) && listing.problems.is_empty()
    );
}

#[test]
fn a_file_becomes_its_documents() {
    let notes = TestNotes::new();
    notes.write(
        "MemoryVault/MEMORY.md",
        "\u{feff}## Rules\r\n- (2026-11-14) Never force push.\r\n- Other\r\n",
    );
    let unit = read(&notes.vault, "MemoryVault/MEMORY.md").unwrap();
    assert_eq!(texts(&unit), ["Never force push.", "Other"]);
    assert_eq!(unit.documents[1].lines, Some((3, 3)));
    let listed = &list(&notes.vault).unwrap().files[0];
    let stamp = unit.stamp.unwrap();
    assert_eq!((stamp.modified, stamp.size), (listed.modified, listed.size));
    let note = "deep/note.md";
    notes.write(note, "# A\n\nMine.\n");
    let unit = read(&notes.vault, note).unwrap();
    assert_eq!(
        (unit.documents[0].source, unit.documents[0].thread.as_deref()),
        (DocumentSource::Note, Some(note))
    );
    let modified = unit.documents[0].created.unwrap().as_nanosecond();
    assert_eq!(modified, i128::from(unit.stamp.unwrap().modified));
}

#[test]
fn missing_or_unreadable_files_have_no_documents() {
    let notes = TestNotes::new();
    notes.write("a.md", "text\n");
    notes.write("MemoryVault/_meta/tombstones.jsonl", "");
    fs::write(notes.places.notes().parent().unwrap().join("outside.md"), "secret\n").unwrap();
    for path in [
        "gone.md",
        "a.md/b.md",
        "MemoryVault/_meta/tombstones.jsonl",
        "../outside.md",
        "/etc/hosts.md",
        "x//a.md",
        "",
    ] {
        let unit = read(&notes.vault, path).unwrap();
        assert!(unit.stamp.is_none() && unit.documents.is_empty(), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let notes = TestNotes::new();
    notes.write("real/a.md", "text\n");
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("b.md"), "outside\n").unwrap();
    symlink(notes.places.notes().join("real/a.md"), notes.places.notes().join("link.md")).unwrap();
    symlink(outside.path(), notes.places.notes().join("away")).unwrap();
    symlink(notes.places.notes(), notes.places.notes().join("real/loop")).unwrap();
    assert_eq!(listed(&notes), ["real/a.md"]);
    for path in ["link.md", "away/b.md", "real/loop/real/a.md"] {
        assert!(read(&notes.vault, path).unwrap().documents.is_empty(), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn a_vault_behind_a_link_keeps_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("elsewhere/MemoryVault");
    fs::create_dir_all(&real).unwrap();
    fs::create_dir_all(folder.path().join("vault")).unwrap();
    std::os::unix::fs::symlink(&real, folder.path().join("vault/MemoryVault")).unwrap();
    let vault = Vault::open(&paths_in(folder.path())).unwrap();
    fs::write(real.join("MEMORY.md"), "- one\n").unwrap();
    assert_eq!(list(&vault).unwrap().files[0].path, "MemoryVault/MEMORY.md");
    assert_eq!(read(&vault, "MemoryVault/MEMORY.md").unwrap().documents.len(), 1);
}

#[test]
fn what_cannot_be_read_is_a_problem_and_the_rest_is_read() {
    let notes = TestNotes::new();
    notes.write("good.md", "Good.\n");
    notes.write("bad.md", b"one\ntwo \xff\xfe\n");
    notes.write("zero.txt", "");
    notes.write("nul.md", "a\0b words\n");
    let huge = fs::File::create(notes.places.notes().join("huge.txt")).unwrap();
    huge.set_len(MAX_FILE_BYTES + 1).unwrap();
    let listing = list(&notes.vault).unwrap();
    assert_eq!(listing.problems, [("huge.txt".to_owned(), "it is larger than 8 MiB".to_owned())]);
    let paths: Vec<&str> = listing.files.iter().map(|file| file.path.as_str()).collect();
    let (units, problems) = read_many(&notes.vault, &paths, |unit, (): &mut ()| unit, &mut |_| true);
    assert_eq!(units.iter().map(|unit| unit.path.as_str()).collect::<Vec<_>>(), paths);
    assert_eq!(problems, [("bad.md".to_owned(), "line 2: not UTF-8 text".to_owned())]);
    // A listing of names does not know sizes; the reader checks them.
    let names = names(&notes.vault).unwrap();
    assert_eq!(names.files, ["bad.md", "good.md", "huge.txt", "nul.md", "zero.txt"]);
    assert_eq!(names.problems, []);
    let (unread, too_large) = read_many(&notes.vault, &["huge.txt"], |unit, (): &mut ()| unit, &mut |_| true);
    assert!(unread[0].stamp.is_none() && unread[0].documents.is_empty());
    assert_eq!(too_large, listing.problems);
    let counts: Vec<usize> = units.iter().map(|unit| unit.documents.len()).collect();
    assert_eq!(
        (paths.as_slice(), counts.as_slice()),
        (["bad.md", "good.md", "nul.md", "zero.txt"].as_slice(), [0, 1, 1, 0].as_slice())
    );
    assert!(units.iter().all(|unit| unit.stamp.is_some()));
    assert!(read(&notes.vault, "huge.txt").unwrap().stamp.is_none());
}

#[cfg(unix)]
#[test]
fn a_file_without_read_permission_is_a_problem() {
    use std::os::unix::fs::PermissionsExt;
    let notes = TestNotes::new();
    notes.write("locked.md", "text\n");
    let file = notes.places.notes().join("locked.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&file).is_ok() {
        rekindle_testkit::skipped("this user may read everything");
        return;
    }
    let (units, problems) = read_many(&notes.vault, &["locked.md"], |unit, (): &mut ()| unit, &mut |_| true);
    assert!(units[0].stamp.is_none() && units[0].documents.is_empty());
    assert!(problems[0].1.starts_with("could not read it"), "{problems:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_text_is_a_problem() {
    use std::os::unix::ffi::OsStrExt;
    let notes = TestNotes::new();
    fs::write(notes.places.notes().join(std::ffi::OsStr::from_bytes(b"n\xff.md")), "x\n").unwrap();
    let listing = list(&notes.vault).unwrap();
    assert!(listing.files.is_empty() && listing.problems[0].1.contains("not UTF-8"));
}

#[test]
fn sto_14_a_change_is_noticed_by_time_size_or_content() {
    let notes = TestNotes::new();
    notes.write("a.md", "one\n");
    let file = notes.places.notes().join("a.md");
    let stamp = read(&notes.vault, "a.md").unwrap().stamp.unwrap();
    assert!(is_unchanged(&notes.vault, "a.md", &stamp));
    let later = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000);
    let touch = |time| fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    touch(later);
    assert!(is_unchanged(&notes.vault, "a.md", &stamp), "the same bytes at another time");
    notes.write("a.md", "two\n");
    touch(later);
    assert!(!is_unchanged(&notes.vault, "a.md", &stamp), "other bytes of the same length");
    notes.write("a.md", "longer\n");
    assert!(!is_unchanged(&notes.vault, "a.md", &stamp));
    fs::remove_file(&file).unwrap();
    assert!(!is_unchanged(&notes.vault, "a.md", &stamp));
    assert!(!is_unchanged(&notes.vault, "../a.md", &stamp));
    let ancient = SystemTime::UNIX_EPOCH - Duration::from_secs(10);
    notes.write("a.md", "old\n");
    touch(ancient);
    assert_eq!(list(&notes.vault).unwrap().files[0].modified, -10_000_000_000);
}

#[test]
fn many_files_are_read_in_their_order() {
    let notes = TestNotes::new();
    for number in 0..300 {
        notes.write(&format!("n/{number:03}.md"), format!("Note number {number}.\n"));
    }
    let listing = list(&notes.vault).unwrap();
    let paths: Vec<&str> = listing.files.iter().map(|file| file.path.as_str()).collect();
    let (units, problems) = read_many(&notes.vault, &paths, |unit, (): &mut ()| unit, &mut |_| true);
    assert_eq!((units.len(), problems.len()), (300, 0));
    for (number, unit) in units.iter().enumerate() {
        assert_eq!(texts(unit), [format!("Note number {number}.")]);
        assert_eq!(*unit, read(&notes.vault, &unit.path).unwrap());
    }
    // A caller that stops early gets everything read so far, from the first on. The other threads wait for it
    // here; the list is long enough that they could finish everything before.
    let paths = paths.repeat(20);
    let (asker, stopped) = (thread::current().id(), AtomicBool::new(false));
    let wait = |unit, (): &mut ()| {
        while thread::current().id() != asker && !stopped.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        unit
    };
    let mut told = 0;
    let stop = &mut |done| {
        told = done;
        stopped.store(true, Ordering::Relaxed);
        false
    };
    let (units, _) = read_many(&notes.vault, &paths, wait, stop);
    assert!(told > 0 && units.len() < paths.len(), "{told} {}", units.len());
    assert!(units.iter().zip(&paths).all(|(unit, path)| unit.path == **path));
}

#[test]
fn log_08_times_are_of_the_persons_zone() {
    let notes = TestNotes::new();
    let section = LogSection::Note(LoggedNote {
        source: Default::default(),
        time: "10:30".parse::<TimeOfDay>().unwrap(),
        text: "Go on with the tests.".into(),
        mark: Default::default(),
    });
    notes.vault.log(&section, ChangeActor::User, &now()).unwrap();
    let at = |vault: &Vault| {
        read(vault, "MemoryVault/memory/2026-11-15.md").unwrap().documents[0].created.unwrap()
    };
    assert_eq!(at(&notes.vault).to_string(), "2026-11-15T10:30:00Z");
    let other = Vault::open(&notes.places).unwrap().in_zone(TimeZone::fixed(jiff::tz::offset(2)));
    assert_eq!(at(&other).to_string(), "2026-11-15T08:30:00Z");
}

#[test]
fn b_08_what_was_forgotten_is_not_read_again() {
    let notes = TestNotes::new();
    notes.write("MemoryVault/MEMORY.md", "## Rules\n- The staging host is hermes.\n- Other rule.\n");
    notes
        .vault
        .forget(ForgetRequest::Text("The staging host is hermes."), ChangeActor::User, &now())
        .unwrap();
    // A sync restores the text.
    notes.write("MemoryVault/MEMORY.md", "## Rules\n- The staging host is hermes.\n- Other rule.\n");
    assert_eq!(texts(&read(&notes.vault, "MemoryVault/MEMORY.md").unwrap()), ["Other rule."]);
}

//! Concurrent writes by other programs to the vault (B-09, SEC-07).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{sandbox, save, text};

/// An editor rewrites a note in place or by rename, as fast as it can, while we evolve it. Every text of the
/// editor is at the path, in the archive or in a conflict copy, unless the editor itself overwrote it.
#[test]
fn an_edit_that_comes_in_between_is_never_lost() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "busy", "version 0");
    let path = sandbox.path("personal-private/fix/busy.md");
    let stop = Arc::new(AtomicBool::new(false));
    let editor = std::thread::spawn({
        let (path, stop) = (path.clone(), stop.clone());
        move || {
            let mut last = String::new();
            for number in 0.. {
                if stop.load(Ordering::Relaxed) {
                    return last;
                }
                last = format!("---\nkind: fix\n---\nedit {number} by hand\n");
                let beside = path.with_file_name(".editor-save");
                std::fs::write(&beside, &last).unwrap();
                std::fs::rename(&beside, &path).unwrap();
                std::thread::sleep(std::time::Duration::from_micros(300));
            }
            last
        }
    });
    let mut refused = 0;
    for number in 0..60 {
        let body = format!("ours {number}");
        let output = sandbox.rekindle(&["evolve", "busy", "--body", &body, "--reason", "r"]).run();
        match output.code {
            Some(0) => {}
            Some(1) if output.stderr.contains("changed in the meantime") => refused += 1,
            _ => panic!("{}{}", output.stdout, output.stderr),
        }
    }
    stop.store(true, Ordering::Relaxed);
    let last = editor.join().unwrap();
    let somewhere = sandbox.files().values().any(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        text.contains(last.lines().last().unwrap())
    });
    assert!(somewhere, "the last edit is gone ({refused} evolves were refused)");
    // No note is half-written.
    for (path, bytes) in sandbox.files().iter().filter(|(path, _)| path.contains("busy")) {
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.starts_with("---\n") && text.ends_with('\n'), "{path}:\n{text}");
    }
}

#[test]
fn sync_conflict_files_are_tolerated_and_named() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "a", "x");
    for name in ["a (conflicted copy 2026-01-02).md", "a.sync-conflict-20260102-030405-ABCDEFG.md"] {
        sandbox.write(format!("personal-private/fix/{name}"), "theirs\n");
    }
    assert_eq!(sandbox.rekindle(&["list", "--json"]).run().ok().json().as_array().unwrap().len(), 1);
    let found = sandbox.rekindle(&["show", "a", "--json"]).run().ok().json();
    assert_eq!(text(&found, "path"), "personal-private/fix/a.md");
    let doctor = sandbox.rekindle(&["doctor", "--json"]).run().ok().json();
    let conflicts =
        doctor["checks"].as_array().unwrap().iter().find(|check| check["check"] == "conflicts").unwrap();
    assert_eq!(conflicts["findings"].as_array().unwrap().len(), 2);
}

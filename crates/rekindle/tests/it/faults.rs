//! Fault injection: the real binary is killed (`kill -9`), or a system call fails, at every disk operation.
//! Afterwards every acknowledged write is whole, no file is half-written, and the next command cleans up.
//!
//! `cargo test` covers every step once; `scripts/faults.sh` repeats them from many states
//! (`REKINDLE_FAULT_ROUNDS`).

use std::collections::BTreeMap;

use rekindle_testkit::faults::{self, EIO, EROFS, PlannedFault};
use rekindle_testkit::{Sandbox, TestCommand};

use crate::inbox::inboxed;
use crate::{sandbox, save};

type FileContents = BTreeMap<String, Vec<u8>>;

/// Reads the vault as a person sees it, without ids and times, which differ from run to run.
fn seen(sandbox: &Sandbox) -> FileContents {
    let ideas = std::fs::read(sandbox.vault().parent().unwrap().join("Ideas.md"));
    sandbox
        .files()
        .into_iter()
        .chain(ideas.map(|bytes| ("Ideas.md".to_owned(), bytes)))
        .filter(|(path, _)| !path.contains(".rekindle-") && !path.starts_with("_meta/"))
        .map(|(path, bytes)| (path, without_ids(&bytes)))
        .collect()
}

fn without_ids(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let kept = text.lines().filter(|line| {
        !["id: ", "created: ", "updated: ", "reviewed: "].iter().any(|key| line.starts_with(key))
    });
    // In a log, times and ids are in headings and comments.
    let logged = |line: &str| match line {
        heading if heading.starts_with("### ") => heading.replace(|c: char| c.is_ascii_digit(), "0"),
        marks if marks.starts_with("<!-- rekindle ") => {
            let keys = marks.split(' ').map(|word| word.split('=').next().unwrap_or_default());
            keys.collect::<Vec<_>>().join(" ")
        }
        other => other.to_owned(),
    };
    kept.map(logged).collect::<Vec<_>>().join("\n").into_bytes()
}

/// Breaks `command` at each of its steps, always from the same state, and compares the result with a complete
/// run.
fn break_everywhere(name: &str, sandbox: &Sandbox, command: &TestCommand, forgets: Option<&[u8]>) {
    let start = sandbox.snapshot();
    let before = seen(sandbox);
    command.run().ok();
    let after = seen(sandbox);
    let mut broken = 0;
    let kinds: [fn(usize) -> PlannedFault; 4] = [
        PlannedFault::kill,
        PlannedFault::kill_after,
        |at| PlannedFault::errno(at, EIO),
        PlannedFault::full_disk_from,
    ];
    for kind in kinds {
        for at in 1.. {
            sandbox.restore(&start);
            let output = faults::run(command, kind(at));
            let Some(call) = output.fault.clone() else { break };
            broken += 1;
            let what = format!(
                "{name}: {:?} at step {at} ({call})\n{}{}",
                kind(at).kind,
                output.stdout,
                output.stderr
            );
            let acknowledged = output.code == Some(0);

            // The next command finds whole files, and completes or reverts the interrupted change.
            let middle = seen(sandbox);
            for (path, bytes) in &middle {
                let whole = before.get(path) == Some(bytes) || after.get(path) == Some(bytes);
                assert!(whole, "{what}\n{path} is neither old nor new:\n{}", String::from_utf8_lossy(bytes));
            }
            sandbox.rekindle(&["save", "probe", "next", "--body", "the next command"]).run().ok();
            sandbox.remove("personal-private/probe/next.md");
            std::fs::remove_dir(sandbox.path("personal-private/probe")).unwrap();
            let left = seen(sandbox);
            if acknowledged {
                assert_eq!(left, after, "{what}\nacknowledged, but not what was asked for");
            } else {
                assert!(
                    left == after || left == before,
                    "{what}\nneither all nor nothing: {:?}",
                    left.keys()
                );
            }
            let temporary: Vec<_> =
                sandbox.files().into_keys().filter(|path| path.contains(".rekindle-")).collect();
            assert!(temporary.is_empty(), "{what}\nleft behind: {temporary:?}");
            if let Some(text) = forgets
                && left == after
            {
                let found = sandbox.find_bytes(text);
                assert!(found.is_empty(), "{what}\nstill there: {found:?}");
            }
        }
    }
    eprintln!("{name}: {broken} breaks");
    assert!(broken > 40, "{name} has only {broken} steps to break: is the tracer seeing them?");
    sandbox.restore(&start);
}

/// Returns false, with a message, if processes cannot be traced.
fn can_trace() -> bool {
    faults::available().inspect_err(|why| rekindle_testkit::skipped(why)).is_ok()
}

fn rounds() -> usize {
    std::env::var("REKINDLE_FAULT_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

const SECRET: &str = "The launch code of the toaster is forty-two rabbits.";

/// Sets up a sandbox with a history that grows every round.
fn lived_in(round: usize) -> Sandbox {
    let sandbox = sandbox();
    for number in 0..=round {
        let slug = format!("old-{number}");
        save(&sandbox, "fix", &slug, &format!("Old body {number}.\n\nSecond paragraph."));
        sandbox
            .rekindle(&["evolve", &slug, "--body", &format!("Newer {number}."), "--reason", "r"])
            .run()
            .ok();
    }
    sandbox
}

/// Requirements: VLT-06.
#[test]
fn save_survives_every_break() {
    if !can_trace() {
        return;
    }
    for round in 0..rounds() {
        let sandbox = lived_in(round);
        let command = sandbox.rekindle(&["save", "fix", "new", "--body", "A new body."]);
        break_everywhere("save", &sandbox, &command, None);
    }
}

#[test]
fn evolve_survives_every_break() {
    if !can_trace() {
        return;
    }
    for round in 0..rounds() {
        let sandbox = lived_in(round);
        let command = sandbox.rekindle(&["evolve", "old-0", "--body", "Third.", "--reason", "r"]);
        break_everywhere("evolve", &sandbox, &command, None);
    }
}

#[test]
fn log_01_an_addition_to_the_log_survives_every_break() {
    if !can_trace() {
        return;
    }
    for round in 0..rounds() {
        let sandbox = lived_in(round);
        for note in ["First note.", "Second note."] {
            sandbox.rekindle(&["daily", "add", note]).run().ok();
        }
        let command = sandbox.rekindle(&["daily", "add", "Third note."]);
        break_everywhere("daily add", &sandbox, &command, None);
        break_everywhere("undo of it", &sandbox, &sandbox.rekindle(&["undo"]), None);
    }
}

#[test]
fn log_01_an_edit_of_the_log_after_a_crash_is_never_lost() {
    if !can_trace() {
        return;
    }
    let sandbox = lived_in(0);
    sandbox.rekindle(&["daily", "add", "First note."]).run().ok();
    let log = sandbox.files().into_keys().find(|path| path.starts_with("memory/")).unwrap();
    let start = sandbox.snapshot();
    let command = sandbox.rekindle(&["daily", "add", "Second note."]);
    let mut broken = 0;
    for (at, edit) in (1..).flat_map(|at| [(at, "\nMine, at the end.\n"), (at, "Mine, in the middle.")]) {
        sandbox.restore(&start);
        let Some(call) = faults::run(&command, PlannedFault::kill_after(at)).fault else { break };
        broken += 1;
        let there = sandbox.read(&log);
        let edited = match edit.starts_with('\n') {
            true => format!("{there}{edit}"),
            false => there.replace("First note.", edit),
        };
        sandbox.write(&log, &edited);
        save(&sandbox, "probe", "next", "the next command");
        let kept = sandbox.read(&log);
        assert_eq!(kept.matches(edit).count(), 1, "lost after a kill at step {at} ({call})\n{kept}");
        assert!(kept.starts_with(edited.as_str()), "changed after a kill at step {at} ({call})\n{kept}");
        assert!(kept.matches("Second note.").count() <= 1, "twice after step {at} ({call})\n{kept}");
    }
    assert!(broken >= 10, "only {broken} steps to break: is the tracer seeing them?");
}

#[test]
fn inbox_keep_and_drop_survive_every_break() {
    if !can_trace() {
        return;
    }
    for round in 0..rounds() {
        let sandbox = lived_in(round);
        inboxed(&sandbox, "guess", "m-111111111111", "2026-01-01T00:00:00Z", "A guess.\n");
        break_everywhere("inbox keep", &sandbox, &sandbox.rekindle(&["inbox", "keep", "guess"]), None);
        break_everywhere("inbox drop", &sandbox, &sandbox.rekindle(&["inbox", "drop", "guess"]), None);
    }
}

#[test]
fn idea_05_promote_survives_every_break() {
    if !can_trace() {
        return;
    }
    for round in 0..rounds() {
        let sandbox = lived_in(round);
        sandbox.rekindle(&["ideas", "add", "A plan", "--summary", "Try it."]).run().ok();
        sandbox.write("personal-private/_idea-incubator/a-plan/scan.pdf", [0xff, 0, 1]);
        let command = sandbox.rekindle(&["ideas", "promote", "a-plan"]);
        break_everywhere("ideas promote", &sandbox, &command, None);
    }
}

#[test]
fn undo_survives_every_break() {
    if !can_trace() {
        return;
    }
    for round in 0..rounds() {
        let sandbox = lived_in(round);
        break_everywhere("undo", &sandbox, &sandbox.rekindle(&["undo"]), None);
    }
}

#[test]
fn forget_survives_every_break() {
    if !can_trace() {
        return;
    }
    for round in 0..rounds() {
        let sandbox = lived_in(round);
        save(&sandbox, "fix", "secret", SECRET);
        sandbox
            .rekindle(&[
                "evolve",
                "secret",
                "--body",
                "It is forty-three rabbits now, says the toaster.",
                "--reason",
                "r",
            ])
            .run()
            .ok();
        sandbox.rekindle(&["memory", "add", SECRET, "--section", "Patterns"]).run().ok();
        let command = sandbox.rekindle(&["forget", "secret"]);
        break_everywhere("forget", &sandbox, &command, Some(b"rabbits"));
    }
}

#[test]
fn an_edit_made_after_a_crash_is_never_lost() {
    if !can_trace() {
        return;
    }
    let sandbox = lived_in(0);
    let start = sandbox.snapshot();
    let command = sandbox.rekindle(&["evolve", "old-0", "--body", "Third.", "--reason", "r"]);
    let edit = "---\nkind: fix\n---\n\nEdited by hand after the crash.\n";
    for at in 1.. {
        sandbox.restore(&start);
        let output = faults::run(&command, PlannedFault::kill(at));
        let Some(call) = output.fault else { break };
        sandbox.write("personal-private/fix/old-0.md", edit);
        save(&sandbox, "probe", "next", "the next command");
        let kept = sandbox.files().into_values().any(|bytes| bytes == edit.as_bytes());
        assert!(kept, "lost after a kill at step {at} ({call})");
        let temporary: Vec<_> =
            sandbox.files().into_keys().filter(|path| path.contains(".rekindle-")).collect();
        assert!(temporary.is_empty(), "step {at} ({call}) left {temporary:?}");
    }
}

#[test]
fn a_full_or_read_only_disk_is_explained_and_nothing_changes() {
    if !can_trace() {
        return;
    }
    let sandbox = lived_in(0);
    let before = seen(&sandbox);
    let command = sandbox.rekindle(&["save", "fix", "new", "--body", "A new body."]);
    let read_only = faults::run(&command, PlannedFault::errno_from(1, EROFS));
    let full = faults::run(&command, PlannedFault::full_disk_from(1));
    for (output, reason) in [(read_only, "Read-only file system"), (full, "No space left on device")] {
        assert_eq!(output.code, Some(1), "{}", output.stderr);
        assert!(
            output.stderr.contains(reason) && output.stderr.contains("nothing was changed"),
            "{}",
            output.stderr
        );
        assert_eq!(seen(&sandbox), before);
    }
}

/// An interrupted change must not block writers after its folder was replaced by a link.
#[cfg(unix)]
#[test]
fn a_folder_that_became_a_link_after_a_crash_blocks_nobody() {
    if !can_trace() {
        return;
    }
    let sandbox = lived_in(0);
    std::fs::create_dir(sandbox.path("personal-private/kind")).unwrap();
    let start = sandbox.snapshot();
    let command = sandbox.rekindle(&["save", "kind", "new", "--body", "A new body."]);
    let outside = sandbox.work().join("outside");
    std::fs::create_dir(&outside).unwrap();
    for at in 1.. {
        sandbox.restore(&start);
        if faults::run(&command, PlannedFault::kill(at)).fault.is_none() {
            break;
        }
        let folder = sandbox.path("personal-private/kind");
        std::fs::remove_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(&outside, &folder).unwrap();
        save(&sandbox, "fix", "elsewhere", "the next command");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "step {at} wrote outside the vault");
    }
}

/// The directory entry of a new folder is synced before its content is acknowledged.
#[test]
fn a_new_folder_is_synced_into_the_one_above() {
    if !can_trace() {
        return;
    }
    let sandbox = lived_in(0);
    let steps = faults::trace(&sandbox.rekindle(&["save", "brand-new", "a", "--body", "A new body."]));
    let synced = |name: &str| {
        steps.iter().any(|call| {
            call.name.contains("sync") && call.path.as_deref().is_some_and(|path| path.ends_with(name))
        })
    };
    assert!(synced("personal-private") && synced("brand-new") && synced("journal.jsonl"), "{steps:?}");
}

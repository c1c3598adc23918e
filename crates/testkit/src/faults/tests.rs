use super::*;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::race;

/// Skips the test with a message if faults are not available.
macro_rules! needs_faults {
    () => {
        if let Err(why) = available() {
            eprintln!("SKIPPED, no planned faults here: {why}");
            return;
        }
    };
}

fn sh(folder: &Path, script: &str) -> TestCommand {
    TestCommand::new("/bin/sh", folder).args(&["-c", script])
}

/// The files of a flat folder.
fn state(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
}

fn files(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

/// Formats calls without the folder, with names that are the same on every architecture.
fn plain(calls: &[DiskCall], folder: &Path) -> Vec<String> {
    let folder = format!("{}/", folder.display());
    let plain = |call: &DiskCall| call.to_string().replace(&folder, "").replace("renameat2", "rename");
    calls.iter().map(plain).collect()
}

/// A child process, a rename and a removal, with a different state after each step.
const SCRIPT: &str = "echo one > f; mv f g; echo two >> g; rm g";
const STATES: &[&[(&str, &str)]] = &[
    &[],
    &[("f", "")],
    &[("f", "one\n")],
    &[("g", "one\n")],
    &[("g", "one\n")],
    &[("g", "one\ntwo\n")],
    &[],
];

#[test]
fn steps_are_listed_with_their_paths_and_the_same_in_every_run() {
    needs_faults!();
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let steps = trace(&sh(folder.path(), SCRIPT));
        let expected = ["openat f", "write f", "rename f to g", "openat g", "write g", "unlinkat g"];
        assert_eq!(plain(&steps, folder.path()), expected);
    }
}

#[test]
fn calls_outside_the_disk_are_no_steps() {
    needs_faults!();
    let folder = tempfile::tempdir().unwrap();
    let script =
        "echo said; echo loud >&2; echo gone > /dev/null; cat < /etc/passwd | wc -l; exec 9< /etc/passwd";
    let (output, steps) = watch(&sh(folder.path(), script));
    assert_eq!((output.code, steps), (Some(0), Vec::new()));
    assert!(output.stdout.starts_with("said\n"));
    assert_eq!(output.stderr, "loud\n");
}

#[test]
fn a_kill_leaves_exactly_the_state_before_the_step() {
    needs_faults!();
    for step in 1..STATES.len() {
        let folder = tempfile::tempdir().unwrap();
        let output = run(&sh(folder.path(), SCRIPT), PlannedFault::kill(step)).killed();
        assert_eq!(state(folder.path()), files(STATES[step - 1]), "killed at {step}: {:?}", output.fault);
        assert!(output.fault.is_some());
    }
}

#[test]
fn a_kill_after_leaves_exactly_the_state_after_the_step() {
    needs_faults!();
    for (step, after) in STATES.iter().enumerate().skip(1) {
        let folder = tempfile::tempdir().unwrap();
        let output = run(&sh(folder.path(), SCRIPT), PlannedFault::kill_after(step)).killed();
        assert_eq!(state(folder.path()), files(after), "killed after {step}: {:?}", output.fault);
    }
}

#[test]
fn a_fault_beyond_the_last_step_strikes_nothing() {
    needs_faults!();
    let folder = tempfile::tempdir().unwrap();
    let output = run(&sh(folder.path(), SCRIPT), PlannedFault::kill(STATES.len())).ok();
    assert_eq!(output.fault, None);
}

#[test]
fn an_injected_error_replaces_the_call() {
    needs_faults!();
    let folder = tempfile::tempdir().unwrap();
    let script = "echo one > f || echo refused; echo two > g";
    for (number, words) in [(ENOSPC, "No space left on device"), (EIO, "Input/output error")] {
        // dash omits the reason if it cannot write, so look for the reason at the open.
        let output = run(&sh(folder.path(), script), PlannedFault::errno(1, number));
        assert!(output.stderr.contains(words), "{output:?}");
        let output = run(&sh(folder.path(), script), PlannedFault::errno(2, number)).ok();
        assert_eq!(output.stdout, "refused\n");
        assert_eq!(state(folder.path()), files(&[("f", ""), ("g", "two\n")]));
        assert_eq!(plain(&[output.fault.unwrap()], folder.path()), ["write f"]);
    }
}

#[test]
fn errors_from_a_step_on_go_on_to_the_end() {
    needs_faults!();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old"), "").unwrap();
    let script = "echo one > f; echo two > f || echo refused; rm old || echo refused";
    let output = run(&sh(folder.path(), script), PlannedFault::errno_from(4, EROFS)).ok();
    assert_eq!(output.stdout, "refused\nrefused\n");
    // The fourth step is the second write; the open before it emptied the file.
    assert_eq!(state(folder.path()), files(&[("f", ""), ("old", "")]));
}

#[test]
fn a_full_disk_takes_nothing_new_but_lets_go() {
    needs_faults!();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old"), "kept").unwrap();
    fs::write(folder.path().join("rubbish"), "").unwrap();
    let script = "mv old new; rm rubbish; echo one >> new || echo full; mkdir d || echo full; ln new l || echo full; \
                  (: > f) || echo full";
    let output = run(&sh(folder.path(), script), PlannedFault::full_disk_from(1));
    assert_eq!(output.stdout, "full\n".repeat(4), "{output:?}");
    assert_eq!(state(folder.path()), files(&[("new", "kept")]));
    assert_eq!(output.fault.unwrap().name, "write");
}

/// Run by the tests below in a separate process: it works on a second thread and, like the test harness
/// around it, never on the first.
#[test]
fn child_that_writes_on_a_thread() {
    let Some(folder) = std::env::var_os("TESTKIT_CHILD") else { return };
    let write = move || {
        let (temporary, target) = (Path::new(&folder).join("t"), Path::new(&folder).join("target"));
        let mut file = fs::File::create(&temporary)?;
        file.write_all(b"whole")?;
        file.sync_all()?;
        fs::rename(temporary, target)
    };
    let written: io::Result<()> = std::thread::spawn(write).join().unwrap();
    assert_eq!(written.map_err(|error| error.raw_os_error()), Ok(()));
}

fn child(folder: &TempDir) -> TestCommand {
    let this = std::env::current_exe().unwrap();
    let args = ["--exact", "faults::tests::child_that_writes_on_a_thread", "--nocapture"];
    TestCommand::new(this, folder.path()).args(&args).env("TESTKIT_CHILD", folder.path())
}

#[test]
fn a_thread_is_followed_and_killed_at_every_step() {
    needs_faults!();
    let folder = tempfile::tempdir().unwrap();
    let expected = ["openat t", "write t", "fsync t", "rename t to target"];
    assert_eq!(plain(&trace(&child(&folder)), folder.path()), expected);
    let states: &[&[(&str, &str)]] =
        &[&[], &[("t", "")], &[("t", "whole")], &[("t", "whole")], &[("target", "whole")]];
    for step in 1..states.len() {
        let folder = tempfile::tempdir().unwrap();
        run(&child(&folder), PlannedFault::kill(step)).killed();
        assert_eq!(state(folder.path()), files(states[step - 1]), "killed at {step}");
        let folder = tempfile::tempdir().unwrap();
        run(&child(&folder), PlannedFault::kill_after(step)).killed();
        assert_eq!(state(folder.path()), files(states[step]), "killed after {step}");
        let folder = tempfile::tempdir().unwrap();
        let output = run(&child(&folder), PlannedFault::errno(step, ENOSPC));
        assert!(output.code != Some(0) && output.stderr.contains("Err(Some(28))"), "{output:?}");
    }
}

#[test]
fn many_threads_trace_at_once_and_leave_each_others_children_alone() {
    needs_faults!();
    let jobs = (0..8).map(|_| {
        || {
            for step in 1..STATES.len() {
                let folder = tempfile::tempdir().unwrap();
                let mut stranger =
                    std::process::Command::new("/bin/sh").args(["-c", "exit 7"]).spawn().unwrap();
                run(&sh(folder.path(), SCRIPT), PlannedFault::kill(step)).killed();
                assert_eq!(state(folder.path()), files(STATES[step - 1]), "killed at {step}");
                assert_eq!(stranger.wait().unwrap().code(), Some(7));
            }
        }
    });
    race::together(Duration::from_secs(60), jobs);
}

#[test]
fn stdin_is_given_and_signals_are_delivered_as_without_a_tracer() {
    needs_faults!();
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(watch(&sh(folder.path(), "cat").stdin("heard")).0.ok().stdout, "heard");
    assert_eq!(watch(&sh(folder.path(), "kill -TERM $$")).0.signal, Some(15));
    let handled = sh(folder.path(), "trap 'echo handled' USR1; kill -USR1 $$; echo on");
    assert_eq!(watch(&handled).0.ok().stdout, "handled\non\n");
}

#[test]
fn a_program_that_hangs_is_killed_with_its_children() {
    needs_faults!();
    let folder = tempfile::tempdir().unwrap();
    let script = "sleep 60 & echo $! $$ > pids; wait";
    let command = sh(folder.path(), script).limit(Duration::from_millis(300));
    let begun = Instant::now();
    let error = tracer::follow(&command, None, None).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert!(error.to_string().contains("its last step was: write "), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    let pids = fs::read_to_string(folder.path().join("pids")).unwrap();
    assert_eq!(pids.split_whitespace().count(), 2);
    for pid in pids.split_whitespace() {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        // An orphan stays a zombie until its new parent reaps it.
        assert!(status.is_empty() || status.contains("State:\tZ"), "{pid} is still there: {status}");
    }
}

#[test]
fn a_kill_takes_everyone_along() {
    needs_faults!();
    let folder = tempfile::tempdir().unwrap();
    let script = "sleep 60 & sleep 60 & echo one > f; wait";
    // Tracing ends when no process is left, so a surviving sleeper would exceed the limit.
    let command = sh(folder.path(), script).limit(Duration::from_secs(10));
    run(&command, PlannedFault::kill(1)).killed();
    assert_eq!(state(folder.path()), files(&[]));
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    needs_faults!();
    let missing = TestCommand::new("/nonexistent/program", "/");
    assert_eq!(tracer::follow(&missing, None, None).unwrap_err().kind(), io::ErrorKind::NotFound);
}

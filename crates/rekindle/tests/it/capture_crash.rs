//! Interrupted capture: hook and worker are killed or get an error at every disk operation. Each session ends
//! in exactly one observation per trigger, with no loss and no duplicate (VER-02, VER-03, EXE-18).

use std::fs;

use rekindle_testkit::Sandbox;
use rekindle_testkit::faults::{self, EIO, EROFS, PlannedFault};

use crate::capture::{ClaudeTranscript, hook_command, log, observed, runs, work};
use crate::{sandbox, text};

const KILLS: [fn(usize) -> PlannedFault; 2] = [PlannedFault::kill, PlannedFault::kill_after];
const REFUSALS: [fn(usize) -> PlannedFault; 3] = [
    |at| PlannedFault::errno(at, EIO),
    PlannedFault::full_disk_from,
    |at| PlannedFault::errno_from(at, EROFS),
];

fn can_trace() -> bool {
    faults::available().inspect_err(|why| rekindle_testkit::skipped(why)).is_ok()
}

fn ended_session(sandbox: &Sandbox) -> ClaudeTranscript {
    let mut session = ClaudeTranscript::new(sandbox, "s");
    session.hook(sandbox, "SessionStart");
    session.says("Remember that pump 7 is wired backwards.");
    session.goes_on_for(5);
    session
}

/// Asserts one observation, one handoff and one memory, whatever happened before.
fn assert_once(sandbox: &Sandbox, what: &str) {
    let observed = observed(sandbox);
    assert_eq!(observed.len(), 1, "{what}\n{:?}", runs(sandbox, &[]));
    assert_eq!(text(&observed[0], "messages").matches("pump number").count(), 5, "{what}");
    let log = log(sandbox);
    assert_eq!(log.matches("🤝 Handoff").count(), 1, "{what}\n{log}");
    assert_eq!(log.matches("🔍 Observations").count(), 1, "{what}\n{log}");
    let memories = sandbox.files().into_iter().filter(|(name, text)| {
        name.contains("personal-private")
            && String::from_utf8_lossy(text).contains("pump 7 is wired backwards")
    });
    assert_eq!(memories.count(), 1, "{what}\n{:?}", sandbox.files().keys());
    assert!(fs::read_dir(sandbox.state().join("spool")).unwrap().all(|file| {
        // A killed hook may leave a temporary file, which nobody reads.
        file.unwrap().file_name().to_string_lossy().starts_with(".rekindle-")
    }));
}

#[test]
fn a_hook_that_is_cut_off_anywhere_loses_nothing() {
    if !can_trace() {
        return;
    }
    let sandbox = sandbox();
    let session = ended_session(&sandbox);
    work(&sandbox, &[]);
    let command = hook_command(&sandbox, "claude", "SessionEnd", &session.input());
    let start = sandbox.snapshot();
    let mut broken = 0;
    for kind in [&KILLS[..], &REFUSALS[..]].concat() {
        for at in 1.. {
            sandbox.restore(&start);
            let output = faults::run(&command, kind(at));
            let Some(call) = output.fault.clone() else { break };
            broken += 1;
            let what =
                format!("{:?} at step {at} ({call})\n{}{}", kind(at).kind, output.stdout, output.stderr);
            if !matches!(kind(at).kind, faults::FaultKind::Kill | faults::FaultKind::KillAfter) {
                assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""), "{what}");
            }
            // If the end of the session was not recorded, the idle time ends it.
            work(&sandbox, &["-c", "capture.idle_minutes=0"]);
            assert_once(&sandbox, &what);
        }
    }
    eprintln!("hook: {broken} breaks");
    assert!(broken >= 20, "only {broken} steps to break: is the tracer seeing them?");
}

#[test]
fn a_worker_that_is_cut_off_anywhere_is_followed_by_one_that_finishes() {
    if !can_trace() {
        return;
    }
    let sandbox = sandbox();
    let session = ended_session(&sandbox);
    session.hook(&sandbox, "SessionEnd");
    let command = sandbox.rekindle(&["worker", "--once"]);
    let start = sandbox.snapshot();
    let mut broken = 0;
    // The test samples more than a thousand steps; `scripts/faults.sh` runs all of them.
    let every = std::env::var_os("REKINDLE_FAULT_ROUNDS").is_some();
    for (kind, stride) in KILLS.into_iter().zip(if every { [1, 1] } else { [3, 9] }) {
        for at in (1..).step_by(stride) {
            sandbox.restore(&start);
            let output = faults::run(&command, kind(at));
            let Some(call) = output.fault.clone() else { break };
            broken += 1;
            let what =
                format!("{:?} at step {at} ({call})\n{}{}", kind(at).kind, output.stdout, output.stderr);
            work(&sandbox, &[]);
            assert_once(&sandbox, &what);
        }
    }
    eprintln!("worker: {broken} kills");
    assert!(broken >= 100, "only {broken} steps to break: is the tracer seeing them?");
    // `retry` starts the next attempt of a failed run at once.
    let stride = if every { 1 } else { 23 };
    for kind in REFUSALS {
        for at in (1..).step_by(stride) {
            sandbox.restore(&start);
            let output = faults::run(&command, kind(at));
            let Some(call) = output.fault.clone() else { break };
            broken += 1;
            let what =
                format!("{:?} at step {at} ({call})\n{}{}", kind(at).kind, output.stdout, output.stderr);
            assert!(!output.stderr.contains("panicked"), "{what}");
            work(&sandbox, &[]);
            let waiting: Vec<String> = ["FAILED", "DEAD"]
                .iter()
                .flat_map(|status| runs(&sandbox, &["--status", status]))
                .map(|run| text(&run, "id").to_owned())
                .collect();
            if !waiting.is_empty() {
                let mut retry = vec!["retry"];
                retry.extend(waiting.iter().map(String::as_str));
                sandbox.rekindle(&retry).run().ok();
                work(&sandbox, &[]);
            }
            assert_once(&sandbox, &what);
        }
    }
    eprintln!("worker: {broken} breaks in all");
}

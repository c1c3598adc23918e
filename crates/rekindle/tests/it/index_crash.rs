//! Interrupted indexing: killed or refused at every disk operation, killed at random instants, and run by
//! several processes at once. Afterwards recall answers, and one `reindex` gives the same index as a fresh
//! build.
//!
//! `REKINDLE_FAULT_ROUNDS` repeats the random kills from more states.

use std::fs;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use rekindle_testkit::faults::{self, EIO, PlannedFault};
use rekindle_testkit::{Sandbox, TestCommand, race};
use serde_json::{Value, json};

use crate::{COMPARABLE, order, recall, results, sandbox, save, text};

const QUERIES: [&str; 2] = ["how is the harbour crane greased", "who has the key of the boathouse"];

fn index(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.state().join("index")
}

/// Returns the parts of answers that must not depend on the history of the index.
fn answers(sandbox: &Sandbox) -> Vec<Value> {
    let ask = |query: &&str| {
        let answer = recall(sandbox, query, &COMPARABLE);
        json!([order(&answer), answer["degraded"], answer["documents"], answer["silence"]])
    };
    QUERIES.iter().map(ask).collect()
}

/// Returns the answers of an index built from nothing, and restores the old index.
fn fresh(sandbox: &Sandbox) -> Vec<Value> {
    let before = sandbox.snapshot();
    if index(sandbox).exists() {
        fs::remove_dir_all(index(sandbox)).unwrap();
    }
    sandbox.rekindle(&["reindex"]).run().ok();
    let answers = answers(sandbox);
    assert!(answers.iter().all(|answer| answer[1] == json!([])), "{answers:?}");
    sandbox.restore(&before);
    answers
}

fn furnish(sandbox: &Sandbox, lines: usize) {
    for number in 0..3 {
        save(
            sandbox,
            "howto",
            &format!("crane-{number}"),
            &format!("Harbour crane {number} is greased on day {number}."),
        );
    }
    let lines: String =
        (0..lines).map(|n| format!("- Key number {n} of the boathouse is with sailor {n}.\n")).collect();
    sandbox.write("MEMORY.md", format!("# Memory\n\n## Patterns\n{lines}"));
}

/// Breaks `command` at every step, always from the same state, and compares the result of a `reindex` with
/// `truth`.
fn break_everywhere(
    name: &str,
    sandbox: &Sandbox,
    command: &TestCommand,
    kinds: &[fn(usize) -> PlannedFault],
) -> usize {
    let truth = fresh(sandbox);
    let start = sandbox.snapshot();
    let mut broken = 0;
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
            assert!(!output.stderr.contains("panicked"), "{what}");
            // Recall answers before any repair, from texts that exist.
            let meanwhile = recall(sandbox, QUERIES[0], &["--anyway"]);
            assert!(text(&results(&meanwhile)[0], "text").contains("greased"), "{what}\n{meanwhile}");
            sandbox.rekindle(&["reindex"]).run().ok();
            assert_eq!(answers(sandbox), truth, "{what}");
            let left: Vec<_> =
                fs::read_dir(index(sandbox)).unwrap().map(|file| file.unwrap().file_name()).collect();
            let is_temporary = |name: &std::ffi::OsString| name.to_string_lossy().starts_with(".rekindle-");
            // A killed process leaves at most one temporary file, which the next generation removes.
            assert!(left.iter().filter(|name| is_temporary(name)).count() <= 1, "{what}\n{left:?}");
        }
    }
    sandbox.restore(&start);
    eprintln!("{name}: {broken} breaks");
    broken
}

fn can_trace() -> bool {
    faults::available().inspect_err(|why| rekindle_testkit::skipped(why)).is_ok()
}

const KILLS: [fn(usize) -> PlannedFault; 2] = [PlannedFault::kill, PlannedFault::kill_after];
const REFUSALS: [fn(usize) -> PlannedFault; 2] =
    [|at| PlannedFault::errno(at, EIO), PlannedFault::full_disk_from];

#[test]
fn fnd_10_a_first_index_that_is_cut_off_anywhere_is_finished_by_the_next() {
    if !can_trace() {
        return;
    }
    let sandbox = sandbox();
    furnish(&sandbox, 6);
    fs::remove_dir_all(index(&sandbox)).unwrap();
    let command = sandbox.rekindle(&["reindex"]);
    let broken = break_everywhere("first index", &sandbox, &command, &[KILLS, REFUSALS].concat());
    assert!(broken > 60, "only {broken} steps to break: is the tracer seeing them?");
}

#[test]
fn sto_14_an_index_that_is_renewed_survives_every_break() {
    if !can_trace() {
        return;
    }
    let sandbox = sandbox();
    furnish(&sandbox, 6);
    sandbox.rekindle(&["reindex"]).run().ok();
    sandbox.write("personal-private/howto/crane-1.md", "Harbour crane one is greased twice.\n");
    sandbox.remove("personal-private/howto/crane-2.md");
    let few = sandbox.rekindle(&["reindex"]);
    let broken = break_everywhere("a few changes", &sandbox, &few, &[KILLS, REFUSALS].concat());
    let whole = sandbox.rekindle(&["reindex", "--all"]);
    let broken = broken
        + break_everywhere(
            "everything anew",
            &sandbox,
            &whole,
            &[PlannedFault::kill, |at| PlannedFault::errno(at, EIO)],
        );
    assert!(broken > 60, "only {broken} steps to break: is the tracer seeing them?");
}

/// A save is acknowledged once the note is safe; its index step may be interrupted.
#[test]
fn sto_13_a_save_that_is_cut_off_in_its_index_step_is_caught_up_with() {
    if !can_trace() {
        return;
    }
    let sandbox = sandbox();
    furnish(&sandbox, 6);
    sandbox.rekindle(&["reindex"]).run().ok();
    let start = sandbox.snapshot();
    let command =
        sandbox.rekindle(&["save", "howto", "new", "--body", "The new harbour crane is greased by Ada."]);
    let (_, steps) = faults::watch(&command);
    let in_index =
        |call: &faults::DiskCall| call.path.as_deref().is_some_and(|path| path.contains("/state/index/"));
    let first = steps.iter().position(in_index).unwrap() + 1;
    assert!(steps.len() >= first + 2, "{steps:?}");
    sandbox.restore(&start);
    for kind in [KILLS, REFUSALS].concat() {
        for at in first..=steps.len() {
            sandbox.restore(&start);
            let output = faults::run(&command, kind(at));
            let Some(call) = output.fault.clone() else { break };
            let what = format!("{:?} at step {at} ({call})\n{}", kind(at).kind, output.stderr);
            assert!(sandbox.path("personal-private/howto/new.md").exists(), "{what}");
            let answer = recall(&sandbox, QUERIES[0], &["-k", "10", "--anyway"]);
            let is_there = answer.to_string().contains("by Ada");
            assert!(
                is_there || answer["degraded"] != json!([]),
                "{what}: neither there nor said to be missing"
            );
            // The next save catches up without a `reindex`.
            save(&sandbox, "probe", "next", "The lantern is lit at dusk.");
            let answer = recall(&sandbox, QUERIES[0], &["-k", "10", "--anyway"]);
            assert!(answer.to_string().contains("by Ada"), "{what}\n{answer}");
            sandbox.rekindle(&["undo"]).run().ok();
            sandbox.rekindle(&["reindex"]).run().ok();
            assert_eq!(answers(&sandbox), fresh(&sandbox), "{what}");
        }
    }
}

/// A deterministic random generator, so that a seed gives the same sequence on every machine.
struct CrashRng(u64);

impl CrashRng {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides.max(1)
    }
}

/// Starts `reindex` and kills it after a while. Returns true if it was still running.
fn kill_after(sandbox: &Sandbox, args: &[&str], while_: Duration) -> bool {
    let mut child = Process::new(env!("CARGO_BIN_EXE_rekindle"))
        .args(args)
        .env_clear()
        .env("HOME", sandbox.user_home())
        .env("REKINDLE_HOME", sandbox.home())
        .env("REKINDLE_INDEX_BACKGROUND", "false")
        .current_dir(sandbox.work())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(while_);
    let running = child.try_wait().unwrap().is_none();
    child.kill().ok();
    child.wait().unwrap();
    running
}

#[test]
fn fnd_10_killed_at_random_instants_it_still_becomes_what_a_fresh_build_is() {
    let rounds: usize =
        std::env::var("REKINDLE_FAULT_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let sandbox = sandbox();
    furnish(&sandbox, 20);
    let mut dice = CrashRng(20_261_115);
    let mut killed = 0;
    for round in 0..6 * rounds {
        // A change, or a deleted index, and a `reindex` that is killed several times.
        match round % 3 {
            0 => fs::remove_dir_all(index(&sandbox)).unwrap(),
            1 => furnish_more(&sandbox, round),
            _ => sandbox.remove(format!("personal-private/howto/extra-{}.md", round - 1)),
        }
        let truth = fresh(&sandbox);
        let before = sandbox.snapshot();
        for _ in 0..5 {
            sandbox.restore(&before);
            for kill in 0..3 {
                let args: &[&str] = if kill == 1 { &["reindex", "--all"] } else { &["reindex"] };
                let probe = sandbox.snapshot();
                let start = Instant::now();
                sandbox.rekindle(args).run().ok();
                let whole = u64::try_from(start.elapsed().as_micros()).unwrap();
                sandbox.restore(&probe);
                killed +=
                    usize::from(kill_after(&sandbox, args, Duration::from_micros(dice.roll(whole * 9 / 10))));
            }
            let answer = recall(&sandbox, QUERIES[0], &["--anyway"]);
            assert!(text(&results(&answer)[0], "text").contains("greased"), "round {round}: {answer}");
            sandbox.rekindle(&["reindex"]).run().ok();
            assert_eq!(answers(&sandbox), truth, "round {round}");
        }
    }
    eprintln!("{killed} kills while it was running");
    assert!(killed > 40, "only {killed} kills struck a running process");
}

fn furnish_more(sandbox: &Sandbox, round: usize) {
    let body: String = (0..20)
        .map(|n| format!("## Part {n}\n\nThe harbour crane of round {round} has a part {n}.\n\n"))
        .collect();
    sandbox.write(format!("personal-private/howto/extra-{round}.md"), body);
}

#[test]
fn fnd_10_saving_indexing_and_recalling_at_once_lose_nothing_and_never_fail() {
    const SAVES: usize = 25;
    let sandbox = sandbox();
    furnish(&sandbox, 10);
    sandbox.rekindle(&["reindex"]).run().ok();
    let commands: Vec<Vec<TestCommand>> = vec![
        (0..SAVES).map(|n| saving(&sandbox, "left", n)).collect(),
        (0..SAVES).map(|n| saving(&sandbox, "right", n)).collect(),
        (0..10)
            .map(|n| sandbox.rekindle(if n % 2 == 0 { &["reindex", "--all"] } else { &["reindex"] }))
            .collect(),
        (0..SAVES).map(|n| sandbox.rekindle(&["recall", QUERIES[n % 2], "--json", "--anyway"])).collect(),
    ];
    let jobs = commands.into_iter().map(|commands| {
        let run = |command: TestCommand| command.limit(Duration::from_secs(60)).run().ok();
        move || commands.into_iter().map(run).collect::<Vec<_>>()
    });
    let outputs = race::together(Duration::from_secs(150), jobs);
    for output in &outputs[3] {
        let answer = output.json();
        assert!(!results(&answer).is_empty(), "{answer}");
    }
    for output in outputs.iter().flatten() {
        assert!(!output.stderr.contains("panicked") && !output.stderr.contains("error"), "{}", output.stderr);
    }
    // One more save indexes the notes of saves that found the lock taken.
    saving(&sandbox, "last", 0).run().ok();
    let answer = recall(&sandbox, "tally", &["--anyway"]);
    let expected = 3 + 10 + 2 * SAVES + 1;
    assert_eq!(answer["documents"], json!(expected), "{answer}");
    sandbox.rekindle(&["reindex"]).run().ok();
    assert_eq!(answers(&sandbox), fresh(&sandbox));
}

fn saving(sandbox: &Sandbox, who: &str, number: usize) -> TestCommand {
    let body = format!("Tally {who} {number}: the harbour crane lifted {number} crates.");
    sandbox.rekindle(&["save", "tally", &format!("{who}-{number}"), "--body", &body])
}

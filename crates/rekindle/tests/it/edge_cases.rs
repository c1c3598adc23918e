//! Robustness: a slow disk, a full disk, a lost database, a wrong clock, and the leftovers of killed
//! commands.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{ChildStdin, Stdio};
use std::time::{Duration, Instant, SystemTime};

use rekindle_testkit::Sandbox;
use rekindle_testkit::faults::{self, SlowDisk};
use serde_json::json;

use crate::capture::{ClaudeTranscript, hook_command, observed, runs, work};
use crate::inject::{context, start};
use crate::{sandbox, text};

/// The tolerance on a hook's time budget, for a shared machine.
const SLACK: Duration = Duration::from_millis(350);

fn can_trace() -> bool {
    faults::available().inspect_err(|why| rekindle_testkit::skipped(why)).is_ok()
}

fn spooled(sandbox: &Sandbox) -> usize {
    let files = fs::read_dir(sandbox.state().join("spool")).into_iter().flatten().flatten();
    files.filter(|file| file.path().extension().is_some_and(|end| end == "json")).count()
}

/// Runs a hook with standard input left open; returns the elapsed time and the output.
fn with_open_pipe(sandbox: &Sandbox, event: &str, input: &str) -> (Duration, String) {
    let began = Instant::now();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_rekindle"))
        .args(["hook", "claude", event])
        .env("HOME", sandbox.user_home())
        .env("REKINDLE_HOME", sandbox.home())
        .env("REKINDLE_CAPTURE_BACKGROUND", "false")
        .current_dir(sandbox.work())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe: ChildStdin = child.stdin.take().unwrap();
    pipe.write_all(input.as_bytes()).unwrap();
    pipe.flush().unwrap();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "it waits for the end of the pipe");
        std::thread::sleep(Duration::from_millis(2));
    };
    let took = began.elapsed();
    assert!(status.success());
    drop(pipe);
    (took, String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap())
}

/// Requirements: BRF-08.
#[test]
fn brf_06_brf_07_a_pipe_that_stays_open_holds_no_hook_up() {
    let sandbox = sandbox();
    let session = ClaudeTranscript::new(&sandbox, "s");
    // A complete JSON value is not waited on.
    let (took, _) = with_open_pipe(&sandbox, "SessionEnd", &session.input().to_string());
    assert!(took < Duration::from_millis(500) + SLACK, "{took:?}");
    assert_eq!(spooled(&sandbox), 1);
    // An incomplete value never ends; the hook stops at its deadline.
    for (event, budget) in [("UserPromptSubmit", 300), ("SessionStart", 500), ("Stop", 500)] {
        let (took, said) = with_open_pipe(&sandbox, event, "{\"session_id\": \"s\", ");
        assert!(took < Duration::from_millis(budget) + SLACK, "{event}: {took:?}");
        assert_eq!(said, "");
    }
    assert_eq!(spooled(&sandbox), 1);
}

#[test]
fn brf_06_cap_16_a_slow_sync_holds_no_hook_up_and_loses_no_signal() {
    if !can_trace() {
        return;
    }
    let sandbox = crate::inject::warm();
    let command =
        hook_command(&sandbox, "claude", "SessionStart", &json!({"session_id": "s1", "source": "startup"}));
    let (output, took) = faults::run_slowly(&command, SlowDisk::Sync(Duration::from_millis(500)));
    assert!(took < Duration::from_millis(500) + SLACK, "{took:?}");
    // The tracer slows everything down, so the briefing may miss its deadline here.
    output.ok();
    assert_eq!(spooled(&sandbox), 1, "what it was sent is written down after it ended");
    let session = ClaudeTranscript::new(&sandbox, "s2");
    let command = hook_command(&sandbox, "claude", "SessionEnd", &session.input());
    let (output, took) = faults::run_slowly(&command, SlowDisk::Sync(Duration::from_millis(700)));
    assert!(took < Duration::from_millis(500) + SLACK, "{took:?}");
    output.ok();
    assert_eq!(spooled(&sandbox), 2);
    let log = fs::read_to_string(sandbox.state().join("logs/hooks.jsonl")).unwrap();
    assert!(log.contains("the disk was slow"), "{log}");
}

#[test]
fn brf_07_cap_16_a_slow_stat_keeps_the_hook_within_its_budget() {
    if !can_trace() {
        return;
    }
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.goes_on_for(2);
    let slow = SlowDisk::Stat(Duration::from_millis(40));
    for (event, budget) in [("SessionStart", 500), ("UserPromptSubmit", 300), ("SessionEnd", 500)] {
        let mut input = session.input();
        input["prompt"] = json!("when does the pump run?");
        let command = hook_command(&sandbox, "claude", event, &input);
        let (output, took) = faults::run_slowly(&command, slow);
        output.ok();
        // A traced process is slow to load before its first line. Without a deadline it takes 1.6 s.
        assert!(took < Duration::from_millis(budget) + 2 * SLACK, "{event}: {took:?}");
    }
    assert_eq!(spooled(&sandbox), 2);
    work(&sandbox, &[]);
    assert_eq!(observed(&sandbox).len(), 1);
}

#[test]
fn brf_06_a_pipe_in_the_state_folder_holds_no_hook_up() {
    let sandbox = sandbox();
    let turns = sandbox.state().join("turns");
    drop(fs::remove_file(&turns));
    assert!(std::process::Command::new("mkfifo").arg(&turns).status().unwrap().success());
    let session = ClaudeTranscript::new(&sandbox, "s");
    let began = Instant::now();
    session.hook(&sandbox, "SessionStart");
    assert!(began.elapsed() < Duration::from_millis(500) + SLACK, "{:?}", began.elapsed());
    fs::remove_file(&turns).unwrap();
}

#[test]
fn r_02_a_relative_rekindle_home_is_refused() {
    let sandbox = sandbox();
    let before = sandbox.everything();
    let status = sandbox.rekindle(&["status"]).env("REKINDLE_HOME", "mem").cwd(sandbox.work()).run().fails(2);
    assert!(status.stderr.contains("REKINDLE_HOME"), "{}", status.stderr);
    assert_eq!(sandbox.everything(), before);
    assert!(!sandbox.work().join("mem").exists());
}

#[test]
fn exe_14_a_session_is_captured_when_the_database_is_gone() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.hook(&sandbox, "SessionStart");
    session.says("Remember that pump 7 is wired backwards.");
    session.goes_on_for(5);
    work(&sandbox, &[]);
    for file in ["rekindle.db", "rekindle.db-wal", "rekindle.db-shm"] {
        drop(fs::remove_file(sandbox.state().join(file)));
    }
    let over = ["-c", "capture.idle_minutes=0", "-c", "capture.dead_minutes=0"];
    work(&sandbox, &[]);
    assert_eq!(observed(&sandbox).len(), 0, "it may be going on");
    // A session that began a moment ago is not over, whatever the settings say.
    std::thread::sleep(Duration::from_millis(1100));
    work(&sandbox, &over);
    let windows = observed(&sandbox);
    assert_eq!(windows.len(), 1, "{:?}", runs(&sandbox, &[]));
    assert_eq!(text(&windows[0], "sessionId"), "s");
    assert!(sandbox.state().join("sessions/session-id-s.reflected").exists());
    work(&sandbox, &over);
    assert_eq!(observed(&sandbox).len(), 1);
}

#[test]
fn exe_14_a_session_on_a_full_disk_is_found_by_the_name_of_its_marker() {
    let sandbox = sandbox();
    work(&sandbox, &[]);
    let mut session = ClaudeTranscript::new(&sandbox, "0f8fad5b-d9cb-469f-a165-70867728950e");
    let folder = sandbox.user_home().join(".claude/projects/-work");
    fs::create_dir_all(&folder).unwrap();
    session.path = folder.join(format!("{}.jsonl", session.id));
    // A hook with a full disk leaves the file with no content.
    let marker = sandbox.state().join(format!("sessions/session-id-{}.start", session.id));
    fs::create_dir_all(marker.parent().unwrap()).unwrap();
    fs::write(&marker, "").unwrap();
    fs::set_permissions(&marker, fs::Permissions::from_mode(0o600)).unwrap();
    session.says("Remember that pump 7 is wired backwards.");
    session.goes_on_for(3);
    std::thread::sleep(Duration::from_millis(50));
    work(&sandbox, &["-c", "capture.idle_minutes=0", "-c", "capture.dead_minutes=0"]);
    let windows = observed(&sandbox);
    assert_eq!(windows.len(), 1, "{:?}", runs(&sandbox, &[]));
    assert_eq!(text(&windows[0], "sessionId"), session.id);
    assert!(!marker.exists());
    let checks = sandbox.rekindle(&["doctor", "--json"]).run().stdout;
    assert!(!checks.contains("session-id-"), "{checks}");
}

#[test]
fn exe_15_a_session_stamped_in_the_future_is_told_and_ends_like_any_other() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.goes_on_for(3);
    session.hook(&sandbox, "SessionStart");
    let spool = sandbox.state().join("spool");
    let file =
        fs::read_dir(&spool).unwrap().flatten().map(|file| file.path()).find(|path| path.is_file()).unwrap();
    let mut signal: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    signal["at"] = json!("2091-03-01T10:00:00Z");
    fs::write(&file, signal.to_string()).unwrap();
    // A worker that never ended would be killed here.
    work(&sandbox, &[]);
    let told = sandbox.rekindle(&["doctor", "--json"]).run().stdout;
    assert!(told.contains("with a start in the future, up to 2091-03-01T10:00:00Z"), "{told}");
    std::thread::sleep(Duration::from_millis(20));
    work(&sandbox, &["-c", "capture.idle_minutes=0", "-c", "capture.dead_minutes=0"]);
    assert_eq!(observed(&sandbox).len(), 1, "{:?}", runs(&sandbox, &[]));
    let told = sandbox.rekindle(&["doctor", "--json"]).run().stdout;
    assert!(!told.contains("in the future"), "{told}");
    work(&sandbox, &["-c", "capture.idle_minutes=0", "-c", "capture.dead_minutes=0"]);
    assert_eq!(observed(&sandbox).len(), 1);
}

#[test]
fn mnt_08_temporary_files_of_killed_commands_are_swept() {
    let sandbox = sandbox();
    let home = sandbox.home().to_owned();
    let plant = |folder: PathBuf, name: &str, days: u64| {
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        fs::write(&path, "half").unwrap();
        let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
        fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
        path
    };
    let folders = || {
        let state = ["", "sessions", "spool", "locks"].map(|name| sandbox.state().join(name));
        let vault = ["", "personal-private", "memory"].map(|name| sandbox.vault().join(name));
        let more = [home.clone(), home.join("models"), home.join("agents")];
        state.into_iter().chain(vault).chain(more)
    };
    let old: Vec<_> =
        folders().map(|folder| plant(folder, ".rekindle-write-0123456789abcdef.tmp", 3)).collect();
    let young: Vec<_> =
        folders().map(|folder| plant(folder, ".rekindle-write-fedcba9876543210.tmp", 0)).collect();
    let checks = sandbox.rekindle(&["doctor", "--json"]).run().stdout;
    assert!(!checks.contains("looks like session-id-"), "they are no markers: {checks}");
    let at = "2026-01-01T02:00:00Z";
    let data = json!({"function": "tidy", "due": at});
    let event = json!({"id": "schedule-tidy-1", "name": "system/schedule.reached", "data": data, "at": at});
    let spooled = json!({"version": 1, "id": "tidy", "at": at, "what": {"event": event}});
    fs::write(sandbox.state().join("spool/tidy.json"), spooled.to_string()).unwrap();
    work(&sandbox, &[]);
    let left: Vec<_> = old.iter().filter(|path| path.exists()).collect();
    assert!(left.is_empty(), "{left:?}\n{:?}", runs(&sandbox, &[]));
    assert!(young.iter().all(|path| path.exists()));
}

#[test]
fn exe_16_a_reindex_that_is_stopped_leaves_the_index_as_it_was() {
    let sandbox = crate::inject::warm();
    for n in 0..40 {
        sandbox.write(format!("personal-private/fact/hand-{n}.md"), format!("Pump {n} runs at night.\n"));
    }
    let before = sandbox.rekindle(&["reindex", "--json"]).run().ok().json();
    let stop = sandbox.state().join("STOP");
    fs::write(&stop, "").unwrap();
    let output = sandbox.rekindle(&["reindex", "--all", "--json"]).run().ok();
    let stopped = output.json();
    assert!(output.stderr.contains("stopped because "), "{}", output.stderr);
    assert_eq!((&stopped["stopped"], &stopped["read"]), (&json!(true), &json!(0)), "{stopped}");
    assert_eq!(stopped["documents"], before["documents"], "the index is as it was");
    // With nothing to read, nothing is stopped.
    let output = sandbox.rekindle(&["reindex", "--json"]).run().ok();
    assert_eq!((output.stderr.as_str(), &output.json()["stopped"]), ("", &json!(false)));
    fs::remove_file(&stop).unwrap();
    assert!(!crate::results(&crate::recall(&sandbox, "when does pump 21 run?", &[])).is_empty());
}

#[test]
fn brf_01_a_start_tells_of_failed_runs_and_an_index_that_is_behind() {
    let sandbox = crate::inject::warm();
    let told = |session: &str| context(&start(&sandbox, session, "startup")).to_owned();
    let fine = told("s1");
    assert!(!fine.contains("Rekindle: "), "{fine}");
    fs::write(sandbox.state().join("health.json"), r#"{"failed": 0, "dead": 2}"#).unwrap();
    let failed = told("s2");
    assert!(failed.contains("2 background runs failed for good"), "{failed}");
    work(&sandbox, &[]);
    let fine = told("s3");
    assert!(!fine.contains("background run"), "the worker knows better: {fine}");
    // The journal has the change; the index is older.
    let index = sandbox.state().join("index");
    let copy = sandbox.state().join("index-before");
    assert!(std::process::Command::new("cp").arg("-a").args([&index, &copy]).status().unwrap().success());
    crate::save(&sandbox, "fact", "valve", "The valve is blue.");
    fs::remove_dir_all(&index).unwrap();
    fs::rename(&copy, &index).unwrap();
    let behind = told("s4");
    assert!(behind.contains("the newest notes are not in the index yet"), "{behind}");
}

//! Malformed sessions: kept with the right date and project, or skipped with a clear reason.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rekindle_testkit::Sandbox;
use serde_json::{Value, json};

use crate::capture::{hook, log, runs, work};
use crate::distil::{self, ScriptedSession, observe_run};
use crate::inject::{context, fire};
use crate::{project, sandbox, text};

/// A sentence that becomes a memory, whatever surrounds it.
const RULE: &str = "From now on always flush the valve before a pressure test.";

fn days(sandbox: &Sandbox) -> Vec<String> {
    let files = fs::read_dir(sandbox.vault().join("memory")).into_iter().flatten();
    let mut days: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    days.retain(|name| name.ends_with(".md"));
    days.sort();
    days
}

fn listed(sandbox: &Sandbox, cwd: &Path) -> Vec<Value> {
    let listed = sandbox.rekindle(&["list", "--project", "--json"]).cwd(cwd).run().ok().json();
    listed.as_array().unwrap().clone()
}

/// True if the project of `cwd` has an entry with this word.
fn holds(sandbox: &Sandbox, cwd: &Path, word: &str) -> bool {
    listed(sandbox, cwd).iter().any(|entry| entry.to_string().to_lowercase().contains(word))
}

fn ends(sandbox: &Sandbox, agent: &str, id: &str, path: &Path, cwd: &Path) {
    let input = json!({"session_id": id, "transcript_path": path, "cwd": cwd});
    hook(sandbox, agent, "SessionEnd", &input);
    work(sandbox, &[]);
}

/// Replaces the times in a transcript.
fn with_times(path: &Path, time: impl Fn(usize) -> Value) {
    let text: String = fs::read_to_string(path)
        .unwrap()
        .lines()
        .enumerate()
        .map(|(number, line)| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            line["timestamp"] = time(number);
            format!("{line}\n")
        })
        .collect();
    fs::write(path, text).unwrap();
}

fn valve_session(cwd: &Path, id: &str) -> ScriptedSession {
    let mut told = ScriptedSession::new(cwd.to_path_buf(), id);
    told.user("The valve test fails on my machine, can you look into it?")
        .agent("The pressure is read before the valve has settled.")
        .user(RULE)
        .agent("Understood.");
    told
}

#[test]
fn r_13_a_session_of_one_word_says_why_nothing_came_of_it() {
    let sandbox = sandbox();
    let mut told = ScriptedSession::new(project(&sandbox, "pumps"), "s1");
    told.user("hi").agent("Hello!");
    told.ends(&sandbox);
    let skipped: Vec<Value> =
        runs(&sandbox, &[]).into_iter().filter(|run| run["status"] == "SKIPPED").collect();
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    let run = sandbox.rekindle(&["run", text(&skipped[0], "id"), "--json"]).run().ok().json();
    assert!(text(&run, "reason").contains("word"), "{run}");
}

#[test]
fn r_13_a_fact_told_in_six_words_is_kept_and_a_short_question_is_not() {
    for (words, is_kept) in [
        ("The staging database listens on 5433.", true),
        ("Run the tests with `just check`, plain cargo test misses the fixtures.", true),
        ("Postgres listens on 5434 now, not 5433.", true),
        ("What does the parser do with tabs?", false),
        ("run the tests", false),
    ] {
        let sandbox = sandbox();
        let cwd = project(&sandbox, "pumps");
        let mut told = ScriptedSession::new(cwd.clone(), "s1");
        told.user(words).agent("Done.");
        told.ends(&sandbox);
        let input = json!({"session_id": "s2", "source": "startup", "cwd": cwd});
        let answer = fire(&sandbox, "SessionStart", &input);
        let start =
            if answer["hookSpecificOutput"].is_null() { String::new() } else { context(&answer).to_owned() };
        let said = words.trim_end_matches('.');
        assert_eq!(start.contains(said) && start.contains("[m-"), is_kept, "{words}: {start}");
    }
}

#[test]
fn b_04_a_session_of_a_hundred_megabytes_is_learnt_from_in_bounded_memory() {
    const MEGABYTES: usize = 100;
    let outer = sandbox();
    // The limit is half a gigabyte of anonymous memory; the models need a third of it.
    let limited = outer.work().join("rekindle");
    let script = format!("#!/bin/sh\nulimit -d 500000\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_rekindle"));
    fs::write(&limited, script).unwrap();
    fs::set_permissions(&limited, fs::Permissions::from_mode(0o755)).unwrap();
    let sandbox = Sandbox::new(limited).init();
    let cwd = project(&sandbox, "pumps");
    let path = valve_session(&cwd, "s1").path(&sandbox);
    let head = fs::read_to_string(&path).unwrap();
    let mut file = BufWriter::new(fs::File::create(&path).unwrap());
    file.write_all(head.as_bytes()).unwrap();
    let output = "reading 0123456789 within bounds\n".repeat(6_400);
    let mut parent = "s1-3".to_owned();
    for number in 0..MEGABYTES * 5 {
        let entry = |kind: &str, id: &str, parent: &str, content: Value| {
            json!({"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s1", "cwd": cwd,
                "timestamp": format!("2026-11-14T{:02}:{:02}:{:02}.000Z", 10 + number / 3600, number / 60 % 60, number % 60),
                "message": {"role": kind, "content": content}})
        };
        let (call, result) = (format!("c{number}"), format!("r{number}"));
        let calls =
            json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "cat readings"}}]);
        writeln!(file, "{}", entry("assistant", &call, &parent, calls)).unwrap();
        let results = json!([{"type": "tool_result", "tool_use_id": call, "content": output}]);
        writeln!(file, "{}", entry("user", &result, &call, results)).unwrap();
        parent = result;
    }
    file.into_inner().unwrap().sync_all().unwrap();
    assert!(fs::metadata(&path).unwrap().len() > (MEGABYTES as u64) << 20);
    ends(&sandbox, "claude", "s1", &path, &cwd);
    assert!(log(&sandbox).contains("flush the valve"), "{}", log(&sandbox));
    assert!(!log(&sandbox).contains("within bounds"));
}

#[test]
fn a_fork_brings_only_what_is_new() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let told = valve_session(&cwd, "s1");
    told.ends(&sandbox);
    let before = log(&sandbox);
    // A fork: the same entries under another session, plus a new one.
    let mut forked: String = fs::read_to_string(told.path(&sandbox))
        .unwrap()
        .replace("\"sessionId\":\"s1\"", "\"sessionId\":\"s2\"");
    for (id, parent, kind, words) in [
        ("f1", "s1-3", "user", "Also never open both valves at once, the pipe bursts."),
        ("f2", "f1", "assistant", "Understood, one valve at a time."),
    ] {
        let line = json!({"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s2", "cwd": cwd,
            "timestamp": "2026-11-14T12:00:00.000Z", "message": {"role": kind, "content": [{"type": "text", "text": words}]}});
        forked.push_str(&format!("{line}\n"));
    }
    let path = sandbox.work().join("s2.jsonl");
    fs::write(&path, forked).unwrap();
    ends(&sandbox, "claude", "s2", &path, &cwd);
    let new = log(&sandbox);
    assert!(new.contains("never open both valves at once"), "{new}");
    assert_eq!(new.matches("_“The valve test fails").count(), 1, "{new}");
    assert_eq!(new.matches("flush the valve").count(), before.matches("flush the valve").count(), "{new}");
}

#[test]
fn two_agents_in_one_folder_are_two_sessions_of_one_project() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    valve_session(&cwd, "same-id").ends(&sandbox);
    let entry = |id: &str, parent: Option<&str>, role: &str, text: &str| {
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-14T10:00:00Z",
            "message": {"role": role, "content": [{"type": "text", "text": text}]}})
    };
    let lines = [
        json!({"type": "session", "version": 3, "id": "same-id", "timestamp": "2026-11-14T10:00:00Z", "cwd": cwd}),
        entry("1", None, "user", "Look at the boiler logs, why does it trip at night?"),
        entry("2", Some("1"), "assistant", "The boiler trips because the night setback is too low."),
        entry("3", Some("2"), "user", "From now on always read the boiler logs in UTC."),
        entry("4", Some("3"), "assistant", "Understood."),
    ];
    let path = sandbox.work().join("pi.jsonl");
    fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    ends(&sandbox, "pi", "same-id", &path, &cwd);
    assert!(holds(&sandbox, &cwd, "flush") && holds(&sandbox, &cwd, "boiler"), "{}", log(&sandbox));
    assert_eq!(listed(&sandbox, &cwd).len(), 2);
}

#[test]
fn r_17_messages_without_times_count_for_the_day_of_the_capture() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let path = valve_session(&cwd, "s1").path(&sandbox);
    with_times(&path, |_| Value::Null);
    ends(&sandbox, "claude", "s1", &path, &cwd);
    let log = log(&sandbox);
    assert!(
        log.contains("flush the valve") && log.contains("(early in session)") || log.contains("(near end)"),
        "{log}"
    );
    assert_eq!(days(&sandbox).len(), 1, "{:?}", days(&sandbox));
}

#[test]
fn r_17_a_clock_that_jumped_makes_no_log_of_another_age() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let path = valve_session(&cwd, "s1").path(&sandbox);
    // The clock is right, then reset, then in the next century, then right again.
    let times =
        ["2026-01-14T09:00:00Z", "1970-01-01T00:00:07Z", "2126-03-01T09:00:00Z", "2026-01-14T09:03:00Z"];
    with_times(&path, |number| json!(times[number % 4]));
    ends(&sandbox, "claude", "s1", &path, &cwd);
    assert_eq!(days(&sandbox), ["2026-01-14.md"]);
    assert!(log(&sandbox).contains("flush the valve"), "{}", log(&sandbox));
    // A clock that went back within a day keeps the day and every message.
    let back = valve_session(&cwd, "s2").path(&sandbox);
    with_times(&back, |number| json!(format!("2026-01-15T{:02}:00:00Z", 20 - number)));
    ends(&sandbox, "claude", "s2", &back, &cwd);
    assert_eq!(days(&sandbox), ["2026-01-14.md", "2026-01-15.md"]);
}

#[test]
fn b_05_a_folder_without_git_keeps_its_sessions_apart_from_others() {
    let sandbox = sandbox();
    let cwd = sandbox.work().join("notes-on-pumps");
    fs::create_dir_all(&cwd).unwrap();
    fs::write(cwd.join("AGENTS.md"), "# Pumps\n").unwrap();
    valve_session(&cwd, "s1").ends(&sandbox);
    assert!(holds(&sandbox, &cwd, "flush"), "{}", log(&sandbox));
    assert!(!holds(&sandbox, &project(&sandbox, "kettles"), "flush"), "another project's");
    assert!(!log(&sandbox).contains("Not committed"), "{}", log(&sandbox));
}

#[test]
fn b_05_what_was_said_in_a_folder_that_is_gone_holds_nowhere_else() {
    let sandbox = sandbox();
    let (gone, pumps) = (sandbox.work().join("gone"), project(&sandbox, "pumps"));
    let mut told = ScriptedSession::new(gone, "s1");
    told.user("Please rename the valve module.").edits("src/valve.rs").agent("Renamed.");
    told.user("From now on always run the tests with --release.").agent("Understood.").ends(&sandbox);
    assert_eq!(distil::listed(&observe_run(&sandbox)["output"]["saved"]).len(), 1);
    let start = json!({"session_id": "next", "source": "startup", "cwd": pumps});
    let answer = fire(&sandbox, "SessionStart", &start);
    assert!(!answer.to_string().contains("--release"), "{answer}");
}

#[test]
fn b_05_a_renamed_repository_keeps_what_was_said_in_it() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    valve_session(&cwd, "s1").ends(&sandbox);
    assert!(holds(&sandbox, &cwd, "flush"));
    // The remote is renamed, and then the folder.
    let config = cwd.join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("pumps", "water-works")).unwrap();
    assert!(holds(&sandbox, &cwd, "flush"), "the remote was renamed");
    let moved = sandbox.work().join("water-works");
    fs::rename(&cwd, &moved).unwrap();
    assert!(holds(&sandbox, &moved, "flush"), "the folder was renamed");
    // New statements belong to the same project.
    let mut later = ScriptedSession::new(moved.clone(), "s2");
    later
        .user("Look at the boiler.")
        .agent("It is fine.")
        .user("From now on always read the boiler logs in UTC.")
        .agent("Ok.");
    later.ends(&sandbox);
    assert!(holds(&sandbox, &moved, "flush") && holds(&sandbox, &moved, "boiler"));
}

//! `rekindle gate`, `e2e` and `weekly`: the real hooks of all agents, green twice, red for planted faults, and no trace
//! (B-10, O11-09 to O11-11, VER-15).

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rekindle_engine::platform::db::{Database, params};
use rekindle_testkit::{CommandResult, Sandbox, TestCommand};
use serde_json::{Value, json};

use crate::{install, sandbox, text};

const LIMIT: Duration = Duration::from_secs(180);
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// A home whose agents are connected.
fn connected(agents: &[&str]) -> Sandbox {
    let sandbox = sandbox();
    sandbox.rekindle(&[&["install"], agents, &["--yes", "--trust"]].concat()).run().ok();
    sandbox
}

/// A command whose hooks start workers, as they do for a person.
fn command(sandbox: &Sandbox, args: &[&str]) -> TestCommand {
    sandbox.rekindle(args).without_env("REKINDLE_CAPTURE_BACKGROUND").limit(LIMIT)
}

fn run(sandbox: &Sandbox, args: &[&str]) -> CommandResult {
    command(sandbox, &[args, &["--json", "--poll-ms", "50"]].concat()).run()
}

/// The failed steps of a report: agent or part, step, and the failure.
fn failures(report: &Value) -> Vec<(String, String, Value)> {
    let steps = report["steps"].as_array().unwrap_or_else(|| panic!("{report}"));
    let failed = steps.iter().filter(|step| !step["failure"].is_null());
    failed
        .map(|step| {
            let place = step["agent"].as_str().unwrap_or_else(|| text(step, "part"));
            (place.to_owned(), text(step, "step").to_owned(), step["failure"].clone())
        })
        .collect()
}

/// Expects that a command is red for one reason, and returns it.
#[track_caller]
fn red(sandbox: &Sandbox, args: &[&str], place: &str, step: &str) -> Value {
    let report = run(sandbox, args).fails(1).json();
    let failed = failures(&report);
    assert_eq!(failed.len(), 1, "{report:#}");
    assert_eq!((failed[0].0.as_str(), failed[0].1.as_str()), (place, step), "{report:#}");
    assert_eq!(report["nextActions"], json!([failed[0].2["next"]]));
    assert!(!sandbox.state().join("gate").exists(), "the scratch home is gone");
    failed[0].2.clone()
}

/// The files of the home that a gate may write: its history, and what the health checks measure with.
fn without_own(mut files: BTreeMap<PathBuf, Vec<u8>>) -> BTreeMap<PathBuf, Vec<u8>> {
    let own =
        ["gate.jsonl", "gate.lock", "health-measured", "rekindle.db", "rekindle.db-wal", "rekindle.db-shm"];
    files.retain(|path, _| !own.iter().any(|name| path.ends_with(name)));
    files
}

fn settings(sandbox: &Sandbox) -> PathBuf {
    sandbox.user_home().join(".claude/settings.json")
}

/// Changes the settings of Claude Code.
fn edit(sandbox: &Sandbox, change: impl FnOnce(String) -> String) {
    let before = fs::read_to_string(settings(sandbox)).unwrap();
    let after = change(before.clone());
    assert_ne!(after, before);
    fs::write(settings(sandbox), after).unwrap();
}

/// Replaces the program in the hooks of Claude Code with a script, which may run the real one as `$REAL`.
fn replace_program(sandbox: &Sandbox, script: &str) {
    let folder = sandbox.work().join("bin");
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("rekindle");
    let real = env!("CARGO_BIN_EXE_rekindle");
    fs::write(&program, format!("#!/bin/sh\nREAL='{real}'\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    edit(sandbox, |settings| settings.replace(real, program.to_str().unwrap()));
}

/// B-10, O11-11, VER-15: the gate is green twice in a row with every agent, and nothing of it stays.
#[test]
fn b_10_o11_11_ver_15_the_gate_is_green_twice_with_every_agent_and_leaves_nothing() {
    let sandbox = connected(&["claude", "codex", "gemini", "pi"]);
    let (home, agents) = (sandbox.everything(), install::home(&sandbox));
    // Both parts alone leave the database as it is, too: here there is none.
    run(&sandbox, &["e2e"]).ok();
    run(&sandbox, &["weekly"]).ok();
    let lock = sandbox.state().join("locks/gate.lock");
    let changed: Vec<PathBuf> = sandbox
        .everything()
        .into_iter()
        .filter(|(path, bytes)| home.get(path) != Some(bytes))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(changed, [lock]);
    for _ in 0..2 {
        let report = run(&sandbox, &["gate"]).ok().json();
        assert_eq!((failures(&report), &report["ok"]), (Vec::new(), &json!(true)), "{report:#}");
        for agent in ["claude", "codex", "gemini", "pi"] {
            let of_agent = |step: &&Value| step["agent"] == agent;
            let steps: Vec<&str> = report["steps"]
                .as_array()
                .unwrap()
                .iter()
                .filter(of_agent)
                .map(|step| text(step, "step"))
                .collect();
            assert_eq!(steps, ["captured", "distilled", "recalled", "superseded", "forgotten"], "{agent}");
        }
        let parts: Vec<&str> =
            report["steps"].as_array().unwrap().iter().map(|step| text(step, "part")).collect();
        for part in ["setup", "e2e", "weekly", "health"] {
            assert!(parts.contains(&part), "{part}: {report:#}");
        }
        assert!(report["seconds"].as_f64() > Some(0.1) && report["window"]["from"].is_string(), "{report:#}");
        assert_eq!(install::home(&sandbox), agents, "no transcript and no setting of an agent changed");
        let (before, after) = (without_own(home.clone()), without_own(sandbox.everything()));
        let changed: Vec<&PathBuf> = after
            .iter()
            .filter(|(path, bytes)| before.get(*path) != Some(*bytes))
            .map(|(path, _)| path)
            .collect();
        assert_eq!((changed, after.len()), (Vec::new(), before.len()), "no byte of the home changed");
        assert!(!sandbox.state().join("gate").exists());
    }
    let past = sandbox.rekindle(&["gate", "--history", "--json"]).run().ok().json();
    assert_eq!(past["gates"].as_array().unwrap().len(), 2, "{past}");
    let status = sandbox.rekindle(&["status"]).run().ok().stdout;
    assert!(status.contains("gate") && status.contains("green on 20"), "{status}");
    sandbox.rekindle(&["health"]).run().ok();
}

/// O11-09, GEN-04: the round trip alone reports its run, the memories before and after, and what recall finds.
#[test]
fn o11_09_the_round_trip_reports_its_numbers() {
    let sandbox = connected(&["claude"]);
    let report = run(&sandbox, &["e2e", "--wait-ms", "120000"]).ok().json();
    let numbers = &report["roundTrips"][0];
    assert_eq!((numbers["ok"].as_bool(), text(numbers, "agent")), (Some(true), "claude"), "{report:#}");
    assert_eq!(
        (numbers["countBefore"].as_u64(), numbers["countAfter"].as_u64()),
        (Some(0), Some(1)),
        "{report:#}"
    );
    assert!(numbers["hitCount"].as_u64() > Some(0), "{report:#}");
    assert_eq!(numbers["recallExitCode"], 0);
    assert_eq!(text(numbers, "runId").len(), 26, "{report:#}");
    // Sessions need more messages of the person, and the worker runs by hand.
    sandbox.rekindle(&["config", "set", "capture.min_user_messages", "4"]).run().ok();
    sandbox.rekindle(&["config", "set", "capture.background", "false"]).run().ok();
    run(&sandbox, &["e2e"]).ok();
    let shown = command(&sandbox, &["e2e"]).run().ok().stdout;
    assert!(shown.contains("claude  captured") && shown.contains("green: "), "{shown}");
}

/// B-10, O11-11: the gate is red for each planted fault of the installation, and names agent, hook and command.
#[test]
fn b_10_o11_11_a_fault_of_the_hooks_is_named_with_its_hook() {
    let plant = |change: &dyn Fn(&Sandbox)| {
        let sandbox = connected(&["claude"]);
        change(&sandbox);
        sandbox
    };
    let real = env!("CARGO_BIN_EXE_rekindle");
    let gone = plant(&|sandbox| edit(sandbox, |text| text.replace(real, "/nowhere/rekindle")));
    let failure = red(&gone, &["gate"], "claude", "captured");
    assert!(text(&failure, "what").ends_with("does not exist: /nowhere/rekindle"), "{failure}");
    assert_eq!(
        (text(&failure, "hook"), text(&failure, "next")),
        ("SessionStart", "`rekindle install claude`")
    );

    let missing = plant(&|sandbox| {
        edit(sandbox, |text| {
            let mut settings: Value = serde_json::from_str(&text).unwrap();
            settings["hooks"].as_object_mut().unwrap().remove("Stop");
            settings.to_string()
        });
    });
    let failure = red(&missing, &["gate"], "claude", "hooks");
    assert!(text(&failure, "what").starts_with("there is no hook for Stop in "), "{failure}");
    assert_eq!((text(&failure, "hook"), text(&failure, "next")), ("Stop", "`rekindle install claude`"));

    let elsewhere = plant(&|sandbox| {
        let home = sandbox.home().to_str().unwrap().to_owned();
        edit(sandbox, |text| text.replace(&home, "/elsewhere"));
    });
    let failure = red(&elsewhere, &["gate"], "claude", "hooks");
    assert!(text(&failure, "what").contains("uses another home"), "{failure}");

    let noisy = plant(&|sandbox| replace_program(sandbox, "echo hello"));
    let failure = red(&noisy, &["gate"], "claude", "captured");
    assert!(text(&failure, "what").contains("its output is not a JSON object"), "{failure}");

    let idle = plant(&|sandbox| replace_program(sandbox, "exit 0"));
    let failure = red(&idle, &["gate"], "claude", "captured");
    assert!(text(&failure, "what").contains("did nothing"), "{failure}");

    let hooks_are_off =
        plant(&|sandbox| edit(sandbox, |text| text.replacen('{', "{\"disableAllHooks\": true,", 1)));
    let failure = red(&hooks_are_off, &["e2e"], "claude", "hooks");
    assert!(text(&failure, "what").contains("disableAllHooks"), "{failure}");

    // The person has not trusted the hooks of Codex.
    let sandbox = sandbox();
    sandbox.rekindle(&["install", "codex", "--yes"]).run().ok();
    let failure = red(&sandbox, &["e2e"], "codex", "hooks");
    assert_eq!(text(&failure, "next"), "`rekindle install codex --trust`");
}

/// B-10, O11-11: the gate is red for a stage that is broken behind hooks that answer.
#[test]
fn b_10_o11_11_a_fault_behind_the_hooks_is_named_with_its_stage() {
    let quick = ["gate", "--wait-ms", "3000"];
    let sandbox = connected(&["claude"]);
    replace_program(&sandbox, "case \"$*\" in *SessionEnd*) exit 0;; esac\nexec \"$REAL\" \"$@\"");
    let failure = red(&sandbox, &quick, "claude", "captured");
    assert!(text(&failure, "what").starts_with("the session was not captured within 3 s"), "{failure}");

    let sandbox = connected(&["claude"]);
    let mute = "case \"$*\" in *SessionStart*|*UserPromptSubmit*) exec \"$REAL\" \"$@\" >/dev/null;; esac";
    replace_program(&sandbox, &format!("{mute}\nexec \"$REAL\" \"$@\""));
    let failure = red(&sandbox, &quick, "claude", "recalled");
    assert!(text(&failure, "what").starts_with("the next session was not told"), "{failure}");
    assert_eq!(text(&failure, "hook"), "UserPromptSubmit");

    // Hooks that report, and a worker that does not come.
    let sandbox = connected(&["claude"]);
    replace_program(&sandbox, "export REKINDLE_CAPTURE_BACKGROUND=false\nexec \"$REAL\" \"$@\"");
    let failure = red(&sandbox, &quick, "claude", "captured");
    assert!(text(&failure, "what").contains("no worker took in what the hooks reported"), "{failure}");
    assert_eq!(text(&failure, "next"), "`rekindle worker` says what stops it");
}

/// B-10, OPS-03, EXE-16: the gate is red while nothing can work at all.
#[test]
fn b_10_ops_03_what_stops_everything_is_named_once() {
    let sandbox = connected(&["claude"]);
    let stop = sandbox.state().join("STOP");
    fs::write(&stop, "").unwrap();
    let failure = red(&sandbox, &["gate"], "setup", "switch");
    assert!(
        text(&failure, "what").contains("STOP exists") && text(&failure, "next").contains("rm "),
        "{failure}"
    );
    fs::remove_file(stop).unwrap();
    sandbox.rekindle(&["config", "set", "memory.enabled", "false"]).run().ok();
    let failure = red(&sandbox, &["gate"], "setup", "switch");
    assert!(text(&failure, "next").contains("config set memory.enabled true"), "{failure}");
    sandbox.rekindle(&["config", "set", "memory.enabled", "true"]).run().ok();
    // A vault that cannot be written. The superuser may write into every folder, so a file stands in its place.
    let (vault, aside) = (sandbox.vault(), sandbox.work().join("vault"));
    fs::rename(&vault, &aside).unwrap();
    fs::write(&vault, "").unwrap();
    let failure = red(&sandbox, &["e2e"], "setup", "vault");
    assert!(text(&failure, "what").contains("is not writable"), "{failure}");
    fs::remove_file(&vault).unwrap();
    fs::rename(&aside, &vault).unwrap();
    run(&sandbox, &["gate"]).ok();
    sandbox.rekindle(&["uninstall", "--yes"]).run().ok();
    let failure = red(&sandbox, &["gate"], "setup", "agents");
    assert_eq!(text(&failure, "next"), "`rekindle install` connects one");
}

/// Kills the gate after this time.
fn killed_after(sandbox: &Sandbox, seconds: &str) {
    let killed = TestCommand::new("/usr/bin/timeout", sandbox.work())
        .args(&["-s", "KILL", seconds, env!("CARGO_BIN_EXE_rekindle"), "gate"])
        .env("HOME", sandbox.user_home())
        .env("REKINDLE_HOME", sandbox.home())
        .env("REKINDLE_GATE_WEEKLY", "false")
        .limit(LIMIT)
        .run();
    assert!(killed.signal == Some(9) || killed.code == Some(137), "{killed:?}");
}

/// B-10: a gate that is killed in the middle leaves nothing outside of its scratch folder, and the next is green.
#[test]
fn b_10_a_killed_gate_leaves_nothing_and_the_next_is_green() {
    let sandbox = connected(&["claude"]);
    sandbox.rekindle(&["save", "fix", "valve", "--body", "The valve sticks."]).run().ok();
    let (files, agents) = (sandbox.files(), install::home(&sandbox));
    let mut left = 0;
    for seconds in ["0.1", "0.4", "0.8"] {
        killed_after(&sandbox, seconds);
        left += usize::from(sandbox.state().join("gate").exists());
        assert_eq!((sandbox.files(), install::home(&sandbox)), (files.clone(), agents.clone()), "{seconds}");
        assert!(
            !sandbox.state().join("spool").read_dir().unwrap().any(|file| file.unwrap().path().is_file())
        );
    }
    assert!(left > 0, "no gate was killed in the middle");
    let found = sandbox.rekindle(&["recall", "database host", "--json"]).run().ok().stdout;
    assert!(!found.contains("runs on host"), "{found}");
    run(&sandbox, &["gate"]).ok();
    assert!(!sandbox.state().join("gate").exists());
    assert_eq!(sandbox.files(), files);
}

/// O11-10: the weekly job is checked alone: scheduled, ran, runs.
#[test]
fn o11_10_the_weekly_job_is_checked_and_counted_nowhere() {
    let sandbox = sandbox();
    let report = run(&sandbox, &["weekly", "--wait-ms", "60000"]).ok().json();
    let runs = report["steps"].as_array().unwrap().iter().find(|step| step["step"] == "runs").unwrap();
    assert_eq!(runs["evidence"], "2 completed, 0 failed", "{report:#}");
    assert!(!sandbox.state().join("logs/weekly.jsonl").exists(), "a trial is no week");
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    run(&sandbox, &["weekly"]).ok();
    let db = || Database::open(&sandbox.state().join("rekindle.db")).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the binary under test goes by the same clock")]
    let now = rekindle_core::base::time::Timestamp::now().as_millisecond();
    let set = |at: i64| {
        let sql = "UPDATE schedule SET last = ?1 WHERE function = 'weekly-maintenance'";
        db().change(|t| t.execute(sql, [at])).unwrap();
    };
    set(now - 30 * DAY_MS);
    let failure = red(&sandbox, &["weekly"], "weekly", "scheduled");
    assert!(text(&failure, "what").starts_with("it is overdue"), "{failure}");
    set(now);
    db().change(|t| {
        t.execute(
            "INSERT INTO events (id, name, at, received, data) VALUES ('w', 'schedule/reached', ?1, ?1, '{}')",
            [now],
        )?;
        t.execute(
            "INSERT INTO runs (id, event, function, status, error, created, due, ended)
             VALUES ('w', 'w', 'weekly-maintenance', 'DEAD', 'the disk is full', ?1, ?1, ?1)",
            params![now],
        )
    })
    .unwrap();
    let failure = red(&sandbox, &["weekly"], "weekly", "ran");
    assert!(text(&failure, "what").ends_with("says the disk is full"), "{failure}");
}

fn history(sandbox: &Sandbox) -> Vec<Value> {
    let text = fs::read_to_string(sandbox.state().join("gate.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs a worker, which may start a gate, and waits until none is running.
fn works(sandbox: &Sandbox, gates: usize) -> Vec<Value> {
    command(sandbox, &["worker", "--once"]).without_env("REKINDLE_GATE_WEEKLY").run().ok();
    let deadline = Instant::now() + LIMIT;
    while history(sandbox).len() < gates && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    let lock = sandbox.state().join("locks/gate.lock");
    let is_held = |path: &Path| fs::File::open(path).is_ok_and(|file| file.try_lock().is_err());
    while is_held(&lock) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    history(sandbox)
}

/// B-10: the gate runs by itself once a week and after an update, in the background, and keeps a bounded history.
#[test]
fn b_10_the_gate_runs_by_itself_once_a_week_and_after_an_update() {
    let sandbox = connected(&["claude"]);
    let first = works(&sandbox, 1);
    assert_eq!((first.len(), &first[0]["ok"]), (1, &json!(true)), "{first:?}");
    assert_eq!(works(&sandbox, 1).len(), 1, "once a week");
    let rewrite = |records: &[Value]| {
        let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
        fs::write(sandbox.state().join("gate.jsonl"), lines).unwrap();
    };
    let mut older = first[0].clone();
    older["version"] = json!("0.0.1");
    rewrite(&vec![older; 60]);
    let all = works(&sandbox, 52);
    // The write of the last record drops the oldest.
    let deadline = Instant::now() + LIMIT;
    let mut all = all;
    while all.last().unwrap()["version"] == "0.0.1" && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
        all = history(&sandbox);
    }
    assert_eq!((all.len(), &all[51]["version"]), (52, &json!(env!("CARGO_PKG_VERSION"))));
    // Nothing starts while it is off, or for somebody without an agent.
    rewrite(&[]);
    sandbox.rekindle(&["config", "set", "gate.weekly", "false"]).run().ok();
    assert_eq!(works(&sandbox, 0), Vec::<Value>::new());
    sandbox.rekindle(&["config", "set", "gate.weekly", "true"]).run().ok();
    sandbox.rekindle(&["uninstall", "--yes"]).run().ok();
    assert_eq!(works(&sandbox, 0), Vec::<Value>::new());
}

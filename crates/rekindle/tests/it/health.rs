//! `rekindle health`: planted faults, each of which fails its own check and no other (O11-06 to O11-08, O11-13,
//! O11-14), and the alerts about them.

use std::fs::{self, File};
use std::path::Path;

use rekindle_core::base::time::{Timestamp, format_utc};
use rekindle_engine::platform::db::{Database, params};
use rekindle_testkit::{Sandbox, TELEGRAM_TOKEN, TelegramServer};
use serde_json::{Value, json};

use crate::capture::{ClaudeTranscript, hook_command, work};
use crate::inbox::inboxed;
use crate::review::{propose, quiet};
use crate::{house, text};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

fn ago(seconds: i64) -> Timestamp {
    #[expect(clippy::disallowed_methods, reason = "the binary under test goes by the same clock")]
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second() - seconds).unwrap()
}

fn db(sandbox: &Sandbox) -> Database {
    Database::open(&sandbox.state().join("rekindle.db")).unwrap()
}

/// The answer of `rekindle health --json`. Its exit code must say the same.
fn health(sandbox: &Sandbox) -> Value {
    let run = sandbox.rekindle(&["health", "--json"]).run();
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    match answer["ok"] == true {
        true => drop(run.ok()),
        false => drop(run.fails(1)),
    }
    answer
}

/// The names of the failing checks.
fn failing(sandbox: &Sandbox) -> Vec<String> {
    let answer = health(sandbox);
    let failed = answer["checks"].as_array().unwrap().iter().filter(|check| check["outcome"] == "fail");
    failed.map(|check| text(check, "check").to_owned()).collect()
}

/// Plants a fault in a home with a learnt session, and expects that this check fails and no other, with evidence
/// and a command, and that it passes again once `mended`.
#[track_caller]
fn fails(check: &str, plant: impl FnOnce(&Sandbox)) -> Value {
    let sandbox = quiet();
    assert_eq!(failing(&sandbox), [] as [&str; 0], "before");
    plant(&sandbox);
    assert_eq!(failing(&sandbox), [check]);
    let answer = health(&sandbox);
    let found = answer["checks"].as_array().unwrap().iter().find(|found| found["check"] == check).unwrap();
    assert!(!text(found, "evidence").is_empty() && !text(found, "threshold").is_empty());
    assert_eq!(answer["nextActions"], json!([found["next"]]));
    let shown = sandbox.rekindle(&["health"]).run().fails(1).stdout;
    assert!(
        shown.contains("FAIL") && shown.contains(check) && shown.contains(text(found, "next")),
        "{shown}"
    );
    found.clone()
}

/// Stores an event of a stage.
fn event(sandbox: &Sandbox, number: usize, stage: &str, phase: &str, at: Timestamp) {
    let id = format!("planted-{stage}-{number}");
    let level = if phase == "failed" { "warn" } else { "info" };
    let data = json!({"id": id, "at": at.to_string(), "stage": stage, "phase": phase, "level": level});
    let row = params![id, at.as_millisecond(), data.to_string()];
    db(sandbox)
        .change(|t| t.execute("INSERT INTO otel_events (id, at, data) VALUES (?1, ?2, ?3)", row))
        .unwrap();
}

/// Stores a run of a function with its status; it ended or is due at this time.
fn run(sandbox: &Sandbox, number: usize, function: &str, status: &str, at: Timestamp) {
    let (id, at) = (format!("planted-{function}-{number}"), at.as_millisecond());
    db(sandbox)
        .change(|t| {
            t.execute(
                "INSERT INTO events (id, name, at, received, data) VALUES (?1, 'memory/capture.requested', ?2, ?2, '{}')",
                params![id, at],
            )?;
            let ended = ["COMPLETED", "SKIPPED", "DEAD"].contains(&status).then_some(at);
            t.execute(
                "INSERT INTO runs (id, event, function, session, status, reason, created, due, ended)
                 VALUES (?1, ?1, ?2, ?1, ?3, 'the agent left no transcript', ?4, ?4, ?5)",
                params![id, function, status, at, ended],
            )
        })
        .unwrap();
}

fn log_line(sandbox: &Sandbox, file: &str, line: &Value) {
    let path = sandbox.state().join("logs").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(&path, format!("{before}{line}\n")).unwrap();
}

fn hook_line(sandbox: &Sandbox, number: usize, result: &str, at: Timestamp) {
    let line = json!({
        "ts": format_utc(at), "hook": "claude Stop", "duration_ms": number, "result": result, "session": "s",
    });
    log_line(sandbox, "hooks.jsonl", &line);
}

/// Writes memories as a person would, and indexes them.
fn memories(sandbox: &Sandbox, count: usize, created: Timestamp) {
    for number in 0..count {
        let note = format!(
            "---\nid: m-{number:012}\nkind: fix\nstatus: active\ncreated: {}\ngroup: personal-private\nscope: global\norigin: user\n---\n\nPump {number} needs seal {}.\n",
            format_utc(created),
            number * 7
        );
        sandbox.write(format!("personal-private/fix/pump-{number}.md"), note);
    }
    sandbox.rekindle(&["reindex"]).run().ok();
}

fn set_modified(path: &Path, at: Timestamp) {
    File::options().write(true).open(path).unwrap().set_modified(at.into()).unwrap();
}

/// O11-07, VER-15: a fresh home and a used one are healthy, twice in a row, and the answer names its evidence.
#[test]
fn o11_07_ver_15_a_home_in_use_is_healthy_twice_in_a_row() {
    let sandbox = quiet();
    for _ in 0..2 {
        assert_eq!(failing(&sandbox), [] as [&str; 0]);
    }
    let mut session = ClaudeTranscript::new(&sandbox, "s1");
    session.says("Always run the linter before a push.");
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    sandbox.rekindle(&["reindex"]).run().ok();
    for _ in 0..2 {
        assert_eq!(failing(&sandbox), [] as [&str; 0]);
    }
    let answer = health(&sandbox);
    for name in ["memoryStageStall", "otelErrorRate", "staleRatio", "failedMemoryRuns", "memoryBacklog"] {
        assert!(answer["checks"].as_array().unwrap().iter().any(|check| check["check"] == name), "{name}");
    }
    assert_eq!(
        (answer["staleMetricSupported"].as_bool(), answer["otelEvidence"]["windowHours"].as_u64()),
        (Some(false), Some(24))
    );
    assert!(answer["otelEvidence"]["events"].as_u64() > Some(4), "{answer}");
    assert!(text(&answer["otelEvidence"], "lastSuccess").starts_with("20"), "{answer}");
    let shown = sandbox.rekindle(&["health"]).run().ok().stdout;
    assert!(shown.starts_with("pass") && shown.contains("rekindle health --all"), "{shown}");
    let all = sandbox.rekindle(&["health", "--all"]).run().ok().stdout;
    assert!(all.contains("memoryStageStall") && all.contains("threshold: "), "{all}");
}

/// O11-08: every threshold is documented, in one place.
#[test]
fn o11_08_the_thresholds_are_documented() {
    let documented = house::read("docs/health.md");
    let answer = health(&quiet());
    for check in answer["checks"].as_array().unwrap() {
        let row =
            documented.lines().find(|line| line.starts_with(&format!("| `{}` |", text(check, "check"))));
        let row = row.unwrap_or_else(|| panic!("docs/health.md has no row for {check}"));
        assert!(row.ends_with(&format!("| {} |", text(check, "threshold"))), "{row}\nsays not {check}");
    }
    let rows = documented.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, answer["checks"].as_array().unwrap().len());
}

/// O11-06, O11-08: work that waits while no stage succeeds is a stall.
#[test]
fn o11_06_o11_08_a_stall_is_seen() {
    fails("memoryStageStall", |sandbox| {
        ClaudeTranscript::new(sandbox, "s1").hook(sandbox, "SessionEnd");
        let spool = sandbox.state().join("spool");
        for file in
            fs::read_dir(spool).unwrap().map(|file| file.unwrap().path()).filter(|path| path.is_file())
        {
            set_modified(&file, ago(2 * HOUR));
        }
    });
    fails("memoryStageStall", |sandbox| run(sandbox, 0, "surfaces", "RUNNING", ago(2 * HOUR)));
    // With another limit it is none.
    let sandbox = quiet();
    run(&sandbox, 0, "surfaces", "RUNNING", ago(2 * HOUR));
    sandbox.rekindle(&["health", "--stall-minutes", "180"]).run().ok();
}

/// O11-08: failures of stages, hooks and runs are seen.
#[test]
fn o11_08_failures_are_seen() {
    let rate = fails("otelErrorRate", |sandbox| {
        (0..6).for_each(|number| event(sandbox, number, "observe", "completed", ago(HOUR)));
        (0..4).for_each(|number| event(sandbox, number + 10, "observe", "failed", ago(HOUR)));
    });
    assert_eq!(rate["evidence"], "4 of 10 stage ends in 24 hours failed");
    fails("hookErrors", |sandbox| {
        (0..8).for_each(|number| hook_line(sandbox, number, "success", ago(HOUR)));
        (8..12).for_each(|number| hook_line(sandbox, number, "error", ago(HOUR)));
    });
    fails("failedMemoryRuns", |sandbox| {
        (0..4).for_each(|number| run(sandbox, number, "surfaces", "FAILED", ago(-HOUR)));
    });
    fails("deadRuns", |sandbox| run(sandbox, 0, "surfaces", "DEAD", ago(HOUR)));
    fails("memoryBacklog", |sandbox| {
        (0..201).for_each(|number| run(sandbox, number, "surfaces", "RUNNING", ago(60)));
    });
    fails("unreadableReports", |sandbox| {
        let broken = sandbox.state().join("spool/broken");
        fs::create_dir_all(&broken).unwrap();
        fs::write(broken.join("01KAB"), "rubbish").unwrap();
    });
}

/// O11-08: an agent whose hooks never fire, or no longer do, is seen.
#[test]
fn o11_08_agents_that_do_not_call_are_seen() {
    let used = |sandbox: &Sandbox| {
        fs::create_dir_all(sandbox.user_home().join(".claude/projects/pumps")).unwrap();
        sandbox.rekindle(&["install", "claude", "--yes"]).run().ok();
        set_modified(&sandbox.user_home().join(".claude/settings.json"), ago(5 * DAY));
        fs::write(sandbox.user_home().join(".claude/projects/pumps/s.jsonl"), "{}\n").unwrap();
    };
    let never = fails("hooksFire", used);
    assert!(text(&never, "evidence").starts_with("Claude Code was used"), "{never}");
    fails("agentsSilent", |sandbox| {
        used(sandbox);
        hook_line(sandbox, 0, "success", ago(3 * DAY));
    });
    fails("hooksFire", |sandbox| {
        fs::create_dir_all(sandbox.user_home().join(".codex")).unwrap();
        sandbox.rekindle(&["install", "codex", "--yes"]).run().ok();
    });
}

/// O11-08, B-10: a gate that failed and one that is too old are seen.
#[test]
fn o11_08_b_10_a_red_or_old_gate_is_seen() {
    let record = |at: i64, failed: &Value| {
        json!({"at": ago(at).to_string(), "version": env!("CARGO_PKG_VERSION"), "ok": failed == &json!([]),
            "seconds": 6.1, "failed": failed})
    };
    let plant = |sandbox: &Sandbox, record: &Value| {
        sandbox.rekindle(&["install", "claude", "--yes"]).run().ok();
        fs::write(sandbox.state().join("gate.jsonl"), format!("{record}\n")).unwrap();
    };
    let what = json!([{"part": "e2e", "agent": "claude", "step": "captured", "hook": "Stop",
        "what": "the hook for Stop: it was killed", "next": "`rekindle install claude`"}]);
    let red = fails("gate", |sandbox| plant(sandbox, &record(HOUR, &what)));
    assert_eq!(
        red["evidence"],
        "the gate failed 60 minutes ago: Claude Code: the hook for Stop: it was killed"
    );
    fails("gate", |sandbox| plant(sandbox, &record(12 * DAY, &json!([]))));
    // Connected for long, and never tried.
    fails("gate", |sandbox| {
        sandbox.rekindle(&["install", "claude", "--yes"]).run().ok();
        set_modified(&sandbox.user_home().join(".claude/settings.json"), ago(12 * DAY));
    });
}

/// O11-08, R-13: sessions that were seen and not learnt from are counted by reason.
#[test]
fn o11_08_sessions_that_were_not_learnt_from_are_seen() {
    let unlearnt = fails("sessionsUnlearnt", |sandbox| {
        for number in 0..10 {
            run(sandbox, number, "capture", "SKIPPED", ago(HOUR));
            let row = params![format!("planted-capture-{number}"), ago(HOUR).as_millisecond()];
            db(sandbox)
                .change(|t| {
                    t.execute(
                        "INSERT INTO sessions (agent, id, started, last_seen, state) VALUES ('claude', ?1, ?2, ?2, 'ended')",
                        row,
                    )
                })
                .unwrap();
        }
    });
    let evidence = text(&unlearnt, "evidence");
    assert!(evidence.starts_with("0 of 10 sessions in 30 days"), "{evidence}");
    assert!(evidence.contains("10: the agent left no transcript"), "{evidence}");
}

/// O11-08: recall that finds nothing and an index that is missing are seen.
#[test]
fn o11_08_recall_that_finds_nothing_is_seen() {
    fails("zeroHitRate", |sandbox| {
        memories(sandbox, 20, ago(DAY));
        for number in 0..60 {
            let line = json!({
                "at": format_utc(ago(HOUR)), "by": "hook", "session": format!("s{number}"), "query": "q", "results": [],
                "abstained": true, "tookMs": 2.0,
            });
            log_line(sandbox, "recall.jsonl", &line);
        }
    });
    fails("indexAge", |sandbox| {
        memories(sandbox, 3, ago(DAY));
        fs::remove_dir_all(sandbox.state().join("index")).unwrap();
    });
}

/// O11-08, O11-14: memories, ideas and proposals that nobody looks at are seen.
#[test]
fn o11_08_o11_14_what_nobody_looks_at_is_seen() {
    let inbox = |sandbox: &Sandbox, count: usize| {
        for number in 0..count {
            let body = format!("Maybe valve {number} sticks at {} bar.\n", number * 3);
            inboxed(
                sandbox,
                &format!("valve-{number}"),
                &format!("m-{:012}", 1000 + number),
                "2026-11-01T00:00:00Z",
                &body,
            );
        }
        sandbox.rekindle(&["reindex"]).run().ok();
    };
    fails("unreviewedRatio", |sandbox| inbox(sandbox, 25));
    fails("inbox", |sandbox| {
        memories(sandbox, 60, ago(DAY));
        inbox(sandbox, 51);
    });
    fails("staleRatio", |sandbox| {
        memories(sandbox, 20, ago(300 * DAY));
        let line = json!({"at": format_utc(ago(200 * DAY)), "id": "m-999999999999", "signal": "recalled"});
        fs::write(sandbox.state().join("usage.jsonl"), format!("{line}\n")).unwrap();
    });
    fails("ideas", |sandbox| {
        for number in 0..21 {
            sandbox
                .rekindle(&["ideas", "add", &format!("Pump idea {number}"), "--summary", "Try it."])
                .run()
                .ok();
        }
        sandbox.rekindle(&["reindex"]).run().ok();
    });
    fails("queueAge", |sandbox| {
        propose(sandbox, "Deploy on Mondays.", 6);
        work(sandbox, &[]);
    });
    fails("reflectionAge", |sandbox| run(sandbox, 0, "observe", "COMPLETED", ago(8 * DAY)));
}

/// O11-08, O11-13, X-13: models that are too large and a limit that is nearly spent are seen.
#[test]
fn o11_08_o11_13_x_13_what_models_take_is_seen() {
    fails("modelSize", |sandbox| {
        let models = sandbox.home().join("models");
        fs::create_dir_all(&models).unwrap();
        // It takes no space: nothing is written.
        File::create(models.join("large.rkm")).unwrap().set_len(5 << 30).unwrap();
    });
    fails("spend", |sandbox| {
        for (key, value) in [("llm.provider", "openai"), ("llm.openai.daily_tokens", "1000")] {
            sandbox.rekindle(&["config", "set", key, value]).run().ok();
        }
        let at = ago(0).as_millisecond();
        let sql = "INSERT INTO spending (at, provider, model, job, input, output) VALUES (?1, 'openai', 'openai/x', 'observe', 900, 50)";
        db(sandbox).change(|t| t.execute(sql, [at])).unwrap();
    });
}

/// O11-07, O11-08: a broken database, damaged events and a clock that was wrong are seen, and nothing else.
#[test]
fn o11_08_broken_stores_are_seen() {
    let database = fails("database", |sandbox| {
        let path = sandbox.state().join("rekindle.db");
        fs::write(path, "this is no database, however long it is read".repeat(50)).unwrap();
    });
    assert_eq!(database["level"], "fatal");
    fails("otelStore", |sandbox| {
        db(sandbox).run(|connection| connection.execute("DROP TABLE otel_events", [])).unwrap();
    });
    fails("otelStore", |sandbox| {
        let at = ago(HOUR).as_millisecond();
        db(sandbox)
            .change(|t| t.execute("INSERT INTO otel_events (id, at, data) VALUES ('x', ?1, '{')", [at]))
            .unwrap();
    });
    fails("otelStore", |sandbox| {
        fs::create_dir_all(sandbox.state().join("logs")).unwrap();
        fs::write(sandbox.state().join("logs/warnings.jsonl"), "rubbish\n").unwrap();
    });
    fails("clock", |sandbox| event(sandbox, 0, "observe", "completed", ago(-DAY)));
}

/// Starts a session and returns the message to the person.
fn started(sandbox: &Sandbox, id: &str) -> String {
    let mut input = ClaudeTranscript::new(sandbox, id).input();
    input["source"] = "startup".into();
    let shown = hook_command(sandbox, "claude", "SessionStart", &input).run().ok().stdout;
    if shown.is_empty() {
        return String::new();
    }
    let answer: Value = serde_json::from_str(&shown).unwrap();
    answer["systemMessage"].as_str().unwrap_or_default().to_owned()
}

/// O11-06, O11-14: what fails is told in one line at the start of a session, once a day, and in the status line.
#[test]
fn o11_06_o11_14_an_alert_is_told_once_a_day_where_the_person_is() {
    let sandbox = quiet();
    run(&sandbox, 0, "surfaces", "DEAD", ago(HOUR));
    assert_eq!(started(&sandbox, "s1"), "", "nobody has measured yet");
    work(&sandbox, &[]);
    let message = started(&sandbox, "s2");
    assert!(message.contains("Rekindle: 1 run failed for good: `rekindle runs --dead`"), "{message}");
    assert_eq!(started(&sandbox, "s3"), "", "it was told today");
    let line = || sandbox.rekindle(&["status", "--line"]).run().ok().stdout;
    assert_eq!(line(), "rekindle: 1 problem (rekindle health)\n");
    // Another problem is news.
    (0..4).for_each(|number| run(&sandbox, number + 1, "surfaces", "FAILED", ago(-HOUR)));
    sandbox.rekindle(&["health"]).run().fails(1);
    assert!(started(&sandbox, "s4").contains("waiting for a retry: 4 runs"));
    assert_eq!(line(), "rekindle: 2 problems (rekindle health)\n");
    // Once it is mended nothing is left of it.
    db(&sandbox).change(|t| t.execute("DELETE FROM runs", [])).unwrap();
    sandbox.rekindle(&["health"]).run().ok();
    assert_eq!((line().as_str(), started(&sandbox, "s5").as_str()), ("", ""));
}

/// O11-06: what is fatal is sent to Telegram at once, once a day, and names no path.
#[test]
fn o11_06_what_is_fatal_is_sent_at_once() {
    let (sandbox, telegram) = (quiet(), TelegramServer::default());
    let run = |args: &[&str]| sandbox.rekindle(args).env("TELEGRAM_BOT_TOKEN", TELEGRAM_TOKEN).run();
    run(&["review", "connect", "telegram", "--url", telegram.url(), "--chat", "42", "--yes"]).ok();
    fs::write(sandbox.state().join("rekindle.db"), "no database".repeat(500)).unwrap();
    for _ in 0..2 {
        run(&["worker"]).fails(1);
        let messages = telegram.messages();
        let [message] = &messages[..] else { panic!("{messages:?}") };
        let told = text(message, "text");
        assert!(
            told.contains("`database`") && told.contains("rekindle health") && !told.contains('/'),
            "{told}"
        );
    }
}

/// O11-08: every command that a check names exists.
#[test]
fn o11_08_every_command_that_mends_exists() {
    let (sandbox, source) = (quiet(), house::read("crates/core/src/telemetry/health/checks.rs"));
    let commands = source.split('`').skip(1).step_by(2).filter_map(|span| span.strip_prefix("rekindle "));
    let mut checked = 0;
    for command in commands {
        let command =
            command.replace("{}", "claude").replace("{MIN_MESSAGES_SETTING}", "capture.min_user_messages");
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        sandbox.rekindle(&words).run().ok();
        checked += 1;
    }
    assert!(checked > 20, "only {checked} commands were found");
}

/// VLT-11: each command of the vault answers for a new home.
#[test]
fn vlt_11_the_commands_of_the_vault_are_there() {
    let sandbox = quiet();
    for command in [&["inbox"][..], &["inspect"], &["health"], &["ideas"], &["reflect", "--help"]] {
        sandbox.rekindle(command).run().ok();
    }
}

/// O11-06: a worker that cannot open the database says so at the next session, without the database.
#[test]
fn o11_06_a_broken_database_is_told_at_the_next_session() {
    let sandbox = quiet();
    fs::write(sandbox.state().join("rekindle.db"), "no database".repeat(500)).unwrap();
    sandbox.rekindle(&["worker"]).run().fails(1);
    let message = started(&sandbox, "s1");
    assert!(message.contains("the database cannot be read") && !message.contains('\n'), "{message}");
}

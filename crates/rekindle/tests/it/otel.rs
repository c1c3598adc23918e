//! Telemetry: what the stages report, and what becomes of it when something is broken (O11-01 to O11-05).

use std::fs;

use rekindle_engine::platform::db::Database;
use rekindle_testkit::{CommandResult, Sandbox, ScriptedServer, ServerReply};
use serde_json::Value;

use crate::capture::{ClaudeTranscript, hook_command, work};
use crate::review::quiet;
use crate::{sandbox, text};

/// The events of `rekindle otel VERB --json`, newest first.
fn otel(sandbox: &Sandbox, args: &[&str]) -> Vec<Value> {
    let output = sandbox.rekindle(&[&["otel"], args, &["--json"]].concat()).run().ok();
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| text(event, "name")).collect()
}

/// A session that says something worth keeping, captured and observed.
fn learnt(sandbox: &Sandbox, id: &str) {
    let mut session = ClaudeTranscript::new(sandbox, id);
    session.says("Always run the linter before a push.");
    session.hook(sandbox, "SessionEnd");
    work(sandbox, &[]);
}

/// O11-01, O11-02, O11-04: every stage of a session reports its start and its end, with ids and counts.
#[test]
fn o11_01_o11_02_o11_04_each_stage_reports_its_start_and_its_end() {
    let sandbox = quiet();
    learnt(&sandbox, "s1");
    let events = otel(&sandbox, &["list"]);
    let names = names(&events);
    for stage in ["capture", "observe"] {
        for phase in ["started", "completed"] {
            assert!(names.contains(&format!("{stage}.{phase}").as_str()), "{stage}.{phase} of {names:?}");
        }
    }
    for name in ["hook.completed", "worker.completed"] {
        assert!(names.contains(&name), "{name} of {names:?}");
    }
    let observed = events.iter().find(|event| event["name"] == "observe.completed").unwrap();
    assert_eq!((text(observed, "sessionId"), observed["attempt"].as_u64()), ("s1", Some(1)));
    assert!(observed["observationCount"].as_u64() > Some(0), "{observed}");
    assert!(observed["proposalCount"].is_u64() && observed["durationMs"].is_f64(), "{observed}");
    assert!(!text(observed, "dedupeKey").is_empty() && !text(observed, "eventId").is_empty());
    let run = sandbox.rekindle(&["run", text(observed, "runId"), "--json"]).run().ok().json();
    assert_eq!(run["function"], "observe", "the id leads to the run");
    let stats = sandbox.rekindle(&["otel", "stats", "--json"]).run().ok().json();
    assert_eq!(stats["stages"]["observe"]["completed"], 1, "{stats}");
}

/// O11-03: no event holds a word of a prompt, a memory or a note.
#[test]
fn o11_03_no_event_holds_words() {
    let sandbox = quiet();
    sandbox.rekindle(&["config", "set", "memory.log_level", "debug"]).run().ok();
    learnt(&sandbox, "s1");
    sandbox.rekindle(&["recall", "what about the linter"]).run().ok();
    let all = sandbox.rekindle(&["otel", "list", "--json"]).run().ok().stdout;
    assert!(all.contains("recall.completed") && all.contains("observe.step"), "{all}");
    assert!(!all.to_lowercase().contains("linter"), "{all}");
}

/// REC-07: the diagnostics of recall are events: what was asked in how many characters, what was found and dropped.
#[test]
fn rec_07_a_recall_is_an_event() {
    let sandbox = sandbox();
    crate::save(&sandbox, "rule", "tea", "Ada drinks green tea in the morning.");
    sandbox.rekindle(&["recall", "which tea does Ada drink", "--kind", "rule"]).run().ok();
    let [event] = &otel(&sandbox, &["list", "--stage", "recall"])[..] else { panic!("not one event") };
    let counts = &event["counts"];
    assert_eq!((counts["queryChars"].as_f64(), counts["filtersApplied"].as_f64()), (Some(24.0), Some(1.0)));
    assert_eq!((counts["results"].as_f64(), counts["droppedByTrustPass"].as_f64()), (Some(1.0), Some(0.0)));
    assert_eq!(otel(&sandbox, &["list", "--stage", "recall"]).len(), 1, "each recall is one event");
}

/// O11-12: the hook log tells the arms of a prompt's recall, and where the findings of a session went.
#[test]
fn o11_12_the_hook_log_has_the_counts_of_recall_and_of_reflection() {
    let sandbox = quiet();
    crate::save(&sandbox, "rule", "tea", "Ada drinks green tea in the morning.");
    sandbox.rekindle(&["reindex"]).run().ok();
    let mut input = ClaudeTranscript::new(&sandbox, "s0").input();
    input["prompt"] = "Which green tea does Ada drink in the morning?".into();
    hook_command(&sandbox, "claude", "UserPromptSubmit", &input).run().ok();
    learnt(&sandbox, "s1");
    let log = fs::read_to_string(sandbox.state().join("logs/hooks.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let prompt = lines.iter().find(|line| line["hook"] == "claude UserPromptSubmit").unwrap();
    assert_eq!(prompt["entries_injected"], 1, "{prompt}");
    assert_eq!((prompt["grep_hits"].as_u64(), prompt["deduped_count"].as_u64()), (Some(1), Some(0)));
    assert_eq!(prompt["vec_hits"], 1, "{prompt}");
    let reflected = lines.iter().find(|line| line["hook"] == "claude memory-reflect-stop").unwrap();
    assert_eq!((text(reflected, "session"), text(reflected, "result")), ("s1", "success"));
    assert!(reflected["candidates_mined"].as_u64() >= Some(1), "{reflected}");
    assert_eq!(reflected["auto_saved"], 1, "{reflected}");
    for key in ["interactive_reviewed", "inboxed"] {
        assert!(reflected[key].is_u64(), "{key} of {reflected}");
    }
}

/// O11-05, VER-14: a stage that fails is listed with its run, step, kind of error and retry, and can be searched.
#[test]
fn o11_05_ver_14_a_failed_stage_is_seen_with_its_metadata() {
    let sandbox = quiet();
    sandbox
        .rekindle(&["send", "memory/session.ended", "--data", r#"{"sessionId": "s9", "rubbish": true}"#])
        .run();
    let mut session = ClaudeTranscript::new(&sandbox, "s1");
    session.says("Always run the linter before a push.");
    session.hook(&sandbox, "SessionEnd");
    // Today's log is a folder, so nothing can be written there.
    let memory = sandbox.vault().join("memory");
    fs::remove_dir_all(&memory).ok();
    fs::write(&memory, "not a folder").unwrap();
    work(&sandbox, &[]);
    let failed = otel(&sandbox, &["list", "--level", "warn"]);
    let event = failed.iter().find(|event| text(event, "name").ends_with(".failed")).unwrap();
    assert!(["warn", "error"].contains(&text(event, "level")), "{event}");
    assert!(!text(event, "runId").is_empty() && !text(event, "step").is_empty(), "{event}");
    assert!(event["error"].is_string() && event["willRetry"].is_boolean(), "{event}");
    let found = otel(&sandbox, &["search", text(event, "runId")]);
    assert!(found.iter().all(|found| found["runId"] == event["runId"]) && !found.is_empty());
    assert_eq!(otel(&sandbox, &["search", "no-such-thing"]), [] as [Value; 0]);
}

/// O11-03: warnings are also in a file of their own, which tells them when the database is broken.
#[test]
fn o11_03_warnings_survive_a_broken_database() {
    let sandbox = quiet();
    let session = ClaudeTranscript::new(&sandbox, "s1");
    session.hook(&sandbox, "SessionEnd");
    fs::write(sandbox.state().join("rekindle.db"), "this is no database, however long it is read".repeat(50))
        .unwrap();
    sandbox.rekindle(&["worker", "--once"]).run().fails(1);
    let CommandResult { stdout, stderr, .. } = sandbox.rekindle(&["otel", "list"]).run().ok();
    assert!(stderr.contains("rekindle.db") && stderr.contains("log files alone"), "{stderr}");
    assert!(stdout.contains("worker.failed") && stdout.contains("fatal"), "{stdout}");
    assert!(stdout.contains("hook.completed"), "{stdout}");
    // A hook notices nothing.
    session.hook(&sandbox, "SessionEnd");
}

/// O11-03: a damaged table, ring or log is a clear word, costs only what is damaged, and no hook notices.
#[test]
fn o11_03_what_is_damaged_is_named_and_harms_nothing() {
    let sandbox = quiet();
    learnt(&sandbox, "s1");
    let logs = sandbox.state().join("logs");
    fs::write(logs.join("warnings.jsonl"), "\u{0}\u{1}rubbish\n{\"id\":\n").unwrap();
    let broken = sandbox.rekindle(&["otel", "list"]).run().ok();
    assert!(broken.stderr.contains("2 damaged event(s) were left out"), "{}", broken.stderr);
    assert!(broken.stdout.contains("observe.completed"), "{}", broken.stdout);
    fs::remove_file(logs.join("warnings.jsonl")).unwrap();
    fs::create_dir(logs.join("warnings.jsonl")).unwrap();
    Database::open(&sandbox.state().join("rekindle.db"))
        .unwrap()
        .run(|c| c.execute("DROP TABLE otel_events", []))
        .unwrap();
    // Sessions are learnt from all the same.
    let mut session = ClaudeTranscript::new(&sandbox, "s2");
    session.says("Never commit a generated file.");
    session.hook(&sandbox, "SessionEnd");
    assert_eq!(work(&sandbox, &[])["failed"], 0);
    let listed = sandbox.rekindle(&["otel", "list"]).run().ok();
    assert!(listed.stderr.contains("otel_events"), "{}", listed.stderr);
}

/// OPS-02: `memory.log_level` decides which events are stored.
#[test]
fn ops_02_the_log_level_decides_which_events_are_stored() {
    let stored = |level: &str| {
        let sandbox = quiet();
        sandbox.rekindle(&["config", "set", "memory.log_level", level]).run().ok();
        learnt(&sandbox, "s1");
        otel(&sandbox, &["list"]).len()
    };
    let (warn, info, debug) = (stored("warn"), stored("info"), stored("debug"));
    assert_eq!(warn, 0, "nothing went wrong");
    assert!(info > 4 && debug > info + 5, "info {info}, debug {debug}");
    let sandbox = quiet();
    let loud = sandbox.rekindle(&["config", "set", "memory.log_level", "loud"]).run().fails(2);
    assert!(loud.stderr.contains("error, warn, info"), "{}", loud.stderr);
}

/// O11-03: an event from a clock that was ahead is listed, and later ones are, too.
#[test]
fn o11_03_a_clock_that_jumps_hides_nothing() {
    let sandbox = quiet();
    learnt(&sandbox, "s1");
    let mut db = Database::open(&sandbox.state().join("rekindle.db")).unwrap();
    let year = 365_i64 * 24 * 3600 * 1000;
    db.change(|t| t.execute("UPDATE otel_events SET at = at + ?1", [year])).unwrap();
    drop(db);
    learnt(&sandbox, "s2");
    let sessions: Vec<Value> = otel(&sandbox, &["list", "--stage", "observe"]);
    assert!(sessions.iter().any(|event| event["sessionId"] == "s2"), "{sessions:?}");
}

/// Switches the export on, to a collector at a URL.
fn export_to(sandbox: &Sandbox, url: &str) {
    sandbox.rekindle(&["config", "set", "telemetry.otlp.url", url]).run().ok();
    sandbox.rekindle(&["config", "set", "telemetry.otlp.enabled", "true"]).run().ok();
}

fn accepted() -> ServerReply {
    ServerReply::json(200, "{}")
}

/// O11-01: the worker sends each event once, as logs, spans and metrics, without words of the session.
#[test]
fn o11_01_the_worker_exports_each_event_once() {
    let server = ScriptedServer::answering(|_| accepted());
    let sandbox = quiet();
    learnt(&sandbox, "s0");
    assert!(server.received().is_empty(), "nothing is sent unless it is switched on");
    export_to(&sandbox, server.url());
    learnt(&sandbox, "s1");
    let received = server.received();
    let lines: Vec<&str> = received.iter().map(|request| request.line.as_str()).collect();
    assert_eq!(lines, ["POST /v1/logs", "POST /v1/traces", "POST /v1/metrics"]);
    for request in &received {
        assert_eq!(request.header("content-type"), Some("application/x-protobuf"));
        assert!(!request.body.to_lowercase().contains("linter"), "{}", request.body);
    }
    assert!(received[0].body.contains("observe.completed") && received[0].body.contains("hook.completed"));
    assert!(received[2].body.contains("rekindle.stage.duration"));
    let nothing = sandbox.rekindle(&["otel", "export"]).run().ok();
    assert!(nothing.stderr.contains("has every event already"), "{}", nothing.stderr);
    learnt(&sandbox, "s2");
    let later = &server.received()[3].body;
    assert!(later.contains("s2") && !later.contains("s1"), "{later}");
}

/// O11-01, O11-08: while the collector is away or refuses, events wait, `health` says why, and nothing else fails.
#[test]
fn o11_01_o11_08_a_collector_that_is_away_gets_the_events_later() {
    let sandbox = quiet();
    export_to(&sandbox, "http://127.0.0.1:9");
    learnt(&sandbox, "s1");
    let health = sandbox.rekindle(&["health", "--json"]).run().fails(1).json();
    let failed: Vec<&Value> =
        health["checks"].as_array().unwrap().iter().filter(|check| check["outcome"] == "fail").collect();
    let [export] = failed[..] else { panic!("{failed:?}") };
    assert_eq!(export["check"], "otelExport");
    assert!(text(export, "evidence").contains("does not answer"), "{export}");
    // The worker waits before it tries again, a person does not.
    let by_hand = sandbox.rekindle(&["otel", "export"]).run().fails(1);
    assert!(by_hand.stderr.contains("start the collector"), "{}", by_hand.stderr);
    let refusing = ScriptedServer::answering(|_| ServerReply::json(401, "no such key"));
    export_to(&sandbox, refusing.url());
    let refused = sandbox.rekindle(&["otel", "export"]).run().fails(1);
    assert!(
        refused.stderr.contains("401: no such key") && refused.stderr.contains("headers"),
        "{}",
        refused.stderr
    );
    let server = ScriptedServer::answering(|_| accepted());
    export_to(&sandbox, server.url());
    let output = sandbox
        .rekindle(&["otel", "export", "--json"])
        .env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20k1")
        .run()
        .ok()
        .json();
    assert!(output["sent"].as_u64() > Some(5) && output["waiting"] == 0, "{output}");
    assert_eq!(server.received()[0].header("authorization"), Some("Bearer k1"));
    sandbox.rekindle(&["health"]).run().ok();
}

/// O11-01: a collector that hangs holds the worker up for seconds and no hook at all, and bad settings are refused.
#[test]
fn o11_01_a_collector_that_hangs_harms_nothing() {
    let sandbox = quiet();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    export_to(&sandbox, &format!("http://{}", silent.local_addr().unwrap()));
    learnt(&sandbox, "s1");
    assert_eq!(otel(&sandbox, &["list", "--stage", "observe", "--level", "warn"]), [] as [Value; 0]);
    let state = sandbox.rekindle(&["health", "--json"]).run().fails(1).stdout;
    assert!(state.contains("does not answer"), "{state}");
    export_to(&sandbox, "http://collector.example:4318");
    let refused = sandbox.rekindle(&["otel", "export"]).run().fails(1);
    assert!(refused.stderr.contains("without encryption"), "{}", refused.stderr);
    let server = ScriptedServer::answering(|_| accepted());
    export_to(&sandbox, server.url());
    let bad =
        sandbox.rekindle(&["otel", "export"]).env("OTEL_EXPORTER_OTLP_HEADERS", "geheim").run().fails(1);
    assert!(
        bad.stderr.contains("OTEL_EXPORTER_OTLP_HEADERS") && !bad.stderr.contains("geheim"),
        "{}",
        bad.stderr
    );
    sandbox.rekindle(&["config", "set", "telemetry.otlp.enabled", "false"]).run().ok();
    let off = sandbox.rekindle(&["otel", "export"]).run().fails(2);
    assert!(off.stderr.contains("config set telemetry.otlp.enabled true"), "{}", off.stderr);
}

//! Capture, from a hook to a run: the captured messages, the triggers, deduplication, and exclusions.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rekindle_testkit::{CommandResult, Sandbox, TestCommand, race};
use serde_json::{Value, json};

use crate::{found, recall, sandbox, text};

const TOKEN: &str = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");

/// A growing transcript in the format of Claude Code.
pub(crate) struct ClaudeTranscript {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    /// The working folder of the session.
    pub(crate) cwd: PathBuf,
    turns: usize,
}

impl ClaudeTranscript {
    pub(crate) fn new(sandbox: &Sandbox, id: &str) -> Self {
        let path = sandbox.work().join(format!("{id}.jsonl"));
        Self { id: id.to_owned(), path, cwd: sandbox.work().to_owned(), turns: 0 }
    }

    /// Appends a message of the person and an answer.
    pub(crate) fn says(&mut self, words: &str) {
        let at = |part: usize| format!("2026-11-14T10:{:02}:{part:02}.000Z", self.turns % 60);
        let id = |part: &str| format!("{}-{}-{part}", self.id, self.turns);
        let parent = match self.turns {
            0 => Value::Null,
            turn => json!(format!("{}-{}-a", self.id, turn - 1)),
        };
        let common =
            json!({"isSidechain": false, "sessionId": self.id, "cwd": self.cwd, "version": "2.1.325"});
        let mut user = common.clone();
        user["type"] = json!("user");
        user["uuid"] = json!(id("u"));
        user["parentUuid"] = parent;
        user["timestamp"] = json!(at(1));
        user["message"] = json!({"role": "user", "content": words});
        let mut answer = common;
        answer["type"] = json!("assistant");
        answer["uuid"] = json!(id("a"));
        answer["parentUuid"] = json!(id("u"));
        answer["timestamp"] = json!(at(5));
        answer["message"] = json!({"role": "assistant", "content": [
            {"type": "text", "text": format!("Answer {} is done.", self.turns)},
            {"type": "tool_use", "id": id("t"), "name": "Edit", "input": {"file_path": self.cwd.join("src/pump.rs")}},
        ]});
        let text = format!("{}{user}\n{answer}\n", fs::read_to_string(&self.path).unwrap_or_default());
        fs::write(&self.path, text).unwrap();
        self.turns += 1;
    }

    pub(crate) fn goes_on_for(&mut self, turns: usize) {
        for turn in 0..turns {
            self.says(&format!("Please look at pump number {turn} of {}.", self.id));
        }
    }

    pub(crate) fn input(&self) -> Value {
        json!({"session_id": self.id, "transcript_path": self.path, "cwd": self.cwd})
    }

    pub(crate) fn hook(&self, sandbox: &Sandbox, event: &str) -> CommandResult {
        hook(sandbox, "claude", event, &self.input())
    }
}

pub(crate) fn hook_command(sandbox: &Sandbox, agent: &str, event: &str, input: &Value) -> TestCommand {
    sandbox.rekindle(&["hook", agent, event]).stdin(input.to_string())
}

/// Runs a hook that must succeed and print nothing.
#[track_caller]
pub(crate) fn hook(sandbox: &Sandbox, agent: &str, event: &str, input: &Value) -> CommandResult {
    let output = hook_command(sandbox, agent, event, input).run().ok();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    output
}

pub(crate) fn work(sandbox: &Sandbox, more: &[&str]) -> Value {
    sandbox.rekindle(&[&["worker", "--once", "--json"], more].concat()).run().ok().json()
}

pub(crate) fn runs(sandbox: &Sandbox, more: &[&str]) -> Vec<Value> {
    let output = sandbox.rekindle(&[&["runs", "--json"], more].concat()).run().ok();
    let mut runs: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    runs.reverse();
    runs
}

/// Lists function and status of every run, in order.
pub(crate) fn stands(sandbox: &Sandbox) -> Vec<(String, String)> {
    let pair = |run: &Value| (text(run, "function").to_owned(), text(run, "status").to_owned());
    runs(sandbox, &[]).iter().map(pair).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(function, status)| ((*function).to_owned(), (*status).to_owned())).collect()
}

/// Lists the events of the `observe` runs, with their data.
pub(crate) fn observed(sandbox: &Sandbox) -> Vec<Value> {
    let runs = runs(sandbox, &[]);
    let observe = runs.iter().filter(|run| run["function"] == "observe" && run["status"] == "COMPLETED");
    observe
        .map(|run| {
            sandbox.rekindle(&["run", text(run, "id"), "--json"]).run().ok().json()["event"]["data"].clone()
        })
        .collect()
}

pub(crate) fn log(sandbox: &Sandbox) -> String {
    let files =
        fs::read_dir(sandbox.vault().join("memory")).into_iter().flatten().map(|day| day.unwrap().path());
    // A refused removal leaves the old version for the next writer to remove.
    let mut days: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    days.sort();
    days.iter().map(|day| fs::read_to_string(day).unwrap()).collect()
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).map_or(true, |mut files| files.next().is_none())
}

#[test]
fn ver_03_a_session_of_five_messages_is_observed_and_one_of_four_is_not() {
    let sandbox = sandbox();
    sandbox.rekindle(&["config", "set", "capture.min_user_messages", "5"]).run().ok();
    let (mut long, mut short) =
        (ClaudeTranscript::new(&sandbox, "long"), ClaudeTranscript::new(&sandbox, "short"));
    long.goes_on_for(5);
    short.goes_on_for(4);
    for session in [&long, &short] {
        session.hook(&sandbox, "SessionStart");
        session.hook(&sandbox, "SessionEnd");
    }
    work(&sandbox, &[]);
    let expected = [("capture", "COMPLETED"), ("capture", "SKIPPED"), ("observe", "COMPLETED")];
    assert_eq!(stands(&sandbox), pairs(&expected));
    let skipped = &runs(&sandbox, &["--status", "skipped"])[0];
    assert_eq!(text(skipped, "sessionId"), "short");
    assert!(text(skipped, "reason").contains("4 messages by the person; 5 are needed"), "{skipped}");
    let data = &observed(&sandbox)[0];
    assert_eq!((data["sessionId"].as_str(), data["trigger"].as_str()), (Some("long"), Some("shutdown")));
    assert_eq!((data["messageCount"].as_u64(), data["userMessageCount"].as_u64()), (Some(10), Some(5)));
    assert_eq!(data["duration"], 4 * 60 + 4);
    assert_eq!(data["filesModified"], json!([sandbox.work().join("src/pump.rs")]));
    assert_eq!(data["schemaVersion"], 1);
    let messages = text(data, "messages");
    assert!(messages.contains("] [User]: Please look at pump number 0 of long."), "{messages}");
    assert!(messages.contains("] [Assistant]: Answer 4 is done."), "{messages}");
    assert!(
        log(&sandbox).contains("🤝 Handoff (session: Please look at pump number 0 of long."),
        "{}",
        log(&sandbox)
    );
    assert!(is_empty(&sandbox.state().join("spool")));
}

#[test]
fn cap_12_ver_02_a_compaction_and_an_end_are_two_windows_and_the_same_hook_twice_is_one() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.hook(&sandbox, "SessionStart");
    session.goes_on_for(2);
    // A compaction has no minimum of messages (CAP-02). Some hosts fire the hook twice.
    session.hook(&sandbox, "PreCompact");
    session.hook(&sandbox, "PreCompact");
    session.goes_on_for(3);
    session.hook(&sandbox, "SessionEnd");
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let windows = observed(&sandbox);
    let told: Vec<(&str, u64)> =
        windows.iter().map(|data| (text(data, "trigger"), data["messageCount"].as_u64().unwrap())).collect();
    assert_eq!(told, [("compaction", 4), ("shutdown", 6)]);
    assert_ne!(windows[0]["dedupeKey"], windows[1]["dedupeKey"]);
    assert!(windows[0]["tokensBefore"].as_u64().unwrap() > 10);
    let skipped = runs(&sandbox, &["--status", "SKIPPED"]);
    assert_eq!(skipped.len(), 2, "{skipped:?}");
}

#[test]
fn cap_01_gemini_is_compacted_only_where_its_history_really_shrank() {
    let chats = rekindle_testkit::transcripts::home().join(".gemini/tmp/project/chats");
    for (name, shrank) in [
        ("session-2026-11-15T09-13-c66423c9.jsonl", false),
        ("session-2026-11-15T09-17-b7fc066f.jsonl", true),
    ] {
        let sandbox = sandbox();
        let input = json!({"session_id": name, "transcript_path": chats.join(name), "cwd": sandbox.work()});
        // Gemini fires this hook before every model call, even without a compression.
        for _ in 0..3 {
            hook(&sandbox, "gemini", "PreCompress", &input);
        }
        work(&sandbox, &[]);
        assert_eq!(observed(&sandbox), Vec::<Value>::new(), "{name}: asking is not compacting");
        hook(&sandbox, "gemini", "SessionEnd", &input);
        work(&sandbox, &[]);
        let compacted = observed(&sandbox).iter().any(|data| text(data, "trigger") == "compaction");
        assert_eq!(compacted, shrank, "{name}");
    }
}

#[test]
fn a_session_that_is_resumed_ends_a_second_time_with_what_is_new() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.hook(&sandbox, "SessionStart");
    session.goes_on_for(5);
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let markers = || {
        let files = fs::read_dir(sandbox.state().join("sessions")).unwrap();
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(markers(), ["session-id-s.reflected"]);
    session.says("And now the valve, please.");
    session.hook(&sandbox, "Stop");
    work(&sandbox, &[]);
    assert_eq!(markers(), ["session-id-s.start"], "activity reopens it");
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let windows = observed(&sandbox);
    assert_eq!(windows.len(), 2);
    let second = text(&windows[1], "messages");
    assert!(second.contains("the valve") && !second.contains("pump number"), "{second}");
    assert_eq!(markers(), ["session-id-s.reflected"]);
}

#[test]
fn cap_03_a_session_that_grows_by_one_prompt_at_a_time_is_captured_whole() {
    let sandbox = sandbox();
    sandbox.rekindle(&["config", "set", "capture.min_user_messages", "5"]).run().ok();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    for turn in 0..5 {
        session.says(&format!("Please remember that valve {turn} is blue."));
        session.hook(&sandbox, "SessionEnd");
        work(&sandbox, &[]);
    }
    let windows = observed(&sandbox);
    assert_eq!(windows.len(), 1);
    for turn in 0..5 {
        assert!(text(&windows[0], "messages").contains(&format!("valve {turn} is blue")), "{}", windows[0]);
    }
    let noted = runs(&sandbox, &[]).into_iter().filter(|run| run["trigger"] == "session/observation.noted");
    assert_eq!(noted.count(), 4, "the last one is found by whoever observes the session");
    for turn in 0..5 {
        let wish = format!("valve {turn} is blue");
        let memories = sandbox.files().into_iter().filter(|(name, text)| {
            name.contains("personal-private") && String::from_utf8_lossy(text).contains(&wish)
        });
        assert_eq!(memories.count(), 1, "each wish once, however often it was read");
    }
}

#[test]
fn a_turn_that_ends_moves_the_session_on_and_starts_nothing() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.hook(&sandbox, "SessionStart");
    for _ in 0..6 {
        session.goes_on_for(1);
        session.hook(&sandbox, "UserPromptSubmit");
        session.hook(&sandbox, "Stop");
    }
    work(&sandbox, &[]);
    assert_eq!(stands(&sandbox), []);
}

#[test]
fn exe_15_a_client_that_was_killed_is_captured_when_it_has_been_silent() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.hook(&sandbox, "SessionStart");
    session.goes_on_for(6);
    session.hook(&sandbox, "Stop");
    work(&sandbox, &[]);
    assert_eq!(stands(&sandbox), [], "half an hour has not passed");
    let now = ["-c", "capture.idle_minutes=0"];
    work(&sandbox, &now);
    work(&sandbox, &now);
    assert_eq!(stands(&sandbox), pairs(&[("capture", "COMPLETED"), ("observe", "COMPLETED")]));
    // The session continues after a long pause.
    session.goes_on_for(1);
    session.hook(&sandbox, "Stop");
    work(&sandbox, &now);
    assert_eq!(observed(&sandbox).len(), 2);
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &now);
    assert_eq!(observed(&sandbox).len(), 2, "the end brought nothing new");
}

#[test]
fn ops_03_exe_16_b_04_switched_off_means_nothing_at_all() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.goes_on_for(6);
    let before = sandbox.everything();
    let command = || hook_command(&sandbox, "claude", "SessionEnd", &session.input());
    let quiet = |command: TestCommand| {
        let output = command.run().ok();
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    };
    quiet(command().env("REKINDLE_MEMORY_ENABLED", "false"));
    quiet(command().env("REKINDLE_GUARD", "1"));
    quiet(command().env("REKINDLE_PROBE", "1"));
    assert_eq!(sandbox.everything(), before);
    fs::write(sandbox.state().join("STOP"), "").unwrap();
    quiet(command());
    assert!(is_empty(&sandbox.state().join("spool")));
    fs::remove_file(sandbox.state().join("STOP")).unwrap();
    session.hook(&sandbox, "SessionEnd");
    fs::write(sandbox.state().join("STOP"), "").unwrap();
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    assert_eq!(stands(&sandbox), []);
    fs::remove_file(sandbox.state().join("STOP")).unwrap();
    work(&sandbox, &[]);
    assert_eq!(observed(&sandbox).len(), 1, "nothing was lost meanwhile");
}

#[test]
fn a_hook_ends_well_whatever_it_is_given() {
    let sandbox = sandbox();
    let inputs: [&[u8]; 6] = [b"", b"{", b"[]", b"{\"session_id\":7}", &[0xff, 0xfe, 0], b"null"];
    for input in inputs {
        for (agent, event) in
            [("claude", "Stop"), ("gemini", "SessionEnd"), ("nobody", "Stop"), ("pi", "NoSuchEvent")]
        {
            let output = sandbox.rekindle(&["hook", agent, event]).stdin(input).run().ok();
            assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""), "{agent} {event}");
        }
    }
    for arguments in [vec!["hook"], vec!["hook", "claude"], vec!["hook", "--what", "is", "this", "now"]] {
        sandbox.rekindle(&arguments).stdin("{}").run().ok();
    }
    // Three failures: broken settings, a home that is a file, and a read-only state folder.
    fs::write(sandbox.home().join("config.toml"), "[memory\n").unwrap();
    sandbox.rekindle(&["hook", "claude", "Stop"]).stdin("{}").run().ok();
    fs::remove_file(sandbox.home().join("config.toml")).unwrap();
    sandbox
        .rekindle(&["--home", "/dev/null/x", "hook", "claude", "Stop"])
        .stdin("{\"session_id\":\"s\"}")
        .run()
        .ok();
    assert!(is_empty(&sandbox.state().join("spool")));
    let lines = fs::read_to_string(sandbox.state().join("logs/hooks.jsonl")).unwrap();
    assert!(lines.contains("not a JSON object") && lines.contains("`nobody` is not an agent"), "{lines}");
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["duration_ms"].is_number() && line["ts"].is_string(), "O11-12: {line}");
    }
}

#[test]
fn b_03_a_secret_reaches_neither_the_spool_nor_the_database_nor_the_log() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.goes_on_for(5);
    session.says(&format!("Remember that the deploy key is {TOKEN} for now."));
    session.hook(&sandbox, "SessionEnd");
    // The same for a host that keeps no transcript.
    hook(&sandbox, "pi", "UserPromptSubmit", &json!({"session_id": "p", "prompt": format!("use {TOKEN}")}));
    hook(&sandbox, "pi", "SessionEnd", &json!({"session_id": "p"}));
    let transcript = session.path.clone();
    let leaks =
        || sandbox.find_bytes(TOKEN).into_iter().filter(|path| *path != transcript).collect::<Vec<_>>();
    assert_eq!(leaks(), [] as [PathBuf; 0]);
    work(&sandbox, &[]);
    assert_eq!(leaks(), [] as [PathBuf; 0]);
    assert_eq!(observed(&sandbox).len(), 1);
}

#[test]
fn r_13_a_session_of_one_message_counts() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.says("we're on pnpm here, not yarn, the lockfile is pnpm-lock.yaml");
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    assert_eq!(stands(&sandbox), pairs(&[("capture", "COMPLETED"), ("observe", "COMPLETED")]));
    let answer = recall(&sandbox, "which package manager do we use, pnpm or yarn?", &[]);
    assert!(!found(&answer).is_empty(), "{answer}");
}

#[test]
fn what_was_asked_to_be_remembered_in_a_short_session_is_noted_and_found() {
    let sandbox = sandbox();
    sandbox.rekindle(&["config", "set", "capture.min_user_messages", "5"]).run().ok();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.says("Remember that the staging database is read-only on Fridays.");
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let expected = [("capture", "SKIPPED"), ("observe-session-noted", "COMPLETED")];
    assert_eq!(stands(&sandbox), pairs(&expected));
    let log = log(&sandbox);
    assert!(log.contains("staging database is read-only on Fridays") && log.contains("origin=user"), "{log}");
    let answer = recall(&sandbox, "is staging writable on friday", &[]);
    assert!(!found(&answer).is_empty(), "{answer}");
    // A repeated end of the session adds no entry.
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    assert_eq!(self::log(&sandbox), log);
}

#[test]
fn a_host_that_keeps_no_transcript_is_captured_from_what_its_hooks_say() {
    let sandbox = sandbox();
    for turn in 0..5 {
        let (prompt, answer) = (format!("Question {turn}?"), format!("Answer {turn}."));
        hook(&sandbox, "pi", "UserPromptSubmit", &json!({"session_id": "p", "prompt": prompt}));
        hook(&sandbox, "pi", "Stop", &json!({"session_id": "p", "last_assistant_message": answer}));
    }
    hook(&sandbox, "pi", "SessionEnd", &json!({"session_id": "p", "reason": "quit"}));
    work(&sandbox, &[]);
    let data = &observed(&sandbox)[0];
    assert_eq!(data["messageCount"], 10);
    let messages = text(data, "messages");
    assert!(messages.find("Question 4?").unwrap() > messages.find("Answer 3.").unwrap(), "{messages}");
}

#[test]
fn b_04_an_agents_helper_is_left_out() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.goes_on_for(6);
    let mut input = session.input();
    input["agent_id"] = json!("a953691f");
    hook(&sandbox, "claude", "SessionEnd", &input);
    work(&sandbox, &["-c", "capture.idle_minutes=0"]);
    assert_eq!(stands(&sandbox), []);
}

#[test]
fn cap_20_a_note_and_a_call_feed_the_memory() {
    let sandbox = sandbox();
    sandbox.rekindle(&["note", "The bilge pump trips at 40 degrees"]).run().ok();
    let call =
        json!({"callId": "c1", "transcript": "A: the keel is booked for May\nB: good", "duration": 60});
    sandbox.rekindle(&["send", "voice/call.completed", "--data", "-"]).stdin(call.to_string()).run().ok();
    work(&sandbox, &[]);
    let expected = [
        ("observe-session-noted", "COMPLETED"),
        ("voice-call-completed", "COMPLETED"),
        ("observe", "COMPLETED"),
    ];
    assert_eq!(stands(&sandbox), pairs(&expected));
    assert!(log(&sandbox).contains("bilge pump trips"));
    assert!(text(&observed(&sandbox)[0], "messages").contains("keel is booked"));
}

#[test]
fn b_03_send_keeps_no_raw_token() {
    let sandbox = sandbox();
    let data = json!({"text": format!("push with {TOKEN} on Fridays")}).to_string();
    let sent = sandbox.rekindle(&["send", "session/observation.noted", "--data", &data]).run().ok();
    assert!(sent.stderr.contains("github-token"), "{}", sent.stderr);
    let keeps = |sandbox: &Sandbox| {
        let kept = sandbox.everything();
        kept.into_iter().any(|(_, bytes)| bytes.windows(TOKEN.len()).any(|piece| piece == TOKEN.as_bytes()))
    };
    assert!(!keeps(&sandbox), "in the spool");
    work(&sandbox, &[]);
    assert!(!keeps(&sandbox), "after the worker");
}

#[test]
fn cap_15_cap_22_events_are_sent_from_the_line_a_file_or_a_pipe_and_checked() {
    let sandbox = sandbox();
    let data = json!({"text": "from a file"}).to_string();
    fs::write(sandbox.work().join("e.json"), &data).unwrap();
    let send = |event: &str, data: &str| sandbox.rekindle(&["send", event, "--data", data, "--json"]);
    assert!(send("session/observation.noted", "@e.json").run().ok().json()["id"].is_string());
    send("session/observation.noted", &data).run().ok();
    send("session/observation.noted", "-").stdin(data).run().ok();
    work(&sandbox, &[]);
    assert_eq!(stands(&sandbox).len(), 3);
    for (event, data, says) in [
        ("session/observation.note", "{}", "did you mean `session/observation.noted`"),
        ("session/observation.noted", "{}", "text"),
        ("session/observation.noted", "{", "not JSON"),
        ("memory/session.ended", "{\"sessionId\":\"s\"}", "missing field"),
        ("memory/friction.fix.completed", "{}", "proposalId"),
        ("system/memory-weekly-maintenance-summary", "{}", "missing field"),
        ("system/schedule.reached", "{}", "no function listens"),
    ] {
        let output = send(event, data).run().fails(2);
        assert!(output.stderr.contains(says), "{}", output.stderr);
    }
    let large = json!({"text": "x".repeat(3_000_000)}).to_string();
    send("session/observation.noted", "-").stdin(large).run().ok();
    work(&sandbox, &[]);
    assert!(stands(&sandbox).iter().all(|(_, status)| status == "COMPLETED"));
}

#[test]
fn exe_10_a_run_that_cannot_go_on_is_dead_tells_why_and_is_revived() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.goes_on_for(5);
    let good = fs::read(&session.path).unwrap();
    fs::write(&session.path, "a shopping list\nmilk\neggs\n").unwrap();
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let dead = &runs(&sandbox, &["--dead"])[0];
    assert_eq!(text(dead, "status"), "DEAD");
    assert!(text(dead, "error").contains("s.jsonl"), "{dead}");
    assert!(!dead.to_string().contains("milk"), "what is not ours is not repeated");
    let id = text(dead, "id");
    let shown = sandbox.rekindle(&["run", &id[18..]]).run().ok();
    assert!(
        shown.stdout.contains("went wrong") && shown.stderr.contains("rekindle retry"),
        "{}",
        shown.stdout
    );
    fs::write(&session.path, good).unwrap();
    sandbox.rekindle(&["retry", id]).run().ok();
    work(&sandbox, &[]);
    assert_eq!(stands(&sandbox).len(), 1, "the hook saw only the first lines");
    sandbox.rekindle(&["retry", "ZZZZ"]).run().fails(2);
    sandbox.rekindle(&["run", "Z"]).run().fails(2);
}

#[test]
fn what_cannot_be_read_in_the_spool_is_kept_aside_and_stops_nobody() {
    let sandbox = sandbox();
    fs::create_dir_all(sandbox.state().join("spool")).unwrap();
    fs::write(sandbox.state().join("spool/0000.json"), "{ not json").unwrap();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.goes_on_for(5);
    session.hook(&sandbox, "SessionEnd");
    let did = work(&sandbox, &[]);
    assert_eq!((did["broken"].as_u64(), did["taken"].as_u64()), (Some(1), Some(1)));
    assert_eq!(observed(&sandbox).len(), 1);
    assert_eq!(fs::read_to_string(sandbox.state().join("spool/broken/0000.json")).unwrap(), "{ not json");
}

#[test]
fn two_workers_and_a_dozen_hooks_at_once_do_everything_once() {
    let sandbox = sandbox();
    let sessions: Vec<ClaudeTranscript> = (0..12)
        .map(|number| {
            let mut session = ClaudeTranscript::new(&sandbox, &format!("s{number}"));
            session.goes_on_for(5);
            session
        })
        .collect();
    let mut commands: Vec<TestCommand> = sessions
        .iter()
        .map(|session| hook_command(&sandbox, "claude", "SessionEnd", &session.input()))
        .collect();
    commands.extend((0..4).map(|_| sandbox.rekindle(&["worker", "--once"]).limit(Duration::from_secs(60))));
    let jobs: Vec<_> = commands.into_iter().map(|command| move || command.run()).collect();
    for output in race::together(Duration::from_secs(120), jobs) {
        output.ok();
    }
    work(&sandbox, &[]);
    let mut seen: Vec<String> =
        observed(&sandbox).iter().map(|data| text(data, "sessionId").to_owned()).collect();
    seen.sort();
    let mut expected: Vec<String> = sessions.iter().map(|session| session.id.clone()).collect();
    expected.sort();
    assert_eq!(seen, expected);
    assert_eq!(log(&sandbox).matches("🤝 Handoff").count(), 12);
}

/// Requirements: CAP-16.
#[test]
fn a_hook_starts_a_worker_that_ends_by_itself() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.goes_on_for(5);
    hook_command(&sandbox, "claude", "SessionEnd", &session.input())
        .without_env("REKINDLE_CAPTURE_BACKGROUND")
        .run()
        .ok();
    // `--once` waits for a running worker.
    work(&sandbox, &[]);
    assert_eq!(observed(&sandbox).len(), 1);
    let lock = sandbox.state().join("locks/worker.lock");
    let began = std::time::Instant::now();
    while fs::File::open(&lock).is_ok_and(|file| file.try_lock().is_err()) {
        assert!(began.elapsed() < Duration::from_secs(20), "a worker is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn b_08_what_is_forgotten_leaves_the_database_and_does_not_come_back() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.says("Remember that the harbour master is called Quillfeather.");
    session.goes_on_for(5);
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let holding = || {
        let files = sandbox.find_bytes("Quillfeather").into_iter();
        files.filter(|path| *path != session.path).collect::<Vec<_>>()
    };
    assert!(holding().iter().any(|path| path.ends_with("rekindle.db")), "{:?}", holding());
    let statement = "Remember that the harbour master is called Quillfeather.";
    sandbox.rekindle(&["forget", "--text", statement, "--yes"]).run().ok();
    assert_eq!(holding(), [] as [PathBuf; 0]);
    // Without the database, the session is captured again from its transcript.
    fs::remove_file(sandbox.state().join("rekindle.db")).unwrap();
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    assert_eq!(observed(&sandbox).len(), 1);
    assert_eq!(holding(), [] as [PathBuf; 0]);
}

/// Polls until a condition holds.
#[track_caller]
fn wait_until(what: &str, so: impl Fn() -> bool) {
    let began = std::time::Instant::now();
    while !so() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_older_worker_makes_room_for_a_newer_one() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.goes_on_for(5);
    session.hook(&sandbox, "SessionEnd");
    let locks = sandbox.state().join("locks");
    fs::create_dir_all(&locks).unwrap();
    let (lock, successor) = (locks.join("worker.lock"), locks.join("worker.successor"));
    // A worker of an older version holds the lock.
    fs::write(&lock, "0 1").unwrap();
    let held = fs::File::open(&lock).unwrap();
    held.lock().unwrap();
    let command = sandbox.rekindle(&["worker", "--once"]);
    let worker = std::thread::spawn(move || command.run());
    wait_until("the newer one asks for the post", || {
        fs::read_to_string(&successor).is_ok_and(|text| text == "1")
    });
    drop(held);
    worker.join().unwrap().ok();
    assert_eq!(observed(&sandbox).len(), 1);
    assert!(!successor.exists());
    // A worker of a newer version asks for the lock, and this worker yields.
    session.goes_on_for(1);
    session.hook(&sandbox, "SessionEnd");
    fs::write(&successor, "99").unwrap();
    work(&sandbox, &[]);
    assert_eq!(observed(&sandbox).len(), 1);
    assert_eq!(fs::read_to_string(&successor).unwrap(), "99");
}

/// Requirements: CAP-18.
#[test]
fn a_locked_database_makes_the_worker_wait_and_no_hook() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.hook(&sandbox, "SessionStart");
    work(&sandbox, &[]);
    session.goes_on_for(5);
    let db = rusqlite::Connection::open(sandbox.state().join("rekindle.db")).unwrap();
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let began = std::time::Instant::now();
    session.hook(&sandbox, "SessionEnd");
    assert!(began.elapsed() < Duration::from_secs(2), "the hook waited");
    let command = sandbox.rekindle(&["worker", "--once"]);
    let worker = std::thread::spawn(move || command.run());
    std::thread::sleep(Duration::from_millis(700));
    assert!(!worker.is_finished());
    db.execute_batch("COMMIT").unwrap();
    worker.join().unwrap().ok();
    assert_eq!(observed(&sandbox).len(), 1);
}

#[test]
fn a_damaged_database_is_named_and_what_hooks_leave_waits() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.goes_on_for(5);
    let path = sandbox.state().join("rekindle.db");
    fs::write(&path, "certainly not a database, and long enough to be looked at as one".repeat(100)).unwrap();
    session.hook(&sandbox, "SessionEnd");
    let output = sandbox.rekindle(&["worker", "--once"]).run().fails(1);
    assert!(output.stderr.contains("rekindle.db") && output.stderr.contains("hint:"), "{}", output.stderr);
    let doctor = sandbox.rekindle(&["doctor"]).run().fails(1);
    assert!(doctor.stdout.contains("rekindle.db"), "{}", doctor.stdout);
    fs::remove_file(&path).unwrap();
    work(&sandbox, &[]);
    assert_eq!(observed(&sandbox).len(), 1, "nothing was lost");
}

#[test]
fn b_14_what_was_said_is_found_by_its_words_below_what_was_saved() {
    let sandbox = sandbox();
    crate::save(&sandbox, "fix", "valve", "The zirconium valve sticks below five degrees.");
    let mut session = ClaudeTranscript::new(&sandbox, "s");
    session.says("The zirconium valve sits in the aft locker, behind the anchor chain.");
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let answer = recall(&sandbox, "zirconium valve", &[]);
    let results = crate::results(&answer);
    assert!(results.len() >= 2, "{answer}");
    assert!(text(&results[0], "text").contains("sticks below five"), "{answer}");
    let said = results.iter().find(|result| text(result, "text").contains("aft locker")).unwrap();
    assert_eq!((said["origin"].as_str(), said["reviewed"].as_bool()), (Some("user"), Some(false)), "{said}");
}

//! Feedback on injected memories: used, ignored or corrected, counted once a turn.

use std::fs;
use std::path::PathBuf;

use rekindle_testkit::Sandbox;
use rekindle_testkit::faults::{self, PlannedFault};
use serde_json::{Value, json};

use crate::capture::{hook, hook_command, runs, work};
use crate::inject::{context, fire, start, warm};
use crate::{save, text};

/// A Claude Code session with hooks.
struct HookedSession {
    id: String,
    path: PathBuf,
    turns: usize,
}

impl HookedSession {
    fn new(sandbox: &Sandbox, id: &str) -> Self {
        Self { id: id.to_owned(), path: sandbox.work().join(format!("{id}.jsonl")), turns: 0 }
    }

    fn input(&self) -> Value {
        json!({"session_id": self.id, "transcript_path": self.path, "cwd": "/home/dev/project"})
    }

    /// Runs the prompt hook and returns its output.
    fn asks(&self, sandbox: &Sandbox, words: &str) -> Value {
        let mut input = self.input();
        input["prompt"] = json!(words);
        fire(sandbox, "UserPromptSubmit", &input)
    }

    /// Appends a turn to the transcript, as the host does.
    fn written(&mut self, words: &str, answer: &str, command: Option<&str>) {
        let id = |part: &str| format!("{}-{}-{part}", self.id, self.turns);
        let parent = self.turns.checked_sub(1).map(|turn| format!("{}-{turn}-a", self.id));
        let line = |kind: &str, own: String, parent: Option<String>, content: Value| {
            json!({"type": kind, "uuid": own, "parentUuid": parent, "isSidechain": false, "sessionId": self.id,
                "cwd": "/home/dev/project", "version": "2.1.325", "timestamp": "2026-11-14T10:00:00.000Z",
                "message": {"role": kind, "content": content}})
        };
        let mut said = vec![json!({"type": "text", "text": answer})];
        said.extend(command.map(
            |command| json!({"type": "tool_use", "id": id("t"), "name": "Bash", "input": {"command": command}}),
        ));
        let user = line("user", id("u"), parent, json!(words));
        let agent = line("assistant", id("a"), Some(id("u")), json!(said));
        let before = fs::read_to_string(&self.path).unwrap_or_default();
        fs::write(&self.path, format!("{before}{user}\n{agent}\n")).unwrap();
        self.turns += 1;
    }

    /// Runs the `Stop` hook. It may notify the person and must add nothing to the agent's context.
    fn stops(&self, sandbox: &Sandbox) {
        let output = hook_command(sandbox, "claude", "Stop", &self.input()).run().ok();
        assert!(
            !output.stdout.contains("additionalContext") && output.stderr.is_empty(),
            "{}",
            output.stdout
        );
    }

    /// Runs a whole turn and returns the output of the prompt hook.
    fn turn(&mut self, sandbox: &Sandbox, words: &str, answer: &str) -> Value {
        let told = self.asks(sandbox, words);
        self.written(words, answer, None);
        self.stops(sandbox);
        work(sandbox, &[]);
        told
    }

    fn inspected(&self, sandbox: &Sandbox) -> Value {
        sandbox.rekindle(&["inspect", "--session", &self.id, "--json"]).run().ok().json()
    }
}

const ASKED: &str = "which port does the ledger database listen on?";

fn usage(sandbox: &Sandbox) -> Vec<Value> {
    let text = fs::read_to_string(sandbox.state().join("usage.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn signals(sandbox: &Sandbox) -> Vec<String> {
    usage(sandbox).iter().map(|line| text(line, "signal").to_owned()).collect()
}

fn echoes(sandbox: &Sandbox) -> Vec<Value> {
    runs(sandbox, &[]).into_iter().filter(|run| run["function"] == "echo-fizzle").collect()
}

#[test]
fn fbk_01_fbk_02_fbk_03_what_a_turn_makes_use_of_rises_once() {
    let sandbox = warm();
    let mut talk = HookedSession::new(&sandbox, "s1");
    let told = talk.turn(&sandbox, ASKED, "It listens on port 7410.");
    assert!(context(&told).contains("7410"));
    assert_eq!(signals(&sandbox), ["used"]);
    // Repeated events change nothing.
    talk.stops(&sandbox);
    work(&sandbox, &[]);
    hook(&sandbox, "claude", "SessionEnd", &talk.input());
    work(&sandbox, &[]);
    assert_eq!(signals(&sandbox), ["used"]);
    let echoes = echoes(&sandbox);
    assert_eq!(echoes.len(), 1, "{echoes:?}");
    assert_eq!(echoes[0]["status"], "COMPLETED");
    let seen = talk.inspected(&sandbox);
    let prompt = &seen["blocks"][0];
    assert_eq!((text(prompt, "what"), text(prompt, "query")), ("prompt", ASKED));
    assert_eq!(prompt["memories"][0]["became"], "used");
    assert_eq!(prompt["memories"][0]["by"], json!(["7410"]));
    assert!(text(&prompt["memories"][0], "title").contains("ledger"), "{prompt}");
    let tokens = &seen["tokens"];
    let number = |key: &str| tokens[key].as_u64().unwrap();
    assert!(number("prompts") > 0, "{tokens}");
    assert_eq!(number("injected"), number("briefing") + number("prompts"));
    assert!(tokens["share"].as_f64().is_some_and(|share| share > 0.0 && share < 1.0), "{tokens}");
    let shown = sandbox.rekindle(&["inspect", "--session", "s1"]).run().ok().stdout;
    assert!(shown.contains("used") && shown.contains("7410"), "{shown}");
    // Feedback by a person goes to the same store and weighs more.
    let id = text(&prompt["memories"][0], "id").to_owned();
    let said = sandbox.rekindle(&["feedback", &id, "wrong", "--json"]).run().ok().json();
    assert!((said["strength"].as_f64().unwrap() + 0.3).abs() < 1e-6, "{said}");
    assert_eq!((said["usage"]["recallCount"].as_u64(), said["usage"]["used"].as_u64()), (Some(1), Some(1)));
}

#[test]
fn fbk_01_what_stands_there_for_nothing_sinks_and_a_command_counts() {
    let sandbox = warm();
    let mut idle = HookedSession::new(&sandbox, "idle");
    idle.turn(&sandbox, ASKED, "I could not find out where the database is.");
    assert_eq!(signals(&sandbox), ["ignored"]);
    assert_eq!(idle.inspected(&sandbox)["blocks"][0]["memories"][0]["became"], "ignored");
    let mut busy = HookedSession::new(&sandbox, "busy");
    busy.asks(&sandbox, ASKED);
    busy.written(ASKED, "Let me see.", Some("psql --port 7410 ledger"));
    busy.stops(&sandbox);
    work(&sandbox, &[]);
    assert_eq!(signals(&sandbox), ["ignored", "used"]);
    // A turn without injected memories starts no run.
    busy.turn(&sandbox, "write a poem about autumn leaves", "Leaves fall.");
    assert_eq!(echoes(&sandbox).len(), 2);
}

#[test]
fn fbk_02_sessions_that_nobody_holds_are_not_judged() {
    let sandbox = warm();
    let data = json!({"agent": "claude", "sessionId": "s1", "synthetic": true}).to_string();
    sandbox.rekindle(&["send", "memory/echo-fizzle.requested", "--data", &data]).run().ok();
    work(&sandbox, &[]);
    assert_eq!(echoes(&sandbox)[0]["status"], "SKIPPED");
    let helper = json!({"session_id": "s1", "agent_id": "a1", "prompt": ASKED});
    assert_eq!(fire(&sandbox, "UserPromptSubmit", &helper), Value::Null);
    sandbox.rekindle(&["inspect", "--session", "s1"]).run().fails(2);
}

#[test]
fn a_turn_whose_answer_is_not_there_yet_is_judged_when_the_session_ends() {
    let sandbox = warm();
    let mut talk = HookedSession::new(&sandbox, "s1");
    talk.asks(&sandbox, ASKED);
    fs::write(&talk.path, "").unwrap();
    talk.stops(&sandbox);
    work(&sandbox, &[]);
    assert_eq!(signals(&sandbox), [""; 0]);
    talk.written(ASKED, "It listens on port 7410.", None);
    hook(&sandbox, "claude", "SessionEnd", &talk.input());
    work(&sandbox, &[]);
    assert_eq!(signals(&sandbox), ["used"]);
}

#[test]
fn fbk_05_a_correction_marks_what_should_have_been_there_and_becomes_a_lesson() {
    let sandbox = warm();
    save(&sandbox, "workflow", "pumps", "The pumps are deployed with the blue script on Tuesdays.");
    sandbox.rekindle(&["reindex"]).run().ok();
    let mut talk = HookedSession::new(&sandbox, "s1");
    talk.turn(&sandbox, "bring out the new version", "I used the green script for it.");
    talk.turn(
        &sandbox,
        "No, I told you: the pumps are deployed with the blue script.",
        "Sorry, I will use it.",
    );
    let seen = talk.inspected(&sandbox);
    assert_eq!((seen["corrections"].as_u64(), seen["turns"].as_u64()), (Some(1), Some(2)), "{seen}");
    assert_eq!(seen["missed"].as_array().unwrap().len(), 1, "{seen}");
    assert!(signals(&sandbox).contains(&"missed".to_owned()));
    let waiting = sandbox.rekindle(&["review", "--json"]).run().ok().stdout;
    assert!(waiting.contains("Lessons") && waiting.contains("blue script"), "{waiting}");
    // A missed memory counts once.
    talk.stops(&sandbox);
    work(&sandbox, &[]);
    assert_eq!(signals(&sandbox).iter().filter(|signal| *signal == "missed").count(), 1);
    assert_eq!(seen["lessons"].as_array().unwrap().len(), 1, "{seen}");
}

#[test]
fn fbk_05_what_misled_sinks_and_nothing_is_deleted() {
    let sandbox = warm();
    let mut talk = HookedSession::new(&sandbox, "s1");
    talk.turn(&sandbox, ASKED, "It listens on port 7410.");
    talk.turn(&sandbox, "No, I told you: the ledger database listens on port 7411, not 7410.", "Noted.");
    let seen = talk.inspected(&sandbox);
    assert_eq!(seen["misled"].as_array().unwrap().len(), 1, "{seen}");
    assert_eq!(seen["blocks"][0]["memories"][0]["became"], "corrected");
    assert_eq!(signals(&sandbox), ["used", "misled"]);
    let list = sandbox.rekindle(&["list"]).run().ok().stdout;
    assert!(list.contains("port 7410 because"), "{list}");
}

#[test]
fn fbk_05_what_a_person_pastes_corrects_nobody() {
    let sandbox = warm();
    let mut talk = HookedSession::new(&sandbox, "s1");
    talk.turn(&sandbox, "bring out the new version", "Done.");
    talk.turn(&sandbox, "> No, I told you: the kettle whistles.\n\nwho wrote this?", "Nobody.");
    assert_eq!(talk.inspected(&sandbox)["corrections"], 0);
    let waiting = sandbox.rekindle(&["review", "--json"]).run().ok().stdout;
    assert!(!waiting.contains("Lessons"), "{waiting}");
}

#[test]
fn a_share_of_sessions_is_left_without_recall_and_can_be_compared() {
    let sandbox = warm();
    let mut with = HookedSession::new(&sandbox, "with");
    with.turn(&sandbox, ASKED, "It listens on port 7410.");
    sandbox.rekindle(&["config", "set", "recall.holdout", "1"]).run().ok();
    let told = start(&sandbox, "without", "startup");
    assert!(context(&told).contains("Never push to main."), "the person's rules stay: {told}");
    let mut without = HookedSession::new(&sandbox, "without");
    assert_eq!(without.turn(&sandbox, ASKED, "No idea."), Value::Null);
    without.turn(&sandbox, "No, I told you: the ledger database listens on port 7410.", "Noted.");
    assert_eq!(without.inspected(&sandbox)["heldOut"], true);
    let compared = sandbox.rekindle(&["inspect", "--holdout", "--json"]).run().ok().json();
    let of = |group: &str, key: &str| compared[group][key].as_u64();
    assert_eq!(
        (of("with", "sessions"), of("with", "turns"), of("with", "corrections")),
        (Some(1), Some(1), Some(0))
    );
    assert_eq!(
        (of("without", "sessions"), of("without", "turns"), of("without", "corrections")),
        (Some(1), Some(2), Some(1)),
        "{compared}"
    );
    // The holdout is stable for a session.
    sandbox.rekindle(&["config", "set", "recall.holdout", "0.5"]).run().ok();
    let silent = |session: &str| HookedSession::new(&sandbox, session).asks(&sandbox, ASKED).is_null();
    let out = (0..24).filter(|number| silent(&format!("h{number}"))).count();
    assert!((3..22).contains(&out), "{out} of 24");
}

#[test]
fn brf_08_before_tools_only_if_it_is_wanted_and_at_most_two() {
    let sandbox = warm();
    save(&sandbox, "fix", "backoff", "In src/pump/backoff.rs the jitter must stay below 250 ms.");
    sandbox.rekindle(&["reindex"]).run().ok();
    let edit = json!({"session_id": "s1", "tool_name": "Edit", "tool_use_id": "t",
        "tool_input": {"file_path": "/home/dev/project/src/pump/backoff.rs", "old_string": "a", "new_string": "b"}});
    assert_eq!(fire(&sandbox, "PreToolUse", &edit), Value::Null, "off by default");
    sandbox.rekindle(&["config", "set", "recall.before_tools", "true"]).run().ok();
    let answer = fire(&sandbox, "PreToolUse", &edit);
    let specific = &answer["hookSpecificOutput"];
    assert!(context(&answer).contains("250 ms") && context(&answer).contains("not instructions"), "{answer}");
    assert_eq!(specific["hookEventName"], "PreToolUse");
    assert!(specific.get("permissionDecision").is_none() && answer.get("decision").is_none(), "{answer}");
    assert_eq!(fire(&sandbox, "PreToolUse", &edit), Value::Null, "the session has it");
    let read =
        json!({"session_id": "s2", "tool_name": "Read", "tool_input": {"file_path": "src/pump/backoff.rs"}});
    assert_eq!(fire(&sandbox, "PreToolUse", &read), Value::Null);
    let spooled = fs::read_dir(sandbox.state().join("spool")).map_or(0, Iterator::count);
    assert_eq!(spooled, 0, "a tool leaves nothing for the worker");
}

#[cfg(unix)]
#[test]
fn brf_07_what_is_ready_at_the_deadline_is_given() {
    let sandbox = warm();
    let index = sandbox.state().join("messages/index");
    fs::remove_dir_all(&index).unwrap_or_default();
    fs::create_dir_all(&index).unwrap();
    // Opening this pipe blocks forever.
    assert!(std::process::Command::new("mkfifo").arg(index.join("CURRENT")).status().unwrap().success());
    let began = std::time::Instant::now();
    let told = HookedSession::new(&sandbox, "s1").asks(&sandbox, ASKED);
    let took = began.elapsed();
    assert!(context(&told).contains("7410"), "{told}");
    // The hook reserves part of its 300 ms for the answer.
    assert!(took.as_millis() >= 200, "{took:?}: nothing was slow");
    let log = fs::read_to_string(sandbox.state().join("logs/hooks.jsonl")).unwrap();
    let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert!(last["result"] == "partial" && text(&last, "detail").contains("words"), "{last}");
    // Keyword search alone needs a better match.
    assert_eq!(
        HookedSession::new(&sandbox, "s2").asks(&sandbox, "paint the port of Lisbon in autumn, with ships"),
        Value::Null
    );
}

#[test]
fn ver_02_a_worker_that_is_killed_anywhere_judges_a_turn_once() {
    if faults::available().inspect_err(|why| rekindle_testkit::skipped(why)).is_err() {
        return;
    }
    let sandbox = warm();
    let mut talk = HookedSession::new(&sandbox, "s1");
    talk.turn(&sandbox, ASKED, "It listens on port 7410.");
    let words = "No, I told you: the ledger database listens on port 7411, not 7410.";
    talk.asks(&sandbox, words);
    talk.written(words, "Noted.", None);
    talk.stops(&sandbox);
    let command = sandbox.rekindle(&["worker", "--once"]);
    let start = sandbox.snapshot();
    let mut broken = 0;
    let every = std::env::var_os("REKINDLE_FAULT_ROUNDS").is_some();
    for at in (1..).step_by(if every { 1 } else { 11 }) {
        sandbox.restore(&start);
        let output = faults::run(&command, PlannedFault::kill(at));
        let Some(call) = output.fault.clone() else { break };
        broken += 1;
        work(&sandbox, &[]);
        assert_eq!(signals(&sandbox), ["used", "misled"], "killed at step {at} ({call})");
        let seen = talk.inspected(&sandbox);
        assert_eq!(seen["lessons"].as_array().unwrap().len(), 1, "killed at step {at} ({call}): {seen}");
        let waiting = sandbox.rekindle(&["review", "--all", "--json"]).run().ok().stdout;
        assert_eq!(waiting.matches("\"Lessons\"").count(), 1, "killed at step {at} ({call}): {waiting}");
    }
    eprintln!("worker: {broken} kills");
    assert!(broken >= 10, "only {broken} steps to break: is the tracer seeing them?");
}

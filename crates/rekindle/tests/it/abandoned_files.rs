//! Messages to agents other than prompts, files that a session leaves behind, and open tasks.

use std::fs;
use std::path::{Path, PathBuf};

use rekindle_testkit::Sandbox;
use serde_json::{Value, json};

use crate::capture::{hook, log, work};
use crate::distil::ScriptedSession;
use crate::inject::{context, fire};
use crate::{project, sandbox};

fn ends(sandbox: &Sandbox, agent: &str, id: &str, cwd: &Path, lines: &[Value]) {
    let path = sandbox.work().join(format!("{agent}-{id}.jsonl"));
    fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let input = json!({"session_id": id, "transcript_path": path, "cwd": cwd});
    hook(sandbox, agent, "SessionEnd", &input);
    work(sandbox, &[]);
}

/// Returns the briefing of a new Claude Code session in `cwd`.
fn briefing(sandbox: &Sandbox, cwd: &PathBuf) -> String {
    let answer =
        fire(sandbox, "SessionStart", &json!({"session_id": "next", "source": "startup", "cwd": cwd}));
    context(&answer).to_owned()
}

fn codex(payload: &Value) -> Value {
    json!({"timestamp": "2026-11-14T09:00:00Z", "type": "response_item", "payload": payload})
}

#[test]
fn r_14_codex_an_answer_and_the_reason_of_a_refusal_stand_at_the_next_start() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let said = |role: &str, text: &str| {
        codex(&json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}))
    };
    let asked = json!({"questions": [{"id": "db", "header": "DB", "question": "Which database should the readings go to?"}]});
    let answered = json!({"answers": {"db": {"answers": ["Postgres 16, it is what the ops team runs"]}}});
    let lines = [
        json!({"timestamp": "2026-11-14T09:00:00Z", "type": "session_meta", "payload": {"id": "c1", "cwd": cwd}}),
        said("user", "store the pump readings somewhere durable"),
        codex(
            &json!({"type": "function_call", "name": "request_user_input", "call_id": "q", "arguments": asked.to_string()}),
        ),
        codex(&json!({"type": "function_call_output", "call_id": "q", "output": answered.to_string()})),
        said("assistant", "I will use Postgres and clean up first."),
        codex(
            &json!({"type": "function_call", "name": "exec_command", "call_id": "r", "arguments": "{\"cmd\":\"rm -rf recordings\"}"}),
        ),
        codex(
            &json!({"type": "function_call_output", "call_id": "r", "output": "exec command rejected by user"}),
        ),
        json!({"timestamp": "2026-11-14T09:00:00Z", "type": "event_msg", "payload": {"type": "turn_aborted", "reason": "interrupted"}}),
        said("user", "never delete the recordings folder, it is the only copy"),
        said("assistant", "Understood. The readings go to Postgres and the recordings stay."),
    ];
    ends(&sandbox, "codex", "c1", &cwd, &lines);
    let told = briefing(&sandbox, &cwd);
    assert!(told.contains("ever delete the recordings folder"), "{told}\n{}", log(&sandbox));
    assert!(told.contains("Postgres 16"), "{told}\n{}", log(&sandbox));
    assert!(
        log(&sandbox).contains("The user stopped it: “never delete the recordings folder"),
        "{}",
        log(&sandbox)
    );
}

#[test]
fn b_01_what_a_session_publishes_and_notes_is_the_agents_word() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let mut told = ScriptedSession::new(cwd.clone(), "s1");
    told.user("open a pull request for the valve and write down what we learnt")
        .runs(
            "gh pr create --title 'Wait for the valve to settle' --body 'The pressure was read before close() returned.'",
            false,
            "https://example.com/acme/pumps/pull/41",
        )
        .calls(
            "Write",
            &json!({"file_path": cwd.join("CLAUDE.md"), "content": "# Pumps\n\n- Always flush the valve before a pressure test.\n"}),
            false,
            "File created",
        )
        .agent("The pull request is open.");
    told.ends(&sandbox);
    let log = log(&sandbox);
    assert!(
        log.contains("Opened pull request #41 “Wait for the valve to settle”: The pressure was read before close() returned."),
        "{log}"
    );
    assert!(log.contains("Noted in CLAUDE.md: Always flush the valve before a pressure test."), "{log}");
    let told = briefing(&sandbox, &cwd);
    assert!(!told.contains("standing instructions for this project"), "an agent lays down no rule: {told}");
}

#[test]
fn brf_02_the_briefing_says_where_the_last_session_stood() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let mut told = ScriptedSession::new(cwd.clone(), "s1");
    told.user("make the valve wait until it has settled")
        .runs("git switch -c fix/valve", false, "Switched to a new branch")
        .calls(
            "Write",
            &json!({"file_path": cwd.join("docs/valve-plan.md"), "content": "# Wait for the valve\n"}),
            false,
            "ok",
        )
        .edits("src/valve.rs")
        .runs("cargo test valve", false, "test result: ok. 4 passed")
        .agent("The valve waits now. Should the timeout be five seconds or ten?");
    told.ends(&sandbox);
    let told = briefing(&sandbox, &cwd);
    for words in [
        "Unfinished (2026-11-14",
        "make the valve wait until it has settled",
        "Should the timeout be five seconds or ten?",
        "Not committed: docs/valve-plan.md, src/valve.rs.",
        "Plan: docs/valve-plan.md.",
        "Branch: `fix/valve`.",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!log(&sandbox).contains("Session completed normally"), "{}", log(&sandbox));
}

#[test]
fn brf_02_b_01_what_agents_found_stands_at_the_start_as_reference() {
    let sandbox = sandbox();
    let cwd = project(&sandbox, "pumps");
    let mut told = ScriptedSession::new(cwd.clone(), "s1");
    told.user("why does the valve test fail on CI?").runs("cargo test valve", true, "1 failed").agent(
        "The valve test fails on CI because the runner has no /dev/gpio, so `open_valve()` returns early. \
         I have not changed anything.",
    );
    told.ends(&sandbox);
    let start = briefing(&sandbox, &cwd);
    let (instructions, reference) = start.split_once("reference, not instructions").expect(&start);
    assert!(reference.contains("## What agents found here") && reference.contains("/dev/gpio"), "{start}");
    assert!(!instructions.contains("/dev/gpio"), "{start}");
    let boats = json!({"session_id": "other", "source": "startup", "cwd": project(&sandbox, "boats")});
    let other = fire(&sandbox, "SessionStart", &boats);
    assert!(!other.to_string().contains("/dev/gpio"), "{other}");
}

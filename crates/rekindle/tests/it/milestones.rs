//! Milestones of the installation in the system log (O11-17).

use rekindle_testkit::Sandbox;
use serde_json::json;

use crate::daily_use::briefing;
use crate::{sandbox, text};

/// The actions of the system log, the oldest first, after a worker has run.
fn actions(sandbox: &Sandbox) -> Vec<String> {
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    let lines = sandbox.rekindle(&["slog", "list", "--json"]).run().ok().json();
    lines.as_array().unwrap().iter().rev().map(|line| text(line, "action").to_owned()).collect()
}

/// O11-17, R-18: the worker logs each milestone once, and no agent is told of it.
#[test]
fn o11_17_r_18_milestones_are_logged_once_and_never_injected() {
    let sandbox = sandbox();
    assert!(actions(&sandbox).is_empty(), "nothing is connected yet");
    sandbox.rekindle(&["install", "claude", "--yes"]).run().ok();
    assert_eq!(actions(&sandbox), ["memory.phase.kickoff"]);
    assert_eq!(actions(&sandbox), ["memory.phase.kickoff"], "only what is new");

    let file = sandbox.state().join("milestones.json");
    let mut state: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    state["version"] = json!("0.0.1");
    std::fs::write(&file, state.to_string()).unwrap();
    let gate =
        json!({"at": "2026-11-19T10:00:00Z", "version": "0.0.1", "ok": true, "seconds": 1.0, "failed": []});
    std::fs::write(sandbox.state().join("gate.jsonl"), format!("{gate}\n")).unwrap();
    sandbox.rekindle(&["install", "gemini", "--yes"]).run().ok();
    let all = ["memory.phase.kickoff", "deploy", "memory.agent.connected", "memory.phase.gate-added"];
    assert_eq!(actions(&sandbox), all);

    sandbox
        .rekindle(&["slog", "write", "--action", "move", "--tool", "pumps", "--detail", "to Lyon"])
        .run()
        .ok();
    let told = briefing(&sandbox, "s1");
    assert!(told.contains("move pumps: to Lyon") && !told.contains("kickoff"), "{told}");

    std::fs::write(&file, "{").unwrap();
    let again = actions(&sandbox);
    assert_eq!(again.last().map(String::as_str), Some("memory.phase.gate-added"), "{again:?}");
    assert!(
        !sandbox.state().join("milestones.json").metadata().unwrap().len().eq(&1),
        "a damaged file is replaced"
    );
}

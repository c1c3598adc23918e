//! Calls an installed hook with a sample that leaves no trace, and checks the answer.

use std::time::Duration;

use rekindle_core::base::agent::Agent;
use rekindle_core::hosts::hook::PROBE_VARIABLE;
use serde_json::json;

use super::installed::commands;
use super::{Error, InstallEnvironment};

/// The result of one hook.
#[derive(Clone, Debug)]
pub struct HookProbe {
    /// The event of the hook.
    pub event: String,
    /// The duration of the call.
    pub took: Duration,
    /// The problem, if there is one.
    pub problem: Option<String>,
}

pub(super) fn probe(machine: &InstallEnvironment, agent: Agent) -> Result<Vec<HookProbe>, Error> {
    let probed = commands(machine, agent)?.into_iter().map(|hook| {
        let sample = json!({
            "session_id": "rekindle-probe", "transcript_path": null, "cwd": std::env::temp_dir(),
            "hook_event_name": hook.event, "prompt": "Is anybody there?", "source": "startup", "reason": "other",
            "trigger": "manual", "agent": agent,
        });
        let answer = hook.probe(&sample.to_string(), PROBE_VARIABLE);
        HookProbe { event: hook.event, took: answer.took, problem: answer.problem }
    });
    Ok(probed.collect())
}

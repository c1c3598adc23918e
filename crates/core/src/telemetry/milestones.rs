//! Milestones of an installation, as lines of the system log (O11-17).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::agent::Agent;
use crate::vault::system_log::SystemLogLine;

/// The tool that milestones name.
const TOOL: &str = "rekindle";
/// Rekindle was set up and connected to its first agent.
const KICKOFF: &str = "memory.phase.kickoff";
/// The first gate was green.
const GATE_ADDED: &str = "memory.phase.gate-added";
/// Another version of the program runs.
const DEPLOY: &str = "deploy";
/// An agent was connected.
const CONNECTED: &str = "memory.agent.connected";
/// An agent was disconnected.
const DISCONNECTED: &str = "memory.agent.disconnected";

/// The state of an installation from which its milestones follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallationState {
    /// The version of the program.
    pub version: String,
    /// The connected agents.
    pub agents: Vec<Agent>,
    /// True once a gate was green.
    pub gate_passed: bool,
}

/// The milestones between two states of an installation. There are none before an agent is connected.
pub fn milestones(
    before: Option<&InstallationState>,
    after: &InstallationState,
    at: Timestamp,
) -> Vec<SystemLogLine> {
    let line = |action: &str, detail: String| SystemLogLine {
        at,
        action: action.to_owned(),
        tool: TOOL.to_owned(),
        detail,
        reason: None,
    };
    let mut lines = Vec::new();
    match before {
        None if after.agents.is_empty() => return lines,
        None => {
            lines.push(line(KICKOFF, format!("{}, connected to {}", after.version, names(&after.agents))));
        }
        Some(before) => {
            if before.version != after.version {
                lines.push(line(DEPLOY, format!("{} replaces {}", after.version, before.version)));
            }
            let added = missing(&after.agents, &before.agents);
            let removed = missing(&before.agents, &after.agents);
            for (action, agents) in [(CONNECTED, added), (DISCONNECTED, removed)] {
                if !agents.is_empty() {
                    lines.push(line(action, names(&agents)));
                }
            }
        }
    }
    if after.gate_passed && !before.is_some_and(|before| before.gate_passed) {
        lines.push(line(GATE_ADDED, "the first gate was green".to_owned()));
    }
    lines
}

/// True for a milestone of Rekindle's own. The briefing tells changes of the person's infrastructure, not these
///
pub fn is_milestone(line: &SystemLogLine) -> bool {
    let actions = [KICKOFF, GATE_ADDED, DEPLOY, CONNECTED, DISCONNECTED];
    line.tool == TOOL && actions.contains(&line.action.as_str())
}

fn missing(agents: &[Agent], from: &[Agent]) -> Vec<Agent> {
    agents.iter().copied().filter(|agent| !from.contains(agent)).collect()
}

fn names(agents: &[Agent]) -> String {
    agents.iter().map(|agent| agent.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(version: &str, agents: &[Agent], gate_passed: bool) -> InstallationState {
        InstallationState { version: version.to_owned(), agents: agents.to_vec(), gate_passed }
    }

    fn told(before: Option<&InstallationState>, after: &InstallationState) -> Vec<(String, String)> {
        let lines = milestones(before, after, "2026-11-19T10:00:00Z".parse().unwrap());
        assert!(lines.iter().all(is_milestone));
        lines.into_iter().map(|line| (line.action, line.detail)).collect()
    }

    /// O11-17: each change of an installation is one milestone, told once.
    #[test]
    fn o11_17_changes_of_an_installation_are_milestones() {
        let bare = state("0.1.0", &[], false);
        let first = state("0.1.0", &[Agent::Claude, Agent::Codex], false);
        let later = state("0.2.0", &[Agent::Codex, Agent::Pi], true);
        let pair = |action: &str, detail: &str| (action.to_owned(), detail.to_owned());
        assert!(told(None, &bare).is_empty(), "nothing is connected yet");
        assert_eq!(told(None, &first), [pair(KICKOFF, "0.1.0, connected to Claude Code, Codex")]);
        assert!(told(Some(&first), &first).is_empty());
        let all = [
            pair(DEPLOY, "0.2.0 replaces 0.1.0"),
            pair(CONNECTED, "pi"),
            pair(DISCONNECTED, "Claude Code"),
            pair(GATE_ADDED, "the first gate was green"),
        ];
        assert_eq!(told(Some(&first), &later), all);
    }

    /// only Rekindle's own milestones are left out of the briefing, not what a person logs of the program.
    #[test]
    fn r_18_a_change_that_a_person_logs_is_no_milestone() {
        let line = |action: &str, tool: &str| SystemLogLine {
            at: "2026-11-19T10:00:00Z".parse().unwrap(),
            action: action.to_owned(),
            tool: tool.to_owned(),
            detail: String::new(),
            reason: None,
        };
        assert!(!is_milestone(&line("restart", "rekindle")));
        assert!(!is_milestone(&line("deploy", "worker")));
    }
}

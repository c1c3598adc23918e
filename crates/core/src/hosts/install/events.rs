//! The hook events that we register for, with their timeouts.

use crate::base::agent::Agent;

/// A hook event to register for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The agent's own name of the event.
    pub event: &'static str,
    /// The timeout in the agent's own unit: milliseconds for Gemini CLI, seconds for the others.
    pub timeout: u64,
    /// A filter on tool names in the agent's syntax; `None` for all tools.
    pub matcher: Option<&'static str>,
}

impl Registered {
    const fn new(event: &'static str, timeout: u64) -> Self {
        Self { event, timeout, matcher: None }
    }
}

/// The default timeout in seconds. A hook answers in milliseconds; this is for a machine that has just woken
/// up.
const PATIENCE: u64 = 5;
/// The timeout before compaction and at the end of a session. Anything not stored by then is lost.
const LAST_CHANCE: u64 = 10;
/// Codex allows the end hook this many seconds, whatever is configured.
const CODEX_END: u64 = 3;

const CLAUDE: [Registered; 6] = [
    Registered::new("SessionStart", PATIENCE),
    Registered::new("UserPromptSubmit", PATIENCE),
    Registered::new("Stop", PATIENCE),
    Registered::new("PreCompact", LAST_CHANCE),
    Registered::new("PostCompact", PATIENCE),
    Registered::new("SessionEnd", LAST_CHANCE),
];

const CODEX: [Registered; 6] =
    [CLAUDE[0], CLAUDE[1], CLAUDE[2], CLAUDE[3], CLAUDE[4], Registered::new("SessionEnd", CODEX_END)];

const GEMINI: [Registered; 5] = [
    Registered::new("SessionStart", PATIENCE * 1000),
    Registered::new("BeforeAgent", PATIENCE * 1000),
    Registered::new("AfterAgent", PATIENCE * 1000),
    Registered::new("PreCompress", LAST_CHANCE * 1000),
    Registered::new("SessionEnd", LAST_CHANCE * 1000),
];

/// pi has no hooks. Its extension calls us at its own events, under Claude Code's names.
const PI: [Registered; 6] = CLAUDE;

/// The events before a file is changed or a command runs (BRF-08), registered only if the user wants
/// reminders then.
const BEFORE_TOOLS: [(Agent, Registered); 4] = [
    (Agent::Claude, before_tool("PreToolUse", PATIENCE, "Bash|Edit|MultiEdit|NotebookEdit|Write")),
    (Agent::Codex, before_tool("PreToolUse", PATIENCE, "Bash|apply_patch")),
    (Agent::Gemini, before_tool("BeforeTool", PATIENCE * 1000, "run_shell_command|replace|write_file")),
    (Agent::Pi, before_tool("PreToolUse", PATIENCE, "bash|edit|write")),
];

const fn before_tool(event: &'static str, timeout: u64, matcher: &'static str) -> Registered {
    Registered { event, timeout, matcher: Some(matcher) }
}

/// The events of an agent in the order in which they happen, those before tools only on request.
pub fn events(agent: Agent, before_tools: bool) -> Vec<Registered> {
    let mut events = match agent {
        Agent::Claude => CLAUDE.to_vec(),
        Agent::Codex => CODEX.to_vec(),
        Agent::Gemini => GEMINI.to_vec(),
        Agent::Pi => PI.to_vec(),
    };
    let tools = BEFORE_TOOLS.iter().filter(|(of, _)| before_tools && *of == agent).map(|(_, one)| *one);
    events.splice(2..2, tools);
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::hook::Kind;

    #[test]
    fn brf_08_tools_call_only_if_they_are_to() {
        for agent in Agent::ALL {
            let kinds = |before_tools| {
                let all = events(agent, before_tools);
                all.iter().filter_map(|one| Kind::of(agent, one.event)).collect::<Vec<_>>()
            };
            assert!(!kinds(false).contains(&Kind::BeforeTool), "{agent}");
            assert_eq!(kinds(true).iter().filter(|kind| **kind == Kind::BeforeTool).count(), 1, "{agent}");
        }
    }

    /// Requirements: BRF-09.
    #[test]
    fn we_are_called_only_for_what_we_understand() {
        for agent in Agent::ALL {
            for registered in events(agent, true) {
                assert!(Kind::of(agent, registered.event).is_some(), "{agent} {}", registered.event);
            }
        }
    }
}

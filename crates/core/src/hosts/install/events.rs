//! The hook events that we register for, with their timeouts.

use crate::base::agent::Agent;

/// A hook event to register for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisteredEvent {
    /// The agent's own name of the event.
    pub event: &'static str,
    /// The timeout in the agent's own unit: milliseconds for Gemini CLI, seconds for the others.
    pub timeout: u64,
    /// A filter on tool names in the agent's syntax; `None` for all tools.
    pub matcher: Option<&'static str>,
}

impl RegisteredEvent {
    const fn new(event: &'static str, timeout: u64) -> Self {
        Self { event, timeout, matcher: None }
    }
}

/// The default timeout in seconds. A hook answers in milliseconds; this is for a machine that has just woken
/// up.
const HOOK_TIMEOUT_SECONDS: u64 = 5;
/// The timeout before compaction and at the end of a session. Anything not stored by then is lost.
const SESSION_END_TIMEOUT_SECONDS: u64 = 10;
/// Codex allows the end hook this many seconds, whatever is configured.
const CODEX_END_TIMEOUT_SECONDS: u64 = 3;

const CLAUDE_EVENTS: [RegisteredEvent; 6] = [
    RegisteredEvent::new("SessionStart", HOOK_TIMEOUT_SECONDS),
    RegisteredEvent::new("UserPromptSubmit", HOOK_TIMEOUT_SECONDS),
    RegisteredEvent::new("Stop", HOOK_TIMEOUT_SECONDS),
    RegisteredEvent::new("PreCompact", SESSION_END_TIMEOUT_SECONDS),
    RegisteredEvent::new("PostCompact", HOOK_TIMEOUT_SECONDS),
    RegisteredEvent::new("SessionEnd", SESSION_END_TIMEOUT_SECONDS),
];

const CODEX_EVENTS: [RegisteredEvent; 6] = [
    CLAUDE_EVENTS[0],
    CLAUDE_EVENTS[1],
    CLAUDE_EVENTS[2],
    CLAUDE_EVENTS[3],
    CLAUDE_EVENTS[4],
    RegisteredEvent::new("SessionEnd", CODEX_END_TIMEOUT_SECONDS),
];

const GEMINI_EVENTS: [RegisteredEvent; 5] = [
    RegisteredEvent::new("SessionStart", HOOK_TIMEOUT_SECONDS * 1000),
    RegisteredEvent::new("BeforeAgent", HOOK_TIMEOUT_SECONDS * 1000),
    RegisteredEvent::new("AfterAgent", HOOK_TIMEOUT_SECONDS * 1000),
    RegisteredEvent::new("PreCompress", SESSION_END_TIMEOUT_SECONDS * 1000),
    RegisteredEvent::new("SessionEnd", SESSION_END_TIMEOUT_SECONDS * 1000),
];

/// pi has no hooks. Its extension calls us at its own events, under Claude Code's names.
const PI_EVENTS: [RegisteredEvent; 6] = CLAUDE_EVENTS;

/// The events before a file is changed or a command runs (BRF-08), registered only if the user wants
/// reminders then.
const BEFORE_TOOL_EVENTS: [(Agent, RegisteredEvent); 4] = [
    (
        Agent::Claude,
        before_tool("PreToolUse", HOOK_TIMEOUT_SECONDS, "Bash|Edit|MultiEdit|NotebookEdit|Write"),
    ),
    (Agent::Codex, before_tool("PreToolUse", HOOK_TIMEOUT_SECONDS, "Bash|apply_patch")),
    (
        Agent::Gemini,
        before_tool("BeforeTool", HOOK_TIMEOUT_SECONDS * 1000, "run_shell_command|replace|write_file"),
    ),
    (Agent::Pi, before_tool("PreToolUse", HOOK_TIMEOUT_SECONDS, "bash|edit|write")),
];

const fn before_tool(event: &'static str, timeout: u64, matcher: &'static str) -> RegisteredEvent {
    RegisteredEvent { event, timeout, matcher: Some(matcher) }
}

/// The events of an agent in the order in which they happen, those before tools only on request.
pub fn events(agent: Agent, before_tools: bool) -> Vec<RegisteredEvent> {
    let mut events = match agent {
        Agent::Claude => CLAUDE_EVENTS.to_vec(),
        Agent::Codex => CODEX_EVENTS.to_vec(),
        Agent::Gemini => GEMINI_EVENTS.to_vec(),
        Agent::Pi => PI_EVENTS.to_vec(),
    };
    let tools = BEFORE_TOOL_EVENTS.iter().filter(|(of, _)| before_tools && *of == agent).map(|(_, one)| *one);
    events.splice(2..2, tools);
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::hook::HookKind;

    #[test]
    fn brf_08_tools_call_only_if_they_are_to() {
        for agent in Agent::ALL {
            let kinds = |before_tools| {
                let all = events(agent, before_tools);
                all.iter().filter_map(|one| HookKind::from_event(agent, one.event)).collect::<Vec<_>>()
            };
            assert!(!kinds(false).contains(&HookKind::BeforeTool), "{agent}");
            assert_eq!(
                kinds(true).iter().filter(|kind| **kind == HookKind::BeforeTool).count(),
                1,
                "{agent}"
            );
        }
    }

    /// Requirements: BRF-09.
    #[test]
    fn hooks_are_registered_for_known_events_only() {
        for agent in Agent::ALL {
            for registered in events(agent, true) {
                assert!(
                    HookKind::from_event(agent, registered.event).is_some(),
                    "{agent} {}",
                    registered.event
                );
            }
        }
    }
}

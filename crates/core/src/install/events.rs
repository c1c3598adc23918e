//! Which of an agent's events we are called for, and how long it waits for us at most.

use crate::agent::Agent;

/// An event we ask to be called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The agent's own name for it.
    pub event: &'static str,
    /// How long it waits, in the unit the agent counts in: Gemini CLI in milliseconds, the others in seconds.
    pub timeout: u64,
}

/// A hook answers in milliseconds; this is for a machine that has just woken up.
const PATIENCE: u64 = 5;
/// When a session is about to be cut or to end, what is not written down now is gone.
const LAST_CHANCE: u64 = 10;
/// Codex gives the end of a session this much, whatever is asked for.
const CODEX_END: u64 = 3;

const CLAUDE: [Registered; 6] = [
    Registered { event: "SessionStart", timeout: PATIENCE },
    Registered { event: "UserPromptSubmit", timeout: PATIENCE },
    Registered { event: "Stop", timeout: PATIENCE },
    Registered { event: "PreCompact", timeout: LAST_CHANCE },
    Registered { event: "PostCompact", timeout: PATIENCE },
    Registered { event: "SessionEnd", timeout: LAST_CHANCE },
];

const CODEX: [Registered; 6] = [
    CLAUDE[0],
    CLAUDE[1],
    CLAUDE[2],
    CLAUDE[3],
    CLAUDE[4],
    Registered { event: "SessionEnd", timeout: CODEX_END },
];

const GEMINI: [Registered; 5] = [
    Registered { event: "SessionStart", timeout: PATIENCE * 1000 },
    Registered { event: "BeforeAgent", timeout: PATIENCE * 1000 },
    Registered { event: "AfterAgent", timeout: PATIENCE * 1000 },
    Registered { event: "PreCompress", timeout: LAST_CHANCE * 1000 },
    Registered { event: "SessionEnd", timeout: LAST_CHANCE * 1000 },
];

/// pi has no hooks: its extension calls us at its own events, by the names that Claude Code has for them.
const PI: [Registered; 6] = CLAUDE;

/// The events of an agent, in the order in which they happen.
pub fn events(agent: Agent) -> &'static [Registered] {
    match agent {
        Agent::Claude => &CLAUDE,
        Agent::Codex => &CODEX,
        Agent::Gemini => &GEMINI,
        Agent::Pi => &PI,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::Kind;

    #[test]
    fn we_are_called_only_for_what_we_understand() {
        for agent in Agent::ALL {
            for registered in events(agent) {
                assert!(Kind::of(agent, registered.event).is_some(), "{agent} {}", registered.event);
            }
        }
    }
}

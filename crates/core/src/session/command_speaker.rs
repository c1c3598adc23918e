//! Identifies the caller of a command: the user at a terminal, or an agent in its shell.
//!
//! This is about honest agents: a program that may run any command can also edit the vault. It prevents an
//! agent's words from being taken for the user's by accident, or because a text told the agent to run a
//! command.

use crate::base::provenance::Origin;

/// Environment variables that agents set for the commands they run.
pub const AGENT_VARIABLES: &[&str] = &[
    // Set by Claude Code.
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    // Set by Codex CLI.
    "CODEX_CI",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    // Set by Gemini CLI.
    "GEMINI_CLI",
    // Set by the pi agent.
    "PI_CODING_AGENT",
    // Set by other agents that people use beside them.
    "AI_AGENT",
    "AUGMENT_AGENT",
    "CLINE_ACTIVE",
    "CURSOR_AGENT",
    "GOOSE_TERMINAL",
    "OPENCODE",
];

/// The caller of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandSpeaker {
    /// The user, at a terminal.
    Person,
    /// An agent, or an unattended program.
    Agent,
}

impl CommandSpeaker {
    /// The author of the words that a command brings.
    pub fn origin(self) -> Origin {
        match self {
            Self::Person => Origin::User,
            Self::Agent => Origin::Agent,
        }
    }
}

/// Identifies the caller from the environment. `at_terminal` means that one of the three standard streams is
/// a terminal. An agent's shell has none, or sets one of the variables.
pub fn detect_speaker(is_set: impl Fn(&str) -> bool, at_terminal: bool) -> CommandSpeaker {
    match at_terminal && !is_agent_shell(is_set) {
        true => CommandSpeaker::Person,
        false => CommandSpeaker::Agent,
    }
}

/// True if an agent started this shell. A user's script, such as a cron job, has no terminal either. It may
/// still decide for the user, but words that it brings do not count as theirs.
pub fn is_agent_shell(is_set: impl Fn(&str) -> bool) -> bool {
    AGENT_VARIABLES.iter().any(|name| is_set(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_19_only_a_person_at_a_terminal_is_the_person() {
        assert_eq!(detect_speaker(|_| false, true), CommandSpeaker::Person);
        assert_eq!(detect_speaker(|_| false, false), CommandSpeaker::Agent, "nobody watches");
        for variable in AGENT_VARIABLES {
            assert_eq!(detect_speaker(|name| name == *variable, true), CommandSpeaker::Agent, "{variable}");
            assert!(is_agent_shell(|name| name == *variable), "{variable}");
        }
        assert!(!is_agent_shell(|_| false), "a cron job is no agent");
    }
}

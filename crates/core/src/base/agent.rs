//! The coding agents that Rekindle observes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A coding agent that Rekindle observes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Agent {
    /// Claude Code, by Anthropic.
    Claude,
    /// Codex, made by OpenAI.
    Codex,
    /// Gemini CLI, by Google.
    Gemini,
    /// The pi coding agent.
    Pi,
}

impl Agent {
    /// All agents, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Pi];

    /// The agent's short name in commands and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Pi => "pi",
        }
    }

    /// The agent's name as its makers write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Pi => "pi",
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Agent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|agent| agent.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not an agent (claude, codex, gemini, pi)"))
    }
}

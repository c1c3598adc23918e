//! What agents tell us through their hooks: their own words in, ours out. What we do not know is nothing, not an error.

pub mod turns;
mod wire;

use serde::{Deserialize, Serialize};

use crate::base::agent::Agent;

pub use wire::{NotASignal, has_ui, read};

/// Set for the processes of our own model calls: a hook that sees it does nothing (B-04), or we would observe ourselves.
pub const GUARD: &str = "REKINDLE_GUARD";
/// Set by `doctor`: a hook that sees it answers as always and leaves no trace.
pub const PROBE: &str = "REKINDLE_PROBE";

/// What a hook tells us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A session began, or began again.
    Start,
    /// The person says something.
    Prompt,
    /// The agent is about to use a tool.
    BeforeTool,
    /// The agent has answered and waits.
    Stop,
    /// What was said is about to be summarised.
    BeforeCompaction,
    /// It was.
    AfterCompaction,
    /// The session is over.
    End,
}

impl Kind {
    /// What an agent's event means to us; `None` for those that mean nothing.
    pub fn of(agent: Agent, event: &str) -> Option<Self> {
        let kinds: &[(&str, Self)] = match agent {
            Agent::Gemini => &[
                ("SessionStart", Self::Start),
                ("BeforeAgent", Self::Prompt),
                ("BeforeTool", Self::BeforeTool),
                ("AfterAgent", Self::Stop),
                ("PreCompress", Self::BeforeCompaction),
                ("SessionEnd", Self::End),
            ],
            Agent::Claude | Agent::Codex | Agent::Pi => &[
                ("SessionStart", Self::Start),
                ("UserPromptSubmit", Self::Prompt),
                ("PreToolUse", Self::BeforeTool),
                ("Stop", Self::Stop),
                ("PreCompact", Self::BeforeCompaction),
                ("PostCompact", Self::AfterCompaction),
                ("SessionEnd", Self::End),
            ],
        };
        kinds.iter().find(|(name, _)| *name == event).map(|(_, kind)| *kind)
    }
}

/// What a hook was given, as far as we need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    /// Who.
    pub agent: Agent,
    /// What.
    pub kind: Kind,
    /// Which session.
    pub session: String,
    /// Where the host keeps the transcript, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// The folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// How it began (`startup`, `resume`, `compact`) or why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the person says; before a tool, what its call is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What the agent answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Whether it comes from an agent's helper, not from the person's session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub subagent: bool,
}

//! Hook events of the agents, translated to our own terms. An unknown event is `None`, not an error.

pub mod duplicate_calls;
mod wire;

use serde::{Deserialize, Serialize};

use crate::base::agent::Agent;

pub use wire::{HookSignalError, has_ui, read};

/// The environment variable set for our own model calls. A hook that sees it does nothing (B-04); otherwise
/// we would observe ourselves.
pub const GUARD_VARIABLE: &str = "REKINDLE_GUARD";
/// The environment variable set by `doctor`. A hook that sees it answers as usual but stores nothing.
pub const PROBE_VARIABLE: &str = "REKINDLE_PROBE";

/// A hook event in our own terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookKind {
    /// A session started or was resumed.
    Start,
    /// The user submits a prompt.
    Prompt,
    /// The agent is about to use a tool.
    BeforeTool,
    /// The agent has answered and waits for input.
    Stop,
    /// The host is about to compact the conversation.
    BeforeCompaction,
    /// The host has compacted the conversation.
    AfterCompaction,
    /// The session has ended.
    End,
}

impl HookKind {
    /// Translates an agent's event name. `None` if we don't use the event.
    pub fn from_event(agent: Agent, event: &str) -> Option<Self> {
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

/// The parts of a hook's input that we need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookSignal {
    /// The agent that called the hook.
    pub agent: Agent,
    /// The event in our own terms.
    pub kind: HookKind,
    /// The id of the session.
    pub session: String,
    /// The path of the transcript, if the host keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// The agent's working folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The start reason (`startup`, `resume`, `compact`) or the end reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The user's prompt; before a tool, a description of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The agent's last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// True for a subagent's event, not one of the user's own session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub subagent: bool,
}

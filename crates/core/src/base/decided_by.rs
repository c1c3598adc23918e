//! The ways by which a decision about a proposal arrives.

use serde::{Deserialize, Serialize};

/// By which way a decision came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// A command.
    Command,
    /// `REVIEW.md`.
    Page,
    /// An agent, through a tool.
    Agent,
    /// An event from another program (REV-06).
    Event,
    /// A task (REV-06).
    Todoist,
    /// A button (REV-08).
    Telegram,
    /// Nobody: the rules or a model (REV-09).
    Triage,
    /// Nobody: it was too old.
    Clock,
}

impl By {
    /// Every way.
    pub const ALL: [Self; 8] = [
        Self::Command,
        Self::Page,
        Self::Agent,
        Self::Event,
        Self::Todoist,
        Self::Telegram,
        Self::Triage,
        Self::Clock,
    ];

    /// The word in the store and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Page => "page",
            Self::Agent => "agent",
            Self::Event => "event",
            Self::Todoist => "todoist",
            Self::Telegram => "telegram",
            Self::Triage => "triage",
            Self::Clock => "clock",
        }
    }

    /// The words in a sentence, behind what became of it.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Command => "by a command",
            Self::Page => "in REVIEW.md",
            Self::Agent => "by an agent",
            Self::Event => "by another program",
            Self::Todoist => "in Todoist",
            Self::Telegram => "in Telegram",
            Self::Triage => "by triage",
            Self::Clock => "because nobody decided in time",
        }
    }

    /// Whether a person decided, by whatever way.
    pub fn is_person(self) -> bool {
        !matches!(self, Self::Triage | Self::Clock)
    }
}

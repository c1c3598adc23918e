//! The channels through which a decision about a proposal arrives.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

/// The channel through which a decision arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DecidedBy {
    /// A command line call.
    Command,
    /// An edit of `REVIEW.md`.
    Page,
    /// The page of `rekindle web`.
    Web,
    /// An agent, through an MCP tool.
    Agent,
    /// An event from another program (REV-06).
    Event,
    /// A Todoist task (REV-06).
    Todoist,
    /// A Telegram button (REV-08).
    Telegram,
    /// Triage by rules or a model; no person decided (REV-09).
    Triage,
    /// Expiry: the proposal was too old.
    Clock,
}

impl DecidedBy {
    /// All channels, in a fixed order.
    pub const ALL: [Self; 9] = [
        Self::Command,
        Self::Page,
        Self::Web,
        Self::Agent,
        Self::Event,
        Self::Todoist,
        Self::Telegram,
        Self::Triage,
        Self::Clock,
    ];

    /// The channel's name in the store and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Page => "page",
            Self::Web => "web",
            Self::Agent => "agent",
            Self::Event => "event",
            Self::Todoist => "todoist",
            Self::Telegram => "telegram",
            Self::Triage => "triage",
            Self::Clock => "clock",
        }
    }

    /// The phrase that follows the outcome in a sentence.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Command => "by a command",
            Self::Page => "in REVIEW.md",
            Self::Web => "in the browser",
            Self::Agent => "by an agent",
            Self::Event => "by another program",
            Self::Todoist => "in Todoist",
            Self::Telegram => "in Telegram",
            Self::Triage => "by triage",
            Self::Clock => "because nobody decided in time",
        }
    }

    /// True if a person decided, through any channel.
    pub fn is_person(self) -> bool {
        !matches!(self, Self::Triage | Self::Clock)
    }
}

impl<'de> Deserialize<'de> for DecidedBy {
    /// A later version may know more channels. A decision counts whatever its channel, so an unknown one reads as
    /// another program and the decision is carried out.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = Cow::<'_, str>::deserialize(from)?;
        Ok(Self::ALL.into_iter().find(|known| known.as_str() == name).unwrap_or(Self::Event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rev_04_a_channel_of_a_later_version_does_not_lose_its_decision() {
        for by in DecidedBy::ALL {
            let stored = serde_json::to_string(&by).unwrap();
            assert_eq!(stored, format!("\"{}\"", by.as_str()));
            assert_eq!(serde_json::from_str::<DecidedBy>(&stored).unwrap(), by);
        }
        assert_eq!(serde_json::from_str::<DecidedBy>("\"wristwatch\"").unwrap(), DecidedBy::Event);
        let at_a_time: serde_json::Value = serde_json::json!("hologram");
        assert_eq!(serde_json::from_value::<DecidedBy>(at_a_time).unwrap(), DecidedBy::Event);
        assert!(serde_json::from_str::<DecidedBy>("7").is_err(), "a number is no channel");
    }
}

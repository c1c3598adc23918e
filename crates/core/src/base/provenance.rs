//! Provenance of a memory (B-01). Every entry, observation and proposal carries one from the start.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The author of the words that support a memory. Only [`Origin::User`] may be accepted without a person's
/// approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The user's own words.
    User,
    /// A statement by the assistant.
    Agent,
    /// Tool output, a file, a web page.
    Tool,
    /// An import from another memory system.
    Import,
}

impl Origin {
    /// All origins, most trusted first.
    pub const ALL: [Self; 4] = [Self::User, Self::Agent, Self::Import, Self::Tool];

    /// The origin's name in files and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Tool => "tool",
            Self::Import => "import",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|origin| origin.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not an origin (user, agent, tool, import)"))
    }
}

/// The origin of a statement, with the session and messages that support it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The author of the words.
    pub origin: Origin,
    /// The agent session in which they were said, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The ids of the messages they were said in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
}

impl Provenance {
    /// The provenance of words that the person gave us directly, outside any session.
    pub fn from_user() -> Self {
        Self { origin: Origin::User, session: None, messages: Vec::new() }
    }
}

/// Strength of evidence: how explicitly something was said (FBK-06).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StatementStrength {
    /// Inferred from what happened.
    Inferred,
    /// Meant, but not said explicitly.
    Implied,
    /// Said explicitly, in words.
    Explicit,
}

impl StatementStrength {
    /// The base confidence for this strength.
    pub fn value(self) -> f64 {
        match self {
            Self::Inferred => 0.5,
            Self::Implied => 0.7,
            Self::Explicit => 0.9,
        }
    }
}

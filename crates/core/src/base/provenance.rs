//! Where a memory came from (B-01). Every entry, observation and proposal carries this from its first day.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Whose words support a memory. Only [`Origin::User`] may ever be believed without a person's approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The user's own words.
    User,
    /// The assistant's statement.
    Agent,
    /// Tool output, a file, a web page.
    Tool,
    /// Brought in from another memory.
    Import,
}

impl Origin {
    /// Every origin, in falling trust.
    pub const ALL: [Self; 4] = [Self::User, Self::Agent, Self::Import, Self::Tool];

    /// The word in files and JSON.
    pub fn word(self) -> &'static str {
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
        f.write_str(self.word())
    }
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|origin| origin.word() == text)
            .ok_or_else(|| format!("`{text}` is not an origin (user, agent, tool, import)"))
    }
}

/// Origin, and the session and messages that support it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Whose words.
    pub origin: Origin,
    /// The agent session they were said in, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The ids of the messages they were said in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
}

impl Provenance {
    /// Words the person gave us directly, outside any session.
    pub fn direct() -> Self {
        Self { origin: Origin::User, session: None, messages: Vec::new() }
    }
}

/// How plainly something was said (FBK-06).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// It follows from what happened.
    Inferred,
    /// It was meant, though not said in so many words.
    Implied,
    /// It was said in so many words.
    Explicit,
}

impl Strength {
    /// The number that goes with it.
    pub fn value(self) -> f64 {
        match self {
            Self::Inferred => 0.5,
            Self::Implied => 0.7,
            Self::Explicit => 0.9,
        }
    }
}

//! Sentiment of the person behind a statement (FBK-07).

use serde::{Deserialize, Serialize};

/// The sentiment with which the person said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sentiment {
    /// Annoyed, because it happened repeatedly or did harm.
    Frustrated,
    /// Pleased with the result.
    Pleased,
    /// In a hurry, or insistent.
    Urgent,
}

impl Sentiment {
    /// All sentiments; a neutral statement has none.
    pub const ALL: [Self; 3] = [Self::Frustrated, Self::Pleased, Self::Urgent];

    /// The sentiment's name in files and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Frustrated => "frustrated",
            Self::Pleased => "pleased",
            Self::Urgent => "urgent",
        }
    }

    /// Parses a sentiment's name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sentiment| sentiment.as_str() == word)
    }
}

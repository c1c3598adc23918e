//! How the person felt about something they said (FBK-07).

use serde::{Deserialize, Serialize};

/// How the person felt when they said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sentiment {
    /// Annoyed: it was not for the first time, or it hurt.
    Frustrated,
    /// Pleased with how it was done.
    Pleased,
    /// In a hurry, or insisting.
    Urgent,
}

impl Sentiment {
    /// All of them: nothing else is a feeling.
    pub const ALL: [Self; 3] = [Self::Frustrated, Self::Pleased, Self::Urgent];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Frustrated => "frustrated",
            Self::Pleased => "pleased",
            Self::Urgent => "urgent",
        }
    }

    /// The sentiment that a word stands for.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sentiment| sentiment.word() == word)
    }
}

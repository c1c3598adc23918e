//! The sections of `MEMORY.md` that proposals go to (REF-09).

use serde::{Deserialize, Serialize};

use crate::vault::lines::heading_words;
use crate::vault::memory::user_section;

const HARD_RULES: &str = "Hard Rules";
const ARCHITECTURE: &str = "System Architecture";
const PATTERNS: &str = "Patterns";
/// Where a promoted line goes that has no section (REV-15).
const REFLECTED: &str = "Reflected";

/// A section.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// What the person wants always or never.
    HardRules,
    /// The one named after the person: preferences, style, how they decide (GEN-01).
    User,
    /// How things are.
    Architecture,
    /// What works and what does not.
    Patterns,
    /// One that the person made.
    Own(String),
    /// None that there is.
    Unknown,
}

/// Words of a heading that tell which section is meant.
const HINTS: [(&str, Section); 14] = [
    ("rule", Section::HardRules),
    ("never", Section::HardRules),
    ("always", Section::HardRules),
    ("preference", Section::User),
    ("style", Section::User),
    ("user", Section::User),
    ("architecture", Section::Architecture),
    ("system", Section::Architecture),
    ("infrastructure", Section::Architecture),
    ("state", Section::Architecture),
    ("pattern", Section::Patterns),
    ("convention", Section::Patterns),
    ("insight", Section::Patterns),
    ("lesson", Section::Patterns),
];

impl Section {
    /// The heading in `MEMORY.md` and in `REVIEW.md`.
    pub fn title(&self, user: &str) -> String {
        match self {
            Self::HardRules => HARD_RULES.to_owned(),
            Self::User => user_section(user),
            Self::Architecture => ARCHITECTURE.to_owned(),
            Self::Patterns => PATTERNS.to_owned(),
            Self::Own(title) => title.clone(),
            Self::Unknown => REFLECTED.to_owned(),
        }
    }

    /// The section that a heading means: one of ours, one of `own` (the headings of `MEMORY.md`), or one that its words
    /// come near to.
    pub fn of(heading: &str, user: &str, own: &[String]) -> Self {
        let words = heading_words(heading);
        let named = |section: &Self| heading_words(&section.title(user)) == words;
        let ours = [Self::User, Self::HardRules, Self::Architecture, Self::Patterns];
        if let Some(section) = ours.iter().find(|section| named(section)) {
            return section.clone();
        }
        if words == "user" {
            return Self::User;
        }
        if let Some(title) = own.iter().find(|title| heading_words(title) == words) {
            return Self::Own(title.clone());
        }
        // `preferences` for `preference`, not `rulebook` for `rule`.
        let has =
            |hint: &str| words.split(' ').any(|word| word == hint || word.strip_suffix('s') == Some(hint));
        HINTS.iter().find(|(hint, _)| has(hint)).map_or(Self::Unknown, |(_, section)| section.clone())
    }
}

//! The sections of `MEMORY.md` that proposals go to (REF-09).

use serde::{Deserialize, Serialize};

use crate::vault::lines::heading_words;
use crate::vault::memory::user_section;

const HARD_RULES: &str = "Hard Rules";
const ARCHITECTURE: &str = "System Architecture";
const PATTERNS: &str = "Patterns";
/// The heading for promoted lines without a section (REV-15).
const REFLECTED_SECTION: &str = "Reflected";

/// A section of the document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetSection {
    /// Hard rules of the user: always or never.
    HardRules,
    /// The section named after the user: preferences, style, habits of decision (GEN-01).
    User,
    /// Facts about the system.
    Architecture,
    /// Experience: approaches that work and those that do not.
    Patterns,
    /// A section that the user created.
    Own(String),
    /// A heading that matches no section.
    Unknown,
}

/// Words of a heading that identify a section.
const SECTION_HINTS: [(&str, TargetSection); 14] = [
    ("rule", TargetSection::HardRules),
    ("never", TargetSection::HardRules),
    ("always", TargetSection::HardRules),
    ("preference", TargetSection::User),
    ("style", TargetSection::User),
    ("user", TargetSection::User),
    ("architecture", TargetSection::Architecture),
    ("system", TargetSection::Architecture),
    ("infrastructure", TargetSection::Architecture),
    ("state", TargetSection::Architecture),
    ("pattern", TargetSection::Patterns),
    ("convention", TargetSection::Patterns),
    ("insight", TargetSection::Patterns),
    ("lesson", TargetSection::Patterns),
];

impl TargetSection {
    /// The heading in `MEMORY.md` and in `REVIEW.md`.
    pub fn title(&self, user: &str) -> String {
        match self {
            Self::HardRules => HARD_RULES.to_owned(),
            Self::User => user_section(user),
            Self::Architecture => ARCHITECTURE.to_owned(),
            Self::Patterns => PATTERNS.to_owned(),
            Self::Own(title) => title.clone(),
            Self::Unknown => REFLECTED_SECTION.to_owned(),
        }
    }

    /// The section of a heading: one of ours, one of `own` (the headings of `MEMORY.md`), or the nearest by
    /// its words.
    pub fn from_heading(heading: &str, user: &str, own: &[String]) -> Self {
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
        // Match `preferences` for `preference`, but not `rulebook` for `rule`.
        let has =
            |hint: &str| words.split(' ').any(|word| word == hint || word.strip_suffix('s') == Some(hint));
        SECTION_HINTS.iter().find(|(hint, _)| has(hint)).map_or(Self::Unknown, |(_, section)| section.clone())
    }
}

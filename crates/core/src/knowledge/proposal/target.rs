//! What a proposal would change: a section of `MEMORY.md`, an identity file, a memory, or an idea that becomes a project.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Proposal;
use crate::vault::layout;
use crate::vault::review::Place;

/// The heading for what fixes friction where no section is named; `MEMORY.md` has none such, so it goes where such things go
/// (REV-15).
const FRICTION: &str = "Friction Fixes";

/// A file that a proposal would change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// This section of `MEMORY.md`.
    Memory(String),
    /// An identity file, by its name. It changes only by a patch that the person applies (IDN-05).
    Identity(String),
    /// A memory, by its path in the vault. It gets a new version, and the old one is kept (VLT-04).
    Entry(String),
    /// An idea, by its name in the incubator. It becomes a project (IDEA-05).
    Idea(String),
    /// A memory of one project, by its path in the vault. It holds in every project from then on.
    Everywhere(String),
}

impl Proposal {
    /// The section of `MEMORY.md` it would go to; none if it is aimed at another file.
    pub fn section(&self) -> Option<&str> {
        match (&self.target, &self.place) {
            (Some(Target::Memory(section)), _) => Some(section),
            (Some(Target::Identity(_) | Target::Entry(_) | Target::Idea(_) | Target::Everywhere(_)), _) => {
                None
            }
            (None, Place::Section(section)) => Some(section),
            (None, Place::Friction(_)) => Some(FRICTION),
        }
    }

    /// The name of the file it would change.
    pub fn file(&self) -> &str {
        match &self.target {
            Some(Target::Identity(name) | Target::Entry(name) | Target::Everywhere(name)) => name,
            Some(Target::Idea(_)) => layout::IDEAS,
            Some(Target::Memory(_)) | None => layout::MEMORY,
        }
    }

    /// The identity file it would change, if it is aimed at one.
    pub fn identity(&self) -> Option<&str> {
        match &self.target {
            Some(Target::Identity(name)) => Some(name),
            _ => None,
        }
    }

    /// The idea that would become a project, if it is aimed at one.
    pub fn idea(&self) -> Option<&str> {
        match &self.target {
            Some(Target::Idea(slug)) => Some(slug),
            _ => None,
        }
    }

    /// The memory that would hold in every project, if it asks for that.
    pub fn widened(&self) -> Option<&str> {
        match &self.target {
            Some(Target::Everywhere(path)) => Some(path),
            _ => None,
        }
    }

    /// What it is aimed at, in a few words for people: a section, or the name of a file.
    pub fn aim(&self) -> Cow<'_, str> {
        match (&self.place, self.section()) {
            (Place::Section(name), None) if self.widened().is_some() => Cow::Borrowed(name),
            (_, None) => Cow::Borrowed(self.file()),
            (Place::Friction(_), Some(section)) => Cow::Owned(format!("{}, {section}", layout::MEMORY)),
            (Place::Section(_), Some(section)) => Cow::Borrowed(section),
        }
    }

    /// Whether both would change the same file for the same project: what says the same about two is two questions.
    pub fn shares_file(&self, other: &Self) -> bool {
        self.file() == other.file()
            && self.project == other.project
            && self.widened().is_some() == other.widened().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{DAY, proposal};

    #[test]
    fn idn_05_fri_04_what_a_proposal_is_aimed_at_is_said_and_kept() {
        let plain = proposal(1, "Use tabs.");
        assert_eq!(
            (plain.file(), plain.section(), &*plain.aim()),
            ("MEMORY.md", Some("Patterns"), "Patterns")
        );
        assert!(
            !serde_json::to_string(&plain).unwrap().contains("target"),
            "a store of before stays as it is"
        );
        let day = Place::Friction(DAY);
        let lesson = Proposal {
            place: day.clone(),
            target: Some(Target::Memory("Lessons".to_owned())),
            ..plain.clone()
        };
        assert_eq!((lesson.section(), &*lesson.aim()), (Some("Lessons"), "MEMORY.md, Lessons"));
        let agents =
            Proposal { place: day, target: Some(Target::Identity("AGENTS.md".to_owned())), ..plain.clone() };
        assert_eq!(
            (agents.section(), agents.identity(), &*agents.aim()),
            (None, Some("AGENTS.md"), "AGENTS.md")
        );
        assert!(plain.shares_file(&lesson) && !plain.shares_file(&agents));
        let json = serde_json::to_string(&agents).unwrap();
        assert_eq!(serde_json::from_str::<Proposal>(&json).unwrap(), agents);
    }
}

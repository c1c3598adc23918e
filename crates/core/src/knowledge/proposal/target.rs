//! The target of a proposal: a section of `MEMORY.md`, an identity file, a memory, or an idea that becomes a
//! project.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Proposal;
use crate::vault::layout;
use crate::vault::review::ProposalPlace;

/// The heading for friction fixes without a section. `MEMORY.md` has no such section, so they go to the one
/// for lines without a section (REV-15).
const FRICTION_HEADING: &str = "Friction Fixes";

/// The file that a proposal would change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProposalTarget {
    /// A section of `MEMORY.md`.
    Memory(String),
    /// An identity file, by name. It changes only by a patch that the user applies (IDN-05).
    Identity(String),
    /// A memory, by its path in the vault. It gets a new version, and the old one is kept (VLT-04).
    Entry(String),
    /// An idea, by its name in the incubator. It becomes a project (IDEA-05).
    Idea(String),
    /// A memory of one project, by its path in the vault. It then holds in every project.
    Everywhere(String),
}

impl Proposal {
    /// The target section of `MEMORY.md`; `None` if the target is another file.
    pub fn section(&self) -> Option<&str> {
        match (&self.target, &self.place) {
            (Some(ProposalTarget::Memory(section)), _) => Some(section),
            (
                Some(
                    ProposalTarget::Identity(_)
                    | ProposalTarget::Entry(_)
                    | ProposalTarget::Idea(_)
                    | ProposalTarget::Everywhere(_),
                ),
                _,
            ) => None,
            (None, ProposalPlace::Section(section)) => Some(section),
            (None, ProposalPlace::Friction(_)) => Some(FRICTION_HEADING),
        }
    }

    /// The name of the target file.
    pub fn file(&self) -> &str {
        match &self.target {
            Some(
                ProposalTarget::Identity(name)
                | ProposalTarget::Entry(name)
                | ProposalTarget::Everywhere(name),
            ) => name,
            Some(ProposalTarget::Idea(_)) => layout::IDEAS,
            Some(ProposalTarget::Memory(_)) | None => layout::MEMORY,
        }
    }

    /// The target identity file, if it is one.
    pub fn identity(&self) -> Option<&str> {
        match &self.target {
            Some(ProposalTarget::Identity(name)) => Some(name),
            _ => None,
        }
    }

    /// The idea that would become a project, if the target is one.
    pub fn idea_slug(&self) -> Option<&str> {
        match &self.target {
            Some(ProposalTarget::Idea(slug)) => Some(slug),
            _ => None,
        }
    }

    /// The memory that would hold in every project, if the proposal asks for that.
    pub fn global_entry(&self) -> Option<&str> {
        match &self.target {
            Some(ProposalTarget::Everywhere(path)) => Some(path),
            _ => None,
        }
    }

    /// A short name of the target for users: a section or a file name.
    pub fn describe_target(&self) -> Cow<'_, str> {
        match (&self.place, self.section()) {
            (ProposalPlace::Section(name), None) if self.global_entry().is_some() => Cow::Borrowed(name),
            (_, None) => Cow::Borrowed(self.file()),
            (ProposalPlace::Friction(_), Some(section)) => {
                Cow::Owned(format!("{}, {section}", layout::MEMORY))
            }
            (ProposalPlace::Section(_), Some(section)) => Cow::Borrowed(section),
        }
    }

    /// True if both would change the same file for the same project. Otherwise equal texts are separate
    /// questions.
    pub fn shares_file(&self, other: &Self) -> bool {
        self.file() == other.file()
            && self.project == other.project
            && self.global_entry().is_some() == other.global_entry().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{DAY, proposal};

    #[test]
    fn idn_05_fri_04_the_target_of_a_proposal_is_stored() {
        let plain = proposal(1, "Use tabs.");
        assert_eq!(
            (plain.file(), plain.section(), &*plain.describe_target()),
            ("MEMORY.md", Some("Patterns"), "Patterns")
        );
        assert!(
            !serde_json::to_string(&plain).unwrap().contains("target"),
            "a store of before stays as it is"
        );
        let day = ProposalPlace::Friction(DAY);
        let lesson = Proposal {
            place: day.clone(),
            target: Some(ProposalTarget::Memory("Lessons".to_owned())),
            ..plain.clone()
        };
        assert_eq!((lesson.section(), &*lesson.describe_target()), (Some("Lessons"), "MEMORY.md, Lessons"));
        let agents = Proposal {
            place: day,
            target: Some(ProposalTarget::Identity("AGENTS.md".to_owned())),
            ..plain.clone()
        };
        assert_eq!(
            (agents.section(), agents.identity(), &*agents.describe_target()),
            (None, Some("AGENTS.md"), "AGENTS.md")
        );
        assert!(plain.shares_file(&lesson) && !plain.shares_file(&agents));
        let json = serde_json::to_string(&agents).unwrap();
        assert_eq!(serde_json::from_str::<Proposal>(&json).unwrap(), agents);
    }
}

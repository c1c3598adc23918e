//! What an agent may do to a memory without the person (B-01, R-15).

use super::entry::Entry;
use super::layout::{Shelf, shelf};
use super::path::VaultPath;
use crate::provenance::Origin;
use crate::scope::Scope;

/// What an agent may do to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentEdit {
    /// Change it: a memory of the project at hand.
    Allowed,
    /// Propose a change: the person pinned it, or it holds in other projects as well.
    NeedsApproval,
    /// Nothing: the memory belongs to another project.
    OtherProject,
}

/// What an agent that works in `here` may do to the entry at `path`. `here` is the scope that a memory saved there gets.
pub fn agent_edit(path: &VaultPath, entry: &Entry, here: &Scope) -> AgentEdit {
    let loads = shelf(path) == Shelf::AlwaysLoad || entry.always_load;
    let pinned = loads && entry.provenance.origin == Origin::User;
    match (&entry.scope, here) {
        (Scope::Project(theirs), Scope::Project(ours)) if theirs != ours => AgentEdit::OtherProject,
        (Scope::Project(_), Scope::Global) => AgentEdit::OtherProject,
        (Scope::Global, Scope::Project(_)) => AgentEdit::NeedsApproval,
        _ if pinned => AgentEdit::NeedsApproval,
        _ => AgentEdit::Allowed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::ProjectId;
    use crate::vault::frontmatter::Note;

    fn edit(path: &str, properties: &str, here: Option<&str>) -> AgentEdit {
        let text = format!("---\n{properties}\n---\n\nUse tabs.\n");
        let path = VaultPath::parse(path).unwrap();
        let entry = Entry::of(&Note::parse(&text).unwrap(), &path);
        let here = here.map_or(Scope::Global, |id| Scope::Project(ProjectId::new(id)));
        agent_edit(&path, &entry, &here)
    }

    #[test]
    fn b_01_what_the_person_pinned_needs_them() {
        let pinned = "personal-private/_always-load/a.md";
        assert_eq!(edit(pinned, "origin: user", None), AgentEdit::NeedsApproval);
        assert_eq!(edit(pinned, "origin: agent", None), AgentEdit::Allowed, "the agent's own");
        assert_eq!(edit("personal-private/fix/a.md", "origin: user", None), AgentEdit::Allowed);
        assert_eq!(edit("personal-private/rule/a.md", "always_load: true", None), AgentEdit::NeedsApproval);
    }

    #[test]
    fn r_15_an_agent_in_one_project_leaves_the_others_alone() {
        let path = "personal-private/fix/a.md";
        let of_a = "scope: project\nproject: github.com/acme/a";
        assert_eq!(edit(path, of_a, Some("github.com/acme/a")), AgentEdit::Allowed);
        assert_eq!(edit(path, of_a, Some("github.com/acme/b")), AgentEdit::OtherProject);
        assert_eq!(edit(path, of_a, None), AgentEdit::OtherProject);
        assert_eq!(edit(path, "scope: global", Some("github.com/acme/a")), AgentEdit::NeedsApproval);
    }
}

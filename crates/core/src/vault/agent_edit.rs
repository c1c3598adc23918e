//! The permissions of an agent to change memories without the person (B-01, R-15).

use super::entry::{EntryProperties, is_reviewed};
use super::frontmatter::ParsedNote;
use super::layout::{VaultShelf, shelf_of};
use super::path::VaultPath;
use crate::base::provenance::Origin;
use crate::base::scope::Scope;

/// The permission of an agent for one memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentEditPermission {
    /// Change it directly: it is a memory of the current project.
    Allowed,
    /// Propose a change: the person pinned it, or it also applies in other projects.
    NeedsApproval,
    /// No access: the memory belongs to another project.
    OtherProject,
}

/// The permission of an agent that works in `here` for the note at `path`. `here` is the scope that a memory
/// saved there would get.
pub fn agent_edit_permission(path: &VaultPath, note: &ParsedNote<'_>, here: &Scope) -> AgentEditPermission {
    let entry = EntryProperties::of(note, path);
    let loads = shelf_of(path) == VaultShelf::AlwaysLoad || entry.always_load;
    let vouched = is_vouched_for(path, note);
    match (&entry.scope, here) {
        (Scope::Project(theirs), Scope::Project(ours)) if theirs != ours => AgentEditPermission::OtherProject,
        (Scope::Project(_), Scope::Global) => AgentEditPermission::OtherProject,
        (Scope::Global, Scope::Project(_)) => AgentEditPermission::NeedsApproval,
        (Scope::Global, Scope::Global) if vouched => AgentEditPermission::NeedsApproval,
        _ if loads && vouched => AgentEditPermission::NeedsApproval,
        _ => AgentEditPermission::Allowed,
    }
}

/// True if the note is the person's own words, or words that they reviewed.
pub fn is_vouched_for(path: &VaultPath, note: &ParsedNote<'_>) -> bool {
    EntryProperties::of(note, path).provenance.origin == Origin::User || is_reviewed(note)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::scope::ProjectId;

    fn edit(path: &str, properties: &str, here: Option<&str>) -> AgentEditPermission {
        let text = format!("---\n{properties}\n---\n\nUse tabs.\n");
        let path = VaultPath::parse(path).unwrap();
        let here = here.map_or(Scope::Global, |id| Scope::Project(ProjectId::new(id)));
        agent_edit_permission(&path, &ParsedNote::parse(&text).unwrap(), &here)
    }

    #[test]
    fn b_01_what_the_person_pinned_needs_them() {
        let pinned = "personal-private/_always-load/a.md";
        let reviewed = "origin: agent\nreviewed: 2026-11-15T02:13:08Z";
        let of_a = "\nscope: project\nproject: github.com/acme/a";
        for (path, origin, expected) in [
            (pinned, "origin: user", AgentEditPermission::NeedsApproval),
            (pinned, reviewed, AgentEditPermission::NeedsApproval),
            (pinned, "origin: agent", AgentEditPermission::Allowed),
            (pinned, "origin: agent\nreviewed: null", AgentEditPermission::Allowed),
            ("personal-private/rule/a.md", "always_load: true", AgentEditPermission::NeedsApproval),
            ("personal-private/fix/a.md", "origin: user", AgentEditPermission::Allowed),
            ("personal-private/fix/a.md", reviewed, AgentEditPermission::Allowed),
        ] {
            let properties = format!("{origin}{of_a}");
            assert_eq!(edit(path, &properties, Some("github.com/acme/a")), expected, "{path} {origin}");
        }
    }

    #[test]
    fn b_01_what_holds_everywhere_needs_the_person_outside_of_projects_too() {
        let path = "personal-private/rule/a.md";
        assert_eq!(edit(path, "origin: user", None), AgentEditPermission::NeedsApproval);
        let reviewed = "origin: agent\nreviewed: 2026-11-15T02:13:08Z";
        assert_eq!(edit(path, reviewed, None), AgentEditPermission::NeedsApproval);
        assert_eq!(edit(path, "origin: agent", None), AgentEditPermission::Allowed, "the agent's own");
    }

    #[test]
    fn r_15_an_agent_in_one_project_leaves_the_others_alone() {
        let path = "personal-private/fix/a.md";
        let of_a = "scope: project\nproject: github.com/acme/a";
        assert_eq!(edit(path, of_a, Some("github.com/acme/a")), AgentEditPermission::Allowed);
        assert_eq!(edit(path, of_a, Some("github.com/acme/b")), AgentEditPermission::OtherProject);
        assert_eq!(edit(path, of_a, None), AgentEditPermission::OtherProject);
        assert_eq!(
            edit(path, "scope: global", Some("github.com/acme/a")),
            AgentEditPermission::NeedsApproval
        );
    }
}

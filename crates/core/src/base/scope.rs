//! The scope of a memory: one project, or everywhere (B-05).

use std::fmt;

use serde::{Deserialize, Serialize};

/// A project id, the same in every worktree, clone and subfolder: `github.com/acme/widgets`, or
/// `local/widgets-1a2b3c4d` for a project without a remote.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProjectId(String);

impl ProjectId {
    /// Wraps an id made by [`crate::project`] or read from a memory.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The id as text, for example `github.com/acme/widgets`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if a name typed by a person means this project: the whole id, or its last segments after a `/`.
    /// For a project without a remote the folder name is enough.
    pub fn matches_name(&self, name: &str) -> bool {
        let is_end = |id: &str| {
            id.len().checked_sub(name.len()).is_some_and(|at| {
                id.is_char_boundary(at)
                    && id[at..].eq_ignore_ascii_case(name)
                    && (at == 0 || id[..at].ends_with('/'))
            })
        };
        !name.is_empty() && (is_end(&self.0) || self.without_digits().is_some_and(is_end))
    }

    /// The id of a project without a remote, minus the digits that make it unique.
    fn without_digits(&self) -> Option<&str> {
        let (name, digits) = self.0.strip_prefix(LOCAL_PREFIX).and(self.0.rsplit_once('-'))?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(name)
    }
}

/// The prefix of ids of projects without a remote.
const LOCAL_PREFIX: &str = "local/";

/// True if an item of project `name` may be shown in project `here`. A `name` of `None` means everywhere.
pub fn is_project_visible_in(name: Option<&str>, here: Option<&str>) -> bool {
    match (name, here) {
        (None, _) => true,
        (Some(name), Some(here)) => name == here || ProjectId::new(here).matches_name(name),
        (Some(_), None) => false,
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The range in which a memory applies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Applies in every project.
    Global,
    /// Applies in one project only. Other projects see it only on request.
    Project(ProjectId),
}

impl Scope {
    /// `global` or `project`, as in frontmatter and JSON.
    pub fn kind_str(&self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project(_) => "project",
        }
    }

    /// True if an item of this scope may be shown in `here`.
    pub fn is_visible_in(&self, here: Option<&str>) -> bool {
        is_project_visible_in(self.project().map(ProjectId::as_str), here)
    }

    /// The project, or `None` for a global scope.
    pub fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Global => None,
            Self::Project(id) => Some(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_15_a_project_is_known_by_the_end_of_its_id() {
        let id = ProjectId::new("github.com/acme/payments");
        for name in ["github.com/acme/payments", "acme/payments", "payments", "Payments"] {
            assert!(id.matches_name(name), "{name}");
        }
        for other in ["", "ments", "/payments", "acme", "other/payments", "x/github.com/acme/payments"] {
            assert!(!id.matches_name(other), "{other}");
        }
        let local = ProjectId::new("local/my-widgets-1a2b3c4d");
        for name in ["local/my-widgets-1a2b3c4d", "my-widgets-1a2b3c4d", "my-widgets", "local/my-widgets"] {
            assert!(local.matches_name(name), "{name}");
        }
        assert!(!local.matches_name("my") && !local.matches_name("widgets"));
    }

    #[test]
    fn r_15_what_belongs_to_a_project_is_shown_only_there() {
        assert!(
            is_project_visible_in(None, None)
                && is_project_visible_in(None, Some("github.com/acme/payments"))
        );
        assert!(is_project_visible_in(Some("payments"), Some("github.com/acme/payments")));
        assert!(!is_project_visible_in(Some("payments"), Some("github.com/acme/kettles")));
        assert!(!is_project_visible_in(Some("payments"), None));
    }
}

//! How far a memory reaches (B-05).

use std::fmt;

use serde::{Deserialize, Serialize};

/// A project, the same in every worktree, clone and subfolder: `github.com/acme/widgets`, or `local/widgets-1a2b3c4d`
/// where there is no remote.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProjectId(String);

impl ProjectId {
    /// Wraps an id made by [`crate::project`] or read from a memory.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a memory applies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Everywhere.
    Global,
    /// In one project only; never shown in another unless asked for.
    Project(ProjectId),
}

impl Scope {
    /// `global` or `project`, as frontmatter and JSON say it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project(_) => "project",
        }
    }

    /// The project, if there is one.
    pub fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Global => None,
            Self::Project(id) => Some(id),
        }
    }
}

//! The folder and project of each message of a session: an agent may change its folder during the session
//! (R-15, B-05).

use std::collections::HashMap;

use rekindle_core::base::scope::ProjectId;
use rekindle_core::session::{Message, MessageRole};

use crate::jobs::context::StageContext;
use crate::project;

/// A folder and its project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FolderProject {
    /// `None` if the host records no folder per message: then the session's folder counts.
    pub(super) cwd: Option<String>,
    pub(super) project: Option<ProjectId>,
}

/// Tracks the project of a session.
///
/// Only the person's messages change it: an agent that reads another folder within a turn still works on its
/// task. Folders outside of every project do not change it either; otherwise messages there would hold
/// everywhere.
pub(super) struct ProjectTracker<'a> {
    context: &'a StageContext,
    projects: HashMap<String, Option<ProjectId>>,
    first: Option<FolderProject>,
    current: Option<FolderProject>,
}

impl<'a> ProjectTracker<'a> {
    pub(super) fn new(context: &'a StageContext) -> Self {
        Self { context, projects: HashMap::new(), first: None, current: None }
    }

    /// Takes the next message into account.
    pub(super) fn track(&mut self, message: &Message) {
        let Some(cwd) = &message.cwd else { return };
        if self.current.is_some() && message.role != MessageRole::User {
            return;
        }
        let project = match self.projects.get(cwd) {
            Some(project) => project.clone(),
            None => {
                let project = self.context.project(Some(cwd));
                self.projects.insert(cwd.clone(), project.clone());
                project
            }
        };
        let moves = match &self.current {
            None => true,
            Some(current) => {
                project != current.project && project.as_ref().is_some_and(|id| !project::is_gone_project(id))
            }
        };
        if moves {
            let spot = FolderProject { cwd: Some(cwd.clone()), project };
            self.first.get_or_insert_with(|| spot.clone());
            self.current = Some(spot);
        }
    }

    /// The place of the last message.
    pub(super) fn current(&self) -> FolderProject {
        self.current.clone().unwrap_or_default()
    }

    /// True if a spot is in the first project of the session.
    pub(super) fn is_first_project(&self, spot: &FolderProject) -> bool {
        self.first.as_ref().is_none_or(|first| first.project == spot.project)
    }
}

//! Which project the person is in (B-05): find the place, read its marks, compare them with what was seen before.
//!
//! Git's files are read directly: starting `git` costs more than a hook may take, and runs whatever the
//! repository's configuration names. `GIT_DIR` and its kin are ignored: agents and git's own hooks hand them down
//! to every child, and they then say where some command was pointed and not where the person works.
//!
//! [`identify`] only reads, so that hooks can call it; [`remember`] is for whoever may write.

mod place;
mod read;
mod registry;
mod repository;

use std::path::{Path, PathBuf};

use rekindle_core::project::{KnownProjects, Settled, Trail};
use rekindle_core::scope::ProjectId;

pub use place::{Place, locate};
pub use registry::{RememberError, load};

/// The project a folder belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Its name in scopes: the same in every worktree, clone and subfolder.
    pub id: ProjectId,
    /// Its name on a screen.
    pub name: String,
    /// The top folder of this copy of it; each worktree has its own.
    pub root: PathBuf,
}

/// A project as it was found, and what there is to remember about it.
#[derive(Clone, Debug)]
pub struct Identified {
    /// The project.
    pub project: Project,
    trail: Trail,
    is_news: bool,
}

impl Identified {
    /// Whether [`remember`] has something to write down.
    pub fn is_news(&self) -> bool {
        self.is_news
    }
}

/// Names the project at `place`. Reads a few small files and writes nothing, so what is new here is known next time
/// only if somebody calls [`remember`].
pub fn identify(place: &Place, known: &KnownProjects) -> Identified {
    let trail = repository::trail(place);
    let settled = known.settle(&trail);
    let is_news = !known.knows(&settled);
    Identified { project: Project::new(settled, &place.root), trail, is_news }
}

/// Whether git brings what is in a folder to other places: it is in a repository with a remote.
pub fn has_remote(folder: &Path) -> bool {
    let common_dir = locate(folder, None).and_then(|place| place.common_dir);
    common_dir.is_some_and(|common_dir| repository::remote(&common_dir).is_some())
}

/// Writes down what `found` was recognised by, for the day it is moved or its remote renamed. Does nothing if there
/// is no news.
///
/// The answer is the project as it is known from now on: a process that was faster may have given it another id
/// meanwhile, and whoever is about to save something under the id should use this one.
pub fn remember(registry: &Path, found: &Identified) -> Result<Project, RememberError> {
    if !found.is_news {
        return Ok(found.project.clone());
    }
    let settled = registry::record(registry, &found.trail)?;
    Ok(Project::new(settled, &found.project.root))
}

impl Project {
    fn new(settled: Settled, root: &Path) -> Self {
        Self { name: settled.own.marks.display_name(), id: settled.own.id, root: root.to_owned() }
    }
}

#[cfg(test)]
mod tests;

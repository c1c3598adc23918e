//! Finds the project of a folder (B-05): reads git's files and compares them with known projects.
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

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::project::{
    Claim, ClaimAnswer, FolderMark, KnownProjects, Marks, Remote, Settled, Trail, normalise_remote,
};

pub use place::{Place, locate};
pub use registry::{RememberError, load};

/// Before the name of a folder that is gone and of which nothing else is known.
const GONE: &str = "gone";

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
    /// The known project that its folder claims to be, if the person has to say whether it is.
    pub claim: Option<Claim>,
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
    let settled = settle(&trail, known);
    let is_news = !known.knows(&settled);
    let claim = settled.own.claim.clone();
    Identified { project: Project::new(settled, &place.root), claim, trail, is_news }
}

/// The ids of a project and of what it was cloned from.
pub(crate) fn settle(trail: &Trail, known: &KnownProjects) -> Settled {
    known.settle(trail, &|folder| Path::new(folder).is_dir())
}

/// Writes down what the person says about the claim of a folder (B-05), and names the project that it is from now on.
pub fn answer_claim(
    registry: &Path,
    found: &Identified,
    answer: ClaimAnswer,
) -> Result<Project, RememberError> {
    let settled = registry::answer_claim(registry, &found.trail, answer)?;
    Ok(Project::new(settled, &found.project.root))
}

/// The project that a session was held in, by its folder. One that is gone belongs to the project that was seen there, or to
/// the one around it.
pub fn of_session(cwd: &Path, home: Option<&Path>, known: &KnownProjects) -> Option<ProjectId> {
    if !cwd.is_dir() {
        let left = cwd.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new(""));
        if let Some(project) = known.at_path(cwd, left) {
            return Some(project.clone());
        }
    }
    Some(identify(&locate(cwd, home)?, known).project.id)
}

/// Whether a project is a folder that is gone and of which nothing else is known.
pub fn is_gone(project: &ProjectId) -> bool {
    project.as_str().strip_prefix(GONE).is_some_and(|rest| rest.starts_with('/'))
}

/// What is known of a project whose folder is gone: the repository that a session's host noted, or a name of its own, so that
/// what was said there is shown in no other project (B-05).
pub fn gone(cwd: &Path, repository: Option<&str>) -> Trail {
    let name = cwd.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let remote = match repository.and_then(normalise_remote) {
        Some(Remote::Hosted(remote)) => remote,
        _ => format!("{GONE}/{name}-{}", ContentHash::of(cwd.as_os_str().as_encoded_bytes()).short(8)),
    };
    let path = cwd.to_string_lossy().into_owned();
    let folder = FolderMark { path, device: None, inode: None, born: None };
    let own = Marks {
        name,
        remote: Some(remote),
        initial_commit: None,
        folder,
        before_git: None,
        worktree: None,
        has_fetched: true,
    };
    Trail { own, upstream: Vec::new() }
}

/// Writes down which project a folder belonged to that is gone.
pub fn remember_gone(registry: &Path, trail: &Trail) -> Result<ProjectId, RememberError> {
    Ok(registry::record(registry, trail)?.own.id)
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

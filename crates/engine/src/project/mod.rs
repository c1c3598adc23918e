//! Finds the project of a folder (B-05): reads git's files and compares them with known projects.
//!
//! Git's files are read directly: starting `git` costs more than a hook may take, and runs commands that the
//! repository's configuration names. `GIT_DIR` and related variables are ignored: agents and git's own hooks
//! pass them to all child processes, where they name the target of some command and not the user's folder.
//!
//! [`identify_folder`] only reads, so hooks can call it; [`remember`] is for callers that may write.

mod place;
mod read;
mod registry;
mod repository;

use std::path::{Path, PathBuf};

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::project::{
    Claim, ClaimAnswer, FolderMark, GitRemote, IdentifiedTrail, KnownProjects, ProjectMarks, ProjectTrail,
    normalise_remote,
};

pub use place::{ProjectFolder, locate};
pub use registry::{RegistryError, load};

/// The first part of the id of a project whose folder is gone and otherwise unknown.
const GONE_PREFIX: &str = "gone";

/// The project a folder belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The name in scopes: the same in every worktree, clone and subfolder.
    pub id: ProjectId,
    /// The name for display.
    pub name: String,
    /// The top folder of this copy; each worktree has its own.
    pub root: PathBuf,
}

/// An identified project, and the data to remember about it.
#[derive(Clone, Debug)]
pub struct IdentifiedProject {
    /// The project that was identified.
    pub project: Project,
    /// The known project that the folder claims to be, if the user has to confirm it.
    pub claim: Option<Claim>,
    trail: ProjectTrail,
    is_news: bool,
}

impl IdentifiedProject {
    /// True if [`remember`] has something to write.
    pub fn needs_saving(&self) -> bool {
        self.is_news
    }
}

/// Identifies the project at `place`. It reads a few small files and writes nothing, so new marks are known
/// next time only if a caller runs [`remember`].
pub fn identify_folder(place: &ProjectFolder, known: &KnownProjects) -> IdentifiedProject {
    let trail = repository::folder_trail(place);
    let settled = settle(&trail, known);
    let is_news = !known.is_recorded(&settled);
    let claim = settled.last.claim.clone();
    IdentifiedProject { project: Project::new(settled, &place.root), claim, trail, is_news }
}

/// The ids of a project and of the one that it was cloned from.
pub(crate) fn settle(trail: &ProjectTrail, known: &KnownProjects) -> IdentifiedTrail {
    known.assign_ids(trail, &|folder| Path::new(folder).is_dir())
}

/// Records the user's answer to a folder's claim (B-05), and returns the project under its new id.
pub fn answer_claim(
    registry: &Path,
    found: &IdentifiedProject,
    answer: ClaimAnswer,
) -> Result<Project, RegistryError> {
    let settled = registry::answer_claim(registry, &found.trail, answer)?;
    Ok(Project::new(settled, &found.project.root))
}

/// The project of a session, by its folder. A missing folder belongs to the project seen there before, or to
/// the one around it.
pub fn session_project(cwd: &Path, home: Option<&Path>, known: &KnownProjects) -> Option<ProjectId> {
    if !cwd.is_dir() {
        let left = cwd.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new(""));
        if let Some(project) = known.find_by_path(cwd, left) {
            return Some(project.clone());
        }
    }
    Some(identify_folder(&locate(cwd, home)?, known).project.id)
}

/// True if the project's folder is gone and nothing else is known of it.
pub fn is_gone_project(project: &ProjectId) -> bool {
    project.as_str().strip_prefix(GONE_PREFIX).is_some_and(|rest| rest.starts_with('/'))
}

/// The marks of a project whose folder is gone: the repository that the session's host recorded, or a name of
/// its own, so that its messages appear in no other project (B-05).
pub fn gone_project(cwd: &Path, repository: Option<&str>) -> ProjectTrail {
    let name = cwd.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let remote = match repository.and_then(normalise_remote) {
        Some(GitRemote::Hosted(remote)) => remote,
        _ => format!(
            "{GONE_PREFIX}/{name}-{}",
            ContentHash::of_bytes(cwd.as_os_str().as_encoded_bytes()).short_hex(8)
        ),
    };
    let path = cwd.to_string_lossy().into_owned();
    let folder = FolderMark { path, device: None, inode: None, born: None };
    let own = ProjectMarks {
        name,
        remote: Some(remote),
        initial_commit: None,
        folder,
        before_git: None,
        worktree: None,
        has_fetched: true,
    };
    ProjectTrail { last: own, upstream: Vec::new() }
}

/// Records the project of a folder that is gone.
pub fn remember_gone(registry: &Path, trail: &ProjectTrail) -> Result<ProjectId, RegistryError> {
    Ok(registry::record(registry, trail)?.last.id)
}

/// Records the marks of `found`, so that the project is recognised after it moves or its remote is renamed.
/// Does nothing if there is no news.
///
/// Returns the project as recorded: a faster process may have given it another id meanwhile, and callers
/// should save under that id.
pub fn remember(registry: &Path, found: &IdentifiedProject) -> Result<Project, RegistryError> {
    if !found.is_news {
        return Ok(found.project.clone());
    }
    let settled = registry::record(registry, &found.trail)?;
    Ok(Project::new(settled, &found.project.root))
}

impl Project {
    fn new(settled: IdentifiedTrail, root: &Path) -> Self {
        Self { name: settled.last.marks.display_name(), id: settled.last.id, root: root.to_owned() }
    }
}

#[cfg(test)]
mod tests;

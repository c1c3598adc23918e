//! Finds the project folder of a working directory.

use std::fs;
use std::path::{Component, Path, PathBuf};

use rekindle_core::project::{common_dir_by_name, common_dir_target, git_file_target};

use super::read;

/// The maximum size of a `.git` or `commondir` file: one path.
const MAX_POINTER_BYTES: u64 = 4 * 1024;

/// Our own file, which makes any folder a project.
const PROJECT_FILE: &str = ".rekindle.toml";

/// The files for agents: they make a folder a project, except for the home folder and those around it.
const AGENT_FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// The folder of a project that is not identified yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFolder {
    /// The top folder: of the worktree, of the bare repository, or the one with the project's files.
    pub root: PathBuf,
    /// The git dir that all worktrees share, canonical if it exists; `None` without git.
    pub(super) common_dir: Option<PathBuf>,
}

/// Finds the project's folder from anywhere inside it; `None` outside of every project.
///
/// The nearest repository above `cwd` wins; then a bare repository, then the nearest folder with a `.rekindle.toml`,
/// an `AGENTS.md` or a `CLAUDE.md`. Of these only `.rekindle.toml` counts in `home` and in the folders around it: the
/// others there are meant for every project. Links in `cwd` are resolved; of a `cwd` that is gone, what is left is used.
pub fn locate(cwd: &Path, home: Option<&Path>) -> Option<ProjectFolder> {
    let start = cwd.ancestors().find_map(|folder| folder.canonicalize().ok())?;
    let home = home.and_then(|home| home.canonicalize().ok());
    let has_everything = |folder: &Path| {
        folder.parent().is_none() || home.as_ref().is_some_and(|home| home.starts_with(folder))
    };
    let worktree = |folder: &Path| {
        let common_dir = common_dir(&git_dir(folder)?);
        Some(ProjectFolder { root: folder.to_owned(), common_dir: Some(common_dir) })
    };
    // Check this only without a worktree around it: a repository may contain a fake bare one with any remote,
    // and must not reach another project's memories that way.
    let bare = |folder: &Path| {
        is_git_dir(folder)
            .then(|| ProjectFolder { root: folder.to_owned(), common_dir: Some(common_dir(folder)) })
    };
    let without_git = |folder: &Path| {
        let is_project = folder.join(PROJECT_FILE).is_file()
            || (!has_everything(folder) && AGENT_FILES.iter().any(|name| folder.join(name).is_file()));
        is_project.then(|| ProjectFolder { root: folder.to_owned(), common_dir: None })
    };
    let folders = || start.ancestors();
    // Users keep dotfiles in a repository at home, or in one above it for all users; the projects below do
    // not belong to it.
    let below_home = || folders().filter(|folder| !has_everything(folder));
    below_home()
        .find_map(worktree)
        .or_else(|| below_home().find_map(bare))
        .or_else(|| folders().find_map(without_git))
}

/// The shared git dir of the repository in a folder, with worktree or bare; the `.git` suffix of a bare one
/// may be left out.
pub(super) fn repository_at(folder: &Path) -> Option<PathBuf> {
    let mut with_suffix = folder.as_os_str().to_owned();
    with_suffix.push(".git");
    [folder.to_owned(), PathBuf::from(with_suffix)].into_iter().find_map(|folder| {
        let git_dir = git_dir(&folder).or_else(|| is_git_dir(&folder).then_some(folder))?;
        Some(common_dir(&git_dir)).filter(|dir| dir.is_dir())
    })
}

/// The git dir that the `.git` of a folder is or points to. An empty `.git` folder, which containers leave
/// behind, does not count.
fn git_dir(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    let kind = fs::metadata(&dot_git).ok()?;
    if kind.is_dir() {
        return has_head(&dot_git).then_some(dot_git);
    }
    let content = read::read_whole(&dot_git, MAX_POINTER_BYTES)?;
    Some(folder.join(path_of(git_file_target(&content)?)))
}

/// The git dir that `git_dir` shares with the other worktrees: itself, unless it belongs to a linked
/// worktree. If the repository is no longer at the recorded path, the result is that path: it may be the only
/// mark left.
fn common_dir(git_dir: &Path) -> PathBuf {
    let pointer = read::read_whole(&git_dir.join("commondir"), MAX_POINTER_BYTES);
    let common = match pointer.as_deref().and_then(common_dir_target) {
        Some(target) => git_dir.join(path_of(target)),
        None if git_dir.is_dir() => git_dir.to_owned(),
        None => common_dir_by_name(&without_dots(git_dir)),
    };
    common.canonicalize().unwrap_or_else(|_| without_dots(&common))
}

/// True for a folder with a `HEAD`, `objects` and `refs`, as git decides it.
fn is_git_dir(folder: &Path) -> bool {
    has_head(folder) && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

/// True if the folder has a `HEAD`. It used to be a link to a branch, which need not exist.
fn has_head(git_dir: &Path) -> bool {
    fs::symlink_metadata(git_dir.join("HEAD")).is_ok_and(|head| !head.is_dir())
}

/// The path without `.` and `..`, for paths that do not exist and that the system cannot resolve.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

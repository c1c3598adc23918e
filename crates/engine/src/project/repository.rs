//! Reads the marks of a place from its git files, and those of the repositories that it was cloned from.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rekindle_core::project::{
    FolderMark, GitRemote, ProjectMarks, ProjectTrail, initial_commit, is_of_clone, normalise_remote,
    preferred_remote,
};

use super::place::{ProjectFolder, repository_at};
use super::read;

/// The maximum number of bytes read from a repository's configuration; the largest real ones have some
/// thousand branches.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// The maximum number of bytes read from the first line of a reflog; the first few hundred suffice.
const MAX_REFLOG_BYTES: u64 = 4 * 1024;

/// The maximum number of remotes that are folders to follow.
const MAX_REMOTE_DEPTH: usize = 4;

/// The marks of a place.
pub(super) fn folder_trail(place: &ProjectFolder) -> ProjectTrail {
    match &place.common_dir {
        Some(common_dir) => {
            let mut trail = repository_trail(common_dir);
            trail.last.worktree = linked_worktree(place, common_dir);
            trail
        }
        None => {
            let folder = folder_mark(&place.root);
            let name = text_of(place.root.file_name());
            let own = ProjectMarks {
                name,
                remote: None,
                initial_commit: None,
                folder,
                before_git: None,
                worktree: None,
                has_fetched: false,
            };
            ProjectTrail { last: own, upstream: vec![] }
        }
    }
}

/// The top folder of `place`, if it is a linked worktree outside of the main folder. One inside it is found
/// by the main folder.
fn linked_worktree(place: &ProjectFolder, common_dir: &Path) -> Option<String> {
    let main = work_folder(common_dir).unwrap_or(common_dir);
    (!place.root.starts_with(main)).then(|| place.root.to_string_lossy().into_owned())
}

fn repository_trail(common_dir: &Path) -> ProjectTrail {
    let own = Repository::read(common_dir);
    let mut followed: Vec<Repository> = Vec::new();
    let mut next = own.upstream();
    while let Some(common_dir) = next.take_if(|_| followed.len() < MAX_REMOTE_DEPTH) {
        if common_dir == own.common_dir || followed.iter().any(|seen| seen.common_dir == common_dir) {
            return circle(own, followed, &common_dir);
        }
        let repository = Repository::read(&common_dir);
        next = repository.upstream();
        followed.push(repository);
    }
    ProjectTrail {
        last: own.marks,
        upstream: followed.into_iter().rev().map(|repository| repository.marks).collect(),
    }
}

/// Repositories that are each other's remote are one project: the one whose path sorts first stands for all.
/// `entry` is the repository at which the cycle closes.
fn circle(own: Repository, mut followed: Vec<Repository>, entry: &Path) -> ProjectTrail {
    let own_is_in = own.common_dir == entry;
    let start = followed.iter().position(|seen| seen.common_dir == entry).unwrap_or(0);
    let speaker = (start..followed.len()).min_by_key(|index| &followed[*index].common_dir);
    let upstream = match speaker {
        Some(index) if !own_is_in || followed[index].common_dir < own.common_dir => {
            let speaker = followed.remove(index);
            [speaker]
                .into_iter()
                .chain(followed.into_iter().rev())
                .map(|repository| repository.marks)
                .collect()
        }
        _ => vec![],
    };
    ProjectTrail { last: own.marks, upstream }
}

struct Repository {
    common_dir: PathBuf,
    marks: ProjectMarks,
    /// The path of the remote, if it is a folder.
    local_remote: Option<PathBuf>,
}

/// The remote of a repository, from its configuration.
pub(super) fn remote(common_dir: &Path) -> Option<String> {
    preferred_remote(&read::lines(&common_dir.join("config"), MAX_CONFIG_BYTES)?)
}

impl Repository {
    fn read(common_dir: &Path) -> Self {
        let (remote, local_remote) = match remote(common_dir).as_deref().and_then(normalise_remote) {
            Some(GitRemote::Hosted(remote)) => (Some(remote), None),
            Some(GitRemote::Local(folder)) => (None, Some(folder)),
            None => (None, None),
        };
        let marks = ProjectMarks {
            name: name_of(common_dir),
            remote,
            initial_commit: first_commit(common_dir),
            folder: folder_mark(common_dir),
            before_git: work_folder(common_dir).map(folder_mark),
            worktree: None,
            has_fetched: has_fetched(common_dir),
        };
        Self { common_dir: common_dir.to_owned(), marks, local_remote }
    }

    /// The repository on this machine that is the remote. A relative path starts at the main folder, as in
    /// git.
    fn upstream(&self) -> Option<PathBuf> {
        let base = work_folder(&self.common_dir).unwrap_or(&self.common_dir);
        repository_at(&base.join(self.local_remote.as_ref()?))
    }
}

/// The folder around a `.git`; `None` for bare repositories and submodules.
fn work_folder(common_dir: &Path) -> Option<&Path> {
    common_dir.parent().filter(|_| common_dir.file_name() == Some(OsStr::new(".git")))
}

/// The display name of a repository: its main folder, or `widgets` for `widgets.git`. Names that begin with a
/// dot (`.git`, `.bare`) describe a purpose, so the parent folder's name is used.
fn name_of(common_dir: &Path) -> String {
    let own = text_of(common_dir.file_name());
    if own.starts_with('.') {
        return text_of(common_dir.parent().and_then(Path::file_name));
    }
    own.strip_suffix(".git").map(str::to_owned).unwrap_or(own)
}

fn text_of(name: Option<&OsStr>) -> String {
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn first_commit(common_dir: &Path) -> Option<String> {
    initial_commit(&first_reflog_line(common_dir)?)
}

fn first_reflog_line(common_dir: &Path) -> Option<String> {
    let (bytes, _) = read::read_beginning(&common_dir.join("logs").join("HEAD"), MAX_REFLOG_BYTES).ok()?;
    Some(String::from_utf8_lossy(bytes.split(|byte| *byte == b'\n').next()?).into_owned())
}

/// True if git has fetched here: it leaves `FETCH_HEAD`, remote branches, or a reflog that begins with the
/// clone. A bare clone has none of these, but its branches are packed.
fn has_fetched(common_dir: &Path) -> bool {
    let has_branches =
        fs::read_dir(common_dir.join("refs/remotes")).is_ok_and(|mut names| names.next().is_some());
    let is_cloned = || first_reflog_line(common_dir).is_some_and(|line| is_of_clone(&line));
    let is_packed = || {
        let packed = read::lines(&common_dir.join("packed-refs"), MAX_CONFIG_BYTES).unwrap_or_default();
        packed.contains(" refs/remotes/")
            || (work_folder(common_dir).is_none() && packed.contains(" refs/heads/"))
    };
    has_branches || common_dir.join("FETCH_HEAD").is_file() || is_cloned() || is_packed()
}

fn folder_mark(path: &Path) -> FolderMark {
    let metadata = fs::metadata(path).ok();
    let (device, inode) = metadata.as_ref().and_then(numbers).unzip();
    let born = metadata.and_then(|metadata| {
        let since = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        // Some file systems report 1970 if they do not store the time.
        i64::try_from(since.as_nanos()).ok().filter(|nanos| *nanos > 0)
    });
    FolderMark { path: path.to_string_lossy().into_owned(), device, inode, born }
}

#[cfg(unix)]
fn numbers(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn numbers(_metadata: &Metadata) -> Option<(u64, u64)> {
    None
}

//! Tests with repositories laid out by hand, so that they run without git; `real_git` compares with git
//! itself.

#![expect(clippy::disallowed_methods, reason = "fixtures are written and thrown away")]

mod folders;
mod real_git;
mod recognition;
mod registry;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;

/// A folder with projects in it, and a registry beside them. Its top is the user's home.
struct ProjectsFixture {
    top: PathBuf,
    registry: PathBuf,
    _folder: TempDir,
}

impl ProjectsFixture {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let registry = top.join("state/projects.json");
        Self { top, registry, _folder: folder }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.top.join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn folder(&self, path: &str) {
        fs::create_dir_all(self.at(path)).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.at(from), self.at(to)).unwrap();
    }

    /// Creates the relevant files of `git init`.
    fn git_dir(&self, path: &str) {
        self.write(&format!("{path}/HEAD"), "ref: refs/heads/main\n");
        self.folder(&format!("{path}/objects"));
        self.folder(&format!("{path}/refs"));
        self.write(&format!("{path}/config"), "[core]\n\tbare = false\n");
    }

    fn repository(&self, path: &str) {
        self.git_dir(&format!("{path}/.git"));
    }

    fn set_remote(&self, path: &str, url: &str) {
        let url = url.replace('\\', "\\\\");
        self.write(&format!("{path}/.git/config"), format!("[remote \"origin\"]\n\turl = \"{url}\"\n"));
    }

    fn clone_of(&self, path: &str, url: &str) {
        self.repository(path);
        self.set_remote(path, url);
        self.write(&format!("{path}/.git/FETCH_HEAD"), "");
    }

    fn first_commit(&self, path: &str, digit: &str) {
        let line = format!("{} {} A <a@b> 1 +0000\tcommit (initial): x\n", "0".repeat(40), digit.repeat(40));
        self.write(&format!("{path}/.git/logs/HEAD"), line);
    }

    /// Creates the relevant files of `git worktree add`.
    fn worktree(&self, main: &str, path: &str) {
        let git_dir = self.at(main).join(".git/worktrees/linked");
        self.write(&format!("{main}/.git/worktrees/linked/HEAD"), "ref: refs/heads/linked\n");
        self.write(&format!("{main}/.git/worktrees/linked/commondir"), "../..\n");
        self.write(&format!("{path}/.git"), format!("gitdir: {}\n", git_dir.display()));
    }

    fn locate(&self, path: &str) -> Option<ProjectFolder> {
        locate(&self.at(path), Some(&self.top))
    }

    fn identify(&self, path: &str) -> IdentifiedProject {
        identify_folder(&self.locate(path).unwrap(), &load(&self.registry))
    }

    fn id(&self, path: &str) -> String {
        self.identify(path).project.id.to_string()
    }

    /// Identifies a folder as a command does, and records new marks.
    fn visit(&self, path: &str) -> String {
        let found = self.identify(path);
        let project = remember(&self.registry, &found).unwrap();
        assert_eq!(project, found.project);
        assert!(!self.identify(path).needs_saving());
        project.id.to_string()
    }

    /// True if folders here store their birth time; without it an inode number does not prove a move.
    fn keeps_births(&self) -> bool {
        let kept = fs::metadata(&self.top).unwrap().created().is_ok() && cfg!(unix);
        if !kept {
            rekindle_testkit::skipped("this file system does not say when a folder was made");
        }
        kept
    }
}

fn root_of(place: Option<ProjectFolder>) -> Option<PathBuf> {
    place.map(|place| place.root)
}

//! A home that belongs to one test.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::Command;

/// A temporary folder with a home for Rekindle, a home for the person, and a folder to work in. It is gone
/// when the sandbox is dropped.
#[derive(Debug)]
pub struct Sandbox {
    binary: PathBuf,
    home: PathBuf,
    user_home: PathBuf,
    work: PathBuf,
    folder: Scratch,
}

impl Sandbox {
    /// An empty sandbox for the program `binary`; tests of the CLI pass `env!("CARGO_BIN_EXE_rekindle")`.
    ///
    /// # Panics
    /// When the temporary folder cannot be made.
    #[track_caller]
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let folder = Scratch::new(&std::env::temp_dir());
        // The temporary folder of macOS is behind a symbolic link, and the product prints resolved paths.
        let root = must(folder.path(), fs::canonicalize(folder.path()));
        let place = |name: &str| {
            let path = root.join(name);
            must(&path, fs::create_dir(&path));
            path
        };
        // The home itself is left for `rekindle init` to make.
        let home = root.join("rekindle");
        Self { binary: binary.into(), home, user_home: place("user"), work: place("work"), folder }
    }

    /// Runs `rekindle init --name Ada`, which must succeed.
    ///
    /// # Panics
    /// When it does not.
    #[track_caller]
    #[must_use]
    pub fn init(self) -> Self {
        self.rekindle(&["init", "--name", "Ada"]).run().ok();
        self
    }

    /// Lets every note beside the vault be read for recall, as a person does who answers `all` when `rekindle init` asks.
    ///
    /// # Panics
    /// When the setting cannot be changed.
    #[track_caller]
    #[must_use]
    pub fn reading_all_notes(self) -> Self {
        self.rekindle(&["config", "set", "recall.notes", "all"]).run().ok();
        self
    }

    /// What `REKINDLE_HOME` names.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// What `HOME` names: nothing of the person's real one.
    pub fn user_home(&self) -> &Path {
        &self.user_home
    }

    /// The memory vault inside the home.
    pub fn vault(&self) -> PathBuf {
        self.home.join("vault").join("MemoryVault")
    }

    /// The state folder inside the home.
    pub fn state(&self) -> PathBuf {
        self.home.join("state")
    }

    /// A plain folder outside any project, where commands run unless told otherwise.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// The program with these arguments, at home in this sandbox. It leaves nothing to a process of its own, which would
    /// outlive the test; [`Command::without_env`] of `REKINDLE_INDEX_BACKGROUND` or `REKINDLE_CAPTURE_BACKGROUND` lets it.
    pub fn rekindle(&self, args: &[&str]) -> Command {
        Command::new(&self.binary, &self.work)
            .args(args)
            .env("HOME", &self.user_home)
            .env("REKINDLE_HOME", &self.home)
            .env("REKINDLE_INDEX_BACKGROUND", "false")
            .env("REKINDLE_CAPTURE_BACKGROUND", "false")
    }

    /// Where a path relative to the vault is.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.vault().join(relative)
    }

    /// Writes a file of the vault as a person would, with the folders it needs; returns where it is.
    ///
    /// # Panics
    /// When the system refuses.
    #[track_caller]
    pub fn write(&self, relative: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        if let Some(folder) = path.parent() {
            must(folder, fs::create_dir_all(folder));
        }
        must(&path, fs::write(&path, text));
        path
    }

    /// The text of a file of the vault.
    ///
    /// # Panics
    /// When there is none, or it is not UTF-8.
    #[track_caller]
    pub fn read(&self, relative: impl AsRef<Path>) -> String {
        let path = self.path(relative);
        must(&path, fs::read_to_string(&path))
    }

    /// Deletes a file of the vault as a person would.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    pub fn remove(&self, relative: impl AsRef<Path>) {
        let path = self.path(relative);
        must(&path, fs::remove_file(&path));
    }

    /// Every file of the vault by its path in it (with `/`), hidden and temporary ones too. A symbolic link
    /// is listed as itself, with `link to TARGET` for its content.
    ///
    /// # Panics
    /// When one cannot be read.
    #[track_caller]
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let vault = self.vault();
        let name = |path: &Path| {
            let relative = path.strip_prefix(&vault).unwrap_or(path);
            let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
            parts.join("/")
        };
        contents(&vault).into_iter().map(|(path, bytes)| (name(&path), bytes)).collect()
    }

    /// Every file of the home, the vault and the state included, by its full path.
    ///
    /// # Panics
    /// When one cannot be read.
    #[track_caller]
    pub fn everything(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        contents(&self.home)
    }

    /// Every path of the home whose content (or link target) or own name holds these bytes.
    ///
    /// # Panics
    /// When a file cannot be read, or when `needle` is empty and would be found everywhere.
    #[track_caller]
    pub fn find_bytes(&self, needle: impl AsRef<[u8]>) -> Vec<PathBuf> {
        let needle = needle.as_ref();
        assert!(!needle.is_empty(), "an empty needle is in every file");
        let holds = |path: &Path| {
            let name = path.file_name().unwrap_or_default();
            contains(name.as_encoded_bytes(), needle) || contains(&content(path), needle)
        };
        walk(&self.home).into_iter().filter(|path| holds(path)).collect()
    }

    /// A copy of the whole home, to be put back by [`Sandbox::restore`].
    ///
    /// # Panics
    /// When it cannot be copied.
    #[track_caller]
    pub fn snapshot(&self) -> Snapshot {
        let folder = Scratch::new(self.folder.path());
        let existed = self.home.exists();
        if existed {
            copy(&self.home, &folder.path().join("home"));
        }
        Snapshot { folder, existed }
    }

    /// Makes the home what it was when the snapshot was taken: content, permissions, modification times of
    /// files, and nothing that came since.
    ///
    /// # Panics
    /// When it cannot be copied back.
    #[track_caller]
    pub fn restore(&self, snapshot: &Snapshot) {
        if self.home.exists() {
            must(&self.home, unlock(&self.home));
            must(&self.home, fs::remove_dir_all(&self.home));
        }
        if snapshot.existed {
            copy(&snapshot.folder.path().join("home"), &self.home);
        }
    }
}

/// A home as it was at one moment; see [`Sandbox::snapshot`].
#[derive(Debug)]
pub struct Snapshot {
    folder: Scratch,
    existed: bool,
}

/// A temporary folder that also goes away when a test has left read-only folders in it.
#[derive(Debug)]
struct Scratch(TempDir);

impl Scratch {
    #[track_caller]
    fn new(parent: &Path) -> Self {
        Self(must(parent, tempfile::Builder::new().prefix("rekindle-test-").tempdir_in(parent)))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A test that failed half-way may have left anything here; its own message is the one to show.
        unlock(self.path()).ok();
    }
}

/// A test cannot go on without its files, so a refusal fails it and names the place.
#[track_caller]
fn must<T>(path: &Path, result: io::Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// Everything below a folder, each folder before what is in it; links are not followed.
#[track_caller]
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if !folder.exists() {
        return found;
    }
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in must(&folder, fs::read_dir(&folder)) {
            let entry = must(&folder, entry);
            if must(&entry.path(), entry.file_type()).is_dir() {
                open.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found
}

#[track_caller]
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = walk(folder).into_iter().filter(|path| !must(path, path.symlink_metadata()).is_dir());
    files.map(|path| (path.clone(), content(&path))).collect()
}

/// The bytes behind a path: of a file its content, of a link its target, of anything else none.
#[track_caller]
fn content(path: &Path) -> Vec<u8> {
    let kind = must(path, path.symlink_metadata()).file_type();
    if kind.is_symlink() {
        let target = must(path, fs::read_link(path));
        [b"link to ", target.as_os_str().as_encoded_bytes()].concat()
    } else if kind.is_file() {
        must(path, fs::read(path))
    } else {
        Vec::new()
    }
}

fn contains(text: &[u8], needle: &[u8]) -> bool {
    text.windows(needle.len()).any(|window| window == needle)
}

/// Copies a folder with permissions, links and the files' modification times.
#[track_caller]
fn copy(from: &Path, to: &Path) {
    let place = |path: &Path| to.join(path.strip_prefix(from).unwrap_or(path));
    let mut folders = vec![from.to_path_buf()];
    must(to, fs::create_dir(to));
    for path in walk(from) {
        let (target, about) = (place(&path), must(&path, path.symlink_metadata()));
        if about.is_dir() {
            must(&target, fs::create_dir(&target));
            folders.push(path);
        } else if about.is_symlink() {
            must(&target, link(&must(&path, fs::read_link(&path)), &target));
        } else if about.is_file() {
            must(&target, copy_file(&path, &target, &about));
        } else {
            panic!("{}: a snapshot holds files, folders and links only", path.display());
        }
    }
    // Last and from the inside out: a folder that may not be written to still has to be filled first.
    for path in folders.iter().rev() {
        let permissions = must(path, path.metadata()).permissions();
        must(path, fs::set_permissions(place(path), permissions));
    }
}

fn copy_file(from: &Path, to: &Path, about: &fs::Metadata) -> io::Result<()> {
    fs::write(to, fs::read(from)?)?;
    fs::File::options().write(true).open(to)?.set_modified(about.modified()?)?;
    fs::set_permissions(to, about.permissions())
}

#[cfg(unix)]
fn link(target: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

#[cfg(windows)]
fn link(target: &Path, at: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, at)
}

/// Lets the owner into every folder again, so that what a test made read-only can be removed.
#[cfg(unix)]
fn unlock(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            unlock(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn unlock(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;

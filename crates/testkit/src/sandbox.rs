//! A private home for one test.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::TestCommand;

/// A temporary folder with a home for Rekindle, a home for the user, and a working folder. Dropping the
/// sandbox removes it.
#[derive(Debug)]
pub struct Sandbox {
    binary: PathBuf,
    home: PathBuf,
    user_home: PathBuf,
    work: PathBuf,
    folder: TestFolder,
}

impl Sandbox {
    /// Creates an empty sandbox for the program `binary`; tests of the CLI pass
    /// `env!("CARGO_BIN_EXE_rekindle")`.
    ///
    /// # Panics
    /// If the temporary folder cannot be created.
    #[track_caller]
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let folder = TestFolder::new(&std::env::temp_dir());
        // On macOS the temporary folder is behind a symbolic link, and the product prints resolved paths.
        let root = must(folder.path(), fs::canonicalize(folder.path()));
        let place = |name: &str| {
            let path = root.join(name);
            must(&path, fs::create_dir(&path));
            path
        };
        // `rekindle init` creates the home itself.
        let home = root.join("rekindle");
        Self { binary: binary.into(), home, user_home: place("user"), work: place("work"), folder }
    }

    /// Runs `rekindle init --name Ada`, which must succeed.
    ///
    /// # Panics
    /// If it fails.
    #[track_caller]
    #[must_use]
    pub fn init(self) -> Self {
        self.rekindle(&["init", "--name", "Ada"]).run().ok();
        self
    }

    /// Lets recall read every note beside the vault, like the answer `all` to the question of
    /// `rekindle init`.
    ///
    /// # Panics
    /// If the setting cannot be changed.
    #[track_caller]
    #[must_use]
    pub fn reading_all_notes(self) -> Self {
        self.rekindle(&["config", "set", "recall.notes", "all"]).run().ok();
        self
    }

    /// The folder in `REKINDLE_HOME`.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The folder in `HOME`, separate from the user's real one.
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

    /// A plain folder outside of any project, the default working folder of commands.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// A call of the program with these arguments in this sandbox. Background processes are disabled, because
    /// they would outlive the test; [`TestCommand::without_env`] of `REKINDLE_INDEX_BACKGROUND`,
    /// `REKINDLE_CAPTURE_BACKGROUND` or `REKINDLE_GATE_WEEKLY` enables them.
    pub fn rekindle(&self, args: &[&str]) -> TestCommand {
        TestCommand::new(&self.binary, &self.work)
            .args(args)
            .env("HOME", &self.user_home)
            .env("REKINDLE_HOME", &self.home)
            .env("REKINDLE_INDEX_BACKGROUND", "false")
            .env("REKINDLE_CAPTURE_BACKGROUND", "false")
            .env("REKINDLE_GATE_WEEKLY", "false")
    }

    /// The full path of a path relative to the vault.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.vault().join(relative)
    }

    /// Writes a file of the vault as a person would, creating its folders. Returns its path.
    ///
    /// # Panics
    /// If the system refuses.
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
    /// If the file does not exist or is not UTF-8.
    #[track_caller]
    pub fn read(&self, relative: impl AsRef<Path>) -> String {
        let path = self.path(relative);
        must(&path, fs::read_to_string(&path))
    }

    /// Deletes a file of the vault as a person would.
    ///
    /// # Panics
    /// If the file does not exist.
    #[track_caller]
    pub fn remove(&self, relative: impl AsRef<Path>) {
        let path = self.path(relative);
        must(&path, fs::remove_file(&path));
    }

    /// Every file of the vault by its relative path (with `/`), including hidden and temporary ones. A
    /// symbolic link is listed as itself, with `link to TARGET` for its content.
    ///
    /// # Panics
    /// If a file cannot be read.
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

    /// Every file of the home, including the vault and the state, by its full path.
    ///
    /// # Panics
    /// If a file cannot be read.
    #[track_caller]
    pub fn everything(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        contents(&self.home)
    }

    /// Every path of the home whose content (or link target) or name contains these bytes.
    ///
    /// # Panics
    /// If a file cannot be read, or if `needle` is empty and would match everywhere.
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

    /// Copies the whole home, for [`Sandbox::restore`].
    ///
    /// # Panics
    /// If it cannot be copied.
    #[track_caller]
    pub fn snapshot(&self) -> HomeSnapshot {
        let folder = TestFolder::new(self.folder.path());
        let existed = self.home.exists();
        if existed {
            copy(&self.home, &folder.path().join("home"));
        }
        HomeSnapshot { folder, existed }
    }

    /// Restores the home from a snapshot: content, permissions, modification times of files. Anything newer
    /// is removed.
    ///
    /// # Panics
    /// If it cannot be copied back.
    #[track_caller]
    pub fn restore(&self, snapshot: &HomeSnapshot) {
        if self.home.exists() {
            must(&self.home, unlock(&self.home));
            must(&self.home, fs::remove_dir_all(&self.home));
        }
        if snapshot.existed {
            copy(&snapshot.folder.path().join("home"), &self.home);
        }
    }
}

/// The home at one moment; see [`Sandbox::snapshot`].
#[derive(Debug)]
pub struct HomeSnapshot {
    folder: TestFolder,
    existed: bool,
}

/// A temporary folder that is removed even if a test has left read-only folders in it.
#[derive(Debug)]
struct TestFolder(TempDir);

impl TestFolder {
    #[track_caller]
    fn new(parent: &Path) -> Self {
        Self(must(parent, tempfile::Builder::new().prefix("rekindle-test-").tempdir_in(parent)))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        // A failed test may have left anything here; its own message is the one to show.
        unlock(self.path()).ok();
    }
}

/// Unwraps a result. A test cannot continue without its files, so an error fails it with the path.
#[track_caller]
fn must<T>(path: &Path, result: io::Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// Everything below a folder, each folder before its content. Links are not followed.
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

/// The bytes behind a path: the content of a file, the target of a link, nothing otherwise.
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
    // Last, and from the inside out: a read-only folder has to be filled first.
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

/// Makes every folder accessible to the owner again, so that a test's read-only folders can be removed.
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

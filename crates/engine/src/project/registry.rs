//! The file that remembers which marks belong to which project.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rekindle_core::project::{KnownProjects, Settled, Trail};

use super::read;

/// Far more than the most that [`KnownProjects`] keeps; a larger file is not ours.
const MAX_REGISTRY_BYTES: u64 = 64 * 1024 * 1024;

/// How often, and how long each time, we wait for another process: two seconds in all, a thousand times what a
/// change takes. A process that was stopped in the middle must not stop this one too.
const LOCK_TRIES: u32 = 200;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Why the registry could not be changed. The project has its id all the same.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot {action} {}: {source}; projects are still told apart, but one without a remote may not be recognised \
     once its folder is moved: make that path writable",
    path.display()
)]
pub struct RememberError {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// What stands in the registry; nothing if it is missing, broken or unreadable, since an identity made from the
/// repository alone is better than none.
pub fn load(registry: &Path) -> KnownProjects {
    read(registry).ok().and_then(Content::known).unwrap_or_default()
}

/// Adds to the registry what it does not know yet, and says what it knows then.
pub(super) fn record(registry: &Path, trail: &Trail) -> Result<Settled, RememberError> {
    let failed = |action, path: &Path| {
        let path = path.to_owned();
        move |source| RememberError { action, path, source }
    };
    if let Some(folder) = registry.parent() {
        create_private_folders(folder).map_err(failed("create", folder))?;
    }
    let lock_path = beside(registry, ".lock");
    let _lock = lock(&lock_path).map_err(failed("lock", &lock_path))?;
    let mut known = match read(registry).map_err(failed("read", registry))? {
        Content::Missing => KnownProjects::default(),
        Content::Known(known) => known,
        Content::Broken => {
            let aside = beside(registry, ".broken");
            rename(registry, &aside).map_err(failed("set aside the broken", registry))?;
            KnownProjects::default()
        }
    };
    let settled = known.settle(trail);
    if !known.knows(&settled) {
        known.record(&settled);
        write(registry, &known).map_err(failed("write", registry))?;
    }
    Ok(settled)
}

enum Content {
    Missing,
    Broken,
    Known(KnownProjects),
}

impl Content {
    fn known(self) -> Option<KnownProjects> {
        match self {
            Self::Known(known) => Some(known),
            Self::Missing | Self::Broken => None,
        }
    }
}

fn read(registry: &Path) -> io::Result<Content> {
    match read::beginning(registry, MAX_REGISTRY_BYTES) {
        Ok((bytes, true)) => Ok(serde_json::from_slice(&bytes).map_or(Content::Broken, Content::Known)),
        Ok((_, false)) => Ok(Content::Broken),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Content::Missing),
        Err(error) => Err(error),
    }
}

/// Holds the lock until the file is dropped. The lock is a file of its own because the registry is replaced.
fn lock(path: &Path) -> io::Result<File> {
    let file = private_file().truncate(false).open(path)?;
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds it"))
}

/// Whole or not at all. The name of the temporary file is fixed: we hold the lock, and one left by a crash is
/// overwritten by the next.
fn write(registry: &Path, known: &KnownProjects) -> io::Result<()> {
    let new = beside(registry, ".new");
    let mut file = private_file().truncate(true).open(&new)?;
    file.write_all(&serde_json::to_vec(known)?)?;
    file.sync_all()?;
    drop(file);
    rename(&new, registry)?;
    sync_folder(registry)
}

#[expect(clippy::disallowed_methods, reason = "state of our own, under our lock; nobody else edits it")]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// `projects.json` and `.lock` make `projects.json.lock`.
fn beside(registry: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(registry);
    name.push(suffix);
    PathBuf::from(name)
}

/// Paths and remotes are nobody else's business: 0600.
fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn create_private_folders(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(unix)]
fn sync_folder(registry: &Path) -> io::Result<()> {
    let folder = registry.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_registry: &Path) -> io::Result<()> {
    Ok(())
}

//! The registry file: maps marks to projects.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rekindle_core::project::{ClaimAnswer, IdentifiedTrail, KnownProjects, ProjectTrail};

use super::{read, settle};
use crate::platform::disk;

/// The maximum size of the registry, far above the size that [`KnownProjects`] allows.
const MAX_REGISTRY_BYTES: u64 = 64 * 1024 * 1024;

/// The longest wait for another process, a thousand times the duration of a change. A stopped process must
/// not stop this one too.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The registry could not be changed. The project still has its id.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot {action} {}: {source}; projects are still told apart, but one without a remote may not be recognised \
     once its folder is moved: make that path writable",
    path.display()
)]
pub struct RegistryError {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// Loads the registry; empty if the file is missing, broken or unreadable, because an identity from the
/// repository alone is better than none.
pub fn load(registry: &Path) -> KnownProjects {
    read(registry).ok().and_then(RegistryContent::into_known_projects).unwrap_or_default()
}

/// Adds new marks to the registry, and returns the resulting ids.
pub(super) fn record(registry: &Path, trail: &ProjectTrail) -> Result<IdentifiedTrail, RegistryError> {
    change(registry, trail, |known, settled| {
        let is_news = !known.is_recorded(settled);
        if is_news {
            known.record(settled);
        }
        is_news
    })
}

/// Records the user's answer to a folder's claim.
pub(super) fn answer_claim(
    registry: &Path,
    trail: &ProjectTrail,
    answer: ClaimAnswer,
) -> Result<IdentifiedTrail, RegistryError> {
    change(registry, trail, |known, settled| {
        known.answer_claim(settled, answer);
        settled.last.claim.is_some()
    })
}

/// Changes the registry if `work` returns true, and returns the ids of `trail` afterwards.
fn change(
    registry: &Path,
    trail: &ProjectTrail,
    work: impl FnOnce(&mut KnownProjects, &IdentifiedTrail) -> bool,
) -> Result<IdentifiedTrail, RegistryError> {
    let failed = |action, path: &Path| {
        let path = path.to_owned();
        move |source| RegistryError { action, path, source }
    };
    if let Some(folder) = registry.parent() {
        disk::create_private_folder(folder).map_err(failed("create", folder))?;
    }
    // The lock is a separate file, because the registry is replaced.
    let lock_path = sibling_path(registry, ".lock");
    let _lock = disk::lock(&lock_path, LOCK_TIMEOUT).map_err(failed("lock", &lock_path))?;
    let mut known = match read(registry).map_err(failed("read", registry))? {
        RegistryContent::Missing => KnownProjects::default(),
        RegistryContent::Known(known) => known,
        RegistryContent::Broken => {
            let aside = sibling_path(registry, ".broken");
            disk::move_aside(registry, &aside).map_err(failed("set aside the broken", registry))?;
            KnownProjects::default()
        }
    };
    let settled = settle(trail, &known);
    if work(&mut known, &settled) {
        let text = serde_json::to_vec(&known).map_err(io::Error::from).map_err(failed("write", registry))?;
        disk::write_atomic(registry, &text).map_err(failed("write", registry))?;
    }
    Ok(settle(trail, &known))
}

enum RegistryContent {
    Missing,
    Broken,
    Known(KnownProjects),
}

impl RegistryContent {
    fn into_known_projects(self) -> Option<KnownProjects> {
        match self {
            Self::Known(known) => Some(known),
            Self::Missing | Self::Broken => None,
        }
    }
}

fn read(registry: &Path) -> io::Result<RegistryContent> {
    match read::read_beginning(registry, MAX_REGISTRY_BYTES) {
        Ok((bytes, true)) => {
            Ok(serde_json::from_slice(&bytes).map_or(RegistryContent::Broken, RegistryContent::Known))
        }
        Ok((_, false)) => Ok(RegistryContent::Broken),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(RegistryContent::Missing),
        Err(error) => Err(error),
    }
}

/// Appends to the file name: `projects.json` and `.lock` make `projects.json.lock`.
fn sibling_path(registry: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(registry);
    name.push(suffix);
    PathBuf::from(name)
}

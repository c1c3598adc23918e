//! Puts a backup back. Everything is unpacked and checked before the first file changes, and what is replaced is
//! backed up first.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::Timestamp;
use serde::Serialize;
use tar::{Archive, EntryType};

use super::layout::{BackupLayout, CONFIG, DEVICE_CONFIG, MANIFEST, VAULT};
use super::write::{WORKER_TIMEOUT, files_below, write_locked};
use super::{BackupManifest, Error, FORMAT_VERSION};
use crate::jobs::worker_lock::WorkerLock;
use crate::platform::db::Database;
use crate::platform::disk;
use crate::platform::home::{DataPaths, HomeFolder};
use crate::vault::pause_writers;

/// The number of copies kept of what restores replaced.
const MAX_SAFETY_COPIES: usize = 3;
const SAFETY_PREFIX: &str = "before-restore-";
/// The folder of a backup that is being restored.
pub(crate) const UNPACKED_FOLDER: &str = "unpacked";
/// The largest manifest, in bytes.
const MAX_MANIFEST_BYTES: u64 = 64 * 1024;

/// What a restore takes from a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RestoreOptions {
    /// Also restores the settings and projects that belong to the machine of the backup.
    pub device: bool,
    /// Removes the files of the vault that the backup does not have.
    pub exact: bool,
}

/// The effect of a restore on one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestoreAction {
    /// The file does not exist here.
    Create,
    /// The file is different here.
    Replace,
    /// The file is different here and changed after the backup.
    ReplaceNewer,
    /// The file is here and not in the backup.
    Remove,
    /// The file is the same.
    Unchanged,
}

/// A file of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedFile {
    /// The place on this machine.
    pub path: PathBuf,
    /// The effect.
    pub action: RestoreAction,
    /// The unpacked file; `None` if the file is removed.
    #[serde(skip)]
    staged: Option<PathBuf>,
}

/// The effect of a restore on every file, before it happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RestorePlan {
    /// The backup.
    pub manifest: BackupManifest,
    /// The files, in the order of the backup.
    pub files: Vec<PlannedFile>,
}

impl RestorePlan {
    /// The number of files with this effect.
    pub fn count(&self, action: RestoreAction) -> usize {
        self.files.iter().filter(|file| file.action == action).count()
    }

    /// True if nothing would change.
    pub fn is_empty(&self) -> bool {
        self.count(RestoreAction::Unchanged) == self.files.len()
    }
}

/// The result of a restore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RestoreReport {
    /// What was done.
    #[serde(flatten)]
    pub plan: RestorePlan,
    /// The backup of what was replaced.
    pub before: PathBuf,
}

/// A backup, unpacked into a private folder until it is dropped.
#[derive(Debug)]
pub struct StagedBackup {
    folder: PathBuf,
    manifest: BackupManifest,
    /// The unpacked file of each name.
    files: BTreeMap<String, PathBuf>,
}

impl StagedBackup {
    /// Unpacks and checks a backup.
    pub fn unpack(home: &HomeFolder, places: &DataPaths, input: &mut dyn Read) -> Result<Self, Error> {
        let folder = places.backups_folder().join(UNPACKED_FOLDER);
        clear(&folder)?;
        disk::create_private_folder(&folder).map_err(Error::io("make", &folder))?;
        let mut staged = Self {
            folder,
            manifest: BackupManifest { format: 0, created: Timestamp::UNIX_EPOCH, program: String::new() },
            files: BTreeMap::new(),
        };
        let layout = BackupLayout { home, places };
        let mut archive = Archive::new(GzDecoder::new(input));
        let mut entries = archive.entries().map_err(Error::damaged)?;
        staged.manifest = read_manifest(entries.next())?;
        for entry in entries {
            let mut entry = entry.map_err(Error::damaged)?;
            let name = entry.path().map_err(Error::damaged)?.to_str().map(str::to_owned);
            let name = name.filter(|name| layout.place(name).is_some());
            let Some(name) = name.filter(|_| entry.header().entry_type() == EntryType::Regular) else {
                return Err(Error::damaged(format!("unknown file {}", entry.path_bytes().escape_ascii())));
            };
            let path = staged.folder.join(staged.files.len().to_string());
            let mut failed_read = None;
            let written = disk::write_atomic_with(&path, &mut |file| {
                io::copy(&mut entry, file)
                    .map(drop)
                    .inspect_err(|error| failed_read = Some(error.to_string()))
            });
            match (written, failed_read) {
                (Err(_), Some(problem)) => return Err(Error::damaged(problem)),
                (written, _) => written.map_err(Error::io("write", &path))?,
            }
            staged.files.insert(name, path);
        }
        // The checksum stands behind the last entry.
        io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(Error::damaged)?;
        Ok(staged)
    }

    /// Compares the backup with this machine.
    pub fn plan(
        &self,
        home: &HomeFolder,
        places: &DataPaths,
        options: RestoreOptions,
    ) -> Result<RestorePlan, Error> {
        let layout = BackupLayout { home, places };
        let mut files = Vec::new();
        for (name, staged) in &self.files {
            let Some(path) = layout.place(name).filter(|path| is_wanted(name, path, options)) else {
                continue;
            };
            let action = self.action(&path, staged)?;
            files.push(PlannedFile { path, action, staged: Some(staged.clone()) });
        }
        if options.exact {
            for path in files_below(VAULT, places.vault())? {
                if !files.iter().any(|file| file.path == path) {
                    files.push(PlannedFile { path, action: RestoreAction::Remove, staged: None });
                }
            }
        }
        Ok(RestorePlan { manifest: self.manifest.clone(), files })
    }

    fn action(&self, path: &Path, staged: &Path) -> Result<RestoreAction, Error> {
        let Some(here) = disk::hash(path).map_err(Error::io("read", path))? else {
            return Ok(RestoreAction::Create);
        };
        if disk::hash(staged).map_err(Error::io("read", staged))? == Some(here) {
            return Ok(RestoreAction::Unchanged);
        }
        let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified());
        let modified = modified.ok().and_then(|time| Timestamp::try_from(time).ok());
        let is_newer = modified.is_none_or(|modified| modified > self.manifest.created);
        Ok(if is_newer { RestoreAction::ReplaceNewer } else { RestoreAction::Replace })
    }

    /// Restores the backup. What is replaced or removed is backed up first.
    pub fn restore(
        &self,
        home: &HomeFolder,
        places: &DataPaths,
        options: RestoreOptions,
        now: Timestamp,
    ) -> Result<RestoreReport, Error> {
        let _worker = WorkerLock::acquire(&places.locks_folder(), WORKER_TIMEOUT)?.ok_or(Error::Busy)?;
        let before = save_present(home, places, now)?;
        let _paused = pause_writers(places)?;
        let plan = self.plan(home, places, options)?;
        for file in &plan.files {
            match (file.action, &file.staged) {
                (RestoreAction::Unchanged, _) => {}
                (_, Some(staged)) if file.path == places.database() => replace_database(&file.path, staged)?,
                (_, Some(staged)) => replace(&file.path, staged)?,
                (_, None) => disk::remove(&file.path).map_err(Error::io("remove", &file.path))?,
            }
        }
        Ok(RestoreReport { plan, before })
    }
}

impl Drop for StagedBackup {
    fn drop(&mut self) {
        clear(&self.folder).ignore_failure("the next restore and every forget remove it");
    }
}

/// True if a restore takes this file. The settings of this machine stay unless those of the backup are asked for.
fn is_wanted(name: &str, path: &Path, options: RestoreOptions) -> bool {
    match name {
        CONFIG => !options.device && !path.exists(),
        DEVICE_CONFIG => options.device,
        name if name.starts_with("device/") => options.device,
        _ => true,
    }
}

fn read_manifest<R: Read>(first: Option<io::Result<tar::Entry<'_, R>>>) -> Result<BackupManifest, Error> {
    let foreign = || Error::damaged("it does not begin with a manifest of Rekindle");
    let entry = first.ok_or_else(foreign)?.map_err(Error::damaged)?;
    if entry.path_bytes().as_ref() != MANIFEST.as_bytes() {
        return Err(foreign());
    }
    let mut text = String::new();
    entry.take(MAX_MANIFEST_BYTES).read_to_string(&mut text).map_err(Error::damaged)?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|_| foreign())?;
    match value["format"].as_u64() {
        Some(found) if found > u64::from(FORMAT_VERSION) => {
            Err(Error::Newer { found: u32::try_from(found).unwrap_or(u32::MAX) })
        }
        _ => serde_json::from_value(value).map_err(|_| foreign()),
    }
}

/// Backs up the present state, and removes the oldest such copies.
fn save_present(home: &HomeFolder, places: &DataPaths, now: Timestamp) -> Result<PathBuf, Error> {
    let folder = places.backups_folder();
    let path = folder.join(format!("{SAFETY_PREFIX}{}.tar.gz", now.strftime("%Y%m%dT%H%M%SZ")));
    disk::create_private_folder(&folder).map_err(Error::io("make", &folder))?;
    let mut failure = None;
    let written = disk::write_atomic_with(&path, &mut |file| {
        write_locked(BackupLayout { home, places }, file, now).map(drop).map_err(|error| {
            let text = io::Error::other(error.to_string());
            failure = Some(error);
            text
        })
    });
    match failure {
        Some(error) => return Err(error),
        None => written.map_err(Error::io("write", &path))?,
    }
    let copies = safety_copies(places).map_err(Error::io("read", &folder))?;
    let old = copies.len().saturating_sub(MAX_SAFETY_COPIES);
    for copy in &copies[..old] {
        disk::shred(copy).map_err(Error::io("remove", copy))?;
    }
    Ok(path)
}

/// The backups of what restores replaced, oldest first.
pub(crate) fn safety_copies(places: &DataPaths) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(places.backups_folder()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let is_copy = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(SAFETY_PREFIX.as_bytes()))
    };
    let mut copies: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_copy).collect();
    copies.sort();
    Ok(copies)
}

/// True if a file of a backup matches, or if the backup cannot be read to its end.
pub(crate) fn any_file_matches(backup: &Path, matches: impl Fn(&[u8]) -> bool) -> bool {
    let search = || -> io::Result<bool> {
        let mut archive = Archive::new(GzDecoder::new(File::open(backup)?));
        for entry in archive.entries()? {
            let mut bytes = Vec::new();
            entry?.read_to_end(&mut bytes)?;
            if matches(&bytes) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    search().unwrap_or(true)
}

fn replace(path: &Path, staged: &Path) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        disk::create_private_folder(folder).map_err(Error::io("make", folder))?;
    }
    let mut file = File::open(staged).map_err(Error::io("read", staged))?;
    disk::write_atomic_with(path, &mut |target| io::copy(&mut file, target).map(drop))
        .map_err(Error::io("write", path))
}

/// Replaces the database. Its write-ahead log goes first, because SQLite would apply it to the new file.
fn replace_database(path: &Path, staged: &Path) -> Result<(), Error> {
    if let Ok(Some(database)) = Database::open_existing(path) {
        database.checkpoint()?;
    }
    for end in ["-wal", "-shm"] {
        let beside =
            path.with_file_name(format!("{}{end}", path.file_name().unwrap_or_default().to_string_lossy()));
        disk::remove(&beside).map_err(Error::io("remove", &beside))?;
    }
    replace(path, staged)
}

fn clear(folder: &Path) -> Result<(), Error> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::io("read", folder))?,
    };
    for entry in entries {
        let path = entry.map_err(Error::io("read", folder))?.path();
        disk::shred(&path).map_err(Error::io("remove", &path))?;
    }
    disk::remove_empty_folder(folder).map_err(Error::io("remove", folder))
}

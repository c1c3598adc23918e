//! Writes a backup.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use flate2::Compression;
use flate2::write::GzEncoder;
use rekindle_core::base::time::Timestamp;
use serde::Serialize;
use tar::{Builder, EntryType, Header};

use super::layout::{BackupLayout, CONFIG, DATABASE, DEVICE_CONFIG, MANIFEST, MESSAGES, MESSAGES_INDEX};
use super::{BackupManifest, Error, FORMAT_VERSION};
use crate::config;
use crate::jobs::worker_lock::WorkerLock;
use crate::platform::db::Database;
use crate::platform::disk::{self, TEMPORARY_PREFIX};
use crate::platform::home::{DataPaths, HomeFolder};
use crate::vault::pause_writers;
use crate::vault::scan::all_files;

/// The longest wait for the background worker, which yields between runs.
pub(super) const WORKER_TIMEOUT: Duration = Duration::from_secs(20);

/// The result of a backup.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BackupReport {
    /// The number of files.
    pub files: u64,
    /// Their size before compression, in bytes.
    pub bytes: u64,
    /// The number of Markdown files of the vault among them.
    pub notes: u64,
}

/// Writes a backup to `output`. All writers wait meanwhile, so the parts fit together.
pub fn write_backup(
    home: &HomeFolder,
    places: &DataPaths,
    output: &mut dyn Write,
    now: Timestamp,
) -> Result<BackupReport, Error> {
    let _worker = WorkerLock::acquire(&places.locks_folder(), WORKER_TIMEOUT)?.ok_or(Error::Busy)?;
    write_locked(BackupLayout { home, places }, output, now)
}

/// Writes a backup for a caller that holds the worker lock.
pub(super) fn write_locked(
    layout: BackupLayout<'_>,
    output: &mut dyn Write,
    now: Timestamp,
) -> Result<BackupReport, Error> {
    let mut archive = ArchiveWriter {
        tar: Builder::new(GzEncoder::new(output, Compression::fast())),
        report: BackupReport::default(),
        now,
    };
    let manifest = BackupManifest {
        format: FORMAT_VERSION,
        created: now,
        program: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let manifest = serde_json::to_vec_pretty(&manifest).map_err(|error| Error::Output(error.into()))?;
    archive.bytes(MANIFEST, &manifest)?;

    let paused = pause_writers(layout.places)?;
    for (name, folder) in layout.folders() {
        for path in files_below(name, &folder)? {
            let relative = path.strip_prefix(&folder).unwrap_or(&path);
            // Tar has one way to write names.
            let parts: Vec<String> =
                relative.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
            archive.file(&format!("{name}/{}", parts.join("/")), &path)?;
        }
    }
    for (name, path) in layout.files() {
        archive.file(name, &path)?;
        if name == DEVICE_CONFIG
            && let Some(shared) =
                std::fs::read_to_string(&path).ok().as_deref().and_then(config::without_device_settings)
        {
            archive.bytes(CONFIG, shared.as_bytes())?;
        }
    }
    archive.database(layout.places)?;
    drop(paused);
    archive.finish()
}

/// The files of a folder that a backup keeps, in order of their names.
pub(super) fn files_below(name: &str, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = match all_files(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        files => files.map_err(Error::io("read", folder))?,
    };
    files.retain(|path| {
        let is_temporary = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(TEMPORARY_PREFIX.as_bytes()));
        let is_derived = name == MESSAGES && path.starts_with(folder.join(MESSAGES_INDEX));
        !is_temporary && !is_derived
    });
    files.sort();
    Ok(files)
}

/// A backup while it is written.
struct ArchiveWriter<'a> {
    tar: Builder<GzEncoder<&'a mut dyn Write>>,
    report: BackupReport,
    now: Timestamp,
}

impl ArchiveWriter<'_> {
    fn bytes(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let modified = u64::try_from(self.now.as_second()).unwrap_or_default();
        self.append(name, bytes.len() as u64, modified, bytes)
    }

    /// Adds a file; a missing one is left out.
    fn file(&mut self, name: &str, path: &Path) -> Result<(), Error> {
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => file.map_err(Error::io("read", path))?,
        };
        let metadata = file.metadata().map_err(Error::io("read", path))?;
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.map_or(0, |since| since.as_secs());
        self.append(name, metadata.len(), modified, ExactReader { file, left: metadata.len() })?;
        self.report.notes += u64::from(name.starts_with("vault/") && name.ends_with(".md"));
        Ok(())
    }

    /// Adds a consistent copy of the database.
    fn database(&mut self, places: &DataPaths) -> Result<(), Error> {
        let database = match Database::open_existing(&places.database()) {
            Ok(Some(database)) => database,
            Ok(None) => return Ok(()),
            // A damaged database is kept as it is: somebody may still save something from it.
            Err(_) => return self.file(DATABASE, &places.database()),
        };
        let copy = places.state().join(format!("{TEMPORARY_PREFIX}backup.db"));
        disk::remove(&copy).map_err(Error::io("remove", &copy))?;
        let added = match database.copy_to(&copy) {
            Ok(()) => self.file(DATABASE, &copy),
            Err(_) => self.file(DATABASE, &places.database()),
        };
        disk::shred(&copy).map_err(Error::io("remove", &copy))?;
        added
    }

    fn append(&mut self, name: &str, size: u64, modified: u64, content: impl Read) -> Result<(), Error> {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(modified);
        self.tar.append_data(&mut header, name, content).map_err(Error::Output)?;
        self.report.files += 1;
        self.report.bytes += size;
        Ok(())
    }

    fn finish(self) -> Result<BackupReport, Error> {
        let encoder = self.tar.into_inner().map_err(Error::Output)?;
        encoder.finish().and_then(Write::flush).map_err(Error::Output)?;
        Ok(self.report)
    }
}

/// Reads exactly the announced size: a log may grow meanwhile, and a file that shrinks would shift all that follow.
struct ExactReader {
    file: File,
    left: u64,
}

impl Read for ExactReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let count = self.file.read(&mut buffer[..room])?;
        if count == 0 && room > 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a file became shorter meanwhile"));
        }
        self.left -= count as u64;
        Ok(count)
    }
}

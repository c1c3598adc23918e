//! A folder of numbered segment files and `CURRENT`, the manifest that names the live ones. The index of notes
//! and the index of messages both store their segments here; each has its own manifest type.
//!
//! Files are never changed and their numbers never reused, so readers need no lock: a reader whose files are
//! removed by a newer manifest starts again from `CURRENT`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::Error;
use super::format::SegmentDamage;
use super::segment::IndexSegment;
use crate::platform::disk;
use crate::platform::mmap::MappedFile;

/// The maximum number of retries if segments are replaced during a read.
const MAX_READ_RETRIES: usize = 8;

/// A folder of segments. It need not exist until something is written.
#[derive(Clone, Debug)]
pub(crate) struct SegmentFolder {
    path: PathBuf,
    /// The version of the manifest; the segments have their own.
    manifest_version: u32,
    /// The extensions of the numbered files.
    extensions: &'static [&'static str],
}

impl SegmentFolder {
    pub(crate) fn new(path: PathBuf, manifest_version: u32, extensions: &'static [&'static str]) -> Self {
        Self { path, manifest_version, extensions }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of `CURRENT`.
    pub(crate) fn manifest_file(&self) -> PathBuf {
        self.path.join("CURRENT")
    }

    /// The path of a numbered file.
    pub(crate) fn numbered_file(&self, number: u64, extension: &str) -> PathBuf {
        self.path.join(format!("{number:06}.{extension}"))
    }

    /// Reads the manifest; `None` if there is none.
    pub(crate) fn manifest<M: DeserializeOwned>(&self) -> Result<Option<M>, Error> {
        let path = self.manifest_file();
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        let damaged = |damage| Error::Damaged { path: path.clone(), damage };
        // Only the format field has the same form in every version.
        #[derive(Deserialize)]
        struct ManifestFormat {
            format: u32,
        }
        let ManifestFormat { format } =
            serde_json::from_slice(&text).map_err(|_| damaged(SegmentDamage::Foreign))?;
        if format != self.manifest_version {
            return Err(damaged(SegmentDamage::Version(format)));
        }
        serde_json::from_slice(&text).map(Some).map_err(|_| damaged(SegmentDamage::Foreign))
    }

    /// Replaces the manifest atomically.
    pub(crate) fn publish<M: Serialize>(&self, manifest: &M) -> Result<(), Error> {
        let path = self.manifest_file();
        let text = serde_json::to_vec(manifest).map_err(|error| Error::io("written", &path)(error.into()))?;
        disk::write_atomic(&path, &text).map_err(Error::io("written", &path))
    }

    /// Opens the files that the manifest names with `open`, and again if they were replaced meanwhile;
    /// `None` if there is no manifest.
    pub(crate) fn open<M: DeserializeOwned, T>(
        &self,
        open: impl Fn(&M) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let mut retries = 0;
        loop {
            let Some(manifest) = self.manifest()? else { return Ok(None) };
            match open(&manifest) {
                Err(Error::Io { error, path, .. }) if error.kind() == io::ErrorKind::NotFound => {
                    if retries == MAX_READ_RETRIES {
                        return Err(Error::Damaged { path, damage: SegmentDamage::Missing });
                    }
                    retries += 1;
                }
                opened => return opened.map(Some),
            }
        }
    }

    /// Maps a segment file.
    pub(crate) fn segment(&self, number: u64, extension: &str) -> Result<IndexSegment, Error> {
        let path = self.numbered_file(number, extension);
        let bytes = MappedFile::open(&path).map_err(Error::io("read", &path))?;
        IndexSegment::open(bytes).map_err(|damage| Error::Damaged { path, damage })
    }

    /// Writes a file under a new number. A damaged folder has no manifest but may have files, whose numbers
    /// are not reused.
    pub(crate) fn write(
        &self,
        extension: &str,
        write: &mut dyn FnMut(&mut File) -> io::Result<()>,
    ) -> Result<u64, Error> {
        let newest =
            self.files().iter().filter_map(|file| file.file_stem()?.to_str()?.parse::<u64>().ok()).max();
        let number = newest.map_or(1, |newest| newest + 1);
        let path = self.numbered_file(number, extension);
        disk::write_atomic_with(&path, write).map_err(Error::io("written", &path))?;
        Ok(number)
    }

    /// Takes a lock file of the folder; waits at most `timeout`.
    pub(crate) fn lock(&self, name: &str, timeout: Duration) -> Result<File, Error> {
        disk::create_private_folder(&self.path).map_err(Error::io("made", &self.path))?;
        let path = self.path.join(name);
        disk::lock(&path, timeout).map_err(Error::io("locked", &path))
    }

    /// All files of the folder.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten();
        entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
    }

    /// The numbered files that are not in `keep`, and the temporary files of writers that were killed.
    pub(crate) fn unreferenced_files(&self, keep: &[PathBuf]) -> Vec<PathBuf> {
        let is_unreferenced = |file: &PathBuf| {
            let is_numbered =
                file.extension().is_some_and(|end| self.extensions.iter().any(|extension| end == *extension));
            let is_temporary = file
                .file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(disk::TEMPORARY_PREFIX.as_bytes()));
            (is_numbered || is_temporary) && !keep.contains(file)
        };
        self.files().into_iter().filter(is_unreferenced).collect()
    }

    /// Removes the unreferenced files with `remove`.
    pub(crate) fn sweep(
        &self,
        keep: &[PathBuf],
        remove: impl Fn(&Path) -> io::Result<()>,
    ) -> Result<(), Error> {
        for file in self.unreferenced_files(keep) {
            remove(&file).map_err(Error::io("removed", &file))?;
        }
        Ok(())
    }
}

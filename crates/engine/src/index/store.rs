//! The index on disk, and its locks.
//!
//! ```text
//! index/CURRENT          the manifest of the current generation, as JSON
//! index/000003.base      a large segment: mapped by readers, changed only by `erase`; a generation has one or more
//! index/000003.delta     its small segments, each a frame: appended after changes of the vault
//! index/erasing          the edits of an erasure in progress
//! index/writer.lock      held while a new generation is written
//! index/delta.lock       held briefly during an append or a switch to a new generation
//! index/embedding.lock   held while many vectors are computed
//! ```
//!
//! A reader opens `CURRENT`, the bases and the delta without a lock (see `segment_folder`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rekindle_core::base::id::ChangeId;
use serde::{Deserialize, Serialize};

use super::build::{PreparedUnit, build, lay_out_segment};
use super::error::Error;
use super::format::VectorSpace;
use super::frames;
use super::segment::IndexSegment;
use super::segment_folder::SegmentFolder;
use super::snapshot::IndexSnapshot;
use crate::platform::disk;
use crate::platform::mmap::MappedFile;

/// The time to wait for other appenders.
pub(super) const APPEND_LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The version of `CURRENT`; segments have their own.
const FORMAT_VERSION: u32 = 2;
/// The extension of a large segment.
const BASE: &str = "base";
/// The extension of the small segments of a generation.
const DELTA: &str = "delta";
/// The maximum number of documents that a fold merges into one segment, so that memory use stays flat.
const MAX_LAYER_UNITS: usize = 2048;
/// The maximum number of units above the first segment, which every reader looks up. Beyond it, all segments
/// are merged.
const MAX_UPPER_UNITS: usize = 2000;

/// The content of `CURRENT`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct IndexManifest {
    format: u32,
    /// The number of the generation, which names the delta.
    generation: u64,
    /// The numbers of the large segments, oldest first.
    layers: Vec<u64>,
    /// The last change of the vault that the large segments include.
    seen: Option<ChangeId>,
}

/// The file name of the checkpoint of a long embedding run.
pub(super) const CHECKPOINT_FILE: &str = "embedding.partial";

/// The index in a folder.
#[derive(Clone, Debug)]
pub struct RecallIndex {
    folder: SegmentFolder,
}

/// The lock for writing a new generation.
#[derive(Debug)]
pub struct GenerationWriter<'a> {
    pub(super) index: &'a RecallIndex,
    _lock: File,
}

impl RecallIndex {
    /// The index in `folder`, which need not exist.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder: SegmentFolder::new(folder, FORMAT_VERSION, &[BASE, DELTA]) }
    }

    /// The folder of the index.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn delta(&self, generation: u64) -> PathBuf {
        self.folder.numbered_file(generation, DELTA)
    }

    fn current(&self) -> Result<Option<IndexManifest>, Error> {
        self.folder.manifest()
    }

    /// Opens the current generation; `None` if there is no index.
    pub fn open(&self) -> Result<Option<IndexSnapshot>, Error> {
        self.folder.open(|current| self.open_generation(current))
    }

    fn open_generation(&self, current: &IndexManifest) -> Result<IndexSnapshot, Error> {
        let mut segments = Vec::with_capacity(current.layers.len());
        for layer in &current.layers {
            segments.push(self.folder.segment(*layer, BASE)?);
        }
        let layers = segments.len();
        let path = self.delta(current.generation);
        let bytes = std::fs::read(&path).map_err(Error::io("read", &path))?;
        let (found, whole) = frames::frames(&bytes);
        let mut seen = current.seen.clone();
        for range in found {
            let (later, segment) = split(&bytes[range]);
            seen = later.or(seen);
            let segment = IndexSegment::open(segment.to_vec().into());
            segments.push(segment.map_err(|damage| Error::Damaged { path: path.clone(), damage })?);
        }
        Ok(IndexSnapshot::new(current.generation, layers, segments, seen, whole, whole < bytes.len()))
    }

    /// Takes the lock for appending to the delta. It blocks all other appends and new generations, so hold it
    /// briefly.
    pub fn appender(&self) -> Result<DeltaAppender<'_>, Error> {
        let lock = self.folder.lock("delta.lock", APPEND_LOCK_TIMEOUT)?;
        Ok(DeltaAppender { index: self, _lock: lock })
    }

    /// Takes the lock for writing a new generation; waits at most `patience`.
    pub fn writer(&self, patience: Duration) -> Result<GenerationWriter<'_>, Error> {
        let lock = self.folder.lock("writer.lock", patience)?;
        self.finish_erasure()?;
        Ok(GenerationWriter { index: self, _lock: lock })
    }

    /// Takes the lock for computing all missing vectors, which one process at a time may do; waits at most
    /// `patience`.
    pub fn embedding(&self, patience: Duration) -> Result<EmbeddingLock, Error> {
        let lock = self.folder.lock("embedding.lock", patience)?;
        Ok(EmbeddingLock { _lock: lock })
    }

    /// The segments in a file of the index. Damaged ones are left out.
    pub(super) fn segments_of(&self, path: &Path) -> Vec<IndexSegment> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some(BASE) => {
                let opened = MappedFile::open(path).ok().and_then(|bytes| IndexSegment::open(bytes).ok());
                opened.into_iter().collect()
            }
            Some(DELTA) => {
                let bytes = std::fs::read(path).unwrap_or_default();
                let open = |range| IndexSegment::open(split(&bytes[range]).1.to_vec().into()).ok();
                frames::frames(&bytes).0.into_iter().filter_map(open).collect()
            }
            _ => Vec::new(),
        }
    }

    /// All files of the folder, current or left over.
    pub(super) fn all_files(&self) -> Vec<PathBuf> {
        self.folder.files()
    }

    /// The numbers of the large segments, oldest first.
    pub(super) fn layers(&self) -> Result<Vec<u64>, Error> {
        Ok(self.current()?.map(|current| current.layers).unwrap_or_default())
    }

    pub(super) fn base(&self, layer: u64) -> PathBuf {
        self.folder.numbered_file(layer, BASE)
    }

    /// The files that killed writers left behind: older generations and temporary files. The next generation
    /// removes them. While one is being written, its own files may be among them.
    pub fn abandoned_files(&self) -> Vec<PathBuf> {
        let current = self.current().ok().flatten();
        current.map(|current| self.unreferenced_files(Some(&current))).unwrap_or_default()
    }

    /// The files that are not part of `keep`, and the temporary files.
    fn unreferenced_files(&self, keep: Option<&IndexManifest>) -> Vec<PathBuf> {
        self.folder.unreferenced_files(&self.referenced_files(keep))
    }

    fn referenced_files(&self, manifest: Option<&IndexManifest>) -> Vec<PathBuf> {
        let Some(manifest) = manifest else { return Vec::new() };
        let bases = manifest.layers.iter().map(|layer| self.folder.numbered_file(*layer, BASE));
        bases.chain([self.delta(manifest.generation)]).collect()
    }
}

/// The lock for computing all missing vectors.
#[derive(Debug)]
pub struct EmbeddingLock {
    _lock: File,
}

/// The lock for appending to the delta.
#[derive(Debug)]
pub struct DeltaAppender<'a> {
    index: &'a RecallIndex,
    _lock: File,
}

impl DeltaAppender<'_> {
    /// Appends changed files as a small segment. `seen` is the last change of the vault that it includes.
    /// Returns `false` if there is no index: a later rebuild reads the files anyway.
    pub fn append(
        &self,
        space: &VectorSpace,
        units: Vec<PreparedUnit>,
        seen: Option<&ChangeId>,
    ) -> Result<bool, Error> {
        let Some(current) = self.index.current()? else { return Ok(false) };
        let path = self.index.delta(current.generation);
        let bytes = frames::read(&path).map_err(Error::io("read", &path))?;
        let (_, whole) = frames::frames(&bytes);
        let framed = frames::frame(&join(seen, &build(space, units)));
        frames::append(&path, whole, &framed).map_err(Error::io("written", &path))?;
        Ok(true)
    }
}

/// A segment that no generation has yet.
#[derive(Debug)]
pub struct IndexPart(u64);

/// A place in the delta of a generation.
#[derive(Clone, Copy)]
struct DeltaPosition {
    generation: u64,
    bytes: usize,
}

/// The treatment of files that a new generation replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldBytes {
    /// Removes the files without overwriting them.
    Removed,
    /// Overwrites the files before removal, because they hold forgotten text (B-08).
    Shredded,
}

impl GenerationWriter<'_> {
    /// Loads all units of the index; damaged data reads as empty.
    pub fn load(&self, space: &VectorSpace) -> (BTreeMap<String, PreparedUnit>, Option<IndexSnapshot>) {
        match self.index.open() {
            Ok(Some(snapshot)) => (snapshot.all_units(space), Some(snapshot)),
            Ok(None) | Err(_) => (BTreeMap::new(), None),
        }
    }

    /// Publishes `units` as the next generation. `basis` is the snapshot from which they were made; later
    /// appends to its delta are carried over.
    pub fn publish(
        &self,
        space: &VectorSpace,
        units: Vec<PreparedUnit>,
        basis: Option<&IndexSnapshot>,
        seen: Option<&ChangeId>,
        old: OldBytes,
    ) -> Result<(), Error> {
        let laid = lay_out_segment(space, units);
        let published = self.publish_on(Vec::new(), &mut |file| laid.write(file), basis, seen, old);
        laid.free_in_background();
        published
    }

    /// Folds the delta into a large segment, together with the newest large segments that are not much
    /// larger. Memory use does not depend on the size of the index. If readers then have too many segments to
    /// look up, all are merged.
    pub fn fold(&self, space: &VectorSpace) -> Result<(), Error> {
        let Some(current) = self.index.current()? else { return Ok(()) };
        let basis = self.index.open_generation(&current)?;
        let (sizes, mut documents) = basis.layer_sizes();
        let (units, replaced) = basis.upper_layer_cost();
        let is_much =
            units > MAX_UPPER_UNITS || replaced > MAX_LAYER_UNITS.max(sizes.iter().sum::<usize>() / 4);
        let mut kept = sizes.len();
        while let Some(size) = kept.checked_sub(1).and_then(|below| sizes.get(below)) {
            if !is_much && (*size > documents * 2 || documents + size > MAX_LAYER_UNITS) {
                break;
            }
            (kept, documents) = (kept - 1, documents + size);
        }
        let layers = current.layers.get(..kept).unwrap_or_default().to_vec();
        let merge = basis.merge_since(kept, space);
        // The bytes are copied without parsing, so they are verified first.
        let damaged = |damage| Error::Damaged { path: self.index.folder().to_owned(), damage };
        merge.verify().map_err(damaged)?;
        let write = &mut |file: &mut File| merge.write(file);
        self.publish_on(layers, write, Some(&basis), basis.last_seen_change(), OldBytes::Removed)
    }

    /// Writes units as a segment that no generation has yet, so that they need not stay in memory until
    /// [`GenerationWriter::publish_parts`].
    pub fn write_part(&self, space: &VectorSpace, units: Vec<PreparedUnit>) -> Result<IndexPart, Error> {
        let laid = lay_out_segment(space, units);
        let written = self.index.folder.write(BASE, &mut |file| laid.write(file));
        laid.free_in_background();
        written.map(IndexPart)
    }

    /// Publishes the next generation: the files of `kept`, as far as no part has a unit of the same path, and those
    /// of the parts, which have no path in common. Memory holds only a few numbers per file and document.
    pub fn publish_parts(
        &self,
        space: &VectorSpace,
        kept: bool,
        parts: &[IndexPart],
        seen: Option<&ChangeId>,
    ) -> Result<(), Error> {
        let current = self.index.current().ok().flatten();
        let basis = current.map(|current| self.index.open_generation(&current)).transpose().ok().flatten();
        let mut segments = Vec::with_capacity(parts.len());
        if let Some(basis) = basis.as_ref().filter(|_| kept) {
            basis
                .verify()
                .map_err(|damage| Error::Damaged { path: self.index.folder().to_owned(), damage })?;
        }
        let (old, tail) = match basis {
            Some(basis) => {
                let tail = DeltaPosition { generation: basis.generation, bytes: basis.delta_bytes };
                (basis.into_segments(), Some(tail))
            }
            None => (Vec::new(), None),
        };
        if kept {
            segments.extend(old);
        }
        for part in parts {
            segments.push(self.index.folder.segment(part.0, BASE)?);
        }
        let all = IndexSnapshot::new(0, segments.len(), segments, None, 0, false);
        let merge = all.merge_since(0, space);
        self.publish_after(Vec::new(), &mut |file| merge.write(file), tail, seen, OldBytes::Removed)
    }

    /// Removes the parts of a run that was stopped.
    pub fn discard_parts(&self) -> Result<(), Error> {
        self.sweep(self.index.current()?.as_ref(), OldBytes::Removed)
    }

    /// Writes a new segment above `layers` and publishes the result as the next generation.
    fn publish_on(
        &self,
        layers: Vec<u64>,
        write: &mut dyn FnMut(&mut File) -> io::Result<()>,
        basis: Option<&IndexSnapshot>,
        seen: Option<&ChangeId>,
        old: OldBytes,
    ) -> Result<(), Error> {
        let place =
            |basis: &IndexSnapshot| DeltaPosition { generation: basis.generation, bytes: basis.delta_bytes };
        self.publish_after(layers, write, basis.map(place), seen, old)
    }

    /// [`Self::publish_on`] for a basis of which only the end of its delta is known.
    fn publish_after(
        &self,
        mut layers: Vec<u64>,
        write: &mut dyn FnMut(&mut File) -> io::Result<()>,
        basis: Option<DeltaPosition>,
        seen: Option<&ChangeId>,
        old: OldBytes,
    ) -> Result<(), Error> {
        let generation = self.index.folder.write(BASE, write)?;
        let delta = self.index.delta(generation);
        // From here on, nothing is appended to the old delta.
        let _appender = self.index.appender()?;
        let tail = match basis {
            Some(basis) => {
                let path = self.index.delta(basis.generation);
                let bytes = frames::read(&path).map_err(Error::io("read", &path))?;
                let (_, whole) = frames::frames(&bytes);
                bytes.get(basis.bytes..whole).unwrap_or_default().to_vec()
            }
            None => Vec::new(),
        };
        disk::write_atomic(&delta, &tail).map_err(Error::io("written", &delta))?;
        layers.push(generation);
        let current = IndexManifest { format: FORMAT_VERSION, generation, layers, seen: seen.cloned() };
        self.index.folder.publish(&current)?;
        self.sweep(Some(&current), old)
    }

    /// Overwrites and removes the whole index.
    pub fn discard(&self) -> Result<(), Error> {
        let _appender = self.index.appender()?;
        let path = self.index.folder.manifest_file();
        disk::remove(&path).map_err(Error::io("removed", &path))?;
        self.sweep(None, OldBytes::Shredded)
    }

    /// Overwrites and removes what killed writers left.
    pub(super) fn sweep_for_good(&self) -> Result<(), Error> {
        self.sweep(self.index.current()?.as_ref(), OldBytes::Shredded)
    }

    /// Removes files that no generation needs.
    fn sweep(&self, keep: Option<&IndexManifest>, old: OldBytes) -> Result<(), Error> {
        let remove = match old {
            OldBytes::Removed => disk::remove,
            OldBytes::Shredded => disk::shred,
        };
        self.index.folder.sweep(&self.index.referenced_files(keep), remove)
    }
}

/// Encodes a frame of the delta: the last change that it includes, and a segment.
pub(super) fn join(seen: Option<&ChangeId>, segment: &[u8]) -> Vec<u8> {
    let seen = seen.map_or("", ChangeId::as_str);
    let mut bytes = Vec::with_capacity(1 + seen.len() + segment.len());
    bytes.push(seen.len() as u8);
    bytes.extend_from_slice(seen.as_bytes());
    bytes.extend_from_slice(segment);
    bytes
}

fn split(frame: &[u8]) -> (Option<ChangeId>, &[u8]) {
    let Some((length, rest)) = frame.split_first() else { return (None, frame) };
    let Some((seen, segment)) = rest.split_at_checked(usize::from(*length)) else { return (None, &[]) };
    let seen = std::str::from_utf8(seen).ok().filter(|seen| !seen.is_empty());
    (seen.and_then(ChangeId::parse), segment)
}

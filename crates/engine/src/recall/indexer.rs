//! Keeps the index up to date with the notes.
//!
//! There are two ways. After a change of ours, [`Indexer::catch_up`] reads the files that the journal lists
//! since the last update and appends them; this is the cost of a save. For everything else (edits in an
//! editor, a sync, a lost or damaged index, another model), [`Indexer::refresh`] compares every file by time
//! and size, and by content if those differ.

use std::collections::BTreeMap;
use std::time::Duration;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::id::ChangeId;
use rekindle_core::recall::collect::MAX_DOCUMENTS;
use rekindle_core::recall::document::FileStamp;
use rekindle_core::vault::journal::{ChangeRoot, ChangedFile, FileOperation};

use crate::index::embedding::{Embedder, SAVE_BUDGET, VectorCache, WindowSelection};
use crate::index::{Error as IndexError, IndexSnapshot, OldBytes, PreparedUnit, RecallIndex, VectorSpace};
use crate::vault::sources::{self, SourceFile, SourceListing};
use crate::vault::{self, ChangeOutcome, Vault};

/// The maximum number of small segments in the delta. Each costs a reader a few microseconds.
const MAX_SMALL_SEGMENTS: usize = 48;
/// The maximum size in bytes of the delta.
const MAX_SMALL_SEGMENT_BYTES: usize = 1 << 20;
/// The maximum number of documents of a thread at the end of a log that are appended again; with more, the
/// whole log is read.
const MAX_APPENDED_THREAD: usize = 64;
/// The maximum number of changed documents in an append before the delta is folded.
const MAX_APPENDED_DOCUMENTS: usize = 64;
/// The time to wait for another indexing process if a person requested the index.
const INDEX_LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why the index could not be updated. The notes are unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The index reported an error.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The vault reported an error.
    #[error(transparent)]
    Vault(#[from] vault::Error),
}

/// The outcome of [`Indexer::catch_up`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatchUpOutcome {
    /// There were no changes.
    Current,
    /// Changed files were appended.
    Appended {
        /// The number of files that were read.
        files: usize,
        /// The number of windows without a vector.
        pending: usize,
    },
    /// There is no index, or the journal does not know its last change: it has to be rebuilt from the files.
    Behind,
}

/// The result of [`Indexer::refresh`].
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of files with documents.
    pub files: usize,
    /// The number of files that were read because they are new or changed.
    pub read: usize,
    /// The number of listed files that turned out to be unreadable; the other numbers do not count them.
    unread: usize,
    /// The number of deleted files.
    pub gone: usize,
    /// The number of vectors that were computed.
    pub embedded: usize,
    /// The number of windows without a vector.
    pub pending: usize,
    /// The number of documents that search can find.
    pub documents: usize,
    /// The unreadable files, with the reasons.
    pub problems: Vec<(String, String)>,
    /// True if `progress` stopped the run early. Unless all files had been read by then, the index is
    /// unchanged.
    pub stopped: bool,
}

/// The outcome of [`Indexer::index_pending`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettleOutcome {
    /// The index is complete.
    Current,
    /// The remaining work takes longer than a command should wait.
    Later,
}

/// The number of missing vectors from which on those of whole windows are published first. Below, one run takes
/// a few seconds.
const MIN_STAGED_WINDOWS: usize = 512;
/// The maximum number of files whose documents are in memory at the same time, about ten thousand bytes each.
const MAX_BATCH_FILES: usize = 16_384;
/// The maximum number of deleted files whose vectors are kept for new files with the same text.
const MAX_MOVED_FILES: usize = 4 * MAX_BATCH_FILES;
/// The maximum number of files of a vault that a command indexes in passing.
const MAX_SETTLED_FILES: usize = 300;

/// The extent of a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshExtent {
    /// Reads only changed files.
    Changed,
    /// Reads every file, and keeps only the vectors of unchanged texts.
    Everything,
}

/// The progress of a long run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexingProgress {
    /// The number of files that were read, and their total.
    Reading(usize, usize),
    /// The number of vectors that are computed, and their total.
    Embedding(usize, usize),
}

/// The indexer, with its notes, index and model.
#[derive(Debug)]
pub struct Indexer<'a> {
    /// The vault with the notes.
    pub vault: &'a Vault,
    /// The index to update.
    pub index: &'a RecallIndex,
    /// The embedder for missing vectors.
    pub embedder: Embedder<'a>,
}

impl Indexer<'_> {
    /// Indexes the changes through the vault since the last update.
    pub fn catch_up(&self) -> Result<CatchUpOutcome, Error> {
        // From here on nobody else appends, so no older text can follow a newer one.
        let appender = self.index.appender()?;
        let snapshot = match self.index.open() {
            Ok(Some(snapshot)) => snapshot,
            Ok(None) | Err(IndexError::Damaged { .. }) => return Ok(CatchUpOutcome::Behind),
            Err(error) => return Err(error.into()),
        };
        let Some(TouchedFiles { files: touched, newest }) =
            self.touched_since(snapshot.last_seen_change())?
        else {
            return Ok(CatchUpOutcome::Behind);
        };
        if newest.is_none() {
            return Ok(CatchUpOutcome::Current);
        }
        let (mut units, mut before) = (Vec::with_capacity(touched.len()), Vec::new());
        for (path, how) in &touched {
            if let FileChangeKind::Grew(growth) = how
                && let Some(unit) = self.appended_documents(&snapshot, path, growth)?
            {
                units.push(unit);
                before.extend(snapshot.small_segment_unit(path));
            } else {
                let unit = PreparedUnit::from(sources::read(self.vault, path)?);
                // Deleted and oversized files need no vectors.
                before.extend((!unit.documents.is_empty()).then(|| snapshot.unit(path)).flatten());
                units.push(unit);
            }
        }
        let pending =
            self.embedder.fill_missing(&mut units, &self.known_vectors(&snapshot, &before), SAVE_BUDGET);
        let files = units.len();
        if !appender.append(&self.embedder.space(), units, newest.as_ref())? {
            return Ok(CatchUpOutcome::Behind);
        }
        drop(appender);
        let size = snapshot.size();
        if size.segments >= MAX_SMALL_SEGMENTS || size.delta >= MAX_SMALL_SEGMENT_BYTES {
            match self.fold(Duration::ZERO) {
                // Another process is folding, or will.
                Ok(()) | Err(Error::Index(IndexError::Busy)) => {}
                // A damaged index is rebuilt from the files.
                Err(Error::Index(IndexError::Damaged { .. })) => return Ok(CatchUpOutcome::Behind),
                Err(error) => return Err(error),
            }
        }
        Ok(CatchUpOutcome::Appended { files, pending })
    }

    /// Does the indexing that a command can do in passing: appends its changes, or builds the index of a
    /// small vault.
    pub fn index_pending(&self) -> Result<SettleOutcome, Error> {
        match self.catch_up()? {
            CatchUpOutcome::Current | CatchUpOutcome::Appended { pending: 0, .. } => {
                return self.has_pending_vectors();
            }
            CatchUpOutcome::Appended { .. } => return Ok(SettleOutcome::Later),
            CatchUpOutcome::Behind => {}
        }
        if sources::names(self.vault)?.files.len() > MAX_SETTLED_FILES {
            return Ok(SettleOutcome::Later);
        }
        let report = match self.refresh(RefreshExtent::Changed, &mut |_| true) {
            Ok(report) => report,
            Err(Error::Index(IndexError::Busy)) => return Ok(SettleOutcome::Later),
            Err(error) => return Err(error),
        };
        Ok(if report.pending == 0 { SettleOutcome::Current } else { SettleOutcome::Later })
    }

    /// Checks for earlier documents that still have no vectors (STO-15).
    fn has_pending_vectors(&self) -> Result<SettleOutcome, Error> {
        let is_whole = |snapshot: IndexSnapshot| {
            snapshot.size().pending == 0 && snapshot.is_from_model(&self.embedder.space())
        };
        let is_current = self.index.open()?.is_none_or(is_whole);
        Ok(if is_current { SettleOutcome::Current } else { SettleOutcome::Later })
    }

    /// Collects vectors of the same text and model, which need not be computed again.
    fn known_vectors<'u>(
        &self,
        snapshot: &IndexSnapshot,
        units: impl IntoIterator<Item = &'u PreparedUnit>,
    ) -> VectorCache {
        if snapshot.is_from_model(&self.embedder.space()) {
            VectorCache::of(units)
        } else {
            VectorCache::default()
        }
    }

    /// The files that changes after `seen` touched, and the last of those changes. `None` if the journal does
    /// not know `seen`. Pending changes are left to their writers.
    fn touched_since(&self, seen: Option<&ChangeId>) -> Result<Option<TouchedFiles>, Error> {
        let (mut touched, mut newest, mut found) = (BTreeMap::new(), None, seen.is_none());
        for record in self.vault.changes()? {
            let record = record?;
            if Some(&record.change.id) == seen {
                found = true;
                break;
            }
            if newest.is_none() && record.outcome == ChangeOutcome::Pending {
                continue;
            }
            newest.get_or_insert(record.change.id);
            for op in &record.change.ops {
                for path in op.changed_files().filter_map(|place| self.path_of(place)) {
                    let newer = touched.remove(&path);
                    touched.insert(path, FileChangeKind::merge_older(newer, op));
                }
            }
        }
        Ok(found.then_some(TouchedFiles { files: touched, newest }))
    }

    /// The documents that were appended to a daily log, to follow the indexed ones. The last thread is
    /// indexed again if it continues, so that it stays in one piece. `None` if the whole log has to be read.
    fn appended_documents(
        &self,
        snapshot: &IndexSnapshot,
        path: &str,
        growth: &FileGrowth,
    ) -> Result<Option<PreparedUnit>, Error> {
        let is_before = |stamp: &FileStamp| (stamp.hash, stamp.size) == (growth.before, growth.size);
        let Some(stamp) = snapshot.stamp(path).filter(is_before) else { return Ok(None) };
        let Some(unit) = sources::read_appended(self.vault, path, &stamp, growth.after)? else {
            return Ok(None);
        };
        let thread = unit.documents.first().and_then(|document| document.thread.as_deref());
        let Some(mut documents) = snapshot.last_of_thread(path, thread, MAX_APPENDED_THREAD) else {
            return Ok(None);
        };
        let kept = snapshot.count_of(path) - documents.len();
        let fresh = PreparedUnit::from(unit);
        documents.extend(fresh.documents);
        if kept + documents.len() > MAX_DOCUMENTS {
            return Ok(None);
        }
        let behind = u32::try_from(kept).ok();
        Ok(behind.map(|behind| PreparedUnit { unit: fresh.unit, documents, behind: Some(behind) }))
    }

    /// The index's path of a file of the vault.
    fn path_of(&self, place: &ChangedFile) -> Option<String> {
        match place.root {
            ChangeRoot::Vault => Some(format!("{}/{}", self.vault.folder_name(), place.path)),
            ChangeRoot::Notes => Some(place.path.to_string()),
            ChangeRoot::Identity => None,
        }
    }

    /// Folds the delta into a large segment.
    fn fold(&self, patience: Duration) -> Result<(), Error> {
        Ok(self.index.writer(patience)?.fold(&self.embedder.space())?)
    }

    /// Compares every file with the index and reads those that changed. If `progress` stops the run, the
    /// index is unchanged, because a partial index would look complete (EXE-16).
    pub fn refresh(
        &self,
        extent: RefreshExtent,
        progress: &mut dyn FnMut(IndexingProgress) -> bool,
    ) -> Result<Report, Error> {
        // Later changes are left to the next update.
        let newest = newest_change(self.vault)?;
        let space = self.embedder.space();
        let writer = self.index.writer(INDEX_LOCK_TIMEOUT)?;
        let opened = match self.index.open() {
            Ok(opened) => opened,
            Err(IndexError::Damaged { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        // Readers do not verify checksums, so the indexer does.
        let opened = opened.filter(|snapshot| snapshot.verify().is_ok());
        let known = opened.as_ref().map(IndexSnapshot::stamps).unwrap_or_default();
        let is_new = known.is_empty() || extent == RefreshExtent::Everything;
        let (listed, changed) = if is_new { self.all_files()? } else { self.changed_files(&known)? };
        let mut report = Report { files: listed.files.len(), problems: listed.problems, ..Report::default() };
        let changed: Vec<&str> = changed.into_iter().map(|place| listed.files[place].as_str()).collect();
        let is_there = |path: &str| listed.files.binary_search_by(|file| file.as_str().cmp(path)).is_ok();
        let gone: Vec<String> =
            known.keys().filter(|path| !is_there(path)).map(|path| (*path).to_owned()).collect();
        (report.read, report.gone) = (changed.len(), gone.len());
        let mut batches = changed.chunks(MAX_BATCH_FILES);
        let first = batches.next().unwrap_or_default();
        let Some(mut units) = self.read_batch(first, (0, changed.len()), &known, &mut report, progress)
        else {
            return self.with_size(Report { gone: 0, stopped: true, ..report });
        };
        let few = first.len() == changed.len()
            && units.iter().map(|unit| unit.documents.len()).sum::<usize>() + gone.len()
                <= MAX_APPENDED_DOCUMENTS;
        match &opened {
            Some(snapshot) if few && extent == RefreshExtent::Changed && snapshot.is_from_model(&space) => {
                let is_current = units.is_empty()
                    && gone.is_empty()
                    && !snapshot.is_torn()
                    && snapshot.last_seen_change() == newest.as_ref();
                if !is_current {
                    let before: Vec<_> = changed.iter().filter_map(|path| snapshot.unit(path)).collect();
                    self.embedder.fill_missing(&mut units, &VectorCache::of(&before), SAVE_BUDGET);
                    units.extend(gone.into_iter().map(empty_unit));
                    self.index.appender()?.append(&space, units, newest.as_ref())?;
                }
            }
            _ => {
                let kept = extent == RefreshExtent::Changed && opened.is_some();
                let basis = opened.as_ref().filter(|snapshot| snapshot.is_from_model(&space));
                // A file that was moved keeps its vectors.
                let moved = basis.map(|snapshot| {
                    let units = gone.iter().take(MAX_MOVED_FILES).filter_map(|path| snapshot.unit(path));
                    VectorCache::of(&units.collect::<Vec<_>>())
                });
                // After many files were read, the few vectors within a save's budget would not matter.
                let budget = if changed.len() > MAX_SETTLED_FILES { Duration::ZERO } else { SAVE_BUDGET };
                let finish = |units: &mut Vec<PreparedUnit>| {
                    let before = units.iter().filter_map(|unit| basis?.unit(&unit.unit.path));
                    let before: Vec<PreparedUnit> = before.collect();
                    let mut known = VectorCache::of(&before);
                    known.add_all(moved.as_ref());
                    if !known.is_empty() || !budget.is_zero() {
                        self.embedder.fill_missing(&mut *units, &known, budget);
                    }
                    // A rebuilt index omits files without documents.
                    units.retain(|unit| kept || unit.unit.stamp.is_some());
                };
                finish(&mut units);
                if !kept && first.len() == changed.len() {
                    writer.publish(&space, units, opened.as_ref(), newest.as_ref(), OldBytes::Removed)?;
                } else {
                    let mut parts = vec![writer.write_part(&space, units)?];
                    for (place, batch) in (1..).zip(batches) {
                        let place = (place * MAX_BATCH_FILES, changed.len());
                        let Some(mut units) = self.read_batch(batch, place, &known, &mut report, progress)
                        else {
                            writer.discard_parts()?;
                            return self.with_size(Report { gone: 0, stopped: true, ..report });
                        };
                        finish(&mut units);
                        parts.push(writer.write_part(&space, units)?);
                    }
                    if kept && !gone.is_empty() {
                        parts.push(writer.write_part(&space, gone.into_iter().map(empty_unit).collect())?);
                    }
                    drop(known);
                    drop(opened);
                    writer.publish_parts(&space, kept, &parts, newest.as_ref())?;
                }
            }
        }
        drop(writer);
        self.with_size(report)
    }

    /// Reads some of the changed files and counts them in the report. `place` is the number of changed files before
    /// these, and of all. `None` if `progress` stopped the run.
    fn read_batch(
        &self,
        paths: &[&str],
        place: (usize, usize),
        known: &BTreeMap<&str, FileStamp>,
        report: &mut Report,
        progress: &mut dyn FnMut(IndexingProgress) -> bool,
    ) -> Option<Vec<PreparedUnit>> {
        let (before, all) = place;
        let mut told_to_stop = false;
        let mut go_on = |done| {
            told_to_stop |= !progress(IndexingProgress::Reading(before + done, all));
            !told_to_stop
        };
        let (mut units, problems) = match paths.is_empty() || go_on(0) {
            true => sources::read_many(self.vault, paths, PreparedUnit::with_counts, &mut go_on),
            false => Default::default(),
        };
        report.problems.extend(problems);
        report.read = before + units.len();
        if told_to_stop && units.len() < paths.len() {
            return None;
        }
        progress(IndexingProgress::Reading(before + units.len(), all));
        // An unreadable file has no documents; if it was indexed, it counts as deleted.
        let was_known = |unit: &PreparedUnit| known.contains_key(unit.unit.path.as_str());
        let unread = units.iter().filter(|unit| unit.unit.stamp.is_none());
        report.gone += unread.clone().filter(|unit| was_known(unit)).count();
        report.unread += unread.count();
        units.retain(|unit| unit.unit.stamp.is_some() || was_known(unit));
        Some(units)
    }

    /// Lists all files and selects every one for reading.
    fn all_files(&self) -> Result<(SourceListing<String>, Vec<usize>), Error> {
        let listed = sources::names(self.vault)?;
        let all = (0..listed.files.len()).collect();
        Ok((listed, all))
    }

    /// Lists all files and selects those that differ from the index.
    fn changed_files(
        &self,
        known: &BTreeMap<&str, FileStamp>,
    ) -> Result<(SourceListing<String>, Vec<usize>), Error> {
        let SourceListing { files, problems } = sources::list(self.vault)?;
        let is_changed = |file: &SourceFile| {
            let stamp = known.get(file.path.as_str());
            stamp.is_none_or(|stamp| (stamp.modified, stamp.size) != (file.modified, file.size))
        };
        let changed =
            (0..).zip(&files).filter(|(_, file)| is_changed(file)).map(|(place, _)| place).collect();
        let files = files.into_iter().map(|file| file.path).collect();
        Ok((SourceListing { files, problems }, changed))
    }

    fn with_size(&self, mut report: Report) -> Result<Report, Error> {
        let unread = std::mem::take(&mut report.unread);
        (report.files, report.read) = (report.files - unread, report.read.saturating_sub(unread));
        if let Some(snapshot) = self.index.open()? {
            let size = snapshot.size();
            (report.documents, report.pending) = (size.documents, size.pending);
        }
        Ok(report)
    }

    /// Computes the missing vectors and publishes them, waiting at most `patience` for another process that
    /// does so. A long run publishes those of whole windows first, so that search by meaning does not wait for
    /// the fine ones. Saves, indexing and recall continue meanwhile. The report has the number of computed
    /// vectors.
    pub fn embed(
        &self,
        patience: Duration,
        progress: &mut dyn FnMut(IndexingProgress) -> bool,
    ) -> Result<Report, Error> {
        let mut report = Report::default();
        let space = self.embedder.space();
        let _lock = self.index.embedding(patience)?;
        let mut told_to_stop = false;
        let Some(snapshot) = self.index.open()? else { return Ok(report) };
        let is_long = snapshot.size().pending >= MIN_STAGED_WINDOWS || !snapshot.is_from_model(&space);
        let selections: &[WindowSelection] =
            if is_long { &[WindowSelection::Whole, WindowSelection::All] } else { &[WindowSelection::All] };
        drop(snapshot);
        for selection in selections {
            let before = report.embedded;
            report.embedded += self.embed_selected(*selection, &space, &mut |done, of| {
                let go_on = progress(IndexingProgress::Embedding(before + done, before + of));
                told_to_stop |= !go_on;
                go_on
            })?;
            if told_to_stop {
                break;
            }
        }
        let report = self.with_size(report)?;
        Ok(Report { stopped: told_to_stop && report.pending > 0, ..report })
    }

    /// Computes the missing vectors of the selected windows and publishes them. Returns their number.
    fn embed_selected(
        &self,
        selection: WindowSelection,
        space: &VectorSpace,
        progress: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<usize, Error> {
        let Some(snapshot) = self.index.open()? else { return Ok(0) };
        if !snapshot.is_from_model(space) {
            drop(snapshot);
            self.publish_embedded(space, &[])?;
        }
        let Some(mut snapshot) = self.index.open()? else { return Ok(0) };
        let total = snapshot.size().pending;
        let (mut embedded, mut last, mut is_stopped) = (0, None::<String>, false);
        loop {
            let paths = snapshot.paths_without_vectors(last.as_deref(), selection, MAX_BATCH_FILES);
            if is_stopped || paths.is_empty() {
                return Ok(embedded);
            }
            let mut units: Vec<PreparedUnit> = paths.iter().filter_map(|path| snapshot.unit(path)).collect();
            drop(snapshot);
            let missing = &mut units.iter_mut().collect::<Vec<_>>();
            embedded += self.embedder.fill_all(self.index, missing, selection, &mut |done, of| {
                // Of the last files, all windows are known to be done.
                let of = total.max(embedded + of);
                let go_on = progress(embedded + done, of);
                is_stopped |= !go_on;
                go_on
            })?;
            self.publish_embedded(space, &units)?;
            last = paths.into_iter().next_back();
            snapshot = match self.index.open()? {
                Some(snapshot) => snapshot,
                None => return Ok(embedded),
            };
        }
    }

    /// Publishes the vectors of files. A file that was changed meanwhile keeps its new text.
    fn publish_embedded(&self, space: &VectorSpace, made: &[PreparedUnit]) -> Result<(), Error> {
        let writer = self.index.writer(INDEX_LOCK_TIMEOUT)?;
        let Some(snapshot) = self.index.open()? else { return Ok(()) };
        let known = VectorCache::of(made);
        let mut units: Vec<PreparedUnit> = made
            .iter()
            .filter_map(|unit| snapshot.unit(&unit.unit.path))
            .filter(|unit| unit.unit.stamp.is_some())
            .collect();
        self.embedder.fill_missing(&mut units, &known, Duration::ZERO);
        let seen = snapshot.last_seen_change().cloned();
        drop(snapshot);
        let parts = [writer.write_part(space, units)?];
        writer.publish_parts(space, true, &parts, seen.as_ref())?;
        // The checkpoint holds the vectors of these files only.
        if !made.is_empty() {
            Embedder::clear_checkpoint(self.index)?;
        }
        Ok(())
    }
}

/// The files that changes touched.
struct TouchedFiles {
    files: BTreeMap<String, FileChangeKind>,
    /// The last of the changes.
    newest: Option<ChangeId>,
}

/// The kind of change of a file.
enum FileChangeKind {
    /// Text was only appended.
    Grew(FileGrowth),
    /// It changed in another way.
    Anyhow,
}

/// The growth of a file by appending.
struct FileGrowth {
    before: ContentHash,
    size: u64,
    after: ContentHash,
}

impl FileChangeKind {
    /// Combines an older change with the newer ones.
    fn merge_older(newer: Option<Self>, op: &FileOperation) -> Self {
        match (newer, op) {
            (None, FileOperation::Append { before, size, after, .. }) => {
                Self::Grew(FileGrowth { before: *before, size: *size, after: *after })
            }
            (Some(Self::Grew(grew)), FileOperation::Append { before, size, after, .. })
                if grew.before == *after =>
            {
                Self::Grew(FileGrowth { before: *before, size: *size, after: grew.after })
            }
            _ => Self::Anyhow,
        }
    }
}

fn empty_unit(path: String) -> PreparedUnit {
    let unit = rekindle_core::recall::document::SourceUnit { path, stamp: None, documents: Vec::new() };
    PreparedUnit { unit, documents: Vec::new(), behind: None }
}

/// The last completed change of ours.
pub fn newest_change(vault: &Vault) -> Result<Option<ChangeId>, vault::Error> {
    for record in vault.changes()? {
        let record = record?;
        if record.outcome != ChangeOutcome::Pending {
            return Ok(Some(record.change.id));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;

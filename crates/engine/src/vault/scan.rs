//! Lists the vault: a walk that reads the first part of every note.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rekindle_core::base::provenance::{Origin, Provenance};
use rekindle_core::base::time::{TimeZone, Zoned};
use rekindle_core::vault::entry::{EntryProperties, title};
use rekindle_core::vault::frontmatter::{self, ParsedNote};
use rekindle_core::vault::layout::{self, EntryGroup, VaultShelf, is_conflict_copy};
use rekindle_core::vault::path::{VaultPath, fold_name};

use super::scan_cache::{KnownScan, ScanCache, SeenNote};
use super::{Error, MAX_NOTE_BYTES, Vault, text};
use crate::platform::clock;
use crate::platform::disk::{self, FileContent, FileIdentity, TEMPORARY_PREFIX};
use rekindle_core::recall::citation::Citation;

/// The number of bytes of a note read for a listing: all properties and the start of the body.
const HEAD_BYTES: u64 = frontmatter::MAX_BYTES as u64 + 4096;
/// The number of bytes read first; most notes are smaller.
const FIRST_READ_BYTES: u64 = 4096;

/// The maximum number of threads. Reading notes is limited by memory, so more do not help.
const MAX_THREADS: usize = 4;
/// The minimum number of files per thread. Fewer are read before a thread has started.
const MIN_FILES_PER_THREAD: usize = 500;

/// One entry of a listing.
#[derive(Clone, Debug)]
pub struct ScannedEntry {
    /// The path of the note.
    pub path: VaultPath,
    /// The shelf of the note.
    pub shelf: VaultShelf,
    /// The properties of the note.
    pub entry: EntryProperties,
    /// The first line of the note.
    pub title: String,
}

/// A note that could not be read. It is left unchanged.
#[derive(Clone, Debug)]
pub struct NoteProblem {
    /// The path of the note.
    pub path: PathBuf,
    /// The error, with its line.
    pub message: String,
}

/// The result of a walk.
#[derive(Clone, Debug, Default)]
pub struct VaultScan {
    /// The entries, sorted by path.
    pub entries: Vec<ScannedEntry>,
    /// The notes that could not be read.
    pub problems: Vec<NoteProblem>,
    /// The conflict copies of sync programs.
    pub conflicts: Vec<PathBuf>,
}

impl Vault {
    /// Lists all groups. Archived versions are included on request only; forgotten entries that a sync
    /// restored never are.
    pub fn scan(&self, with_archive: bool) -> Result<VaultScan, Error> {
        let scan = match &self.scans {
            Some(cache) => self.cached_walk(cache, with_archive)?,
            None => self.walk_groups(with_archive, None)?.0,
        };
        self.without_forgotten(scan)
    }

    /// The messages that entries and their archived versions cite.
    pub fn message_citations(&self) -> Result<Vec<Citation>, Error> {
        let mut citations = Vec::new();
        let kept = |found: &ScannedEntry| found.shelf != VaultShelf::Inbox;
        for ScannedEntry { shelf, entry, title, .. } in self.scan(true)?.entries.into_iter().filter(kept) {
            let Provenance { origin: Origin::User, session: Some(session), messages } = entry.provenance
            else {
                continue;
            };
            let chars = title.chars().count();
            citations.extend(messages.iter().map(|message| match shelf {
                VaultShelf::Archive => Citation::superseded(&session, message),
                _ => Citation::of_statement(&session, message, chars),
            }));
        }
        Ok(citations)
    }

    /// Walks all groups with the archive, and reads only notes that changed since an earlier walk.
    fn cached_walk(&self, cache: &ScanCache, with_archive: bool) -> Result<VaultScan, Error> {
        let mut scan = match cache.shared_scan() {
            Some(scan) => scan.clone(),
            None => {
                let known = cache.known(clock::now(TimeZone::UTC).timestamp());
                let (scan, seen) = self.walk_groups(true, Some(&known))?;
                cache.learn(&known, seen);
                cache.share(&scan);
                scan
            }
        };
        if !with_archive {
            scan.entries.retain(|found| found.shelf != VaultShelf::Archive);
            let is_archived = |file: &Path| {
                self.vault_path(file).is_some_and(|path| layout::shelf_of(&path) == VaultShelf::Archive)
            };
            scan.problems.retain(|problem| !is_archived(&problem.path));
        }
        Ok(scan)
    }

    /// Lists the current entries with this file name, without reading any other.
    pub(super) fn scan_named(&self, folded_stem: &str) -> Result<VaultScan, Error> {
        let mut scan = VaultScan::default();
        for file in self.group_files()? {
            let is_named = |path: &VaultPath| fold_name(path.stem()) == folded_stem;
            if self.vault_path(&file).as_ref().is_some_and(is_named) {
                self.scan_file(&file, false, &mut scan);
            }
        }
        self.without_forgotten(scan)
    }

    fn without_forgotten(&self, mut scan: VaultScan) -> Result<VaultScan, Error> {
        let graves = self.graveyard()?;
        scan.entries.retain(|found| found.entry.id.as_ref().is_none_or(|id| !graves.holds_entry(id)));
        scan.entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(scan)
    }

    /// The files of all groups.
    fn group_files(&self) -> Result<Vec<PathBuf>, Error> {
        let mut files = Vec::new();
        for group in EntryGroup::ALL {
            let folder = self.folder().join(group.folder_name());
            match walk_files(&folder) {
                Ok(found) => files.extend(found),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("read", &folder)(error)),
            }
        }
        Ok(files)
    }

    fn walk_groups(
        &self,
        with_archive: bool,
        known: Option<&KnownScan>,
    ) -> Result<(VaultScan, Vec<SeenNote>), Error> {
        let files = self.group_files()?;
        // Opening and parsing twenty thousand notes takes most of a second on one core.
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let share = files.len().div_ceil(threads).max(MIN_FILES_PER_THREAD);
        let read = |files: &[PathBuf]| {
            let (mut part, mut seen) = (VaultScan::default(), Vec::new());
            for file in files {
                match known {
                    Some(known) => self.scan_known_file(file, with_archive, known, &mut part, &mut seen),
                    None => self.scan_file(file, with_archive, &mut part),
                }
            }
            (part, seen)
        };
        let mut shares = files.chunks(share);
        let first = shares.next().unwrap_or_default();
        std::thread::scope(|scope| {
            let others: Vec<_> = shares.map(|files| scope.spawn(move || read(files))).collect();
            let (mut scan, mut seen) = read(first);
            for other in others {
                // Propagate a panic: its result cannot be trusted.
                let (part, more) = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                scan.entries.extend(part.entries);
                scan.problems.extend(part.problems);
                scan.conflicts.extend(part.conflicts);
                seen.extend(more);
            }
            Ok((scan, seen))
        })
    }

    /// Lists a file from the cache, or reads it and remembers it.
    fn scan_known_file(
        &self,
        file: &Path,
        with_archive: bool,
        known: &KnownScan,
        scan: &mut VaultScan,
        seen: &mut Vec<SeenNote>,
    ) {
        // Before the read: a concurrent change is newer and will be noticed.
        let identity = file.symlink_metadata().ok().map(|metadata| FileIdentity::from_metadata(&metadata));
        if let Some(note) = identity.and_then(|identity| known.note(file, identity)) {
            scan.entries.push(note.found());
            seen.push(note);
            return;
        }
        let before = scan.entries.len();
        self.scan_file(file, with_archive, scan);
        let read = scan.entries.get(before).zip(identity);
        seen.extend(read.and_then(|(found, identity)| known.remember(file, identity, found)));
    }

    /// The forgotten entries that exist again.
    pub fn returned_entries(&self) -> Result<Vec<VaultPath>, Error> {
        let graves = self.graveyard()?;
        if graves.is_empty() {
            return Ok(Vec::new());
        }
        let (scan, _) = self.walk_groups(true, None)?;
        let back = scan
            .entries
            .into_iter()
            .filter(|found| found.entry.id.as_ref().is_some_and(|id| graves.holds_entry(id)));
        Ok(back.map(|found| found.path).collect())
    }

    /// Our temporary files that are no longer in use. Valid only while no other command runs.
    pub fn abandoned_temporaries(&self) -> Result<Vec<PathBuf>, Error> {
        let files = all_files(self.folder()).map_err(Error::io("read", self.folder()))?;
        let ours = |file: &PathBuf| {
            file.file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(TEMPORARY_PREFIX.as_bytes()))
        };
        Ok(files.into_iter().filter(ours).collect())
    }

    /// Removes temporary files from before `before` in the vault and beside it. Takes the lock, which
    /// finishes interrupted changes.
    pub fn remove_temporaries(&self, before: SystemTime, now: &Zoned) -> Result<u64, Error> {
        let _writer = self.writer(now)?;
        let inside = disk::remove_temporaries(self.folder(), before, true);
        let inside = inside.map_err(Error::io("sweep", self.folder()))?;
        let beside = disk::remove_temporaries(&self.notes, before, false);
        Ok(inside + beside.map_err(Error::io("sweep", &self.notes))?)
    }

    /// All texts of the vault within the size limit, with their paths.
    pub fn all_texts(&self) -> Result<Vec<(VaultPath, String)>, Error> {
        let files = walk_files(self.folder()).map_err(Error::io("read", self.folder()))?;
        let mut texts = Vec::new();
        for file in files {
            let Some(path) = self.vault_path(&file) else { continue };
            if let FileContent::Bytes(bytes) =
                disk::read(&file, MAX_NOTE_BYTES).map_err(Error::io("read", &file))?
                && let Ok(text) = String::from_utf8(bytes)
            {
                texts.push((path, text));
            }
        }
        Ok(texts)
    }

    fn scan_file(&self, file: &Path, with_archive: bool, scan: &mut VaultScan) {
        let problem = |what: String| NoteProblem { path: file.to_owned(), message: what };
        let Some(path) = self.vault_path(file) else {
            scan.problems.push(problem("its name is not allowed on some systems".into()));
            return;
        };
        if !path.name().ends_with(".md") {
            return;
        }
        if is_conflict_copy(path.name()) {
            scan.conflicts.push(file.to_owned());
            return;
        }
        let shelf = layout::shelf_of(&path);
        if shelf == VaultShelf::Other || (shelf == VaultShelf::Archive && !with_archive) {
            return;
        }
        match read_head(file, &path) {
            Ok(head) => match ParsedNote::parse(&head) {
                Ok(note) => {
                    let (entry, title) = (EntryProperties::of(&note, &path), title(note.body(), &path));
                    scan.entries.push(ScannedEntry { path, shelf, entry, title });
                }
                Err(error) => scan.problems.push(problem(error.to_string())),
            },
            Err(what) => scan.problems.push(problem(what)),
        }
    }

    /// The vault path of a file below the vault.
    pub(crate) fn vault_path(&self, file: &Path) -> Option<VaultPath> {
        let parts: Option<Vec<&str>> =
            file.strip_prefix(self.folder()).ok()?.iter().map(std::ffi::OsStr::to_str).collect();
        VaultPath::parse(&parts?.join("/")).ok()
    }
}

/// All files below a folder. Links are not followed: their target is either inside and found there, or
/// outside and not ours. Hidden names belong to other programs.
pub(crate) fn walk_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    files_below(folder, |name| !name.starts_with(b"."), None)
}

/// [`walk_files`] without those below the folder `except`.
pub(crate) fn walk_files_except(folder: &Path, except: &Path) -> io::Result<Vec<PathBuf>> {
    files_below(folder, |name| !name.starts_with(b"."), Some(except))
}

/// All files below a folder, including hidden ones: a temporary file of ours may hold a forgotten text.
pub(crate) fn all_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    files_below(folder, |_| true, None)
}

fn files_below(
    folder: &Path,
    wanted: impl Fn(&[u8]) -> bool,
    except: Option<&Path>,
) -> io::Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for item in std::fs::read_dir(&folder)? {
            let item = item?;
            if !wanted(item.file_name().as_encoded_bytes()) {
                continue;
            }
            let kind = item.file_type()?;
            if kind.is_dir() {
                folders.extend(Some(item.path()).filter(|path| Some(path.as_path()) != except));
            } else if kind.is_file() {
                files.push(item.path());
            }
        }
    }
    Ok(files)
}

/// The first part of a note, cut at a character boundary.
fn read_head(file: &Path, path: &VaultPath) -> Result<String, String> {
    let reading = |error: io::Error| format!("could not read it: {error}");
    let mut opened = File::open(file).map_err(reading)?;
    let mut bytes = Vec::with_capacity(1024);
    opened.by_ref().take(FIRST_READ_BYTES).read_to_end(&mut bytes).map_err(reading)?;
    if bytes.len() as u64 == FIRST_READ_BYTES {
        opened.take(HEAD_BYTES - FIRST_READ_BYTES).read_to_end(&mut bytes).map_err(reading)?;
    }
    if bytes.len() as u64 == HEAD_BYTES {
        // The cut may have split a character.
        let whole =
            (0..4).map(|back| bytes.len() - back).find(|end| std::str::from_utf8(&bytes[..*end]).is_ok());
        bytes.truncate(whole.unwrap_or(bytes.len()));
    }
    text(path.as_str(), bytes).map_err(|error| match error {
        Error::NotText { line, .. } => format!("line {line}: not UTF-8 text"),
        other => other.to_string(),
    })
}

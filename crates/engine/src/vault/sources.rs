//! The note files that recall uses: listed without reading, and read one by one or in parallel.
//!
//! A file is named by its path below the notes, with `/`; files of the vault are below its folder's name,
//! even if that folder is a link. Other links are not followed: their target is either inside and found
//! there, or outside and not part of the notes. Outside the vault only the folders in `recall.notes` are
//! searched.

#[cfg(test)]
mod tests;

use std::fs::{DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::{TimeZone, Timestamp};
use rekindle_core::config::ReadNotes;
use rekindle_core::recall::collect::{self, CollectContext, MAX_FILE_BYTES};
use rekindle_core::recall::document::{Document, FileStamp, SourceUnit};
use rekindle_core::vault::lines::parse_lines;
use rekindle_core::vault::tombstone::Graveyard;

use crate::platform::disk::{self, FileContent};
use crate::vault::{Error, LogSummary, Vault, text};

/// The maximum depth of nested folders.
const MAX_DEPTH: usize = 64;
/// The maximum number of files; a folder with more was included by mistake.
const MAX_FILES: usize = 2_000_000;
/// The maximum number of threads. Reading notes is limited by memory, so more do not help.
const MAX_THREADS: usize = 4;
/// The number of files that a thread takes at a time; as many are read before another thread has started.
const FILES_PER_BATCH: usize = 32;
/// The number of files from which a second thread reads half of the metadata.
const MIN_PARALLEL_FILES: usize = 512;
/// The number of files whose metadata is read in one batch.
const MAX_PENDING_FILES: usize = 8192;
/// The maximum number of open folders: a process may often open only a thousand files.
const MAX_OPEN_FOLDERS: usize = 128;

/// A listed file, not read yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path below the notes, with `/`.
    pub path: String,
    /// The time of the last change, in nanoseconds since 1970.
    pub modified: i64,
    /// The length in bytes.
    pub size: u64,
}

/// The result of a walk.
#[derive(Clone, Debug)]
pub struct SourceListing<File> {
    /// The files, sorted by path.
    pub files: Vec<File>,
    /// The unreadable paths, with reasons.
    pub problems: SourceProblems,
}

/// Unreadable paths, each with the reason.
pub type SourceProblems = Vec<(String, String)>;

/// The paths of all files for recall: the vault's, and those below the notes that may be read. An unreadable
/// folder is reported as a problem, not as a failure.
pub fn names(vault: &Vault) -> Result<SourceListing<String>, Error> {
    let mut files = Vec::new();
    let walk =
        SourceWalk::walk_below(vault, |found, _| files.extend(found.into_iter().map(|(_, path)| path)))?;
    files.sort_unstable();
    Ok(SourceListing { files, problems: walk.problems })
}

/// The same files as [`names`], with time and size.
pub fn list(vault: &Vault) -> Result<SourceListing<SourceFile>, Error> {
    let mut files = Vec::new();
    let walk = SourceWalk::walk_below(vault, |found, problems| {
        for (metadata, (_, path)) in read_metadata(&found).into_iter().zip(found) {
            match metadata {
                Ok(metadata) if metadata.len() > MAX_FILE_BYTES => problems.push((path, too_large())),
                Ok(metadata) => {
                    files.push(SourceFile { modified: modified(&metadata), size: metadata.len(), path });
                }
                // The file was deleted meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => problems.push((path, format!("could not read it: {error}"))),
            }
        }
    })?;
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(SourceListing { files, problems: walk.problems })
}

fn too_large() -> String {
    format!("it is larger than {} MiB", MAX_FILE_BYTES >> 20)
}

#[derive(Default)]
struct SourceWalk {
    vault_folder: String,
    problems: SourceProblems,
    /// The folders to visit: location, path with a final `/`, and depth.
    folders: Vec<(PathBuf, String, usize)>,
    /// The files found, with their paths.
    files: Vec<(DirEntry, String)>,
    /// The number of folders that they keep open.
    open: usize,
    /// The total number of files found.
    count: usize,
}

impl SourceWalk {
    /// Passes all files below the notes to `take`, in batches, with the problems so far.
    fn walk_below(
        vault: &Vault,
        mut take: impl FnMut(Vec<(DirEntry, String)>, &mut SourceProblems),
    ) -> Result<Self, Error> {
        let mut walk = Self { vault_folder: vault.folder_name(), ..Self::default() };
        let vault_path = format!("{}/", walk.vault_folder);
        for (folder, path) in
            std::iter::once((vault.folder().to_owned(), vault_path)).chain(walk.walk_roots(vault))
        {
            std::fs::read_dir(&folder).map_err(Error::io("read", &folder))?;
            walk.folders.push((folder, path, 0));
            while let Some((folder, path, depth)) = walk.folders.pop() {
                if let Err(error) = walk.folder(&folder, &path, depth) {
                    walk.problems.push((path, format!("could not read it: {error}")));
                }
                if walk.files.len() >= MAX_PENDING_FILES || walk.open >= MAX_OPEN_FOLDERS {
                    take(std::mem::take(&mut walk.files), &mut walk.problems);
                    walk.open = 0;
                }
            }
        }
        take(std::mem::take(&mut walk.files), &mut walk.problems);
        Ok(walk)
    }

    /// The starting points outside the vault: all notes, or the folders that may be read.
    fn walk_roots(&mut self, vault: &Vault) -> Vec<(PathBuf, String)> {
        let ReadNotes::Folders(folders) = vault.readable_notes() else {
            return vec![(vault.notes().to_owned(), String::new())];
        };
        let mut begins: Vec<(PathBuf, String)> = Vec::new();
        for name in folders {
            let path = format!("{name}/");
            let is_below = |other: &String| other != name && path.starts_with(&format!("{other}/"));
            let is_known = begins.iter().any(|(_, known)| *known == path) || folders.iter().any(is_below);
            // The vault is walked separately.
            if is_known
                || in_vault(name, &self.vault_folder)
                || !collect::is_recallable(&path, &self.vault_folder)
            {
                continue;
            }
            match folder_of(vault, &self.vault_folder, name).filter(|folder| folder.is_dir()) {
                Some(folder) => begins.push((folder, path)),
                None => {
                    self.problems
                        .push((path, "recall.notes names it, but there is no such folder".to_owned()));
                }
            }
        }
        begins
    }

    fn folder(&mut self, folder: &Path, path: &str, depth: usize) -> io::Result<()> {
        self.open += 1;
        for item in std::fs::read_dir(folder)? {
            let item = item?;
            let Ok(name) = item.file_name().into_string() else {
                let what = "its name is not UTF-8 text".to_owned();
                self.problems.push((format!("{path}{}", item.file_name().to_string_lossy()), what));
                continue;
            };
            let kind = item.file_type()?;
            // The vault was walked separately.
            let is_vault = path.is_empty() && name == self.vault_folder;
            let below = format!("{path}{name}{}", if kind.is_dir() { "/" } else { "" });
            if is_vault || !collect::is_recallable(&below, &self.vault_folder) {
                continue;
            }
            if kind.is_dir() && depth < MAX_DEPTH {
                self.folders.push((item.path(), below, depth + 1));
            } else if kind.is_dir() {
                self.problems.push((below, format!("folders are nested more than {MAX_DEPTH} deep here")));
            } else if kind.is_file() {
                self.count += 1;
                match self.count.saturating_sub(MAX_FILES) {
                    0 => self.files.push((item, below)),
                    // Report it only once.
                    1 => self
                        .problems
                        .push((below, format!("there are more than {MAX_FILES} files; the rest is skipped"))),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// Reads the metadata of a batch of files.
fn read_metadata(files: &[(DirEntry, String)]) -> Vec<io::Result<Metadata>> {
    let look =
        |files: &[(DirEntry, String)]| files.iter().map(|(file, _)| file.metadata()).collect::<Vec<_>>();
    if files.len() < MIN_PARALLEL_FILES {
        return look(files);
    }
    let (one, other) = files.split_at(files.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| look(other));
        let mut all = look(one);
        all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        all
    })
}

/// Reads one file. A unit without documents means that the file is gone, not for recall, or unreadable.
pub fn read(vault: &Vault, path: &str) -> Result<SourceUnit, Error> {
    Ok(SourceReader::new(vault)?.read(path, &mut FolderCache::default()).0)
}

/// The documents added to a daily log since `before`, if the log has only grown up to the stamp `now`; `None`
/// if it must be read as a whole.
pub fn read_appended(
    vault: &Vault,
    path: &str,
    before: &FileStamp,
    now: ContentHash,
) -> Result<Option<SourceUnit>, Error> {
    let vault_folder = vault.folder_name();
    let Some(file) = file_of(vault, &vault_folder, path) else { return Ok(None) };
    let io = Error::io("read", &file);
    let Some(metadata) = plain_file(&file).map_err(io)? else { return Ok(None) };
    let stamp = FileStamp { modified: modified(&metadata), size: metadata.len(), hash: now };
    let is_that = |whole: &LogSummary| (whole.hash, whole.size) == (now, stamp.size);
    let Some(whole) = vault.logs.summarise_log(&file)?.filter(is_that) else { return Ok(None) };
    if stamp.size > MAX_FILE_BYTES || before.size == 0 || before.size > stamp.size {
        return Ok(None);
    }
    let Some(added) = disk::read_after(&file, before.size).map_err(Error::io("read", &file))? else {
        return Ok(None);
    };
    let Ok(added) = std::str::from_utf8(&added) else { return Ok(None) };
    let lines_before = whole.lines.saturating_sub(parse_lines(added).lines.len());
    let SourceReader { graves, zone, .. } = &SourceReader::new(vault)?;
    let modified = Timestamp::from_nanosecond(i128::from(stamp.modified)).ok();
    let context = CollectContext { zone, modified, graves };
    let documents = collect::collect_appended(path, &vault_folder, added, lines_before, &context);
    Ok(documents.map(|documents| SourceUnit { path: path.to_owned(), stamp: Some(stamp), documents }))
}

/// Reads many files in parallel, passes each to `make`, and returns the problems. Every requested file has a
/// unit, in the requested order; an unreadable one counts as deleted. Each thread has its own `With`. `go_on`
/// regularly receives the number of files read, and may return false to stop.
pub fn read_many<T: Send, With: Default>(
    vault: &Vault,
    paths: &[&str],
    make: impl Fn(SourceUnit, &mut With) -> T + Sync,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> (Vec<T>, SourceProblems) {
    let reader = match SourceReader::new(vault) {
        Ok(reader) => reader,
        // Without the list of forgotten texts nothing may be shown.
        Err(error) => {
            let refused = |path: &&str| ((*path).to_owned(), error.to_string());
            return (Vec::new(), paths.iter().map(refused).collect());
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    // Each thread takes the next batch when it is done, because file sizes and CPU time vary.
    let shares = Mutex::new(Some(paths.chunks(FILES_PER_BATCH).enumerate()));
    let waiting = || shares.lock().unwrap_or_else(PoisonError::into_inner);
    let done = AtomicUsize::new(0);
    let read = |go_on: &mut dyn FnMut(usize) -> bool| {
        let (mut beside, mut with, mut all) = (FolderCache::default(), With::default(), Vec::new());
        let next = || waiting().as_mut().and_then(Iterator::next);
        while let Some((place, share)) = next() {
            let one = |path: &&str| {
                let (unit, problem) = reader.read(path, &mut beside);
                (make(unit, &mut with), problem.map(|what| ((*path).to_owned(), what)))
            };
            all.push((place, share.iter().map(one).collect::<Vec<_>>()));
            let so_far = done.fetch_add(share.len(), Ordering::Relaxed) + share.len();
            if !go_on(so_far) {
                *waiting() = None;
            }
        }
        all
    };
    let mut all = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(paths.len().div_ceil(FILES_PER_BATCH)))
            .map(|_| scope.spawn(|| read(&mut |_| true)))
            .collect();
        let mut all = read(go_on);
        for other in others {
            // Propagate a panic: its result cannot be trusted.
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    all.sort_unstable_by_key(|(place, _)| *place);
    let mut problems = Vec::new();
    let made = all.into_iter().flat_map(|(_, share)| share).map(|(made, problem)| {
        problems.extend(problem);
        made
    });
    (made.collect(), problems)
}

/// True if a path below the notes is the vault folder or inside it.
fn in_vault(path: &str, vault_folder: &str) -> bool {
    path.strip_prefix(vault_folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// True if a file may be read: it is in the vault, or in a folder that the user allows.
pub fn is_readable(vault: &Vault, path: &str) -> bool {
    in_vault(path, &vault.folder_name()) || vault.readable_notes().is_readable(path)
}

/// True if a file is unchanged since `stamp`: by time and size, or by content if only the time differs. False
/// if it may no longer be read.
pub fn is_unchanged(vault: &Vault, path: &str, stamp: &FileStamp) -> bool {
    let file = file_of(vault, &vault.folder_name(), path).filter(|_| is_readable(vault, path));
    let Some(file) = file else { return false };
    match plain_file(&file) {
        Ok(Some(metadata)) if metadata.len() == stamp.size => {
            modified(&metadata) == stamp.modified
                || matches!(disk::read(&file, MAX_FILE_BYTES), Ok(FileContent::Bytes(bytes)) if ContentHash::of_bytes(&bytes) == stamp.hash)
        }
        _ => false,
    }
}

/// The context for reading files.
struct SourceReader<'a> {
    vault: &'a Vault,
    vault_folder: String,
    graves: Graveyard,
    zone: &'a TimeZone,
}

impl<'a> SourceReader<'a> {
    fn new(vault: &'a Vault) -> Result<Self, Error> {
        Ok(Self { vault, vault_folder: vault.folder_name(), graves: vault.graveyard()?, zone: vault.zone() })
    }

    /// Reads a file's unit, and the problem if there was one.
    fn read(&self, path: &str, beside: &mut FolderCache) -> (SourceUnit, Option<String>) {
        let unit = |stamp, documents| SourceUnit { path: path.to_owned(), stamp, documents };
        if !collect::is_recallable(path, &self.vault_folder) || !is_readable(self.vault, path) {
            return (unit(None, Vec::new()), None);
        }
        match self.bytes(path, beside) {
            Ok(Some((stamp, bytes))) => match self.documents(path, &stamp, bytes) {
                Ok(documents) => (unit(Some(stamp), documents), None),
                // The stamp prevents another read of the same broken file.
                Err(what) => (unit(Some(stamp), Vec::new()), Some(what)),
            },
            Ok(None) => (unit(None, Vec::new()), None),
            Err(what) => (unit(None, Vec::new()), Some(what)),
        }
    }

    /// The stamp and bytes of a file; `None` if it does not exist.
    fn bytes(&self, path: &str, beside: &mut FolderCache) -> Result<Option<(FileStamp, Vec<u8>)>, String> {
        let Some(file) = beside.file(self.vault, &self.vault_folder, path) else { return Ok(None) };
        let failed = |error: io::Error| format!("could not read it: {error}");
        // The metadata is from before the read: a concurrent change is newer than the stamp and will be
        // noticed.
        let Some((metadata, bytes)) = disk::read_regular_file(&file, MAX_FILE_BYTES).map_err(failed)? else {
            let is_large = plain_file(&file).map_err(failed)?.is_some_and(|file| file.len() > MAX_FILE_BYTES);
            return if is_large { Err(too_large()) } else { Ok(None) };
        };
        let hash = ContentHash::of_bytes(&bytes);
        Ok(Some((FileStamp { modified: modified(&metadata), size: metadata.len(), hash }, bytes)))
    }

    fn documents(&self, path: &str, stamp: &FileStamp, bytes: Vec<u8>) -> Result<Vec<Document>, String> {
        let text = text(path, bytes).map_err(|error| match error {
            Error::NotText { line, .. } => format!("line {line}: not UTF-8 text"),
            error => error.to_string(),
        })?;
        let modified = Timestamp::from_nanosecond(i128::from(stamp.modified)).ok();
        let context = CollectContext { zone: self.zone, modified, graves: &self.graves };
        Ok(collect::documents(path, &self.vault_folder, &text, &context))
    }
}

/// The file of a path; `None` if it could be outside.
fn file_of(vault: &Vault, vault_folder: &str, path: &str) -> Option<PathBuf> {
    FolderCache::default().file(vault, vault_folder, path)
}

/// A cache of the last folder: the next file is usually in the same one.
#[derive(Default)]
struct FolderCache {
    path: Option<String>,
    folder: Option<PathBuf>,
}

impl FolderCache {
    fn file(&mut self, vault: &Vault, vault_folder: &str, path: &str) -> Option<PathBuf> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if self.path.as_deref() != Some(folder) {
            self.folder = folder_of(vault, vault_folder, folder);
            self.path = Some(folder.to_owned());
        }
        is_safe_component(name).then_some(self.folder.as_ref()?.join(name))
    }
}

/// True if a part of a path stays inside its folder.
fn is_safe_component(part: &str) -> bool {
    !part.is_empty() && part != "." && part != ".." && !(cfg!(windows) && part.contains(['\\', ':']))
}

/// The folder of a path; `None` if it could be outside.
fn folder_of(vault: &Vault, vault_folder: &str, path: &str) -> Option<PathBuf> {
    if path.is_empty() {
        return Some(vault.notes().to_owned());
    }
    let mut parts = path.split('/').peekable();
    let mut folder = match parts.next_if(|first| *first == vault_folder) {
        Some(_) => vault.folder().to_owned(),
        None => vault.notes().to_owned(),
    };
    for part in parts {
        if !is_safe_component(part) {
            return None;
        }
        folder.push(part);
        // Files behind a link are listed at their real path.
        if std::fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_symlink()) {
            return None;
        }
    }
    Some(folder)
}

/// True if a file has the time and the size of this stamp.
pub fn has_stamp(file: &Path, stamp: &FileStamp) -> bool {
    let is_same = |metadata: Metadata| (modified(&metadata), metadata.len()) == (stamp.modified, stamp.size);
    plain_file(file).is_ok_and(|found| found.is_some_and(is_same))
}

/// The metadata of a regular file; `None` if it does not exist or is a link, folder or device.
fn plain_file(file: &Path) -> io::Result<Option<Metadata>> {
    match std::fs::symlink_metadata(file) {
        Ok(metadata) => Ok(metadata.is_file().then_some(metadata)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The time of a file's last change, in nanoseconds since 1970; 0 if unknown.
fn modified(metadata: &Metadata) -> i64 {
    let Ok(time) = metadata.modified() else { return 0 };
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
    }
}

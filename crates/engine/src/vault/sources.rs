//! The files of the notes that can be recalled from: found without being read, and read one by one or many at once.
//!
//! A file goes by its path below the notes, with `/`; those of the vault are below its folder's name, wherever that
//! folder really is. Links are not followed: what they point at is either inside, and found there, or outside, and not
//! the person's notes. Outside the vault only the folders that `recall.notes` names are looked into.

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
use rekindle_core::recall::collect::{self, Context, MAX_FILE_BYTES};
use rekindle_core::recall::document::{Document, Stamp, Unit};
use rekindle_core::vault::lines::walk;
use rekindle_core::vault::tombstone::Graveyard;

use crate::platform::disk::{self, Content};
use crate::vault::{Error, Vault, Whole, text};

/// Nobody nests notes deeper.
const MAX_DEPTH: usize = 64;
/// Nobody keeps more notes; a folder with more is something else that got in by mistake.
const MAX_FILES: usize = 500_000;
/// Reading notes waits on memory more than on the processor; more threads than this bring nothing.
const MAX_THREADS: usize = 4;
/// Files that a thread takes at a time; as many are read before another has started.
const SHARE: usize = 32;
/// From so many files on, a second thread looks at half of them.
const LOOKED_AT_TOGETHER: usize = 512;
/// So many files are looked at at a time.
const LOOKED_AT: usize = 8192;
/// So many folders may be open meanwhile: a process may have a thousand files, often no more.
const OPEN_AT_MOST: usize = 128;

/// A file that can be recalled from, unread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Below the notes, with `/`.
    pub path: String,
    /// When it was last changed, in nanoseconds since 1970.
    pub modified: i64,
    /// Its length in bytes.
    pub size: u64,
}

/// What a walk found.
#[derive(Clone, Debug)]
pub struct Listing<File> {
    /// The files, by path.
    pub files: Vec<File>,
    /// What could not be listed, and why.
    pub problems: Problems,
}

/// Files, and why there is nothing to be had from them.
pub type Problems = Vec<(String, String)>;

/// The paths of all files that can be recalled from: the vault's, and those below the notes that may be read. What cannot be looked into is a problem, not a failure.
pub fn names(vault: &Vault) -> Result<Listing<String>, Error> {
    let mut files = Vec::new();
    let walk = Walk::below(vault, |found, _| files.extend(found.into_iter().map(|(_, path)| path)))?;
    files.sort_unstable();
    Ok(Listing { files, problems: walk.problems })
}

/// The same files, and since when each is what it is.
pub fn list(vault: &Vault) -> Result<Listing<Listed>, Error> {
    let mut files = Vec::new();
    let walk = Walk::below(vault, |found, problems| {
        for (metadata, (_, path)) in look(&found).into_iter().zip(found) {
            match metadata {
                Ok(metadata) if metadata.len() > MAX_FILE_BYTES => problems.push((path, too_large())),
                Ok(metadata) => {
                    files.push(Listed { modified: modified(&metadata), size: metadata.len(), path });
                }
                // It went away while we looked.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => problems.push((path, format!("it could not be read: {error}"))),
            }
        }
    })?;
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(Listing { files, problems: walk.problems })
}

fn too_large() -> String {
    format!("it is larger than {} MiB", MAX_FILE_BYTES >> 20)
}

#[derive(Default)]
struct Walk {
    vault_folder: String,
    problems: Problems,
    /// Folders to look into: where they are, their path with a `/` at its end, and how deep they are.
    folders: Vec<(PathBuf, String, usize)>,
    /// Files that were found, and their paths.
    files: Vec<(DirEntry, String)>,
    /// How many folders they keep open.
    open: usize,
    /// How many files were found in all.
    count: usize,
}

impl Walk {
    /// Hands all files below the notes to `take`, some at a time, together with what could not be looked into so far.
    fn below(
        vault: &Vault,
        mut take: impl FnMut(Vec<(DirEntry, String)>, &mut Problems),
    ) -> Result<Self, Error> {
        let mut walk = Self { vault_folder: vault.folder_name(), ..Self::default() };
        let vault_path = format!("{}/", walk.vault_folder);
        for (folder, path) in
            std::iter::once((vault.folder().to_owned(), vault_path)).chain(walk.begins(vault))
        {
            std::fs::read_dir(&folder).map_err(Error::io("read", &folder))?;
            walk.folders.push((folder, path, 0));
            while let Some((folder, path, depth)) = walk.folders.pop() {
                if let Err(error) = walk.folder(&folder, &path, depth) {
                    walk.problems.push((path, format!("it could not be read: {error}")));
                }
                if walk.files.len() >= LOOKED_AT || walk.open >= OPEN_AT_MOST {
                    take(std::mem::take(&mut walk.files), &mut walk.problems);
                    walk.open = 0;
                }
            }
        }
        take(std::mem::take(&mut walk.files), &mut walk.problems);
        Ok(walk)
    }

    /// Where to begin outside the vault: the notes as a whole, or the folders that may be read.
    fn begins(&mut self, vault: &Vault) -> Vec<(PathBuf, String)> {
        let ReadNotes::Folders(folders) = vault.readable() else {
            return vec![(vault.notes().to_owned(), String::new())];
        };
        let mut begins: Vec<(PathBuf, String)> = Vec::new();
        for name in folders {
            let path = format!("{name}/");
            let is_below = |other: &String| other != name && path.starts_with(&format!("{other}/"));
            let is_known = begins.iter().any(|(_, known)| *known == path) || folders.iter().any(is_below);
            // The vault is walked anyway.
            if is_known
                || in_vault(name, &self.vault_folder)
                || !collect::is_wanted(&path, &self.vault_folder)
            {
                continue;
            }
            match folder_of(vault, &self.vault_folder, name).filter(|folder| folder.is_dir()) {
                Some(folder) => begins.push((folder, path)),
                None => {
                    self.problems
                        .push((path, "recall.notes names it, and there is no such folder".to_owned()));
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
            // The vault was walked by itself.
            let is_vault = path.is_empty() && name == self.vault_folder;
            let below = format!("{path}{name}{}", if kind.is_dir() { "/" } else { "" });
            if is_vault || !collect::is_wanted(&below, &self.vault_folder) {
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
                    // Once is enough.
                    1 => self.problems.push((
                        below,
                        format!("there are more than {MAX_FILES} files; the rest is left out"),
                    )),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// When they were changed and how large they are.
fn look(files: &[(DirEntry, String)]) -> Vec<io::Result<Metadata>> {
    let look =
        |files: &[(DirEntry, String)]| files.iter().map(|(file, _)| file.metadata()).collect::<Vec<_>>();
    if files.len() < LOOKED_AT_TOGETHER {
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

/// Reads one file. Without documents: it is gone, it is not one that can be recalled from, or it cannot be read.
pub fn read(vault: &Vault, path: &str) -> Result<Unit, Error> {
    Ok(Reader::new(vault)?.read(path, &mut Beside::default()).0)
}

/// What a daily log has more than it had when `before` was its stamp, if it is what `now` says and nothing but grown; `None`
/// if it has to be read as a whole.
pub fn read_grown(
    vault: &Vault,
    path: &str,
    before: &Stamp,
    now: ContentHash,
) -> Result<Option<Unit>, Error> {
    let vault_folder = vault.folder_name();
    let Some(file) = file_of(vault, &vault_folder, path) else { return Ok(None) };
    let io = Error::io("read", &file);
    let Some(metadata) = plain_file(&file).map_err(io)? else { return Ok(None) };
    let stamp = Stamp { modified: modified(&metadata), size: metadata.len(), hash: now };
    let is_that = |whole: &Whole| (whole.hash, whole.size) == (now, stamp.size);
    let Some(whole) = vault.logs.whole(&file)?.filter(is_that) else { return Ok(None) };
    if stamp.size > MAX_FILE_BYTES || before.size == 0 || before.size > stamp.size {
        return Ok(None);
    }
    let Some(added) = disk::behind(&file, before.size).map_err(Error::io("read", &file))? else {
        return Ok(None);
    };
    let Ok(added) = std::str::from_utf8(&added) else { return Ok(None) };
    let lines_before = whole.lines.saturating_sub(walk(added).lines.len());
    let Reader { graves, zone, .. } = &Reader::new(vault)?;
    let modified = Timestamp::from_nanosecond(i128::from(stamp.modified)).ok();
    let context = Context { zone, modified, graves };
    let documents = collect::added_to_log(path, &vault_folder, added, lines_before, &context);
    Ok(documents.map(|documents| Unit { path: path.to_owned(), stamp: Some(stamp), documents }))
}

/// Reads many files, makes something of each, and says which could not be read, and why. Every file that was asked for has
/// its unit, in the order they were asked for; one that could not be read is like one that is gone. Whoever reads has
/// something of its own to make things with. `go_on` is told now and then how many are read; if it says no, that is where it
/// ends.
pub fn read_many<T: Send, With: Default>(
    vault: &Vault,
    paths: &[&str],
    make: impl Fn(Unit, &mut With) -> T + Sync,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> (Vec<T>, Problems) {
    let reader = match Reader::new(vault) {
        Ok(reader) => reader,
        // Without knowing what was forgotten, nothing may be shown.
        Err(error) => {
            let refused = |path: &&str| ((*path).to_owned(), error.to_string());
            return (Vec::new(), paths.iter().map(refused).collect());
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    // Whoever is done takes the next few: files are of any length, and processors are not always there.
    let shares = Mutex::new(Some(paths.chunks(SHARE).enumerate()));
    let waiting = || shares.lock().unwrap_or_else(PoisonError::into_inner);
    let done = AtomicUsize::new(0);
    let read = |go_on: &mut dyn FnMut(usize) -> bool| {
        let (mut beside, mut with, mut all) = (Beside::default(), With::default(), Vec::new());
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
        let others: Vec<_> = (1..threads.min(paths.len().div_ceil(SHARE)))
            .map(|_| scope.spawn(|| read(&mut |_| true)))
            .collect();
        let mut all = read(go_on);
        for other in others {
            // A reader that panicked has read nothing that could be trusted.
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

/// Whether a path below the notes is the vault folder or inside it.
fn in_vault(path: &str, vault_folder: &str) -> bool {
    path.strip_prefix(vault_folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a file may be read: it is in the vault, or in a folder that the person lets us read.
pub fn is_readable(vault: &Vault, path: &str) -> bool {
    in_vault(path, &vault.folder_name()) || vault.readable().allows(path)
}

/// Whether a file is as it was when `stamp` was made: by time and size, and by its content where only the time differs. One
/// that may not be read any more is not.
pub fn is_unchanged(vault: &Vault, path: &str, stamp: &Stamp) -> bool {
    let file = file_of(vault, &vault.folder_name(), path).filter(|_| is_readable(vault, path));
    let Some(file) = file else { return false };
    match plain_file(&file) {
        Ok(Some(metadata)) if metadata.len() == stamp.size => {
            modified(&metadata) == stamp.modified
                || matches!(disk::read(&file, MAX_FILE_BYTES), Ok(Content::Bytes(bytes)) if ContentHash::of(&bytes) == stamp.hash)
        }
        _ => false,
    }
}

/// What reading any file takes.
struct Reader<'a> {
    vault: &'a Vault,
    vault_folder: String,
    graves: Graveyard,
    zone: &'a TimeZone,
}

impl<'a> Reader<'a> {
    fn new(vault: &'a Vault) -> Result<Self, Error> {
        Ok(Self { vault, vault_folder: vault.folder_name(), graves: vault.graveyard()?, zone: vault.zone() })
    }

    /// A file's unit, and what was wrong with it.
    fn read(&self, path: &str, beside: &mut Beside) -> (Unit, Option<String>) {
        let unit = |stamp, documents| Unit { path: path.to_owned(), stamp, documents };
        if !collect::is_wanted(path, &self.vault_folder) || !is_readable(self.vault, path) {
            return (unit(None, Vec::new()), None);
        }
        match self.bytes(path, beside) {
            Ok(Some((stamp, bytes))) => match self.documents(path, &stamp, bytes) {
                Ok(documents) => (unit(Some(stamp), documents), None),
                // With its stamp it is not read again and again.
                Err(what) => (unit(Some(stamp), Vec::new()), Some(what)),
            },
            Ok(None) => (unit(None, Vec::new()), None),
            Err(what) => (unit(None, Vec::new()), Some(what)),
        }
    }

    /// `None` if there is no such file.
    fn bytes(&self, path: &str, beside: &mut Beside) -> Result<Option<(Stamp, Vec<u8>)>, String> {
        let Some(file) = beside.file(self.vault, &self.vault_folder, path) else { return Ok(None) };
        let failed = |error: io::Error| format!("it could not be read: {error}");
        // Looked at before it is read: what changes meanwhile is newer than the stamp and will be noticed.
        let Some((metadata, bytes)) = disk::read_plain(&file, MAX_FILE_BYTES).map_err(failed)? else {
            let is_large = plain_file(&file).map_err(failed)?.is_some_and(|file| file.len() > MAX_FILE_BYTES);
            return if is_large { Err(too_large()) } else { Ok(None) };
        };
        let hash = ContentHash::of(&bytes);
        Ok(Some((Stamp { modified: modified(&metadata), size: metadata.len(), hash }, bytes)))
    }

    fn documents(&self, path: &str, stamp: &Stamp, bytes: Vec<u8>) -> Result<Vec<Document>, String> {
        let text = text(path, bytes).map_err(|error| match error {
            Error::NotText { line, .. } => format!("line {line}: not UTF-8 text"),
            error => error.to_string(),
        })?;
        let modified = Timestamp::from_nanosecond(i128::from(stamp.modified)).ok();
        let context = Context { zone: self.zone, modified, graves: &self.graves };
        Ok(collect::documents(path, &self.vault_folder, &text, &context))
    }
}

/// The file that a path means; `None` if it could be one outside.
fn file_of(vault: &Vault, vault_folder: &str, path: &str) -> Option<PathBuf> {
    Beside::default().file(vault, vault_folder, path)
}

/// The folder that was looked at last: the next file is mostly in the same one.
#[derive(Default)]
struct Beside {
    path: Option<String>,
    folder: Option<PathBuf>,
}

impl Beside {
    fn file(&mut self, vault: &Vault, vault_folder: &str, path: &str) -> Option<PathBuf> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if self.path.as_deref() != Some(folder) {
            self.folder = folder_of(vault, vault_folder, folder);
            self.path = Some(folder.to_owned());
        }
        is_plain(name).then_some(self.folder.as_ref()?.join(name))
    }
}

/// A part of a path that stays where it is.
fn is_plain(part: &str) -> bool {
    !part.is_empty() && part != "." && part != ".." && !(cfg!(windows) && part.contains(['\\', ':']))
}

/// The folder that a path means; `None` if it could be one outside.
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
        if !is_plain(part) {
            return None;
        }
        folder.push(part);
        // What is behind a link is listed where it really is.
        if std::fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_symlink()) {
            return None;
        }
    }
    Some(folder)
}

/// The metadata of a file that is no link, folder or device; `None` if there is none.
fn plain_file(file: &Path) -> io::Result<Option<Metadata>> {
    match std::fs::symlink_metadata(file) {
        Ok(metadata) => Ok(metadata.is_file().then_some(metadata)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// When a file was last changed, in nanoseconds since 1970; 0 where the system does not know.
fn modified(metadata: &Metadata) -> i64 {
    let Ok(time) = metadata.modified() else { return 0 };
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
    }
}

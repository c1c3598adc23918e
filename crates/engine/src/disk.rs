//! The few ways a file may be written. Every one leaves either the old bytes or the new, never something between,
//! whenever the process is killed. `clippy.toml` shuts the other ways.
#![expect(clippy::disallowed_methods, reason = "this is the room that may write, rename and remove")]

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rekindle_core::hash::{ContentHash, Hashing};

/// How much of a large file is in memory at a time.
const PIECE: usize = 64 * 1024;

/// Makes a folder and those above it, for the owner only (SEC-01). Folders that exist keep their mode; the names of
/// those that do not are on the disk when this returns.
pub fn make_folder(path: &Path) -> io::Result<()> {
    let made: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    let parents =
        made.iter().filter_map(|folder| folder.parent()).filter(|folder| !folder.as_os_str().is_empty());
    parents.rev().try_for_each(sync_folder)
}

/// For the owner only (SEC-01).
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Makes an empty file for the owner only, unless there is one already. For programs that open files their own way.
pub fn make_private(path: &Path) -> io::Result<()> {
    match private(OpenOptions::new().write(true).create_new(true)).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    }
}

/// What [`read`] found.
#[derive(Debug)]
pub enum Content {
    /// No such file.
    Missing,
    /// The whole file.
    Bytes(Vec<u8>),
    /// More than was asked for: its size.
    TooLarge(u64),
    /// A folder, a device, a pipe: opening it could hang.
    NotAFile,
}

/// Reads a file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Content> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::Missing),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Ok(Content::NotAFile);
    }
    if metadata.len() > limit {
        return Ok(Content::TooLarge(metadata.len()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(limit)).unwrap_or(0) + 1);
    match File::open(path) {
        Ok(file) => file.take(limit + 1).read_to_end(&mut bytes)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::Missing),
        Err(error) => return Err(error),
    };
    Ok(if bytes.len() as u64 > limit { Content::TooLarge(metadata.len()) } else { Content::Bytes(bytes) })
}

/// Reads a file of at most `limit` bytes that is no link, with what the system said of it before; `None` for anything
/// else, or if there is none.
pub fn read_plain(path: &Path, limit: u64) -> io::Result<Option<(Metadata, Vec<u8>)>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        // Opening a pipe must not wait for somebody to write into it.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    if std::fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Ok(None);
    }
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        // A link, where links are not followed.
        #[cfg(unix)]
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > limit {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some((metadata, bytes)))
}

/// The hash of a file of any size; `None` if there is none.
pub fn hash(path: &Path) -> io::Result<Option<ContentHash>> {
    hash_of_first(path, u64::MAX)
}

/// The hash of the first bytes of a file; `None` if there is none.
pub fn hash_of_first(path: &Path, bytes: u64) -> io::Result<Option<ContentHash>> {
    let mut file = match File::open(path) {
        Ok(file) => file.take(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let (mut hashing, mut chunk) = (Hashing::default(), vec![0; PIECE]);
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(Some(hashing.so_far())),
            Ok(read) => hashing.add(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads a file in pieces of whole lines, whatever its size; the last one may lack its end. `each` may end it.
pub fn each_piece(file: &mut impl Read, mut each: impl FnMut(&[u8]) -> io::Result<bool>) -> io::Result<()> {
    let (mut buffer, mut held) = (vec![0; PIECE], 0);
    loop {
        if held == buffer.len() {
            buffer.resize(held * 2, 0);
        }
        let read = match file.read(&mut buffer[held..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return if held == 0 { Ok(()) } else { each(&buffer[..held]).map(drop) };
        }
        // What was held before has no end of a line.
        let end = buffer[held..held + read].iter().rposition(|byte| *byte == b'\n').map(|at| held + at + 1);
        held += read;
        if let Some(end) = end {
            if !each(&buffer[..end])? {
                return Ok(());
            }
            buffer.copy_within(end..held, 0);
            held -= end;
        }
    }
}

/// What stands behind the first `at` bytes of a file; `None` if those are not whole lines.
pub fn behind(path: &Path, at: u64) -> io::Result<Option<Vec<u8>>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(at.saturating_sub(1)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes.strip_prefix(b"\n").map(<[u8]>::to_vec))
}

/// Which file this is and how it stands: another one, or one that somebody wrote to, differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its device and number, where the system has such.
    file: (u64, u64),
    /// Its length.
    pub size: u64,
    /// When it was last written, and when anything about it was last changed.
    times: (Option<SystemTime>, (i64, i64)),
}

impl Identity {
    /// Of what the system says about a file.
    pub fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let (file, changed) = {
            use std::os::unix::fs::MetadataExt;
            ((metadata.dev(), metadata.ino()), (metadata.ctime(), metadata.ctime_nsec()))
        };
        #[cfg(not(unix))]
        let (file, changed) = ((0, 0), (0, 0));
        Self { file, size: metadata.len(), times: (metadata.modified().ok(), changed) }
    }

    /// Whether it is the same file, whatever was done to it.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.file == other.file
    }
}

/// Adds bytes behind the first `at` bytes of a file, in its place, and waits until they are on the disk. Somebody who was
/// killed may have added some of them already. If the file ends in anything else, nothing has happened; what could not be
/// added whole is taken back.
pub fn append(path: &Path, at: u64, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    let changed = || io::Error::new(io::ErrorKind::InvalidData, "somebody changed it meanwhile");
    let there = begun(&mut file, at, bytes)?.ok_or_else(changed)?;
    let written = file.write_all(&bytes[there..]).and_then(|()| file.sync_data());
    if written.is_err() && begun(&mut file, at, bytes)?.is_some() {
        file.set_len(at)?;
        file.sync_data()?;
    }
    written?;
    // An editor that put a new file in its place while we wrote left us with one that has no name any more.
    let named = std::fs::metadata(path)?;
    match Identity::of(&named).is_same_file(&Identity::of(&file.metadata()?)) {
        true => Ok(()),
        false => Err(changed()),
    }
}

/// How many of these bytes stand behind the first `at` bytes of a file; `None` if something else does, or if it is shorter.
pub fn appended(path: &Path, at: u64, bytes: &[u8]) -> io::Result<Option<usize>> {
    match File::open(path) {
        Ok(mut file) => begun(&mut file, at, bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn begun(file: &mut File, at: u64, bytes: &[u8]) -> io::Result<Option<usize>> {
    let more = file.metadata()?.len().checked_sub(at).and_then(|more| usize::try_from(more).ok());
    let Some(wanted) = more.and_then(|more| bytes.get(..more)) else { return Ok(None) };
    let mut there = vec![0; wanted.len()];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut there)?;
    Ok((there == wanted).then_some(wanted.len()))
}

/// Takes back what [`append`] has added, unless somebody wrote behind it.
pub fn cut(path: &Path, at: u64, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    if begun(&mut file, at, bytes)?.is_some() {
        file.set_len(at)?;
        file.sync_data()?;
    }
    Ok(())
}

/// Whether anything, even a dangling link, has this name.
pub fn is_taken(path: &Path) -> io::Result<bool> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes a new file and waits until it is on the disk. With `like`, it takes that file's mode.
pub fn stage(path: &Path, bytes: &[u8], like: Option<&Path>) -> io::Result<()> {
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(path)?;
    file.write_all(bytes)?;
    if let Some(original) = like {
        file.set_permissions(std::fs::metadata(original)?.permissions())?;
    }
    file.sync_all()
}

/// Gives a staged file its name, unless the name is taken: then `AlreadyExists`, and nothing has happened.
pub fn publish(staged: &Path, target: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, staged, CWD, target, RenameFlags::NOREPLACE) {
            Err(error) if is_unsupported(error) => {}
            other => return Ok(other?),
        }
    }
    // A hard link refuses a taken name as well; the two names then briefly mean one file.
    match std::fs::hard_link(staged, target) {
        Ok(()) => std::fs::remove_file(staged),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) if is_taken(target)? => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(staged, target),
    }
}

/// Lets two files change places, so that what was at `target` can be looked at before it is given up. Where the
/// system cannot, the target is first kept under `staged`'s name by a copy beside it.
pub fn exchange(staged: &Path, target: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, staged, CWD, target, RenameFlags::EXCHANGE) {
            Err(error) if is_unsupported(error) => {}
            other => return Ok(other?),
        }
    }
    let aside = target.with_extension("rekindle-aside");
    stage(&aside, &std::fs::read(target)?, Some(target))?;
    std::fs::rename(staged, target)?;
    std::fs::rename(&aside, staged)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn is_unsupported(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP].contains(&error)
}

/// Waits until the names in a folder are on the disk.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    // Windows has no way to sync a folder; its renames are ordered by the file system's own journal.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// Removes a file; one that is not there is as good.
pub fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Removes a file after overwriting its bytes, as far as the file system writes in place. The name goes first: no
/// reader may ever see the zeros.
pub fn shred(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else { return remove(path) };
    let hidden = free_name(folder, SHREDDING)?;
    match std::fs::rename(path, &hidden) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    }
    sync_folder(folder)?;
    let mut file = OpenOptions::new().write(true).open(&hidden)?;
    let mut left = file.metadata()?.len();
    let zeros = [0u8; 8192];
    while left > 0 {
        let chunk = left.min(zeros.len() as u64);
        file.write_all(&zeros[..usize::try_from(chunk).unwrap_or(zeros.len())])?;
        left -= chunk;
    }
    file.sync_all()?;
    drop(file);
    std::fs::remove_file(&hidden)?;
    sync_folder(folder)
}

/// Replaces a machine's own file (configuration, registry) as a whole.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    let staged = free_name(folder, "write-")?;
    let like = path.exists().then_some(path);
    stage(&staged, bytes, like).and_then(|()| std::fs::rename(&staged, path)).inspect_err(|_| {
        // The error that brought us here is the one to report; a left-over is swept by `doctor`.
        remove(&staged).unwrap_or_default();
    })?;
    sync_folder(folder)
}

/// Writes a machine's own file as a whole, unless the name is taken: then `AlreadyExists`, and nothing has happened.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    let staged = free_name(folder, "write-")?;
    stage(&staged, bytes, None).and_then(|()| publish(&staged, path)).inspect_err(|_| {
        // As above.
        remove(&staged).unwrap_or_default();
    })?;
    sync_folder(folder)
}

/// Writes a new small file without waiting for the disk, for what is also written elsewhere.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    private(OpenOptions::new().write(true).create_new(true)).open(path)?.write_all(bytes)
}

/// Replaces a file whose old bytes must not stay on the disk. If somebody changed it since `old` was read, their
/// version is put back, and the answer is `false`.
pub fn replace_shredding(path: &Path, old: &[u8], new: &[u8]) -> io::Result<bool> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let staged = free_name(folder, REPLACING)?;
    stage(&staged, new, Some(path))?;
    exchange(&staged, path)?;
    let ours = std::fs::read(&staged)? == old;
    if !ours {
        exchange(&staged, path)?;
    }
    sync_folder(folder)?;
    shred(&staged)?;
    Ok(ours)
}

/// Replaces somebody else's file, keeping its mode. If it is not `old` any more, it is left as it is, and the answer is
/// `false`.
pub fn replace_unchanged(path: &Path, old: &[u8], new: &[u8]) -> io::Result<bool> {
    if std::fs::read(path)? != old {
        return Ok(false);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let staged = free_name(folder, "write-")?;
    let replaced = stage(&staged, new, Some(path)).and_then(|()| {
        exchange(&staged, path)?;
        if std::fs::read(&staged)? == old {
            return Ok(true);
        }
        // What came out is newer than what we knew, so it goes back, until what comes out is what we had put there.
        let mut ours = new.to_vec();
        loop {
            let theirs = std::fs::read(&staged)?;
            exchange(&staged, path)?;
            if std::fs::read(&staged)? == ours {
                return Ok(false);
            }
            ours = theirs;
        }
    });
    // Whatever happened, what is under the other name is nobody's any more.
    remove(&staged)?;
    let unchanged = replaced?;
    sync_folder(folder)?;
    Ok(unchanged)
}

/// Removes somebody else's file. If it is not `old` any more, it is left as it is, and the answer is `false`.
pub fn remove_unchanged(path: &Path, old: &[u8]) -> io::Result<bool> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let aside = free_name(folder, "remove-")?;
    std::fs::rename(path, &aside)?;
    let unchanged = std::fs::read(&aside)? == old;
    match unchanged {
        true => remove(&aside)?,
        // Should somebody have put a new one there meanwhile, that is the newer.
        false => match publish(&aside, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove(&aside)?,
            other => other?,
        },
    }
    sync_folder(folder)?;
    Ok(unchanged)
}

/// Removes a folder if nothing is in it; one that is not there is as good.
pub fn remove_empty_folder(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {
            Ok(())
        }
        other => other,
    }
}

/// Moves a file of ours that cannot be used any more out of the way. An earlier one there is replaced.
pub fn set_aside(path: &Path, aside: &Path) -> io::Result<()> {
    std::fs::rename(path, aside)
}

/// Opens a lock file and holds its lock until the file is dropped. Waits at most `patience` for another holder, then
/// fails with `TimedOut`: a process that was stopped in the middle must not stop this one for ever.
pub fn lock(path: &Path, patience: Duration) -> io::Result<File> {
    const NAP: Duration = Duration::from_millis(2);
    let file = private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path)?;
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if waited >= patience => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds it"));
            }
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(NAP);
                waited += NAP;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Rewrites a small file of ours in its place, under its own lock and without waiting for the disk, for what only matters
/// for a moment: whoever is killed here may leave something between. `change` sees what stands there and may leave it.
/// Whether it was changed.
pub fn revise(
    path: &Path,
    patience: Duration,
    change: impl FnOnce(&str) -> Option<String>,
) -> io::Result<bool> {
    const MOST: u64 = 64 * 1024;
    let mut file = lock(path, patience)?;
    let mut old = Vec::new();
    (&mut file).take(MOST).read_to_end(&mut old)?;
    let Some(new) = change(&String::from_utf8_lossy(&old)) else { return Ok(false) };
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(new.as_bytes())?;
    Ok(true)
}

/// The beginning of the name of every temporary file of ours; note apps hide names that begin with a dot.
pub const TEMPORARY: &str = ".rekindle-";

/// Part of the temporary name of a file that is being shredded.
pub const SHREDDING: &str = "shred-";
/// Part of the temporary name of a file that is being replaced and whose old bytes must go.
pub const REPLACING: &str = "replace-";

fn free_name(folder: &Path, purpose: &str) -> io::Result<PathBuf> {
    let mut random = [0u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(folder.join(format!("{TEMPORARY}{purpose}{:016x}.tmp", u64::from_le_bytes(random))))
}

/// A file that only grows, one whole line at a time.
#[derive(Debug)]
pub struct Lines {
    file: File,
}

impl Lines {
    /// Opens it for reading and appending, made for the owner if it is not there. A last line without an end is
    /// what a crash left of a write that was never acknowledged: it is cut off.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = private(OpenOptions::new().read(true).append(true).create(true)).open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        if length > 0 {
            let mut last = [0u8];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                let whole = last_newline(&mut file, length)?;
                file.set_len(whole)?;
            }
        }
        Ok(Self { file })
    }

    /// Adds a line. `durable` waits until it is on the disk. A line that fails half-way is taken back.
    pub fn append(&mut self, line: &str, durable: bool) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        let written = self.file.write_all(line.as_bytes()).and_then(|()| match durable {
            true => self.file.sync_data(),
            false => Ok(()),
        });
        if written.is_err() {
            self.file.set_len(before)?;
        }
        written
    }
}

/// The end of the last whole line before `length`.
fn last_newline(file: &mut File, length: u64) -> io::Result<u64> {
    let mut end = length;
    while end > 0 {
        let start = end.saturating_sub(8192);
        let mut chunk = vec![0; usize::try_from(end - start).unwrap_or(0)];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut chunk)?;
        if let Some(at) = chunk.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// The lines of a file from the last to the first, without reading what nobody asks for.
pub struct BackwardLines {
    file: File,
    /// Everything before this offset is still unread.
    unread: u64,
    /// What was read and not yet handed out, as it stands in the file.
    buffer: Vec<u8>,
}

impl BackwardLines {
    /// `None` if there is no such file.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let unread = file.metadata()?.len();
        Ok(Some(Self { file, unread, buffer: Vec::new() }))
    }

    fn fill(&mut self) -> io::Result<()> {
        let size = self.unread.min(64 * 1024);
        self.unread -= size;
        let mut chunk = vec![0; usize::try_from(size).unwrap_or(0)];
        self.file.seek(SeekFrom::Start(self.unread))?;
        self.file.read_exact(&mut chunk)?;
        chunk.append(&mut self.buffer);
        self.buffer = chunk;
        Ok(())
    }
}

impl Iterator for BackwardLines {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let body = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
            if let Some(at) = body.iter().rposition(|byte| *byte == b'\n') {
                let line = body[at + 1..].to_vec();
                self.buffer.truncate(at + 1);
                return Some(Ok(line));
            }
            if self.unread == 0 {
                let line = body.to_vec();
                self.buffer.clear();
                return (!line.is_empty()).then_some(Ok(line));
            }
            if let Err(error) = self.fill() {
                self.unread = 0;
                self.buffer.clear();
                return Some(Err(error));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn publish_never_replaces() {
        let folder = folder();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        stage(&a, b"ours", None).unwrap();
        stage(&b, b"theirs", None).unwrap();
        assert_eq!(publish(&a, &b).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&b).unwrap(), b"theirs");
        publish(&a, &folder.path().join("c")).unwrap();
        assert!(!a.exists());
    }

    #[test]
    fn log_01_bytes_are_added_once_and_never_behind_something_else() {
        let folder = folder();
        let path = folder.path().join("log.md");
        let is = |text: &str| assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        std::fs::write(&path, "one\n").unwrap();
        append(&path, 4, b"two\n").unwrap();
        is("one\ntwo\n");
        append(&path, 4, b"two\n").unwrap();
        is("one\ntwo\n");
        // Killed in the middle of it.
        std::fs::write(&path, "one\ntw").unwrap();
        assert_eq!(appended(&path, 4, b"two\n").unwrap(), Some(2));
        append(&path, 4, b"two\n").unwrap();
        is("one\ntwo\n");
        // Somebody wrote there, or took something away.
        for text in ["one\nmine\n", "one\ntwo\nmine\n", "on"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(append(&path, 4, b"two\n").unwrap_err().kind(), io::ErrorKind::InvalidData);
            cut(&path, 4, b"two\n").unwrap();
            is(text);
        }
        std::fs::write(&path, "one\ntwo\n").unwrap();
        cut(&path, 4, b"two\n").unwrap();
        is("one\n");
    }

    #[test]
    fn a_file_comes_in_pieces_of_whole_lines() {
        for (lines, length) in [(0, 1), (1, 10), (5000, 40), (3, 3 * PIECE), (2, PIECE)] {
            for end in ["", "\n"] {
                let text = vec!["x".repeat(length); lines].join("\n") + end;
                let mut pieces: Vec<Vec<u8>> = Vec::new();
                each_piece(&mut text.as_bytes(), |piece| {
                    pieces.push(piece.to_vec());
                    Ok(true)
                })
                .unwrap();
                assert_eq!(pieces.concat(), text.as_bytes());
                let (_, whole) = pieces.split_last().unwrap_or((&Vec::new(), &[]));
                assert!(whole.iter().all(|piece| piece.ends_with(b"\n")));
            }
        }
    }

    #[test]
    fn write_new_never_replaces_and_leaves_nothing_behind() {
        let folder = folder();
        let path = folder.path().join("deep/f");
        write_new(&path, b"1").unwrap();
        assert_eq!(write_new(&path, b"2").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&path).unwrap(), b"1");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn b_15_what_somebody_else_has_changed_is_left_to_them() {
        let folder = folder();
        let path = folder.path().join("settings.json");
        std::fs::write(&path, "theirs").unwrap();
        assert!(!replace_unchanged(&path, b"old", b"new").unwrap());
        assert!(!remove_unchanged(&path, b"old").unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
        assert!(replace_unchanged(&path, b"theirs", b"new").unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        remove_empty_folder(folder.path()).unwrap();
        assert!(remove_unchanged(&path, b"new").unwrap());
        remove_empty_folder(folder.path()).unwrap();
        assert!(!folder.path().exists());
    }

    #[test]
    fn b_15_an_edit_of_somebody_else_is_never_lost_to_ours() {
        let folder = folder();
        let path = folder.path().join("settings.json");
        std::fs::write(&path, "0").unwrap();
        // They write as editors do: a whole new file takes the name.
        let theirs = || {
            for edit in 1..=2000 {
                let beside = folder.path().join("editing");
                std::fs::write(&beside, edit.to_string()).unwrap();
                std::fs::rename(&beside, &path).unwrap();
            }
        };
        let tried = std::thread::scope(|scope| {
            let editor = scope.spawn(theirs);
            let mut tried = 0;
            while !editor.is_finished() {
                let old = std::fs::read_to_string(&path).unwrap();
                let edit = old.split(' ').next().unwrap();
                let new = format!("{edit} and ours");
                // Whether it was ours that came through is a matter of luck here.
                replace_unchanged(&path, old.as_bytes(), new.as_bytes()).unwrap();
                tried += 1;
            }
            tried
        });
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("2000"), "their last edit");
        assert!(tried > 0, "the editor was done before we began");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_over_the_limit_is_not_read() {
        let folder = folder();
        let path = folder.path().join("f");
        // Sparse: reading it would take a while.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(matches!(read(&path, 10).unwrap(), Content::TooLarge(1_099_511_627_776)));
    }

    #[cfg(unix)]
    #[test]
    fn sec_01_what_we_make_is_private_and_what_was_there_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        make_folder(&folder.path().join("x/y")).unwrap();
        assert_eq!(mode(&folder.path().join("x/y")), 0o700);
        let file = folder.path().join("f");
        write_whole(&file, b"1").unwrap();
        assert_eq!(mode(&file), 0o600);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        write_whole(&file, b"2").unwrap();
        assert_eq!((mode(&file), std::fs::read(&file).unwrap()), (0o644, b"2".to_vec()));
    }

    #[test]
    fn a_torn_last_line_is_cut_off() {
        let folder = folder();
        let path = folder.path().join("log");
        std::fs::write(&path, "one\ntwo\nthr").unwrap();
        let mut lines = Lines::open(&path).unwrap();
        lines.append("four\n", true).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\nfour\n");
    }

    #[test]
    fn lines_come_from_the_last_to_the_first() {
        let folder = folder();
        let path = folder.path().join("log");
        let lines: Vec<String> = (0..5000).map(|n| format!("{n} {}", "x".repeat(n % 97))).collect();
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let back: Vec<String> = BackwardLines::open(&path)
            .unwrap()
            .unwrap()
            .map(|line| String::from_utf8(line.unwrap()).unwrap())
            .collect();
        assert!(back.iter().eq(lines.iter().rev()));
        assert!(BackwardLines::open(&folder.path().join("none")).unwrap().is_none());
    }

    #[test]
    fn shred_leaves_no_name() {
        let folder = folder();
        let path = folder.path().join("f");
        std::fs::write(&path, vec![7; 20_000]).unwrap();
        shred(&path).unwrap();
        shred(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

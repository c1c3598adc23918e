//! The permitted ways to write a file. Each is atomic: after a kill the file holds the old bytes or the new,
//! never a mix. `clippy.toml` forbids all other ways.
#![expect(clippy::disallowed_methods, reason = "this is the room that may write, rename and remove")]

mod append_only;
mod lines;

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;

pub use append_only::{
    FileIdentity, append, each_piece, hash_of_first, read_after, undo_append, verify_appended,
};
pub use lines::{BackwardLines, LineFile};

/// Creates a folder and its parents, for the owner only (SEC-01). Existing folders keep their mode; the names
/// of new ones are on the disk when this returns.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
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

/// Restricts a new file to the owner (SEC-01).
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Creates an empty file for the owner only, unless it exists. For libraries that open files themselves.
pub fn create_private_file(path: &Path) -> io::Result<()> {
    match private(OpenOptions::new().write(true).create_new(true)).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    }
}

/// The result of [`read`].
#[derive(Debug)]
pub enum FileContent {
    /// The file does not exist.
    Missing,
    /// The content of the whole file.
    Bytes(Vec<u8>),
    /// The file is larger than the limit: its size.
    TooLarge(u64),
    /// A folder, a device or a pipe: opening it could hang.
    NotAFile,
}

/// Reads a file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<FileContent> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FileContent::Missing),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Ok(FileContent::NotAFile);
    }
    if metadata.len() > limit {
        return Ok(FileContent::TooLarge(metadata.len()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(limit)).unwrap_or(0) + 1);
    match File::open(path) {
        Ok(file) => file.take(limit + 1).read_to_end(&mut bytes)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FileContent::Missing),
        Err(error) => return Err(error),
    };
    Ok(if bytes.len() as u64 > limit {
        FileContent::TooLarge(metadata.len())
    } else {
        FileContent::Bytes(bytes)
    })
}

/// The time of the last change of a file's content, name or properties, which no program can set; as the time since 1970.
/// `None` if the file cannot be read or the system does not keep this time.
#[cfg(unix)]
pub fn change_time(path: &Path) -> Option<Duration> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::symlink_metadata(path).ok()?;
    let (seconds, nanoseconds) = (metadata.ctime().try_into().ok()?, metadata.ctime_nsec().try_into().ok()?);
    Some(Duration::new(seconds, nanoseconds))
}

/// Other systems do not keep this time.
#[cfg(not(unix))]
pub fn change_time(_: &Path) -> Option<Duration> {
    None
}

/// Reads a regular file into the beginning of a buffer, which grows as needed, with fewer system calls than [`read`].
/// Returns its length; `None` if it has more than `limit` bytes or does not exist.
pub fn read_into(path: &Path, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
    const BLOCK: usize = 64 << 10;
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut length = 0;
    loop {
        // Many files share a buffer, so it is not cleared for each.
        if length == buffer.len() {
            buffer.resize(length + BLOCK, 0);
        }
        let count = file.read(&mut buffer[length..])?;
        length += count;
        if count == 0 || length as u64 > limit {
            return Ok((count == 0).then_some(length));
        }
    }
}

/// Reads a file of at most `limit` bytes that is not a link, with its metadata before the read; `None` for
/// anything else.
pub fn read_regular_file(path: &Path, limit: u64) -> io::Result<Option<(Metadata, Vec<u8>)>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        // Opening a pipe must not wait for a writer.
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
        // The path is a link, and links are not followed.
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
    let mut bytes = vec![0; usize::try_from(metadata.len()).unwrap_or(0) + 1];
    // One call suffices if the file is as long as its metadata said; the spare byte of the buffer proves it.
    let first = (&file).read(&mut bytes)?;
    bytes.truncate(first);
    if first as u64 != metadata.len() {
        file.take((limit + 1).saturating_sub(first as u64)).read_to_end(&mut bytes)?;
    }
    Ok((bytes.len() as u64 <= limit).then_some((metadata, bytes)))
}

/// The hash of a file of any size; `None` if it does not exist.
pub fn hash(path: &Path) -> io::Result<Option<ContentHash>> {
    hash_of_first(path, u64::MAX)
}

/// True if anything, even a dangling link, has this name.
pub fn name_exists(path: &Path) -> io::Result<bool> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes a new file and waits until it is on the disk. It takes the mode of the file `like`, if given.
pub fn stage_file(path: &Path, bytes: &[u8], like: Option<&Path>) -> io::Result<()> {
    stage_with(path, &mut |file| file.write_all(bytes), like)
}

fn stage_with(
    path: &Path,
    write: &mut dyn FnMut(&mut File) -> io::Result<()>,
    like: Option<&Path>,
) -> io::Result<()> {
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(path)?;
    write(&mut file)?;
    if let Some(original) = like {
        file.set_permissions(std::fs::metadata(original)?.permissions())?;
    }
    file.sync_all()
}

/// Gives a staged file its final name. If the name is taken, it fails with `AlreadyExists` and changes
/// nothing.
pub fn publish(staged: &Path, target: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, staged, CWD, target, RenameFlags::NOREPLACE) {
            Err(error) if is_unsupported(error) => {}
            other => return Ok(other?),
        }
    }
    // A hard link refuses a taken name as well; both names then briefly mean the same file.
    match std::fs::hard_link(staged, target) {
        Ok(()) => std::fs::remove_file(staged),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) if name_exists(target)? => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(staged, target),
    }
}

/// Exchanges two files, so that the caller can check the old `target` before it is deleted. If the system
/// cannot do this, a copy of the target first takes `staged`'s name.
pub fn swap_files(staged: &Path, target: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, staged, CWD, target, RenameFlags::EXCHANGE) {
            Err(error) if is_unsupported(error) => {}
            other => return Ok(other?),
        }
    }
    let aside = target.with_extension("rekindle-aside");
    stage_file(&aside, &std::fs::read(target)?, Some(target))?;
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
    // Windows cannot sync a folder; the file system's journal orders its renames.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// Removes a file. A missing file is no error.
pub fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Removes a file after overwriting its bytes, as far as the file system writes in place. It is renamed
/// first, so that no reader sees the zeros.
pub fn shred(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else { return remove(path) };
    let hidden = free_name(folder, SHREDDING_PREFIX)?;
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

/// Bytes to write into a file: the offset, and the new bytes.
pub type FileEdit = (u64, Vec<u8>);

/// Overwrites parts of one of our own files in place and waits until they are on the disk. A missing file is no error.
/// The edits of a killed process are incomplete, so its caller must have recorded them elsewhere.
pub fn overwrite(path: &Path, edits: &[FileEdit]) -> io::Result<()> {
    let mut file = match OpenOptions::new().write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for (offset, bytes) in edits {
        file.seek(io::SeekFrom::Start(*offset))?;
        file.write_all(bytes)?;
    }
    file.sync_all()
}

/// Replaces one of our own files (configuration, registry) atomically.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_atomic_with(path, &mut |file| file.write_all(bytes))
}

/// Replaces a file like [`write_atomic`], for data too large for memory.
pub fn write_atomic_with(path: &Path, write: &mut dyn FnMut(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_private_folder(folder)?;
    let staged = free_name(folder, "write-")?;
    let like = path.exists().then_some(path);
    stage_with(&staged, write, like).and_then(|()| std::fs::rename(&staged, path)).inspect_err(|_| {
        remove(&staged).ignore_failure("the first error is reported; `doctor` sweeps the left-over");
    })?;
    sync_folder(folder)
}

/// Writes one of our own files atomically. If the name is taken, it fails with `AlreadyExists` and changes
/// nothing.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_private_folder(folder)?;
    let staged = free_name(folder, "write-")?;
    stage_file(&staged, bytes, None).and_then(|()| publish(&staged, path)).inspect_err(|_| {
        remove(&staged).ignore_failure("the first error is reported; `doctor` sweeps the left-over");
    })?;
    sync_folder(folder)
}

/// Writes a small new file without waiting for the disk, for data that also exists elsewhere.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    private(OpenOptions::new().write(true).create_new(true)).open(path)?.write_all(bytes)
}

/// Replaces a file whose old bytes must not stay on the disk. If the file changed since `old` was read, the
/// newer version is put back and the result is `false`.
pub fn replace_shredding(path: &Path, old: &[u8], new: &[u8]) -> io::Result<bool> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let staged = free_name(folder, REPLACING_PREFIX)?;
    stage_file(&staged, new, Some(path))?;
    swap_files(&staged, path)?;
    let ours = std::fs::read(&staged)? == old;
    if !ours {
        swap_files(&staged, path)?;
    }
    sync_folder(folder)?;
    shred(&staged)?;
    Ok(ours)
}

/// Replaces a file of the user, keeping its mode. If it is no longer `old`, it stays unchanged and the result
/// is `false`.
pub fn replace_unchanged(path: &Path, old: &[u8], new: &[u8]) -> io::Result<bool> {
    if std::fs::read(path)? != old {
        return Ok(false);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let staged = free_name(folder, "write-")?;
    let replaced = stage_file(&staged, new, Some(path)).and_then(|()| {
        swap_files(&staged, path)?;
        if std::fs::read(&staged)? == old {
            return Ok(true);
        }
        // The exchanged file is newer than `old`, so put it back, and repeat until we get our own version
        // out.
        let mut ours = new.to_vec();
        loop {
            let theirs = std::fs::read(&staged)?;
            swap_files(&staged, path)?;
            if std::fs::read(&staged)? == ours {
                return Ok(false);
            }
            ours = theirs;
        }
    });
    // The file under the temporary name is no longer needed in any case.
    remove(&staged)?;
    let unchanged = replaced?;
    sync_folder(folder)?;
    Ok(unchanged)
}

/// Removes a file of the user. If it is no longer `old`, it stays unchanged and the result is `false`.
pub fn remove_unchanged(path: &Path, old: &[u8]) -> io::Result<bool> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let aside = free_name(folder, REMOVING_PREFIX)?;
    std::fs::rename(path, &aside)?;
    let unchanged = std::fs::read(&aside)? == old;
    match unchanged {
        true => remove(&aside)?,
        // If a new file took the name meanwhile, that one is newer.
        false => match publish(&aside, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove(&aside)?,
            other => other?,
        },
    }
    sync_folder(folder)?;
    Ok(unchanged)
}

/// Removes a folder if it is empty. A missing folder is no error.
pub fn remove_empty_folder(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {
            Ok(())
        }
        other => other,
    }
}

/// Changes the permissions of a file or folder of ours.
#[cfg(unix)]
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

/// Systems without modes have nothing to change.
#[cfg(not(unix))]
pub fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// Removes a scratch folder of ours with everything in it. A missing folder is no error. A process that is about
/// to end may still write there, so it is tried more than once.
pub fn remove_scratch(path: &Path) -> io::Result<()> {
    const ATTEMPTS: u32 = 20;
    const PAUSE: Duration = Duration::from_millis(50);
    let mut result = Ok(());
    for _ in 0..ATTEMPTS {
        result = match std::fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other,
        };
        if result.is_ok() {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    result
}

/// Moves an unusable file of ours aside. An earlier one there is replaced.
pub fn move_aside(path: &Path, aside: &Path) -> io::Result<()> {
    std::fs::rename(path, aside)
}

/// Opens a lock file and holds its lock until the file is dropped. Waits at most `patience` for another
/// holder, then fails with `TimedOut`: a stopped process must not stop this one for ever.
pub fn lock(path: &Path, patience: Duration) -> io::Result<File> {
    const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(2);
    let file = private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path)?;
    // Reading a pipe would wait for a writer that never comes.
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if waited >= patience => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds it"));
            }
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(LOCK_POLL_INTERVAL);
                waited += LOCK_POLL_INTERVAL;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Rewrites a small file of ours in place, under its own lock and without waiting for the disk, for
/// short-lived data: a kill here may leave a partial write. `change` gets the old text and may decline.
/// Returns true if the file was changed.
pub fn update_locked(
    path: &Path,
    patience: Duration,
    change: impl FnOnce(&str) -> Option<String>,
) -> io::Result<bool> {
    const MAX_STATE_FILE_BYTES: u64 = 64 * 1024;
    let mut file = lock(path, patience)?;
    let mut old = Vec::new();
    (&mut file).take(MAX_STATE_FILE_BYTES).read_to_end(&mut old)?;
    let Some(new) = change(&String::from_utf8_lossy(&old)) else { return Ok(false) };
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(new.as_bytes())?;
    Ok(true)
}

/// The prefix of the names of our temporary files; note apps hide names that begin with a dot.
pub const TEMPORARY_PREFIX: &str = ".rekindle-";

/// The name part of a temporary file that is being shredded.
pub const SHREDDING_PREFIX: &str = "shred-";
/// The name part of a temporary file that replaces one whose old bytes must go.
pub const REPLACING_PREFIX: &str = "replace-";

/// The name part of a temporary file of the user that is being removed: it may hold their latest version.
const REMOVING_PREFIX: &str = "remove-";

/// Removes the temporary files in a folder that were last written before `before`: the processes that made
/// them were killed (MNT-08). `deep` includes subfolders. Returns the number of files removed.
pub fn remove_temporaries(folder: &Path, before: SystemTime, deep: bool) -> io::Result<u64> {
    let (mut swept, mut folders) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let items = match std::fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            items => items?,
        };
        for item in items {
            let item = item?;
            let kind = item.file_type()?;
            if deep && kind.is_dir() {
                folders.push(item.path());
            }
            let Some(purpose) = item.file_name().to_str().and_then(temporary_purpose).map(str::to_owned)
            else {
                continue;
            };
            // A file that is gone meanwhile is fine.
            let is_old = |metadata: Metadata| metadata.modified().is_ok_and(|modified| modified < before);
            if purpose.starts_with(REMOVING_PREFIX) || !kind.is_file() || !item.metadata().is_ok_and(is_old) {
                continue;
            }
            match purpose.starts_with(SHREDDING_PREFIX) || purpose.starts_with(REPLACING_PREFIX) {
                true => shred(&item.path())?,
                false => remove(&item.path())?,
            }
            swept += 1;
        }
    }
    Ok(swept)
}

/// The purpose part of a temporary file's name; `None` for other names.
fn temporary_purpose(name: &str) -> Option<&str> {
    name.strip_prefix(TEMPORARY_PREFIX)?.strip_suffix(".tmp")
}

fn free_name(folder: &Path, purpose: &str) -> io::Result<PathBuf> {
    let mut random = [0u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(folder.join(format!("{TEMPORARY_PREFIX}{purpose}{:016x}.tmp", u64::from_le_bytes(random))))
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
        stage_file(&a, b"ours", None).unwrap();
        stage_file(&b, b"theirs", None).unwrap();
        assert_eq!(publish(&a, &b).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&b).unwrap(), b"theirs");
        publish(&a, &folder.path().join("c")).unwrap();
        assert!(!a.exists());
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
    fn b_15_concurrently_changed_files_are_not_overwritten() {
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
        // Write as editors do: rename a whole new file over the old one.
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
                // Either writer may win here.
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
    fn mnt_08_old_temporary_files_are_swept_and_young_ones_stay() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("deep")).unwrap();
        let old = [".rekindle-write-1.tmp", "deep/.rekindle-01ABC-0.tmp", ".rekindle-shred-2.tmp"];
        let kept = [".rekindle-remove-3.tmp", "note.md", ".rekindle.toml"];
        for name in old.iter().chain(&kept) {
            std::fs::write(at(name), "x").unwrap();
        }
        let modified = std::fs::metadata(at("note.md")).unwrap().modified().unwrap();
        let day = Duration::from_secs(24 * 3600);
        assert_eq!(remove_temporaries(folder.path(), modified - day, true).unwrap(), 0);
        assert_eq!(remove_temporaries(folder.path(), modified + day, false).unwrap(), 2);
        assert_eq!(remove_temporaries(folder.path(), modified + day, true).unwrap(), 1);
        assert!(old.iter().all(|name| !at(name).exists()) && kept.iter().all(|name| at(name).exists()));
        assert_eq!(remove_temporaries(&at("missing"), modified, true).unwrap(), 0);
    }

    #[test]
    fn a_file_over_the_limit_is_not_read() {
        let folder = folder();
        let path = folder.path().join("f");
        // A sparse file: reading it would take a while.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(matches!(read(&path, 10).unwrap(), FileContent::TooLarge(1_099_511_627_776)));
    }

    #[cfg(unix)]
    #[test]
    fn sec_01_what_we_make_is_private_and_what_was_there_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        create_private_folder(&folder.path().join("x/y")).unwrap();
        assert_eq!(mode(&folder.path().join("x/y")), 0o700);
        let file = folder.path().join("f");
        write_atomic(&file, b"1").unwrap();
        assert_eq!(mode(&file), 0o600);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        write_atomic(&file, b"2").unwrap();
        assert_eq!((mode(&file), std::fs::read(&file).unwrap()), (0o644, b"2".to_vec()));
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

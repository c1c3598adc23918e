//! The few ways a file may be written. Every one leaves either the old bytes or the new, never something between,
//! whenever the process is killed. `clippy.toml` shuts the other ways.
#![expect(clippy::disallowed_methods, reason = "this is the room that may write, rename and remove")]

mod growing;
mod lines;

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rekindle_core::base::hash::ContentHash;

pub use growing::{Identity, append, appended, behind, cut, each_piece, hash_of_first};
pub use lines::{BackwardLines, Lines};

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
    let mut bytes = vec![0; usize::try_from(metadata.len()).unwrap_or(0) + 1];
    // One call where the file is as long as the system said, which one byte less than there is room for tells.
    let first = (&file).read(&mut bytes)?;
    bytes.truncate(first);
    if first as u64 != metadata.len() {
        file.take((limit + 1).saturating_sub(first as u64)).read_to_end(&mut bytes)?;
    }
    Ok((bytes.len() as u64 <= limit).then_some((metadata, bytes)))
}

/// The hash of a file of any size; `None` if there is none.
pub fn hash(path: &Path) -> io::Result<Option<ContentHash>> {
    hash_of_first(path, u64::MAX)
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
    write_whole_with(path, &mut |file| file.write_all(bytes))
}

/// The same, for what is too much to be in memory as a whole.
pub fn write_whole_with(path: &Path, write: &mut dyn FnMut(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    let staged = free_name(folder, "write-")?;
    let like = path.exists().then_some(path);
    stage_with(&staged, write, like).and_then(|()| std::fs::rename(&staged, path)).inspect_err(|_| {
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
    let aside = free_name(folder, REMOVING)?;
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

/// Part of the temporary name of somebody else's file that is being removed: it may hold what they wrote last.
const REMOVING: &str = "remove-";

/// Removes the temporary files in a folder that are from before `before`: whoever made them was killed (MNT-08). `deep` looks
/// into the folders in it as well. Says how many went.
pub fn sweep_temporaries(folder: &Path, before: SystemTime, deep: bool) -> io::Result<u64> {
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
            // One that is gone meanwhile is as good.
            let is_old = |metadata: Metadata| metadata.modified().is_ok_and(|modified| modified < before);
            if purpose.starts_with(REMOVING) || !kind.is_file() || !item.metadata().is_ok_and(is_old) {
                continue;
            }
            match purpose.starts_with(SHREDDING) || purpose.starts_with(REPLACING) {
                true => shred(&item.path())?,
                false => remove(&item.path())?,
            }
            swept += 1;
        }
    }
    Ok(swept)
}

/// What a temporary file of ours is for, if the name is one of such a file.
fn temporary_purpose(name: &str) -> Option<&str> {
    name.strip_prefix(TEMPORARY)?.strip_suffix(".tmp")
}

fn free_name(folder: &Path, purpose: &str) -> io::Result<PathBuf> {
    let mut random = [0u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(folder.join(format!("{TEMPORARY}{purpose}{:016x}.tmp", u64::from_le_bytes(random))))
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
        assert_eq!(sweep_temporaries(folder.path(), modified - day, true).unwrap(), 0);
        assert_eq!(sweep_temporaries(folder.path(), modified + day, false).unwrap(), 2);
        assert_eq!(sweep_temporaries(folder.path(), modified + day, true).unwrap(), 1);
        assert!(old.iter().all(|name| !at(name).exists()) && kept.iter().all(|name| at(name).exists()));
        assert_eq!(sweep_temporaries(&at("missing"), modified, true).unwrap(), 0);
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
    fn shred_leaves_no_name() {
        let folder = folder();
        let path = folder.path().join("f");
        std::fs::write(&path, vec![7; 20_000]).unwrap();
        shred(&path).unwrap();
        shred(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

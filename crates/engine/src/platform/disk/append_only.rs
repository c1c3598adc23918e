//! Append-only files that are too long to be read at once.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::SystemTime;

use rekindle_core::base::hash::{ContentHash, ContentHasher};

/// The size of the read buffer.
const READ_BLOCK_BYTES: usize = 64 * 1024;

/// The hash of the first bytes of a file; `None` if the file does not exist.
pub fn hash_of_first(path: &Path, bytes: u64) -> io::Result<Option<ContentHash>> {
    let mut file = match File::open(path) {
        Ok(file) => file.take(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let (mut hashing, mut chunk) = (ContentHasher::default(), vec![0; READ_BLOCK_BYTES]);
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(Some(hashing.current())),
            Ok(read) => hashing.add(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads a file of any size in pieces of whole lines; the last line may lack its newline. `each` may stop it.
pub fn each_piece(file: &mut impl Read, mut each: impl FnMut(&[u8]) -> io::Result<bool>) -> io::Result<()> {
    let (mut buffer, mut held) = (vec![0; READ_BLOCK_BYTES], 0);
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
        // The bytes held from the last read contain no newline.
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

/// The bytes behind the first `at` bytes of a file; `None` if those are not whole lines.
pub fn read_after(path: &Path, at: u64) -> io::Result<Option<Vec<u8>>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(at.saturating_sub(1)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes.strip_prefix(b"\n").map(<[u8]>::to_vec))
}

/// The identity and state of a file: it changes if the file is replaced or written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    /// The device and inode number, if the system has them.
    file: (u64, u64),
    /// The length in bytes.
    pub size: u64,
    /// The time of the last write, and of the last change of metadata.
    times: (Option<SystemTime>, (i64, i64)),
}

impl FileIdentity {
    /// Reads the identity from a file's metadata.
    pub fn from_metadata(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let (file, changed) = {
            use std::os::unix::fs::MetadataExt;
            ((metadata.dev(), metadata.ino()), (metadata.ctime(), metadata.ctime_nsec()))
        };
        #[cfg(not(unix))]
        let (file, changed) = ((0, 0), (0, 0));
        Self { file, size: metadata.len(), times: (metadata.modified().ok(), changed) }
    }

    /// The later one of the times of the last write and of the last change of metadata.
    pub fn last_change(&self) -> Option<SystemTime> {
        let (written, (seconds, nanoseconds)) = self.times;
        let since = u64::try_from(seconds).ok().zip(u32::try_from(nanoseconds).ok());
        let changed =
            since.and_then(|(s, n)| SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::new(s, n)));
        written.max(changed)
    }

    /// True if it is the same file, even if it was written to.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.file == other.file
    }
}

/// Appends bytes behind the first `at` bytes of a file, in place, and waits until they are on the disk. A
/// killed process may have written some of them already. If the file ends in anything else, nothing happens;
/// a partial write is undone.
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
    // If an editor replaced the file while we wrote, our handle is to a deleted file.
    let named = std::fs::metadata(path)?;
    match FileIdentity::from_metadata(&named).is_same_file(&FileIdentity::from_metadata(&file.metadata()?)) {
        true => Ok(()),
        false => Err(changed()),
    }
}

/// The number of these bytes that stand behind the first `at` bytes of a file; `None` if other bytes do, or
/// if the file is shorter.
pub fn verify_appended(path: &Path, at: u64, bytes: &[u8]) -> io::Result<Option<usize>> {
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

/// Undoes [`append`], unless more was written behind it.
pub fn undo_append(path: &Path, at: u64, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    if begun(&mut file, at, bytes)?.is_some() {
        file.set_len(at)?;
        file.sync_data()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_01_bytes_are_added_once_and_never_behind_something_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.md");
        let is = |text: &str| assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        std::fs::write(&path, "one\n").unwrap();
        append(&path, 4, b"two\n").unwrap();
        is("one\ntwo\n");
        append(&path, 4, b"two\n").unwrap();
        is("one\ntwo\n");
        // A process was killed in the middle of the write.
        std::fs::write(&path, "one\ntw").unwrap();
        assert_eq!(verify_appended(&path, 4, b"two\n").unwrap(), Some(2));
        append(&path, 4, b"two\n").unwrap();
        is("one\ntwo\n");
        // Another program wrote or removed something there.
        for text in ["one\nmine\n", "one\ntwo\nmine\n", "on"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(append(&path, 4, b"two\n").unwrap_err().kind(), io::ErrorKind::InvalidData);
            undo_append(&path, 4, b"two\n").unwrap();
            is(text);
        }
        std::fs::write(&path, "one\ntwo\n").unwrap();
        undo_append(&path, 4, b"two\n").unwrap();
        is("one\n");
    }

    #[test]
    fn a_file_comes_in_pieces_of_whole_lines() {
        for (lines, length) in [(0, 1), (1, 10), (5000, 40), (3, 3 * READ_BLOCK_BYTES), (2, READ_BLOCK_BYTES)]
        {
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
}

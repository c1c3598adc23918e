//! Bounded reads of files written by others: never more than a limit, regular files only.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The first `cap` bytes of a file, and true if that is all of it.
pub(super) fn read_beginning(path: &Path, cap: u64) -> io::Result<(Vec<u8>, bool)> {
    // Opening a pipe would wait for a writer that may never come.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(cap + 1).read_to_end(&mut bytes)?;
    let whole = bytes.len() as u64 <= cap;
    bytes.truncate(usize::try_from(cap).unwrap_or(usize::MAX));
    Ok((bytes, whole))
}

/// The content of a file with at most `cap` bytes.
pub(super) fn read_whole(path: &Path, cap: u64) -> Option<Vec<u8>> {
    read_beginning(path, cap).ok().filter(|(_, whole)| *whole).map(|(bytes, _)| bytes)
}

/// The lines within the first `cap` bytes. A truncated last line is dropped: half an address is another
/// address.
pub(super) fn lines(path: &Path, cap: u64) -> Option<String> {
    let (mut bytes, whole) = read_beginning(path, cap).ok()?;
    if !whole {
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

//! Reads and writes one configuration file.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use super::Error;
use crate::platform::disk;

/// The file's text; `None` if the file does not exist. The error is worded to follow the file's name.
pub(super) fn read(path: &Path, limit: u64) -> Result<Option<String>, String> {
    let cannot = |error: io::Error| format!("cannot be read: {error}");
    let about = match fs::metadata(path) {
        // A dangling link is a file that went missing, not one that never existed.
        Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
            return Ok(None);
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err("links to a missing file; restore the file or remove the link".to_owned());
        }
        about => about.map_err(cannot)?,
    };
    if !about.is_file() {
        let what = if about.is_dir() { "a folder" } else { "a device or a pipe" };
        return Err(format!("is {what}, not a file; move it away"));
    }
    let mut bytes = Vec::new();
    // One byte more than the limit detects a file that grew since.
    fs::File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).map_err(cannot)?;
    if bytes.len() as u64 > limit {
        return Err(format!("is larger than {} KiB, too large for settings", limit / 1024));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not UTF-8; save the file as UTF-8")
    })
}

/// Writes the file atomically. `before` is the text that the change was based on, `None` for a new file; if
/// the file has changed since, nothing is written.
pub(super) fn write(path: &Path, text: &str, before: Option<&str>) -> Result<(), Error> {
    // Users link their settings into a dotfiles folder: the link stays, its target changes.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if fs::read(&target).ok().as_deref() != before.map(str::as_bytes) {
        return Err(Error::Changed { path: path.to_owned() });
    }
    disk::write_atomic(&target, text.as_bytes()).map_err(|cause| Error::Write { path: target, cause })
}

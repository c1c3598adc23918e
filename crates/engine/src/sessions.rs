//! The sessions that were started on this machine and not yet looked at (EXE-13): their markers in the state folder.

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::vault::marker::{Marker, State};

use crate::disk::{self, Content};

/// Far above any marker.
const MAX_MARKER_BYTES: u64 = 64 * 1024;

/// The markers there are.
#[derive(Clone, Debug, Default)]
pub struct Markers {
    /// Sessions that began and were not reflected on.
    pub open: Vec<Marker>,
    /// Files that are no markers, with what is wrong.
    pub broken: Vec<(PathBuf, String)>,
}

/// Reads all markers in the sessions folder. A folder that is not there has none.
pub fn markers(folder: &Path) -> io::Result<Markers> {
    let mut found = Markers::default();
    let files = match std::fs::read_dir(folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(error),
    };
    for file in files {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let marker = match disk::read(&path, MAX_MARKER_BYTES)? {
            Content::Bytes(bytes) => {
                Marker::parse(&name, &String::from_utf8_lossy(&bytes)).map_err(|e| e.to_string())
            }
            Content::Missing => continue,
            Content::TooLarge(_) | Content::NotAFile => Err("not a marker".to_owned()),
        };
        match marker {
            Ok(marker) if marker.state == State::Start => found.open.push(marker),
            Ok(_) => {}
            Err(why) => found.broken.push((path, why)),
        }
    }
    Ok(found)
}

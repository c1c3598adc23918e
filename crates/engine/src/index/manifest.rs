//! The manifest: a small JSON file with a `format` that names the current parts of an index. It is replaced
//! atomically.

use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Error, SegmentDamage};
use crate::platform::disk;

/// Reads a manifest; `None` if the file does not exist.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, version: u32) -> Result<Option<T>, Error> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    let damaged = |damage| Error::Damaged { path: path.to_owned(), damage };
    // Only the format field has the same form in every version.
    #[derive(Deserialize)]
    struct ManifestFormat {
        format: u32,
    }
    let ManifestFormat { format } =
        serde_json::from_slice(&text).map_err(|_| damaged(SegmentDamage::Foreign))?;
    if format != version {
        return Err(damaged(SegmentDamage::Version(format)));
    }
    serde_json::from_slice(&text).map(Some).map_err(|_| damaged(SegmentDamage::Foreign))
}

/// Replaces a manifest atomically.
pub(crate) fn write<T: Serialize>(path: &Path, current: &T) -> Result<(), Error> {
    let text = serde_json::to_vec(current).map_err(|error| Error::io("written", path)(error.into()))?;
    disk::write_atomic(path, &text).map_err(Error::io("written", path))
}

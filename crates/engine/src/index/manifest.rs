//! The small file that says what of an index holds: JSON with a `format`, replaced as a whole.

use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Error, SegmentDamage};
use crate::platform::disk;

/// What it says; `None` if there is no such file.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, version: u32) -> Result<Option<T>, Error> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    let damaged = |damage| Error::Damaged { path: path.to_owned(), damage };
    // A newer program may say more in another way; the format always says so.
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

/// Lets something else hold from now on.
pub(crate) fn write<T: Serialize>(path: &Path, current: &T) -> Result<(), Error> {
    let text = serde_json::to_vec(current).map_err(|error| Error::io("written", path)(error.into()))?;
    disk::write_whole(path, &text).map_err(Error::io("written", path))
}

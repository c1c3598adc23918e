//! How the background runs stand, in a small file: a session's start tells what is wrong (BRF-01), and a hook never opens the
//! database.

use std::path::PathBuf;

use rekindle_core::run::Status;
use serde::{Deserialize, Serialize};

use crate::jobs::queue::Queue;
use crate::platform::db;
use crate::platform::disk;
use crate::platform::home::Places;

/// Far above what the file holds.
const MAX_BYTES: u64 = 4096;

/// How many runs did not end well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Health {
    /// Runs that failed and are tried again.
    pub failed: u64,
    /// Runs that were given up.
    pub dead: u64,
}

fn file(places: &Places) -> PathBuf {
    places.state().join("health.json")
}

/// What the last worker noted; all is well if there was none.
pub fn read(places: &Places) -> Health {
    match disk::read(&file(places), MAX_BYTES) {
        Ok(disk::Content::Bytes(bytes)) => serde_json::from_slice(&bytes).unwrap_or_default(),
        _ => Health::default(),
    }
}

/// Notes how the runs stand, if that has changed.
pub fn note(places: &Places, queue: &Queue) -> Result<(), db::Error> {
    let counts = queue.counts()?;
    let of = |status| counts.iter().find(|(is, _)| *is == status).map_or(0, |(_, count)| *count);
    let health = Health { failed: of(Status::Failed), dead: of(Status::Dead) };
    if health != read(places)
        && let Ok(text) = serde_json::to_vec(&health)
    {
        // What cannot be noted now is noted by the next worker.
        disk::write_whole(&file(places), &text).unwrap_or_default();
    }
    Ok(())
}

impl Health {
    /// One line about it; none if all is well.
    pub fn line(self) -> Option<String> {
        let runs = |count: u64| {
            if count == 1 { "1 background run".to_owned() } else { format!("{count} background runs") }
        };
        match self {
            Self { dead: 0, failed: 0 } => None,
            Self { dead: 0, failed } => {
                Some(format!("Rekindle: {} failed and will be retried (`rekindle runs`)", runs(failed)))
            }
            Self { dead, .. } => {
                Some(format!("Rekindle: {} failed for good (`rekindle runs --dead`)", runs(dead)))
            }
        }
    }
}

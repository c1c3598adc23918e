//! State of the background runs, in a small file: the briefing reports problems (BRF-01) without opening the
//! database in a hook.

use std::path::PathBuf;

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::run::RunStatus;
use serde::{Deserialize, Serialize};

use crate::jobs::queue::RunQueue;
use crate::platform::db;
use crate::platform::disk;
use crate::platform::home::DataPaths;

/// The size limit of the file, far above its real size.
const MAX_BYTES: u64 = 4096;

/// Counts of runs that did not succeed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunHealth {
    /// Failed runs that will be retried.
    pub failed: u64,
    /// Runs that failed for good.
    pub dead: u64,
}

fn file(places: &DataPaths) -> PathBuf {
    places.state().join("health.json")
}

/// Reads the counts of the last worker; zero if there are none.
pub fn read(places: &DataPaths) -> RunHealth {
    match disk::read(&file(places), MAX_BYTES) {
        Ok(disk::FileContent::Bytes(bytes)) => serde_json::from_slice(&bytes).unwrap_or_default(),
        _ => RunHealth::default(),
    }
}

/// Writes the counts if they changed.
pub fn note(places: &DataPaths, queue: &RunQueue) -> Result<(), db::Error> {
    let counts = queue.count_by_status()?;
    let of = |status| counts.iter().find(|(is, _)| *is == status).map_or(0, |(_, count)| *count);
    let health = RunHealth { failed: of(RunStatus::Failed), dead: of(RunStatus::Dead) };
    if health != read(places)
        && let Ok(text) = serde_json::to_vec(&health)
    {
        disk::write_atomic(&file(places), &text).ignore_failure("the next worker writes them again");
    }
    Ok(())
}

impl RunHealth {
    /// Describes the counts in one line; `None` if there are no failures.
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

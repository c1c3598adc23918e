//! Logs the milestones of an installation in the system log (O11-17).

use std::io;

use rekindle_core::base::time::Zoned;
use rekindle_core::telemetry::milestones::{InstallationState, milestones};
use rekindle_core::vault::journal::ChangeActor;

use crate::platform::disk::{self, FileContent};
use crate::platform::home::DataPaths;
use crate::vault::{self, Vault};

/// The maximum size of the stored state, far above its real one.
const MAX_BYTES: u64 = 64 * 1024;

/// The reason why milestones could not be logged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system log could not be written.
    #[error(transparent)]
    Vault(#[from] vault::Error),
    /// The state could not be stored.
    #[error("the state of the installation cannot be stored: {0}")]
    Io(#[from] io::Error),
}

/// Logs what changed since the last call. A kill in between repeats a line, and loses none.
pub fn record(
    places: &DataPaths,
    vault: &Vault,
    current: &InstallationState,
    now: &Zoned,
) -> Result<(), Error> {
    let before = stored(places);
    for line in milestones(before.as_ref(), current, now.timestamp()) {
        vault.log_system(&line, ChangeActor::Worker, now)?;
    }
    // Nothing is stored before the first milestone, so that connecting an agent is the first.
    let is_new = before.as_ref().map_or(!current.agents.is_empty(), |before| before != current);
    if is_new {
        let state = serde_json::to_vec(current).map_err(io::Error::from)?;
        disk::write_atomic(&places.milestones_file(), &state)?;
    }
    Ok(())
}

/// The state at the last milestone. A damaged file counts as none: the next milestone is the first again.
fn stored(places: &DataPaths) -> Option<InstallationState> {
    match disk::read(&places.milestones_file(), MAX_BYTES) {
        Ok(FileContent::Bytes(bytes)) => serde_json::from_slice(&bytes).ok(),
        _ => None,
    }
}

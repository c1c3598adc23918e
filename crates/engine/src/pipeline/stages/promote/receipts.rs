//! Writes owed receipts to the daily log (LOG-05, REV-14). One process at a time: it first searches the log
//! of the last attempt, and writes to today's log only if they are missing.

use std::time::Duration;

use rekindle_core::vault::daily_log::{Clock, Receipts, Section, Source};
use rekindle_core::vault::journal::Actor;

use crate::jobs::context::World;
use crate::jobs::queue::StepError;
use crate::platform::disk;
use crate::review::proposals::{self, Owed};

/// The longest wait for another process.
const PATIENCE: Duration = Duration::from_secs(5);
const LOCK: &str = "receipts.lock";

/// Writes the owed receipts. Returns true if there were any.
pub(super) fn write(world: &World) -> Result<bool, StepError> {
    let mut db = world.db()?;
    if !proposals::owes(&db)? {
        return Ok(false);
    }
    let locks = world.places.locks();
    let locked = disk::make_folder(&locks).and_then(|()| disk::lock(&locks.join(LOCK), PATIENCE));
    let _lock = locked.map_err(StepError::passing)?;
    let (vault, now) = (world.vault()?, world.now());
    for Owed { key, day, project, receipts } in proposals::owed(&mut db, now.date())? {
        if !vault.is_logged(&key, day, &now).map_err(StepError::passing)? {
            if day != now.date() {
                proposals::try_on(&mut db, &key, now.date())?;
            }
            let source = Source { dedupe_key: Some(key.clone()), project, ..Source::default() };
            let section = Section::Receipts(Receipts { source, time: Clock::of(&now), receipts });
            vault.log_once(&section, Actor::Worker, &now).map_err(StepError::passing)?;
        }
        proposals::paid(&mut db, &key)?;
    }
    Ok(true)
}

/// Writes the owed receipts beside another operation: on failure they stay owed, and
/// `rekindle review --check` reports them. Returns true if any were written.
pub(super) fn write_if_possible(world: &World) -> bool {
    write(world).unwrap_or(false)
}

//! Writes owed receipts to the daily log (LOG-05, REV-14). One process at a time: it first searches the log
//! of the last attempt, and writes to today's log only if they are missing.

use std::time::Duration;

use rekindle_core::vault::daily_log::{LogSection, LoggedReceipts, SectionSource, TimeOfDay};
use rekindle_core::vault::journal::ChangeActor;

use crate::jobs::context::StageContext;
use crate::jobs::queue::StepError;
use crate::platform::disk;
use crate::review::proposals::{self, PendingReceipts};

/// The longest wait for another process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_FILE: &str = "receipts.lock";

/// Writes the owed receipts. Returns true if there were any.
pub(super) fn write(context: &StageContext) -> Result<bool, StepError> {
    let mut db = context.db()?;
    if !proposals::has_pending(&db)? {
        return Ok(false);
    }
    let locks = context.places.locks_folder();
    let locked =
        disk::create_private_folder(&locks).and_then(|()| disk::lock(&locks.join(LOCK_FILE), LOCK_TIMEOUT));
    let _lock = locked.map_err(StepError::retryable)?;
    let (vault, now) = (context.vault()?, context.now());
    for PendingReceipts { key, day, project, receipts } in proposals::take_pending(&mut db, now.date())? {
        if !vault.is_logged(&key, day, &now).map_err(StepError::retryable)? {
            if day != now.date() {
                proposals::reschedule(&mut db, &key, now.date())?;
            }
            let source = SectionSource { dedupe_key: Some(key.clone()), project, ..SectionSource::default() };
            let section =
                LogSection::Receipts(LoggedReceipts { source, time: TimeOfDay::from_zoned(&now), receipts });
            vault.log_once(&section, ChangeActor::Worker, &now).map_err(StepError::retryable)?;
        }
        proposals::mark_written(&mut db, &key)?;
    }
    Ok(true)
}

/// Writes the owed receipts beside another operation: on failure they stay owed, and
/// `rekindle review --check` reports them. Returns true if any were written.
pub(super) fn try_write(context: &StageContext) -> bool {
    write(context).unwrap_or(false)
}

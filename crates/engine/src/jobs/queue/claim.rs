//! Claiming a run and releasing it.

use std::time::Instant;

use rekindle_core::base::time::Timestamp;
use rekindle_core::event::Event;
use rekindle_core::run::{RunStatus, retry};

use super::{FunctionOutcome, RunInterrupt, RunQueue, run_events};
use crate::platform::db::{self, OptionalExtension, params};
use crate::platform::random;

/// The lease of a run in milliseconds; every step renews it.
pub(super) const LEASE_MS: i64 = 15 * 60 * 1000;

/// A run claimed by this worker.
#[derive(Clone, Debug)]
pub struct ClaimedRun {
    /// The id of the run.
    pub id: String,
    /// The name of the function.
    pub function: String,
    /// The event that it handles.
    pub event: Event,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The start of the attempt, by a clock that never jumps.
    pub(crate) began: Instant,
    /// The token that proves the claim.
    pub(super) token: String,
}

impl RunQueue {
    /// Claims the next due run. Runs that killed a worker come last, so that they cannot block the others.
    pub fn claim_next(&mut self, now: Timestamp) -> Result<Option<ClaimedRun>, db::Error> {
        self.claim_any(now, None)
    }

    /// Claims the run of a function with this key, even if it waits for a retry or failed for good: a caller
    /// waits for it.
    pub fn claim_for(
        &mut self,
        function: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<ClaimedRun>, db::Error> {
        self.db.change(|transaction| {
            transaction.execute(
                "UPDATE runs SET status = 'RUNNING', attempts = 0, crashes = 0, ended = NULL
                 WHERE function = ?1 AND key = ?2 AND status = 'DEAD'",
                params![function, key],
            )
        })?;
        self.claim_any(now, Some((function, key)))
    }

    fn claim_any(
        &mut self,
        now: Timestamp,
        only: Option<(&str, &str)>,
    ) -> Result<Option<ClaimedRun>, db::Error> {
        let (function, key) = only.unzip();
        let token = random::change_id(now).map_err(db::Error::Random)?.as_str().to_owned();
        let (at, now) = (now, now.as_millisecond());
        let telemetry = self.telemetry.as_ref();
        let row = self.db.change(|transaction| {
            let row = transaction
                .prepare_cached(
                    "SELECT r.id, r.function, r.attempts, e.id, e.name, e.data, e.at
                     FROM runs r INDEXED BY runs_open JOIN events e ON e.id = r.event
                     WHERE r.status IN ('RUNNING', 'FAILED') AND r.owner IS NULL
                       AND (iif(?2 IS NULL, r.due <= ?1, r.function = ?2 AND r.key = ?3))
                       AND (r.key IS NULL OR NOT EXISTS (
                            SELECT 1 FROM runs o WHERE o.function = r.function AND o.key = r.key
                                AND o.owner IS NOT NULL))
                     ORDER BY r.crashes, r.due, r.number LIMIT 1",
                )?
                .query_row(params![now, function, key], |row| {
                    Ok((
                        row.get::<_, String>(0)?,
                        row.get::<_, String>(1)?,
                        row.get::<_, u32>(2)?,
                        row.get::<_, String>(3)?,
                        row.get::<_, String>(4)?,
                        row.get::<_, String>(5)?,
                        row.get::<_, i64>(6)?,
                    ))
                })
                .optional()?;
            let Some(row) = row else { return Ok(None) };
            transaction.execute(
                "UPDATE runs SET owner = ?2, lease_until = ?3, status = 'RUNNING', attempts = attempts + 1,
                    started = coalesce(started, ?4) WHERE id = ?1",
                params![row.0, token, now + LEASE_MS, now],
            )?;
            let claimed = claimed_run(row, token);
            if let (Ok(claimed), Some(telemetry)) = (&claimed, telemetry) {
                telemetry.store(transaction, &run_events::started(claimed, at));
            }
            Ok(Some(claimed))
        })?;
        row.transpose().map_err(|what| self.db.corrupt_value(what))
    }

    /// Stores the end or the next retry of a run and returns its new status.
    pub fn finish_run(
        &mut self,
        claimed: &ClaimedRun,
        ended: Result<FunctionOutcome, RunInterrupt>,
        now: Timestamp,
    ) -> Result<RunStatus, db::Error> {
        let (status, due) = next_status(claimed, &ended, now);
        let event = run_events::ended(claimed, &ended, status, now);
        let (reason, output, error) = match ended {
            Ok(FunctionOutcome::Completed(output)) => (None, Some(output.to_string()), None),
            Ok(FunctionOutcome::Skipped(reason)) => (Some(reason), None, None),
            Err(RunInterrupt::Stopped) => (None, None, None),
            Err(RunInterrupt::Db(error)) => return Err(error),
            Err(RunInterrupt::Failed { step, error }) => (None, None, Some(format!("{step}: {error}"))),
        };
        let ended = status.is_over().then(|| now.as_millisecond());
        // An interruption does not count as an attempt.
        let back = u32::from(status == RunStatus::Running);
        let report = self.telemetry.as_ref().zip(event);
        self.db.change(|transaction| {
            transaction.execute(
                "UPDATE runs SET status = ?3, reason = ?4, output = ?5, error = ?6, due = ?7, ended = ?8,
                    owner = NULL, lease_until = NULL, crashes = 0, attempts = attempts - ?9
                 WHERE id = ?1 AND owner = ?2",
                params![claimed.id, claimed.token, status.as_str(), reason, output, error, due, ended, back],
            )?;
            if let Some((telemetry, event)) = &report {
                telemetry.store(transaction, event);
            }
            Ok(())
        })?;
        if let Some((telemetry, event)) = &report {
            telemetry.mirror(event);
        }
        Ok(status)
    }
}

/// The row of a claimed run: its id, function and attempts, and the id, name, data and time of its event.
type ClaimRow = (String, String, u32, String, String, String, i64);

/// Reads a claimed run; `Err` says what this version does not understand.
fn claimed_run(row: ClaimRow, token: String) -> Result<ClaimedRun, String> {
    let (id, function, attempts, event, name, data, at) = row;
    let data =
        serde_json::from_str(&data).map_err(|error| format!("the data of the event {event} ({error})"))?;
    let at = Timestamp::from_millisecond(at).map_err(|error| error.to_string())?;
    let event = Event { id: event, name, data, at };
    Ok(ClaimedRun { id, function, event, attempt: attempts + 1, began: Instant::now(), token })
}

/// The status of a run after an attempt, and the time of the next attempt, 0 if there is none.
fn next_status(
    claimed: &ClaimedRun,
    ended: &Result<FunctionOutcome, RunInterrupt>,
    now: Timestamp,
) -> (RunStatus, i64) {
    let error = match ended {
        Ok(FunctionOutcome::Completed(_)) => return (RunStatus::Completed, 0),
        Ok(FunctionOutcome::Skipped(_)) => return (RunStatus::Skipped, 0),
        Err(RunInterrupt::Stopped | RunInterrupt::Db(_)) => return (RunStatus::Running, 0),
        Err(RunInterrupt::Failed { error, .. }) => error,
    };
    let jitter = random::bytes::<1>().map_or(128, |[byte]| byte);
    let pause = retry::retry_delay(claimed.attempt, jitter, error.retry_after).filter(|_| !error.fatal);
    pause.map_or((RunStatus::Dead, 0), |pause| {
        (RunStatus::Failed, now.as_millisecond() + i64::try_from(pause.as_millis()).unwrap_or(0))
    })
}

//! Durable runs: every event becomes one run per function that listens to it, every run is a list of named
//! steps, and a step's result is durable before the next one begins (EXE-01). An engine that calls functions
//! again from the start can run the same functions: `docs/adr/0015-runs-without-a-daemon.md`.

mod claim;
mod function;
mod history;
pub(crate) mod lookup;
mod run_events;
mod runner;
mod steps;
#[cfg(test)]
mod tests;

use rekindle_core::base::time::Timestamp;
use rekindle_core::event::Event;

use crate::platform::db::{self, Database, Transaction, params};
use crate::platform::random;
use crate::telemetry::TelemetryEmitter;

pub use claim::ClaimedRun;
pub use function::{FunctionOutcome, FunctionRegistry, QueueFunction, RegistryProblem};
pub use history::{RunFilter, RunRecord, StepRecord};
pub(crate) use run_events::milliseconds;
pub use runner::run;
pub use steps::{RunInterrupt, StepError, StepOutcome, StepRunner, StepRunnerExt};

/// The number of worker deaths in a row after which a run is dead: it may cause them.
const MAX_CRASHES: u32 = 20;
/// The longest possible pause; a longer wait comes from a clock that was set back.
const MAX_PAUSE_MS: i64 = 3 * 60 * 60 * 1000;

/// The queue of runs of this machine.
pub struct RunQueue {
    db: Database,
    /// Stores the events of runs; `None` for a queue that is only read.
    telemetry: Option<TelemetryEmitter>,
}

impl RunQueue {
    /// Opens the queue in a database.
    pub fn new(db: Database) -> Self {
        Self { db, telemetry: None }
    }

    /// Reports starts and ends of runs (O11-02).
    pub fn reporting_to(self, telemetry: TelemetryEmitter) -> Self {
        Self { telemetry: Some(telemetry), ..self }
    }

    /// The database, which also holds other tables.
    pub fn db(&mut self) -> &mut Database {
        &mut self.db
    }

    /// Accepts events in one transaction: each counts once and becomes one run per listening function.
    /// Returns the number of new events.
    pub fn enqueue(
        &mut self,
        registry: &FunctionRegistry,
        events: &[Event],
        now: Timestamp,
    ) -> Result<usize, db::Error> {
        let ids = run_ids(registry, events, now);
        self.db.change(|transaction| enqueue_event(transaction, registry, events, &ids, now))
    }

    /// Accepts events durably, together with the changes of `more`: the sender may drop them afterwards.
    pub fn enqueue_durably(
        &mut self,
        registry: &FunctionRegistry,
        events: &[Event],
        now: Timestamp,
        more: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), db::Error> {
        let ids = run_ids(registry, events, now);
        self.db.change_durably(|transaction| {
            more(transaction)?;
            enqueue_event(transaction, registry, events, &ids, now).map(|_| ())
        })
    }

    /// Releases the runs of dead workers. Only the worker that holds the lock may call this.
    pub fn release_abandoned(&mut self, now: Timestamp) -> Result<u64, db::Error> {
        let now = now.as_millisecond();
        self.db.change(|transaction| {
            let orphans = transaction.execute(
                "UPDATE runs SET owner = NULL, lease_until = NULL, crashes = crashes + 1 WHERE owner IS NOT NULL",
                [],
            )?;
            transaction.execute(
                "UPDATE runs SET status = 'DEAD', ended = ?1,
                    error = 'the worker died ' || crashes || ' times in a row during this run'
                 WHERE status IN ('RUNNING', 'FAILED') AND crashes >= ?2",
                params![now, MAX_CRASHES],
            )?;
            // The clock was set back: no run waits longer than the longest pause.
            transaction.execute(
                "UPDATE runs SET due = ?1 WHERE status IN ('RUNNING', 'FAILED') AND due > ?1 + ?2",
                params![now, MAX_PAUSE_MS],
            )?;
            Ok(orphans as u64)
        })
    }

    /// Revives dead runs: they continue after their last finished step. Returns their number.
    pub fn retry_dead(&mut self, ids: &[String]) -> Result<u64, db::Error> {
        self.db.change(|transaction| {
            let mut revived = 0;
            for id in ids {
                revived += transaction.execute(
                    "UPDATE runs SET status = 'RUNNING', attempts = 0, crashes = 0, due = 0, ended = NULL
                     WHERE id = ?1 AND status IN ('DEAD', 'FAILED')",
                    [id],
                )?;
            }
            Ok(revived as u64)
        })
    }
}

/// Sends events within a transaction.
pub(crate) fn send(
    transaction: &Transaction<'_>,
    registry: &FunctionRegistry,
    events: &[Event],
    now: Timestamp,
) -> rusqlite::Result<()> {
    enqueue_event(transaction, registry, events, &run_ids(registry, events, now), now).map(|_| ())
}

/// Draws one id per event and function, outside the transaction because randomness can fail.
fn run_ids(registry: &FunctionRegistry, events: &[Event], now: Timestamp) -> Vec<String> {
    let listeners: usize = events.iter().map(|event| registry.listeners(event).count()).sum();
    (0..listeners)
        .map(|_| match random::change_id(now) {
            Ok(id) => id.as_str().to_owned(),
            // Without randomness SQLite makes a unique id.
            Err(_) => String::new(),
        })
        .collect()
}

fn enqueue_event(
    transaction: &Transaction<'_>,
    registry: &FunctionRegistry,
    events: &[Event],
    ids: &[String],
    now: Timestamp,
) -> rusqlite::Result<usize> {
    let mut insert_event = transaction.prepare_cached(
        "INSERT INTO events (id, name, session, at, received, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (id) DO NOTHING",
    )?;
    let mut insert_run = transaction.prepare_cached(
        "INSERT INTO runs (id, event, function, session, key, created, due)
         VALUES (iif(?1 = '', upper(hex(randomblob(13))), ?1), ?2, ?3, ?4, ?5, ?6, 0)
         ON CONFLICT (event, function) DO NOTHING",
    )?;
    let mut ids = ids.iter();
    let mut new = 0;
    for event in events {
        let at = event.at.as_millisecond();
        new += insert_event.execute(params![
            event.id,
            event.name,
            event.session(),
            at,
            now.as_millisecond(),
            event.data.to_string()
        ])?;
        for function in registry.listeners(event) {
            let id = ids.next().map_or("", String::as_str);
            let key = (function.key)(event);
            let created = now.as_millisecond();
            insert_run.execute(params![id, event.id, function.name, event.session(), key, created])?;
        }
    }
    Ok(new)
}

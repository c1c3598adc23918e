//! Leftovers of killed processes that keep others waiting. A lock itself ends with its process; these do not.

use std::path::PathBuf;

use jiff::SignedDuration;
use rekindle_core::base::time::Timestamp;
use rekindle_core::text::plural::count_phrase;

use super::{RepairRequest, RepairResult};
use crate::jobs::worker_lock;
use crate::platform::db::{self, Database};
use crate::platform::disk;
use crate::platform::home::DataPaths;

/// No lock in the database is taken for longer than this.
const MAX_LOCK_HOURS: i64 = 24;

/// A stale lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StaleLock {
    /// A request that every worker of this version yields, by a version that is not there any more.
    Successor(PathBuf),
    /// Something else has the name of a lock file.
    NotAFile(PathBuf),
    /// Locks in the database that end too late: the clock was wrong.
    Rows(u64),
}

impl StaleLock {
    /// The lock in words.
    pub fn describe(&self) -> String {
        match self {
            Self::Successor(path) => {
                format!("{} makes every worker stop, and no newer version of Rekindle runs", path.display())
            }
            Self::NotAFile(path) => format!("{} is no file, so nothing can take that lock", path.display()),
            Self::Rows(count) => {
                format!("{} in the database would end too late", count_phrase(*count, "lock"))
            }
        }
    }
}

/// All stale locks.
pub fn stale_locks(places: &DataPaths, now: Timestamp) -> Vec<StaleLock> {
    let locks = places.locks_folder();
    let mut found = Vec::new();
    if worker_lock::is_yielding(&locks) && !worker_lock::is_locked(&locks) {
        found.push(StaleLock::Successor(worker_lock::successor_file(&locks)));
    }
    for item in std::fs::read_dir(&locks).into_iter().flatten().flatten() {
        let is_named = item.path().extension().is_some_and(|extension| extension == "lock");
        if is_named && !item.path().is_file() {
            found.push(StaleLock::NotAFile(item.path()));
        }
    }
    match too_late(places, now) {
        Ok(0) | Err(_) => {}
        Ok(count) => found.push(StaleLock::Rows(count)),
    }
    found
}

fn limit(now: Timestamp) -> i64 {
    (now + SignedDuration::from_hours(MAX_LOCK_HOURS)).as_millisecond()
}

fn too_late(places: &DataPaths, now: Timestamp) -> Result<u64, db::Error> {
    let Some(db) = Database::open_existing(&places.database())? else { return Ok(0) };
    let count: i64 = db.run(|connection| {
        connection.query_row("SELECT count(*) FROM locks WHERE until > ?1", [limit(now)], |row| row.get(0))
    })?;
    Ok(u64::try_from(count).unwrap_or(0))
}

pub(super) fn repair(request: &RepairRequest<'_>) -> Vec<RepairResult> {
    let now = request.now.timestamp();
    let repaired = stale_locks(request.places, now).into_iter().map(|lock| {
        let done = match &lock {
            StaleLock::Successor(path) => disk::remove(path).map_err(|error| error.to_string()),
            StaleLock::NotAFile(path) => {
                let aside = path.with_extension("lock-aside");
                disk::move_aside(path, &aside).map_err(|error| error.to_string())
            }
            StaleLock::Rows(_) => remove_rows(request.places, now).map_err(|error| error.to_string()),
        };
        let what = lock.describe();
        match done {
            Ok(()) => RepairResult::fixed("locks", format!("released: {what}")),
            Err(error) => RepairResult::left("locks", format!("{what}: {error}"), "remove it by hand"),
        }
    });
    repaired.collect()
}

fn remove_rows(places: &DataPaths, now: Timestamp) -> Result<(), db::Error> {
    let Some(mut db) = Database::open_existing(&places.database())? else { return Ok(()) };
    db.change(|transaction| transaction.execute("DELETE FROM locks WHERE until > ?1", [limit(now)])).map(drop)
}

//! Questions about runs from the stages and from the reports: no other module reads or changes the tables of runs.

use std::collections::HashSet;

use rekindle_core::base::time::Timestamp;

use crate::platform::db::{self, Database, OptionalExtension, Transaction, params};

/// A run of a session, as far as the statistics need it.
pub(crate) struct RunOfSession {
    /// The session.
    pub(crate) session: String,
    /// The status of the run.
    pub(crate) status: String,
    /// The reason it was skipped.
    pub(crate) reason: Option<String>,
    /// The number of findings in its output.
    pub(crate) findings: u64,
}

/// Counts of the work in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueuedWork {
    /// The number of runs that are due and not claimed.
    pub(crate) due: u64,
    /// The time since when the oldest of them is due.
    pub(crate) due_since: Option<Timestamp>,
    /// The number of runs that failed and will be repeated.
    pub(crate) failed: u64,
    /// The number of runs that failed for good.
    pub(crate) dead: u64,
}

/// The number of attempts at a run.
pub(crate) fn attempts(db: &Database, run: &str) -> Result<u32, db::Error> {
    db.run(|c| c.query_row("SELECT attempts FROM runs WHERE id = ?1", [run], |row| row.get(0)))
}

/// The number of attempts at a step of a run, if it began.
pub(crate) fn step_attempts(db: &Database, run: &str, step: &str) -> Result<Option<u32>, db::Error> {
    let sql = "SELECT attempts FROM steps WHERE run = ?1 AND name = ?2";
    db.run(|c| c.query_row(sql, [run, step], |row| row.get(0)).optional())
}

/// True if a run of the function with this key has not ended.
pub(crate) fn is_unfinished(db: &Database, function: &str, key: &str) -> Result<bool, db::Error> {
    db.run(|c| {
        c.query_row(
            "SELECT EXISTS (SELECT 1 FROM runs WHERE function = ?1 AND key = ?2
                AND status IN ('RUNNING', 'FAILED'))",
            [function, key],
            |row| row.get(0),
        )
    })
}

/// The sessions with a run that has not ended.
pub(crate) fn unfinished_sessions(db: &Database) -> Result<HashSet<String>, db::Error> {
    let sql =
        "SELECT DISTINCT session FROM runs WHERE status IN ('RUNNING', 'FAILED') AND session IS NOT NULL";
    db.run(|c| c.prepare(sql)?.query_map([], |row| row.get(0))?.collect())
}

/// True if another run than `run` has completed `observe` for this window, at any time (CAP-14).
pub(crate) fn is_observed(db: &Database, dedupe_key: &str, run: &str) -> Result<bool, db::Error> {
    db.run(|c| {
        c.query_row(
            "SELECT EXISTS (SELECT 1 FROM runs WHERE function = 'observe' AND json_extract(output, '$.dedupeKey') = ?1
                AND status = 'COMPLETED' AND id <> ?2)",
            [dedupe_key, run],
            |row| row.get(0),
        )
    })
}

/// The end of the first completed run of `before` that no run of `after` has followed.
pub(crate) fn first_end_without(
    db: &Database,
    before: &str,
    after: &str,
) -> Result<Option<Timestamp>, db::Error> {
    let ended: Option<i64> = db.run(|c| {
        c.query_row(
            "SELECT min(ended) FROM runs WHERE function = ?1 AND status = 'COMPLETED' AND ended >
                coalesce((SELECT max(ended) FROM runs
                    WHERE function = ?2 AND status IN ('COMPLETED', 'SKIPPED')), 0)",
            [before, after],
            |row| row.get(0),
        )
    })?;
    Ok(ended.and_then(|ended| Timestamp::from_millisecond(ended).ok()))
}

/// Counts the work in the queue.
pub(crate) fn queued_work(db: &Database, now: Timestamp) -> Result<QueuedWork, db::Error> {
    let (due, since, failed, dead): (i64, Option<i64>, i64, i64) = db.run(|c| {
        c.query_row(
            "SELECT count(*) FILTER (WHERE status IN ('RUNNING', 'FAILED') AND due <= ?1 AND owner IS NULL),
                min(max(created, due)) FILTER (WHERE status IN ('RUNNING', 'FAILED') AND due <= ?1 AND owner IS NULL),
                count(*) FILTER (WHERE status = 'FAILED'), count(*) FILTER (WHERE status = 'DEAD')
             FROM runs",
            [now.as_millisecond()],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
    })?;
    let whole = |count: i64| u64::try_from(count).unwrap_or(0);
    Ok(QueuedWork {
        due: whole(due),
        due_since: since.and_then(|since| Timestamp::from_millisecond(since).ok()),
        failed: whole(failed),
        dead: whole(dead),
    })
}

/// Lists the runs that handled sessions, in order.
pub(crate) fn runs_of_sessions(db: &Database, since: Timestamp) -> Result<Vec<RunOfSession>, db::Error> {
    db.run(|c| {
        c.prepare(
            "SELECT session, status, reason, coalesce(json_extract(output, '$.observations'), 0)
                + coalesce(json_array_length(output, '$.saved'), 0)
             FROM runs WHERE created >= ?1 AND session IS NOT NULL
                AND function IN ('capture', 'observe', 'observe-session-noted')
             ORDER BY number",
        )?
        .query_map([since.as_millisecond()], |row| {
            let findings: i64 = row.get(3)?;
            Ok(RunOfSession {
                session: row.get(0)?,
                status: row.get(1)?,
                reason: row.get(2)?,
                findings: u64::try_from(findings).unwrap_or(0),
            })
        })?
        .collect()
    })
}

/// Deletes finished runs, their events and expired locks from before a time. Returns the number of runs.
pub(crate) fn tidy(db: &mut Database, before: Timestamp) -> Result<u64, db::Error> {
    let before = before.as_millisecond();
    db.change(|transaction| {
        let runs = transaction
            .execute("DELETE FROM runs WHERE status IN ('COMPLETED', 'SKIPPED') AND ended < ?1", [before])?;
        transaction.execute(
            "DELETE FROM events WHERE received < ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE event = events.id)",
            [before],
        )?;
        transaction.execute("DELETE FROM locks WHERE until < ?1", [before])?;
        Ok(runs as u64)
    })
}

/// The windows of a session that were observed, each with the run that did it.
pub(crate) fn observed_windows(db: &Database, session: &str) -> Result<Vec<(String, String)>, db::Error> {
    let sql = "SELECT json_extract(output, '$.dedupeKey'), id FROM runs
        WHERE session = ?1 AND function = 'observe' AND json_valid(output)
            AND json_extract(output, '$.dedupeKey') IS NOT NULL";
    db.run(|c| c.prepare(sql)?.query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
}

/// Deletes the finished runs of a session and their events, so that it is processed like a new one. Runs that wait
/// or work stay.
pub(crate) fn forget_runs_of(transaction: &Transaction<'_>, session: &str) -> rusqlite::Result<()> {
    transaction.execute(
        "DELETE FROM runs WHERE session = ?1 AND status IN ('COMPLETED', 'SKIPPED', 'DEAD')",
        params![session],
    )?;
    transaction
        .execute(
            "DELETE FROM events WHERE session = ?1 AND id NOT IN (SELECT event FROM runs)",
            params![session],
        )
        .map(drop)
}

//! History of runs and their steps (EXE-10).

use rekindle_core::base::time::Timestamp;
use rekindle_core::event::Event;
use rekindle_core::run::RunStatus;
use serde_json::Value;

use super::RunQueue;
use crate::platform::db::{self, Database, OptionalExtension, Row, params};

/// A run and its status.
#[derive(Clone, Debug)]
pub struct RunRecord {
    /// The id of the run.
    pub id: String,
    /// The name of the function.
    pub function: String,
    /// The status of the run.
    pub status: RunStatus,
    /// The id of the event.
    pub event: String,
    /// The name of the event.
    pub trigger: String,
    /// The session that it handles.
    pub session: Option<String>,
    /// The reason it was skipped.
    pub reason: Option<String>,
    /// The error of the last failed attempt.
    pub error: Option<String>,
    /// The output of the function.
    pub output: Option<Value>,
    /// The number of attempts.
    pub attempts: u32,
    /// The time it was queued.
    pub created: Timestamp,
    /// The time its first attempt began.
    pub started: Option<Timestamp>,
    /// The time it ended.
    pub ended: Option<Timestamp>,
    /// The time of the next attempt, if it waits.
    pub due: Option<Timestamp>,
    /// The steps that it ran.
    pub steps: Vec<StepRecord>,
}

/// A step of a run.
#[derive(Clone, Debug)]
pub struct StepRecord {
    /// The name of the step.
    pub name: String,
    /// Its result, if it succeeded.
    pub result: Option<Value>,
    /// The error of the last failed attempt.
    pub error: Option<String>,
    /// The number of attempts.
    pub attempts: u32,
    /// The time of the last attempt.
    pub started: Timestamp,
    /// The end of the last attempt.
    pub ended: Option<Timestamp>,
}

/// A filter of runs.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Only runs with this status.
    pub status: Option<RunStatus>,
    /// Only runs queued since.
    pub since: Option<Timestamp>,
    /// Only runs about this session.
    pub session: Option<String>,
    /// The most runs to return, the newest first.
    pub limit: Option<u32>,
}

const RUN_COLUMNS: &str =
    "r.id, r.function, r.status, r.event, e.name, r.session, r.reason, r.error, r.output, r.attempts,
    r.created, r.started, r.ended, r.due FROM runs r JOIN events e ON e.id = r.event";

fn from_millis(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn run(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    let status: String = row.get(2)?;
    let status = RunStatus::parse(&status).unwrap_or(RunStatus::Dead);
    let due: i64 = row.get(13)?;
    let output: Option<String> = row.get(8)?;
    Ok(RunRecord {
        id: row.get(0)?,
        function: row.get(1)?,
        status,
        event: row.get(3)?,
        trigger: row.get(4)?,
        session: row.get(5)?,
        reason: row.get(6)?,
        error: row.get(7)?,
        output: output.and_then(|output| serde_json::from_str(&output).ok()),
        attempts: row.get(9)?,
        created: from_millis(row.get(10)?),
        started: row.get::<_, Option<i64>>(11)?.map(from_millis),
        ended: row.get::<_, Option<i64>>(12)?.map(from_millis),
        due: (status == RunStatus::Failed && due > 0).then(|| from_millis(due)),
        steps: Vec::new(),
    })
}

impl RunQueue {
    /// Lists the runs that match a filter, the newest first, with their steps.
    pub fn history(&self, filter: &RunFilter) -> Result<Vec<RunRecord>, db::Error> {
        let sql = format!(
            "SELECT {RUN_COLUMNS} WHERE (?1 IS NULL OR r.status = ?1) AND r.created >= ?2 AND (?3 IS NULL OR r.session = ?3)
             ORDER BY r.number DESC LIMIT ?4"
        );
        let since = filter.since.map_or(i64::MIN, Timestamp::as_millisecond);
        let most = filter.limit.map_or(-1, i64::from);
        let mut runs: Vec<RunRecord> = self.db.run(|connection| {
            connection
                .prepare(&sql)?
                .query_map(params![filter.status.map(RunStatus::as_str), since, filter.session, most], run)?
                .collect()
        })?;
        for run in &mut runs {
            run.steps = steps(&self.db, &run.id)?;
        }
        Ok(runs)
    }

    /// Finds runs by the end of their id, or by the beginning of its last eight characters, which people are
    /// shown.
    pub fn find(&self, id: &str) -> Result<Vec<RunRecord>, db::Error> {
        // An id begins with the time, so a match at the beginning counts only if no id ends like that.
        let end = "substr(r.id, -length(?1)) = ?1 OR substr(substr(r.id, -8), 1, length(?1)) = ?1";
        let beginning = "substr(r.id, 1, length(?1)) = ?1";
        let mut runs = self.matching(end, id)?;
        if runs.is_empty() {
            runs = self.matching(beginning, id)?;
        }
        for run in &mut runs {
            run.steps = steps(&self.db, &run.id)?;
        }
        Ok(runs)
    }

    fn matching(&self, condition: &str, id: &str) -> Result<Vec<RunRecord>, db::Error> {
        let sql = format!("SELECT {RUN_COLUMNS} WHERE {condition} ORDER BY r.id");
        self.db.run(|c| c.prepare(&sql)?.query_map([id.to_uppercase()], run)?.collect())
    }

    /// Lists the sessions of all runs.
    pub fn sessions(&self) -> Result<Vec<String>, db::Error> {
        let sql = "SELECT DISTINCT session FROM runs WHERE session IS NOT NULL";
        self.db.run(|connection| connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect())
    }

    /// Reads an event by id.
    pub fn event(&self, id: &str) -> Result<Option<Event>, db::Error> {
        let row = self.db.run(|connection| {
            connection
                .query_row("SELECT id, name, data, at FROM events WHERE id = ?1", [id], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?, row.get::<_, i64>(3)?))
                })
                .optional()
        })?;
        Ok(row.map(|(id, name, data, millis)| Event {
            id,
            name,
            data: serde_json::from_str(&data).unwrap_or(Value::Null),
            at: from_millis(millis),
        }))
    }

    /// The number of runs by status.
    pub fn count_by_status(&self) -> Result<Vec<(RunStatus, u64)>, db::Error> {
        let rows: Vec<(String, i64)> = self.db.run(|connection| {
            connection
                .prepare("SELECT status, count(*) FROM runs GROUP BY status")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })?;
        let count =
            |(status, count): (String, i64)| Some((RunStatus::parse(&status)?, u64::try_from(count).ok()?));
        Ok(rows.into_iter().filter_map(count).collect())
    }
}

fn steps(db: &Database, id: &str) -> Result<Vec<StepRecord>, db::Error> {
    db.run(|connection| {
        connection
            .prepare_cached(
                "SELECT name, result, error, attempts, started, ended FROM steps WHERE run = ?1 ORDER BY position",
            )?
            .query_map([id], |row| {
                let result: Option<String> = row.get(1)?;
                Ok(StepRecord {
                    name: row.get(0)?,
                    result: result.and_then(|result| serde_json::from_str(&result).ok()),
                    error: row.get(2)?,
                    attempts: row.get(3)?,
                    started: from_millis(row.get(4)?),
                    ended: row.get::<_, Option<i64>>(5)?.map(from_millis),
                })
            })?
            .collect()
    })
}

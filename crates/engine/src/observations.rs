//! The hot list of observations (STO-01…04): what was observed on each day, in order, for the days that reflection and the
//! briefing look at. The daily logs hold the same for good, so this can be lost.

use rekindle_core::observe::Observed;
use rekindle_core::scope::ProjectId;
use rekindle_core::time::{Date, Timestamp, day};
use rekindle_core::vault::priority::Priority;

use crate::db::{Db, Error, Row, params};

/// How long an observation stays in the list (STO-01).
pub const KEPT_DAYS: i64 = 30;

/// One window of a session, observed.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The window.
    pub dedupe_key: String,
    /// The session.
    pub session: String,
    /// The project it was held in.
    pub project: Option<ProjectId>,
    /// `compaction` or `shutdown`.
    pub trigger: String,
    /// The person's day.
    pub day: Date,
    /// When it was observed.
    pub at: Timestamp,
    /// What was observed.
    pub observed: Observed,
    /// About how many tokens that is (OBS-24).
    pub tokens: u64,
    /// How often it was distilled since (REF-15).
    pub distilled: u32,
}

impl Entry {
    /// The highest priority in it (OBS-21).
    pub fn priority(&self) -> Priority {
        self.observed.findings().map(|finding| finding.priority).max().unwrap_or(Priority::Low)
    }
}

/// Adds to the list. The same window again changes nothing (CAP-14); says whether it was added.
pub fn add(db: &mut Db, entry: &Entry) -> Result<bool, Error> {
    let observed = json(db, entry)?;
    db.change(|transaction| {
        transaction.execute(
            "INSERT INTO observations (dedupe_key, session, project, cause, day, at, priority, observed, tokens)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (dedupe_key) DO NOTHING",
            params![
                entry.dedupe_key,
                entry.session,
                entry.project.as_ref().map(ProjectId::as_str),
                entry.trigger,
                day(entry.day),
                entry.at.as_millisecond(),
                entry.priority().word(),
                observed,
                i64::try_from(entry.tokens).unwrap_or(i64::MAX),
            ],
        )
    })
    .map(|rows| rows > 0)
}

/// Puts a shorter version in an observation's place (REF-15).
pub fn replace(db: &mut Db, entry: &Entry) -> Result<bool, Error> {
    let observed = json(db, entry)?;
    db.change(|transaction| {
        transaction.execute(
            "UPDATE observations SET observed = ?2, tokens = ?3, priority = ?4, distilled = ?5 WHERE dedupe_key = ?1",
            params![
                entry.dedupe_key,
                observed,
                i64::try_from(entry.tokens).unwrap_or(i64::MAX),
                entry.priority().word(),
                entry.distilled,
            ],
        )
    })
    .map(|rows| rows > 0)
}

fn json(db: &Db, entry: &Entry) -> Result<String, Error> {
    serde_json::to_string(&entry.observed).map_err(|error| db.odd(error.to_string()))
}

/// What was observed from one day to another, both included, in order.
pub fn between(db: &Db, from: Date, to: Date) -> Result<Vec<Entry>, Error> {
    list(db, "day >= ?1 AND day <= ?2", [day(from), day(to)])
}

/// What was observed in a session, in order.
pub fn of_session(db: &Db, session: &str) -> Result<Vec<Entry>, Error> {
    list(db, "session = ?1", [session])
}

fn list(db: &Db, which: &str, params: impl rusqlite::Params) -> Result<Vec<Entry>, Error> {
    let rows: Vec<(Entry, String)> = db.run(|connection| {
        connection
            .prepare_cached(&format!(
                "SELECT dedupe_key, session, project, cause, day, at, observed, tokens, distilled
                 FROM observations WHERE {which} ORDER BY number",
            ))?
            .query_map(params, read)?
            .collect()
    })?;
    rows.into_iter()
        .map(|(entry, observed)| match serde_json::from_str(&observed) {
            Ok(observed) => Ok(Entry { observed, ..entry }),
            Err(error) => Err(db.odd(format!("observation {}: {error}", entry.dedupe_key))),
        })
        .collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<(Entry, String)> {
    let project: Option<String> = row.get(2)?;
    let at: i64 = row.get(5)?;
    let entry = Entry {
        dedupe_key: row.get(0)?,
        session: row.get(1)?,
        project: project.map(ProjectId::new),
        trigger: row.get(3)?,
        day: row.get::<_, String>(4)?.parse().unwrap_or_default(),
        at: Timestamp::from_millisecond(at).unwrap_or_default(),
        observed: Observed::default(),
        tokens: u64::try_from(row.get::<_, i64>(7)?).unwrap_or(0),
        distilled: row.get(8)?,
    };
    Ok((entry, row.get(6)?))
}

/// How many tokens were observed on a day, and in how many windows (REF-01).
pub fn tokens_of(db: &Db, date: Date) -> Result<(u64, u64), Error> {
    db.run(|connection| {
        connection.query_row(
            "SELECT coalesce(sum(tokens), 0), count(*) FROM observations WHERE day = ?1",
            [day(date)],
            |row| {
                let whole = |column| row.get::<_, i64>(column).map(|value| u64::try_from(value).unwrap_or(0));
                Ok((whole(0)?, whole(1)?))
            },
        )
    })
}

/// Drops what is older than the list holds; the logs have it.
pub fn tidy(db: &mut Db, today: Date) -> Result<usize, Error> {
    let Ok(oldest) = today.checked_sub(jiff::Span::new().days(KEPT_DAYS)) else { return Ok(0) };
    db.change(|transaction| transaction.execute("DELETE FROM observations WHERE day < ?1", [day(oldest)]))
}

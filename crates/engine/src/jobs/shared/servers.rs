//! Builds the shared server of the settings, and remembers how it is (GEN-03). No other place reads `engines.*`.
//!
//! The database also keeps the servers of earlier settings: they hold text of ours, and `forget` must reach it.

use jiff::SignedDuration;
use rekindle_core::base::time::Timestamp;
use rekindle_core::config::{EngineSettings, RedisSettings, SharedEngineName};

use super::SharedError;
use super::redis::RedisServer;
use crate::platform::db::{self, Database, OptionalExtension, Row, params};

/// The first pause after a failure; each later one doubles.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(30);
const MAX_PAUSE: SignedDuration = SignedDuration::from_mins(30);
/// The longest pause that can be meant; a longer one comes from a clock that was set back.
const LONGEST_POSSIBLE_PAUSE: SignedDuration = SignedDuration::from_hours(1);

/// The server of the settings; `None` if nothing is shared.
pub fn configured(settings: &EngineSettings) -> Option<&RedisSettings> {
    match settings.shared {
        SharedEngineName::Embedded => None,
        SharedEngineName::Redis => Some(&settings.redis),
    }
}

/// Opens the server of the settings.
pub fn open(settings: &EngineSettings) -> Option<Result<RedisServer, SharedError>> {
    configured(settings).map(RedisServer::open)
}

/// What is known of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerState {
    /// How to reach it.
    pub settings: RedisSettings,
    /// The time of the last attempt.
    pub tried: Timestamp,
    /// The time of the last exchange.
    pub reached: Option<Timestamp>,
    /// The time before which it is not tried again.
    pub not_before: Timestamp,
    /// The problem of the last attempt.
    pub problem: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// The number of the last exchange.
    pub exchanges: i64,
    /// The number of the last observation that is there.
    pub pushed: i64,
}

impl ServerState {
    /// A server that was never asked.
    pub fn unknown(settings: &RedisSettings) -> Self {
        let never = Timestamp::UNIX_EPOCH;
        Self {
            settings: settings.clone(),
            tried: never,
            reached: None,
            not_before: never,
            problem: None,
            version: None,
            exchanges: 0,
            pushed: 0,
        }
    }

    /// True if it failed a moment ago and should be left alone.
    pub fn is_paused(&self, now: Timestamp) -> bool {
        let left = self.not_before.duration_since(now);
        left > SignedDuration::ZERO && left <= LONGEST_POSSIBLE_PAUSE
    }
}

const COLUMNS: &str =
    "url, username, password_variable, tried, reached, not_before, problem, version, exchanges, pushed
     FROM engine_servers";

fn read(row: &Row<'_>) -> rusqlite::Result<ServerState> {
    let time = |millis: i64| Timestamp::from_millisecond(millis).unwrap_or_default();
    Ok(ServerState {
        settings: RedisSettings { url: row.get(0)?, username: row.get(1)?, password_variable: row.get(2)? },
        tried: time(row.get(3)?),
        reached: row.get::<_, Option<i64>>(4)?.map(time),
        not_before: time(row.get(5)?),
        problem: row.get(6)?,
        version: row.get(7)?,
        exchanges: row.get(8)?,
        pushed: row.get(9)?,
    })
}

/// All servers that this machine ever shared with.
pub fn known(db: &Database) -> Result<Vec<ServerState>, db::Error> {
    db.run(|c| c.prepare(&format!("SELECT {COLUMNS} ORDER BY url"))?.query_map([], read)?.collect())
}

/// What is known of the server of these settings.
pub fn state(db: &Database, settings: &RedisSettings) -> Result<Option<ServerState>, db::Error> {
    let sql = format!("SELECT {COLUMNS} WHERE url = ?1");
    db.run(|c| c.query_row(&sql, [&settings.url], read).optional())
}

/// Remembers a server before anything is sent to it.
pub(crate) fn remember(db: &mut Database, settings: &RedisSettings) -> Result<(), db::Error> {
    let RedisSettings { url, username, password_variable } = settings;
    let sql =
        "INSERT INTO engine_servers (url, engine, username, password_variable) VALUES (?1, 'redis', ?2, ?3)
        ON CONFLICT (url) DO UPDATE SET username = ?2, password_variable = ?3";
    db.change(|transaction| transaction.execute(sql, params![url, username, password_variable])).map(drop)
}

/// Records a finished exchange.
pub(crate) fn record_success(
    db: &mut Database,
    url: &str,
    at: Timestamp,
    (exchanges, pushed): (i64, i64),
    version: &str,
) -> Result<(), db::Error> {
    let sql =
        "UPDATE engine_servers SET tried = ?2, reached = ?2, not_before = 0, failures = 0, problem = NULL,
        exchanges = ?3, pushed = ?4, version = ?5 WHERE url = ?1";
    let at = at.as_millisecond();
    db.change(|transaction| transaction.execute(sql, params![url, at, exchanges, pushed, version])).map(drop)
}

/// Records a failure and the pause before the next attempt.
pub(crate) fn record_failure(
    db: &mut Database,
    url: &str,
    at: Timestamp,
    problem: &str,
) -> Result<(), db::Error> {
    db.change(|transaction| {
        let failures: i64 = transaction
            .query_row("SELECT failures FROM engine_servers WHERE url = ?1", [url], |row| row.get(0))
            .optional()?
            .unwrap_or(0);
        let doublings = u32::try_from(failures).unwrap_or(0).min(10);
        let pause = FIRST_PAUSE.saturating_mul(1 << doublings).min(MAX_PAUSE);
        let until = at.saturating_add(pause).unwrap_or(at).as_millisecond();
        transaction.execute(
            "UPDATE engine_servers SET tried = ?2, not_before = ?3, failures = failures + 1, problem = ?4
             WHERE url = ?1",
            params![url, at.as_millisecond(), until, problem],
        )
    })?;
    Ok(())
}

/// Forgets a server that has nothing of ours any more.
pub fn drop_server(db: &mut Database, url: &str) -> Result<(), db::Error> {
    db.change(|transaction| transaction.execute("DELETE FROM engine_servers WHERE url = ?1", [url])).map(drop)
}

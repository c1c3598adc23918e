//! The table `otel_events` (O11-03). The oldest events leave first, by number and by age.

use jiff::SignedDuration;
use rekindle_core::base::time::Timestamp;
use rekindle_core::telemetry::{EventLevel, TelemetryEvent};
use rusqlite::Connection;

use crate::platform::db::{self, Database, OptionalExtension, params};

/// The most events in the table.
pub const MAX_EVENTS: i64 = 50_000;
/// The age in days at which an event is deleted.
pub const RETENTION_DAYS: i64 = 30;

/// A filter of events.
#[derive(Clone, Debug, Default)]
pub struct TelemetryFilter {
    /// Only events since.
    pub since: Option<Timestamp>,
    /// Only events of this stage.
    pub stage: Option<String>,
    /// Only events of this level or above.
    pub level: Option<EventLevel>,
    /// Only events of which the name, an id, the step or the kind of error contains this.
    pub text: Option<String>,
}

impl TelemetryFilter {
    /// True if an event passes the filter.
    pub fn accepts(&self, event: &TelemetryEvent) -> bool {
        self.since.is_none_or(|since| event.at >= since)
            && self.stage.as_ref().is_none_or(|stage| event.stage == *stage)
            && self.level.is_none_or(|level| event.level >= level)
            && self.text.as_ref().is_none_or(|text| event.contains(text))
    }
}

/// The events of the table, and the number of rows that could not be read.
#[derive(Debug, Default)]
pub struct StoredEvents {
    /// The events, newest first.
    pub events: Vec<TelemetryEvent>,
    /// The number of unreadable rows.
    pub damaged: u64,
}

/// Stores an event within a transaction. A known id is stored once.
pub(crate) fn insert(connection: &Connection, event: &TelemetryEvent) -> rusqlite::Result<()> {
    let data = serde_json::to_string(event)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    connection
        .prepare_cached(
            "INSERT INTO otel_events (id, at, data) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING",
        )?
        .execute(params![event.id, event.at.as_millisecond(), data])
        .map(drop)
}

/// True if an event is in the table.
pub(crate) fn contains(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    let found = connection
        .prepare_cached("SELECT 1 FROM otel_events WHERE id = ?1")?
        .query_row([id], |_| Ok(()))
        .optional()?;
    Ok(found.is_some())
}

/// Lists the events that pass a filter, newest first.
pub fn list(db: &Database, filter: &TelemetryFilter) -> Result<StoredEvents, db::Error> {
    let since = filter.since.map_or(i64::MIN, Timestamp::as_millisecond);
    let rows: Vec<String> = db.run(|connection| {
        connection
            .prepare("SELECT data FROM otel_events WHERE at >= ?1 ORDER BY at DESC, number DESC")?
            .query_map([since], |row| row.get::<_, String>(0))?
            .collect()
    })?;
    let mut stored = StoredEvents::default();
    for row in rows {
        match serde_json::from_str::<TelemetryEvent>(&row) {
            Ok(event) if filter.accepts(&event) => stored.events.push(event),
            Ok(_) => {}
            Err(_) => stored.damaged += 1,
        }
    }
    Ok(stored)
}

/// Deletes the oldest events beyond the bounds. Returns their number.
pub fn prune(db: &mut Database, now: Timestamp) -> Result<u64, db::Error> {
    let before = (now - SignedDuration::from_hours(24 * RETENTION_DAYS)).as_millisecond();
    db.change(|transaction| {
        let old = transaction.execute("DELETE FROM otel_events WHERE at < ?1", [before])?;
        let many = transaction.execute(
            "DELETE FROM otel_events WHERE number <= (SELECT max(number) FROM otel_events) - ?1",
            [MAX_EVENTS],
        )?;
        Ok((old + many) as u64)
    })
}

#[cfg(test)]
mod tests {
    use rekindle_core::telemetry::EventPhase;

    use super::*;

    fn event(number: i64, at: Timestamp) -> TelemetryEvent {
        TelemetryEvent::new(format!("e{number}"), at, "observe", EventPhase::Completed, EventLevel::Info)
    }

    /// O11-03: the table holds a bounded number of events of a bounded age.
    #[test]
    fn o11_03_the_table_is_bounded_in_size_and_age() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Database::open(&folder.path().join("rekindle.db")).unwrap();
        let now: Timestamp = "2026-11-18T10:00:00Z".parse().unwrap();
        let many = MAX_EVENTS + 500;
        db.change(|t| (0..many).try_for_each(|number| insert(t, &event(number, now)))).unwrap();
        let month = now - SignedDuration::from_hours(24 * 31);
        db.change(|t| insert(t, &event(-1, month))).unwrap();
        db.change(|t| insert(t, &event(0, now))).unwrap();
        prune(&mut db, now).unwrap();
        let kept = list(&db, &TelemetryFilter::default()).unwrap();
        assert!(kept.events.len() as i64 <= MAX_EVENTS, "{}", kept.events.len());
        assert_eq!(kept.events[0].id, format!("e{}", many - 1), "the newest stay");
        assert!(kept.events.iter().all(|event| event.at == now), "the old one is gone");
    }

    #[test]
    fn a_damaged_row_is_counted_and_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = Database::open(&folder.path().join("rekindle.db")).unwrap();
        db.change(|t| insert(t, &event(1, Timestamp::UNIX_EPOCH))).unwrap();
        db.change(|t| t.execute("INSERT INTO otel_events (id, at, data) VALUES ('x', 5, '{rubbish')", []))
            .unwrap();
        let stored = list(&db, &TelemetryFilter::default()).unwrap();
        assert_eq!((stored.events.len(), stored.damaged), (1, 1));
    }
}

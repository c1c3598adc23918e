//! The hot list of observations (STO-01…04): those of each day, in order, for as long as reflection and the
//! briefing need them. The daily logs hold the same for good, so [`restore`] can rebuild a lost list.

pub mod elsewhere;

use std::collections::BTreeMap;

use rekindle_core::base::id::point_id;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::{Date, TimeZone, Timestamp, day, format_utc};
use rekindle_core::knowledge::observe::ObservedSession;
use rekindle_core::knowledge::observe::write_gate::GateCounts;
use rekindle_core::text::tokens;
use rekindle_core::vault::daily_log::{self, DailyLog, LogSection};
use rekindle_core::vault::priority::Priority;
use serde_json::{Value, json};

use crate::platform::db::{Database, Error, Row, params};

/// The age in days at which an observation leaves the list (STO-01).
pub const RETENTION_DAYS: i64 = 30;
/// The schema version of an entry (STO-02).
pub const SCHEMA_VERSION: u32 = 1;

/// The observation of one window of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservationRecord {
    /// The key of the window.
    pub dedupe_key: String,
    /// The id of the session.
    pub session: String,
    /// The project of the session.
    pub project: Option<ProjectId>,
    /// The cause of the observation: `compaction` or `shutdown`.
    pub trigger: String,
    /// The day in the person's zone.
    pub day: Date,
    /// The time of the observation.
    pub at: Timestamp,
    /// The content of the observation.
    pub observed: ObservedSession,
    /// The estimated number of tokens (OBS-24).
    pub tokens: u64,
    /// The number of distillations since (REF-15).
    pub distilled: u32,
    /// The schema version; [`SCHEMA_VERSION`] for a new entry.
    pub schema_version: u32,
}

impl ObservationRecord {
    /// The highest priority of its findings (OBS-21).
    pub fn max_priority(&self) -> Priority {
        self.observed.findings().map(|finding| finding.priority).max().unwrap_or(Priority::Low)
    }

    /// Builds the entry of a section of the log of `day`. A section of an earlier version lacks the exact
    /// time.
    fn of_section(key: &str, section: &daily_log::LoggedObservation, day: Date) -> Option<Self> {
        let session = section.source.session.clone()?;
        let at = || day.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).ok().map(|noon| noon.timestamp());
        let observed = ObservedSession::of_section(section, day);
        Some(Self {
            dedupe_key: key.to_owned(),
            session,
            project: section.source.project.as_deref().map(ProjectId::new),
            trigger: section.trigger.clone(),
            day,
            at: section.ended.or_else(at)?,
            tokens: tokens_in(&observed),
            observed,
            distilled: 0,
            schema_version: SCHEMA_VERSION,
        })
    }

    /// Extends the entry by a section of a later day's log.
    fn go_on(&mut self, section: &daily_log::LoggedObservation, day: Date) {
        let more = ObservedSession::of_section(section, day);
        self.observed.parts.extend(more.parts);
        (self.observed.current_task, self.observed.suggested_response) =
            (more.current_task, more.suggested_response);
        (self.day, self.tokens) = (day, tokens_in(&self.observed));
    }

    /// Renders the entry for other programs (STO-02), with its id in a vector collection (STO-07).
    pub fn json(&self) -> Value {
        json!({
            "dedupeKey": self.dedupe_key,
            "pointId": point_id(&self.dedupe_key),
            "sessionId": self.session,
            "project": self.project.as_ref().map(ProjectId::as_str),
            "trigger": self.trigger,
            "priority": self.max_priority(),
            "day": day(self.day),
            "observations": self.observed.parts,
            "currentTask": self.observed.current_task,
            "suggestedResponse": self.observed.suggested_response,
            "timestamp": format_utc(self.at),
            "tokenCount": self.tokens,
            "schemaVersion": self.schema_version,
        })
    }
}

/// Estimates the tokens of an observation (OBS-24).
pub fn tokens_in(observed: &ObservedSession) -> u64 {
    let narratives = observed.parts.iter().map(|part| tokens::estimate_tokens(&part.narrative)).sum::<u64>();
    narratives + observed.findings().map(|finding| tokens::estimate_tokens(&finding.text)).sum::<u64>()
}

/// Adds an entry; false if the window is already in the list (CAP-14).
pub fn add(db: &mut Database, entry: &ObservationRecord) -> Result<bool, Error> {
    add_from(db, entry, None)
}

fn add_from(db: &mut Database, entry: &ObservationRecord, machine: Option<&str>) -> Result<bool, Error> {
    let observed = serialised(db, entry)?;
    db.change(|transaction| {
        let rows = transaction.execute(
            "INSERT INTO observations (dedupe_key, session, project, cause, day, at, priority, observed, tokens,
                schema_version, machine)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (dedupe_key) DO NOTHING",
            params![
                entry.dedupe_key,
                entry.session,
                entry.project.as_ref().map(ProjectId::as_str),
                entry.trigger,
                day(entry.day),
                entry.at.as_millisecond(),
                entry.max_priority().as_str(),
                observed,
                i64::try_from(entry.tokens).unwrap_or(i64::MAX),
                entry.schema_version,
                machine,
            ],
        )?;
        if rows > 0 && machine.is_none() {
            count(transaction, entry)?;
        }
        Ok(rows > 0)
    })
}

/// Fills an empty list from the daily logs, in order. A reflection covers the observations that stand before
/// it in the log. Returns the number of entries.
pub fn restore(db: &mut Database, logs: &[(Date, DailyLog)]) -> Result<usize, Error> {
    let mut restored: Vec<ObservationRecord> = Vec::new();
    let mut reflected = 0;
    let sections = logs.iter().flat_map(|(day, log)| log.sections.iter().map(|section| (*day, section)));
    for (day, section) in sections {
        match section {
            LogSection::Observation(section) => {
                let Some(key) = &section.source.dedupe_key else { continue };
                // A session that crossed midnight has a section in each of the logs.
                let base = key.rsplit_once('-').map_or(key.as_str(), |(base, _)| base);
                match restored.iter_mut().find(|entry| entry.dedupe_key == base) {
                    Some(entry) => entry.go_on(section, day),
                    None => restored.extend(ObservationRecord::of_section(base, section, day)),
                }
            }
            LogSection::Reflected(_) => reflected = restored.len(),
            _ => {}
        }
    }
    let keys: Vec<String> = restored.iter().take(reflected).map(|entry| entry.dedupe_key.clone()).collect();
    // A backfill logs the newest sessions first.
    restored.sort_by_key(|entry| entry.at);
    for entry in &restored {
        add(db, entry)?;
    }
    mark_reflected(db, &keys)?;
    Ok(restored.len())
}

/// True if the list is empty, without even a forgotten entry.
pub fn is_empty(db: &Database) -> Result<bool, Error> {
    db.run(|connection| {
        connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM observations)", [], |row| row.get(0))
    })
}

/// Replaces an observation by a shorter version (REF-15), unless it is already as short.
pub fn replace(db: &mut Database, entry: &ObservationRecord) -> Result<bool, Error> {
    let observed = serialised(db, entry)?;
    db.change(|transaction| {
        transaction.execute(
            "UPDATE observations SET observed = ?2, tokens = ?3, priority = ?4, distilled = ?5
             WHERE dedupe_key = ?1 AND distilled < ?5",
            params![
                entry.dedupe_key,
                observed,
                i64::try_from(entry.tokens).unwrap_or(i64::MAX),
                entry.max_priority().as_str(),
                entry.distilled,
            ],
        )
    })
    .map(|rows| rows > 0)
}

fn serialised(db: &Database, entry: &ObservationRecord) -> Result<String, Error> {
    serde_json::to_string(&entry.observed).map_err(|error| db.corrupt_value(error.to_string()))
}

/// Lists the observations from one day to another, both included, in order, without forgotten ones.
pub fn in_date_range(db: &Database, from: Date, to: Date) -> Result<Vec<ObservationRecord>, Error> {
    list(db, "day >= ?1 AND day <= ?2", [day(from), day(to)])
}

/// Lists the observations of a session in order.
pub fn in_session(db: &Database, session: &str) -> Result<Vec<ObservationRecord>, Error> {
    list(db, "session = ?1", [session])
}

fn list(db: &Database, which: &str, params: impl rusqlite::Params) -> Result<Vec<ObservationRecord>, Error> {
    let rows: Vec<(ObservationRecord, String)> = db.run(|connection| {
        connection
            .prepare_cached(&format!(
                "SELECT dedupe_key, session, project, cause, day, at, observed, tokens, distilled,
                    schema_version
                 FROM observations WHERE {which} AND observed <> '' ORDER BY number",
            ))?
            .query_map(params, read)?
            .collect()
    })?;
    rows.into_iter()
        .map(|(entry, observed)| {
            let odd = |what: String| db.corrupt_value(format!("observation {}: {what}", entry.dedupe_key));
            if entry.schema_version > SCHEMA_VERSION {
                return Err(odd(format!("a newer Rekindle wrote it (schema {})", entry.schema_version)));
            }
            match serde_json::from_str(&observed) {
                Ok(observed) => Ok(ObservationRecord { observed, ..entry }),
                Err(error) => Err(odd(error.to_string())),
            }
        })
        .collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<(ObservationRecord, String)> {
    let project: Option<String> = row.get(2)?;
    let at: i64 = row.get(5)?;
    let entry = ObservationRecord {
        dedupe_key: row.get(0)?,
        session: row.get(1)?,
        project: project.map(ProjectId::new),
        trigger: row.get(3)?,
        day: row.get::<_, String>(4)?.parse().unwrap_or_default(),
        at: Timestamp::from_millisecond(at).unwrap_or_default(),
        observed: ObservedSession::default(),
        tokens: u64::try_from(row.get::<_, i64>(7)?).unwrap_or(0),
        distilled: row.get(8)?,
        schema_version: row.get(9)?,
    };
    Ok((entry, row.get(6)?))
}

/// Counts the tokens and windows observed on a day (REF-01).
pub fn daily_tokens(db: &Database, date: Date) -> Result<(u64, u64), Error> {
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

/// Counts the verdicts of the write gate per day, in order (FBK-08).
pub fn gate_verdicts(db: &Database, from: Date, to: Date) -> Result<BTreeMap<Date, GateCounts>, Error> {
    db.run(|connection| {
        connection
            .prepare_cached(
                "SELECT day, judged, passed, unverifiable, useless, conflicting FROM gated
                 WHERE day >= ?1 AND day <= ?2 ORDER BY day",
            )?
            .query_map([day(from), day(to)], |row| {
                let whole = |column| row.get::<_, i64>(column).map(|value| u64::try_from(value).unwrap_or(0));
                let counts = GateCounts {
                    judged: whole(1)?,
                    passed: whole(2)?,
                    unverifiable: whole(3)?,
                    useless: whole(4)?,
                    conflicting: whole(5)?,
                };
                Ok((row.get::<_, String>(0)?.parse().unwrap_or_default(), counts))
            })?
            .collect()
    })
}

/// Adds to the counts of a day. They outlive the list, which forgets and shortens.
fn count(transaction: &rusqlite::Transaction<'_>, entry: &ObservationRecord) -> rusqlite::Result<()> {
    let counts = GateCounts::count(&entry.observed);
    let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    transaction.execute(
        "INSERT INTO gated (day, judged, passed, unverifiable, useless, conflicting) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (day) DO UPDATE SET judged = judged + ?2, passed = passed + ?3,
            unverifiable = unverifiable + ?4, useless = useless + ?5, conflicting = conflicting + ?6",
        params![
            day(entry.day),
            whole(counts.judged),
            whole(counts.passed),
            whole(counts.unverifiable),
            whole(counts.useless),
            whole(counts.conflicting),
        ],
    )?;
    Ok(())
}

/// Lists the windows of these days without a reflection.
pub fn unreflected(db: &Database, from: Date, to: Date) -> Result<Vec<String>, Error> {
    db.run(|connection| {
        connection
            .prepare_cached(
                "SELECT dedupe_key FROM observations
                 WHERE day >= ?1 AND day <= ?2 AND reflected = 0 AND observed <> '' ORDER BY number",
            )?
            .query_map([day(from), day(to)], |row| row.get(0))?
            .collect()
    })
}

/// Marks windows as covered by a reflection.
pub fn mark_reflected(db: &mut Database, keys: &[String]) -> Result<(), Error> {
    db.change(|transaction| {
        let mut mark = transaction.prepare("UPDATE observations SET reflected = 1 WHERE dedupe_key = ?1")?;
        for key in keys {
            mark.execute([key])?;
        }
        Ok(())
    })
}

/// Deletes entries that are too old for the list; the logs still hold them.
pub fn remove_expired(db: &mut Database, today: Date) -> Result<usize, Error> {
    let Ok(oldest) = today.checked_sub(jiff::Span::new().days(RETENTION_DAYS)) else { return Ok(0) };
    db.change(|transaction| transaction.execute("DELETE FROM observations WHERE day < ?1", [day(oldest)]))
}

#[cfg(test)]
pub(crate) mod tests {
    use rekindle_core::base::provenance::Origin;
    use rekindle_core::knowledge::observe::{Finding, FindingKind};
    use rekindle_testkit::fixtures;

    use super::*;

    fn open() -> (tempfile::TempDir, Database) {
        let folder = tempfile::tempdir().unwrap();
        let db = Database::open(&folder.path().join("rekindle.db")).unwrap();
        (folder, db)
    }

    fn date(day: i8) -> Date {
        Date::constant(2026, 11, day)
    }

    /// Builds a window of `session` observed that day.
    pub(crate) fn entry(session: &str, day: Date, observed: ObservedSession) -> ObservationRecord {
        ObservationRecord {
            dedupe_key: format!("key-{session}"),
            session: session.to_owned(),
            project: None,
            trigger: "shutdown".to_owned(),
            day,
            at: day.at(10, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp(),
            observed,
            tokens: 20,
            distilled: 0,
            schema_version: SCHEMA_VERSION,
        }
    }

    fn window(key: &str, day: i8, priority: Priority) -> ObservationRecord {
        let rule = fixtures::finding(FindingKind::Rule, Origin::User, &format!("Rule {key}"));
        let findings = vec![Finding { priority, ..rule }];
        ObservationRecord {
            dedupe_key: key.to_owned(),
            project: Some(ProjectId::new("github.com/acme/pumps")),
            tokens: 10,
            ..entry(key, date(day), fixtures::observed("A story.", findings))
        }
    }

    #[test]
    fn sto_01_cap_14_a_window_is_listed_once_and_reads_back() {
        let (_folder, mut db) = open();
        let one = window("a", 14, Priority::High);
        assert!(add(&mut db, &one).unwrap());
        assert!(!add(&mut db, &ObservationRecord { tokens: 99, ..one.clone() }).unwrap());
        assert_eq!(in_date_range(&db, date(1), date(30)).unwrap(), [one]);
    }

    #[test]
    fn sto_02_sto_07_an_entry_has_its_fields_its_version_and_its_point() {
        let (_folder, mut db) = open();
        add(&mut db, &window("a", 14, Priority::High)).unwrap();
        let [entry] = in_date_range(&db, date(14), date(14)).unwrap().try_into().unwrap();
        let json = entry.json();
        let fields = ["dedupeKey", "sessionId", "trigger", "priority", "observations", "currentTask"];
        let more = ["suggestedResponse", "timestamp", "tokenCount", "schemaVersion", "pointId"];
        for field in fields.iter().chain(&more) {
            assert!(json.get(field).is_some(), "{field} is not in {json}");
        }
        assert_eq!((&json["schemaVersion"], &json["priority"]), (&json!(1), &json!("high")));
        assert_eq!(json["pointId"], json!(point_id("a")));
        db.change(|t| t.execute("UPDATE observations SET schema_version = 2", [])).unwrap();
        let error = in_date_range(&db, date(14), date(14)).unwrap_err().to_string();
        assert!(error.contains("observation a") && error.contains("newer Rekindle"), "{error}");
    }

    #[test]
    fn sto_02_ref_01_days_are_told_apart_in_order_and_counted() {
        let (_folder, mut db) = open();
        for (key, day) in [("b", 14), ("a", 14), ("c", 15), ("d", 16)] {
            add(&mut db, &window(key, day, Priority::Low)).unwrap();
        }
        let keys: Vec<String> = in_date_range(&db, date(14), date(15))
            .unwrap()
            .into_iter()
            .map(|entry| entry.dedupe_key)
            .collect();
        assert_eq!(keys, ["b", "a", "c"]);
        assert_eq!(daily_tokens(&db, date(14)).unwrap(), (20, 2));
        assert_eq!(daily_tokens(&db, date(13)).unwrap(), (0, 0));
    }

    #[test]
    fn ref_15_a_shorter_version_takes_the_place_once() {
        let (_folder, mut db) = open();
        let full = window("a", 10, Priority::High);
        add(&mut db, &full).unwrap();
        let short = ObservationRecord {
            observed: ObservedSession::default(),
            tokens: 0,
            distilled: 2,
            ..full.clone()
        };
        assert!(replace(&mut db, &short).unwrap());
        assert!(
            !replace(&mut db, &ObservationRecord { distilled: 1, ..full.clone() }).unwrap(),
            "it does not grow again"
        );
        assert_eq!(in_date_range(&db, date(10), date(10)).unwrap(), [short]);
        assert!(!replace(&mut db, &window("other", 10, Priority::High)).unwrap());
    }

    #[test]
    fn x_29_what_was_reflected_on_is_known() {
        let (_folder, mut db) = open();
        for key in ["a", "b"] {
            add(&mut db, &window(key, 14, Priority::High)).unwrap();
        }
        mark_reflected(&mut db, &["a".to_owned()]).unwrap();
        assert_eq!(unreflected(&db, date(1), date(14)).unwrap(), ["b"]);
        assert_eq!(unreflected(&db, date(1), date(13)).unwrap(), [] as [String; 0]);
    }

    #[test]
    fn what_was_forgotten_is_passed_over_and_what_is_damaged_is_named() {
        let (_folder, mut db) = open();
        for key in ["a", "b"] {
            add(&mut db, &window(key, 14, Priority::High)).unwrap();
        }
        db.change(|t| t.execute("UPDATE observations SET observed = '' WHERE dedupe_key = 'a'", [])).unwrap();
        assert_eq!(in_date_range(&db, date(14), date(14)).unwrap().len(), 1);
        db.change(|t| t.execute("UPDATE observations SET observed = '{' WHERE dedupe_key = 'b'", []))
            .unwrap();
        assert!(in_date_range(&db, date(14), date(14)).unwrap_err().to_string().contains("observation b"));
    }

    #[test]
    fn sto_01_the_list_holds_a_month() {
        let (_folder, mut db) = open();
        for (key, day) in [("old", 1), ("new", 30)] {
            add(&mut db, &window(key, day, Priority::High)).unwrap();
        }
        assert_eq!(remove_expired(&mut db, Date::constant(2026, 12, 1)).unwrap(), 0);
        assert_eq!(remove_expired(&mut db, Date::constant(2026, 12, 2)).unwrap(), 1);
        assert_eq!(in_date_range(&db, date(1), date(30)).unwrap().len(), 1);
    }
}

//! Observations of other machines (B-16): their form on the way, and their place in the hot list.

use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::{Date, Timestamp, day};
use rekindle_core::event::redact_data;
use rekindle_core::knowledge::observe::{ObservedSession, ObservedTopic};
use rekindle_core::vault::tombstone::Graveyard;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ObservationRecord, SCHEMA_VERSION, add_from, list, serialised, tokens_in};
use crate::platform::db::{Database, Error};

/// An entry as machines exchange it: the entry of STO-02 with its machine.
pub fn shared_json(entry: &ObservationRecord, machine: &str) -> Value {
    let mut json = entry.json();
    json["machine"] = json!(machine);
    json
}

/// Reads the entry of another machine, with the letters of that machine. `None` for one that this version does not
/// understand, or that was emptied because its words were forgotten. Secrets are removed again (B-03).
pub fn from_shared_json(text: &str) -> Option<(ObservationRecord, String)> {
    let mut json: Value = serde_json::from_str(text).ok()?;
    redact_data(&mut json);
    let entry: SharedEntry = serde_json::from_value(json).ok()?;
    let observed = ObservedSession {
        parts: entry.observations,
        current_task: entry.current_task,
        suggested_response: entry.suggested_response,
    };
    let record = ObservationRecord {
        dedupe_key: entry.dedupe_key,
        session: entry.session_id,
        project: entry.project.map(ProjectId::new),
        trigger: entry.trigger,
        day: entry.day.parse().ok()?,
        at: entry.timestamp,
        tokens: tokens_in(&observed),
        observed,
        distilled: 0,
        schema_version: entry.schema_version,
    };
    (record.schema_version <= SCHEMA_VERSION && !record.observed.is_empty())
        .then_some((record, entry.machine))
}

/// The fields of a shared entry that this machine reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SharedEntry {
    dedupe_key: String,
    session_id: String,
    project: Option<String>,
    trigger: String,
    day: String,
    observations: Vec<ObservedTopic>,
    current_task: Option<String>,
    suggested_response: Option<String>,
    timestamp: Timestamp,
    schema_version: u32,
    machine: String,
}

/// Removes what was forgotten here from an observation (B-08). Returns true if anything was.
pub fn remove_forgotten(observed: &mut ObservedSession, graves: &Graveyard) -> bool {
    if graves.is_empty() {
        return false;
    }
    let before = observed.clone();
    for topic in &mut observed.parts {
        topic.findings.retain(|finding| {
            !graves.holds_text(&finding.text) && !finding.messages.iter().any(|id| graves.holds_message(id))
        });
        if graves.holds_text(&topic.narrative) {
            topic.narrative.clear();
        }
    }
    for text in [&mut observed.current_task, &mut observed.suggested_response] {
        if text.as_ref().is_some_and(|text| graves.holds_text(text)) {
            *text = None;
        }
    }
    *observed != before
}

/// Adds an entry of another machine (B-16), which has counted it there.
pub fn add_from_elsewhere(
    db: &mut Database,
    entry: &ObservationRecord,
    machine: &str,
) -> Result<bool, Error> {
    add_from(db, entry, Some(machine))
}

/// The keys of the observations of a day, forgotten ones included, each with true if this machine made it.
pub fn keys_of_day(db: &Database, date: Date) -> Result<Vec<(String, bool)>, Error> {
    db.run(|connection| {
        connection
            .prepare_cached(
                "SELECT dedupe_key, machine IS NULL FROM observations WHERE day = ?1 ORDER BY number",
            )?
            .query_map([day(date)], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
    })
}

/// The number of the last observation, whichever machine made it.
pub fn last_number(db: &Database) -> Result<i64, Error> {
    db.run(|connection| {
        connection.query_row("SELECT coalesce(max(number), 0) FROM observations", [], |row| row.get(0))
    })
}

/// The number of observations of this machine after that number: other machines do not have them yet.
pub fn unsent(db: &Database, pushed: i64) -> Result<u64, Error> {
    let sql = "SELECT count(*) FROM observations WHERE number > ?1 AND machine IS NULL";
    let count: i64 = db.run(|connection| connection.query_row(sql, [pushed], |row| row.get(0)))?;
    Ok(u64::try_from(count).unwrap_or(0))
}

/// The entries that still hold what was forgotten on another machine, without it: tombstones arrive with the notes (B-08).
pub fn without_forgotten(db: &Database, graves: &Graveyard) -> Result<Vec<ObservationRecord>, Error> {
    if graves.is_empty() {
        return Ok(Vec::new());
    }
    let mut changed = list(db, "1", [])?;
    changed.retain_mut(|entry| remove_forgotten(&mut entry.observed, graves));
    Ok(changed)
}

/// Stores an entry without what was forgotten. An emptied entry stays, so that it is not read again.
pub fn save_without_forgotten(db: &mut Database, entry: &ObservationRecord) -> Result<(), Error> {
    let observed = if entry.observed.is_empty() { String::new() } else { serialised(db, entry)? };
    let sql = "UPDATE observations SET observed = ?2 WHERE dedupe_key = ?1";
    db.change(|transaction| transaction.execute(sql, [&entry.dedupe_key, &observed])).map(drop)
}

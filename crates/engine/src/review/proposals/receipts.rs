//! The receipts that the logs still owe (LOG-05, REV-14). What became of a proposal and the receipt for it are one
//! transaction, and the receipt goes once it is in a log: whoever dies in between, and however many days later the next one
//! comes, it is written once.

use std::collections::{BTreeMap, BTreeSet};

use rekindle_core::base::decided_by::By;
use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::Date;
use rekindle_core::vault::daily_log::{Decider, End, Receipt};

use super::Standing;
use crate::platform::db::{Db, Error, Transaction, params};
use crate::platform::random;

/// Receipts that go to the log together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owed {
    /// What they are known by in the log.
    pub key: String,
    /// The day in whose log they are, if whoever tried last came that far.
    pub day: Date,
    /// What they belong to (B-05).
    pub project: Option<String>,
    /// The receipts, the oldest first.
    pub receipts: Vec<Receipt>,
}

/// There has to be a receipt for what became of it.
pub(super) fn owe(transaction: &Transaction<'_>, standing: &Standing, end: End) -> rusqlite::Result<()> {
    let text = match standing.note.as_ref().filter(|_| end == End::Rejected) {
        Some(reason) => format!("{} (because: {reason})", standing.text()),
        None => standing.text().to_owned(),
    };
    let by = match standing.by {
        Some(By::Triage) => Decider::Triage,
        Some(By::Agent) => Decider::Agent,
        _ => Decider::Person,
    };
    let (id, with) = (standing.proposal.id.to_string(), standing.with.map(|with| with.to_string()));
    let receipt = serde_json::to_string(&Receipt { id, end, by, with, text })
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let project = standing.proposal.project.as_ref().map(|project| project.as_str().to_owned());
    let sql = "INSERT INTO receipts (project, receipt) VALUES (?1, ?2)";
    transaction.execute(sql, params![project, receipt]).map(drop)
}

/// Whether the logs owe something.
pub fn owes(db: &Db) -> Result<bool, Error> {
    let exists = "SELECT EXISTS (SELECT 1 FROM receipts)";
    db.run(|connection| connection.query_row(exists, [], |row| row.get(0)))
}

/// What the logs owe. What nobody tried to write yet is to be written on this day. Only for whoever writes it, one at a time.
pub fn owed(db: &mut Db, today: Date) -> Result<Vec<Owed>, Error> {
    let fresh = random::bytes::<16>().map_err(Error::Random)?;
    type Columns = (Option<String>, String, String, String);
    let rows: Vec<Columns> = db.change(|transaction| {
        let projects: BTreeSet<Option<String>> = transaction
            .prepare("SELECT DISTINCT project FROM receipts WHERE key IS NULL")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for project in projects {
            // Each project's for itself (B-05).
            let named = [&fresh[..], project.as_deref().unwrap_or_default().as_bytes()].concat();
            transaction.execute(
                "UPDATE receipts SET key = ?1, day = ?2 WHERE key IS NULL AND project IS ?3",
                params![ContentHash::of(&named).short(32), today.to_string(), project],
            )?;
        }
        transaction
            .prepare("SELECT project, receipt, key, day FROM receipts ORDER BY number")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
            .collect()
    })?;
    let mut found: Vec<Owed> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (project, receipt, key, day) in rows {
        let receipt =
            serde_json::from_str(&receipt).map_err(|error| db.odd(format!("a receipt: {error}")))?;
        let day = day.parse().map_err(|error| db.odd(format!("the day of a receipt: {error}")))?;
        let at = *places.entry(key.clone()).or_insert_with(|| {
            found.push(Owed { key, day, project, receipts: Vec::new() });
            found.len() - 1
        });
        if let Some(owed) = found.get_mut(at) {
            owed.receipts.push(receipt);
        }
    }
    Ok(found)
}

/// They are not in the log where they were looked for, and are to be written on this day.
pub fn try_on(db: &mut Db, key: &str, day: Date) -> Result<(), Error> {
    let sql = "UPDATE receipts SET day = ?2 WHERE key = ?1";
    db.change(|transaction| transaction.execute(sql, params![key, day.to_string()])).map(drop)
}

/// They are in the log.
pub fn paid(db: &mut Db, key: &str) -> Result<(), Error> {
    db.change(|transaction| transaction.execute("DELETE FROM receipts WHERE key = ?1", [key])).map(drop)
}

/// The ids of what somebody tried to write and that is still owed.
pub(super) fn late(db: &Db) -> Result<Vec<String>, Error> {
    db.run(|connection| {
        connection
            .prepare("SELECT receipt ->> '$.id' FROM receipts WHERE key IS NOT NULL ORDER BY number")?
            .query_map([], |row| row.get(0))?
            .collect()
    })
}

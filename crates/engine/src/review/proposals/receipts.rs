//! Receipts that are not yet in the logs (LOG-05, REV-14). A transaction stores the outcome of a proposal and
//! its receipt; the receipt is deleted once it is in a log. So a crash in between, however long ago, never
//! loses or repeats one.

use std::collections::{BTreeMap, BTreeSet};

use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::Date;
use rekindle_core::vault::daily_log::{ProposalEnd, ProposalReceipt, ReceiptDecider};

use super::ProposalRecord;
use crate::platform::db::{Database, Error, Transaction, params};
use crate::platform::random;

/// Receipts that are written to a log together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingReceipts {
    /// Their key in the log.
    pub key: String,
    /// The day of the log, as of the last attempt.
    pub day: Date,
    /// The project of the receipts (B-05).
    pub project: Option<String>,
    /// The receipts, the oldest first.
    pub receipts: Vec<ProposalReceipt>,
}

/// Queues the receipt of an outcome.
pub(super) fn add_pending(
    transaction: &Transaction<'_>,
    record: &ProposalRecord,
    end: ProposalEnd,
) -> rusqlite::Result<()> {
    let text = match record.note.as_ref().filter(|_| end == ProposalEnd::Rejected) {
        Some(reason) => format!("{} (because: {reason})", record.text()),
        None => record.text().to_owned(),
    };
    let by = match record.by {
        Some(DecidedBy::Triage) => ReceiptDecider::Triage,
        Some(DecidedBy::Agent) => ReceiptDecider::Agent,
        _ => ReceiptDecider::Person,
    };
    let (id, with) = (record.proposal.id.to_string(), record.decided_with.map(|with| with.to_string()));
    let receipt = serde_json::to_string(&ProposalReceipt { id, end, by, with, text })
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let project = record.proposal.project.as_ref().map(|project| project.as_str().to_owned());
    let sql = "INSERT INTO receipts (project, receipt) VALUES (?1, ?2)";
    transaction.execute(sql, params![project, receipt]).map(drop)
}

/// True if any receipt is not yet in a log.
pub fn has_pending(db: &Database) -> Result<bool, Error> {
    let exists = "SELECT EXISTS (SELECT 1 FROM receipts)";
    db.run(|connection| connection.query_row(exists, [], |row| row.get(0)))
}

/// Lists the receipts to write; those without an earlier attempt go to the log of `today`. Only one writer
/// may call this at a time.
pub fn take_pending(db: &mut Database, today: Date) -> Result<Vec<PendingReceipts>, Error> {
    let fresh = random::bytes::<16>().map_err(Error::Random)?;
    type Columns = (Option<String>, String, String, String);
    let rows: Vec<Columns> = db.change(|transaction| {
        let projects: BTreeSet<Option<String>> = transaction
            .prepare("SELECT DISTINCT project FROM receipts WHERE key IS NULL")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for project in projects {
            // Receipts are grouped by project (B-05).
            let named = [&fresh[..], project.as_deref().unwrap_or_default().as_bytes()].concat();
            transaction.execute(
                "UPDATE receipts SET key = ?1, day = ?2 WHERE key IS NULL AND project IS ?3",
                params![ContentHash::of_bytes(&named).short_hex(32), today.to_string(), project],
            )?;
        }
        transaction
            .prepare("SELECT project, receipt, key, day FROM receipts ORDER BY number")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
            .collect()
    })?;
    let mut found: Vec<PendingReceipts> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (project, receipt, key, day) in rows {
        let receipt = serde_json::from_str(&receipt)
            .map_err(|error| db.corrupt_value(format!("a receipt: {error}")))?;
        let day = day.parse().map_err(|error| db.corrupt_value(format!("the day of a receipt: {error}")))?;
        let at = *places.entry(key.clone()).or_insert_with(|| {
            found.push(PendingReceipts { key, day, project, receipts: Vec::new() });
            found.len() - 1
        });
        if let Some(owed) = found.get_mut(at) {
            owed.receipts.push(receipt);
        }
    }
    Ok(found)
}

/// Moves receipts that are missing from their log to the log of this day.
pub fn reschedule(db: &mut Database, key: &str, day: Date) -> Result<(), Error> {
    let sql = "UPDATE receipts SET day = ?2 WHERE key = ?1";
    db.change(|transaction| transaction.execute(sql, params![key, day.to_string()])).map(drop)
}

/// Deletes receipts that are in the log.
pub fn mark_written(db: &mut Database, key: &str) -> Result<(), Error> {
    db.change(|transaction| transaction.execute("DELETE FROM receipts WHERE key = ?1", [key])).map(drop)
}

/// The ids of receipts with an unfinished attempt.
pub(super) fn overdue_ids(db: &Database) -> Result<Vec<String>, Error> {
    db.run(|connection| {
        connection
            .prepare("SELECT receipt ->> '$.id' FROM receipts WHERE key IS NOT NULL ORDER BY number")?
            .query_map([], |row| row.get(0))?
            .collect()
    })
}

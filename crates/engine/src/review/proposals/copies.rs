//! A copy of the proposals and their history beside the database: they cannot be rebuilt from notes and logs, and
//! whoever loses the database must not lose what waits for a decision (B-07).
//!
//! The copy is written whenever the review page is, and read only by a database that has no proposal.

use std::io;
use std::path::PathBuf;

use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::base::time::Timestamp;
use rekindle_core::event::{Event, ProposalDecided, names};
use rekindle_core::knowledge::proposal::{Proposal, ProposalStatus};
use rekindle_core::vault::review::ProposalId;
use serde::{Deserialize, Serialize};

use super::{ProposalRecord, list_proposals};
use crate::jobs::queue::{self, FunctionRegistry};
use crate::platform::db::{Database, Error, Transaction};
use crate::platform::disk::{self, FileContent};
use crate::platform::home::DataPaths;
use crate::platform::random;

/// The tables that are copied, with their order and columns.
const COPIED_TABLES: [(&str, &str, &[&str]); 3] = [
    (
        "proposals",
        "id",
        &[
            "id",
            "status",
            "said",
            "created",
            "decided",
            "decided_by",
            "proposal",
            "run",
            "worded",
            "note",
            "reopened",
            "beside",
            "decided_with",
            "holds_in",
        ],
    ),
    ("decisions", "number", &["proposal", "at", "what", "by", "why", "leader"]),
    ("machine", "one", &["one", "name"]),
];
/// The maximum size of the file, far above that of many years.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// A row of a table.
#[derive(Serialize, Deserialize)]
struct CopiedRow {
    table: String,
    row: serde_json::Map<String, serde_json::Value>,
}

/// The file of the copy. `forget` erases from every file of its folder.
fn file(places: &DataPaths) -> PathBuf {
    places.proposals_folder().join("proposals.jsonl")
}

/// True if there is a copy.
pub fn has_copy(places: &DataPaths) -> bool {
    file(places).exists()
}

/// Writes the copy, if it changed. A database without proposals leaves the copy as it is. Returns true if it was
/// written.
pub fn save_copy(db: &Database, places: &DataPaths) -> Result<bool, Error> {
    let mut lines = String::new();
    for (table, order, columns) in COPIED_TABLES {
        let fields: Vec<String> = columns.iter().map(|column| format!("'{column}', {column}")).collect();
        let sql = format!("SELECT json_object({}) FROM {table} ORDER BY {order}", fields.join(", "));
        let rows: Vec<String> =
            db.run(|connection| connection.prepare(&sql)?.query_map([], |row| row.get(0))?.collect())?;
        if table == "proposals" && rows.is_empty() {
            return Ok(false);
        }
        for row in rows {
            lines.push_str(&format!("{{\"table\":\"{table}\",\"row\":{row}}}\n"));
        }
    }
    let path = file(places);
    let is_same =
        matches!(disk::read(&path, MAX_BYTES), Ok(FileContent::Bytes(bytes)) if bytes == lines.as_bytes());
    if is_same {
        return Ok(false);
    }
    disk::write_atomic(&path, lines.as_bytes()).map_err(|cause| Error::Folder { path, cause })?;
    Ok(true)
}

/// Takes the proposals from the copy into a database that has none: it was lost. Returns how many.
pub fn restore_if_lost(db: &mut Database, places: &DataPaths) -> Result<usize, Error> {
    let is_empty = "SELECT NOT EXISTS (SELECT 1 FROM proposals) AND NOT EXISTS (SELECT 1 FROM decisions)";
    if !db.run(|connection| connection.query_row(is_empty, [], |row| row.get(0)))? {
        return Ok(0);
    }
    let path = file(places);
    let bytes = match disk::read(&path, MAX_BYTES) {
        Ok(FileContent::Bytes(bytes)) => bytes,
        Ok(_) => return Ok(0),
        Err(cause) => return Err(Error::Folder { path, cause }),
    };
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let rows: Vec<CopiedRow> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let count = |t: &Transaction<'_>| -> rusqlite::Result<i64> {
        t.query_row("SELECT count(*) FROM proposals", [], |row| row.get(0))
    };
    let restored = db.change(|transaction| {
        for CopiedRow { table, row } in rows.iter().filter(|row| is_readable(row)) {
            let Some((name, _, columns)) = COPIED_TABLES.iter().find(|(name, ..)| name == table) else {
                continue;
            };
            let names = columns.join(", ");
            let values: Vec<String> = columns.iter().map(|column| format!("?1 ->> '$.{column}'")).collect();
            let sql = format!("INSERT OR IGNORE INTO {name} ({names}) SELECT {}", values.join(", "));
            transaction.execute(&sql, [serde_json::Value::from(row.clone()).to_string()])?;
        }
        count(transaction)
    })?;
    Ok(usize::try_from(restored).unwrap_or(0))
}

/// True unless the words of a proposal were forgotten, so that nothing of it can be asked.
fn is_readable(copied: &CopiedRow) -> bool {
    let proposal = copied.row.get("proposal").and_then(serde_json::Value::as_str);
    copied.table != "proposals"
        || proposal.is_some_and(|json| {
            serde_json::from_str::<Proposal>(json).is_ok_and(|proposal| !proposal.text.trim().is_empty())
        })
}

/// The approved proposals that no run will carry out: the run was lost with the database.
pub fn orphaned(db: &Database) -> Result<Vec<ProposalId>, Error> {
    let approved = |record: &ProposalRecord| {
        matches!(record.proposal.status, ProposalStatus::Approved | ProposalStatus::Edited)
            && record.proposal.identity().is_none()
    };
    let mut found = Vec::new();
    for record in list_proposals(db, false)?.iter().filter(|record| approved(record)) {
        let id = record.proposal.id;
        if !super::history::is_seen_to(db, record.decided_with.unwrap_or(id))? {
            found.push(id);
        }
    }
    Ok(found)
}

/// Sends the event of each orphaned proposal again, so that a run carries it out. Returns their ids.
pub fn adopt_orphans(
    db: &mut Database,
    registry: &FunctionRegistry,
    now: Timestamp,
) -> Result<Vec<ProposalId>, Error> {
    let orphans = orphaned(db)?;
    let path = db.path().to_owned();
    let mut events = Vec::with_capacity(orphans.len());
    for id in &orphans {
        let event = random::change_id(now).map_err(|cause| Error::Folder { path: path.clone(), cause })?;
        let decided = ProposalDecided { proposal_id: *id, by: DecidedBy::Command };
        let data = serde_json::to_value(decided).map_err(io::Error::from);
        let data = data.map_err(|cause| Error::Folder { path: path.clone(), cause })?;
        let (id, name) = (event.as_str().to_owned(), names::PROPOSAL_APPROVED.to_owned());
        events.push(Event { id, name, data, at: now });
    }
    db.change(|transaction| queue::send(transaction, registry, &events, now))?;
    Ok(orphans)
}

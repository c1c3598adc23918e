//! The store of proposals (STO-05, REV-04): the truth about what was proposed and what became of it.

use rekindle_core::proposal::{Evidence, Proposal, Status};
use rekindle_core::text::normal::normalised;
use rekindle_core::time::{Date, Timestamp};
use rekindle_core::vault::review::{Id, Kind};

use crate::db::{Db, Error, OptionalExtension, Transaction, params};

/// A proposal without an id, which the store gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct New {
    /// Which letter its id begins with.
    pub kind: Kind,
    /// The person's day.
    pub day: Date,
    /// Everything else; the id in it is ignored.
    pub proposal: Proposal,
}

/// What became of a proposal that was handed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handed {
    /// It is new.
    Proposed(Id),
    /// One that waits says the same: it has more to rest on now.
    Folded(Id),
    /// The same was decided on before, so nobody is asked again.
    Decided(Id, Status),
}

/// Hands proposals in, all of them or none. What says the same as one that is there is folded into it (B-07).
pub fn hand_in(db: &mut Db, new: &[New]) -> Result<Vec<Handed>, Error> {
    let path = db.path().to_owned();
    let handed = db.change(|transaction| {
        let mut handed = Vec::with_capacity(new.len());
        for new in new {
            handed.push(hand_in_one(transaction, new)?);
        }
        Ok(handed)
    })?;
    handed
        .into_iter()
        .collect::<Result<_, String>>()
        .map_err(|what| Error::Content { path: path.clone(), what })
}

fn hand_in_one(transaction: &Transaction<'_>, new: &New) -> rusqlite::Result<Result<Handed, String>> {
    let said = normalised(&new.proposal.text);
    let same: Option<String> = transaction
        .query_row(
            "SELECT proposal FROM proposals WHERE said = ?1 ORDER BY created DESC LIMIT 1",
            [&said],
            |row| row.get(0),
        )
        .optional()?;
    if let Some(same) = same {
        let mut there: Proposal = match serde_json::from_str(&same) {
            Ok(there) => there,
            Err(error) => return Ok(Err(format!("a proposal: {error}"))),
        };
        if !there.status.is_open() && there.status != Status::Expired {
            return Ok(Ok(Handed::Decided(there.id, there.status)));
        }
        if there.status.is_open() {
            there.evidence.merge(&new.proposal.evidence);
            there.confidence = there.confidence.max(new.proposal.confidence);
            write(transaction, &there, &said)?;
            return Ok(Ok(Handed::Folded(there.id)));
        }
    }
    let prefix = Id { kind: new.kind, date: new.day, number: 0 }.to_string();
    let prefix = prefix.trim_end_matches('0');
    let taken: Vec<String> = transaction
        .prepare_cached("SELECT id FROM proposals WHERE id >= ?1 AND id < ?1 || '~'")?
        .query_map([prefix], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let taken: Vec<Id> = taken.iter().filter_map(|id| id.parse().ok()).collect();
    let id = Id::next(new.kind, new.day, &taken);
    let proposal = Proposal { id, ..new.proposal.clone() };
    write(transaction, &proposal, &said)?;
    Ok(Ok(Handed::Proposed(id)))
}

fn write(transaction: &Transaction<'_>, proposal: &Proposal, said: &str) -> rusqlite::Result<usize> {
    let json = serde_json::to_string(proposal)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    transaction.execute(
        "INSERT INTO proposals (id, status, said, created, proposal) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO UPDATE SET status = ?2, said = ?3, proposal = ?5",
        params![
            proposal.id.to_string(),
            proposal.status.word(),
            said,
            proposal.created.as_millisecond(),
            json
        ],
    )
}

/// Every proposal that waits, the oldest first.
pub fn open(db: &Db) -> Result<Vec<Proposal>, Error> {
    list(db, "WHERE status IN ('pending', 'triaged') ORDER BY created, id")
}

/// Every proposal there ever was.
pub fn all(db: &Db) -> Result<Vec<Proposal>, Error> {
    list(db, "ORDER BY created, id")
}

fn list(db: &Db, which: &str) -> Result<Vec<Proposal>, Error> {
    let rows: Vec<String> = db.run(|connection| {
        connection
            .prepare(&format!("SELECT proposal FROM proposals {which}"))?
            .query_map([], |row| row.get(0))?
            .collect()
    })?;
    rows.iter()
        .map(|row| serde_json::from_str(row).map_err(|error| db.odd(format!("a proposal: {error}"))))
        .collect()
}

/// One proposal.
pub fn get(db: &Db, id: Id) -> Result<Option<Proposal>, Error> {
    let row: Option<String> = db.run(|connection| {
        connection
            .query_row("SELECT proposal FROM proposals WHERE id = ?1", [id.to_string()], |row| row.get(0))
            .optional()
    })?;
    row.map(|row| serde_json::from_str(&row).map_err(|error| db.odd(format!("proposal {id}: {error}"))))
        .transpose()
}

/// What is added to one that waits: another sighting of it.
pub fn support(db: &mut Db, id: Id, evidence: &Evidence) -> Result<bool, Error> {
    let Some(mut proposal) = get(db, id)? else { return Ok(false) };
    if !proposal.status.is_open() || !proposal.evidence.merge(evidence) {
        return Ok(false);
    }
    let said = normalised(&proposal.text);
    db.change(|transaction| write(transaction, &proposal, &said)).map(|rows| rows > 0)
}

/// How many wait, and since when the oldest does.
pub fn waiting(db: &Db) -> Result<(u64, Option<Timestamp>), Error> {
    db.run(|connection| {
        connection.query_row(
            "SELECT count(*), min(created) FROM proposals WHERE status IN ('pending', 'triaged')",
            [],
            |row| {
                let oldest: Option<i64> = row.get(1)?;
                let count: i64 = row.get(0)?;
                Ok((
                    u64::try_from(count).unwrap_or(0),
                    oldest.and_then(|oldest| Timestamp::from_millisecond(oldest).ok()),
                ))
            },
        )
    })
}

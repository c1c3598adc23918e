//! Deciding on proposals: each ends once, whoever comes first (REV-14). The decision and the event that sees to it are one
//! transaction, so nothing that was decided is forgotten.

use jiff::SignedDuration;
use rekindle_core::event::{Event, ProposalDecided, names};
use rekindle_core::proposal::{By, Proposal, Status};
use rekindle_core::text::admit;
use rekindle_core::text::normal::normalised;
use rekindle_core::time::Timestamp;
use rekindle_core::vault::review::Id;

use crate::db::{Db, Error, OptionalExtension, Row, Transaction, params};
use crate::queue;
use crate::random;
use crate::stages::REGISTRY;

/// The most that a line of MEMORY.md may say, in bytes.
const MOST_BYTES: usize = 8 * 1024;

/// What somebody wants to become of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It should be remembered as it is shown.
    Approve,
    /// It should be remembered in these words.
    Edit(String),
    /// It should not.
    Reject,
}

/// A proposal and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The proposal.
    pub proposal: Proposal,
    /// What the person made of it.
    pub worded: Option<String>,
    /// When it was decided on.
    pub decided: Option<Timestamp>,
    /// By which way.
    pub by: Option<By>,
    /// Why it waits although somebody decided on it.
    pub note: Option<String>,
    /// Since when it waits again.
    pub reopened: Option<Timestamp>,
}

impl Standing {
    /// What would be written: the person's own words where there are any.
    pub fn text(&self) -> &str {
        let words = self.worded.as_deref().unwrap_or(&self.proposal.text);
        if words.trim().is_empty() { &self.proposal.title } else { words }
    }

    /// Since when it waits.
    pub fn since(&self) -> Timestamp {
        self.reopened.unwrap_or(self.proposal.created).max(self.proposal.created)
    }

    /// For how many whole days it has waited.
    pub fn days(&self, now: Timestamp) -> i64 {
        now.duration_since(self.since()).as_hours().max(0) / 24
    }
}

/// What came of deciding.
#[derive(Clone, Debug, PartialEq)]
pub enum Decided {
    /// It is decided, and will be seen to.
    Now,
    /// The same was decided before.
    Already(Box<Standing>),
    /// It had ended otherwise; nothing changed.
    Ended(Box<Standing>),
    /// It cannot be decided like that, for this reason; nothing changed.
    Refused(String),
    /// There is no such proposal.
    Unknown,
}

const COLUMNS: &str = "proposal, worded, decided, decided_by, note, reopened";

type Columns = (String, Option<String>, Option<i64>, Option<String>, Option<String>, Option<i64>);

fn columns(row: &Row<'_>) -> rusqlite::Result<Columns> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
}

fn read((json, worded, decided, by, note, reopened): Columns) -> Result<Standing, String> {
    let at = |millis: Option<i64>| millis.and_then(|millis| Timestamp::from_millisecond(millis).ok());
    Ok(Standing {
        proposal: serde_json::from_str(&json).map_err(|error| format!("a proposal: {error}"))?,
        worded,
        decided: at(decided),
        by: by.and_then(|by| By::ALL.into_iter().find(|known| known.word() == by)),
        note,
        reopened: at(reopened),
    })
}

fn get(transaction: &Transaction<'_>, id: Id) -> rusqlite::Result<Option<Result<Standing, String>>> {
    let sql = format!("SELECT {COLUMNS} FROM proposals WHERE id = ?1");
    let row = transaction.query_row(&sql, [id.to_string()], columns).optional()?;
    Ok(row.map(read))
}

fn put(transaction: &Transaction<'_>, standing: &Standing) -> rusqlite::Result<()> {
    let Standing { proposal, worded, decided, by, note, reopened } = standing;
    let json = serde_json::to_string(proposal)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    transaction.execute(
        "UPDATE proposals SET status = ?2, proposal = ?3, worded = ?4, decided = ?5, decided_by = ?6, note = ?7,
            reopened = ?8 WHERE id = ?1",
        params![
            proposal.id.to_string(),
            proposal.status.word(),
            json,
            worded,
            decided.map(Timestamp::as_millisecond),
            by.map(By::word),
            note,
            reopened.map(Timestamp::as_millisecond),
        ],
    )?;
    Ok(())
}

/// Where one proposal stands.
pub fn standing(db: &Db, id: Id) -> Result<Option<Standing>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM proposals WHERE id = ?1");
    let row = db.run(|connection| connection.query_row(&sql, [id.to_string()], columns).optional())?;
    row.map(|row| read(row).map_err(|what| db.odd(what))).transpose()
}

/// Where all proposals stand, the oldest first; only those that wait if `open`.
pub fn standings(db: &Db, open: bool) -> Result<Vec<Standing>, Error> {
    let which = if open { "WHERE status IN ('pending', 'triaged')" } else { "" };
    let sql = format!("SELECT {COLUMNS} FROM proposals {which} ORDER BY created, id");
    let rows: Vec<Columns> =
        db.run(|connection| connection.prepare(&sql)?.query_map([], columns)?.collect())?;
    rows.into_iter().map(|row| read(row).map_err(|what| db.odd(what))).collect()
}

/// Decides. Whoever comes first wins; everybody else is told what became of it.
pub fn decide(db: &mut Db, id: Id, verdict: &Verdict, by: By, at: Timestamp) -> Result<Decided, Error> {
    let path = db.path().to_owned();
    let event_id = random::change_id(at)
        .map_err(|cause| Error::Folder { path: path.clone(), cause })?
        .as_str()
        .to_owned();
    let verdict = match verdict {
        Verdict::Edit(text) => match admitted(text) {
            Ok(text) => Verdict::Edit(text),
            Err(why) => return Ok(Decided::Refused(why)),
        },
        verdict => verdict.clone(),
    };
    let decided = db.change(|transaction| {
        let standing = match get(transaction, id)? {
            None => return Ok(Ok(Decided::Unknown)),
            Some(Err(what)) => return Ok(Err(what)),
            Some(Ok(standing)) => standing,
        };
        if !standing.proposal.status.is_open() && !is_overruled(&standing, &verdict, by) {
            let told = Box::new(standing);
            return Ok(Ok(if is_same(&told, &verdict) {
                Decided::Already(told)
            } else {
                Decided::Ended(told)
            }));
        }
        let worded = match &verdict {
            Verdict::Edit(text) => Some(text.clone()),
            Verdict::Approve | Verdict::Reject => standing.worded.clone(),
        };
        let status = match (&verdict, &worded) {
            (Verdict::Reject, _) => Status::Rejected,
            (_, Some(words)) if normalised(words) != normalised(&standing.proposal.text) => Status::Edited,
            _ => Status::Approved,
        };
        let name = match status {
            Status::Rejected => names::PROPOSAL_REJECTED,
            _ => names::PROPOSAL_APPROVED,
        };
        let data = match serde_json::to_value(ProposalDecided { proposal_id: id, by }) {
            Ok(data) => data,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let proposal = Proposal { status, ..standing.proposal };
        let (decided, by) = (Some(at), Some(by));
        put(transaction, &Standing { proposal, worded, decided, by, note: None, ..standing })?;
        let event = Event { id: event_id.clone(), name: name.to_owned(), data, at };
        queue::send(transaction, &REGISTRY, &[event], at)?;
        Ok(Ok(Decided::Now))
    })?;
    decided.map_err(|what| Error::Content { path, what })
}

/// Words that can be a line of MEMORY.md, or why they cannot.
fn admitted(text: &str) -> Result<String, String> {
    let text = admit(text).text.trim().to_owned();
    match text.len() {
        0 => Err("there are no words in it".to_owned()),
        length if length > MOST_BYTES => Err(format!(
            "it is {} KiB long; a line of MEMORY.md may have {} KiB",
            length.div_ceil(1024),
            MOST_BYTES / 1024
        )),
        _ => Ok(text),
    }
}

/// What an agent turned down is not lost: a person who wants it after all has the last word.
fn is_overruled(standing: &Standing, verdict: &Verdict, by: By) -> bool {
    let by_agent = standing.by == Some(By::Agent) && standing.proposal.status == Status::Rejected;
    by_agent && by != By::Agent && *verdict != Verdict::Reject
}

fn is_same(standing: &Standing, verdict: &Verdict) -> bool {
    match (verdict, standing.proposal.status) {
        (Verdict::Reject, status) => status == Status::Rejected,
        (Verdict::Approve, status) => {
            matches!(status, Status::Approved | Status::Edited | Status::Promoted)
        }
        (Verdict::Edit(text), Status::Approved | Status::Edited | Status::Promoted) => {
            standing.text() == text
        }
        (Verdict::Edit(_), _) => false,
    }
}

/// Changes one proposal if it stands as expected; says whether it did.
fn change(db: &mut Db, id: Id, from: &[Status], to: impl Fn(Standing) -> Standing) -> Result<bool, Error> {
    let path = db.path().to_owned();
    let changed = db.change(|transaction| match get(transaction, id)? {
        Some(Ok(standing)) if from.contains(&standing.proposal.status) => {
            put(transaction, &to(standing)).map(|()| Ok(true))
        }
        Some(Err(what)) => Ok(Err(what)),
        _ => Ok(Ok(false)),
    })?;
    changed.map_err(|what| Error::Content { path, what })
}

/// It is where it belongs. Says whether it was not before.
pub fn mark_promoted(db: &mut Db, id: Id, at: Timestamp) -> Result<bool, Error> {
    // A promotion that was taken back and is done again may have been decided otherwise meanwhile: MEMORY.md says it.
    let others: Vec<Status> = Status::ALL.into_iter().filter(|status| *status != Status::Promoted).collect();
    change(db, id, &others, |standing| Standing {
        proposal: Proposal { status: Status::Promoted, ..standing.proposal },
        decided: standing.decided.or(Some(at)),
        by: standing.by.or(Some(By::Command)),
        note: None,
        ..standing
    })
}

/// It waits again, for this reason. Says whether it stood as expected.
pub fn reopen(db: &mut Db, id: Id, from: &[Status], note: &str, at: Timestamp) -> Result<bool, Error> {
    change(db, id, from, |standing| Standing {
        proposal: Proposal { status: Status::Pending, ..standing.proposal },
        decided: None,
        by: None,
        note: Some(note.to_owned()),
        reopened: Some(at),
        ..standing
    })
}

/// What has waited for so many days that it is archived.
pub fn due(db: &Db, days: u32, now: Timestamp) -> Result<Vec<Id>, Error> {
    let standings = standings(db, true)?;
    let old = standings.into_iter().filter(|standing| standing.days(now) >= i64::from(days));
    Ok(old.map(|standing| standing.proposal.id).collect())
}

/// Archives it, unless somebody decided meanwhile. Says whether it is archived now.
pub fn expire(db: &mut Db, id: Id, at: Timestamp) -> Result<bool, Error> {
    change(db, id, &[Status::Pending, Status::Triaged], |standing| Standing {
        proposal: Proposal { status: Status::Expired, ..standing.proposal },
        decided: Some(at),
        by: Some(By::Clock),
        ..standing
    })?;
    Ok(standing(db, id)?.is_some_and(|standing| standing.proposal.status == Status::Expired))
}

/// How many a person decided on since.
pub fn decided_since(db: &Db, since: Timestamp) -> Result<usize, Error> {
    let until = since.checked_add(SignedDuration::from_hours(48)).unwrap_or(Timestamp::MAX);
    let count: i64 = db.run(|connection| {
        connection.query_row(
            "SELECT count(*) FROM proposals WHERE decided >= ?1 AND decided < ?2 AND decided_by != 'clock'",
            params![since.as_millisecond(), until.as_millisecond()],
            |row| row.get(0),
        )
    })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

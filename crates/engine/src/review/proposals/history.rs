//! History of proposals, line by line. The acceptance rates (FUT-03) come from it, and it proves that each
//! proposal ended exactly once (REV-14). It holds no text of proposals.

use std::collections::{BTreeMap, HashMap};

use rekindle_core::base::decided_by::By;
use rekindle_core::base::time::Timestamp;
use rekindle_core::knowledge::proposal::acceptance::{Acceptance, Category, Told, acceptance};
use rekindle_core::knowledge::proposal::{Proposal, Status};
use rekindle_core::knowledge::triage::Why;
use rekindle_core::vault::review::Id;

use super::{Standing, receipts, standings};
use crate::platform::db::{Db, Error, Row, Transaction, params};

/// An event in the life of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It ended with this status.
    Ended(Status),
    /// Its promotion was undone.
    Undone,
    /// Its promotion was redone.
    Redone,
    /// It was reopened for another reason.
    Reopened,
}

impl What {
    fn word(self) -> &'static str {
        match self {
            Self::Ended(status) => status.word(),
            Self::Undone => "undone",
            Self::Redone => "redone",
            Self::Reopened => "reopened",
        }
    }

    fn read(word: &str) -> Option<Self> {
        let ends = [Status::Approved, Status::Edited, Status::Rejected, Status::Expired];
        let ended = ends.into_iter().find(|status| status.word() == word).map(Self::Ended);
        ended.or_else(|| {
            [Self::Undone, Self::Redone, Self::Reopened].into_iter().find(|one| one.word() == word)
        })
    }

    /// True if the event ends the proposal.
    fn ends(self) -> bool {
        matches!(self, Self::Ended(_) | Self::Redone)
    }
}

/// One event of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The id of the proposal.
    pub id: Id,
    /// The time of the event.
    pub at: Timestamp,
    /// The sort of event.
    pub what: What,
    /// The channel of the decision.
    pub by: Option<By>,
    /// The reason, if triage decided.
    pub why: Option<Why>,
    /// The proposal that was decided on in its place.
    pub with: Option<Id>,
}

pub(super) fn add(transaction: &Transaction<'_>, line: &Line) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO decisions (proposal, at, what, by, why, leader) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            line.id.to_string(),
            line.at.as_millisecond(),
            line.what.word(),
            line.by.map(By::word),
            line.why.map(Why::word),
            line.with.map(|id| id.to_string()),
        ],
    )?;
    Ok(())
}

/// Reads all events, the oldest first. An unknown line of a later version is skipped.
fn lines(db: &Db) -> Result<Vec<Line>, Error> {
    type Columns = (String, i64, String, Option<String>, Option<String>, Option<String>);
    fn columns(row: &Row<'_>) -> rusqlite::Result<Columns> {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
    }
    let rows: Vec<Columns> = db.run(|connection| {
        let sql = "SELECT proposal, at, what, by, why, leader FROM decisions ORDER BY number";
        connection.prepare(sql)?.query_map([], columns)?.collect()
    })?;
    let read = |(id, at, what, by, why, with): Columns| {
        Some(Line {
            id: id.parse().ok()?,
            at: Timestamp::from_millisecond(at).ok()?,
            what: What::read(&what)?,
            by: by.and_then(|by| By::ALL.into_iter().find(|known| known.word() == by)),
            why: why.and_then(|why| Why::ALL.into_iter().find(|known| known.word() == why)),
            with: with.and_then(|with| with.parse().ok()),
        })
    };
    Ok(rows.into_iter().filter_map(read).collect())
}

/// Acceptance rates of the person by category (FUT-03).
pub fn accepted(db: &Db) -> Result<BTreeMap<Category, Acceptance>, Error> {
    let proposals: HashMap<Id, Proposal> =
        super::all(db)?.into_iter().map(|proposal| (proposal.id, proposal)).collect();
    let lines = lines(db)?;
    let past = lines.iter().filter_map(|line| {
        let category = Category::of(proposals.get(&line.id)?);
        let by_person = line.by.is_none_or(By::is_person);
        let told = match line.what {
            // A decision on several duplicates counts once.
            _ if line.with.is_some() => return None,
            What::Ended(Status::Expired) => Told::Expired,
            What::Ended(Status::Rejected) if by_person => Told::Rejected,
            What::Ended(Status::Rejected) => Told::Dropped,
            What::Ended(Status::Edited) if by_person => Told::Edited,
            What::Ended(_) if by_person => Told::Approved,
            What::Ended(_) => Told::Promoted,
            What::Undone => Told::Undone,
            What::Redone | What::Reopened => return None,
        };
        Some((category, told))
    });
    Ok(acceptance(past))
}

/// Lists the decisions of triage that still hold, the newest first, each with its event.
pub fn automatic(db: &Db) -> Result<Vec<(Standing, Line)>, Error> {
    let mut last: HashMap<Id, Line> = HashMap::new();
    for line in lines(db)? {
        last.insert(line.id, line);
    }
    let mut found: Vec<(Standing, Line)> = standings(db, false)?
        .into_iter()
        .filter_map(|standing| {
            let line = last.get(&standing.proposal.id)?;
            let ours = line.what.ends() && line.by == Some(By::Triage);
            ours.then_some((standing, *line))
        })
        .collect();
    found.sort_by_key(|(standing, line)| (std::cmp::Reverse(line.at), standing.proposal.id));
    Ok(found)
}

/// Checks the store: every proposal ended exactly once, or something will carry it out (REV-14). Returns the
/// problems.
pub fn check(db: &Db) -> Result<Vec<String>, Error> {
    let mut wrong = Vec::new();
    let mut by_proposal: HashMap<Id, Vec<Line>> = HashMap::new();
    for line in lines(db)? {
        by_proposal.entry(line.id).or_default().push(line);
    }
    for Standing { proposal, with, .. } in standings(db, false)? {
        let (id, status) = (proposal.id, proposal.status);
        let mut ended: Option<What> = None;
        for line in by_proposal.get(&id).into_iter().flatten() {
            match (ended, line.what.ends()) {
                (Some(before), true) => {
                    wrong.push(format!("{id} ended twice: {}, then {}", before.word(), line.what.word()));
                }
                (None, false) => wrong.push(format!("{id} was {} while it waited", line.what.word())),
                _ => {}
            }
            ended = line.what.ends().then_some(line.what);
        }
        if status.is_open() != ended.is_none() {
            let was = ended.map_or("never decided on", What::word);
            wrong.push(format!("{id} is {}, but was {was}", status.word()));
        }
        // A patch waits for the person to apply it (IDN-05).
        let approved = matches!(status, Status::Approved | Status::Edited) && proposal.identity().is_none();
        if approved && !is_seen_to(db, with.unwrap_or(id))? {
            wrong.push(format!("{id} is {}, and nothing is left that would promote it", status.word()));
        }
    }
    for id in receipts::late(db)? {
        wrong.push(format!("what became of {id} could not be written to the log of the day yet"));
    }
    Ok(wrong)
}

/// True if a run will carry out the decision.
fn is_seen_to(db: &Db, id: Id) -> Result<bool, Error> {
    db.run(|connection| {
        connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM runs WHERE function = 'promote' AND key = ?1
                AND status IN ('RUNNING', 'FAILED'))",
            [id.to_string()],
            |row| row.get(0),
        )
    })
}

//! History of proposals, line by line. The acceptance rates (FUT-03) come from it, and it proves that each
//! proposal ended exactly once (REV-14). It holds no text of proposals.

use std::collections::{BTreeMap, HashMap};

use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::base::time::Timestamp;
use rekindle_core::knowledge::proposal::acceptance::{
    AcceptanceStats, ProposalCategory, ProposalFate, acceptance_by_category,
};
use rekindle_core::knowledge::proposal::{Proposal, ProposalStatus};
use rekindle_core::knowledge::triage::TriageReason;
use rekindle_core::vault::review::ProposalId;

use super::{ProposalRecord, elsewhere, list_proposals, receipts};
use crate::jobs::queue::lookup;
use crate::platform::db::{Database, Error, Row, Transaction, params};

/// An event in the life of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalChange {
    /// It ended with this status.
    Ended(ProposalStatus),
    /// Its promotion was undone.
    Undone,
    /// Its promotion was redone.
    Redone,
    /// It was reopened for another reason.
    Reopened,
}

impl ProposalChange {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ended(status) => status.as_str(),
            Self::Undone => "undone",
            Self::Redone => "redone",
            Self::Reopened => "reopened",
        }
    }

    fn read(word: &str) -> Option<Self> {
        let ends = [
            ProposalStatus::Approved,
            ProposalStatus::Edited,
            ProposalStatus::Rejected,
            ProposalStatus::Expired,
        ];
        let ended = ends.into_iter().find(|status| status.as_str() == word).map(Self::Ended);
        ended.or_else(|| {
            [Self::Undone, Self::Redone, Self::Reopened].into_iter().find(|one| one.as_str() == word)
        })
    }

    /// True if the event ends the proposal.
    fn is_final(self) -> bool {
        matches!(self, Self::Ended(_) | Self::Redone)
    }
}

/// One event of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProposalHistoryLine {
    /// The id of the proposal.
    pub id: ProposalId,
    /// The time of the event.
    pub at: Timestamp,
    /// The sort of event.
    pub change: ProposalChange,
    /// The channel of the decision.
    pub by: Option<DecidedBy>,
    /// The reason, if triage decided.
    pub why: Option<TriageReason>,
    /// The proposal that was decided on in its place.
    pub decided_with: Option<ProposalId>,
}

pub(super) fn add(transaction: &Transaction<'_>, line: &ProposalHistoryLine) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO decisions (proposal, at, what, by, why, leader) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            line.id.to_string(),
            line.at.as_millisecond(),
            line.change.as_str(),
            line.by.map(DecidedBy::as_str),
            line.why.map(TriageReason::as_str),
            line.decided_with.map(|id| id.to_string()),
        ],
    )?;
    Ok(())
}

/// Reads all events, the oldest first. An unknown line of a later version is skipped.
fn lines(db: &Database) -> Result<Vec<ProposalHistoryLine>, Error> {
    type Columns = (String, i64, String, Option<String>, Option<String>, Option<String>);
    fn columns(row: &Row<'_>) -> rusqlite::Result<Columns> {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
    }
    let rows: Vec<Columns> = db.run(|connection| {
        let sql = "SELECT proposal, at, what, by, why, leader FROM decisions ORDER BY number";
        connection.prepare(sql)?.query_map([], columns)?.collect()
    })?;
    let read = |(id, at, what, by, why, with): Columns| {
        Some(ProposalHistoryLine {
            id: id.parse().ok()?,
            at: Timestamp::from_millisecond(at).ok()?,
            change: ProposalChange::read(&what)?,
            by: by.and_then(|by| DecidedBy::ALL.into_iter().find(|known| known.as_str() == by)),
            why: why.and_then(|why| TriageReason::ALL.into_iter().find(|known| known.as_str() == why)),
            decided_with: with.and_then(|with| with.parse().ok()),
        })
    };
    Ok(rows.into_iter().filter_map(read).collect())
}

/// Acceptance rates of the person by category (FUT-03).
pub fn acceptance_stats(db: &Database) -> Result<BTreeMap<ProposalCategory, AcceptanceStats>, Error> {
    let proposals: HashMap<ProposalId, Proposal> =
        super::all_proposals(db)?.into_iter().map(|proposal| (proposal.id, proposal)).collect();
    let lines = lines(db)?;
    let past = lines.iter().filter_map(|line| {
        let category = ProposalCategory::from_proposal(proposals.get(&line.id)?);
        let by_person = line.by.is_none_or(DecidedBy::is_person);
        let fate = match line.change {
            // A decision on several duplicates counts once.
            _ if line.decided_with.is_some() => return None,
            ProposalChange::Ended(ProposalStatus::Expired) => ProposalFate::Expired,
            ProposalChange::Ended(ProposalStatus::Rejected) if by_person => ProposalFate::Rejected,
            ProposalChange::Ended(ProposalStatus::Rejected) => ProposalFate::Dropped,
            ProposalChange::Ended(ProposalStatus::Edited) if by_person => ProposalFate::Edited,
            ProposalChange::Ended(_) if by_person => ProposalFate::Approved,
            ProposalChange::Ended(_) => ProposalFate::Promoted,
            ProposalChange::Undone => ProposalFate::Undone,
            ProposalChange::Redone | ProposalChange::Reopened => return None,
        };
        Some((category, fate))
    });
    Ok(acceptance_by_category(past))
}

/// Lists the decisions of triage that still hold, the newest first, each with its event.
pub fn automatic_decisions(db: &Database) -> Result<Vec<(ProposalRecord, ProposalHistoryLine)>, Error> {
    let mut last: HashMap<ProposalId, ProposalHistoryLine> = HashMap::new();
    for line in lines(db)? {
        last.insert(line.id, line);
    }
    let mut found: Vec<(ProposalRecord, ProposalHistoryLine)> = list_proposals(db, false)?
        .into_iter()
        .filter_map(|record| {
            let line = last.get(&record.proposal.id)?;
            let ours = line.change.is_final() && line.by == Some(DecidedBy::Triage);
            ours.then_some((record, *line))
        })
        .collect();
    found.sort_by_key(|(record, line)| (std::cmp::Reverse(line.at), record.proposal.id));
    Ok(found)
}

/// Checks the store: every proposal ended exactly once, or something will carry it out (REV-14). Returns the
/// problems.
pub fn check(db: &Database) -> Result<Vec<String>, Error> {
    let mut wrong = Vec::new();
    let mut by_proposal: HashMap<ProposalId, Vec<ProposalHistoryLine>> = HashMap::new();
    for line in lines(db)? {
        by_proposal.entry(line.id).or_default().push(line);
    }
    for ProposalRecord { proposal, decided_with: with, .. } in list_proposals(db, false)? {
        let (id, status) = (proposal.id, proposal.status);
        let mut ended: Option<ProposalChange> = None;
        for line in by_proposal.get(&id).into_iter().flatten() {
            match (ended, line.change.is_final()) {
                (Some(before), true) => {
                    wrong.push(format!(
                        "{id} was decided twice: {}, then {}",
                        before.as_str(),
                        line.change.as_str()
                    ));
                }
                (None, false) => {
                    wrong.push(format!("{id} was {} while it was pending", line.change.as_str()));
                }
                _ => {}
            }
            ended = line.change.is_final().then_some(line.change);
        }
        if status.is_open() != ended.is_none() {
            let was = ended.map_or("never decided on", ProposalChange::as_str);
            wrong.push(format!("{id} is {}, but was {was}", status.as_str()));
        }
        // A patch waits for the person to apply it (IDN-05).
        let approved = matches!(status, ProposalStatus::Approved | ProposalStatus::Edited)
            && proposal.identity().is_none();
        if approved && !is_seen_to(db, with.unwrap_or(id))? {
            wrong.push(format!("{id} is {}, but no run is left to promote it", status.as_str()));
        }
    }
    for id in receipts::overdue_ids(db)? {
        wrong.push(format!("the outcome of {id} is not in the daily log yet"));
    }
    Ok(wrong)
}

/// True if a run will carry out the decision.
pub(super) fn is_seen_to(db: &Database, id: ProposalId) -> Result<bool, Error> {
    // A decision that waits for the shared server is sent again when it answers.
    let waits = elsewhere::decision_state(db, id)? == Some(elsewhere::SharedDecisionState::Waiting);
    Ok(waits || lookup::is_unfinished(db, "promote", &id.to_string())?)
}

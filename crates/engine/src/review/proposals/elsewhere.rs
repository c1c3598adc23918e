//! Proposals and decisions of other machines (B-16, REV-14). A decision is carried out by the machine that was first;
//! the others only record it. While the shared server is away, a decision waits.

use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::base::time::Timestamp;
use rekindle_core::event::{Event, ProposalDecided, names};
use rekindle_core::knowledge::proposal::{Proposal, ProposalStatus};
use rekindle_core::vault::review::{MachineId, ProposalId};
use serde::{Deserialize, Serialize};

use super::decide::{get, save_record};
use super::history::{self, ProposalChange, ProposalHistoryLine};
use super::{ProposalRecord, machine_id, statement_key, write};
use crate::jobs::queue::{self, FunctionRegistry};
use crate::platform::db::{Database, Error, OptionalExtension, params};
use crate::platform::random;

/// A decision as machines exchange it. It holds no text of the proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedDecision {
    /// The machine of the decision.
    pub machine: MachineLetters,
    /// Its outcome: approved, edited, rejected or expired.
    pub status: ProposalStatus,
    /// The channel of the decision.
    pub by: DecidedBy,
    /// The time of the decision.
    pub at: Timestamp,
}

/// The letters of a machine, as text.
pub type MachineLetters = String;

/// The state of a decision that several machines could make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedDecisionState {
    /// The server has not answered yet who was first.
    Waiting,
    /// This machine was first.
    Won,
    /// Another machine was first.
    Elsewhere,
}

impl SharedDecisionState {
    const ALL: [Self; 3] = [Self::Waiting, Self::Won, Self::Elsewhere];

    fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Won => "won",
            Self::Elsewhere => "elsewhere",
        }
    }
}

/// The decision on a proposal as other machines see it; `None` while it is open.
pub fn shared_decision(db: &mut Database, record: &ProposalRecord) -> Result<Option<SharedDecision>, Error> {
    let status = match record.proposal.status {
        status if status.is_open() => return Ok(None),
        ProposalStatus::Promoted if record.worded.is_some() => ProposalStatus::Edited,
        ProposalStatus::Promoted => ProposalStatus::Approved,
        status => status,
    };
    let machine = machine_id::machine_or_new(db)?.to_string();
    let (by, at) = (record.by.unwrap_or(DecidedBy::Command), record.decided.unwrap_or_default());
    Ok(Some(SharedDecision { machine, status, by, at }))
}

/// The letters of this machine, drawn on first use.
pub fn own_machine(db: &mut Database) -> Result<MachineId, Error> {
    machine_id::machine_or_new(db)
}

/// The state of the decision on a proposal, if machines share it.
pub fn decision_state(db: &Database, id: ProposalId) -> Result<Option<SharedDecisionState>, Error> {
    let sql = "SELECT state FROM shared_decisions WHERE proposal = ?1";
    let word: Option<String> =
        db.run(|connection| connection.query_row(sql, [id.to_string()], |row| row.get(0)).optional())?;
    Ok(word.and_then(|word| SharedDecisionState::ALL.into_iter().find(|state| state.as_str() == word)))
}

/// Stores the state of a decision; `None` when nothing is shared any more.
pub fn set_decision_state(
    db: &mut Database,
    id: ProposalId,
    state: Option<SharedDecisionState>,
) -> Result<(), Error> {
    let id = id.to_string();
    db.change(|transaction| match state {
        Some(state) => transaction.execute(
            "INSERT INTO shared_decisions VALUES (?1, ?2) ON CONFLICT (proposal) DO UPDATE SET state = ?2",
            params![id, state.as_str()],
        ),
        None => transaction.execute("DELETE FROM shared_decisions WHERE proposal = ?1", [id]),
    })
    .map(drop)
}

/// The decisions in a state, the oldest id first.
pub fn decisions_in(db: &Database, state: SharedDecisionState) -> Result<Vec<ProposalId>, Error> {
    let ids: Vec<String> = db.run(|connection| {
        connection
            .prepare_cached("SELECT proposal FROM shared_decisions WHERE state = ?1 ORDER BY proposal")?
            .query_map([state.as_str()], |row| row.get(0))?
            .collect()
    })?;
    Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
}

/// Adds an open proposal of another machine. Returns false if the id is known, also as that of a decided one.
pub fn adopt_from_elsewhere(db: &mut Database, proposal: &Proposal) -> Result<bool, Error> {
    let id = proposal.id.to_string();
    db.change(|transaction| {
        let known: bool = transaction.query_row(
            "SELECT EXISTS (SELECT 1 FROM proposals WHERE id = ?1) OR EXISTS (SELECT 1 FROM decisions WHERE proposal = ?1)",
            [&id],
            |row| row.get(0),
        )?;
        if known {
            return Ok(false);
        }
        let open = Proposal { status: ProposalStatus::Pending, ..proposal.clone() };
        write(transaction, &open, &statement_key(&open))?;
        Ok(true)
    })
}

/// Deletes an open proposal whose text was forgotten on another machine (B-08).
pub fn delete_forgotten(db: &mut Database, id: ProposalId) -> Result<(), Error> {
    let sql = "DELETE FROM proposals WHERE id = ?1 AND status IN ('pending', 'triaged')";
    db.change(|transaction| transaction.execute(sql, [id.to_string()])).map(drop)
}

/// Records the decision of another machine, which carries it out. A decision of this machine that came later is
/// reversed; it was not carried out, because it waited. Returns false if nothing changed.
pub fn settle_elsewhere(db: &mut Database, id: ProposalId, decision: &SharedDecision) -> Result<bool, Error> {
    let path = db.path().to_owned();
    let SharedDecision { machine, status, by, at } = decision;
    let settled = db.change(|transaction| {
        let record = match get(transaction, id)? {
            None => return Ok(Ok(false)),
            Some(Err(what)) => return Ok(Err(what)),
            Some(Ok(record)) => record,
        };
        let line = |at: Timestamp, change: ProposalChange, by: Option<DecidedBy>| ProposalHistoryLine {
            id,
            at,
            change,
            by,
            why: None,
            decided_with: None,
        };
        if !record.proposal.status.is_open() {
            if record.proposal.status == ProposalStatus::Promoted {
                return Ok(Ok(false));
            }
            history::add(transaction, &line(*at, ProposalChange::Reopened, None))?;
            // The receipt of a decision that does not count. One that is already in a log stays there.
            transaction.execute(
                "DELETE FROM receipts WHERE key IS NULL AND receipt ->> '$.id' = ?1",
                [id.to_string()],
            )?;
        }
        history::add(transaction, &line(*at, ProposalChange::Ended(*status), Some(*by)))?;
        let ended = match status {
            ProposalStatus::Approved | ProposalStatus::Edited => ProposalStatus::Promoted,
            status => *status,
        };
        save_record(
            transaction,
            &ProposalRecord {
                proposal: Proposal { status: ended, ..record.proposal },
                decided: Some(*at),
                by: Some(*by),
                note: Some(format!("decided on the machine {machine}")),
                decided_with: None,
                ..record
            },
        )?;
        transaction.execute(
            "INSERT INTO shared_decisions VALUES (?1, ?2) ON CONFLICT (proposal) DO UPDATE SET state = ?2",
            params![id.to_string(), SharedDecisionState::Elsewhere.as_str()],
        )?;
        Ok(Ok(true))
    })?;
    settled.map_err(|what| Error::Content { path, what })
}

/// Sends the event of a decision that waited, so that a run carries it out.
pub fn resume_decision(
    db: &mut Database,
    registry: &FunctionRegistry,
    record: &ProposalRecord,
    now: Timestamp,
) -> Result<(), Error> {
    let name = match record.proposal.status {
        ProposalStatus::Approved | ProposalStatus::Edited => names::PROPOSAL_APPROVED,
        ProposalStatus::Rejected => names::PROPOSAL_REJECTED,
        _ => return Ok(()),
    };
    let by = record.by.unwrap_or(DecidedBy::Command);
    let decided = ProposalDecided { proposal_id: record.proposal.id, by };
    let data = serde_json::to_value(decided).map_err(|error| db.corrupt_value(error.to_string()))?;
    let id = random::change_id(now).map_err(Error::Random)?.as_str().to_owned();
    let event = Event { id, name: name.to_owned(), data, at: now };
    db.change(|transaction| queue::send(transaction, registry, &[event], now))
}

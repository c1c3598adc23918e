//! Decisions on proposals: each ends once, and the first decision wins (REV-14). The decision and the event
//! that carries it out are one transaction, so no decision is lost.

use jiff::SignedDuration;
use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::base::scope::{ProjectId, Scope};
use rekindle_core::base::time::Timestamp;
use rekindle_core::event::{Event, ProposalDecided, names};
use rekindle_core::knowledge::proposal::review_priority::rank_proposals;
use rekindle_core::knowledge::proposal::{Proposal, ProposalStatus};
use rekindle_core::knowledge::triage::TriageReason;
use rekindle_core::text::clean::one_line;
use rekindle_core::text::clean_and_redact;
use rekindle_core::text::normalise::normalise;
use rekindle_core::text::similarity::AnalysedStatement;
use rekindle_core::vault::daily_log::ProposalEnd;
use rekindle_core::vault::review::ProposalId;

use super::history::{self, ProposalChange, ProposalHistoryLine};
use super::receipts::add_pending;
use crate::jobs::queue::{self, FunctionRegistry};
use crate::platform::db::{Database, Error, OptionalExtension, Row, Transaction, params};
use crate::platform::random;
use crate::review::page;

/// The length limit of a line of MEMORY.md, in bytes.
const MAX_LINE_BYTES: usize = 8 * 1024;
/// The length limit of a reason for a rejection, in characters.
const MAX_REASON_CHARS: usize = 300;

/// A decision on a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposalVerdict {
    /// Remember it as shown.
    Approve,
    /// Remember it in these words.
    Edit(String),
    /// Remember it, in these words if given, and keep the line that it would supersede.
    KeepBoth(Option<String>),
    /// Reject the proposal.
    Reject,
    /// Reject it for this reason.
    RejectFor(String),
}

/// A proposal and its status.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposalRecord {
    /// The proposal as it is stored.
    pub proposal: Proposal,
    /// The wording of the person.
    pub worded: Option<String>,
    /// The time of the decision.
    pub decided: Option<Timestamp>,
    /// The channel of the decision.
    pub by: Option<DecidedBy>,
    /// The reason it was reopened or rejected.
    pub note: Option<String>,
    /// The time since when it waits again.
    pub reopened: Option<Timestamp>,
    /// True if the line that it would supersede stays.
    pub keeps_superseded: bool,
    /// The proposal decided on in its place, because both say the same (B-07).
    pub decided_with: Option<ProposalId>,
    /// The scope chosen by the person.
    pub scope: Option<Scope>,
}

impl ProposalRecord {
    /// The line to supersede, unless the person keeps both.
    pub fn superseded_line(&self) -> Option<&str> {
        self.proposal.supersedes.as_deref().filter(|_| !self.keeps_superseded)
    }

    /// The text to write: the person's wording if there is one.
    pub fn text(&self) -> &str {
        let words = self.worded.as_deref().unwrap_or(&self.proposal.text);
        if words.trim().is_empty() { &self.proposal.title } else { words }
    }

    /// The time since when it waits.
    pub fn pending_since(&self) -> Timestamp {
        self.reopened.unwrap_or(self.proposal.created).max(self.proposal.created)
    }

    /// The number of whole days that it has waited.
    pub fn days(&self, now: Timestamp) -> i64 {
        now.duration_since(self.pending_since()).as_hours().max(0) / 24
    }
}

/// The result of a decision.
#[derive(Clone, Debug, PartialEq)]
pub enum DecisionOutcome {
    /// The decision is stored and will be carried out.
    Now,
    /// The same decision was made before.
    Already(Box<ProposalRecord>),
    /// The proposal had another decision; nothing changed.
    Ended(Box<ProposalRecord>),
    /// The decision is not possible for this reason; nothing changed.
    Refused(String),
    /// The proposal does not exist.
    Unknown,
}

const PROPOSAL_COLUMNS: &str =
    "proposal, worded, decided, decided_by, note, reopened, beside, decided_with, holds_in";

type ProposalColumns = (
    String,
    Option<String>,
    Option<i64>,
    Option<String>,
    Option<String>,
    Option<i64>,
    bool,
    Option<String>,
    Option<String>,
);

fn columns(row: &Row<'_>) -> rusqlite::Result<ProposalColumns> {
    Ok((
        row.get(0)?,
        row.get(1)?,
        row.get(2)?,
        row.get(3)?,
        row.get(4)?,
        row.get(5)?,
        row.get(6)?,
        row.get(7)?,
        row.get(8)?,
    ))
}

fn read(
    (json, worded, decided, by, note, reopened, beside, with, scope): ProposalColumns,
) -> Result<ProposalRecord, String> {
    let at = |millis: Option<i64>| millis.and_then(|millis| Timestamp::from_millisecond(millis).ok());
    Ok(ProposalRecord {
        proposal: serde_json::from_str(&json).map_err(|error| format!("a proposal: {error}"))?,
        worded,
        decided: at(decided),
        by: by.and_then(|by| DecidedBy::ALL.into_iter().find(|known| known.as_str() == by)),
        note,
        reopened: at(reopened),
        keeps_superseded: beside,
        decided_with: with.and_then(|with| with.parse().ok()),
        scope: scope
            .map(|name| if name.is_empty() { Scope::Global } else { Scope::Project(ProjectId::new(name)) }),
    })
}

/// Query for a proposal by its id.
fn of_id() -> String {
    format!("SELECT {PROPOSAL_COLUMNS} FROM proposals WHERE id = ?1")
}

pub(super) fn get(
    transaction: &Transaction<'_>,
    id: ProposalId,
) -> rusqlite::Result<Option<Result<ProposalRecord, String>>> {
    let row = transaction.query_row(&of_id(), [id.to_string()], columns).optional()?;
    Ok(row.map(read))
}

pub(super) fn save_record(transaction: &Transaction<'_>, record: &ProposalRecord) -> rusqlite::Result<()> {
    let ProposalRecord {
        proposal,
        worded,
        decided,
        by,
        note,
        reopened,
        keeps_superseded: beside,
        decided_with: with,
        scope,
    } = record;
    let holds_in = scope.as_ref().map(|scope| scope.project().map_or("", ProjectId::as_str));
    let json = serde_json::to_string(proposal)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    transaction.execute(
        "UPDATE proposals SET status = ?2, proposal = ?3, worded = ?4, decided = ?5, decided_by = ?6, note = ?7,
            reopened = ?8, beside = ?9, decided_with = ?10, holds_in = ?11 WHERE id = ?1",
        params![
            proposal.id.to_string(),
            proposal.status.as_str(),
            json,
            worded,
            decided.map(Timestamp::as_millisecond),
            by.map(DecidedBy::as_str),
            note,
            reopened.map(Timestamp::as_millisecond),
            beside,
            with.map(|with| with.to_string()),
            holds_in,
        ],
    )?;
    Ok(())
}

/// Reads a proposal by id.
pub fn find_proposal(db: &Database, id: ProposalId) -> Result<Option<ProposalRecord>, Error> {
    let row = db.run(|connection| connection.query_row(&of_id(), [id.to_string()], columns).optional())?;
    row.map(|row| read(row).map_err(|what| db.corrupt_value(what))).transpose()
}

/// Lists all proposals, the oldest first; only open ones if `open`.
pub fn list_proposals(db: &Database, open: bool) -> Result<Vec<ProposalRecord>, Error> {
    let which = if open { "WHERE status IN ('pending', 'triaged')" } else { "" };
    let sql = format!("SELECT {PROPOSAL_COLUMNS} FROM proposals {which} ORDER BY created, id");
    let rows: Vec<ProposalColumns> =
        db.run(|connection| connection.prepare(&sql)?.query_map([], columns)?.collect())?;
    rows.into_iter().map(|row| read(row).map_err(|what| db.corrupt_value(what))).collect()
}

/// Decides on a proposal and its duplicates (B-07). The first decision wins; a later one gets its result.
pub fn decide(
    db: &mut Database,
    registry: &FunctionRegistry,
    id: ProposalId,
    verdict: &ProposalVerdict,
    by: DecidedBy,
    at: Timestamp,
) -> Result<DecisionOutcome, Error> {
    decide_with_reason(db, registry, id, verdict, by, None, at)
}

/// Decides for a reason.
pub fn decide_with_reason(
    db: &mut Database,
    registry: &FunctionRegistry,
    id: ProposalId,
    verdict: &ProposalVerdict,
    by: DecidedBy,
    why: Option<TriageReason>,
    at: Timestamp,
) -> Result<DecisionOutcome, Error> {
    decide_all(db, registry, id, &DecisionRequest { verdict, scope: None, why }, by, at)
}

/// Decides and sets the scope.
pub fn decide_with_scope(
    db: &mut Database,
    registry: &FunctionRegistry,
    id: ProposalId,
    verdict: &ProposalVerdict,
    scope: Option<&Scope>,
    by: DecidedBy,
    at: Timestamp,
) -> Result<DecisionOutcome, Error> {
    decide_all(db, registry, id, &DecisionRequest { verdict, scope, why: None }, by, at)
}

/// A decision with all its parts.
struct DecisionRequest<'a> {
    verdict: &'a ProposalVerdict,
    scope: Option<&'a Scope>,
    why: Option<TriageReason>,
}

fn decide_all(
    db: &mut Database,
    registry: &FunctionRegistry,
    id: ProposalId,
    wish: &DecisionRequest<'_>,
    by: DecidedBy,
    at: Timestamp,
) -> Result<DecisionOutcome, Error> {
    let DecisionRequest { verdict, scope, why } = *wish;
    let path = db.path().to_owned();
    let event_id = random::change_id(at).map_err(Error::Random)?.as_str().to_owned();
    let verdict = match checked(verdict) {
        Ok(verdict) => verdict,
        Err(why) => return Ok(DecisionOutcome::Refused(why)),
    };
    let followers = duplicates_of(db, id, at)?;
    let decided = db.change(|transaction| {
        let record = match get(transaction, id)? {
            None => return Ok(Ok(DecisionOutcome::Unknown)),
            Some(Err(what)) => return Ok(Err(what)),
            Some(Ok(record)) => record,
        };
        if !record.proposal.status.is_open() {
            let record = Box::new(record);
            return Ok(Ok(if is_same(&record, &verdict) {
                DecisionOutcome::Already(record)
            } else {
                DecisionOutcome::Ended(record)
            }));
        }
        let (worded, status) = end_of(&record, &verdict);
        let name = match status {
            ProposalStatus::Rejected => names::PROPOSAL_REJECTED,
            _ => names::PROPOSAL_APPROVED,
        };
        let data = match serde_json::to_value(ProposalDecided { proposal_id: id, by }) {
            Ok(data) => data,
            Err(error) => return Ok(Err(error.to_string())),
        };
        // A proposal that was once decided with this one and was reopened is independent, unless it is a
        // duplicate now.
        transaction.execute(
            "UPDATE proposals SET decided_with = NULL
             WHERE decided_with = ?1 AND status IN ('pending', 'triaged')",
            [id.to_string()],
        )?;
        let beside = matches!(verdict, ProposalVerdict::KeepBoth(_));
        let reason = match &verdict {
            ProposalVerdict::RejectFor(reason) => Some(reason.as_str()),
            _ => None,
        };
        let end = |record: ProposalRecord, worded: Option<String>, with: Option<ProposalId>| {
            let proposal = Proposal { status, ..record.proposal };
            let id = proposal.id;
            let (decided, decider, note) = (Some(at), Some(by), reason.map(str::to_owned));
            let scope =
                scope.map(|scope| qualified_scope(scope, proposal.project.as_ref())).or(record.scope.clone());
            let ended = ProposalRecord {
                proposal,
                worded,
                decided,
                by: decider,
                note,
                keeps_superseded: beside,
                decided_with: with,
                scope,
                ..record
            };
            save_record(transaction, &ended)?;
            // An approval ends when it is promoted.
            if status == ProposalStatus::Rejected {
                add_pending(transaction, &ended, ProposalEnd::Rejected)?;
            }
            history::add(
                transaction,
                &ProposalHistoryLine {
                    id,
                    at,
                    change: ProposalChange::Ended(status),
                    by: Some(by),
                    why,
                    decided_with: with,
                },
            )
        };
        end(record, worded, None)?;
        for follower in &followers {
            match get(transaction, *follower)? {
                Some(Ok(record)) if record.proposal.status.is_open() => {
                    let worded = record.worded.clone();
                    end(record, worded, Some(id))?;
                }
                _ => {}
            }
        }
        let event = Event { id: event_id.clone(), name: name.to_owned(), data, at };
        queue::send(transaction, registry, &[event], at)?;
        Ok(Ok(DecisionOutcome::Now))
    })?;
    decided.map_err(|what| Error::Content { path, what })
}

/// The final wording, if it differs from the proposal, and the final status.
fn end_of(record: &ProposalRecord, verdict: &ProposalVerdict) -> (Option<String>, ProposalStatus) {
    let worded = match verdict {
        ProposalVerdict::Edit(text) | ProposalVerdict::KeepBoth(Some(text)) => Some(text.clone()),
        _ => record.worded.clone(),
    };
    let status = match (verdict, &worded) {
        (ProposalVerdict::Reject | ProposalVerdict::RejectFor(_), _) => ProposalStatus::Rejected,
        (_, Some(words)) if normalise(words) != normalise(&record.proposal.text) => ProposalStatus::Edited,
        _ => ProposalStatus::Approved,
    };
    (worded, status)
}

/// Completes a scope: a project named by the end of its id gets the whole id.
fn qualified_scope(scope: &Scope, own: Option<&ProjectId>) -> Scope {
    match (scope, own) {
        (Scope::Project(name), Some(own)) if own.matches_name(name.as_str()) => Scope::Project(own.clone()),
        (scope, _) => scope.clone(),
    }
}

/// Validates the words of a verdict; the error is the reason to refuse it.
fn checked(verdict: &ProposalVerdict) -> Result<ProposalVerdict, String> {
    Ok(match verdict {
        ProposalVerdict::Edit(text) => ProposalVerdict::Edit(admitted(text)?),
        ProposalVerdict::KeepBoth(Some(text)) => ProposalVerdict::KeepBoth(Some(admitted(text)?)),
        ProposalVerdict::RejectFor(reason) => {
            match one_line(&clean_and_redact(reason).text, MAX_REASON_CHARS) {
                reason if reason.is_empty() => ProposalVerdict::Reject,
                reason => ProposalVerdict::RejectFor(reason),
            }
        }
        verdict => verdict.clone(),
    })
}

/// Lists the open duplicates that are not shown on their own: the person sees this proposal for all of them.
fn duplicates_of(db: &Database, id: ProposalId, now: Timestamp) -> Result<Vec<ProposalId>, Error> {
    let open = super::open(db)?;
    let Some(own) = open.iter().find(|proposal| proposal.id == id) else { return Ok(Vec::new()) };
    let statement = AnalysedStatement::from_text(&own.text);
    let is_alone = open
        .iter()
        .all(|other| other.id == id || !AnalysedStatement::from_text(&other.text).is_same(&statement));
    if is_alone {
        return Ok(Vec::new());
    }
    let on_page = page::ids_on_page(db)?;
    let folded = rank_proposals(&open, &on_page, now).into_iter().find(|folded| folded.proposal.id == id);
    Ok(folded.map(|folded| folded.duplicates).unwrap_or_default())
}

/// Lists the proposals that were decided together with this one.
pub fn ended_with(db: &Database, id: ProposalId) -> Result<Vec<ProposalRecord>, Error> {
    let all = list_proposals(db, false)?;
    let with = |record: &ProposalRecord| record.decided_with == Some(id) && !record.proposal.status.is_open();
    Ok(all.into_iter().filter(with).collect())
}

/// Validates the text of a line of MEMORY.md; the error is the reason to refuse it.
fn admitted(text: &str) -> Result<String, String> {
    let text = clean_and_redact(text).text.trim().to_owned();
    match text.len() {
        0 => Err("the text is empty".to_owned()),
        length if length > MAX_LINE_BYTES => Err(format!(
            "it is {} KiB long; a line of MEMORY.md may have at most {} KiB",
            length.div_ceil(1024),
            MAX_LINE_BYTES / 1024
        )),
        _ => Ok(text),
    }
}

fn is_same(record: &ProposalRecord, verdict: &ProposalVerdict) -> bool {
    match (verdict, record.proposal.status) {
        (ProposalVerdict::Reject | ProposalVerdict::RejectFor(_), status) => {
            status == ProposalStatus::Rejected
        }
        (
            ProposalVerdict::Approve,
            ProposalStatus::Approved | ProposalStatus::Edited | ProposalStatus::Promoted,
        ) => true,
        (
            ProposalVerdict::Edit(text),
            ProposalStatus::Approved | ProposalStatus::Edited | ProposalStatus::Promoted,
        ) => record.text() == text,
        (
            ProposalVerdict::KeepBoth(text),
            ProposalStatus::Approved | ProposalStatus::Edited | ProposalStatus::Promoted,
        ) => record.superseded_line().is_none() && text.as_ref().is_none_or(|text| record.text() == text),
        _ => false,
    }
}

/// Changes the proposals whose status is in `from`, in one transaction, with a line of history and the
/// receipt owed, if any. Returns the ids of the changed ones.
fn change(
    db: &mut Database,
    ids: &[ProposalId],
    from: &[ProposalStatus],
    describe: impl Fn(&ProposalRecord) -> (Option<ProposalHistoryLine>, Option<ProposalEnd>),
    to: impl Fn(ProposalRecord) -> ProposalRecord,
) -> Result<Vec<ProposalId>, Error> {
    let path = db.path().to_owned();
    let changed = db.change(|transaction| {
        let mut changed = Vec::new();
        for id in ids {
            let record = match get(transaction, *id)? {
                Some(Ok(record)) if from.contains(&record.proposal.status) => record,
                Some(Err(what)) => return Ok(Err(what)),
                _ => continue,
            };
            let (line, end) = describe(&record);
            let record = to(record);
            save_record(transaction, &record)?;
            line.map_or(Ok(()), |line| history::add(transaction, &line))?;
            end.map_or(Ok(()), |end| add_pending(transaction, &record, end))?;
            changed.push(record.proposal.id);
        }
        Ok(Ok(changed))
    })?;
    changed.map_err(|what| Error::Content { path, what })
}

/// Marks proposals as promoted. Returns those that were not before.
pub fn mark_promoted(db: &mut Database, ids: &[ProposalId], at: Timestamp) -> Result<Vec<ProposalId>, Error> {
    let from =
        [ProposalStatus::Approved, ProposalStatus::Edited, ProposalStatus::Pending, ProposalStatus::Triaged];
    // An open proposal in this list was promoted, undone, and is promoted again.
    let redone = |record: &ProposalRecord| {
        let id = record.proposal.id;
        let line = ProposalHistoryLine {
            id,
            at,
            change: ProposalChange::Redone,
            by: Some(DecidedBy::Command),
            why: None,
            decided_with: record.decided_with,
        };
        (record.proposal.status.is_open().then_some(line), Some(ProposalEnd::Promoted))
    };
    change(db, ids, &from, redone, |record| ProposalRecord {
        proposal: Proposal { status: ProposalStatus::Promoted, ..record.proposal },
        decided: record.decided.or(Some(at)),
        by: record.by.or(Some(DecidedBy::Command)),
        note: None,
        ..record
    })
}

/// Moves the target of an open proposal (B-07). Returns true if it was open.
pub fn retarget(db: &mut Database, to: &Proposal) -> Result<bool, Error> {
    let changed = change(
        db,
        &[to.id],
        &[ProposalStatus::Pending, ProposalStatus::Triaged],
        |_| (None, None),
        |record| ProposalRecord {
            proposal: Proposal {
                place: to.place.clone(),
                target: to.target.clone(),
                supersedes: to.supersedes.clone(),
                title: to.title.clone(),
                ..record.proposal
            },
            ..record
        },
    )?;
    Ok(!changed.is_empty())
}

/// Marks a proposal as triaged and left to the person (REV-09). Returns true if it was not before.
pub fn mark_triaged(db: &mut Database, id: ProposalId) -> Result<bool, Error> {
    let changed = change(
        db,
        &[id],
        &[ProposalStatus::Pending],
        |_| (None, None),
        |record| ProposalRecord {
            proposal: Proposal { status: ProposalStatus::Triaged, ..record.proposal },
            ..record
        },
    )?;
    Ok(!changed.is_empty())
}

/// Reopens proposals whose decision was undone or failed. A proposal with a receipt gets one for the undo
/// too. Returns the changed ones.
pub fn reopen(
    db: &mut Database,
    ids: &[ProposalId],
    from: &[ProposalStatus],
    back: ProposalChange,
    note: &str,
    at: Timestamp,
) -> Result<Vec<ProposalId>, Error> {
    let describe = |record: &ProposalRecord| {
        let id = record.proposal.id;
        let line = ProposalHistoryLine {
            id,
            at,
            change: back,
            by: None,
            why: None,
            decided_with: record.decided_with,
        };
        // A proposal that was not finished has no receipt to revoke.
        let had_one = matches!(
            record.proposal.status,
            ProposalStatus::Promoted | ProposalStatus::Rejected | ProposalStatus::Expired
        );
        (Some(line), had_one.then_some(ProposalEnd::Undone))
    };
    change(db, ids, from, describe, |record| ProposalRecord {
        proposal: Proposal { status: ProposalStatus::Pending, ..record.proposal },
        decided: None,
        by: None,
        note: Some(note.to_owned()),
        scope: None,
        // An answer sent before the reopening does not count, even within the same millisecond.
        reopened: Some(record.decided.map_or(at, |decided| at.max(next_distinct_instant(decided)))),
        ..record
    })
}

/// The next instant that the store can distinguish.
fn next_distinct_instant(at: Timestamp) -> Timestamp {
    at.checked_add(SignedDuration::from_millis(1)).unwrap_or(at)
}

/// Lists the proposals that have waited for `days` and expire.
pub fn due_for_expiry(db: &Database, days: u32, now: Timestamp) -> Result<Vec<ProposalId>, Error> {
    let standings = list_proposals(db, true)?;
    let old = standings.into_iter().filter(|record| record.days(now) >= i64::from(days));
    Ok(old.map(|record| record.proposal.id).collect())
}

/// Expires a proposal that has waited for `days`, unless it was decided or reopened in the meantime. Returns
/// true if it is expired now.
pub fn expire(db: &mut Database, id: ProposalId, days: u32, at: Timestamp) -> Result<bool, Error> {
    let young = |one: &ProposalRecord| one.proposal.status.is_open() && one.days(at) < i64::from(days);
    if find_proposal(db, id)?.as_ref().is_some_and(young) {
        return Ok(false);
    }
    let what = ProposalChange::Ended(ProposalStatus::Expired);
    let describe = |record: &ProposalRecord| {
        let id = record.proposal.id;
        (
            Some(ProposalHistoryLine {
                id,
                at,
                change: what,
                by: Some(DecidedBy::Clock),
                why: None,
                decided_with: None,
            }),
            Some(ProposalEnd::Expired),
        )
    };
    change(db, &[id], &[ProposalStatus::Pending, ProposalStatus::Triaged], describe, |record| {
        ProposalRecord {
            proposal: Proposal { status: ProposalStatus::Expired, ..record.proposal },
            decided: Some(at),
            by: Some(DecidedBy::Clock),
            decided_with: None,
            ..record
        }
    })?;
    Ok(find_proposal(db, id)?.is_some_and(|record| record.proposal.status == ProposalStatus::Expired))
}

/// Counts a person's decisions since a time.
pub fn decided_since(db: &Database, since: Timestamp) -> Result<usize, Error> {
    let until = since.checked_add(SignedDuration::from_hours(48)).unwrap_or(Timestamp::MAX);
    let count: i64 = db.run(|connection| {
        connection.query_row(
            "SELECT count(*) FROM proposals WHERE decided >= ?1 AND decided < ?2
                AND decided_by NOT IN ('clock', 'triage') AND decided_with IS NULL",
            params![since.as_millisecond(), until.as_millisecond()],
            |row| row.get(0),
        )
    })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

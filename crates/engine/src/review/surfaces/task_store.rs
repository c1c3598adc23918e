//! Task store: the task or message of each proposal per surface, and the sync state of each surface.

use std::collections::HashSet;

use jiff::SignedDuration;
use rekindle_core::base::time::Timestamp;
use rekindle_core::knowledge::surface::ReviewSurface;
use rekindle_core::vault::review::ProposalId;

use super::{SURFACES, SYNC_KEY};
use crate::jobs::queue::lookup;
use crate::platform::db::{Database, Error, OptionalExtension, params};
use crate::review::proposals::{self, ProposalRecord};

/// The state of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuestionState {
    /// It is about to be sent, or was sent with an unknown result.
    Asking,
    /// It is open on the surface.
    Asked,
    /// It is closed on the surface.
    Over,
}

impl QuestionState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Asking => "asking",
            Self::Asked => "asked",
            Self::Over => "over",
        }
    }
}

/// A question on a surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QuestionRow {
    pub(super) proposal: ProposalId,
    /// The time since when the proposal waits, in milliseconds: a reopened proposal is asked again.
    pub(super) since: i64,
    pub(super) state: QuestionState,
    /// The id of the task or message.
    pub(super) task: Option<String>,
    /// The id of the account or chat.
    pub(super) place: Option<String>,
    /// The number of attempts with an unknown result.
    pub(super) tries: u32,
    /// The time of the last attempt.
    pub(super) at: Timestamp,
}

/// The time since when a proposal waits, in the format of this store.
pub(super) fn pending_since(record: &ProposalRecord) -> i64 {
    record.pending_since().as_millisecond()
}

/// Lists all questions of a surface, in any state.
pub(super) fn rows(db: &Database, surface: ReviewSurface) -> Result<Vec<QuestionRow>, Error> {
    type Columns = (String, i64, String, Option<String>, Option<String>, u32, i64);
    let rows: Vec<Columns> = db.run(|connection| {
        let mut rows = connection.prepare(
            "SELECT proposal, since, state, task, place, tries, at FROM surface_tasks WHERE surface = ?1
             ORDER BY proposal",
        )?;
        rows.query_map([surface.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?))
        })?
        .collect()
    })?;
    let read = |(proposal, since, state, task, place, tries, at): Columns| {
        let state =
            [QuestionState::Asking, QuestionState::Asked].into_iter().find(|known| known.as_str() == state);
        Some(QuestionRow {
            proposal: proposal.parse().ok()?,
            since,
            state: state.unwrap_or(QuestionState::Over),
            task,
            place,
            tries,
            at: time(at),
        })
    };
    Ok(rows.into_iter().filter_map(read).collect())
}

/// Stores the state of a question.
pub(super) fn save_question(
    db: &mut Database,
    surface: ReviewSurface,
    row: &QuestionRow,
) -> Result<(), Error> {
    db.change(|transaction| {
        transaction.execute(
            "INSERT INTO surface_tasks (surface, proposal, since, state, task, place, tries, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (surface, proposal) DO UPDATE SET since = ?3, state = ?4, task = ?5, place = ?6,
                tries = ?7, at = ?8",
            params![
                surface.as_str(),
                row.proposal.to_string(),
                row.since,
                row.state.as_str(),
                row.task,
                row.place,
                row.tries,
                row.at.as_millisecond(),
            ],
        )
    })?;
    Ok(())
}

/// Closes a question if it is the one in this task or message.
pub(crate) fn close_question(
    db: &mut Database,
    surface: ReviewSurface,
    proposal: ProposalId,
    task: &str,
) -> Result<(), Error> {
    db.change(|transaction| {
        transaction.execute(
            "UPDATE surface_tasks SET state = 'over' WHERE surface = ?1 AND proposal = ?2 AND task = ?3",
            params![surface.as_str(), proposal.to_string(), task],
        )
    })?;
    Ok(())
}

/// True if this task is the current question for an open proposal.
pub(crate) fn is_current(
    db: &Database,
    surface: ReviewSurface,
    proposal: ProposalId,
    task: &str,
) -> Result<bool, Error> {
    let rows = rows(db, surface)?;
    let Some(row) =
        rows.into_iter().find(|row| row.proposal == proposal && row.task.as_deref() == Some(task))
    else {
        return Ok(false);
    };
    let record = proposals::find_proposal(db, proposal)?;
    Ok(row.state == QuestionState::Asked && record.is_some_and(|record| pending_since(&record) <= row.since))
}

/// True if a requested sync has not finished.
pub(super) fn is_sync_running(db: &Database) -> Result<bool, Error> {
    lookup::is_unfinished(db, SURFACES, SYNC_KEY)
}

/// True if the surface still shows a proposal that has ended here.
pub(super) fn has_decided_questions(db: &Database, surface: ReviewSurface) -> Result<bool, Error> {
    let asked: Vec<String> = db.run(|connection| {
        connection
            .prepare_cached("SELECT proposal FROM surface_tasks WHERE surface = ?1 AND state != 'over'")?
            .query_map([surface.as_str()], |row| row.get(0))?
            .collect()
    })?;
    if asked.is_empty() {
        return Ok(false);
    }
    let open: HashSet<String> = proposals::open(db)?.iter().map(|proposal| proposal.id.to_string()).collect();
    Ok(asked.iter().any(|id| !open.contains(id)))
}

/// True if any question is open on the surface.
pub(super) fn has_questions(db: &Database, surface: ReviewSurface) -> Result<bool, Error> {
    Ok(surface_status(db, surface)?.open > 0)
}

/// The sync state of a surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyncState {
    pub(super) synced: Timestamp,
    pub(super) not_before: Timestamp,
    pub(super) failures: u32,
    pub(super) problem: Option<String>,
    next: Option<i64>,
    last_heard: Timestamp,
}

impl SyncState {
    /// The position to fetch updates from. After a week without updates Telegram restarts its numbering; it
    /// never repeats old updates anyway.
    pub(super) fn next_update(&self, now: Timestamp) -> Option<i64> {
        self.next.filter(|_| now.duration_since(self.last_heard) < SignedDuration::from_hours(24 * 6))
    }
}

pub(super) fn state(db: &Database, surface: ReviewSurface) -> Result<SyncState, Error> {
    let row = db.run(|connection| {
        connection
            .query_row(
                "SELECT synced, not_before, failures, problem, next, heard FROM surface_state WHERE surface = ?1",
                [surface.as_str()],
                |row| {
                    Ok(SyncState {
                        synced: time(row.get(0)?),
                        not_before: time(row.get(1)?),
                        failures: row.get(2)?,
                        problem: row.get(3)?,
                        next: row.get(4)?,
                        last_heard: time(row.get(5)?),
                    })
                },
            )
            .optional()
    })?;
    let never = Timestamp::UNIX_EPOCH;
    Ok(row.unwrap_or(SyncState {
        synced: never,
        not_before: never,
        failures: 0,
        problem: None,
        next: None,
        last_heard: never,
    }))
}

fn time(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Records a finished sync; `problem` is a warning.
pub(super) fn record_success(
    db: &mut Database,
    surface: ReviewSurface,
    at: Timestamp,
    problem: Option<&str>,
) -> Result<(), Error> {
    db.change(|transaction| {
        transaction.execute(
            "INSERT INTO surface_state (surface, synced, problem) VALUES (?1, ?2, ?3)
             ON CONFLICT (surface) DO UPDATE SET synced = ?2, not_before = 0, failures = 0, problem = ?3",
            params![surface.as_str(), at.as_millisecond(), problem],
        )
    })?;
    Ok(())
}

/// Records a failed sync and the pause before the next.
pub(super) fn record_failure(
    db: &mut Database,
    surface: ReviewSurface,
    at: Timestamp,
    pause: SignedDuration,
    problem: &str,
) -> Result<(), Error> {
    let until = at.saturating_add(pause).unwrap_or(at).as_millisecond();
    db.change(|transaction| {
        transaction.execute(
            "INSERT INTO surface_state (surface, synced, not_before, failures, problem)
             VALUES (?1, ?2, ?3, 1, ?4)
             ON CONFLICT (surface) DO UPDATE SET synced = ?2, not_before = ?3, failures = failures + 1,
                problem = ?4",
            params![surface.as_str(), at.as_millisecond(), until, problem],
        )
    })?;
    Ok(())
}

/// Records a local problem; no request was made.
pub(super) fn note(db: &mut Database, surface: ReviewSurface, problem: &str) -> Result<(), Error> {
    if state(db, surface)?.problem.as_deref() == Some(problem) {
        return Ok(());
    }
    db.change(|transaction| {
        transaction.execute(
            "INSERT INTO surface_state (surface, problem) VALUES (?1, ?2)
             ON CONFLICT (surface) DO UPDATE SET problem = ?2",
            params![surface.as_str(), problem],
        )
    })?;
    Ok(())
}

/// Stores the position to fetch updates from.
pub(super) fn set_next_update(
    db: &mut Database,
    surface: ReviewSurface,
    next: i64,
    at: Timestamp,
) -> Result<(), Error> {
    db.change(|transaction| {
        transaction.execute(
            "INSERT INTO surface_state (surface, next, heard) VALUES (?1, ?2, ?3)
             ON CONFLICT (surface) DO UPDATE SET next = ?2, heard = ?3",
            params![surface.as_str(), next, at.as_millisecond()],
        )
    })?;
    Ok(())
}

/// The condition of a surface, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SurfaceStatus {
    /// The number of open questions.
    pub open: u64,
    /// The problem of the last sync.
    pub problem: Option<String>,
    /// The time of the last sync.
    pub synced: Option<Timestamp>,
}

/// Reads the condition of a surface.
pub fn surface_status(db: &Database, surface: ReviewSurface) -> Result<SurfaceStatus, Error> {
    let open: i64 = db.run(|connection| {
        connection.query_row(
            "SELECT count(*) FROM surface_tasks WHERE surface = ?1 AND state != 'over'",
            [surface.as_str()],
            |row| row.get(0),
        )
    })?;
    let SyncState { synced, problem, .. } = state(db, surface)?;
    let synced = Some(synced).filter(|at| *at > Timestamp::UNIX_EPOCH);
    Ok(SurfaceStatus { open: u64::try_from(open).unwrap_or(0), problem, synced })
}

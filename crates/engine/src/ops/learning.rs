//! Outcomes of the sessions of the last weeks: counts of those learnt from, and of those skipped by reason
//!

use std::collections::{BTreeMap, HashMap};

use jiff::SignedDuration;
use rekindle_core::base::time::Timestamp;
use rekindle_core::run::RunStatus;
use rekindle_core::session::outcome::{SessionOutcome, SessionRun, session_outcome};

use crate::jobs::queue::lookup::{self, RunOfSession};
use crate::platform::db::{self, Database};

/// The period in days: older finished runs are deleted.
pub const LEARNING_DAYS: i64 = 30;

/// Counts of the sessions seen in the last [`LEARNING_DAYS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LearningStats {
    /// All sessions seen in the period.
    pub seen_sessions: u64,
    /// Sessions that led to an observation or a memory.
    pub learnt: u64,
    /// Sessions that are still open or not yet processed.
    pub waiting: u64,
    /// Sessions whose processing failed for good.
    pub given_up: u64,
    /// Reasons for skipping and the count of each, the most frequent first.
    pub skipped: Vec<(String, u64)>,
}

impl LearningStats {
    /// The number of skipped sessions.
    pub fn skipped_sessions(&self) -> u64 {
        self.skipped.iter().map(|(_, count)| count).sum()
    }

    /// True if sessions were processed and none led to anything.
    pub fn is_without_findings(&self) -> bool {
        self.learnt == 0 && self.skipped_sessions() > 0
    }
}

/// Counts the sessions of the last [`LEARNING_DAYS`] by outcome.
pub fn session_stats(db: &Database, now: Timestamp) -> Result<LearningStats, db::Error> {
    let since = now - SignedDuration::from_hours(24 * LEARNING_DAYS);
    let sessions: Vec<(String, bool)> = db.run(|connection| {
        connection
            .prepare("SELECT id, state = 'open' FROM sessions WHERE last_seen >= ?1")?
            .query_map([since.as_millisecond()], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
    })?;
    let attempts = runs_by_session(db, since)?;
    let mut learning = LearningStats { seen_sessions: sessions.len() as u64, ..LearningStats::default() };
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for (id, open) in sessions {
        match session_outcome(attempts.get(&id).map_or(&[], Vec::as_slice), open) {
            SessionOutcome::Learnt => learning.learnt += 1,
            SessionOutcome::Waiting => learning.waiting += 1,
            SessionOutcome::GivenUp => learning.given_up += 1,
            SessionOutcome::Skipped(reason) => *reasons.entry(reason).or_default() += 1,
        }
    }
    learning.skipped = reasons.into_iter().collect();
    learning.skipped.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(learning)
}

/// A session and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// The id of the session.
    pub id: String,
    /// The agent of the session, by its word.
    pub agent: String,
    /// The time of its last event.
    pub last_seen: Timestamp,
    /// What came of it.
    pub outcome: SessionOutcome,
}

/// Lists the sessions of the last [`LEARNING_DAYS`], the newest first.
pub fn session_list(db: &Database, now: Timestamp) -> Result<Vec<SessionSummary>, db::Error> {
    let since = now - SignedDuration::from_hours(24 * LEARNING_DAYS);
    let rows: Vec<(String, String, bool, i64)> = db.run(|connection| {
        connection
            .prepare(
                "SELECT id, agent, state = 'open', last_seen FROM sessions WHERE last_seen >= ?1
                 ORDER BY last_seen DESC",
            )?
            .query_map([since.as_millisecond()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?
            .collect()
    })?;
    let runs = runs_by_session(db, since)?;
    let summary = |(id, agent, open, at): (String, String, bool, i64)| {
        let outcome = session_outcome(runs.get(&id).map_or(&[], Vec::as_slice), open);
        Some(SessionSummary { last_seen: Timestamp::from_millisecond(at).ok()?, id, agent, outcome })
    };
    Ok(rows.into_iter().filter_map(summary).collect())
}

/// Reads the runs of each session, in order.
fn runs_by_session(db: &Database, since: Timestamp) -> Result<HashMap<String, Vec<SessionRun>>, db::Error> {
    let mut found: HashMap<String, Vec<SessionRun>> = HashMap::new();
    for RunOfSession { session, status, reason, findings } in lookup::runs_of_sessions(db, since)? {
        let Some(status) = RunStatus::parse(&status) else { continue };
        found.entry(session).or_default().push(SessionRun { status, reason, findings });
    }
    Ok(found)
}

//! Replay of sessions that were learnt from before (OPS-05), for example with other thresholds after the vault was
//! rolled back. The runs of a session are forgotten, so it is captured and observed like a new one. Sections that are
//! still in a daily log, memories with the same words and decided proposals are recognised as for any other session.

use super::BackfillCandidate;
use crate::jobs::context::StageContext;
use crate::jobs::queue::lookup;
use crate::platform::db::{Error, Transaction, params};

/// The prefix of the lock that a window of messages is observed under.
const OBSERVE_LOCK: &str = "memory:observe:lock:";

/// Forgets that sessions were processed. Runs that wait or work are left alone.
pub(super) fn release(context: &StageContext, candidates: &[BackfillCandidate]) -> Result<(), Error> {
    let mut db = context.db()?;
    let mut held = Vec::new();
    for candidate in candidates {
        let windows = lookup::observed_windows(&db, &candidate.session())?;
        held.extend(windows.into_iter().map(|(key, run)| (format!("{OBSERVE_LOCK}{key}"), run)));
    }
    context.release_locks(&held)?;
    db.change(|transaction| {
        candidates.iter().try_for_each(|candidate| {
            release_session(transaction, candidate.file.agent.as_str(), &candidate.session())
        })
    })
}

fn release_session(connection: &Transaction<'_>, agent: &str, session: &str) -> rusqlite::Result<()> {
    lookup::forget_runs_of(connection, session)?;
    connection.execute("DELETE FROM observations WHERE session = ?1", params![session])?;
    // A statement of this session alone is new again; what became of its proposal stays decided.
    connection.execute(
        "DELETE FROM sightings WHERE coalesce(became, '') NOT LIKE 'p-%' AND json_valid(evidence)
            AND json_array_length(evidence, '$.sessions') = 1 AND json_extract(evidence, '$.sessions[0]') = ?1",
        params![session],
    )?;
    connection
        .execute(
            "UPDATE sessions SET upto = 0, captured_id = NULL, captured_at = NULL, captured_bytes = 0
             WHERE agent = ?1 AND id = ?2",
            params![agent, session],
        )
        .map(drop)
}

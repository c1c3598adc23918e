//! Idle sessions that count as ended (EXE-14, EXE-15): the terminal was closed, the agent was killed, the
//! laptop slept. The next worker finds them.

mod markers;

use std::path::Path;

use jiff::SignedDuration;
use rekindle_core::base::agent::Agent;
use rekindle_core::base::time::Timestamp;
use rekindle_core::event::{CaptureRequested, CaptureTrigger, EchoRequested, Event, names};

use super::hook_signals;
use crate::context::injection_log;
use crate::jobs::context::StageContext;
use crate::platform::db::{self, Database, params};

/// Agent, id, transcript, folder, start time and time of the last event, in milliseconds.
type OpenSessionRow = (String, String, Option<String>, Option<String>, i64, i64);

/// Requests a capture of idle sessions. A session that continues afterwards opens again, with a new window.
pub fn idle_session_requests(
    db: &Database,
    context: &StageContext,
    now: Timestamp,
) -> Result<Vec<Event>, db::Error> {
    let rows: Vec<OpenSessionRow> = db.run(|connection| {
        connection
            .prepare(
                "SELECT agent, id, transcript, cwd, started, last_seen FROM sessions WHERE state = 'open'",
            )?
            .query_map([], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
            })?
            .collect()
    })?;
    let idle = SignedDuration::from_mins(i64::from(context.config.capture.idle_minutes));
    let dead = SignedDuration::from_mins(i64::from(context.config.capture.dead_minutes));
    let mut events = markers::marker_requests(db, context, now)?;
    for (agent, session, transcript, cwd, started, last_seen) in rows {
        let Ok(agent) = agent.parse() else { continue };
        let written = transcript.as_deref().and_then(|path| last_write(Path::new(path)));
        let last_seen = last_heard(now, agent, &session, last_seen, db)?;
        // A transcript from the future does not tell the idle time of its session.
        let last_write_at = written.map(|(at, _)| at).filter(|at| *at <= now.as_millisecond());
        let last = last_write_at.map_or(last_seen, |at| at.max(last_seen));
        // If nothing was written anywhere, only the start is known.
        let patience = if last_write_at.is_some() || last_seen > started { idle } else { dead };
        if SignedDuration::from_millis(now.as_millisecond() - last) < patience {
            continue;
        }
        let echo = EchoRequested {
            agent,
            session_id: session.clone(),
            transcript: transcript.clone(),
            upto: written.map(|(_, size)| size),
            cwd: cwd.clone(),
            last: true,
            synthetic: false,
        };
        events.extend(hook_signals::echo_event(echo, &injection_log::read(&context.places, &session), now));
        let silence =
            IdleSession { agent, session, transcript, cwd, upto: written.map(|(_, size)| size), last };
        events.extend(silence.request(now));
    }
    Ok(events)
}

/// The time of the last event, at most now. A later stamp comes from a clock that was set back since and
/// would keep the session open until then, so the row is corrected.
fn last_heard(
    now: Timestamp,
    agent: Agent,
    session: &str,
    last_seen: i64,
    db: &Database,
) -> Result<i64, db::Error> {
    let now = now.as_millisecond();
    if last_seen > now {
        db.run(|connection| {
            connection.execute(
                "UPDATE sessions SET last_seen = ?3 WHERE agent = ?1 AND id = ?2",
                params![agent.as_str(), session, now],
            )
        })?;
    }
    Ok(last_seen.min(now))
}

/// A session without events for a while.
struct IdleSession {
    agent: Agent,
    session: String,
    transcript: Option<String>,
    cwd: Option<String>,
    /// The length of the transcript.
    upto: Option<u64>,
    /// The time of the last event, in milliseconds.
    last: i64,
}

impl IdleSession {
    /// Builds the event to capture the session. The same idle period gives the same event.
    fn request(self, now: Timestamp) -> Option<Event> {
        let Self { agent, session, transcript, cwd, upto, last } = self;
        let id = format!("idle-{agent}-{session}-{last}");
        let data = CaptureRequested {
            agent,
            session_id: session,
            trigger: CaptureTrigger::Shutdown,
            cause: "idle".to_owned(),
            upto,
            transcript,
            cwd,
        };
        let data = serde_json::to_value(data).ok()?;
        Some(Event { id, name: names::CAPTURE_REQUESTED.to_owned(), data, at: now })
    }
}

/// The time of the last write to a file in milliseconds, and its length.
fn last_write(path: &Path) -> Option<(i64, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    let since = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((i64::try_from(since.as_millis()).ok()?, metadata.len()))
}

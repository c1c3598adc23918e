//! Sessions that said nothing for so long that they might as well be over (EXE-14, EXE-15): the terminal was closed, the
//! agent was killed, the laptop slept. Whoever wakes next finds them.

use std::path::Path;

use jiff::SignedDuration;
use rekindle_core::event::{CaptureRequested, EchoRequested, Event, Trigger, names};
use rekindle_core::time::Timestamp;

use super::{World, signal};
use crate::db::{self, Db};
use crate::told;

/// Agent, id, transcript, folder, when it began and when it was last heard of, in milliseconds.
type Open = (String, String, Option<String>, Option<String>, i64, i64);

/// The sessions to be looked at because nobody has said anything in them for a while. A session that goes on afterwards
/// opens again, and what is said then is a new window.
pub fn requests(db: &Db, world: &World, now: Timestamp) -> Result<Vec<Event>, db::Error> {
    let rows: Vec<Open> = db.run(|connection| {
        connection
            .prepare(
                "SELECT agent, id, transcript, cwd, started, last_seen FROM sessions WHERE state = 'open'",
            )?
            .query_map([], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
            })?
            .collect()
    })?;
    let idle = SignedDuration::from_mins(i64::from(world.config.capture.idle_minutes));
    let dead = SignedDuration::from_mins(i64::from(world.config.capture.dead_minutes));
    let mut events = Vec::new();
    for (agent, session, transcript, cwd, started, last_seen) in rows {
        let Ok(agent) = agent.parse() else { continue };
        let written = transcript.as_deref().and_then(|path| written(Path::new(path)));
        let last = written.map_or(last_seen, |(at, _)| at.max(last_seen));
        // Without a word written anywhere, only its start is known.
        let patience = if written.is_some() || last_seen > started { idle } else { dead };
        let silent = SignedDuration::from_millis(now.as_millisecond() - last);
        // A time that lies far ahead was written by a clock that has been put back since.
        if silent < patience && silent > -SignedDuration::from_hours(24) {
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
        events.extend(signal::asks(echo, &told::read(&world.places, &session), now));
        let data = CaptureRequested {
            agent,
            session_id: session.clone(),
            trigger: Trigger::Shutdown,
            cause: "idle".to_owned(),
            upto: written.map(|(_, size)| size),
            transcript,
            cwd,
        };
        let Ok(data) = serde_json::to_value(data) else { continue };
        // The same silence is the same event.
        let id = format!("idle-{agent}-{session}-{last}");
        events.push(Event { id, name: names::CAPTURE_REQUESTED.to_owned(), data, at: now });
    }
    Ok(events)
}

/// When a file was last written, in milliseconds, and how long it is.
fn written(path: &Path) -> Option<(i64, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    let since = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((i64::try_from(since.as_millis()).ok()?, metadata.len()))
}

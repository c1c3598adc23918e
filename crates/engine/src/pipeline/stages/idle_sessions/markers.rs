//! Sessions that have nothing but a marker (EXE-14): the database was deleted, or the disk was full when they
//! began.

use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use rekindle_core::base::agent::Agent;
use rekindle_core::base::time::Timestamp;
use rekindle_core::event::Event;
use rekindle_core::vault::marker::{self, IdleLimits, MARKER_RETENTION_DAYS, SessionMarker};

use super::{IdleSession, last_write};
use crate::agents::transcripts::{self, TranscriptFile};
use crate::jobs::context::StageContext;
use crate::jobs::sessions;
use crate::platform::db::{self, Database};
use crate::platform::environment;

/// Requests a capture of every ended session that has a marker and is not in the database.
pub(super) fn marker_requests(
    db: &Database,
    context: &StageContext,
    now: Timestamp,
) -> Result<Vec<Event>, db::Error> {
    // `doctor` reports a folder that cannot be read.
    let markers = sessions::markers(&context.places.sessions()).unwrap_or_default();
    let capture = &context.config.capture;
    let limits =
        IdleLimits { dead_after_minutes: capture.dead_minutes, idle_after_minutes: capture.idle_minutes };
    let mut all_transcripts = None;
    let mut events = Vec::new();
    for marker in markers.open {
        if !marker::is_due(&marker, None, now, &limits) || is_old(&marker, now) || is_known(db, &marker)? {
            continue;
        }
        let found = idle_session(&marker, context, &mut all_transcripts);
        let last = |silence: &IdleSession| Timestamp::from_millisecond(silence.last).ok();
        let due = found.filter(|silence| marker::is_due(&marker, last(silence), now, &limits));
        events.extend(due.and_then(|silence| silence.request(now)));
    }
    Ok(events)
}

/// True if the marker is so old that its transcript should have been found by now.
fn is_old(marker: &SessionMarker, now: Timestamp) -> bool {
    now.duration_since(marker.started) > SignedDuration::from_hours(24 * i64::from(MARKER_RETENTION_DAYS))
}

fn is_known(db: &Database, marker: &SessionMarker) -> Result<bool, db::Error> {
    db.run(|connection| {
        connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?1)",
            [&marker.session],
            |row| row.get(0),
        )
    })
}

/// Finds the input to capture a marked session: its transcript, or else the copies of the hooks.
fn idle_session(
    marker: &SessionMarker,
    context: &StageContext,
    all: &mut Option<Vec<TranscriptFile>>,
) -> Option<IdleSession> {
    let path = Path::new(&marker.transcript);
    let source = match marker.transcript.is_empty() || !path.is_file() {
        true => find_transcript(&marker.session, all.get_or_insert_with(all_transcripts)),
        false => transcripts::recognise_agent(path).ok().flatten().map(|agent| (agent, path.to_owned())),
    };
    let Some((agent, path)) = source else {
        let kept = |agent: &Agent| {
            sessions::kept_messages(&context.places, *agent, &marker.session)
                .is_ok_and(|messages| !messages.is_empty())
        };
        return Agent::ALL.into_iter().find(kept).map(|agent| IdleSession {
            agent,
            session: marker.session.clone(),
            transcript: None,
            cwd: None,
            upto: None,
            last: marker.started.as_millisecond(),
        });
    };
    let head = transcripts::read_head(agent, &path).ok().filter(|head| !head.subagent)?;
    let (last, size) = last_write(&path)?;
    Some(IdleSession {
        agent,
        session: marker.session.clone(),
        transcript: Some(path.to_str()?.to_owned()),
        cwd: head.cwd,
        upto: Some(size),
        last,
    })
}

fn all_transcripts() -> Vec<TranscriptFile> {
    let Some(home) = environment::home_folder() else { return Vec::new() };
    Agent::ALL.into_iter().flat_map(|agent| transcripts::find(agent, &home)).collect()
}

/// Finds the transcript of a session whose marker lost its content. Every host names the file after the
/// session, some after the first characters of its id.
fn find_transcript(session: &str, all: &[TranscriptFile]) -> Option<(Agent, PathBuf)> {
    const MIN_ID_CHARS: usize = 8;
    let start = session.get(..MIN_ID_CHARS).unwrap_or(session);
    let is_named = |found: &&TranscriptFile| {
        found.path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| stem.contains(start))
    };
    let is_it = |found: &&TranscriptFile| {
        transcripts::read_head(found.agent, &found.path)
            .is_ok_and(|head| head.session.is_none_or(|named| named == session))
    };
    all.iter().filter(is_named).find(is_it).map(|found| (found.agent, found.path.clone()))
}

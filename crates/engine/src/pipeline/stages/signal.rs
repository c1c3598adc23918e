//! What a hook's signal changes: how far a session has come, and whether it is time to look at it (CAP-01…03).

use rekindle_core::base::agent::Agent;
use rekindle_core::base::time::Timestamp;
use rekindle_core::event::{CaptureRequested, EchoRequested, Event, Trigger, names};
use rekindle_core::hosts::hook::{Kind, Signal};

use crate::context::injection_log::Record;
use crate::platform::db::{Transaction, params};

/// Notes a signal in the sessions' table. What is later than what is known moves it on; what comes again changes nothing.
pub fn note(
    transaction: &Transaction<'_>,
    signal: &Signal,
    position: Option<u64>,
    at: Timestamp,
) -> rusqlite::Result<()> {
    if signal.subagent {
        return Ok(());
    }
    let position = position.and_then(|position| i64::try_from(position).ok()).unwrap_or(0);
    transaction
        .prepare_cached(
            "INSERT INTO sessions (agent, id, transcript, cwd, started, last_seen, upto)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)
             ON CONFLICT (agent, id) DO UPDATE SET
                transcript = coalesce(excluded.transcript, transcript),
                cwd = coalesce(cwd, excluded.cwd),
                started = min(started, excluded.started),
                upto = max(upto, excluded.upto),
                state = CASE WHEN excluded.last_seen > last_seen THEN 'open' ELSE state END,
                last_seen = max(last_seen, excluded.last_seen)",
        )?
        .execute(params![
            signal.agent.word(),
            signal.session,
            signal.transcript,
            signal.cwd,
            at.as_millisecond(),
            position
        ])?;
    Ok(())
}

/// The event that a signal asks for, if it does. A turn that ended asks for nothing: it only moves the session on.
pub fn request(signal: &Signal, position: Option<u64>, id: &str, at: Timestamp) -> Option<Event> {
    let trigger = match signal.kind {
        Kind::End => Trigger::Shutdown,
        // Gemini asks before every call to its model whether to compress; its transcript tells whether it did, and the
        // end of the session sees to it.
        Kind::BeforeCompaction if signal.agent != Agent::Gemini => Trigger::Compaction,
        Kind::Start
        | Kind::Prompt
        | Kind::BeforeTool
        | Kind::Stop
        | Kind::BeforeCompaction
        | Kind::AfterCompaction => return None,
    };
    if signal.subagent {
        return None;
    }
    let data = CaptureRequested {
        agent: signal.agent,
        session_id: signal.session.clone(),
        trigger,
        cause: match signal.kind {
            Kind::End => "end",
            _ => "compaction",
        }
        .to_owned(),
        transcript: signal.transcript.clone(),
        upto: position,
        cwd: signal.cwd.clone(),
    };
    let data = serde_json::to_value(data).ok()?;
    Some(Event { id: format!("capture-{id}"), name: names::CAPTURE_REQUESTED.to_owned(), data, at })
}

/// The event that has a turn held against what the session was told for it (FBK-02), if it was told anything that nobody has
/// looked at yet. The same turn asks once when it ends, and once more when the session does.
pub fn echo(signal: &Signal, position: Option<u64>, told: &Record, at: Timestamp) -> Option<Event> {
    let last = match signal.kind {
        Kind::Stop => false,
        Kind::End => true,
        Kind::Start | Kind::Prompt | Kind::BeforeTool | Kind::BeforeCompaction | Kind::AfterCompaction => {
            return None;
        }
    };
    if signal.subagent {
        return None;
    }
    let data = EchoRequested {
        agent: signal.agent,
        session_id: signal.session.clone(),
        transcript: signal.transcript.clone(),
        upto: position,
        cwd: signal.cwd.clone(),
        last,
        synthetic: false,
    };
    asks(data, told, at)
}

/// The event itself, for the newest turn that waits.
pub(super) fn asks(data: EchoRequested, told: &Record, at: Timestamp) -> Option<Event> {
    let turns = told.turns();
    let turn = told.waiting().last().and_then(|at| turns.get(*at))?.prompt.turn.clone();
    let id = format!("echo-{turn}-{}", if data.last { "end" } else { "stop" });
    let data = serde_json::to_value(data).ok()?;
    Some(Event { id, name: names::ECHO_REQUESTED.to_owned(), data, at })
}

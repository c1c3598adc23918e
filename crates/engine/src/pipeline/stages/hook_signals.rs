//! Effects of a hook's signal: the position of the session, and the request to capture it (CAP-01…03).

use rekindle_core::base::agent::Agent;
use rekindle_core::base::time::Timestamp;
use rekindle_core::event::{CaptureRequested, CaptureTrigger, EchoRequested, Event, names};
use rekindle_core::hosts::hook::{HookKind, HookSignal};

use crate::context::injection_log::InjectionRecord;
use crate::platform::db::{Transaction, params};

/// Stores a signal in the table of sessions. Only a later signal changes anything.
pub fn record_signal(
    transaction: &Transaction<'_>,
    signal: &HookSignal,
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
            signal.agent.as_str(),
            signal.session,
            signal.transcript,
            signal.cwd,
            at.as_millisecond(),
            position
        ])?;
    Ok(())
}

/// Builds the event that a signal requests, if any. The end of a turn requests nothing: it only moves the
/// position.
pub fn capture_request(signal: &HookSignal, position: Option<u64>, id: &str, at: Timestamp) -> Option<Event> {
    let trigger = match signal.kind {
        HookKind::End => CaptureTrigger::Shutdown,
        // Gemini's hook fires before every call to its model; its transcript shows if it compressed, and the
        // end of the session handles that.
        HookKind::BeforeCompaction if signal.agent != Agent::Gemini => CaptureTrigger::Compaction,
        HookKind::Start
        | HookKind::Prompt
        | HookKind::BeforeTool
        | HookKind::Stop
        | HookKind::BeforeCompaction
        | HookKind::AfterCompaction => return None,
    };
    if signal.subagent {
        return None;
    }
    let data = CaptureRequested {
        agent: signal.agent,
        session_id: signal.session.clone(),
        trigger,
        cause: match signal.kind {
            HookKind::End => "end",
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

/// Builds the event to judge a turn (FBK-02), if it has injections without an outcome. A turn requests it
/// once at its end, and once more at the end of the session.
pub fn echo_request(
    signal: &HookSignal,
    position: Option<u64>,
    record: &InjectionRecord,
    at: Timestamp,
) -> Option<Event> {
    let last = match signal.kind {
        HookKind::Stop => false,
        HookKind::End => true,
        HookKind::Start
        | HookKind::Prompt
        | HookKind::BeforeTool
        | HookKind::BeforeCompaction
        | HookKind::AfterCompaction => {
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
    echo_event(data, record, at)
}

/// Builds the event for the newest waiting turn.
pub(super) fn echo_event(data: EchoRequested, record: &InjectionRecord, at: Timestamp) -> Option<Event> {
    let turns = record.turns();
    let turn = record.unjudged_turns().last().and_then(|at| turns.get(*at))?.prompt.turn.clone();
    let id = format!("echo-{turn}-{}", if data.last { "end" } else { "stop" });
    let data = serde_json::to_value(data).ok()?;
    Some(Event { id, name: names::ECHO_REQUESTED.to_owned(), data, at })
}

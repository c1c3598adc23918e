//! The telemetry events of runs: `<stage>.started`, `.step`, `.completed` and `.failed` (O11-02).

use std::time::Duration;

use rekindle_core::base::time::Timestamp;
use rekindle_core::run::RunStatus;
use rekindle_core::telemetry::event::safe_id;
use rekindle_core::telemetry::{ErrorKind, EventLevel, EventPhase, TelemetryEvent};

use super::{ClaimedRun, FunctionOutcome, RunInterrupt};

/// Creates an event about a run. Its id names the attempt, so that it is stored once.
fn event(
    claimed: &ClaimedRun,
    now: Timestamp,
    phase: EventPhase,
    level: EventLevel,
    part: &str,
) -> TelemetryEvent {
    let id = format!("{}-{}-{part}", claimed.id, claimed.attempt);
    let mut event = TelemetryEvent::new(id, now, &claimed.function, phase, level);
    event.session_id = claimed.event.session().map(safe_id);
    event.run_id = Some(claimed.id.clone());
    event.event_id = Some(safe_id(&claimed.event.id));
    event.attempt = Some(claimed.attempt);
    event.add_ids(&claimed.event.data);
    event
}

/// The event of a claim.
pub(super) fn started(claimed: &ClaimedRun, now: Timestamp) -> TelemetryEvent {
    event(claimed, now, EventPhase::Started, EventLevel::Info, "started")
}

/// The event of a step that ended.
pub(super) fn step(claimed: &ClaimedRun, name: &str, now: Timestamp, took: Duration) -> TelemetryEvent {
    let part = format!("step-{}", safe_id(name));
    let mut event = event(claimed, now, EventPhase::Step, EventLevel::Debug, &part);
    event.step = Some(safe_id(name));
    event.duration_ms = Some(milliseconds(took));
    event
}

/// The event of the end of an attempt; `None` if it was only interrupted.
pub(super) fn ended(
    claimed: &ClaimedRun,
    outcome: &Result<FunctionOutcome, RunInterrupt>,
    status: RunStatus,
    now: Timestamp,
) -> Option<TelemetryEvent> {
    let completed = || event(claimed, now, EventPhase::Completed, EventLevel::Info, "completed");
    let mut ended = match outcome {
        Ok(FunctionOutcome::Completed(output)) => {
            let mut completed = completed();
            completed.add_output(output);
            completed
        }
        Ok(FunctionOutcome::Skipped(_)) => TelemetryEvent { skipped: true, ..completed() },
        Err(RunInterrupt::Failed { step, error }) => {
            let will_retry = status == RunStatus::Failed;
            let level = if will_retry { EventLevel::Warn } else { EventLevel::Error };
            let mut failed = event(claimed, now, EventPhase::Failed, level, "failed");
            failed.step = Some(safe_id(step));
            failed.error = Some(ErrorKind::of_message(&error.message));
            failed.will_retry = Some(will_retry);
            failed
        }
        Err(RunInterrupt::Stopped | RunInterrupt::Db(_)) => return None,
    };
    ended.duration_ms = Some(milliseconds(claimed.began.elapsed()));
    Some(ended)
}

/// A duration in milliseconds, to the hundredth.
pub(crate) fn milliseconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1e5).round() / 100.0
}

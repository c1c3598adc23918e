//! What a worker reports about itself: its own start and end, and what became of a finished session.

use std::time::Duration;

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::format_utc;
use rekindle_core::telemetry::log_lines::REFLECT_HOOK;
use rekindle_core::telemetry::{ErrorKind, EventLevel, EventPhase, TelemetryEvent};
use serde_json::{Value, json};

use crate::agents::hook_log;
use crate::jobs::context::StageContext;
use crate::jobs::queue::{ClaimedRun, FunctionOutcome, RunInterrupt, milliseconds};
use crate::jobs::worker_lock::Error;
use crate::pipeline::worker::WorkerStats;
use crate::platform::db::Database;
use crate::platform::random;
use crate::telemetry::{export, fold, store};

/// The stage of the worker itself.
const WORKER_STAGE: &str = "worker";
/// The function that observes sessions.
const OBSERVE: &str = "observe";

/// Reports the end of a worker that did something, folds the logs in, and keeps the table small.
pub(super) fn report(stage_context: &StageContext, done: &Result<WorkerStats, Error>, took: Duration) {
    let telemetry = stage_context.telemetry();
    let now = stage_context.now().timestamp();
    let (phase, level) = match done {
        Ok(did) if *did == WorkerStats::default() => return,
        Ok(_) => (EventPhase::Completed, EventLevel::Info),
        // Nothing is learnt until this is repaired.
        Err(_) => (EventPhase::Failed, EventLevel::Fatal),
    };
    let id = random::change_id(now).map_or_else(|_| now.to_string(), |id| id.as_str().to_owned());
    let mut event = TelemetryEvent::new(id, now, WORKER_STAGE, phase, level);
    event.duration_ms = Some(milliseconds(took));
    match done {
        Ok(did) => event.add_output(&json!({
            "taken": did.taken, "broken": did.broken, "completed": did.completed, "skipped": did.skipped,
            "failed": did.failed, "dead": did.dead, "begun": did.begun,
        })),
        Err(error) => event.error = Some(ErrorKind::of_message(&error.to_string())),
    }
    let mut db = stage_context.db().ok();
    telemetry.emit(db.as_mut(), &event);
    fold_logs(stage_context);
}

fn fold_logs(stage_context: &StageContext) {
    let Ok(mut db) = Database::open(&stage_context.places.database()) else { return };
    let (logs, level) = (stage_context.places.logs_folder(), stage_context.config.memory.log_level);
    fold::fold(&mut db, &logs, level).ignore_failure("the next worker folds the lines in");
    let now = stage_context.now().timestamp();
    store::prune(&mut db, now).ignore_failure("the next worker prunes");
    export::export_in_background(&mut db, &stage_context.config.telemetry.otlp, now);
}

/// Appends the line of a session that was observed: what was found, and where it went (O11-12).
pub(super) fn log_reflection(
    stage_context: &StageContext,
    claimed: &ClaimedRun,
    ended: &Result<FunctionOutcome, RunInterrupt>,
) {
    let (OBSERVE, Ok(FunctionOutcome::Completed(output))) = (claimed.function.as_str(), ended) else {
        return;
    };
    let data = &claimed.event.data;
    let (Some(agent), Some(session)) = (data["agent"].as_str(), data["sessionId"].as_str()) else { return };
    let count = |key: &str| output[key].as_array().map_or(0, Vec::len);
    let line: Value = json!({
        "ts": format_utc(stage_context.now().timestamp()),
        "hook": format!("{agent} {REFLECT_HOOK}"),
        "duration_ms": milliseconds(claimed.began.elapsed()),
        "result": "success",
        "candidates_mined": output["mined"],
        "auto_saved": count("saved"),
        // A candidate that needs a decision becomes a proposal.
        "interactive_reviewed": count("proposed"),
        "inboxed": count("inboxed"),
        "session": session,
    });
    hook_log::append(&stage_context.places.logs_folder(), &line)
        .ignore_failure("the counts are in the run, too");
}

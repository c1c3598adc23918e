//! The weekly job: is it scheduled, did it run, and does it run (O11-10). It runs in the scratch home.

use std::time::{Duration, Instant};

use jiff::SignedDuration;
use rekindle_core::base::time::{Timestamp, day};
use rekindle_core::event::{Event, names};
use rekindle_core::run::RunStatus;
use rekindle_core::telemetry::gate::{GateFailure, GatePart, GateStep};
use serde_json::json;

use super::scratch::ScratchHome;
use super::{GateRequest, poll_until};
use crate::agents::install::InstalledCommand;
use crate::jobs::queue::{RunFilter, RunQueue, RunRecord};
use crate::jobs::spool::{Spool, SpoolPayload};
use crate::pipeline::stages::STAGE_REGISTRY;
use crate::pipeline::stages::weekly_maintenance::{WEEKLY_MAINTENANCE, WEEKLY_SUMMARY, weekly_summaries};
use crate::platform::clock;
use crate::platform::db::{self, Database, OptionalExtension};

/// The time after which a weekly job is overdue: no worker ran since.
const OVERDUE_AFTER: SignedDuration = SignedDuration::from_hours(10 * 24);
/// The longest wait for the worker in the scratch home.
const WORKER_TIMEOUT: Duration = Duration::from_secs(120);

pub(super) fn check(request: &GateRequest<'_>, scratch: &ScratchHome) -> Vec<GateStep> {
    let timed = |step: &'static str, work: &dyn Fn() -> Result<String, GateFailure>| {
        let began = Instant::now();
        let outcome = match work() {
            Ok(evidence) => GateStep::passed(GatePart::Weekly, step, evidence),
            Err(failure) => GateStep::failed(GatePart::Weekly, step, failure),
        };
        GateStep { seconds: (began.elapsed().as_secs_f64() * 1e3).round() / 1e3, ..outcome }
    };
    vec![
        timed("scheduled", &|| scheduled(request)),
        timed("ran", &|| ran(request)),
        timed("runs", &|| runs(request, scratch)),
    ]
}

fn failure(what: impl Into<String>, next: &str) -> GateFailure {
    GateFailure { what: what.into(), hook: None, next: next.to_owned() }
}

fn unreadable(error: &db::Error) -> GateFailure {
    failure(error.to_string(), "`rekindle doctor --fix` rebuilds the database")
}

/// Its next date, from the date of the last one.
fn scheduled(request: &GateRequest<'_>) -> Result<String, GateFailure> {
    let schedule = STAGE_REGISTRY.get(WEEKLY_MAINTENANCE).and_then(|function| function.schedule);
    let Some(schedule) = schedule else {
        return Err(failure("the weekly job has no schedule", "report this as a bug"));
    };
    let Some(last) = last_due(request)? else {
        return Ok("once a week, from the first session on".to_owned());
    };
    let now = request.now.timestamp();
    if now.duration_since(last) > OVERDUE_AFTER && schedule.due_at(Some(last), request.now).is_some() {
        let what = format!("it is overdue: the last one was due on {}", on(last, request));
        return Err(failure(what, "`rekindle worker` runs what is due"));
    }
    Ok(format!("the last one was due on {}", on(last, request)))
}

fn on(at: Timestamp, request: &GateRequest<'_>) -> String {
    day(at.to_zoned(request.now.time_zone().clone()).date())
}

/// The last time at which it was due; `None` before the first worker.
fn last_due(request: &GateRequest<'_>) -> Result<Option<Timestamp>, GateFailure> {
    let Some(db) = Database::open_existing(&request.places.database()).map_err(|error| unreadable(&error))?
    else {
        return Ok(None);
    };
    let last: Option<i64> = db
        .run(|connection| {
            connection
                .query_row("SELECT last FROM schedule WHERE function = ?1", [WEEKLY_MAINTENANCE], |row| {
                    row.get(0)
                })
                .optional()
        })
        .map_err(|error| unreadable(&error))?;
    Ok(last.and_then(|last| Timestamp::from_millisecond(last).ok()))
}

/// What became of the last one.
fn ran(request: &GateRequest<'_>) -> Result<String, GateFailure> {
    let Some(db) = Database::open_existing(&request.places.database()).map_err(|error| unreadable(&error))?
    else {
        return Ok("no week has ended yet".to_owned());
    };
    let runs = weekly_runs(db).map_err(|error| unreadable(&error))?;
    if let Some(run) = runs.first()
        && matches!(run.status, RunStatus::Dead | RunStatus::Failed)
    {
        let why = run.error.clone().unwrap_or_default();
        let what = format!("the last one failed: {} says {why}", run.function);
        return Err(failure(what, "`rekindle runs --dead` says why, `rekindle retry` retries it"));
    }
    let last = weekly_summaries(request.places).ok().and_then(|mut weeks| weeks.next());
    Ok(last.map_or_else(|| "no week has ended yet".to_owned(), |last| format!("on {}", day(last.date))))
}

/// The runs of both functions, the newest first.
fn weekly_runs(db: Database) -> Result<Vec<RunRecord>, db::Error> {
    let runs = RunQueue::new(db).history(&RunFilter::default())?;
    Ok(runs
        .into_iter()
        .filter(|run| [WEEKLY_MAINTENANCE, WEEKLY_SUMMARY].contains(&run.function.as_str()))
        .collect())
}

/// Runs it in the scratch home, as the schedule would.
fn runs(request: &GateRequest<'_>, scratch: &ScratchHome) -> Result<String, GateFailure> {
    let now = clock::now(request.now.time_zone().clone()).timestamp();
    let event = Event {
        id: format!("gate-{WEEKLY_MAINTENANCE}"),
        name: names::SCHEDULE_REACHED.to_owned(),
        data: json!({"function": WEEKLY_MAINTENANCE, "due": now.to_string()}),
        at: now,
    };
    let doctor = "`rekindle doctor` checks the installation";
    Spool::in_folder(scratch.places.spool_folder())
        .write_entry(SpoolPayload::Event(event), now)
        .map_err(|error| failure(error.to_string(), doctor))?;
    let worker =
        InstalledCommand::of_program(request.program, request.home.root(), &["worker", "--once", "--json"]);
    let answer = worker.call_within(WORKER_TIMEOUT, "", scratch.environment());
    if let Some(problem) = answer.problem {
        return Err(failure(format!("the worker: {problem}"), "`rekindle worker` says what stops it"));
    }
    let done = poll_until(request, || {
        let db = Database::open_existing(&scratch.places.database()).ok()??;
        let runs = weekly_runs(db).ok()?;
        let ended = |name: &str| runs.iter().find(|run| run.function == name && run.ended.is_some());
        let all = [ended(WEEKLY_MAINTENANCE)?, ended(WEEKLY_SUMMARY)?];
        let completed = all.iter().filter(|run| run.status == RunStatus::Completed).count();
        let error = all.iter().find_map(|run| run.error.clone());
        Some((completed, all.len() - completed, error))
    });
    match done {
        Some((completed, 0, _)) => Ok(format!("{completed} completed, 0 failed")),
        Some((completed, failed, error)) => {
            let why = error.map_or_else(String::new, |error| format!(": {error}"));
            Err(failure(format!("{completed} completed, {failed} failed{why}"), doctor))
        }
        None => Err(failure(format!("it did not end within {} s", request.wait.as_secs()), doctor)),
    }
}

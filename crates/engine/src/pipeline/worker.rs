//! Worker: drains the spool, runs everything due, and exits. One runs at a time, started by a hook or by
//! hand.
//!
//! It has no port and is no daemon. Killing it at any instant loses nothing: its progress is in the database,
//! the rest is in the spool, and the next worker continues.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::{Date, Timestamp};
use rekindle_core::event::{Event, names};
use rekindle_core::hosts::hook::{HookKind, HookSignal};
use rekindle_core::run::RunStatus;
use rekindle_core::vault::daily_log;
use serde_json::json;

use crate::context::injection_log;
use crate::jobs::context::StageContext;
use crate::jobs::health;
use crate::jobs::queue::{self, ClaimedRun, FunctionOutcome, FunctionRegistry, RunInterrupt, RunQueue};
use crate::jobs::sessions;
use crate::jobs::spool::{Spool, SpoolEntry, SpoolPayload};
use crate::jobs::worker_lock::{Error, WorkerLock};
use crate::pipeline::observations;
use crate::pipeline::stages::throttle::Throttle;
use crate::pipeline::stages::{hook_signals, idle_sessions, promote, share};
use crate::pipeline::worker_events;
use crate::platform::db::{Database, OptionalExtension, params};
use crate::review::{proposals, surfaces};
use crate::vault::Vault;

/// The lifetime of a worker that a hook started; the next hook starts another.
pub const WORKER_LIFETIME: Duration = Duration::from_secs(20 * 60);
/// The time limit of a run; a longer one hangs, so the worker exits and the run counts a crash.
const RUN_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// The most files taken from the spool at a time, and the most runs before the next batch.
const MAX_BATCH_FILES: usize = 64;
/// The most bytes of a batch of files.
const MAX_BATCH_BYTES: u64 = 4 * 1024 * 1024;
/// The longest interval between two checks of the watchdog.
const WATCHDOG_INTERVAL: Duration = Duration::from_secs(1);
/// The poll interval of a worker that stays.
const WATCH_INTERVAL: Duration = Duration::from_millis(500);

/// Counts of a worker's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerStats {
    /// The number of files taken from the spool.
    pub taken: u64,
    /// The number of unreadable files in the spool.
    pub broken: u64,
    /// The number of completed runs.
    pub completed: u64,
    /// The number of skipped runs.
    pub skipped: u64,
    /// The number of failed attempts.
    pub failed: u64,
    /// The number of runs that failed for good.
    pub dead: u64,
    /// The number of sessions that began.
    pub begun: u64,
}

/// A moment at which the caller may do work of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerPhase {
    /// New sessions were reported.
    Began,
    /// A batch of runs is done. It comes now and then and at the end, so that follow-up work can be batched
    /// too.
    Worked,
}

/// Drains the spool, runs everything due, and returns. Later retries stay in the queue. `at` receives the
/// moments for other work.
pub fn run_pending(
    worker_lock: &WorkerLock,
    stage_context: &StageContext,
    registry: &FunctionRegistry,
    at: &mut dyn FnMut(WorkerPhase),
) -> Result<WorkerStats, Error> {
    let began = Instant::now();
    let stats = drain(worker_lock, stage_context, registry, at);
    worker_events::report(stage_context, &stats, began.elapsed());
    stats
}

fn drain(
    worker_lock: &WorkerLock,
    stage_context: &StageContext,
    registry: &FunctionRegistry,
    at: &mut dyn FnMut(WorkerPhase),
) -> Result<WorkerStats, Error> {
    let mut stats = WorkerStats::default();
    let spool = Spool::in_folder(stage_context.places.spool_folder());
    let mut queue = open_queue(stage_context)?;
    queue.release_abandoned(stage_context.now().timestamp())?;
    restore_hot_list(stage_context, &mut queue).ignore_failure("the next worker repeats it; the logs stay");
    restore_proposals(stage_context, &mut queue, registry)
        .ignore_failure("the next worker repeats it; the copy stays");
    share::resume_without_server(queue.db(), &stage_context.config.engines, stage_context.now().timestamp())?;
    // Decisions on the page count when a worker runs (REV-03).
    promote::read_review_decisions(stage_context)
        .ignore_failure("an unreadable page is read later, and `doctor` reports it");
    let (watchdog, pace) = (Watchdog::start(RUN_TIMEOUT, abort_process), Throttle::default());
    while !stage_context.should_stop() {
        if worker_lock.is_wanted() {
            stage_context.request_stop();
            break;
        }
        let begun = stats.begun;
        let taken = ingest_batch(&spool, &mut queue, registry, stage_context, &mut stats)?;
        if stats.begun > begun {
            at(WorkerPhase::Began);
        }
        let worked = run_due(&mut queue, registry, stage_context, &watchdog, &mut stats, &|run, end| {
            worker_events::log_reflection(stage_context, run, end);
        })?;
        if worked {
            pace.run_throttled(|| at(WorkerPhase::Worked));
        } else if taken == 0 && !enqueue_scheduled(&mut queue, registry, stage_context)? {
            break;
        }
    }
    pace.run_if_postponed(|| at(WorkerPhase::Worked));
    health::note(&stage_context.places, &queue)?;
    queue.db().checkpoint()?;
    Ok(stats)
}

/// Opens the queue. A step whose result is lost in a power cut runs again; all steps are idempotent.
fn open_queue(stage_context: &StageContext) -> Result<RunQueue, Error> {
    let db = Database::open(&stage_context.places.database())?.with_relaxed_sync()?;
    Ok(RunQueue::new(db).reporting_to(stage_context.telemetry()))
}

/// Rebuilds an empty hot list from the daily logs: the database was lost, or the vault comes from another
/// machine (STO-01).
fn restore_hot_list(stage_context: &StageContext, queue: &mut RunQueue) -> Result<(), Error> {
    if !observations::is_empty(queue.db())? {
        return Ok(());
    }
    let Ok(vault) = Vault::open(&stage_context.places) else { return Ok(()) };
    let today = stage_context.now().date();
    let days = (0..=observations::RETENTION_DAYS).rev();
    let days = days.filter_map(|back| today.checked_sub(jiff::Span::new().days(back)).ok());
    let logs = days.filter_map(|day| Some((day, daily_log::parse(&vault.daily_log(day).ok()??))));
    let logs: Vec<(Date, daily_log::DailyLog)> = logs.collect();
    observations::restore(queue.db(), &logs)?;
    Ok(())
}

/// Takes the proposals from their copy into a database that lost them, and carries out the approved ones (B-07).
fn restore_proposals(
    stage_context: &StageContext,
    queue: &mut RunQueue,
    registry: &FunctionRegistry,
) -> Result<(), Error> {
    if proposals::restore_if_lost(queue.db(), &stage_context.places)? > 0 {
        proposals::adopt_orphans(queue.db(), registry, stage_context.now().timestamp())?;
    }
    Ok(())
}

/// Learns from past sessions (DIS-01) on several threads, each with a context from `worlds`. Events of hooks
/// come first, in the context `live`, so that no session waits longer than one call. `heard` receives the end
/// of every run.
pub fn run_backfill(
    worker_lock: &WorkerLock,
    live: &StageContext,
    worlds: &(dyn Fn() -> StageContext + Sync),
    registry: &'static FunctionRegistry,
    events: &[Event],
    threads: usize,
    on_end: &(dyn Fn(&ClaimedRun, &Result<FunctionOutcome, RunInterrupt>) + Sync),
) -> Result<WorkerStats, Error> {
    let mut stats = WorkerStats::default();
    let mut queue = open_queue(live)?;
    queue.release_abandoned(live.now().timestamp())?;
    restore_hot_list(live, &mut queue).ignore_failure("the next worker repeats it; the logs stay");
    let spool = Spool::in_folder(live.places.spool_folder());
    let work_off = |stage_context: &StageContext, queue: &mut RunQueue| {
        let (watchdog, mut stats) = (Watchdog::start(RUN_TIMEOUT, abort_process), WorkerStats::default());
        while !worker_lock.is_wanted()
            && run_due(queue, registry, stage_context, &watchdog, &mut stats, on_end)?
        {}
        Ok::<_, Error>(stats)
    };
    while !worker_lock.is_wanted() && ingest_batch(&spool, &mut queue, registry, live, &mut stats)? > 0 {}
    stats = stats.merge(work_off(live, &mut queue)?);
    queue.enqueue(registry, events, live.now().timestamp())?;
    let stage_context = worlds();
    std::thread::scope(|scope| {
        let helper = || {
            let stage_context = worlds();
            work_off(&stage_context, &mut open_queue(&stage_context)?)
        };
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(helper)).collect();
        stats = stats.merge(work_off(&stage_context, &mut queue)?);
        for helper in helpers {
            stats = stats.merge(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        // The events of the last runs.
        stats = stats.merge(work_off(&stage_context, &mut queue)?);
        Ok::<_, Error>(())
    })?;
    queue.db().checkpoint()?;
    Ok(stats)
}

/// Runs until asked to stop, for a worker that stays.
pub fn run_forever(
    worker_lock: &WorkerLock,
    stage_context: &StageContext,
    registry: &FunctionRegistry,
    at: &mut dyn FnMut(WorkerPhase),
) -> Result<WorkerStats, Error> {
    let mut all = WorkerStats::default();
    loop {
        let stats = run_pending(worker_lock, stage_context, registry, at)?;
        all = all.merge(stats);
        if stage_context.should_stop() {
            return Ok(all);
        }
        std::thread::sleep(WATCH_INTERVAL);
    }
}

impl WorkerStats {
    /// Adds the counts of two workers.
    pub fn merge(self, other: Self) -> Self {
        Self {
            taken: self.taken + other.taken,
            broken: self.broken + other.broken,
            completed: self.completed + other.completed,
            skipped: self.skipped + other.skipped,
            failed: self.failed + other.failed,
            dead: self.dead + other.dead,
            begun: self.begun + other.begun,
        }
    }
}

/// Takes a batch of files from the spool into the database. It deletes a file only after its content is
/// committed durably; after a crash in between, the next worker finds known events.
fn ingest_batch(
    spool: &Spool,
    queue: &mut RunQueue,
    registry: &FunctionRegistry,
    stage_context: &StageContext,
    stats: &mut WorkerStats,
) -> Result<u64, Error> {
    let batch = read_batch(spool, stats)?;
    let sessions_failed = |cause| Error::Sessions { path: stage_context.places.sessions(), cause };
    let mut events = Vec::new();
    for (_, spooled) in &batch.files {
        match &spooled.what {
            SpoolPayload::Event(event) => events.push(event.clone()),
            SpoolPayload::Signal { signal, position, messages } => {
                if !messages.is_empty() {
                    sessions::keep_messages(&stage_context.places, signal, messages)
                        .map_err(sessions_failed)?;
                }
                let record = injection_log::read(&stage_context.places, &signal.session);
                events.extend(hook_signals::echo_request(signal, *position, &record, spooled.at));
                events.extend(hook_signals::capture_request(signal, *position, &spooled.id, spooled.at));
            }
        }
    }
    if !batch.files.is_empty() {
        queue.enqueue_durably(registry, &events, stage_context.now().timestamp(), |transaction| {
            batch.signals().try_for_each(|(signal, position, at)| {
                hook_signals::record_signal(transaction, signal, position, at)
            })
        })?;
    }
    remember_projects(&batch, stage_context);
    for (signal, _, at) in batch.signals() {
        sessions::mark_reopened(&stage_context.places.sessions(), signal, at).map_err(sessions_failed)?;
        stats.begun += u64::from(signal.kind == HookKind::Start && !signal.subagent);
    }
    for (path, _) in &batch.files {
        spool.remove_processed(path)?;
    }
    stats.taken += batch.files.len() as u64;
    Ok(batch.looked_at)
}

/// Registers the projects of the signals' folders while the folders exist: a worktree may be removed before
/// its session is captured (B-05).
fn remember_projects(batch: &SpoolBatch, stage_context: &StageContext) {
    let folders: HashSet<&str> = batch
        .signals()
        .filter(|(signal, ..)| !signal.subagent)
        .filter_map(|(signal, ..)| signal.cwd.as_deref())
        .collect();
    for folder in folders {
        stage_context
            .remember_project(Some(folder))
            .ignore_failure("capture repeats it and reports the error");
    }
}

/// A batch of spool files.
#[derive(Default)]
struct SpoolBatch {
    files: Vec<(PathBuf, SpoolEntry)>,
    /// The number of files read, including unreadable ones.
    looked_at: u64,
}

impl SpoolBatch {
    fn signals(&self) -> impl Iterator<Item = (&HookSignal, Option<u64>, Timestamp)> {
        self.files.iter().filter_map(|(_, spooled)| match &spooled.what {
            SpoolPayload::Signal { signal, position, .. } => Some((signal, *position, spooled.at)),
            SpoolPayload::Event(_) => None,
        })
    }
}

/// Reads the next files of the spool in small batches, so that memory use stays flat. Unreadable files are
/// moved aside.
fn read_batch(spool: &Spool, stats: &mut WorkerStats) -> Result<SpoolBatch, Error> {
    let (mut taken, mut bytes) = (SpoolBatch::default(), 0);
    for path in spool.oldest_files(MAX_BATCH_FILES)? {
        let Some(file) = spool.read(&path)? else { continue };
        taken.looked_at += 1;
        match file.content {
            Ok(spooled) => {
                bytes += std::fs::metadata(&path).map_or(0, |file| file.len());
                taken.files.push((path, spooled));
            }
            Err(_) => {
                spool.quarantine(&path)?;
                stats.broken += 1;
            }
        }
        if bytes >= MAX_BATCH_BYTES {
            break;
        }
    }
    Ok(taken)
}

/// Queues the scheduled work: due functions, idle sessions (MNT-04, EXE-15), and syncs of the review surfaces
/// (REV-06).
fn enqueue_scheduled(
    queue: &mut RunQueue,
    registry: &FunctionRegistry,
    stage_context: &StageContext,
) -> Result<bool, Error> {
    let now = stage_context.now();
    let mut events = idle_sessions::idle_session_requests(queue.db(), stage_context, now.timestamp())?;
    let mut begun = Vec::new();
    for function in registry.functions {
        let Some(schedule) = function.schedule else { continue };
        let last: Option<i64> = queue.db().run(|connection| {
            connection
                .query_row("SELECT last FROM schedule WHERE function = ?1", [function.name], |row| row.get(0))
                .optional()
        })?;
        let last = last.and_then(|last| Timestamp::from_millisecond(last).ok());
        match schedule.due_at(last, &now) {
            Some(due) => {
                let id = format!("schedule-{}-{}", function.name, due.as_millisecond());
                let data = json!({"function": function.name, "due": due.to_string()});
                events.push(Event {
                    id,
                    name: names::SCHEDULE_REACHED.to_owned(),
                    data,
                    at: now.timestamp(),
                });
                begun.push((function.name, due));
            }
            // The first period begins now.
            None if last.is_none() => begun.push((function.name, now.timestamp())),
            None => {}
        }
    }
    events.extend(share::request(queue.db(), &stage_context.config.engines, now.timestamp())?);
    events.extend(surfaces::request(queue.db(), &stage_context.config.review, now.timestamp())?);
    // A repeated request does not keep the worker alive: a session stamped in the future stays open and idle.
    let new = queue.enqueue(registry, &events, now.timestamp())?;
    queue.db().change(|transaction| {
        for (name, at) in &begun {
            transaction.execute(
                "INSERT INTO schedule VALUES (?1, ?2) ON CONFLICT (function) DO UPDATE SET last = ?2",
                params![name, at.as_millisecond()],
            )?;
        }
        Ok(())
    })?;
    Ok(new > 0)
}

/// Runs everything due and passes the end of each run to `heard`. Returns true if there was any.
fn run_due(
    queue: &mut RunQueue,
    registry: &FunctionRegistry,
    stage_context: &StageContext,
    watchdog: &Watchdog,
    stats: &mut WorkerStats,
    on_end: &dyn Fn(&ClaimedRun, &Result<FunctionOutcome, RunInterrupt>),
) -> Result<bool, Error> {
    let mut any = false;
    for _ in 0..MAX_BATCH_FILES {
        if stage_context.should_stop() {
            break;
        }
        let Some(claimed) = queue.claim_next(stage_context.now().timestamp())? else { break };
        any = true;
        watchdog.mark_begun();
        let ended = queue::run(queue, registry, &claimed, stage_context);
        watchdog.end();
        on_end(&claimed, &ended);
        match queue.finish_run(&claimed, ended, stage_context.now().timestamp())? {
            RunStatus::Completed => stats.completed += 1,
            RunStatus::Skipped => stats.skipped += 1,
            RunStatus::Failed => stats.failed += 1,
            RunStatus::Dead => stats.dead += 1,
            RunStatus::Running => {}
        }
    }
    Ok(any)
}

/// Ends the process if a run hangs: a step cannot be interrupted from outside.
struct Watchdog {
    /// The deadline of the current run, in milliseconds since the worker began; 0 without a run.
    deadline: Arc<AtomicU64>,
    began: Instant,
    limit: Duration,
}

impl Watchdog {
    /// Calls `bite` once a run has taken longer than `limit`.
    fn start(limit: Duration, bite: impl Fn() + Send + 'static) -> Self {
        let watchdog = Self { deadline: Arc::default(), began: Instant::now(), limit };
        let (deadline, began) = (Arc::downgrade(&watchdog.deadline), watchdog.began);
        std::thread::spawn(move || {
            while let Some(deadline) = deadline.upgrade() {
                let at = deadline.load(Ordering::Relaxed);
                if at != 0 && began.elapsed().as_millis() > u128::from(at) {
                    bite();
                }
                drop(deadline);
                std::thread::sleep(WATCHDOG_INTERVAL.min(limit / 2));
            }
        });
        watchdog
    }

    fn mark_begun(&self) {
        let at = (self.began.elapsed() + self.limit).as_millis();
        self.deadline.store(u64::try_from(at).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn end(&self) {
        self.deadline.store(0, Ordering::Relaxed);
    }
}

/// Exits at once; the lease, the database and the spool all survive that.
fn abort_process() {
    std::process::exit(70);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_run_that_hangs_ends_the_worker_and_one_that_ends_in_time_does_not() {
        let (bitten, bites) = mpsc::channel();
        let watchdog =
            Watchdog::start(Duration::from_millis(60), move || bitten.send(()).unwrap_or_default());
        for _ in 0..10 {
            watchdog.mark_begun();
            std::thread::sleep(Duration::from_millis(10));
            watchdog.end();
        }
        std::thread::sleep(Duration::from_millis(120));
        assert!(bites.try_recv().is_err(), "nothing has hung, and nothing is running now");
        watchdog.mark_begun();
        assert!(bites.recv_timeout(Duration::from_secs(10)).is_ok(), "this one hangs");
    }
}

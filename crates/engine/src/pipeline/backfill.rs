//! Backfill: learns from transcripts older than the installation (DIS-01, B-14).
//!
//! Every session runs through the same functions as a live one (`capture`, `observe`, keep), the newest
//! first, dated by its own messages. `messages/backfill.jsonl` records the finished transcripts, one
//! per line, so a stopped run resumes and a repeated one reads only new data. The table of sessions, shared
//! with the hooks, holds the captured position, so nothing is learnt twice.

mod plan;
mod replay;
mod report;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rekindle_core::base::time::Timestamp;
use rekindle_core::event::{BACKFILL_CAUSE, CaptureRequested, CaptureTrigger, Event, names};
use rekindle_core::project::KnownProjects;
use serde::{Deserialize, Serialize};

use crate::agents::transcripts::TranscriptFile;
use crate::jobs::context::StageContext;
use crate::jobs::queue::lookup;
use crate::jobs::worker_lock::{self, WorkerLock};
use crate::pipeline::stages::STAGE_REGISTRY;
use crate::pipeline::stages::throttle::Throttle;
use crate::pipeline::worker;
use crate::platform::db::{self, Database};
use crate::platform::disk;
use crate::platform::home::DataPaths;
use crate::project;
use crate::recall::messages::{self, MessageStore};

pub use plan::{BackfillCandidate, BackfillPlan, BackfillScope, TranscriptShare, UnknownTranscript};
pub use report::{BackfillReport, ProjectLearnings};

/// The most sessions in one turn, after which other workers may take the lock.
const MAX_TURN_SESSIONS: usize = 8;
/// The most bytes of the sessions in one turn.
const MAX_TURN_BYTES: u64 = 8 * 1024 * 1024;
/// The most threads: each holds a session in memory.
const MAX_THREADS: usize = 2;
/// The pause between two turns; a waiting worker polls more often.
const TURN_PAUSE: Duration = Duration::from_millis(25);
/// The wait for another worker before a progress message.
const WORKER_LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// The reason a backfill failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The state file could not be read or written.
    #[error("{} cannot be used: {source}", path.display())]
    State {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The worker could not run.
    #[error(transparent)]
    Worker(#[from] worker_lock::Error),
    /// The database could not be read or written.
    #[error(transparent)]
    Db(#[from] db::Error),
    /// The project of a deleted folder could not be remembered.
    #[error(transparent)]
    Project(#[from] project::RegistryError),
    /// The archive of messages failed.
    #[error(transparent)]
    Messages(#[from] messages::Error),
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackfillProgress {
    /// Another worker holds the lock, for this time so far.
    Waiting(Duration),
    /// The number of finished sessions and their total.
    Sessions(usize, usize),
}

/// One line of the state file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct BackfilledFile {
    path: PathBuf,
    size: u64,
    modified: Option<Timestamp>,
    /// The unknown content, if the format is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unknown: Option<String>,
    /// True if it was learnt from. Earlier versions only indexed the messages.
    #[serde(default)]
    learnt: bool,
}

/// The context of a run.
pub struct BackfillContext<'a> {
    /// The places of the home.
    pub places: &'a DataPaths,
    /// The person's home, below which agents store their transcripts.
    pub home: &'a Path,
    /// The projects known so far.
    pub projects: &'a KnownProjects,
}

impl BackfillContext<'_> {
    fn state_file(&self) -> PathBuf {
        self.places.messages().join("backfill.jsonl")
    }

    fn failed(&self) -> impl Fn(io::Error) -> Error {
        |source| Error::State { path: self.state_file(), source }
    }

    /// Learns from the transcripts of a plan. `worlds` makes the context of a thread; `live` processes the
    /// events of hooks in between. If `progress` asks to stop, the results so far are kept and the next run
    /// does the rest.
    pub fn run(
        &self,
        plan: &BackfillPlan,
        live: &StageContext,
        worlds: &(dyn Fn() -> StageContext + Sync),
        progress: &mut dyn FnMut(BackfillProgress) -> bool,
    ) -> Result<BackfillReport, Error> {
        disk::create_private_folder(&self.places.messages()).map_err(self.failed())?;
        let mut state = disk::LineFile::open(&self.state_file()).map_err(self.failed())?;
        let mut note = |done: &BackfilledFile| {
            let line = serde_json::to_string(done).unwrap_or_default() + "\n";
            // A lost line costs one more read, so no sync is needed here.
            state.append(&line, false).map_err(self.failed())
        };
        for UnknownTranscript { path, seen, size, modified, .. } in &plan.unknown {
            let (path, unknown) = (path.clone(), Some(seen.clone()));
            note(&BackfilledFile { path, size: *size, modified: *modified, unknown, learnt: false })?;
        }
        let mut report = BackfillReport { unknown: plan.unknown.clone(), ..BackfillReport::default() };
        let (messages, pace) = (MessageStore::from_paths(self.places), Throttle::default());
        let mut waiting = &plan.candidates[..];
        while !waiting.is_empty() {
            let done = plan.candidates.len() - waiting.len();
            let goes_on = progress(BackfillProgress::Sessions(done, plan.candidates.len()));
            if !goes_on || live.should_stop() {
                report.stopped = true;
                break;
            }
            let Some(worker_lock) = self.acquire_lock(progress)? else {
                report.stopped = true;
                break;
            };
            let (turn, rest) = waiting.split_at(turn_size(waiting));
            if plan.again {
                replay::release(live, turn)?;
            }
            let undone = self.learn_from_sessions(turn, &worker_lock, live, worlds, &mut report)?;
            for candidate in turn.iter().filter(|candidate| !undone.contains(&candidate.session())) {
                let TranscriptFile { path, size, modified, .. } = &candidate.file;
                note(&BackfilledFile {
                    path: path.clone(),
                    size: *size,
                    modified: *modified,
                    unknown: None,
                    learnt: true,
                })?;
            }
            waiting = rest;
            if live.should_stop() {
                report.stopped = !waiting.is_empty();
                break;
            }
            pace.run_throttled(|| messages.update(&mut |_, _| {}).map(drop)).transpose()?;
            drop(worker_lock);
            std::thread::sleep(TURN_PAUSE);
        }
        progress(BackfillProgress::Sessions(plan.candidates.len() - waiting.len(), plan.candidates.len()));
        report.indexed_messages = messages.update(&mut |_, _| {})?.messages;
        Ok(report)
    }

    /// Waits for the worker's lock. Returns `None` if asked to stop.
    fn acquire_lock(
        &self,
        progress: &mut dyn FnMut(BackfillProgress) -> bool,
    ) -> Result<Option<WorkerLock>, Error> {
        let began = Instant::now();
        loop {
            if let Some(worker_lock) = WorkerLock::acquire(&self.places.locks_folder(), WORKER_LOCK_TIMEOUT)?
            {
                return Ok(Some(worker_lock));
            }
            if !progress(BackfillProgress::Waiting(began.elapsed())) {
                return Ok(None);
            }
        }
    }

    /// Learns from some sessions. Returns those with a run that must be retried later.
    fn learn_from_sessions(
        &self,
        turn: &[BackfillCandidate],
        worker_lock: &WorkerLock,
        live: &StageContext,
        worlds: &(dyn Fn() -> StageContext + Sync),
        report: &mut BackfillReport,
    ) -> Result<Vec<String>, Error> {
        // Without this, messages in a deleted folder would count for every project.
        for trail in turn.iter().filter_map(|candidate| candidate.trail.as_ref()) {
            project::remember_gone(&self.places.projects_file(), trail)?;
        }
        let now = live.now().timestamp();
        let events: Vec<Event> = turn.iter().filter_map(|candidate| event(candidate, now)).collect();
        let sessions: HashMap<String, &BackfillCandidate> =
            turn.iter().map(|candidate| (candidate.session(), candidate)).collect();
        let shared_report = Mutex::new(std::mem::take(report));
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let learnt = worker::run_backfill(
            worker_lock,
            live,
            worlds,
            &STAGE_REGISTRY,
            &events,
            threads,
            &|claimed, ended| {
                let candidate = claimed.event.session().and_then(|session| sessions.get(session));
                if let Some(candidate) = candidate {
                    shared_report
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .add_run(claimed, ended, candidate);
                }
            },
        );
        *report = shared_report.into_inner().unwrap_or_else(PoisonError::into_inner);
        learnt?;
        report.sessions += turn.len() as u64;
        let db = Database::open(&self.places.database())?;
        let unfinished = lookup::unfinished_sessions(&db)?;
        Ok(sessions.keys().filter(|session| unfinished.contains(*session)).cloned().collect())
    }
}

/// The number of sessions in the next turn.
fn turn_size(waiting: &[BackfillCandidate]) -> usize {
    let mut bytes = 0;
    let fits = |candidate: &&BackfillCandidate| {
        bytes += candidate.file.size;
        bytes <= MAX_TURN_BYTES
    };
    waiting.iter().take(MAX_TURN_SESSIONS).take_while(fits).count().max(1)
}

/// Builds the event to capture a session. The same transcript gives the same event.
fn event(candidate: &BackfillCandidate, now: Timestamp) -> Option<Event> {
    let TranscriptFile { agent, path, size, modified } = &candidate.file;
    let session_id = candidate.session();
    let id = format!("backfill-{agent}-{session_id}-{size}");
    let data = CaptureRequested {
        agent: *agent,
        session_id,
        trigger: CaptureTrigger::Shutdown,
        cause: BACKFILL_CAUSE.to_owned(),
        transcript: Some(path.to_str()?.to_owned()),
        upto: Some(*size),
        cwd: candidate.head.cwd.clone(),
    };
    let data = serde_json::to_value(data).ok()?;
    let at = modified.unwrap_or(now).min(now);
    Some(Event { id, name: names::CAPTURE_REQUESTED.to_owned(), data, at })
}

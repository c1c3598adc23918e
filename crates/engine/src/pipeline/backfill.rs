//! Backfill: learns from transcripts older than the installation (DIS-01, B-14).
//!
//! Every session runs through the same functions as a live one (`capture`, `observe`, keep), the newest
//! first, dated by its own messages. `messages/backfill.jsonl` records the finished transcripts, one
//! per line, so a stopped run resumes and a repeated one reads only new data. The table of sessions, shared
//! with the hooks, holds the captured position, so nothing is learnt twice.

mod plan;
mod report;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rekindle_core::base::time::Timestamp;
use rekindle_core::event::{BACKFILL, CaptureRequested, Event, Trigger, names};
use rekindle_core::project::KnownProjects;
use serde::{Deserialize, Serialize};

use crate::agents::transcripts::Found;
use crate::jobs::context::World;
use crate::jobs::worker_lock::{self, Post};
use crate::pipeline::stages::REGISTRY;
use crate::pipeline::stages::pace::Pace;
use crate::pipeline::worker;
use crate::platform::db::{self, Db, params};
use crate::platform::disk;
use crate::platform::home::Places;
use crate::project;
use crate::recall::messages::{self, Messages};

pub use plan::{Candidate, Extent, Plan, Share, Unknown};
pub use report::{Learnt, Report};

/// The most sessions in one turn, after which other workers may take the lock.
const TURN_SESSIONS: usize = 8;
/// The most bytes of the sessions in one turn.
const TURN_BYTES: u64 = 8 * 1024 * 1024;
/// The most threads: each holds a session in memory.
const MAX_THREADS: usize = 2;
/// The pause between two turns; a waiting worker polls more often.
const PAUSE: Duration = Duration::from_millis(25);
/// The wait for another worker before a progress message.
const PATIENCE: Duration = Duration::from_secs(1);

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
    Project(#[from] project::RememberError),
    /// The archive of messages failed.
    #[error(transparent)]
    Messages(#[from] messages::Error),
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another worker holds the lock, for this time so far.
    Waiting(Duration),
    /// The number of finished sessions and their total.
    Sessions(usize, usize),
}

/// One line of the state file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Done {
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
pub struct Backfill<'a> {
    /// The places of the home.
    pub places: &'a Places,
    /// The person's home, below which agents store their transcripts.
    pub home: &'a Path,
    /// The projects known so far.
    pub projects: &'a KnownProjects,
}

impl Backfill<'_> {
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
        plan: &Plan,
        live: &World,
        worlds: &(dyn Fn() -> World + Sync),
        progress: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Report, Error> {
        disk::make_folder(&self.places.messages()).map_err(self.failed())?;
        let mut state = disk::Lines::open(&self.state_file()).map_err(self.failed())?;
        let mut note = |done: &Done| {
            let line = serde_json::to_string(done).unwrap_or_default() + "\n";
            // A lost line costs one more read, so no sync is needed here.
            state.append(&line, false).map_err(self.failed())
        };
        for Unknown { path, seen, size, modified, .. } in &plan.unknown {
            let (path, unknown) = (path.clone(), Some(seen.clone()));
            note(&Done { path, size: *size, modified: *modified, unknown, learnt: false })?;
        }
        let mut report = Report { unknown: plan.unknown.clone(), ..Report::default() };
        let (messages, pace) = (Messages::of(self.places), Pace::default());
        let mut waiting = &plan.candidates[..];
        while !waiting.is_empty() {
            let done = plan.candidates.len() - waiting.len();
            let goes_on = progress(Progress::Sessions(done, plan.candidates.len()));
            if !goes_on || live.should_stop() {
                report.stopped = true;
                break;
            }
            let Some(post) = self.post(progress)? else {
                report.stopped = true;
                break;
            };
            let (turn, rest) = waiting.split_at(turn(waiting));
            let undone = self.learn(turn, &post, live, worlds, &mut report)?;
            for candidate in turn.iter().filter(|candidate| !undone.contains(&candidate.session())) {
                let Found { path, size, modified, .. } = &candidate.found;
                note(&Done {
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
            pace.sometimes(|| messages.update(&mut |_, _| {}).map(drop)).transpose()?;
            drop(post);
            std::thread::sleep(PAUSE);
        }
        progress(Progress::Sessions(plan.candidates.len() - waiting.len(), plan.candidates.len()));
        report.found = messages.update(&mut |_, _| {})?.messages;
        Ok(report)
    }

    /// Waits for the worker's lock. Returns `None` if asked to stop.
    fn post(&self, progress: &mut dyn FnMut(Progress) -> bool) -> Result<Option<Post>, Error> {
        let began = Instant::now();
        loop {
            if let Some(post) = Post::take(&self.places.locks(), PATIENCE)? {
                return Ok(Some(post));
            }
            if !progress(Progress::Waiting(began.elapsed())) {
                return Ok(None);
            }
        }
    }

    /// Learns from some sessions. Returns those with a run that must be retried later.
    fn learn(
        &self,
        turn: &[Candidate],
        post: &Post,
        live: &World,
        worlds: &(dyn Fn() -> World + Sync),
        report: &mut Report,
    ) -> Result<Vec<String>, Error> {
        // Without this, messages in a deleted folder would count for every project.
        for trail in turn.iter().filter_map(|candidate| candidate.trail.as_ref()) {
            project::remember_gone(&self.places.projects_file(), trail)?;
        }
        let now = live.now().timestamp();
        let events: Vec<Event> = turn.iter().filter_map(|candidate| event(candidate, now)).collect();
        let sessions: HashMap<String, &Candidate> =
            turn.iter().map(|candidate| (candidate.session(), candidate)).collect();
        let heard = Mutex::new(std::mem::take(report));
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let learnt = worker::learn(post, live, worlds, &REGISTRY, &events, threads, &|claimed, ended| {
            let candidate = claimed.event.session().and_then(|session| sessions.get(session));
            if let Some(candidate) = candidate {
                heard.lock().unwrap_or_else(PoisonError::into_inner).hear(claimed, ended, candidate);
            }
        });
        *report = heard.into_inner().unwrap_or_else(PoisonError::into_inner);
        learnt?;
        report.sessions += turn.len() as u64;
        let db = Db::open(&self.places.database())?;
        let mut undone = Vec::new();
        for session in sessions.keys() {
            let waits: bool = db.run(|connection| {
                connection.query_row(
                    "SELECT EXISTS (SELECT 1 FROM runs WHERE session = ?1 AND status IN ('RUNNING', 'FAILED'))",
                    params![session],
                    |row| row.get(0),
                )
            })?;
            if waits {
                undone.push(session.clone());
            }
        }
        Ok(undone)
    }
}

/// The number of sessions in the next turn.
fn turn(waiting: &[Candidate]) -> usize {
    let mut bytes = 0;
    let fits = |candidate: &&Candidate| {
        bytes += candidate.found.size;
        bytes <= TURN_BYTES
    };
    waiting.iter().take(TURN_SESSIONS).take_while(fits).count().max(1)
}

/// Builds the event to capture a session. The same transcript gives the same event.
fn event(candidate: &Candidate, now: Timestamp) -> Option<Event> {
    let Found { agent, path, size, modified } = &candidate.found;
    let session_id = candidate.session();
    let id = format!("backfill-{agent}-{session_id}-{size}");
    let data = CaptureRequested {
        agent: *agent,
        session_id,
        trigger: Trigger::Shutdown,
        cause: BACKFILL.to_owned(),
        transcript: Some(path.to_str()?.to_owned()),
        upto: Some(*size),
        cwd: candidate.head.cwd.clone(),
    };
    let data = serde_json::to_value(data).ok()?;
    let at = modified.unwrap_or(now).min(now);
    Some(Event { id, name: names::CAPTURE_REQUESTED.to_owned(), data, at })
}

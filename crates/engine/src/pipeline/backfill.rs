//! Learning from the transcripts that were there before us (DIS-01, B-14).
//!
//! Every session goes through the functions that live ones go through (`capture`, `observe`, keep), the newest first, dated by
//! its own messages. What is done stands in `messages/backfill.jsonl`, a line a transcript, so that a run that was
//! stopped goes on where it was and a repeated one reads only what grew. How far a session is captured stands in the sessions'
//! table, which the hooks go by as well, so nothing is learnt from twice.

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

/// The most sessions that are worked on before the worker's post is free for others.
const TURN_SESSIONS: usize = 8;
/// No more once they have so many bytes together.
const TURN_BYTES: u64 = 8 * 1024 * 1024;
/// The most threads: each keeps a session in memory.
const MAX_THREADS: usize = 2;
/// How long the post is free between two turns; whoever waits for it looks more often.
const PAUSE: Duration = Duration::from_millis(25);
/// How long to wait for another worker before saying so.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why the past could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What is done could not be noted.
    #[error("{} cannot be used: {source}", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The worker.
    #[error(transparent)]
    Worker(#[from] worker_lock::Error),
    /// The database.
    #[error(transparent)]
    Db(#[from] db::Error),
    /// The project of a folder that is gone.
    #[error(transparent)]
    Project(#[from] project::RememberError),
    /// The archive of messages.
    #[error(transparent)]
    Messages(#[from] messages::Error),
}

/// How far a run is, for whoever shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another worker is at it; so long already.
    Waiting(Duration),
    /// So many of so many sessions are done.
    Sessions(usize, usize),
}

/// One line of the state file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Done {
    path: PathBuf,
    size: u64,
    modified: Option<Timestamp>,
    /// Not understood; this is what it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unknown: Option<String>,
    /// Whether it was learnt from. Earlier versions only made the messages searchable.
    #[serde(default)]
    learnt: bool,
}

/// Everything that a run needs to know.
pub struct Backfill<'a> {
    /// Where everything is.
    pub places: &'a Places,
    /// The person's home, below which agents keep their transcripts.
    pub home: &'a Path,
    /// Projects that were seen before.
    pub projects: &'a KnownProjects,
}

impl Backfill<'_> {
    fn state_file(&self) -> PathBuf {
        self.places.messages().join("backfill.jsonl")
    }

    fn failed(&self) -> impl Fn(io::Error) -> Error {
        |source| Error::State { path: self.state_file(), source }
    }

    /// Learns from what the plan names. `worlds` makes what a thread works with; what hooks leave meanwhile is worked off in
    /// `live`. `progress` may say stop: then what was learnt so far is kept, and the rest is for the next run.
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
            // A line that is lost costs one more look, so nothing waits for the disk here.
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

    /// Waits until no other worker is at it. `None` if somebody said stop.
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

    /// Learns from some sessions. Says which of them are not done: a run of theirs is to be tried again later.
    fn learn(
        &self,
        turn: &[Candidate],
        post: &Post,
        live: &World,
        worlds: &(dyn Fn() -> World + Sync),
        report: &mut Report,
    ) -> Result<Vec<String>, Error> {
        // Without it, what was said in a folder that is gone would count for every project.
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

/// How many of them are worked on before others may.
fn turn(waiting: &[Candidate]) -> usize {
    let mut bytes = 0;
    let fits = |candidate: &&Candidate| {
        bytes += candidate.found.size;
        bytes <= TURN_BYTES
    };
    waiting.iter().take(TURN_SESSIONS).take_while(fits).count().max(1)
}

/// Asks for a session to be captured. The same transcript asks once.
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

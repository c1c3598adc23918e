//! The transcripts that were there before us (DIS-01, B-14): read once, without any model, into the archive.
//!
//! What was done stands in `messages/backfill.jsonl`, a line a transcript, so that a run that was stopped goes on where it
//! was and one that is repeated reads only what grew. What was captured live is in the same archive under the same ids,
//! and is not added again.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rekindle_core::agent::Agent;
use rekindle_core::hash::ContentHash;
use rekindle_core::project::KnownProjects;
use rekindle_core::scope::ProjectId;
use rekindle_core::time::Timestamp;
use rekindle_core::vault::tombstone::Graveyard;
use serde::{Deserialize, Serialize};

use super::archive::each_line;
use super::{Error, Messages, Session};
use crate::transcripts::{self, Found, Head};
use crate::{disk, project};

/// Reading waits on the processor; more threads than this only take memory.
const MAX_THREADS: usize = 4;

/// Which transcripts are looked at.
#[derive(Clone, Debug)]
pub struct Extent {
    /// Whose.
    pub agents: Vec<Agent>,
    /// Written to at this time or later.
    pub since: Option<Timestamp>,
}

/// A transcript with what it says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The file.
    pub found: Found,
    /// The session's project.
    pub project: Option<ProjectId>,
    head: Head,
}

/// What a run would do, or has left to do.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// To be read, oldest first.
    pub candidates: Vec<Candidate>,
    /// Read before, and unchanged since.
    pub done: u64,
    /// Sessions between agents: left out.
    pub subagents: u64,
    /// Not of a format that is known here, each told once: whose, which, and what was seen.
    pub unknown: Vec<Unknown>,
    /// Not of such a format, and told before.
    pub unknown_before: u64,
}

/// A transcript that is not understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// Whose.
    pub agent: Agent,
    /// Which.
    pub path: PathBuf,
    /// What it said.
    pub seen: String,
}

/// How much there is of one agent in one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Transcripts.
    pub sessions: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Plan {
    /// What there is to read, by agent and project.
    pub fn shares(&self) -> BTreeMap<(Agent, Option<ProjectId>), Share> {
        let mut shares: BTreeMap<(Agent, Option<ProjectId>), Share> = BTreeMap::new();
        for candidate in &self.candidates {
            let share = shares.entry((candidate.found.agent, candidate.project.clone())).or_default();
            share.sessions += 1;
            share.bytes += candidate.found.size;
        }
        shares
    }

    /// All bytes there are to read.
    pub fn bytes(&self) -> u64 {
        self.candidates.iter().map(|candidate| candidate.found.size).sum()
    }
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Transcripts that were read.
    pub sessions: u64,
    /// Messages in them.
    pub messages: u64,
    /// Messages that were not kept yet.
    pub added: u64,
    /// Secrets that were left out.
    pub redacted: u64,
    /// Lines that are not understood, in transcripts that are.
    pub odd_lines: u64,
    /// What could not be read, and why.
    pub problems: Vec<(PathBuf, String)>,
    /// Formats that are not known.
    pub unknown: Vec<Unknown>,
    /// Whether it was stopped before its end.
    pub stopped: bool,
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
}

/// Everything that a run needs to know.
pub struct Backfill<'a> {
    /// Where the messages go.
    pub messages: &'a Messages,
    /// The person's home, below which agents keep their transcripts.
    pub home: &'a Path,
    /// Our own state folder: sessions that were held there are our own model calls (B-04).
    pub state: &'a Path,
    /// Projects that were seen before.
    pub projects: &'a KnownProjects,
    /// What must not come back (B-08).
    pub forgotten: &'a Graveyard,
}

impl Backfill<'_> {
    fn state_file(&self) -> PathBuf {
        self.messages.folder().join("backfill.jsonl")
    }

    fn done(&self) -> Result<HashMap<PathBuf, Done>, Error> {
        let mut done = HashMap::new();
        each_line(&self.state_file(), 0, &mut |_, line| {
            if let Ok(one) = serde_json::from_slice::<Done>(line) {
                done.insert(one.path.clone(), one);
            }
        })
        .map_err(self.messages.failed())?;
        Ok(done)
    }

    /// What there is to do. Reads the beginning of every transcript that is new or has grown, and changes nothing.
    pub fn plan(&self, extent: &Extent) -> Result<Plan, Error> {
        let done = self.done()?;
        let mut plan = Plan::default();
        let mut projects = Projects { known: self.projects, home: self.home, seen: HashMap::new() };
        for found in extent.agents.iter().flat_map(|agent| transcripts::find(*agent, self.home)) {
            if extent.since.is_some_and(|since| found.modified.is_none_or(|at| at < since)) {
                continue;
            }
            let same = |done: &&Done| done.size == found.size && done.modified == found.modified;
            if let Some(before) = done.get(&found.path).filter(same) {
                match before.unknown {
                    Some(_) => plan.unknown_before += 1,
                    None => plan.done += 1,
                }
                continue;
            }
            match transcripts::head(found.agent, &found.path) {
                Ok(head) if head.subagent || self.is_ours(&head) => plan.subagents += 1,
                Ok(head) => {
                    let project = head.cwd.as_deref().and_then(|cwd| projects.of(cwd));
                    plan.candidates.push(Candidate { found, project, head });
                }
                Err(error @ transcripts::Error::UnknownFormat { .. }) => {
                    let seen = error.to_string();
                    plan.unknown.push(Unknown { agent: found.agent, path: found.path, seen });
                }
                // Gone meanwhile, or not ours to see.
                Err(_) => {}
            }
        }
        plan.candidates.sort_by(|a, b| {
            a.found.modified.cmp(&b.found.modified).then_with(|| a.found.path.cmp(&b.found.path))
        });
        Ok(plan)
    }

    fn is_ours(&self, head: &Head) -> bool {
        head.cwd.as_deref().is_some_and(|cwd| Path::new(cwd).starts_with(self.state))
    }

    /// Reads what the plan names, several at a time. `progress` hears how many bytes were read, and may say stop: then
    /// what was read so far is kept, and the rest is for the next run.
    pub fn run(&self, plan: &Plan, progress: &(dyn Fn(u64, u64) -> bool + Sync)) -> Result<Report, Error> {
        disk::make_folder(self.messages.folder()).map_err(self.messages.failed())?;
        let state = disk::Lines::open(&self.state_file()).map_err(self.messages.failed())?;
        let shared = Shared {
            backfill: self,
            plan,
            next: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            of: plan.bytes(),
            progress,
            outcome: Mutex::new((
                Report { unknown: plan.unknown.clone(), ..Report::default() },
                state,
                Ok(()),
            )),
        };
        for unknown in &plan.unknown {
            let data = std::fs::metadata(&unknown.path).ok();
            let modified = data.as_ref().and_then(|data| Timestamp::try_from(data.modified().ok()?).ok());
            let size = data.map_or(0, |data| data.len());
            shared.note(&Done {
                path: unknown.path.clone(),
                size,
                modified,
                unknown: Some(unknown.seen.clone()),
            });
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| shared.work())).collect();
            for worker in workers {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
        });
        let (report, _, failed) = shared.outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed?;
        Ok(report)
    }
}

/// What the threads of a run share.
struct Shared<'a> {
    backfill: &'a Backfill<'a>,
    plan: &'a Plan,
    next: AtomicUsize,
    bytes: AtomicU64,
    of: u64,
    progress: &'a (dyn Fn(u64, u64) -> bool + Sync),
    outcome: Mutex<(Report, disk::Lines, Result<(), Error>)>,
}

impl Shared<'_> {
    fn with(&self, change: impl FnOnce(&mut Report, &mut disk::Lines, &mut Result<(), Error>)) {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        let (report, state, failed) = &mut *outcome;
        change(report, state, failed);
    }

    fn note(&self, done: &Done) {
        self.with(|_, state, failed| {
            let line = serde_json::to_string(done).unwrap_or_default() + "\n";
            // A line that is lost costs one more reading, so nothing waits for the disk here.
            if let Err(error) = state.append(&line, false).map_err(self.backfill.messages.failed()) {
                *failed = Err(error);
            }
        });
    }

    /// Whether the run goes on.
    fn goes_on(&self) -> bool {
        let mut on = (self.progress)(self.bytes.load(Ordering::Relaxed).min(self.of), self.of);
        self.with(|report, _, failed| {
            report.stopped |= !on;
            on = !report.stopped && failed.is_ok();
        });
        on
    }

    fn work(&self) {
        while self.goes_on() {
            let Some(candidate) = self.plan.candidates.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            self.read(candidate);
        }
    }

    fn read(&self, candidate: &Candidate) {
        let Found { agent, path, size, modified } = &candidate.found;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let session = Session {
            agent: *agent,
            id: candidate.head.session.clone().or(stem).unwrap_or_default(),
            cwd: candidate.head.cwd.clone(),
            project: candidate.project.clone(),
        };
        let messages = self.backfill.messages;
        let mut appender = match messages.appender(&session, self.backfill.forgotten) {
            Ok(appender) => appender,
            Err(error) => return self.with(|_, _, failed| *failed = Err(error)),
        };
        let mut problem = None;
        let (mut read, mut told, mut stopped) = (0_u64, 0_u64, false);
        let outcome = transcripts::read(*agent, path, Some(*size), &mut |message| {
            read += message.text.len() as u64;
            if let Err(error) = appender.add(&message) {
                problem = Some(error);
                return ControlFlow::Break(());
            }
            // A very long transcript says in between how far it is; only roughly, because the rest is bulk.
            if read - told > TELL_EVERY {
                self.bytes.fetch_add(read - told, Ordering::Relaxed);
                told = read;
                stopped = !self.goes_on();
            }
            if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let added = appender.finish();
        self.bytes.fetch_add(size.saturating_sub(told), Ordering::Relaxed);
        let failure =
            problem.or_else(|| added.as_ref().err().map(|error| std::io::Error::other(error.to_string())));
        if let Some(error) = failure {
            return self.with(|_, _, failed| *failed = Err(messages.failed()(error)));
        }
        let added = added.unwrap_or_default();
        match outcome {
            Ok(outcome) => {
                self.with(|report, _, _| {
                    report.sessions += 1;
                    report.messages += outcome.messages;
                    report.added += added.messages;
                    report.redacted += added.redacted.total() as u64;
                    report.odd_lines += outcome.unknown + outcome.damaged;
                });
                if !outcome.stopped {
                    self.note(&Done { path: path.clone(), size: *size, modified: *modified, unknown: None });
                }
            }
            Err(error @ transcripts::Error::UnknownFormat { .. }) => {
                let seen = error.to_string();
                let unknown = Unknown { agent: *agent, path: path.clone(), seen: seen.clone() };
                self.with(|report, _, _| report.unknown.push(unknown));
                self.note(&Done {
                    path: path.clone(),
                    size: *size,
                    modified: *modified,
                    unknown: Some(seen),
                });
            }
            Err(error) => self.with(|report, _, _| report.problems.push((path.clone(), error.to_string()))),
        }
    }
}

/// So much is read of one transcript between two reports.
const TELL_EVERY: u64 = 4 * 1024 * 1024;

/// The projects of folders, each looked up once.
struct Projects<'a> {
    known: &'a KnownProjects,
    home: &'a Path,
    seen: HashMap<String, Option<ProjectId>>,
}

impl Projects<'_> {
    fn of(&mut self, cwd: &str) -> Option<ProjectId> {
        if let Some(project) = self.seen.get(cwd) {
            return project.clone();
        }
        let folder = Path::new(cwd);
        let place = project::locate(folder, Some(self.home));
        let project = match place {
            Some(place) => Some(project::identify(&place, self.known).project.id),
            None if folder.is_dir() => None,
            // Of a folder that is gone nobody knows whose it was: what was said there is for whoever asks for all (B-05).
            None => {
                let name =
                    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                Some(ProjectId::new(format!("gone/{name}-{}", ContentHash::of(cwd.as_bytes()).short(8))))
            }
        };
        self.seen.insert(cwd.to_owned(), project.clone());
        project
    }
}

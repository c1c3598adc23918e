//! Which transcripts there are to learn from.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use rekindle_core::base::agent::Agent;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::Timestamp;
use rekindle_core::project::{KnownProjects, Trail};
use serde::Serialize;

use super::{Backfill, Done, Error};
use crate::agents::transcripts::{self, Found, Head};
use crate::platform::db::Db;
use crate::project;
use crate::recall::messages::archive::each_line;

/// Which transcripts are looked at.
#[derive(Clone, Debug)]
pub struct Extent {
    /// Whose.
    pub agents: Vec<Agent>,
    /// Written to at this time or later.
    pub since: Option<Timestamp>,
    /// A session that hooks reported after this is still going on; they see to it.
    pub open_since: Option<Timestamp>,
}

impl Extent {
    /// Everything that is not going on at `now`.
    pub fn everything(now: Timestamp, idle_minutes: u32) -> Self {
        let idle = SignedDuration::from_mins(i64::from(idle_minutes));
        let open_since = now.checked_sub(idle).ok();
        Self { agents: Agent::ALL.to_vec(), since: None, open_since }
    }
}

/// A transcript with what it says about itself.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The file.
    pub found: Found,
    /// The session's project.
    pub project: Option<ProjectId>,
    pub(super) head: Head,
    /// What is to be remembered of a folder that is gone.
    pub(super) trail: Option<Trail>,
}

impl Candidate {
    /// The session's id: its host's, or the name of the file.
    pub(super) fn session(&self) -> String {
        let stem = || self.found.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        self.head.session.clone().or_else(stem).unwrap_or_default()
    }
}

/// What a run would do, or has left to do.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// To be read, the newest first.
    pub candidates: Vec<Candidate>,
    /// Learnt from before, and unchanged since.
    pub done: u64,
    /// Sessions that are still going on.
    pub open: u64,
    /// Sessions between agents: left out.
    pub subagents: u64,
    /// Not of a format that is known here, each told once.
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
    #[serde(skip)]
    pub(super) size: u64,
    #[serde(skip)]
    pub(super) modified: Option<Timestamp>,
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

    /// Whose sessions there are to read.
    pub fn agents(&self) -> BTreeSet<Agent> {
        self.candidates.iter().map(|candidate| candidate.found.agent).collect()
    }

    /// In how many projects they were held.
    pub fn projects(&self) -> usize {
        let projects: BTreeSet<_> =
            self.candidates.iter().filter_map(|candidate| candidate.project.as_ref()).collect();
        projects.len()
    }

    /// How many were held in folders that are gone, and of which nobody knows the project.
    pub fn gone(&self) -> u64 {
        let gone = |candidate: &&Candidate| candidate.project.as_ref().is_some_and(project::is_gone);
        self.candidates.iter().filter(gone).count() as u64
    }
}

/// How far a session is captured, whether something is left to be done with that, and when hooks last reported it, if it has
/// not ended.
struct Seen {
    bytes: u64,
    unfinished: bool,
    open: Option<Timestamp>,
}

impl Backfill<'_> {
    /// What there is to do. Reads the beginning of every transcript that is new or has grown, and changes nothing.
    pub fn plan(&self, extent: &Extent) -> Result<Plan, Error> {
        let (done, seen) = (self.done()?, self.seen()?);
        let mut plan = Plan::default();
        let mut projects = Projects { known: self.projects, home: self.home, seen: HashMap::new() };
        for found in extent.agents.iter().flat_map(|agent| transcripts::find(*agent, self.home)) {
            if extent.since.is_some_and(|since| found.modified.is_none_or(|at| at < since)) {
                continue;
            }
            let same = |done: &&Done| done.size == found.size && done.modified == found.modified;
            match done.get(&found.path).filter(same) {
                Some(Done { unknown: Some(_), .. }) => {
                    plan.unknown_before += 1;
                    continue;
                }
                Some(Done { learnt: true, .. }) => {
                    plan.done += 1;
                    continue;
                }
                _ => {}
            }
            match transcripts::head(found.agent, &found.path) {
                Ok(head) if head.subagent || self.is_ours(&head) => plan.subagents += 1,
                Ok(head) => {
                    let (project, trail) = projects.of(&head);
                    let candidate = Candidate { found, project, head, trail };
                    let seen = seen.get(&(candidate.found.agent, candidate.session()));
                    let is_open = seen.and_then(|seen| seen.open).zip(extent.open_since);
                    if is_open.is_some_and(|(last, since)| last >= since) {
                        plan.open += 1;
                    } else if seen.is_some_and(|seen| !seen.unfinished && seen.bytes >= candidate.found.size)
                    {
                        plan.done += 1;
                    } else {
                        plan.candidates.push(candidate);
                    }
                }
                Err(error @ transcripts::Error::UnknownFormat { .. }) => {
                    let Found { agent, path, size, modified } = found;
                    plan.unknown.push(Unknown { agent, path, seen: error.to_string(), size, modified });
                }
                // Gone meanwhile, or not ours to see.
                Err(_) => {}
            }
        }
        plan.candidates.sort_by(|a, b| {
            b.found.modified.cmp(&a.found.modified).then_with(|| a.found.path.cmp(&b.found.path))
        });
        Ok(plan)
    }

    fn done(&self) -> Result<HashMap<PathBuf, Done>, Error> {
        let mut done = HashMap::new();
        each_line(&self.state_file(), 0, &mut |_, line| {
            if let Ok(one) = serde_json::from_slice::<Done>(line) {
                done.insert(one.path.clone(), one);
            }
        })
        .map_err(self.failed())?;
        Ok(done)
    }

    /// The sessions that are known.
    fn seen(&self) -> Result<HashMap<(Agent, String), Seen>, Error> {
        let Some(db) = Db::open_existing(&self.places.database())? else { return Ok(HashMap::new()) };
        let rows: Vec<(String, String, i64, i64, bool, bool)> = db.run(|connection| {
            connection
                .prepare(
                    "SELECT agent, id, captured_bytes, last_seen, state = 'open',
                        id IN (SELECT session FROM runs WHERE status IN ('RUNNING', 'FAILED')) FROM sessions",
                )?
                .query_map([], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
                })?
                .collect()
        })?;
        let known = rows.into_iter().filter_map(|(agent, id, bytes, last_seen, is_open, unfinished)| {
            let open = Timestamp::from_millisecond(last_seen).ok().filter(|_| is_open);
            Some((
                (agent.parse().ok()?, id),
                Seen { bytes: u64::try_from(bytes).unwrap_or(0), unfinished, open },
            ))
        });
        Ok(known.collect())
    }

    /// Our own calls of language models leave transcripts as well (B-04).
    fn is_ours(&self, head: &Head) -> bool {
        head.cwd.as_deref().is_some_and(|cwd| Path::new(cwd).starts_with(self.places.state()))
    }
}

/// The projects of folders, each looked up once.
struct Projects<'a> {
    known: &'a KnownProjects,
    home: &'a Path,
    seen: HashMap<String, Option<ProjectId>>,
}

impl Projects<'_> {
    /// The project of a session, and how to remember it where only its host knows it.
    fn of(&mut self, head: &Head) -> (Option<ProjectId>, Option<Trail>) {
        let Some(cwd) = head.cwd.as_deref() else { return (None, None) };
        let (known, home) = (self.known, self.home);
        let project = self
            .seen
            .entry(cwd.to_owned())
            .or_insert_with(|| project::of_session(Path::new(cwd), Some(home), known))
            .clone();
        let folder = Path::new(cwd);
        if project.is_some() || cwd.is_empty() || folder.is_dir() {
            return (project, None);
        }
        let trail = project::gone(folder, head.repository.as_deref());
        (Some(project::settle(&trail, known).own.id), Some(trail))
    }
}

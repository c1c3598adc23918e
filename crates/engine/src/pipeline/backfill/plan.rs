//! Plan of a backfill: the transcripts to learn from.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use rekindle_core::base::agent::Agent;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::Timestamp;
use rekindle_core::project::{KnownProjects, ProjectTrail};
use serde::Serialize;

use super::{BackfillContext, BackfilledFile, Error};
use crate::agents::transcripts::{self, SessionHead, TranscriptFile};
use crate::jobs::queue::lookup;
use crate::platform::db::Database;
use crate::project;
use crate::recall::messages::archive::each_line;

/// The filter of transcripts.
#[derive(Clone, Debug)]
pub struct BackfillScope {
    /// The agents to include.
    pub agents: Vec<Agent>,
    /// The earliest time of the last write.
    pub since: Option<Timestamp>,
    /// The latest time of the last write.
    pub until: Option<Timestamp>,
    /// True to learn again from sessions that were learnt from before (OPS-05).
    pub again: bool,
    /// A session that hooks reported after this is still open and is left to them.
    pub open_since: Option<Timestamp>,
}

impl BackfillScope {
    /// Includes every session that is not open at `now`.
    pub fn all_closed(now: Timestamp, idle_minutes: u32) -> Self {
        let idle = SignedDuration::from_mins(i64::from(idle_minutes));
        let open_since = now.checked_sub(idle).ok();
        Self { agents: Agent::ALL.to_vec(), since: None, until: None, again: false, open_since }
    }
}

/// A transcript and its header.
#[derive(Clone, Debug)]
pub struct BackfillCandidate {
    /// The file of the transcript.
    pub file: TranscriptFile,
    /// The project of the session.
    pub project: Option<ProjectId>,
    pub(super) head: SessionHead,
    /// The trace of a deleted folder to remember.
    pub(super) trail: Option<ProjectTrail>,
}

impl BackfillCandidate {
    /// The id of the session: the host's, or the name of the file.
    pub(super) fn session(&self) -> String {
        let stem = || self.file.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        self.head.session.clone().or_else(stem).unwrap_or_default()
    }
}

/// The work of a run.
#[derive(Clone, Debug, Default)]
pub struct BackfillPlan {
    /// The transcripts to read, the newest first.
    pub candidates: Vec<BackfillCandidate>,
    /// True if the sessions are learnt from once more.
    pub again: bool,
    /// The number of unchanged transcripts that were learnt from before.
    pub done: u64,
    /// The number of sessions that are still open.
    pub open: u64,
    /// The number of sessions between agents, which are left out.
    pub subagents: u64,
    /// Transcripts of an unknown format that were not reported before.
    pub unknown: Vec<UnknownTranscript>,
    /// The number of transcripts of an unknown format that were reported before.
    pub unknown_before: u64,
}

/// A transcript of an unknown format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownTranscript {
    /// The agent of the transcript.
    pub agent: Agent,
    /// The path of the transcript.
    pub path: PathBuf,
    /// The content that is unknown.
    pub seen: String,
    #[serde(skip)]
    pub(super) size: u64,
    #[serde(skip)]
    pub(super) modified: Option<Timestamp>,
}

/// The amount to read of one agent in one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TranscriptShare {
    /// The number of transcripts.
    pub sessions: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

impl BackfillPlan {
    /// The amount to read, by agent and project.
    pub fn shares_by_project(&self) -> BTreeMap<(Agent, Option<ProjectId>), TranscriptShare> {
        let mut shares: BTreeMap<(Agent, Option<ProjectId>), TranscriptShare> = BTreeMap::new();
        for candidate in &self.candidates {
            let share = shares.entry((candidate.file.agent, candidate.project.clone())).or_default();
            share.sessions += 1;
            share.bytes += candidate.file.size;
        }
        shares
    }

    /// The total number of bytes to read.
    pub fn bytes(&self) -> u64 {
        self.candidates.iter().map(|candidate| candidate.file.size).sum()
    }

    /// The agents of the sessions to read.
    pub fn agents(&self) -> BTreeSet<Agent> {
        self.candidates.iter().map(|candidate| candidate.file.agent).collect()
    }

    /// The number of projects of the sessions to read.
    pub fn project_count(&self) -> usize {
        let projects: BTreeSet<_> =
            self.candidates.iter().filter_map(|candidate| candidate.project.as_ref()).collect();
        projects.len()
    }

    /// The number of sessions in deleted folders of an unknown project.
    pub fn gone_folders(&self) -> u64 {
        let gone =
            |candidate: &&BackfillCandidate| candidate.project.as_ref().is_some_and(project::is_gone_project);
        self.candidates.iter().filter(gone).count() as u64
    }
}

/// The position up to which a session is captured, whether an event for it is pending, and the last report of
/// a hook if it is open.
struct SessionCaptureState {
    bytes: u64,
    unfinished: bool,
    open: Option<Timestamp>,
}

impl BackfillContext<'_> {
    /// Makes a plan. It reads the beginning of every new or grown transcript and changes nothing.
    pub fn plan(&self, extent: &BackfillScope) -> Result<BackfillPlan, Error> {
        let (done, seen) = (self.backfilled_files()?, self.capture_states()?);
        let mut plan = BackfillPlan { again: extent.again, ..BackfillPlan::default() };
        let mut projects =
            ProjectCache { known_projects: self.projects, home: self.home, by_folder: HashMap::new() };
        for found in extent.agents.iter().flat_map(|agent| transcripts::find(*agent, self.home)) {
            if extent.since.is_some_and(|since| found.modified.is_none_or(|at| at < since)) {
                continue;
            }
            if extent.until.is_some_and(|until| found.modified.is_some_and(|at| at > until)) {
                continue;
            }
            let same = |done: &&BackfilledFile| done.size == found.size && done.modified == found.modified;
            match done.get(&found.path).filter(same) {
                Some(BackfilledFile { unknown: Some(_), .. }) => {
                    plan.unknown_before += 1;
                    continue;
                }
                Some(BackfilledFile { learnt: true, .. }) if !extent.again => {
                    plan.done += 1;
                    continue;
                }
                _ => {}
            }
            match transcripts::read_head(found.agent, &found.path) {
                Ok(head) if head.subagent || self.is_ours(&head) => plan.subagents += 1,
                Ok(head) => {
                    let (project, trail) = projects.project_of(&head);
                    let candidate = BackfillCandidate { file: found, project, head, trail };
                    let seen = seen.get(&(candidate.file.agent, candidate.session()));
                    let is_open = seen.and_then(|seen| seen.open).zip(extent.open_since);
                    if is_open.is_some_and(|(last, since)| last >= since) {
                        plan.open += 1;
                    } else if !extent.again
                        && seen.is_some_and(|seen| !seen.unfinished && seen.bytes >= candidate.file.size)
                    {
                        plan.done += 1;
                    } else {
                        plan.candidates.push(candidate);
                    }
                }
                Err(error @ transcripts::Error::UnknownFormat { .. }) => {
                    let TranscriptFile { agent, path, size, modified } = found;
                    plan.unknown.push(UnknownTranscript {
                        agent,
                        path,
                        seen: error.to_string(),
                        size,
                        modified,
                    });
                }
                // The file is gone or not readable.
                Err(_) => {}
            }
        }
        plan.candidates.sort_by(|a, b| {
            b.file.modified.cmp(&a.file.modified).then_with(|| a.file.path.cmp(&b.file.path))
        });
        Ok(plan)
    }

    fn backfilled_files(&self) -> Result<HashMap<PathBuf, BackfilledFile>, Error> {
        let mut done = HashMap::new();
        each_line(&self.state_file(), 0, &mut |_, line| {
            if let Ok(one) = serde_json::from_slice::<BackfilledFile>(line) {
                done.insert(one.path.clone(), one);
            }
        })
        .map_err(self.failed())?;
        Ok(done)
    }

    /// Reads the sessions in the database.
    fn capture_states(&self) -> Result<HashMap<(Agent, String), SessionCaptureState>, Error> {
        let Some(db) = Database::open_existing(&self.places.database())? else { return Ok(HashMap::new()) };
        let unfinished = lookup::unfinished_sessions(&db)?;
        let rows: Vec<(String, String, i64, i64, bool)> = db.run(|connection| {
            connection
                .prepare("SELECT agent, id, captured_bytes, last_seen, state = 'open' FROM sessions")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))?
                .collect()
        })?;
        let known = rows.into_iter().filter_map(|(agent, id, bytes, last_seen, is_open)| {
            let open = Timestamp::from_millisecond(last_seen).ok().filter(|_| is_open);
            let unfinished = unfinished.contains(&id);
            Some((
                (agent.parse().ok()?, id),
                SessionCaptureState { bytes: u64::try_from(bytes).unwrap_or(0), unfinished, open },
            ))
        });
        Ok(known.collect())
    }

    /// True for the transcript of one of our own calls of a language model (B-04).
    fn is_ours(&self, head: &SessionHead) -> bool {
        head.cwd.as_deref().is_some_and(|cwd| Path::new(cwd).starts_with(self.places.state()))
    }
}

/// A cache of the projects of folders.
struct ProjectCache<'a> {
    known_projects: &'a KnownProjects,
    home: &'a Path,
    by_folder: HashMap<String, Option<ProjectId>>,
}

impl ProjectCache<'_> {
    /// The project of a session, and the trace to remember if only the host knows it.
    fn project_of(&mut self, head: &SessionHead) -> (Option<ProjectId>, Option<ProjectTrail>) {
        let Some(cwd) = head.cwd.as_deref() else { return (None, None) };
        let (known, home) = (self.known_projects, self.home);
        let project = self
            .by_folder
            .entry(cwd.to_owned())
            .or_insert_with(|| project::session_project(Path::new(cwd), Some(home), known))
            .clone();
        let folder = Path::new(cwd);
        if project.is_some() || cwd.is_empty() || folder.is_dir() {
            return (project, None);
        }
        let trail = project::gone_project(folder, head.repository.as_deref());
        (Some(project::settle(&trail, known).last.id), Some(trail))
    }
}

//! Report of a backfill.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rekindle_core::base::scope::ProjectId;
use serde::Serialize;
use serde_json::Value;

use super::{BackfillCandidate, UnknownTranscript};
use crate::jobs::queue::{ClaimedRun, FunctionOutcome, RunInterrupt};
use crate::project;

/// The results in one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProjectLearnings {
    /// Sessions that led to an observation or a memory.
    pub sessions: BTreeSet<String>,
    /// Saved memories: paths in the vault.
    pub saved: BTreeSet<String>,
    /// Proposals for the person to decide.
    pub proposed: BTreeSet<String>,
    /// Statements seen once, which wait in the inbox.
    pub inboxed: BTreeSet<String>,
    /// Ideas that were written down.
    pub ideas: BTreeSet<String>,
    /// The number of entries in the daily logs.
    pub observations: u64,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackfillReport {
    /// The number of transcripts read.
    pub sessions: u64,
    /// The number of messages in them.
    pub messages: u64,
    /// The number of messages indexed for keyword search.
    pub indexed_messages: u64,
    /// The number of messages new to the archive.
    pub added: u64,
    /// The number of redacted secrets.
    pub redacted: u64,
    /// The results by project.
    pub projects: BTreeMap<Option<ProjectId>, ProjectLearnings>,
    /// Sessions without a result, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Sessions that held nothing worth keeping.
    pub silent: BTreeSet<String>,
    /// Sessions in deleted folders of an unknown project.
    pub lost_sessions: BTreeSet<String>,
    /// Transcripts that could not be read, and the reason.
    pub problems: Vec<(PathBuf, String)>,
    /// Transcripts of an unknown format.
    pub unknown: Vec<UnknownTranscript>,
    /// True if it was stopped early.
    pub stopped: bool,
}

impl BackfillReport {
    /// Adds the end of a session's run to the report.
    pub(super) fn add_run(
        &mut self,
        claimed: &ClaimedRun,
        ended: &Result<FunctionOutcome, RunInterrupt>,
        candidate: &BackfillCandidate,
    ) {
        match (claimed.function.as_str(), ended) {
            ("capture", Ok(FunctionOutcome::Completed(output))) => {
                self.messages += count(output, "messages");
                self.added += count(output, "archived");
                self.redacted += count(output, "redacted");
                if candidate.project.as_ref().is_some_and(project::is_gone_project) {
                    self.lost_sessions.insert(candidate.session());
                }
            }
            ("observe", Ok(FunctionOutcome::Completed(output))) => self.add_output(output, candidate),
            // This window was observed before.
            ("observe", Ok(FunctionOutcome::Skipped(reason))) if reason == "duplicate" => {}
            ("capture" | "observe", Ok(FunctionOutcome::Skipped(reason))) => {
                *self.skipped.entry(reason.clone()).or_default() += 1;
            }
            (_, Err(RunInterrupt::Failed { error, .. })) => {
                self.problems.push((candidate.file.path.clone(), error.message.clone()));
            }
            _ => {}
        }
    }

    fn add_output(&mut self, output: &Value, candidate: &BackfillCandidate) {
        let learnt = self.projects.entry(candidate.project.clone()).or_default();
        let mut any = false;
        for (key, list) in [
            ("saved", &mut learnt.saved),
            ("proposed", &mut learnt.proposed),
            ("inboxed", &mut learnt.inboxed),
            ("ideas", &mut learnt.ideas),
        ] {
            let named = output[key].as_array().into_iter().flatten().filter_map(Value::as_str);
            for name in named {
                any = true;
                list.insert(name.to_owned());
            }
        }
        learnt.observations += count(output, "observations");
        let session = candidate.session();
        if any || count(output, "observations") > 0 {
            self.silent.remove(&session);
            learnt.sessions.insert(session);
        } else if !learnt.sessions.contains(&session) {
            self.silent.insert(session);
        }
    }
}

fn count(output: &Value, key: &str) -> u64 {
    output[key].as_u64().unwrap_or(0)
}

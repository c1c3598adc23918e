//! What a backfill came to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rekindle_core::base::scope::ProjectId;
use serde::Serialize;
use serde_json::Value;

use super::{Candidate, Unknown};
use crate::jobs::queue::{Claimed, Ended, Interrupt};
use crate::project;

/// What was learnt in one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Learnt {
    /// Sessions that taught something.
    pub sessions: BTreeSet<String>,
    /// Memories that hold at once: paths in the vault.
    pub saved: BTreeSet<String>,
    /// Proposals that the person is asked about.
    pub proposed: BTreeSet<String>,
    /// What was seen once and waits in the inbox.
    pub inboxed: BTreeSet<String>,
    /// Ideas.
    pub ideas: BTreeSet<String>,
    /// Lines in the logs of the days.
    pub observations: u64,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Transcripts that were read.
    pub sessions: u64,
    /// Messages in them.
    pub messages: u64,
    /// Messages that can be found by their words now.
    pub found: u64,
    /// Messages that were not kept yet.
    pub added: u64,
    /// Secrets that were left out.
    pub redacted: u64,
    /// What was learnt, by project.
    pub projects: BTreeMap<Option<ProjectId>, Learnt>,
    /// Sessions from which nothing was learnt, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Sessions that were read and held nothing worth keeping.
    pub silent: BTreeSet<String>,
    /// Sessions in folders that are gone, and of which nobody knows the project.
    pub gone: BTreeSet<String>,
    /// What could not be read, and why.
    pub problems: Vec<(PathBuf, String)>,
    /// Formats that are not known.
    pub unknown: Vec<Unknown>,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

impl Report {
    /// Takes in how a run of a session ended.
    pub(super) fn hear(
        &mut self,
        claimed: &Claimed,
        ended: &Result<Ended, Interrupt>,
        candidate: &Candidate,
    ) {
        match (claimed.function.as_str(), ended) {
            ("capture", Ok(Ended::Completed(output))) => {
                self.messages += count(output, "messages");
                self.added += count(output, "archived");
                self.redacted += count(output, "redacted");
                if candidate.project.as_ref().is_some_and(project::is_gone) {
                    self.gone.insert(candidate.session());
                }
            }
            ("observe", Ok(Ended::Completed(output))) => self.learn(output, candidate),
            // A window that was observed before.
            ("observe", Ok(Ended::Skipped(reason))) if reason == "duplicate" => {}
            ("capture" | "observe", Ok(Ended::Skipped(reason))) => {
                *self.skipped.entry(reason.clone()).or_default() += 1;
            }
            (_, Err(Interrupt::Failed { error, .. })) => {
                self.problems.push((candidate.found.path.clone(), error.message.clone()));
            }
            _ => {}
        }
    }

    fn learn(&mut self, output: &Value, candidate: &Candidate) {
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

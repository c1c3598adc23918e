//! The scratch home of a gate: a vault, a state folder and a project that only the gate's own calls use.
//!
//! The hooks run with the person's settings, their own command line and these variables, which send every file to
//! the scratch home. So nothing of a gate reaches the real one, and nothing has to be taken out again.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rekindle_core::base::time::Zoned;
use rekindle_core::config::Config;
use rekindle_core::hosts::hook::{GUARD_VARIABLE, PROBE_VARIABLE};
use rekindle_core::session::command_speaker::AGENT_VARIABLES;

use super::Error;
use crate::agents::install::CallEnvironment;
use crate::config;
use crate::jobs::worker_lock;
use crate::ops::setup;
use crate::platform::background::is_session_variable;
use crate::platform::disk;
use crate::platform::environment;
use crate::platform::home::{DataPaths, HOME_VARIABLE, HomeFolder};
use crate::platform::random;

/// The longest wait for a worker in a scratch home to end.
const WORKER_END_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A folder with a home of its own.
#[derive(Debug)]
pub(super) struct ScratchHome {
    folder: PathBuf,
    /// The places that the hooks use.
    pub(super) places: DataPaths,
    /// The settings that the hooks see.
    pub(super) config: Config,
    /// The folder of a project, for sessions.
    pub(super) project: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

impl ScratchHome {
    /// Creates a scratch home with an empty vault.
    pub(super) fn create(home: &HomeFolder, real: &DataPaths, now: &Zoned) -> Result<Self, Error> {
        let id = random::change_id(now.timestamp()).map_err(Error::io(&real.gate_folder()))?;
        let folder = real.gate_folder().join(id.as_str());
        // A setting that is not text would be ignored, and the hooks would use the real home.
        if folder.to_str().is_none() {
            return Err(Error::NotText(folder));
        }
        disk::create_private_folder(&folder).map_err(Error::io(&folder))?;
        let overrides = overrides(&folder);
        let value = |name: &str| -> Option<OsString> {
            let ours = overrides.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone());
            ours.or_else(|| environment::raw_variable(name))
        };
        let config = config::read_with(home, None, &[], &value)?.config;
        let places = home.data_paths(&config)?;
        setup::create_folders(&places, &config.user.name, now)?;
        let project = folder.join("project");
        // The head of a repository makes it a project, wherever the state folder is.
        let git = project.join(".git");
        for part in ["objects", "refs"] {
            let part = git.join(part);
            disk::create_private_folder(&part).map_err(Error::io(&part))?;
        }
        let head = git.join("HEAD");
        disk::write_unsynced(&head, b"ref: refs/heads/main\n").map_err(Error::io(&head))?;
        Ok(Self { variables: environment_of_calls(&overrides), folder, places, config, project })
    }

    /// The environment of a call in the project.
    pub(super) fn environment(&self) -> CallEnvironment<'_> {
        CallEnvironment { variables: &self.variables, folder: &self.project }
    }

    /// The file for the transcript of a session.
    pub(super) fn transcript(&self, session: &str) -> PathBuf {
        self.folder.join("transcripts").join(format!("{session}.jsonl"))
    }

    /// True while a worker runs in this home.
    pub(super) fn is_busy(&self) -> bool {
        worker_lock::is_locked(&self.places.locks_folder())
    }

    /// Stops what still runs in it, and removes it.
    pub(super) fn remove(self) -> Result<(), Error> {
        remove(&self.folder, self.places.state())
    }
}

/// Removes the scratch homes of killed gates. Only the holder of the gate's lock may call this.
pub(super) fn remove_abandoned(places: &DataPaths) -> Result<u64, Error> {
    let parent = places.gate_folder();
    let folders = match std::fs::read_dir(&parent) {
        Ok(folders) => folders,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(Error::io(&parent)(error)),
    };
    let mut removed = 0;
    for folder in folders {
        let folder = folder.map_err(Error::io(&parent))?.path();
        remove(&folder, &folder.join(STATE_NAME))?;
        removed += 1;
    }
    disk::remove_empty_folder(&parent).map_err(Error::io(&parent))?;
    Ok(removed)
}

/// The name of the state folder in a scratch home.
const STATE_NAME: &str = "state";

fn remove(folder: &Path, state: &Path) -> Result<(), Error> {
    // A worker that is still running ends at once, and a hook that is late starts none.
    if state.is_dir() {
        let stop = state.join("STOP");
        disk::write_unsynced(&stop, b"").map_err(Error::io(&stop))?;
        let deadline = Instant::now() + WORKER_END_TIMEOUT;
        while worker_lock::is_locked(&state.join("locks")) && Instant::now() < deadline {
            std::thread::sleep(POLL_INTERVAL);
        }
    }
    disk::remove_scratch(folder).map_err(Error::io(folder))?;
    let parent = folder.parent().unwrap_or(folder);
    disk::remove_empty_folder(parent).map_err(Error::io(parent))
}

/// The settings that differ from the person's: the places of files, everything that costs money or leaves the
/// machine, and what would start a gate in a gate.
fn overrides(folder: &Path) -> Vec<(&'static str, OsString)> {
    let place = |name: &str| folder.join(name).into_os_string();
    vec![
        ("REKINDLE_VAULT_NOTES", place("notes")),
        ("REKINDLE_PATHS_STATE", place(STATE_NAME)),
        ("REKINDLE_PATHS_IDENTITY", place("agents")),
        ("REKINDLE_IDENTITY_LINKS", place("links")),
        ("REKINDLE_LLM_PROVIDER", "offline".into()),
        ("REKINDLE_REVIEW_TODOIST_ENABLED", "false".into()),
        ("REKINDLE_REVIEW_TELEGRAM_ENABLED", "false".into()),
        ("REKINDLE_IDEAS_RESEARCH_WHEN", "off".into()),
        ("REKINDLE_INDEX_BACKGROUND", "false".into()),
        ("REKINDLE_RECALL_HOLDOUT", "0".into()),
        ("REKINDLE_GATE_WEEKLY", "false".into()),
        ("REKINDLE_ENGINES_SHARED", "embedded".into()),
    ]
}

/// The variables of this process without those of an agent's session: an agent starts its hooks from the person's
/// environment. The home is left out, because the command line names it.
fn environment_of_calls(overrides: &[(&'static str, OsString)]) -> Vec<(OsString, OsString)> {
    let is_left_out = |name: &OsString| {
        name.to_str().is_some_and(|name| {
            [HOME_VARIABLE, GUARD_VARIABLE, PROBE_VARIABLE].contains(&name)
                || AGENT_VARIABLES.contains(&name)
                || is_session_variable(name)
                || overrides.iter().any(|(ours, _)| *ours == name)
        })
    };
    let kept = environment::all_variables().filter(|(name, _)| !is_left_out(name));
    kept.chain(overrides.iter().map(|(name, value)| ((*name).into(), value.clone()))).collect()
}

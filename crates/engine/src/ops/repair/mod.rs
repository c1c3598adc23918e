//! `rekindle doctor --fix`: repairs what can be repaired without a decision of the person, and names the rest.
//!
//! - `permissions`: folders and files that we cannot write, or that others can read
//! - `locks`: leftovers of killed processes that keep others waiting
//! - `database`: a lost or damaged database, rebuilt from its copy, the logs and the vault
//! - `links`: links to the identity files
//!
//! Nothing that a person wrote is removed. A damaged file is kept aside.

mod database;
mod links;
mod locks;
pub(crate) mod permissions;

use std::time::{Duration, SystemTime};

use rekindle_core::base::agent::Agent;
use rekindle_core::base::time::Zoned;
use rekindle_core::config::Config;
use rekindle_core::text::plural::count_phrase;
use serde::Serialize;

use crate::agents::install::{InstallState, Installer};
use crate::index::models::ModelStore;
use crate::index::{Embedder, RecallIndex};
use crate::ops::{gate, setup};
use crate::platform::home::{DataPaths, HomeFolder};
use crate::recall::index_condition::{IndexCondition, index_condition};
use crate::recall::indexer::{Indexer, RefreshExtent};
use crate::vault::Vault;

pub use self::database::is_lost;
pub use self::locks::stale_locks;

/// Temporary files that were not written for this long belong to no running process.
const ABANDONED_AFTER: Duration = Duration::from_secs(10 * 60);

/// What was repaired, or why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RepairResult {
    /// The name of the check of `doctor` that it belongs to.
    pub check: &'static str,
    /// What was done, or what is wrong.
    pub what: String,
    /// What is left to the person; `None` if it is repaired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
}

impl RepairResult {
    fn fixed(check: &'static str, what: impl Into<String>) -> Self {
        Self { check, what: what.into(), left: None }
    }

    fn left(check: &'static str, what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { check, what: what.into(), left: Some(next.into()) }
    }
}

/// What a repair needs to know.
#[derive(Clone, Copy)]
pub struct RepairRequest<'a> {
    /// The home folder.
    pub home: &'a HomeFolder,
    /// The places of the home.
    pub places: &'a DataPaths,
    /// The settings.
    pub config: &'a Config,
    /// The agents of the person; `None` without a home folder to look in.
    pub installer: Option<&'a Installer<'a>>,
    /// Now, in the person's zone.
    pub now: &'a Zoned,
}

/// Repairs everything, in an order in which nothing needs what comes later.
pub fn repair(request: &RepairRequest<'_>) -> Vec<RepairResult> {
    let mut results = permissions::repair(request.home, request.places);
    results.extend(missing_folders(request));
    results.extend(locks::repair(request));
    results.extend(leftovers(request));
    results.extend(database::repair(request));
    results.extend(index(request));
    results.extend(links::repair(request.places));
    results.extend(hooks(request));
    results
}

/// Creates the folders and documents that `init` creates.
fn missing_folders(request: &RepairRequest<'_>) -> Vec<RepairResult> {
    // A vault that is gone as a whole may be on a disk that is not there.
    if !request.places.vault().is_dir() {
        let what = format!("there is no vault at {}", request.places.vault().display());
        return vec![RepairResult::left(
            "vault",
            what,
            "`rekindle init` creates one, `rekindle restore` brings one back",
        )];
    }
    match setup::create_folders(request.places, &request.config.user.name, request.now) {
        Ok(items) => {
            let made = items.into_iter().filter(|item| item.created);
            made.map(|item| RepairResult::fixed("documents", format!("created {}", item.path.display())))
                .collect()
        }
        Err(error) => {
            vec![RepairResult::left(
                "documents",
                error.to_string(),
                "check the permissions and the free disk space",
            )]
        }
    }
}

/// Removes what killed commands left: temporary files and scratch homes.
fn leftovers(request: &RepairRequest<'_>) -> Vec<RepairResult> {
    let mut results = Vec::new();
    match gate::remove_abandoned(request.places) {
        Ok(0) => {}
        Ok(count) => {
            let what = format!("removed {} of killed gates", count_phrase(count, "scratch folder"));
            results.push(RepairResult::fixed("state", what));
        }
        Err(error) => {
            results.push(RepairResult::left("state", error.to_string(), "remove the folder by hand"));
        }
    }
    let before = SystemTime::UNIX_EPOCH
        + Duration::from_secs(request.now.timestamp().as_second().max(0).unsigned_abs())
        - ABANDONED_AFTER;
    let removed = Vault::open(request.places).and_then(|vault| vault.remove_temporaries(before, request.now));
    match removed {
        Ok(0) | Err(_) => {}
        Ok(count) => {
            let what = format!("removed {} of killed commands", count_phrase(count, "temporary file"));
            results.push(RepairResult::fixed("journal", what));
        }
    }
    results
}

/// Rebuilds a damaged index from the notes.
fn index(request: &RepairRequest<'_>) -> Option<RepairResult> {
    let vault = Vault::open(request.places).ok()?.in_zone(request.now.time_zone().clone());
    let index = RecallIndex::in_folder(request.places.index());
    let model = ModelStore::open(request.home).load(request.config.embed.model.as_str()).ok()?;
    let embedder = Embedder::new(model.name(), &model);
    let why = match index_condition(&vault, &index, Some(&embedder.space())) {
        Ok(IndexCondition::Damaged(why)) => why,
        Ok(IndexCondition::Usable(usable)) => usable.snapshot.verify().err()?.to_string(),
        Ok(IndexCondition::Missing) | Err(_) => return None,
    };
    let indexer = Indexer { vault: &vault, index: &index, embedder };
    let rebuilt = indexer
        .refresh(RefreshExtent::Everything, &mut |_| true)
        .and_then(|report| indexer.embed(Duration::from_secs(60), &mut |_| true).map(|_| report));
    Some(match rebuilt {
        Ok(report) => {
            let what = format!("rebuilt the index from {} ({why})", count_phrase(report.files, "file"));
            RepairResult::fixed("index", what)
        }
        Err(error) => RepairResult::left("index", error.to_string(), "`rekindle reindex --all` rebuilds it"),
    })
}

/// Installs hooks again that are missing, doubled, or call another program.
fn hooks(request: &RepairRequest<'_>) -> Vec<RepairResult> {
    let Some(installer) = request.installer else { return Vec::new() };
    let mut results = Vec::new();
    for agent in Agent::ALL {
        let (check, name) = (agent.as_str(), agent.name());
        let Ok(status) = installer.status(agent) else { continue };
        let install = format!("`rekindle install {agent}`");
        if let Some(problem) = status.problem {
            results.push(RepairResult::left(
                check,
                problem,
                "correct the file by hand; Rekindle changed nothing",
            ));
            continue;
        }
        match status.state {
            InstallState::Absent | InstallState::Current => {}
            InstallState::ForeignHome => {
                let home = status.home.as_deref().unwrap_or("~/.rekindle");
                let what = format!("its hooks use another Rekindle home: {home}");
                results.push(RepairResult::left(check, what, format!("{install} makes them use this one")));
            }
            InstallState::Outdated => {
                let done = installer.plan_install(agent).and_then(|plan| installer.apply(&plan, false));
                results.push(match done {
                    Ok(()) => {
                        let what = format!(
                            "the hooks of {name} in {} call this program again",
                            status.settings.display()
                        );
                        RepairResult::fixed(check, what)
                    }
                    Err(error) => RepairResult::left(check, error.to_string(), install),
                });
            }
        }
        let is_untrusted = installer.status(agent).is_ok_and(|status| status.trusted == Some(false));
        if is_untrusted {
            let what = "Codex does not trust the hooks and skips them silently";
            results.push(RepairResult::left(
                check,
                what,
                "only you can trust a hook: `rekindle install codex --trust`",
            ));
        }
    }
    results
}

//! Installs our hooks and MCP server into agents, and removes them (B-15, OPS-04).
//!
//! A [`InstallPlan`] lists all changes, byte for byte. Applying it touches only files that are unchanged since the
//! plan was made. A receipt records the state before the first install (no copy of the settings, only which
//! places were empty), so that uninstalling restores it.

mod claude;
mod codex;
mod codex_trust;
mod environment;
mod error;
mod file;
mod gemini;
mod host;
mod installed;
mod pi;
mod plugin;
mod probe;
mod program;
mod receipt;
mod servers;
mod status;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rekindle_core::base::agent::Agent;
use rekindle_core::hosts::install::{HookInvocation, recognise_command, servers as entries, settings};

pub use self::environment::InstallEnvironment;
pub use self::error::Error;
pub use self::file::SettingsChange;
pub use self::installed::{CallEnvironment, HookAnswer, InstalledCommand};
pub use self::plugin::WrittenPlugin;
pub use self::probe::HookProbe;
pub use self::program::invocation;
pub use self::status::{InstallState, InstallStatus};

use self::file::{abandoned_files, read};
use self::host::AgentLocation;
use self::receipt::{FileOrigin, InstallReceipt, InstallReceipts};
use crate::platform::disk;
use crate::platform::home::DataPaths;

/// The longest wait for another install.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The version of an agent on this machine, if it can be read without starting the program.
pub fn version(machine: &InstallEnvironment, agent: Agent) -> Option<String> {
    AgentLocation::locate(agent, machine).ok()?.version()
}

/// The changes of an install or uninstall for one agent.
#[derive(Debug)]
pub struct InstallPlan {
    /// The agent to connect or disconnect.
    pub agent: Agent,
    /// The changes to make; empty if all is in place.
    pub changes: Vec<SettingsChange>,
    /// The change that makes Codex run the hooks. It needs a separate question, because only the user can
    /// trust a hook.
    pub trust: Option<SettingsChange>,
    /// A setting of the agent that keeps hooks from running.
    pub obstacle: Option<String>,
    receipts: Vec<(PathBuf, Option<InstallReceipt>)>,
}

/// Adds our hooks to agents' settings, and removes them.
#[derive(Debug)]
pub struct Installer<'a> {
    machine: &'a InstallEnvironment,
    places: &'a DataPaths,
    invocation: &'a HookInvocation,
}

impl<'a> Installer<'a> {
    /// An installer for the agents of a machine, whose hooks run `invocation`.
    pub fn new(
        machine: &'a InstallEnvironment,
        places: &'a DataPaths,
        invocation: &'a HookInvocation,
    ) -> Self {
        Self { machine, places, invocation }
    }

    /// Plans the changes of an install.
    pub fn plan_install(&self, agent: Agent) -> Result<InstallPlan, Error> {
        // Never write lines that we could not recognise and remove later.
        if recognise_command(&self.invocation.hook_command(agent, "Stop"), agent).is_none() {
            let program = &self.invocation.program;
            return Err(Error::Program(format!(
                "{program} is not called `rekindle`; rename it and run the command again"
            )));
        }
        let host = AgentLocation::locate(agent, self.machine)?;
        let mut plan = InstallPlan::empty(agent);
        let before = read(&host.settings)?;
        if agent == Agent::Pi {
            let after = pi::render(self.invocation, &self.places.logs_folder());
            let ours = before.as_deref().is_none_or(pi::is_ours);
            if !ours {
                return Err(Error::NotOurs(host.settings));
            }
            self.remember(
                &mut plan,
                &host.settings,
                before.as_deref(),
                settings::EmptyContainers::new(),
                before.is_some(),
            );
            self.plan_server_install(&mut plan, &host)?;
            plan.change(host.settings, before, Some(after));
            return Ok(plan);
        }
        let old = before.as_deref().unwrap_or_default();
        let there = settings::find(old, agent).map_err(Error::json(&host.settings))?;
        let known = self.receipts()?.get(&host.settings).filter(|_| !there.is_empty()).cloned();
        let mut blanks = known.map_or_else(settings::EmptyContainers::new, |receipt| receipt.blanks);
        let mut after = settings::install(old, agent, self.invocation, &mut blanks)
            .map_err(Error::json(&host.settings))?;
        if agent == Agent::Gemini {
            after = entries::add_server(&after, agent, self.invocation, &mut blanks)
                .map_err(Error::json(&host.settings))?;
        }
        self.plan_server_install(&mut plan, &host)?;
        plan.obstacle = host.hooks_obstacle(&after);
        self.remember(&mut plan, &host.settings, before.as_deref(), blanks, !there.is_empty());
        if agent == Agent::Codex {
            let config = codex::config_file(self.machine);
            let hooks = codex::hooks_file(self.machine);
            let found = settings::find(&after, agent).map_err(Error::json(&host.settings))?;
            let text = read(&config)?;
            plan.obstacle = plan.obstacle.or_else(|| text.as_deref().and_then(codex::hooks_obstacle));
            let failed = |problem| Error::Trust { path: config.clone(), problem };
            // Trust is confirmed separately, so its text builds on the one with the server.
            let registered =
                servers::add_server(text.as_deref().unwrap_or_default(), self.invocation).map_err(failed)?;
            let trusted = codex_trust::add_trust(&registered, &hooks, &found).map_err(failed)?;
            let receipt = InstallReceipt::new(text.as_deref(), &config);
            let known = self.receipts()?.get(&config).cloned();
            plan.receipts.push((config.clone(), Some(known.unwrap_or(receipt))));
            plan.change(config.clone(), text, Some(registered.clone()));
            plan.trust = SettingsChange::new(config, Some(registered), Some(trusted));
        }
        plan.change(host.settings, before, Some(after));
        Ok(plan)
    }

    /// Plans the changes of an uninstall.
    pub fn plan_uninstall(&self, agent: Agent) -> Result<InstallPlan, Error> {
        let host = AgentLocation::locate(agent, self.machine)?;
        let mut plan = InstallPlan::empty(agent);
        self.plan_server_removal(&mut plan, &host)?;
        let there = read(&host.settings)?;
        let before = there.clone().unwrap_or_default();
        let receipts = self.receipts()?;
        let receipt = receipts.get(&host.settings).cloned().unwrap_or_default();
        if agent == Agent::Pi {
            if pi::is_ours(&before) {
                plan.receipts.push((host.settings.clone(), None));
                plan.change(host.settings, there, None);
            }
            return Ok(plan);
        }
        let found = settings::find(&before, agent).map_err(Error::json(&host.settings))?;
        if agent == Agent::Codex {
            let config = codex::config_file(self.machine);
            if let Some(text) = read(&config)? {
                let without = codex_trust::remove_trust(&text, &codex::hooks_file(self.machine), &found)
                    .and_then(|text| servers::remove_server(&text))
                    .map_err(|problem| Error::Trust { path: config.clone(), problem })?;
                let origin = receipts.get(&config).map(|receipt| receipt.origin.clone()).unwrap_or_default();
                let after = (origin != FileOrigin::Absent || !without.is_empty()).then_some(without);
                plan.receipts.push((config.clone(), None));
                plan.change(config, Some(text), after);
            }
        }
        let mut after =
            settings::uninstall(&before, agent, &receipt.blanks).map_err(Error::json(&host.settings))?;
        if agent == Agent::Gemini {
            after = entries::remove_servers(&after, agent, &receipt.blanks)
                .map_err(Error::json(&host.settings))?;
        }
        if after != before {
            plan.receipts.push((host.settings.clone(), None));
            plan.change(host.settings, there, receipt.remaining_text(after));
        }
        Ok(plan)
    }

    /// Registers our server if it has a file of its own.
    fn plan_server_install(&self, plan: &mut InstallPlan, host: &AgentLocation) -> Result<(), Error> {
        let Some(path) = servers::file(plan.agent, self.machine, host) else { return Ok(()) };
        let before = read(&path)?;
        let old = before.as_deref().unwrap_or_default();
        let there = !entries::find(old, plan.agent).map_err(Error::json(&path))?.is_empty();
        let known = self.receipts()?.get(&path).filter(|_| there).cloned();
        let mut blanks = known.map_or_else(settings::EmptyContainers::new, |receipt| receipt.blanks);
        let after =
            entries::add_server(old, plan.agent, self.invocation, &mut blanks).map_err(Error::json(&path))?;
        self.remember(plan, &path, before.as_deref(), blanks, there);
        plan.change(path, before, Some(after));
        Ok(())
    }

    fn plan_server_removal(&self, plan: &mut InstallPlan, host: &AgentLocation) -> Result<(), Error> {
        let Some(path) = servers::file(plan.agent, self.machine, host) else { return Ok(()) };
        let Some(before) = read(&path)? else { return Ok(()) };
        let receipt = self.receipts()?.get(&path).cloned().unwrap_or_default();
        let after =
            entries::remove_servers(&before, plan.agent, &receipt.blanks).map_err(Error::json(&path))?;
        if after != before {
            plan.receipts.push((path.clone(), None));
            plan.change(path, Some(before), receipt.remaining_text(after));
        }
        Ok(())
    }

    /// Applies a plan. `with_trust` is the user's consent that Codex may run our hooks.
    pub fn apply(&self, plan: &InstallPlan, with_trust: bool) -> Result<(), Error> {
        let trust = plan.trust.as_ref().filter(|_| with_trust);
        let left: Vec<PathBuf> = plan.receipts.iter().flat_map(|(path, _)| abandoned_files(path)).collect();
        if plan.changes.is_empty() && trust.is_none() && left.is_empty() {
            return Ok(());
        }
        let locks = self.places.locks_folder();
        let name = locks.join("install.lock");
        let locked = disk::create_private_folder(&locks).and_then(|()| disk::lock(&name, LOCK_TIMEOUT));
        let _lock = locked.map_err(Error::io("lock", &name))?;
        // We hold the lock, so these files belong to no running process.
        left.iter().try_for_each(|path| disk::remove(path).map_err(Error::io("remove", path)))?;
        let mut receipts = self.receipts()?;
        let known = receipts.clone();
        // Store the receipts before anything changes, and delete them after all is restored.
        for (path, receipt) in &plan.receipts {
            if let Some(receipt) = receipt {
                receipts.set(path, receipt.clone());
            }
        }
        receipts.save(&self.receipts_file())?;
        for change in plan.changes.iter().chain(trust) {
            change.apply()?;
        }
        for (path, receipt) in &plan.receipts {
            if receipt.is_none() {
                receipts.remove(path);
                let folders = known.get(path).map(|receipt| receipt.folders.as_slice()).unwrap_or_default();
                for folder in folders.iter().rev() {
                    disk::remove_empty_folder(folder).map_err(Error::io("remove", folder))?;
                }
            }
        }
        receipts.save(&self.receipts_file())
    }

    /// The hooks that an agent has installed, as they are in its settings.
    pub fn installed_commands(&self, agent: Agent) -> Result<Vec<InstalledCommand>, Error> {
        installed::commands(self.machine, agent)
    }

    /// Runs every installed hook of an agent in test mode, which leaves no trace.
    pub fn probe(&self, agent: Agent) -> Result<Vec<HookProbe>, Error> {
        probe::probe(self.machine, agent)
    }

    fn remember(
        &self,
        plan: &mut InstallPlan,
        path: &Path,
        before: Option<&str>,
        blanks: settings::EmptyContainers,
        was_there: bool,
    ) {
        let known = self.receipts().ok().and_then(|receipts| receipts.get(path).cloned());
        let receipt = match known.filter(|_| was_there) {
            Some(known) => InstallReceipt { blanks, ..known },
            // For hooks of ours without a receipt the earlier state is unknown.
            None if was_there => InstallReceipt { blanks, ..InstallReceipt::default() },
            None => InstallReceipt { blanks, ..InstallReceipt::new(before, path) },
        };
        plan.receipts.push((path.to_owned(), Some(receipt)));
    }

    fn receipts_file(&self) -> PathBuf {
        self.places.state().join("installed.json")
    }

    fn receipts(&self) -> Result<InstallReceipts, Error> {
        InstallReceipts::load(&self.receipts_file())
    }
}

impl InstallPlan {
    fn empty(agent: Agent) -> Self {
        Self { agent, changes: Vec::new(), trust: None, obstacle: None, receipts: Vec::new() }
    }

    fn change(&mut self, path: PathBuf, before: Option<String>, after: Option<String>) {
        self.changes.extend(SettingsChange::new(path, before, after));
    }
}

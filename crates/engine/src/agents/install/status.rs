//! The state of our hooks in each agent.

use std::path::PathBuf;

use rekindle_core::base::agent::Agent;
use rekindle_core::hosts::install::{events, settings};
use serde::Serialize;

use super::file::read;
use super::host::AgentLocation;
use super::{Error, Installer, codex, codex_trust, pi, plugin};

/// The state of the hooks in an agent's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallState {
    /// The hooks are missing.
    Absent,
    /// The hooks are as this program would write them.
    Current,
    /// The hooks are of an older version or another path, or incomplete.
    Outdated,
    /// The hooks use another home.
    ForeignHome,
}

/// The status of an agent's connection.
#[derive(Clone, Debug, Serialize)]
pub struct InstallStatus {
    /// The agent that it describes.
    pub agent: Agent,
    /// True if the agent is on this machine: its program or its folder.
    pub found: bool,
    /// The path of its program.
    pub program: Option<PathBuf>,
    /// The version, if it can be read without starting the program.
    pub version: Option<String>,
    /// The file that holds our hooks, or would hold them.
    pub settings: PathBuf,
    /// The state of the hooks.
    pub state: InstallState,
    /// The events with a hook.
    pub events: Vec<String>,
    /// The home that the hooks use, if it is not the default.
    pub home: Option<String>,
    /// True if Codex trusts the hooks; `None` for agents without trust.
    pub trusted: Option<bool>,
    /// True if the agent has our plugin, which also calls us.
    pub plugin: bool,
    /// The setting that keeps hooks from running.
    pub obstacle: Option<String>,
    /// The reason why the state is unknown.
    pub problem: Option<String>,
}

impl Installer<'_> {
    /// Reads the status of an agent.
    pub fn status(&self, agent: Agent) -> Result<InstallStatus, Error> {
        let host = AgentLocation::locate(agent, self.machine)?;
        let mut status = InstallStatus {
            agent,
            found: host.is_found(),
            version: host.version(),
            state: InstallState::Absent,
            events: Vec::new(),
            home: None,
            trusted: None,
            plugin: plugin::is_active(self.machine, &host),
            obstacle: None,
            problem: None,
            program: host.program.clone(),
            settings: host.settings.clone(),
        };
        if let Err(error) = self.inspect_settings(&host, &mut status) {
            status.problem = Some(error.to_string());
        }
        Ok(status)
    }

    fn inspect_settings(&self, host: &AgentLocation, status: &mut InstallStatus) -> Result<(), Error> {
        let Some(text) = read(&host.settings)? else { return Ok(()) };
        let homes: Vec<Option<String>>;
        if host.agent == Agent::Pi {
            if !pi::is_ours(&text) {
                return Ok(());
            }
            homes = vec![pi::recorded_call(&text).and_then(|(_, home)| home)];
            let asked = events(Agent::Pi, pi::is_called_before_tools(&text));
            status.events = asked.iter().map(|one| one.event.to_owned()).collect();
        } else {
            let found = settings::find(&text, host.agent).map_err(Error::json(&host.settings))?;
            status.obstacle = host.hooks_obstacle(&text);
            if found.is_empty() {
                return Ok(());
            }
            status.events = found.iter().map(|one| one.event.clone()).collect();
            homes = found.iter().map(|one| one.recognised.home.clone()).collect();
            if host.agent == Agent::Codex {
                let config = read(&codex::config_file(self.machine))?.unwrap_or_default();
                status.trusted =
                    Some(codex_trust::is_trusted(&config, &codex::hooks_file(self.machine), &found));
                status.obstacle = status.obstacle.take().or_else(|| codex::hooks_obstacle(&config));
            }
        }
        let foreign = homes.into_iter().find(|home| *home != self.invocation.home);
        status.home = foreign.clone().unwrap_or_else(|| self.invocation.home.clone());
        status.state = match foreign {
            Some(_) => InstallState::ForeignHome,
            None if self.plan_install(host.agent)?.changes.is_empty() => InstallState::Current,
            None => InstallState::Outdated,
        };
        Ok(())
    }
}

//! Whether agents call us, and how.

use std::path::PathBuf;

use rekindle_core::base::agent::Agent;
use rekindle_core::hosts::install::{events, settings};
use serde::Serialize;

use super::file::read;
use super::host::Host;
use super::{Error, Installer, codex, pi, plugin, trust};

/// Whether our hooks are in an agent's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// They are not.
    Absent,
    /// They are, as this program would write them.
    Current,
    /// They are, but of an older version, an older place, or not all of them.
    Outdated,
    /// They are, but remember into another home.
    ForeignHome,
}

/// How it is with an agent.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The agent.
    pub agent: Agent,
    /// Whether it is on this machine: its program, or its folder.
    pub found: bool,
    /// Its program.
    pub program: Option<PathBuf>,
    /// Its version, where that can be read without starting it.
    pub version: Option<String>,
    /// The file that our hooks are in, or would be.
    pub settings: PathBuf,
    /// Whether they are.
    pub state: State,
    /// The events they are for.
    pub events: Vec<String>,
    /// The home they remember into, if it is not the usual one.
    pub home: Option<String>,
    /// Whether Codex was told to trust them; nothing for agents that do not ask.
    pub trusted: Option<bool>,
    /// Whether the agent has our plugin, which calls us as well.
    pub plugin: bool,
    /// What keeps them from running.
    pub obstacle: Option<String>,
    /// Why nothing can be said about them.
    pub problem: Option<String>,
}

impl Installer<'_> {
    /// How it is with an agent.
    pub fn status(&self, agent: Agent) -> Result<Status, Error> {
        let host = Host::of(agent, self.machine)?;
        let mut status = Status {
            agent,
            found: host.found(),
            version: host.version(),
            state: State::Absent,
            events: Vec::new(),
            home: None,
            trusted: None,
            plugin: plugin::is_active(self.machine, &host),
            obstacle: None,
            problem: None,
            program: host.program.clone(),
            settings: host.settings.clone(),
        };
        if let Err(error) = self.look(&host, &mut status) {
            status.problem = Some(error.to_string());
        }
        Ok(status)
    }

    fn look(&self, host: &Host, status: &mut Status) -> Result<(), Error> {
        let Some(text) = read(&host.settings)? else { return Ok(()) };
        let homes: Vec<Option<String>>;
        if host.agent == Agent::Pi {
            if !pi::is_ours(&text) {
                return Ok(());
            }
            homes = vec![pi::calls(&text).and_then(|(_, home)| home)];
            let asked = events(Agent::Pi, pi::is_called_before_tools(&text));
            status.events = asked.iter().map(|one| one.event.to_owned()).collect();
        } else {
            let found = settings::find(&text, host.agent).map_err(Error::json(&host.settings))?;
            status.obstacle = host.obstacle(&text);
            if found.is_empty() {
                return Ok(());
            }
            status.events = found.iter().map(|one| one.event.clone()).collect();
            homes = found.iter().map(|one| one.recognised.home.clone()).collect();
            if host.agent == Agent::Codex {
                let config = read(&codex::config_file(self.machine))?.unwrap_or_default();
                status.trusted = Some(trust::is_trusted(&config, &codex::hooks_file(self.machine), &found));
                status.obstacle = status.obstacle.take().or_else(|| codex::obstacle(&config));
            }
        }
        let foreign = homes.into_iter().find(|home| *home != self.invocation.home);
        status.home = foreign.clone().unwrap_or_else(|| self.invocation.home.clone());
        status.state = match foreign {
            Some(_) => State::ForeignHome,
            None if self.plan_install(host.agent)?.changes.is_empty() => State::Current,
            None => State::Outdated,
        };
        Ok(())
    }
}

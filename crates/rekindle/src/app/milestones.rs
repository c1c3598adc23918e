//! Logs the milestones of this installation, and knows which agents are connected.

use rekindle_core::base::agent::Agent;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::telemetry::milestones::InstallationState;
use rekindle_engine::agents::install::{self, InstallEnvironment, InstallState, Installer};
use rekindle_engine::ops::gate::history;
use rekindle_engine::ops::milestones;

use super::CommandContext;
use crate::error::CliError;

/// The agents that have hooks of ours.
pub(crate) fn connected_agents(context: &CommandContext<'_>) -> Vec<Agent> {
    let machine = InstallEnvironment::from_environment();
    let before_tools = context.settings.config.recall.before_tools;
    let Ok(invocation) = install::invocation(&machine, &context.home, before_tools) else {
        return Vec::new();
    };
    let installer = Installer::new(&machine, &context.places, &invocation);
    Agent::ALL
        .into_iter()
        .filter_map(|agent| installer.status(agent).ok())
        .filter(|status| status.state != InstallState::Absent)
        .map(|status| status.agent)
        .collect()
}

/// Logs what became of the installation since the last worker (O11-17).
pub(crate) fn record(context: &CommandContext<'_>) {
    let state = InstallationState {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        agents: connected_agents(context),
        gate_passed: history::read(&context.places).iter().any(|record| record.ok),
    };
    context
        .writable_vault()
        .and_then(|vault| {
            milestones::record(&context.places, &vault, &state, &context.now).map_err(|error| match error {
                milestones::Error::Vault(error) => error.into(),
                milestones::Error::Io(error) => CliError::new(error),
            })
        })
        .ignore_failure("the next worker logs the same milestones");
}

//! Calls the installed hooks of every agent with a sample that leaves no trace.

use rekindle_core::config::Config;
use rekindle_engine::agents::install::{InstallEnvironment, Installer, invocation};
use rekindle_engine::ops::doctor::{CheckReport, check_agents};
use rekindle_engine::platform::home::{DataPaths, HomeFolder};

use crate::error::CliError;

/// Probes the hooks of each connected agent. Agents without our hooks have no report.
pub(crate) fn probe_agents(
    home: &HomeFolder,
    places: &DataPaths,
    config: &Config,
) -> Result<Vec<CheckReport>, CliError> {
    let machine = InstallEnvironment::from_environment();
    let invocation = invocation(&machine, home, config.recall.before_tools)?;
    Ok(check_agents(&Installer::new(&machine, places, &invocation)))
}

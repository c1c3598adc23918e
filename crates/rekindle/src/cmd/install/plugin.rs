//! `rekindle install --as-plugin`: writes a plugin for every agent.

use std::path::Path;

use clap::Command;
use rekindle_engine::agents::install::InstallState;
use serde_json::json;

use super::{InstallContext, skill};
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{Printer, TextStyle};

/// Writes the plugin, and explains its installation.
pub(super) fn write(
    here: &InstallContext,
    folder: &Path,
    cli: Command,
    as_json: bool,
    global: &GlobalOptions,
    out: &Printer,
) -> Result<(), CliError> {
    let folder = std::path::absolute(folder)
        .map_err(|error| CliError::usage(format!("cannot use {}: {error}", folder.display())))?;
    let text = skill::text(&here.invocation, cli);
    let written = here.installer().write_plugin(&folder, env!("CARGO_PKG_VERSION"), &text)?;
    let made = here.set_up(global)?;
    // A connected agent with the plugin would call every hook twice.
    let statuses = here.install_statuses()?;
    let twice: Vec<_> = statuses
        .iter()
        .filter(|status| status.state != InstallState::Absent)
        .map(|status| status.agent)
        .collect();
    if as_json {
        return out.json(&json!({
            "folder": written.folder, "version": env!("CARGO_PKG_VERSION"), "program": here.invocation.program,
            "home": here.home.root(), "files": written.files, "changed": written.changed,
            "removed": written.removed, "made": made, "installed": twice,
        }));
    }
    if made {
        out.line(format!("made    {}", here.home.root().display()))?;
    }
    let word = match written.changed.is_empty() && written.removed.is_empty() {
        true => out.styled(TextStyle::Dim, "there "),
        false => out.styled(TextStyle::Good, "wrote "),
    };
    out.line(format!("{word}  {}  ({} files)", folder.display(), written.files))?;
    out.note(format!(
        "It calls {} with the Rekindle home {}.",
        here.invocation.program,
        here.home.root().display()
    ));
    out.note(format!("To add it to an agent, see {}", folder.join("README.md").display()));
    for agent in twice {
        out.warn(format!(
            "{} already has Rekindle's hooks in its settings; run `rekindle uninstall {agent}` before you add the plugin",
            agent.name()
        ));
    }
    Ok(())
}

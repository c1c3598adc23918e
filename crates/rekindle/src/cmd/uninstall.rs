//! `rekindle uninstall`: disconnects coding agents.

use clap::Args;
use rekindle_core::base::agent::Agent;
use rekindle_engine::agents::install::{InstallPlan, InstallState, SettingsChange};
use serde_json::json;

use super::install::{InstallContext, change_object, confirm, deduplicate, show_change, summarise};
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{Printer, TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
Removes Rekindle's hooks and MCP server from the agents' settings, and changes no other line. Files that
`rekindle install` created are removed. Your memories and settings stay.

Examples:
  rekindle uninstall codex --dry-run
  rekindle uninstall claude --yes
  rekindle uninstall                     # every connected agent")]
pub(crate) struct UninstallArgs {
    /// claude, codex, gemini or pi; without a name, every connected agent
    #[arg(value_name = "AGENT")]
    agents: Vec<Agent>,
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
    /// Make the changes without asking
    #[arg(long, short = 'y')]
    yes: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl UninstallArgs {
    pub(crate) fn run(self, global: &GlobalOptions, out: &Printer) -> Result<(), CliError> {
        let here = InstallContext::find(global)?;
        let agents = match self.agents.is_empty() {
            true => {
                let installed = here
                    .install_statuses()?
                    .into_iter()
                    .filter(|status| status.state != InstallState::Absent);
                installed.map(|status| status.agent).collect()
            }
            false => deduplicate(&self.agents),
        };
        let installer = here.installer();
        let plans: Vec<InstallPlan> =
            agents.into_iter().map(|agent| installer.plan_uninstall(agent)).collect::<Result<_, _>>()?;
        let changes: Vec<&SettingsChange> = plans.iter().flat_map(|plan| &plan.changes).collect();
        if !self.json && !changes.is_empty() {
            summarise(&plans, "removes Rekindle's hooks and MCP server from", out)?;
        }
        if self.dry_run && !self.json {
            changes.iter().try_for_each(|change| show_change(change, out))?;
        }
        if !changes.is_empty() && !self.dry_run && !self.yes {
            let hint = "use `--yes` to skip the question, or `--dry-run` to see the changes";
            if !confirm("Make these changes?", hint, &changes, out)? {
                return Ok(());
            }
        }
        let mut done = Vec::new();
        for plan in &plans {
            if !self.dry_run {
                installer.apply(plan, false)?;
            }
            let word = match (plan.changes.is_empty(), self.dry_run) {
                (true, _) => out.styled(TextStyle::Dim, "not there "),
                (false, true) => out.styled(TextStyle::Dim, "would go  "),
                (false, false) => out.styled(TextStyle::Good, "taken out "),
            };
            if !self.json {
                out.line(format!("{word}  {}", pad_column(plan.agent.name(), 11)))?;
            }
            done.push(json!({
                "agent": plan.agent,
                "changed": !self.dry_run && !plan.changes.is_empty(),
                "changes": plan.changes.iter().map(change_object).collect::<Vec<_>>(),
            }));
        }
        if self.json {
            return out.json(&json!({"dry_run": self.dry_run, "agents": done}));
        }
        if plans.is_empty() {
            out.line("no agent is connected")?;
        }
        Ok(())
    }
}

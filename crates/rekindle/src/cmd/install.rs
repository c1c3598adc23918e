//! `rekindle install`: connects coding agents.

mod plugin;
pub(crate) mod skill;

use std::path::PathBuf;

use clap::{Args, Command};
use rekindle_core::base::agent::Agent;
use rekindle_core::hosts::install::HookInvocation;
use rekindle_core::text::redact::redact;
use rekindle_engine::agents::install::{
    InstallEnvironment, InstallPlan, InstallState, InstallStatus, Installer, SettingsChange, invocation,
};
use rekindle_engine::config;
use rekindle_engine::ops::setup;
use rekindle_engine::ops::setup::SetupChoices;
use rekindle_engine::platform::clock;
use rekindle_engine::platform::environment;
use rekindle_engine::platform::home::{DataPaths, HomeFolder};
use serde_json::{Value, json};

use crate::dialog::{self, CANCELLED_TEXT, PromptChoice};
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{Printer, TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
Adds hooks and an MCP server to the settings of Claude Code, Codex and Gemini CLI, and an extension
to pi. It changes no other line of those files, and `rekindle uninstall` removes what it added. You see
which files change before anything is written; `d` shows every line. Run it again after you move or update Rekindle.

Codex runs only hooks that you trust. You are asked whether it should; `--trust` says yes.

`--as-plugin` changes no settings. It writes a folder that Claude Code, Codex, Gemini CLI and pi load as a
plugin, with the same hooks, the MCP server and a skill. Run it again after you move or update Rekindle.

Examples:
  rekindle install --list
  rekindle install claude --dry-run
  rekindle install claude codex --trust --yes
  rekindle install --as-plugin ~/rekindle-plugin
  rekindle install                       # every agent on this machine")]
pub(crate) struct InstallArgs {
    /// claude, codex, gemini or pi; without a name, every agent on this machine
    #[arg(value_name = "AGENT")]
    agents: Vec<Agent>,
    /// List the agents on this machine, and whether they are connected
    #[arg(long, conflicts_with_all = ["agents", "dry_run", "yes", "trust"])]
    list: bool,
    /// Write a plugin for all agents into this folder instead of changing their settings
    #[arg(long, value_name = "DIR", conflicts_with_all = ["agents", "list", "dry_run", "yes", "trust"])]
    as_plugin: Option<PathBuf>,
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
    /// Make the changes without asking
    #[arg(long, short = 'y')]
    yes: bool,
    /// Tell Codex to trust Rekindle's hooks
    #[arg(long)]
    trust: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// The context of commands that change agents' settings.
pub(super) struct InstallContext {
    home: HomeFolder,
    pub(super) places: DataPaths,
    machine: InstallEnvironment,
    invocation: HookInvocation,
}

impl InstallContext {
    pub(super) fn find(global: &GlobalOptions) -> Result<Self, CliError> {
        let home = HomeFolder::find(global.home.as_deref())?;
        let settings = config::read(&home, None, &global.settings)?;
        let places = home.data_paths(&settings.config)?;
        let machine = InstallEnvironment::from_environment();
        let invocation = invocation(&machine, &home, settings.config.recall.before_tools)?;
        Ok(Self { home, places, machine, invocation })
    }

    pub(super) fn installer(&self) -> Installer<'_> {
        Installer::new(&self.machine, &self.places, &self.invocation)
    }

    /// The state of every agent.
    pub(super) fn install_statuses(&self) -> Result<Vec<InstallStatus>, CliError> {
        let installer = self.installer();
        Agent::ALL.into_iter().map(|agent| Ok(installer.status(agent)?)).collect()
    }

    /// Sets up a home with the defaults of `rekindle init`, if there is none.
    fn set_up(&self, global: &GlobalOptions) -> Result<bool, CliError> {
        if self.home.config_file().exists() && self.places.vault().exists() {
            return Ok(false);
        }
        let settings = config::read(&self.home, None, &global.settings)?;
        let now = clock::now(config::zone(&settings)?);
        let name = if settings.config.user.name.is_empty() { environment::login_name() } else { None };
        setup::init(&self.home, SetupChoices { name: name.as_deref(), ..SetupChoices::default() }, &now)?;
        Ok(true)
    }
}

impl InstallArgs {
    /// The installation that `rekindle init` offers: these agents, with every question asked.
    pub(super) fn from_offer(agents: Vec<Agent>) -> Self {
        Self { agents, list: false, as_plugin: None, dry_run: false, yes: false, trust: false, json: false }
    }

    /// Runs the installation; `cli` builds the command line, which the skill of the plugin describes.
    pub(crate) fn run(
        self,
        global: &GlobalOptions,
        out: &Printer,
        cli: fn() -> Command,
    ) -> Result<(), CliError> {
        let here = InstallContext::find(global)?;
        if self.list {
            return list(&here.install_statuses()?, self.json, out);
        }
        if let Some(folder) = &self.as_plugin {
            return plugin::write(&here, folder, cli(), self.json, global, out);
        }
        self.connect(&here, global, out).map(drop)
    }

    /// Connects the agents. Returns false if the person declined.
    pub(super) fn connect(
        self,
        here: &InstallContext,
        global: &GlobalOptions,
        out: &Printer,
    ) -> Result<bool, CliError> {
        let agents = if self.agents.is_empty() { found_agents(here)? } else { deduplicate(&self.agents) };
        let installer = here.installer();
        let plans: Vec<InstallPlan> =
            agents.into_iter().map(|agent| installer.plan_install(agent)).collect::<Result<_, _>>()?;
        let changes: Vec<&SettingsChange> = plans.iter().flat_map(|plan| &plan.changes).collect();
        if !self.json && !changes.is_empty() {
            summarise(&plans, "adds Rekindle's hooks and MCP server to", out)?;
        }
        if self.dry_run && !self.json {
            changes.iter().try_for_each(|change| show_change(change, out))?;
        }
        if !changes.is_empty() && !self.dry_run && !self.yes {
            let hint = "use `--yes` to skip the question, or `--dry-run` to see the changes";
            if !confirm("Make these changes?", hint, &changes, out)? {
                return Ok(false);
            }
        }
        // An unanswered question is not a yes, so all questions come before the first change.
        let trusted = plans.iter().map(|plan| self.trusts(plan, out)).collect::<Result<Vec<bool>, _>>()?;
        let mut done = Vec::new();
        let made = !self.dry_run && here.set_up(global)?;
        if made && !self.json {
            out.line(format!("made    {}", here.home.root().display()))?;
        }
        for (plan, trusted) in plans.iter().zip(trusted) {
            if !self.dry_run {
                installer.apply(plan, trusted)?;
            }
            let status = installer.status(plan.agent)?;
            if !self.json {
                self.report(plan, &status, out)?;
            }
            done.push(self.object(plan, trusted, &status));
        }
        if self.json {
            out.json(&json!({"dry_run": self.dry_run, "made": made, "agents": done}))?;
        } else if !self.dry_run {
            next_steps(&plans, out);
        }
        Ok(true)
    }

    /// Asks if Codex should trust our hooks. It is a separate question, because the answer asserts that a
    /// person has looked at the commands.
    fn trusts(&self, plan: &InstallPlan, out: &Printer) -> Result<bool, CliError> {
        let Some(change) = &plan.trust else { return Ok(false) };
        if self.trust || self.dry_run {
            if !self.json {
                show_change(change, out)?;
            }
            return Ok(self.trust);
        }
        if self.yes || !dialog::is_possible() {
            return Ok(false);
        }
        out.line("Codex runs a hook only if you trust this exact command, and skips it silently otherwise.")?;
        out.line("It stores the trust in its own configuration:")?;
        show_change(change, out)?;
        dialog::yes("Trust these hooks in Codex?", false)
    }

    fn report(&self, plan: &InstallPlan, status: &InstallStatus, out: &Printer) -> Result<(), CliError> {
        let word = match self.dry_run {
            true => out.styled(TextStyle::Dim, "would write  "),
            false => out.styled(TextStyle::Good, "wrote        "),
        };
        for change in &plan.changes {
            out.line(format!("{word}  {}  {}", pad_column(plan.agent.name(), 11), change.path.display()))?;
        }
        if plan.changes.is_empty() {
            let word = out.styled(TextStyle::Dim, "already there");
            out.line(format!(
                "{word}  {}  {}",
                pad_column(plan.agent.name(), 11),
                status.settings.display()
            ))?;
        }
        if let Some(obstacle) = &plan.obstacle {
            out.warn(format!("{} will not call Rekindle: {obstacle}", plan.agent.name()));
        }
        if status.plugin {
            out.warn(format!(
                "{} also has the Rekindle plugin and calls Rekindle twice; remove one of them",
                plan.agent.name()
            ));
        }
        if !status.found {
            out.note(format!(
                "{} is not on this machine; it will be connected once you install it",
                plan.agent.name()
            ));
        }
        if plan.trust.is_some() && status.trusted != Some(true) {
            out.note(
                "Codex skips these hooks until you trust them: run `rekindle install codex --trust`, or use /hooks in Codex",
            );
        }
        Ok(())
    }

    fn object(&self, plan: &InstallPlan, trusted: bool, status: &InstallStatus) -> Value {
        let trust = plan.trust.as_ref().map(|change| {
            let mut object = change_object(change);
            object["written"] = json!(trusted && !self.dry_run);
            object
        });
        json!({
            "agent": plan.agent,
            "changed": !self.dry_run && !plan.changes.is_empty(),
            "changes": plan.changes.iter().map(change_object).collect::<Vec<_>>(),
            "trust": trust,
            "obstacle": plan.obstacle,
            "status": status,
        })
    }
}

/// The agents on this machine.
fn found_agents(here: &InstallContext) -> Result<Vec<Agent>, CliError> {
    let found: Vec<Agent> =
        here.install_statuses()?.iter().filter(|status| status.found).map(|status| status.agent).collect();
    if found.is_empty() {
        return Err(CliError::usage("no coding agent found on this machine")
            .hint("name the agents you will use, such as `rekindle install claude`; `rekindle install --list` shows where Rekindle looks"));
    }
    Ok(found)
}

pub(super) fn deduplicate(agents: &[Agent]) -> Vec<Agent> {
    Agent::ALL.into_iter().filter(|agent| agents.contains(agent)).collect()
}

/// Prints one line per agent with the planned change, and the affected files.
pub(super) fn summarise(plans: &[InstallPlan], does: &str, out: &Printer) -> Result<(), CliError> {
    for plan in plans.iter().filter(|plan| !plan.changes.is_empty()) {
        out.line(format!("{}  {does}", pad_column(plan.agent.name(), 11)))?;
        for change in &plan.changes {
            out.line(format!("{}  {}", " ".repeat(13), change.path.display()))?;
        }
    }
    out.line("")
}

/// The next steps after the agents are connected.
fn next_steps(plans: &[InstallPlan], out: &Printer) {
    let names: Vec<&str> = plans.iter().map(|plan| plan.agent.name()).collect();
    out.note(format!(
        "\nNext: start a new session in {}. Then `rekindle status` shows what was learnt, and `rekindle doctor` checks the connection.",
        names.join(" or ")
    ));
}

/// Asks for confirmation at a terminal; `d` shows the changes and asks again. Returns false if the person
/// declines.
pub(super) fn confirm(
    question: &str,
    hint: &str,
    changes: &[&SettingsChange],
    out: &Printer,
) -> Result<bool, CliError> {
    if !dialog::is_possible() {
        return Err(CliError::usage("confirmation needs a terminal; no files changed").hint(hint));
    }
    loop {
        match dialog::choice(question, true, Some(('d', "shows the diff")))? {
            PromptChoice::Yes => return Ok(true),
            PromptChoice::No => {
                out.note(CANCELLED_TEXT);
                return Ok(false);
            }
            PromptChoice::Other => changes.iter().try_for_each(|change| show_change(change, out))?,
        }
    }
}

pub(super) fn change_object(change: &SettingsChange) -> Value {
    json!({"path": change.path, "diff": redact(&change.diff()).text})
}

/// Prints a change as `diff -u` does, with secrets redacted.
pub(super) fn show_change(change: &SettingsChange, out: &Printer) -> Result<(), CliError> {
    let diff = change.diff();
    for line in redact(&diff).text.lines() {
        let style = match line.chars().next() {
            Some('+') => Some(TextStyle::Good),
            Some('-') => Some(TextStyle::Bad),
            Some('@') => Some(TextStyle::Dim),
            _ => None,
        };
        out.line(style.map_or_else(|| line.to_owned(), |style| out.styled(style, line)))?;
    }
    out.line("")
}

fn list(all: &[InstallStatus], json: bool, out: &Printer) -> Result<(), CliError> {
    if json {
        return out.json(&json!({"agents": all}));
    }
    for status in all {
        let here = match (status.found, &status.version) {
            (true, Some(version)) => version.clone(),
            (true, None) => "found".to_owned(),
            (false, _) => "not found".to_owned(),
        };
        let (style, word) = match status.state {
            _ if status.problem.is_some() => (TextStyle::Bad, "unreadable"),
            InstallState::Absent => (TextStyle::Dim, "not installed"),
            InstallState::Current => (TextStyle::Good, "installed"),
            InstallState::Outdated => (TextStyle::Warn, "outdated"),
            InstallState::ForeignHome => (TextStyle::Warn, "other home"),
        };
        let word = out.styled(style, pad_column(word, 13));
        let file = status.settings.display();
        out.line(format!(
            "{}  {}  {word}  {file}",
            pad_column(status.agent.name(), 11),
            pad_column(&here, 10)
        ))?;
        let more = |text: &str| out.line(format!("{}{}", " ".repeat(13), out.styled(TextStyle::Dim, text)));
        if let Some(problem) = &status.problem {
            more(problem)?;
        }
        match status.state {
            InstallState::Outdated => {
                more(&format!("update it with `rekindle install {}`", status.agent))?;
            }
            InstallState::ForeignHome => {
                let home = status.home.as_deref().unwrap_or("~/.rekindle");
                more(&format!(
                    "uses the Rekindle home {home}; to use this one, run `rekindle install {}`",
                    status.agent
                ))?;
            }
            _ => {}
        }
        match (status.plugin, status.state) {
            (true, InstallState::Absent) => more("calls Rekindle through the plugin")?,
            (true, _) => more(
                "calls Rekindle twice: through these settings and through the plugin; remove one of them",
            )?,
            (false, _) => {}
        }
        if status.trusted == Some(false) {
            more("not trusted, so Codex skips it; trust it with `rekindle install codex --trust`")?;
        }
        if let Some(obstacle) = status.obstacle.as_ref().filter(|_| status.state != InstallState::Absent) {
            more(obstacle)?;
        }
    }
    Ok(())
}

/// The agents that `rekindle init` could offer.
pub(super) fn offered_agents(global: &GlobalOptions) -> Vec<Agent> {
    // `init` must not fail when the agents' folders cannot be found.
    let statuses = InstallContext::find(global).and_then(|here| here.install_statuses()).unwrap_or_default();
    let wanted = |status: &&InstallStatus| {
        status.found && status.state != InstallState::Current && status.problem.is_none()
    };
    statuses.iter().filter(wanted).map(|status| status.agent).collect()
}

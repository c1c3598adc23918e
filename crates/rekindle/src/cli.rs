//! The command line: its subcommands and the dispatch to them.
//!
//! Each command's own arguments are in its file.

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

use crate::app::CommandContext;
use crate::cmd::help;
use crate::error::CliError;
use crate::hook::HookArgs;
use crate::mcp::McpArgs;
use crate::options::GlobalOptions;
use crate::output::Printer;
use crate::web::WebArgs;
use crate::{cmd, tui};

/// Permanent memory for coding agents: your agents never start cold.
#[derive(Parser)]
#[command(name = "rekindle", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,
}

impl Cli {
    /// Parses the arguments of this process. A request for help is an error that prints the help.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let arguments: Vec<OsString> = std::env::args_os().collect();
        match Self::try_parse_from(&arguments) {
            Ok(Self { command: Some(CliCommand::Help(help)), .. }) => Err(help.render(Self::command())),
            Err(error) if help::is_help(&error) => {
                Err(help::requested(Self::command(), &arguments).unwrap_or(error))
            }
            other => other,
        }
    }
}

// The arguments of a command are built when it is called, because most calls come from hooks.
#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum CliCommand {
    /// Set up the settings, the vault and the state folder
    Init(cmd::InitArgs),
    /// Connect Rekindle to your coding agents
    Install(cmd::InstallArgs),
    /// Disconnect Rekindle from your coding agents
    Uninstall(cmd::UninstallArgs),
    /// Save a memory
    #[command(visible_alias = "remember")]
    Save(cmd::SaveArgs),
    /// Give a memory a new version and archive the old one
    Evolve(cmd::EvolveArgs),
    /// Search your memories
    #[command(visible_aliases = ["search", "find"])]
    Recall(cmd::RecallArgs),
    /// Answer a question from your notes and sessions, with citations
    Ask(cmd::AskArgs),
    /// Show the note of a memory
    Show(cmd::ShowArgs),
    /// List your memories
    List(cmd::ListArgs),
    /// Delete a memory and every copy of its text, for good
    #[command(visible_alias = "rm")]
    Forget(cmd::ForgetArgs),
    /// Undo a change
    Undo(cmd::UndoArgs),
    /// List changes, newest first
    Log(cmd::LogArgs),
    /// Show what was recalled, and why
    Inspect(cmd::InspectArgs),
    /// Say whether a memory helped
    Feedback(cmd::FeedbackArgs),
    /// Add one observation to today's log
    Note(cmd::NoteArgs),
    /// Learn from one session now
    Reflect(cmd::ReflectArgs),
    /// Find recurring problems, and propose fixes
    Friction(cmd::FrictionArgs),
    /// Decide about memories that were seen only once
    Inbox(cmd::InboxArgs),
    /// Review proposals, the most valuable first
    Review(cmd::ReviewArgs),
    /// Approve proposals
    Approve(cmd::ApproveArgs),
    /// Reject proposals; they won't come up again
    Reject(cmd::RejectArgs),
    /// Edit a memory or a proposal in your editor
    Edit(cmd::EditArgs),
    /// Show MEMORY.md, or add a line to it
    Memory(cmd::MemoryArgs),
    /// Show the log of a day, or add a note to today's
    Daily(cmd::DailyArgs),
    /// List your ideas, add one, or decide about them
    Ideas(cmd::IdeasArgs),
    /// Log a change to your infrastructure, or list them
    Slog(cmd::SystemLogArgs),
    /// Check that every agent reads the same identity files
    Identity(cmd::IdentityArgs),
    /// Show which project this folder belongs to
    Project(cmd::ProjectArgs),
    /// Show agents, sessions, memories and the index at a glance
    Status(cmd::StatusArgs),
    /// Check that sessions are learnt from, hooks fire and nothing waits too long
    Health(cmd::HealthArgs),
    /// Prove that memory works, from the agents' hooks to the next session
    Gate(cmd::GateArgs),
    /// Send a fact through the hooks and back
    E2e(cmd::E2eArgs),
    /// Check that the weekly job is scheduled, ran and runs
    Weekly(cmd::WeeklyArgs),
    /// Write a home note and a note for each project, for Obsidian and other note apps
    Obsidian(cmd::ObsidianArgs),
    /// Show what a week brought: learnt, used, said again, waiting, cost
    Week(cmd::WeekArgs),
    /// Check that everything works, and explain how to fix problems
    Doctor(cmd::DoctorArgs),
    /// Show or change settings
    Config(cmd::ConfigArgs),
    /// Print a text without secrets and invisible characters
    Redact(cmd::RedactArgs),
    /// Learn from the sessions you had before Rekindle
    Backfill(cmd::BackfillArgs),
    /// Write notes, settings and state into one file
    Backup(cmd::BackupArgs),
    /// Restore a backup
    Restore(cmd::RestoreArgs),
    /// Bring the index up to date with your notes
    Reindex(cmd::ReindexArgs),
    /// Manage the embedding models
    Model(cmd::ModelArgs),
    /// Measure how well recall finds your own memories
    Eval(cmd::EvalArgs),
    /// Process finished sessions now
    Worker(cmd::WorkerArgs),
    /// List background runs, newest first
    Runs(cmd::RunsArgs),
    /// Show one background run: its trigger, its steps and its result
    Run(cmd::RunArgs),
    /// Retry failed runs
    Retry(cmd::RetryArgs),
    /// Show what the stages did, and what failed
    Otel(cmd::OtelArgs),
    /// Share observations and decisions between your machines
    Engines(cmd::EnginesArgs),
    /// Show what language models used today, and their limits
    Cost(cmd::CostArgs),
    /// Choose or test a language model
    Llm(cmd::LlmArgs),
    /// Send an event
    Send(cmd::SendArgs),
    /// Open a page in your browser to see, search and review your memories
    Web(WebArgs),
    /// Serve memory to an agent over MCP, on standard input and output
    Mcp(McpArgs),
    /// Handle an agent's hook; `rekindle install` sets it up
    Hook(HookArgs),
    /// Measure recall on a data set of your own
    Bench(cmd::BenchArgs),
    /// Print shell completions
    Completions(cmd::CompletionsArgs),
    /// Explain a command, or list all of them
    Help(cmd::Help),
}

/// Runs the requested command.
pub(crate) fn run(cli: Cli, out: &Printer) -> Result<(), CliError> {
    // These commands work without a vault and with broken settings.
    let Some(command) = cli.command else { return cmd::home(&cli.global, out) };
    let command = match command {
        CliCommand::Init(init) => return init.run(&cli.global, out),
        CliCommand::Completions(completions) => return completions.run(Cli::command(), out),
        CliCommand::Redact(redact) => return redact.run(out),
        CliCommand::Bench(bench) => return bench.run(out),
        CliCommand::Recall(recall) => return recall.run(&cli.global, out),
        CliCommand::Model(model) => return model.run(&cli.global, out),
        CliCommand::Config(config) => return config.run(&cli.global, out),
        CliCommand::Doctor(doctor) => return doctor.run(&cli.global, out),
        CliCommand::Install(install) => return install.run(&cli.global, out, Cli::command),
        CliCommand::Uninstall(uninstall) => return uninstall.run(&cli.global, out),
        CliCommand::Mcp(mcp) => return mcp.run(&cli.global),
        CliCommand::Web(web) => return web.run(&cli.global, out),
        CliCommand::Status(status) if status.is_line() => return status.line(&cli.global, out),
        CliCommand::Hook(hook) => {
            hook.run(&cli.global);
            return Ok(());
        }
        command => command,
    };
    let context = CommandContext::new(&cli.global, out)?;
    let done = run_in(&context, command);
    context.index_changes(done.is_ok());
    done
}

fn run_in(context: &CommandContext<'_>, command: CliCommand) -> Result<(), CliError> {
    match command {
        CliCommand::Save(save) => save.run(context),
        CliCommand::Evolve(evolve) => evolve.run(context),
        CliCommand::Show(show) => show.run(context),
        CliCommand::List(list) => list.run(context),
        CliCommand::Forget(forget) => forget.run(context),
        CliCommand::Undo(undo) => undo.run(context),
        CliCommand::Log(log) => log.run(context),
        CliCommand::Review(review) => review.run(context, tui::review),
        CliCommand::Approve(approve) => approve.run(context),
        CliCommand::Reject(reject) => reject.run(context),
        CliCommand::Edit(edit) => edit.run(context),
        CliCommand::Memory(memory) => memory.run(context),
        CliCommand::Slog(slog) => slog.run(context),
        CliCommand::Ideas(ideas) => ideas.run(context),
        CliCommand::Inbox(inbox) => inbox.run(context),
        CliCommand::Daily(daily) => daily.run(context),
        CliCommand::Identity(identity) => identity.run(context),
        CliCommand::Project(project) => project.run(context),
        CliCommand::Status(status) => status.run(context),
        CliCommand::Inspect(inspect) => inspect.run(context),
        CliCommand::Feedback(feedback) => feedback.run(context),
        CliCommand::Reindex(reindex) => reindex.run(context),
        CliCommand::Backfill(backfill) => backfill.run(context),
        CliCommand::Backup(backup) => backup.run(context),
        CliCommand::Restore(restore) => restore.run(context),
        CliCommand::Eval(eval) => eval.run(context),
        CliCommand::Cost(cost) => cost.run(context),
        CliCommand::Ask(ask) => ask.run(context),
        CliCommand::Llm(llm) => llm.run(context),
        CliCommand::Note(note) => note.run(context),
        CliCommand::Health(health) => health.run(context),
        CliCommand::Gate(gate) => gate.run(context),
        CliCommand::E2e(e2e) => e2e.run(context),
        CliCommand::Weekly(weekly) => weekly.run(context),
        CliCommand::Week(week) => week.run(context),
        CliCommand::Obsidian(obsidian) => obsidian.run(context),
        CliCommand::Otel(otel) => otel.run(context),
        CliCommand::Engines(engines) => engines.run(context),
        CliCommand::Reflect(reflect) => reflect.run(context),
        CliCommand::Friction(friction) => friction.run(context),
        CliCommand::Retry(retry) => retry.run(context),
        CliCommand::Run(run) => run.run(context),
        CliCommand::Runs(runs) => runs.run(context),
        CliCommand::Send(send) => send.run(context),
        CliCommand::Worker(worker) => worker.run(context),
        CliCommand::Init(_)
        | CliCommand::Help(_)
        | CliCommand::Completions(_)
        | CliCommand::Redact(_)
        | CliCommand::Model(_)
        | CliCommand::Bench(_)
        | CliCommand::Recall(_)
        | CliCommand::Config(_)
        | CliCommand::Hook(_)
        | CliCommand::Mcp(_)
        | CliCommand::Web(_)
        | CliCommand::Install(_)
        | CliCommand::Uninstall(_)
        | CliCommand::Doctor(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use rekindle_core::hosts::install::HookInvocation;
    use rekindle_core::hosts::install::command::split;

    use super::*;
    use crate::cmd::skill::{SKILL_COMMANDS, text};

    fn skill() -> String {
        let invocation = HookInvocation {
            program: "/opt/my tools/rekindle".into(),
            home: Some("/a b".into()),
            before_tools: false,
        };
        text(&invocation, Cli::command())
    }

    #[test]
    fn every_command_line_of_the_skill_is_one() {
        let (text, mut count) = (skill(), 0);
        let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
        for line in blocks.flat_map(str::lines) {
            let words = split(line);
            assert_eq!(words[..3], ["/opt/my tools/rekindle", "--home", "/a b"], "{line}");
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{line}: {error}");
            }
            count += 1;
        }
        assert!(count >= SKILL_COMMANDS.len(), "every verb has an example: {text}");
    }

    #[test]
    fn every_verb_says_what_the_command_says_of_itself() {
        let text = skill();
        let mut cli = Cli::command();
        cli.build();
        for (verb, _) in SKILL_COMMANDS {
            let command = cli.find_subcommand_mut(verb).unwrap_or_else(|| panic!("there is no `{verb}`"));
            let section =
                text.split(&format!("\n## {verb}\n")).nth(1).unwrap().split("\n## ").next().unwrap();
            assert!(section.contains(&command.get_about().unwrap().to_string()), "{section}");
            let usage = command.render_usage().to_string();
            assert!(section.contains(usage.trim_start_matches("Usage:").trim()), "{section}");
        }
    }

    #[test]
    fn r_19_the_skill_says_that_a_save_of_an_agent_is_not_the_users_word() {
        let text = skill();
        assert!(text.contains("What you save counts as your word, not the user's"), "{text}");
        let theirs =
            "Approving proposals, keeping what is in the inbox and writing to MEMORY.md is the user's";
        assert!(text.contains(theirs), "{text}");
    }

    #[test]
    fn the_skill_is_what_agents_take() {
        let text = skill();
        let front = text.strip_prefix("---\n").unwrap().split("\n---\n").next().unwrap();
        let lines: Vec<&str> = front.lines().collect();
        assert_eq!(lines[0], "name: memory");
        assert_eq!(lines.len(), 2, "what not every agent knows is left out");
        assert!(lines[1].starts_with("description: \"") && lines[1].len() < 1024);
        assert!(text.len() < 6_000, "an agent reads all of it: {}", text.len());
    }
}

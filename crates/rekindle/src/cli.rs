//! The command line: its subcommands and the dispatch to them.
//!
//! Each command's own arguments are in its file.

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

use crate::app::Context;
use crate::cmd::help;
use crate::error::Failure;
use crate::hook::Hook;
use crate::mcp::Mcp;
use crate::options::GlobalOptions;
use crate::output::Printer;
use crate::{cmd, tui};

/// Permanent memory for coding agents: your agents never start cold.
#[derive(Parser)]
#[command(name = "rekindle", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Cli {
    /// Parses the arguments of this process. A request for help is an error that prints the help.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let arguments: Vec<OsString> = std::env::args_os().collect();
        match Self::try_parse_from(&arguments) {
            Ok(Self { command: Some(Command::Help(help)), .. }) => Err(help.render(Self::command())),
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
pub(crate) enum Command {
    /// Set up the settings, the vault and the state folder
    Init(cmd::Init),
    /// Connect Rekindle to your coding agents
    Install(cmd::Install),
    /// Disconnect Rekindle from your coding agents
    Uninstall(cmd::Uninstall),
    /// Save a memory
    #[command(visible_alias = "remember")]
    Save(cmd::Save),
    /// Give a memory a new version and archive the old one
    Evolve(cmd::Evolve),
    /// Search your memories
    #[command(visible_aliases = ["search", "find"])]
    Recall(cmd::Recall),
    /// Answer a question from your notes and sessions, with citations
    Ask(cmd::Ask),
    /// Show the note of a memory
    Show(cmd::Show),
    /// List your memories
    List(cmd::List),
    /// Delete a memory and every copy of its text, for good
    #[command(visible_alias = "rm")]
    Forget(cmd::Forget),
    /// Undo a change
    Undo(cmd::Undo),
    /// List changes, newest first
    Log(cmd::Log),
    /// Show what was recalled, and why
    Inspect(cmd::Inspect),
    /// Say whether a memory helped
    Feedback(cmd::Feedback),
    /// Add one observation to today's log
    Note(cmd::Note),
    /// Learn from one session now
    Reflect(cmd::Reflect),
    /// Look for problems that recur, and propose fixes
    Friction(cmd::Friction),
    /// Decide about memories that were seen only once
    Inbox(cmd::Inbox),
    /// Review proposals, the most valuable first
    Review(cmd::Review),
    /// Approve proposals
    Approve(cmd::Approve),
    /// Reject proposals; they won't come up again
    Reject(cmd::Reject),
    /// Edit a memory, or the words of a proposal, in your editor
    Edit(cmd::Edit),
    /// Show MEMORY.md, or add a line to it
    Memory(cmd::Memory),
    /// Show the log of a day, or add a note to today's
    Daily(cmd::Daily),
    /// List your ideas, add one, or decide about them
    Ideas(cmd::Ideas),
    /// Log a change to your infrastructure, or list them
    Slog(cmd::Slog),
    /// Check that every agent reads the same identity files
    Identity(cmd::Identity),
    /// Show which project this folder belongs to
    Project(cmd::Project),
    /// Show agents, sessions, memories and the index at a glance
    Status(cmd::Status),
    /// Check that everything works, and say how to fix what does not
    Doctor(cmd::Doctor),
    /// Show or change settings
    Config(cmd::Config),
    /// Show a text without secrets and invisible characters
    Redact(cmd::Redact),
    /// Learn from the sessions you had before Rekindle
    Backfill(cmd::Backfill),
    /// Bring the index up to date with your notes
    Reindex(cmd::Reindex),
    /// Manage the embedding models
    Model(cmd::Model),
    /// Measure how well recall finds your own memories
    Eval(cmd::Eval),
    /// Process finished sessions now
    Worker(cmd::Worker),
    /// List background runs, newest first
    Runs(cmd::Runs),
    /// Show one background run: its trigger, its steps and its result
    Run(cmd::Run),
    /// Retry failed runs
    Retry(cmd::Retry),
    /// Show what language models used today, and their limits
    Cost(cmd::Cost),
    /// Choose or test a language model
    Llm(cmd::Llm),
    /// Send an event
    Send(cmd::Send),
    /// Serve memory to an agent over MCP, on standard input and output
    Mcp(Mcp),
    /// Handle an agent's hook; `rekindle install` sets it up
    Hook(Hook),
    /// Measure recall on a data set of your own
    Bench(cmd::Bench),
    /// Print shell completions
    Completions(cmd::Completions),
    /// Explain a command, or list all of them
    Help(cmd::Help),
}

/// Runs the requested command.
pub(crate) fn run(cli: Cli, out: &Printer) -> Result<(), Failure> {
    // These commands work without a vault and with broken settings.
    let Some(command) = cli.command else { return cmd::home(&cli.global, out) };
    let command = match command {
        Command::Init(init) => return init.run(&cli.global, out),
        Command::Completions(completions) => return completions.run(Cli::command(), out),
        Command::Redact(redact) => return redact.run(out),
        Command::Bench(bench) => return bench.run(out),
        Command::Recall(recall) => return recall.run(&cli.global, out),
        Command::Model(model) => return model.run(&cli.global, out),
        Command::Config(config) => return config.run(&cli.global, out),
        Command::Doctor(doctor) => return doctor.run(&cli.global, out),
        Command::Install(install) => return install.run(&cli.global, out, Cli::command),
        Command::Uninstall(uninstall) => return uninstall.run(&cli.global, out),
        Command::Mcp(mcp) => return mcp.run(&cli.global),
        Command::Status(status) if status.is_line() => return status.line(&cli.global, out),
        Command::Hook(hook) => {
            hook.run(&cli.global);
            return Ok(());
        }
        command => command,
    };
    let context = Context::new(&cli.global, out)?;
    let done = run_in(&context, command);
    context.settle(done.is_ok());
    done
}

fn run_in(context: &Context<'_>, command: Command) -> Result<(), Failure> {
    match command {
        Command::Save(save) => save.run(context),
        Command::Evolve(evolve) => evolve.run(context),
        Command::Show(show) => show.run(context),
        Command::List(list) => list.run(context),
        Command::Forget(forget) => forget.run(context),
        Command::Undo(undo) => undo.run(context),
        Command::Log(log) => log.run(context),
        Command::Review(review) => review.run(context, tui::review),
        Command::Approve(approve) => approve.run(context),
        Command::Reject(reject) => reject.run(context),
        Command::Edit(edit) => edit.run(context),
        Command::Memory(memory) => memory.run(context),
        Command::Slog(slog) => slog.run(context),
        Command::Ideas(ideas) => ideas.run(context),
        Command::Inbox(inbox) => inbox.run(context),
        Command::Daily(daily) => daily.run(context),
        Command::Identity(identity) => identity.run(context),
        Command::Project(project) => project.run(context),
        Command::Status(status) => status.run(context),
        Command::Inspect(inspect) => inspect.run(context),
        Command::Feedback(feedback) => feedback.run(context),
        Command::Reindex(reindex) => reindex.run(context),
        Command::Backfill(backfill) => backfill.run(context),
        Command::Eval(eval) => eval.run(context),
        Command::Cost(cost) => cost.run(context),
        Command::Ask(ask) => ask.run(context),
        Command::Llm(llm) => llm.run(context),
        Command::Note(note) => note.run(context),
        Command::Reflect(reflect) => reflect.run(context),
        Command::Friction(friction) => friction.run(context),
        Command::Retry(retry) => retry.run(context),
        Command::Run(run) => run.run(context),
        Command::Runs(runs) => runs.run(context),
        Command::Send(send) => send.run(context),
        Command::Worker(worker) => worker.run(context),
        Command::Init(_)
        | Command::Help(_)
        | Command::Completions(_)
        | Command::Redact(_)
        | Command::Model(_)
        | Command::Bench(_)
        | Command::Recall(_)
        | Command::Config(_)
        | Command::Hook(_)
        | Command::Mcp(_)
        | Command::Install(_)
        | Command::Uninstall(_)
        | Command::Doctor(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use rekindle_core::hosts::install::Invocation;
    use rekindle_core::hosts::install::command::split;

    use super::*;
    use crate::cmd::skill::{VERBS, text};

    fn skill() -> String {
        let invocation = Invocation {
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
        assert!(count >= VERBS.len(), "every verb has an example: {text}");
    }

    #[test]
    fn every_verb_says_what_the_command_says_of_itself() {
        let text = skill();
        let mut cli = Cli::command();
        cli.build();
        for (verb, _) in VERBS {
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

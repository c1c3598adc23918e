//! The command line as a whole. Each command's own arguments are in its file.

use clap::{CommandFactory, Parser, Subcommand};

use crate::app::Context;
use crate::error::Failure;
use crate::hook::Hook;
use crate::mcp::Mcp;
use crate::options::GlobalOptions;
use crate::output::Printer;
use crate::{cmd, tui};

/// Permanent memory for coding agents: your agents never start cold.
#[derive(Parser)]
#[command(name = "rekindle", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Start with `rekindle init`. Every command explains itself with `--help`.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

// The arguments of a command are put together when it is called, not before: most calls are a hook's.
#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Set up the settings, the vault and the state folder
    Init(cmd::Init),
    /// Let your coding agents call Rekindle
    Install(cmd::Install),
    /// Let your coding agents stop calling Rekindle
    Uninstall(cmd::Uninstall),
    /// Save a memory
    Save(cmd::Save),
    /// Give a memory a new version; the old one goes to the archive
    Evolve(cmd::Evolve),
    /// Find the memories that a prompt needs
    Recall(cmd::Recall),
    /// Ask what your notes and sessions say about something
    Ask(cmd::Ask),
    /// Show a memory as it stands in its file
    Show(cmd::Show),
    /// List the memories
    List(cmd::List),
    /// Remove a memory and its text everywhere, for good
    Forget(cmd::Forget),
    /// Take a change back
    Undo(cmd::Undo),
    /// Show what was changed, the newest first
    Log(cmd::Log),
    /// Show what was recalled, and why
    Inspect(cmd::Inspect),
    /// Say whether a memory helped
    Feedback(cmd::Feedback),
    /// Note one thing, for the log of the day and for recall
    Note(cmd::Note),
    /// Learn from one session now
    Reflect(cmd::Reflect),
    /// Look for what keeps going wrong, and propose what would mend it
    Friction(cmd::Friction),
    /// Look through what was captured and nobody has looked at yet
    Inbox(cmd::Inbox),
    /// Look through what waits for your decision, the most valuable first
    Review(cmd::Review),
    /// Say yes to proposals: they go to MEMORY.md
    Approve(cmd::Approve),
    /// Say no to proposals: nobody asks about them again
    Reject(cmd::Reject),
    /// Say yes to a proposal in your own words
    Edit(cmd::Edit),
    /// Show MEMORY.md, or add a line to it
    Memory(cmd::Memory),
    /// Show the log of a day, or note something in today's
    Daily(cmd::Daily),
    /// List your ideas, write one down, make one a project, and decide about old ones
    Ideas(cmd::Ideas),
    /// Write down a change to your infrastructure, or list them
    Slog(cmd::Slog),
    /// Check that every agent reads the same identity files
    Identity(cmd::Identity),
    /// Show which project this folder belongs to
    Project(cmd::Project),
    /// Show in a few lines where things are and what is in them
    Status(cmd::Status),
    /// Check that everything is in order, and say what to do where it is not
    Doctor(cmd::Doctor),
    /// Show or change the settings
    Config(cmd::Config),
    /// Show what a text looks like once secrets and invisible characters are out
    Redact(cmd::Redact),
    /// Bring in what was said in the sessions you had before
    Backfill(cmd::Backfill),
    /// Bring the index up to date with your notes
    Reindex(cmd::Reindex),
    /// Show, choose, add or remove the models that compare texts by meaning
    Model(cmd::Model),
    /// Measure how well recall finds your own memories
    Eval(cmd::Eval),
    /// Do what hooks left to be done
    Worker(cmd::Worker),
    /// Show what ran, the newest first
    Runs(cmd::Runs),
    /// Show one run: what started it, each step, what came of it
    Run(cmd::Run),
    /// Revive runs that were given up
    Retry(cmd::Retry),
    /// Show what language models used, and what they may use in a day
    Cost(cmd::Cost),
    /// Show, choose or test the language model that may look at your sessions
    Llm(cmd::Llm),
    /// Send an event
    Send(cmd::Send),
    /// Serve memory to an agent as MCP tools, over standard input and output
    Mcp(Mcp),
    /// What an agent's hook runs; `rekindle install` puts it there
    Hook(Hook),
    /// Measure recall on conversations of your own
    Bench(cmd::Bench),
    /// Print shell completions
    Completions(cmd::Completions),
}

/// Runs what was asked for.
pub(crate) fn run(cli: Cli, out: &Printer) -> Result<(), Failure> {
    // These work anywhere, also where nothing is set up or the settings are broken.
    let command = match cli.command {
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

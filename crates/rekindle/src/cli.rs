//! The command line as a whole. Each command's own arguments are in its file.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::cmd;
use crate::output::Color;

/// Permanent memory for coding agents: your agents never start cold.
#[derive(Parser)]
#[command(name = "rekindle", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Start with `rekindle init`. Every command explains itself with `--help`.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Args, Clone)]
pub(crate) struct Global {
    /// Keep everything under this folder instead of ~/.rekindle (also: REKINDLE_HOME)
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) home: Option<PathBuf>,
    /// Set a configuration key for this command only
    #[arg(short = 'c', long = "config", global = true, value_name = "KEY=VALUE", value_parser = setting)]
    #[arg(help_heading = "Global options")]
    pub(crate) settings: Vec<(String, String)>,
    /// When to use colour
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        hide_possible_values = true,
        value_name = "WHEN"
    )]
    #[arg(help_heading = "Global options")]
    pub(crate) color: Color,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.to_owned()))
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
    Mcp(cmd::Mcp),
    /// What an agent's hook runs; `rekindle install` puts it there
    Hook(cmd::Hook),
    /// Measure recall on conversations of your own
    Bench(cmd::Bench),
    /// Print shell completions
    Completions(cmd::Completions),
}

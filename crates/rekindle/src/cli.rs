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

#[derive(Subcommand)]
pub(crate) enum Command {
    Init(cmd::Init),
    Install(cmd::Install),
    Uninstall(cmd::Uninstall),
    Save(cmd::Save),
    Evolve(cmd::Evolve),
    Recall(cmd::Recall),
    Ask(cmd::Ask),
    Show(cmd::Show),
    List(cmd::List),
    Forget(cmd::Forget),
    Undo(cmd::Undo),
    Log(cmd::Log),
    Inspect(cmd::Inspect),
    Feedback(cmd::Feedback),
    Note(cmd::Note),
    Reflect(cmd::Reflect),
    Friction(cmd::Friction),
    Inbox(cmd::Inbox),
    Review(cmd::Review),
    Approve(cmd::Approve),
    Reject(cmd::Reject),
    Edit(cmd::Edit),
    Memory(cmd::Memory),
    Daily(cmd::Daily),
    Ideas(cmd::Ideas),
    Slog(cmd::Slog),
    Identity(cmd::Identity),
    Project(cmd::Project),
    Status(cmd::Status),
    Doctor(cmd::Doctor),
    Config(cmd::Config),
    Redact(cmd::Redact),
    Backfill(cmd::Backfill),
    Reindex(cmd::Reindex),
    Model(cmd::Model),
    Eval(cmd::Eval),
    Worker(cmd::Worker),
    Runs(cmd::Runs),
    Run(cmd::Run),
    Retry(cmd::Retry),
    Cost(cmd::Cost),
    Llm(cmd::Llm),
    Send(cmd::Send),
    Mcp(cmd::Mcp),
    Hook(cmd::Hook),
    Bench(cmd::Bench),
    Completions(cmd::Completions),
}

//! `rekindle`: parses the command line, calls the engine and renders the result. It decides nothing.
//!
//! A module depends only on modules above it in this list:
//!
//! - [`error`], [`output`], [`options`], [`dialog`]: what every module below uses
//! - [`app`]: use cases
//! - [`tui`], [`mcp`], [`web`], [`hook`], [`cmd`]: the five ways in, independent of each other
//! - [`cli`]: the command line

mod app;
mod cli;
mod cmd;
mod dialog;
mod error;
mod hook;
mod mcp;
mod options;
mod output;
mod tui;
mod web;

use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match cli::Cli::read() {
        Ok(cli) => cli,
        // For an agent, exit code 2 blocks the person's prompt. A wrong hook call must not do that.
        Err(error) if error.use_stderr() && is_hook() => return ExitCode::SUCCESS,
        Err(error) => error.exit(),
    };
    let printer = output::Printer::new(cli.global.color);
    match cli::run(cli, &printer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => printer.print_failure(&failure),
    }
}

/// True for a hook call.
fn is_hook() -> bool {
    std::env::args_os().skip(1).any(|argument| argument == "hook")
}

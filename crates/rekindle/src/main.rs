//! `rekindle`: parse, call the engine, render. Nothing is decided here.

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

use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match cli::Cli::read() {
        Ok(cli) => cli,
        // An agent takes 2 for "stop the person's prompt". Nothing that is wrong here may do that.
        Err(error) if error.use_stderr() && is_hook() => return ExitCode::SUCCESS,
        Err(error) => error.exit(),
    };
    let printer = output::Printer::new(cli.global.color);
    match cli::run(cli, &printer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => printer.failure(&failure),
    }
}

/// True if an agent called us.
fn is_hook() -> bool {
    std::env::args_os().skip(1).any(|argument| argument == "hook")
}

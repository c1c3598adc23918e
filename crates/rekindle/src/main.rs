//! `rekindle`: parse, call the engine, render. Nothing is decided here.

mod cli;
mod cmd;
mod compose;
mod error;
mod output;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let printer = output::Printer::new(cli.global.color);
    match cmd::run(cli, &printer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => printer.failure(&failure),
    }
}

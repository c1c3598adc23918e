//! The text behind the options in `--help`. It is written in lines of the source's width; a terminal has its own. clap wraps
//! each line by itself, so that a paragraph would be wrapped twice: the lines of a paragraph are joined first.

use clap::error::ErrorKind;
use clap::{Command, CommandFactory};

use crate::cli::Cli;

/// The same help with every paragraph wrapped once; any other error as it is. Only whoever asked for help waits for it.
pub(crate) fn rewrapped(error: clap::Error) -> clap::Error {
    let is_help =
        matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    if !is_help {
        return error;
    }
    let mut command = Cli::command();
    // Builds what is deferred.
    command.build();
    unwrap_paragraphs(command).try_get_matches_from(std::env::args_os()).err().unwrap_or(error)
}

fn unwrap_paragraphs(command: Command) -> Command {
    let command = match command.get_after_help().map(ToString::to_string) {
        Some(text) => command.after_help(unwrapped(&text)),
        None => command,
    };
    command.mut_subcommands(unwrap_paragraphs)
}

/// Joins the lines of each paragraph. Indented lines stay as they are, and so does a heading before them.
fn unwrapped(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut is_open = false;
    for line in text.lines() {
        let is_words = !line.is_empty() && !line.starts_with(' ');
        if !joined.is_empty() {
            joined.push(if is_open && is_words { ' ' } else { '\n' });
        }
        joined.push_str(line);
        is_open = is_words;
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::unwrapped;

    #[test]
    fn a_paragraph_is_one_line_and_examples_stay() {
        let text = "One\ntwo.\n\nThree\nfour.\n\nExamples:\n  a b\n  c d";
        assert_eq!(unwrapped(text), "One two.\n\nThree four.\n\nExamples:\n  a b\n  c d");
    }
}

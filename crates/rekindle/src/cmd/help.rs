//! `rekindle help`, and the text of every `-h` and `--help`.
//!
//! `-h` names the arguments and options of a command; `--help` adds the explanation and the examples. The first screen shows
//! the commands that people use, in groups; `rekindle help --all` shows every command.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Args, Command};

#[derive(Args)]
#[command(after_help = "\
Examples:
  rekindle help
  rekindle help --all
  rekindle help review inbox keep")]
pub(crate) struct Help {
    /// List every command
    #[arg(long, short = 'a', conflicts_with = "command")]
    all: bool,
    /// The command to explain
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

impl Help {
    /// Returns the error that prints the help, or that reports an unknown command.
    pub(crate) fn render(self, cli: Command) -> clap::Error {
        let screen = if self.all { HelpScreen::All } else { HelpScreen::Long };
        let name = cli.get_name().to_owned();
        let arguments = [name].into_iter().chain(self.command).chain(["--help".to_owned()]);
        let arguments: Vec<OsString> = arguments.map(OsString::from).collect();
        let fallback = clap::Error::new(ErrorKind::DisplayHelp).with_cmd(&cli);
        parse(cli, screen, &arguments).unwrap_or(fallback)
    }
}

/// A group of commands under one heading.
type CommandGroup = (&'static str, &'static [&'static str]);

/// The commands of the first screen.
pub(crate) const MAIN_GROUPS: [CommandGroup; 4] = [
    ("Set up", &["init", "install", "doctor", "config"]),
    ("Memory", &["save", "recall", "ask", "list", "edit", "forget", "undo"]),
    ("Review", &["review", "memory"]),
    ("Insight", &["web", "status", "inspect", "log"]),
];

/// Every command, in groups.
const ALL_GROUPS: [CommandGroup; 8] = [
    (
        "Set up",
        &[
            "init",
            "install",
            "uninstall",
            "doctor",
            "backup",
            "restore",
            "config",
            "llm",
            "model",
            "engines",
            "completions",
            "help",
        ],
    ),
    (
        "Memory",
        &["save", "recall", "ask", "list", "show", "edit", "evolve", "forget", "undo", "note", "feedback"],
    ),
    ("Documents", &["memory", "daily", "ideas", "slog", "identity", "project"]),
    ("Review", &["review"]),
    ("Also under `rekindle review`", &["approve", "reject", "inbox", "friction"]),
    ("Learning", &["backfill", "reflect", "worker", "runs", "run", "retry", "cost"]),
    (
        "Insight",
        &[
            "web", "status", "health", "gate", "e2e", "weekly", "week", "obsidian", "inspect", "log", "otel",
            "eval", "bench",
        ],
    ),
    ("For programs", &["hook", "mcp", "send", "reindex", "redact"]),
];

/// The length of a help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HelpScreen {
    /// The short text of `-h`.
    Short,
    /// The long text of `--help`.
    Long,
    /// The list of all commands, of `help --all`.
    All,
}

/// True for a request for help.
pub(crate) fn is_help(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand)
}

/// Returns the error that prints the requested help. It parses the arguments a second time, so that only
/// requests for help pay for it.
pub(crate) fn requested(cli: Command, arguments: &[OsString]) -> Option<clap::Error> {
    let is_long = arguments.iter().skip(1).any(|argument| argument == "--help" || argument == "help");
    parse(cli, if is_long { HelpScreen::Long } else { HelpScreen::Short }, arguments)
}

fn parse(mut cli: Command, screen: HelpScreen, arguments: &[OsString]) -> Option<clap::Error> {
    // `build` adds the deferred arguments of commands.
    cli.build();
    let cli = first_screen(written(cli, screen), screen);
    cli.try_get_matches_from(arguments).err()
}

/// Sets the help texts of a command and its subcommands to this length.
fn written(command: Command, screen: HelpScreen) -> Command {
    let text = command.get_after_help().map(ToString::to_string);
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let command = match (text, screen) {
        (Some(_), HelpScreen::Short) => {
            command.after_help(format!("`{name} --help` explains it, with examples."))
        }
        (Some(text), HelpScreen::Long | HelpScreen::All) => command.after_help(unwrapped(&text)),
        (None, _) => command,
    };
    let command = match screen {
        HelpScreen::Short => command.mut_args(|argument| {
            let is_global = argument.get_help_heading() == Some(GLOBAL);
            argument.hide(is_global)
        }),
        HelpScreen::Long | HelpScreen::All => command,
    };
    command.mut_subcommands(|subcommand| written(subcommand, screen))
}

/// The heading of the options of every command.
const GLOBAL: &str = "Global options";

/// Replaces clap's list of commands by groups.
fn first_screen(cli: Command, screen: HelpScreen) -> Command {
    let groups: &[CommandGroup] = if screen == HelpScreen::All { &ALL_GROUPS } else { &MAIN_GROUPS };
    let (header, literal) = (*cli.get_styles().get_header(), *cli.get_styles().get_literal());
    let names = groups.iter().flat_map(|(_, names)| names.iter());
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in groups {
        template.push_str(&format!("\n{header}{title}:{header:#}\n"));
        for command in names.iter().filter_map(|name| cli.find_subcommand(name)) {
            let name = command.get_name();
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let gap = " ".repeat(width - name.len());
            template.push_str(&format!("  {literal}{name}{literal:#}{gap}  {about}\n"));
        }
    }
    if screen == HelpScreen::Short {
        template.truncate(template.trim_end().len());
    } else {
        template.push_str(&format!("\n{header}Options:{header:#}\n{{options}}"));
    }
    template.push_str("{after-help}");
    let more = match screen {
        HelpScreen::Short => {
            "`rekindle help --all` lists every command, `rekindle COMMAND --help` explains one."
        }
        HelpScreen::Long => {
            "Start with `rekindle init`; `rekindle` alone shows where you are.\n\
             `rekindle help --all` lists every command, `rekindle COMMAND --help` explains one, with examples."
        }
        HelpScreen::All => "`rekindle COMMAND --help` explains a command, with examples.",
    };
    cli.help_template(template).after_help(more)
}

/// Joins the lines of each paragraph. Indented lines and a heading before them stay unchanged.
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
    use super::*;

    #[test]
    fn a_paragraph_is_one_line_and_examples_stay() {
        let text = "One\ntwo.\n\nThree\nfour.\n\nExamples:\n  a b\n  c d";
        assert_eq!(unwrapped(text), "One two.\n\nThree four.\n\nExamples:\n  a b\n  c d");
    }

    #[test]
    fn the_first_screen_has_at_most_eighteen_commands_in_groups() {
        let names: Vec<&str> = MAIN_GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert!((12..=18).contains(&names.len()), "{names:?}");
        let all: Vec<&str> = ALL_GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert!(names.iter().all(|name| all.contains(name)), "{names:?}");
    }
}

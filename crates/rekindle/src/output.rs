//! The only module that prints: data to stdout, everything else to stderr.
//!
//! It uses colour only at a terminal.
#![expect(clippy::print_stderr, reason = "this is the room that may")]

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rekindle_core::text::terminal::strip_controls;
use serde::Serialize;

use crate::error::CliError;

/// The time after which a progress message appears.
const PROGRESS_DELAY: Duration = Duration::from_secs(1);

/// The choice of colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A style of terminal text.
#[derive(Clone, Copy)]
pub(crate) enum TextStyle {
    Bold,
    Dim,
    Good,
    Warn,
    Bad,
}

impl TextStyle {
    fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "31",
        }
    }
}

pub(crate) struct Printer {
    out_colored: bool,
    err_colored: bool,
}

impl Printer {
    pub(crate) fn new(color: ColorChoice) -> Self {
        let wanted = |terminal: bool| match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                terminal
                    && rekindle_engine::platform::environment::variable("NO_COLOR")
                        .is_none_or(|v| v.is_empty())
            }
        };
        Self {
            out_colored: wanted(io::stdout().is_terminal()),
            err_colored: wanted(io::stderr().is_terminal()),
        }
    }

    /// Prints a line of data.
    pub(crate) fn line(&self, text: impl Display) -> Result<(), CliError> {
        self.write(format!("{text}\n").as_bytes())
    }

    /// Prints data unchanged except for control sequences, which are removed.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), CliError> {
        let text = String::from_utf8_lossy(bytes);
        match io::stdout().lock().write_all(strip_controls(&text).as_bytes()) {
            // The reader closed the pipe, as `| head` does.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(CliError::reported()),
            other => Ok(other?),
        }
    }

    /// Prints one JSON document.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string_pretty(value).map_err(CliError::new)?;
        self.line(text)
    }

    /// Prints a note for the person on stderr.
    pub(crate) fn note(&self, text: impl Display) {
        eprintln!("{}", strip_controls(&text.to_string()));
    }

    /// Runs `work`, and prints `text` if it takes long.
    pub(crate) fn with_progress<T>(&self, text: &str, work: impl FnOnce() -> T) -> T {
        let (working, done) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                if done.recv_timeout(PROGRESS_DELAY) == Err(RecvTimeoutError::Timeout) {
                    self.note(text);
                }
            });
            let result = work();
            drop(working);
            result
        })
    }

    /// Prints a warning on stderr.
    pub(crate) fn warn(&self, text: impl Display) {
        eprintln!(
            "{} {}",
            paint(self.err_colored, TextStyle::Warn, "warning:"),
            strip_controls(&text.to_string())
        );
    }

    /// Prints a failure and returns its exit code.
    pub(crate) fn print_failure(&self, failure: &CliError) -> ExitCode {
        if !failure.silent {
            eprintln!(
                "{} {}",
                paint(self.err_colored, TextStyle::Bad, "error:"),
                strip_controls(&failure.message)
            );
            if let Some(hint) = &failure.hint {
                eprintln!("\n{} {}", paint(self.err_colored, TextStyle::Bold, "hint:"), strip_controls(hint));
            }
        }
        ExitCode::from(failure.code)
    }

    /// True if stdout may have colours.
    pub(crate) fn is_colored(&self) -> bool {
        self.out_colored
    }

    /// Styles text for stdout, if stdout shows styles.
    pub(crate) fn styled(&self, style: TextStyle, text: impl Display) -> String {
        paint(self.out_colored, style, text)
    }
}

/// A progress line for a long run, only on a terminal.
pub(crate) struct ProgressLine {
    is_shown: bool,
    label: &'static str,
    last: Option<Instant>,
}

impl ProgressLine {
    /// The time between two updates of the line.
    const UPDATE_INTERVAL: Duration = Duration::from_millis(100);
    const WIDTH: usize = 30;

    pub(crate) fn new(label: &'static str) -> Self {
        Self { is_shown: io::stderr().is_terminal(), label, last: None }
    }

    pub(crate) fn show_progress(&mut self, what: &'static str, done: usize, of: usize) {
        if self.label != what {
            self.end();
            self.label = what;
        }
        if !self.is_shown || self.last.is_some_and(|last| last.elapsed() < Self::UPDATE_INTERVAL && done < of)
        {
            return;
        }
        self.last = Some(Instant::now());
        let filled = (Self::WIDTH * done).checked_div(of).unwrap_or(Self::WIDTH);
        let bar = format!("{}{}", "#".repeat(filled), "-".repeat(Self::WIDTH - filled.min(Self::WIDTH)));
        eprint!("\r{} [{bar}] {done}/{of}", self.label);
    }

    pub(crate) fn end(&mut self) {
        if self.last.take().is_some() {
            eprintln!();
        }
    }
}

fn paint(colored: bool, style: TextStyle, text: impl Display) -> String {
    match colored {
        true => format!("\x1b[{}m{text}\x1b[0m", style.code()),
        false => text.to_string(),
    }
}

/// Pads a text to a column width; a longer text is unchanged.
pub(crate) fn pad_column(text: &str, width: usize) -> String {
    let used = text.chars().count();
    format!("{text}{}", " ".repeat(width.saturating_sub(used)))
}

/// Joins names as `Claude Code, Codex and pi`.
pub(crate) fn join_names(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Formats a size as bytes, kB or MB.
pub(crate) fn format_bytes(bytes: usize) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

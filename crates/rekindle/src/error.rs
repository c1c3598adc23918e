//! Error messages: what failed, where, and what to do next.

use std::fmt::Display;

use rekindle_engine::agents::identity;
use rekindle_engine::agents::install;
use rekindle_engine::agents::transcripts;
use rekindle_engine::config;
use rekindle_engine::index;
use rekindle_engine::index::models;
use rekindle_engine::jobs::spool;
use rekindle_engine::jobs::worker_lock;
use rekindle_engine::ops::{backup, setup};
use rekindle_engine::pipeline::backfill;
use rekindle_engine::platform::db;
use rekindle_engine::platform::home;
use rekindle_engine::recall::messages;
use rekindle_engine::recall::{bench, indexer};
use rekindle_engine::telemetry::export::ExportError;
use rekindle_engine::vault;

/// A failed command, with the message for the person.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// The exit code: 1 if the command failed, 2 if it was called wrongly.
    pub(crate) code: u8,
    /// True if the failure was reported in full, so that only the exit code is left.
    pub(crate) silent: bool,
}

impl CliError {
    pub(crate) fn new(message: impl Display) -> Self {
        Self { message: message.to_string(), hint: None, code: 1, silent: false }
    }

    pub(crate) fn usage(message: impl Display) -> Self {
        Self { code: 2, ..Self::new(message) }
    }

    /// Creates a silent failure for commands whose output is the report, such as `doctor`.
    pub(crate) fn reported() -> Self {
        Self { silent: true, ..Self::new("") }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl From<vault::Error> for CliError {
    fn from(error: vault::Error) -> Self {
        let code = if error.is_usage() { 2 } else { 1 };
        Self { hint: error.hint(), code, ..Self::new(&error) }
    }
}

impl From<config::Error> for CliError {
    fn from(error: config::Error) -> Self {
        Self::usage(error)
    }
}

impl From<rekindle_core::config::Error> for CliError {
    fn from(error: rekindle_core::config::Error) -> Self {
        Self::usage(error)
    }
}

impl From<home::Error> for CliError {
    fn from(error: home::Error) -> Self {
        Self::usage(error)
    }
}

impl From<setup::Error> for CliError {
    fn from(error: setup::Error) -> Self {
        match error {
            setup::Error::Vault(error) => error.into(),
            setup::Error::Config(error) => error.into(),
            setup::Error::Home(error) => error.into(),
            error => Self::usage(error),
        }
    }
}

impl From<backup::Error> for CliError {
    fn from(error: backup::Error) -> Self {
        let hint = error.hint();
        Self { hint, ..Self::new(error) }
    }
}

impl From<identity::Error> for CliError {
    fn from(error: identity::Error) -> Self {
        let hint = error.hint();
        Self { hint, ..Self::new(error) }
    }
}

impl From<install::Error> for CliError {
    fn from(error: install::Error) -> Self {
        let hint = error.hint().map(str::to_owned);
        Self { hint, ..Self::new(error) }
    }
}

impl From<indexer::Error> for CliError {
    fn from(error: indexer::Error) -> Self {
        match error {
            indexer::Error::Index(error) => error.into(),
            indexer::Error::Vault(error) => error.into(),
        }
    }
}

impl From<index::Error> for CliError {
    fn from(error: index::Error) -> Self {
        let hint = error.hint();
        Self::new(error).hint(hint)
    }
}

impl From<backfill::Error> for CliError {
    fn from(error: backfill::Error) -> Self {
        match error {
            backfill::Error::Worker(error) => error.into(),
            backfill::Error::Db(error) => error.into(),
            backfill::Error::Messages(error) => error.into(),
            error @ (backfill::Error::State { .. } | backfill::Error::Project(_)) => {
                Self::new(error).hint("make that place writable, then run `rekindle backfill` again")
            }
        }
    }
}

impl From<messages::Error> for CliError {
    fn from(error: messages::Error) -> Self {
        match error {
            messages::Error::Index(error @ index::Error::Busy) => error.into(),
            error @ messages::Error::Index(_) => Self::new(error)
                .hint("rebuild the message index with `rekindle reindex --all`; nothing is lost"),
            error @ messages::Error::Archive { .. } => {
                Self::new(error).hint("check that the state folder can be written to (`rekindle doctor`)")
            }
        }
    }
}

impl From<bench::BenchError> for CliError {
    fn from(error: bench::BenchError) -> Self {
        match error {
            bench::BenchError::Index(error) => error.into(),
            error @ bench::BenchError::Line { .. } => {
                Self::usage(error).hint("see `rekindle bench --help` for the line format")
            }
            error @ bench::BenchError::Input(_) => Self::new(error),
        }
    }
}

impl From<rekindle_core::event::Error> for CliError {
    fn from(error: rekindle_core::event::Error) -> Self {
        Self::usage(error)
    }
}

impl From<db::Error> for CliError {
    fn from(error: db::Error) -> Self {
        Self { hint: Some(error.hint()), ..Self::new(&error) }
    }
}

impl From<ExportError> for CliError {
    fn from(error: ExportError) -> Self {
        Self { hint: Some(error.hint()), ..Self::new(&error) }
    }
}

impl From<spool::Error> for CliError {
    fn from(error: spool::Error) -> Self {
        Self::new(error).hint("check that the state folder can be written to (`rekindle doctor`)")
    }
}

impl From<worker_lock::Error> for CliError {
    fn from(error: worker_lock::Error) -> Self {
        match error {
            worker_lock::Error::Db(error) => error.into(),
            worker_lock::Error::Spool(error) => error.into(),
            error @ (worker_lock::Error::Lock { .. } | worker_lock::Error::Sessions { .. }) => {
                Self::new(error)
            }
        }
    }
}

impl From<transcripts::Error> for CliError {
    fn from(error: transcripts::Error) -> Self {
        let hint = match &error {
            transcripts::Error::Missing(_) => {
                "check the path; agents keep their transcripts below your home folder"
            }
            transcripts::Error::Unreadable { .. } => "check that it is a file and that you may read it",
            transcripts::Error::UnknownFormat { .. } => {
                "a newer version of Rekindle may support this format; nothing was changed"
            }
        };
        Self::new(error).hint(hint)
    }
}

impl From<models::Error> for CliError {
    fn from(error: models::Error) -> Self {
        let code = if error.is_usage() { 2 } else { 1 };
        Self { hint: error.hint(), code, ..Self::new(&error) }
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        Self::new(error)
    }
}

//! Interface between a function and its runner.

use rekindle_core::event::Event;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use crate::platform::db;

/// The result of a step and the events sent with it, in one transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepOutcome {
    /// The result to be stored.
    pub result: Value,
    /// The events to send; a repeated id counts once.
    pub events: Vec<Event>,
}

/// The failure of a step.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct StepError {
    /// The message of the error.
    pub message: String,
    /// True if a retry cannot help.
    pub fatal: bool,
    /// The pause that the other side asked for.
    pub retry_after: Option<jiff::SignedDuration>,
}

impl StepError {
    /// Creates a retryable error.
    pub fn retryable(message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), fatal: false, retry_after: None }
    }

    /// Creates an error that no retry can fix.
    pub fn fatal(message: impl std::fmt::Display) -> Self {
        Self { fatal: true, ..Self::retryable(message) }
    }
}

/// The reason a function stops early. It must return this unchanged.
#[derive(Debug, Error)]
pub enum RunInterrupt {
    /// A step of the function failed.
    #[error("{step}: {error}")]
    Failed {
        /// The name of the step.
        step: String,
        /// The error of the step.
        error: StepError,
    },
    /// The worker must stop, or the run is no longer ours. This is no failure; the run continues later.
    #[error("the run was interrupted and will continue later")]
    Stopped,
    /// The results could not be stored.
    #[error(transparent)]
    Db(#[from] db::Error),
}

/// The operations of a function. A finished step is not run again; its stored result is returned.
pub trait StepRunner {
    /// Runs a step, unless an earlier attempt finished it. A repeated name denotes another step.
    fn step(
        &mut self,
        name: &str,
        work: &mut dyn FnMut() -> Result<StepOutcome, StepError>,
    ) -> Result<Value, RunInterrupt>;

    /// The id of the run, the same in every attempt.
    fn run_id(&self) -> &str;
}

/// Steps with typed results.
pub trait StepRunnerExt: StepRunner {
    /// Runs a step that only returns a result.
    fn run<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        mut work: impl FnMut() -> Result<T, StepError>,
    ) -> Result<T, RunInterrupt> {
        self.run_and_send(name, || work().map(|result| (result, Vec::new())))
    }

    /// Runs a step that returns a result and sends events.
    fn run_and_send<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        mut work: impl FnMut() -> Result<(T, Vec<Event>), StepError>,
    ) -> Result<T, RunInterrupt> {
        let value = self.step(name, &mut || {
            let (result, events) = work()?;
            let result = serde_json::to_value(result).map_err(StepError::fatal)?;
            Ok(StepOutcome { result, events })
        })?;
        T::deserialize(value).map_err(|error| RunInterrupt::Failed {
            step: name.to_owned(),
            error: StepError::fatal(format!("its result has the format of another version: {error}")),
        })
    }
}

impl<S: StepRunner + ?Sized> StepRunnerExt for S {}

//! The seam between a function and whatever runs it.

use rekindle_core::event::Event;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use crate::platform::db;

/// What a step came to: its result, and events that are sent with it, both or neither.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What is remembered.
    pub result: Value,
    /// What is sent. The same id twice counts once.
    pub events: Vec<Event>,
}

/// A step that failed.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct StepError {
    /// What went wrong.
    pub message: String,
    /// Whether trying again can help.
    pub fatal: bool,
    /// When whoever said no wants to be asked again.
    pub retry_after: Option<jiff::SignedDuration>,
}

impl StepError {
    /// Worth another try.
    pub fn passing(message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), fatal: false, retry_after: None }
    }

    /// It will fail again.
    pub fn fatal(message: impl std::fmt::Display) -> Self {
        Self { fatal: true, ..Self::passing(message) }
    }
}

/// Why a function ends before its end. It hands this on untouched.
#[derive(Debug, Error)]
pub enum Interrupt {
    /// A step failed.
    #[error("{step}: {error}")]
    Failed {
        /// Which.
        step: String,
        /// How.
        error: StepError,
    },
    /// Somebody wants the worker to end, or the run is not ours any more. Nothing is wrong; it goes on later.
    #[error("the run was interrupted and goes on later")]
    Stopped,
    /// The results cannot be kept.
    #[error(transparent)]
    Db(#[from] db::Error),
}

/// What a function may do: run steps. A step that is done is not run again; its result is handed back.
pub trait Steps {
    /// Runs a step, unless it was done in an earlier attempt. A second step of the same name is another step.
    fn step(
        &mut self,
        name: &str,
        work: &mut dyn FnMut() -> Result<Outcome, StepError>,
    ) -> Result<Value, Interrupt>;

    /// The id of the run, the same in every attempt.
    fn run_id(&self) -> &str;
}

/// Steps with types.
pub trait StepsExt: Steps {
    /// A step that only gives a result.
    fn run<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        mut work: impl FnMut() -> Result<T, StepError>,
    ) -> Result<T, Interrupt> {
        self.run_and_send(name, || work().map(|result| (result, Vec::new())))
    }

    /// A step that gives a result and sends events.
    fn run_and_send<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        mut work: impl FnMut() -> Result<(T, Vec<Event>), StepError>,
    ) -> Result<T, Interrupt> {
        let value = self.step(name, &mut || {
            let (result, events) = work()?;
            let result = serde_json::to_value(result).map_err(StepError::fatal)?;
            Ok(Outcome { result, events })
        })?;
        T::deserialize(value).map_err(|error| Interrupt::Failed {
            step: name.to_owned(),
            error: StepError::fatal(format!("its result is of another version: {error}")),
        })
    }
}

impl<S: Steps + ?Sized> StepsExt for S {}

//! Input of `reflect` and `friction`: the observations of some days, and MEMORY.md.

use rekindle_core::base::time::Date;
use rekindle_core::knowledge::reflect::{Observation, ReflectionPeriod};
use rekindle_core::vault::journal::ChangedFile;
use rekindle_core::vault::layout;

use crate::jobs::context::StageContext;
use crate::jobs::queue::StepError;
use crate::pipeline::observations::ObservationRecord;

/// The input, read again by every step, so that forgotten text is never in it.
pub(super) struct ObservationWindow {
    date: Date,
    observations: Vec<Observation>,
    memory: String,
}

impl ObservationWindow {
    /// Reads the input from these observations for that day.
    pub(super) fn read(
        date: Date,
        entries: Vec<ObservationRecord>,
        context: &StageContext,
    ) -> Result<Self, StepError> {
        let observations = entries.into_iter().map(|entry| Observation {
            key: entry.dedupe_key,
            session: entry.session,
            project: entry.project,
            day: entry.day,
            at: entry.at,
            observed: entry.observed,
        });
        let place = ChangedFile::vault(layout::fixed_path(layout::MEMORY));
        let memory = context.vault()?.read(&place).map_err(StepError::retryable)?;
        Ok(Self {
            date,
            observations: observations.collect(),
            memory: memory.map(|note| note.text).unwrap_or_default(),
        })
    }

    /// Converts the input to core's type.
    pub(super) fn reflection_period<'a>(&'a self, context: &'a StageContext) -> ReflectionPeriod<'a> {
        ReflectionPeriod {
            today: self.date,
            user: &context.config.user.name,
            memory: &self.memory,
            observations: &self.observations,
        }
    }
}

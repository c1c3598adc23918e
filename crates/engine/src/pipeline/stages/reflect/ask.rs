//! Who reflects: a model if there is one and it answers, the rules otherwise.

use jiff::SignedDuration;
use rekindle_core::knowledge::reflect::parse::Answer;
use rekindle_core::knowledge::reflect::{Draft, Dropped, Period, compress, offline, prompt};
use rekindle_core::llm::prompts;
use rekindle_core::llm::{self, Model, Retry};
use serde::{Deserialize, Serialize};

use crate::jobs::context::World;
use crate::jobs::queue::StepError;
use crate::platform::db::OptionalExtension;

/// A model that fails so often is left for next time, and the rules reflect.
pub(super) const PATIENCE: u32 = 3;
/// A model that wants to be asked later than this is as good as none: reflection is for this morning.
const LONGEST_WAIT: SignedDuration = SignedDuration::from_hours(1);

/// What came of it, before anything of it is checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thought {
    /// Who: `offline`, or the model.
    pub(super) by: String,
    /// What the rules propose.
    pub(super) drafts: Vec<Draft>,
    /// What the model said.
    pub(super) answer: Answer,
    /// What the rules left out.
    pub(super) dropped: Dropped,
    pub(super) input_tokens: u64,
    /// Of the model's answer; the rules' is counted when it is settled.
    pub(super) output_tokens: Option<u64>,
    /// The level of guidance the answer was given at (REF-13).
    pub(super) level: u8,
    /// Whether it is too long all the same (REF-14).
    pub(super) flagged: bool,
    /// Windows that did not fit.
    pub(super) left_out: usize,
    /// Why the model did not do it, if there is one.
    pub(super) degraded: Option<String>,
}

/// Reflects. `attempt` counts from 1.
pub(super) fn think(
    period: &Period<'_>,
    model: Option<&dyn Model>,
    attempt: u32,
) -> Result<Thought, StepError> {
    let Some(model) = model else { return Ok(by_rules(period, None)) };
    // The reflector has to know what the observer was told (REF-03, OBS-23).
    match compress::reflect(model, period, Some(prompts::OBSERVE)) {
        Ok(reflected) => Ok(Thought {
            by: model.name().to_owned(),
            answer: reflected.answer,
            input_tokens: reflected.input,
            output_tokens: Some(reflected.output),
            level: reflected.level,
            flagged: reflected.flagged,
            left_out: reflected.left_out,
            ..Thought::default()
        }),
        Err(error) => match wait(&error).filter(|_| attempt <= PATIENCE) {
            Some(retry_after) => {
                Err(StepError { retry_after: Some(retry_after), ..StepError::passing(error) })
            }
            None => Ok(by_rules(period, Some(error.to_string()))),
        },
    }
}

/// How long to wait before the model is asked again; `None` if that is no use.
fn wait(error: &llm::Error) -> Option<SignedDuration> {
    match error.retry {
        Retry::Never => None,
        Retry::After(time) => SignedDuration::try_from(time).ok().filter(|time| *time <= LONGEST_WAIT),
    }
}

fn by_rules(period: &Period<'_>, degraded: Option<String>) -> Thought {
    let reflected = offline::reflect(period);
    Thought {
        by: "offline".to_owned(),
        drafts: reflected.drafts,
        dropped: reflected.dropped,
        input_tokens: period.observations.iter().map(prompt::tokens_of).sum(),
        degraded,
        ..Thought::default()
    }
}

/// Which attempt at the step `reflect` of a run this is, counted from 1.
pub(super) fn attempt(run: &str, world: &World) -> Result<u32, StepError> {
    let attempts: Option<u32> = world.db()?.run(|connection| {
        connection
            .query_row("SELECT attempts FROM steps WHERE run = ?1 AND name = 'reflect'", [run], |row| {
                row.get(0)
            })
            .optional()
    })?;
    Ok(attempts.unwrap_or(1))
}

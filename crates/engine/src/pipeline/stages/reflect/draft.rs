//! Reflector: a model if one is configured and answers, otherwise the rules.

use jiff::SignedDuration;
use rekindle_core::knowledge::reflect::parse::ReflectorAnswer;
use rekindle_core::knowledge::reflect::{
    DroppedDrafts, ProposalDraft, ReflectionPeriod, compress, offline, prompt,
};
use rekindle_core::llm::prompts;
use rekindle_core::llm::{self, LanguageModel, RetryAdvice};
use serde::{Deserialize, Serialize};

use crate::jobs::context::StageContext;
use crate::jobs::queue::{StepError, lookup};

/// The number of failures after which the rules replace the model.
pub(super) const MAX_MODEL_FAILURES: u32 = 3;
/// The longest wait that a model may ask for: reflection is due this morning.
const MAX_RETRY_AFTER: SignedDuration = SignedDuration::from_hours(1);

/// The result of reflection before any check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReflectionDraft {
    /// `offline`, or the name of the model.
    pub(super) by: String,
    /// The proposals of the rules.
    pub(super) drafts: Vec<ProposalDraft>,
    /// The answer of the model.
    pub(super) answer: ReflectorAnswer,
    /// The claims that the rules left out.
    pub(super) dropped: DroppedDrafts,
    pub(super) input_tokens: u64,
    /// The tokens of the model's answer; those of the rules are counted later.
    pub(super) output_tokens: Option<u64>,
    /// The level of guidance for the answer (REF-13).
    pub(super) level: u8,
    /// True if the answer is still too long (REF-14).
    pub(super) flagged: bool,
    /// The number of windows that did not fit.
    pub(super) left_out: usize,
    /// The reason the model was not used.
    pub(super) degraded: Option<String>,
}

/// Reflects on a period. `attempt` counts from 1.
pub(super) fn draft_proposals(
    period: &ReflectionPeriod<'_>,
    model: Option<&dyn LanguageModel>,
    attempt: u32,
) -> Result<ReflectionDraft, StepError> {
    let Some(model) = model else { return Ok(by_rules(period, None)) };
    // The reflector must know the observer's instructions (REF-03, OBS-23).
    match compress::reflect(model, period, Some(prompts::OBSERVE)) {
        Ok(reflected) => Ok(ReflectionDraft {
            by: model.name().to_owned(),
            answer: reflected.answer,
            input_tokens: reflected.input,
            output_tokens: Some(reflected.output),
            level: reflected.level,
            flagged: reflected.flagged,
            left_out: reflected.left_out,
            ..ReflectionDraft::default()
        }),
        Err(error) => match retry_delay(&error).filter(|_| attempt <= MAX_MODEL_FAILURES) {
            Some(retry_after) => {
                Err(StepError { retry_after: Some(retry_after), ..StepError::retryable(error) })
            }
            None => Ok(by_rules(period, Some(error.to_string()))),
        },
    }
}

/// The wait before a retry; `None` if a retry is useless.
fn retry_delay(error: &llm::Error) -> Option<SignedDuration> {
    match error.retry {
        RetryAdvice::Never => None,
        RetryAdvice::After(time) => {
            SignedDuration::try_from(time).ok().filter(|time| *time <= MAX_RETRY_AFTER)
        }
    }
}

fn by_rules(period: &ReflectionPeriod<'_>, degraded: Option<String>) -> ReflectionDraft {
    let reflected = offline::reflect(period);
    ReflectionDraft {
        by: "offline".to_owned(),
        drafts: reflected.drafts,
        dropped: reflected.dropped,
        input_tokens: period.observations.iter().map(prompt::tokens_of).sum(),
        degraded,
        ..ReflectionDraft::default()
    }
}

/// The number of the attempt at the step `reflect` of a run, from 1.
pub(super) fn attempt_number(run: &str, context: &StageContext) -> Result<u32, StepError> {
    Ok(lookup::step_attempts(&context.db()?, run, "reflect")?.unwrap_or(1))
}

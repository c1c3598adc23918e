//! A reflection must be shorter than its input (REF-12); a model that exceeds it is asked again, up to twice
//! (REF-13).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::parse::{self, ReflectorAnswer};
use super::prompt::build_material;
use super::{ReflectionPeriod, parse::render};
use crate::llm::prompts::PromptTemplate;
use crate::llm::{self, AnswerFormat, Cost, FailureOwner, LanguageModel, LlmBudget, LlmRequest, RetryAdvice};
use crate::text::tokens;

/// The last compression level.
pub const MAX_COMPRESSION_LEVEL: u8 = 2;
/// The time limit of one answer; three of them fit into the limit of a run.
pub const DEADLINE: Duration = Duration::from_secs(150);
/// The length and cost limit of one answer: half a dollar is about twice the price of the largest input with
/// a good model.
pub const BUDGET: LlmBudget = LlmBudget { tokens: 6_000, cost: Cost { micro_dollars: 500_000 } };

/// True if an answer is shorter than its input (X-15: the input counts, not a target).
pub fn is_compressed(input: u64, output: u64) -> bool {
    output < input
}

/// The reflection of a model on a period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelReflection {
    /// The answer before any check.
    pub answer: ReflectorAnswer,
    /// The compression level of the answer.
    pub level: u8,
    /// True if the answer was too long at every level, so that the shortest one was taken (REF-14).
    pub flagged: bool,
    /// The tokens of the observations.
    pub input: u64,
    /// The tokens of the answer.
    pub output: u64,
    /// The number of windows left out because they did not fit.
    pub left_out: usize,
}

/// Asks a model, at most three times. Model errors are returned; so is an unreadable answer, because asking
/// again does not help.
pub fn reflect(
    model: &dyn LanguageModel,
    period: &ReflectionPeriod<'_>,
    observer: Option<PromptTemplate>,
) -> Result<ModelReflection, llm::Error> {
    let material = build_material(period);
    let mut best: Option<ModelReflection> = None;
    for level in 0..=MAX_COMPRESSION_LEVEL {
        let request = LlmRequest {
            prompt: material.prompt(period, observer, level),
            expects: AnswerFormat::Tags(&["proposals", "summary"]),
            deadline: DEADLINE,
            budget: BUDGET,
        };
        let answer = match model.answer(&request) {
            Ok(answer) => answer,
            // An earlier answer is still useful.
            Err(_) if best.is_some() => break,
            Err(error) => return Err(error),
        };
        let Some(answer) = parse::parse(&answer.text, answer.whole) else { continue };
        let output = tokens::estimate_tokens(&render(&answer));
        let (input, left_out) = (material.tokens, material.left_out);
        let flagged = !is_compressed(input, output);
        let reflected = ModelReflection { answer, level, flagged, input, output, left_out };
        if !flagged {
            return Ok(reflected);
        }
        if best.as_ref().is_none_or(|best| reflected.output < best.output) {
            best = Some(reflected);
        }
    }
    best.map(|best| ModelReflection { level: MAX_COMPRESSION_LEVEL, ..best }).ok_or_else(|| {
        llm::Error::new(
            FailureOwner::Provider,
            RetryAdvice::Never,
            "the model did not answer in the form it was asked for",
        )
    })
}

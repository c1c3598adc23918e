//! A reflection says less than what it reflects on (REF-12), and a model that does not is told so, twice (REF-13).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::parse::{self, Answer};
use super::prompt::material;
use super::{Period, parse::render};
use crate::llm::prompts::Template;
use crate::llm::{self, Budget, Cost, Expects, Fault, Model, Request, Retry};
use crate::text::tokens;

/// The level at which nothing more is tried.
pub const LAST_LEVEL: u8 = 2;
/// How long one answer may take; three of them fit into what a run may take.
pub const DEADLINE: Duration = Duration::from_secs(150);
/// What one answer may cost: half a dollar, about twice what a good model takes for the most that is sent.
pub const BUDGET: Budget = Budget { tokens: 6_000, cost: Cost { micro_dollars: 500_000 } };

/// Whether an answer is shorter than what it is about (X-15: the input counts, not a target).
pub fn is_compressed(input: u64, output: u64) -> bool {
    output < input
}

/// What a model made of a period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reflected {
    /// What it said, unchecked.
    pub answer: Answer,
    /// At which level.
    pub level: u8,
    /// Whether it stayed too long at every level, so that the shortest answer was taken (REF-14).
    pub flagged: bool,
    /// Tokens of the observations.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Windows that were not shown because they did not fit.
    pub left_out: usize,
}

/// Asks a model, at most three times. An error is one of the model's; answers that were no answers are one as well, which
/// asking again does not mend.
pub fn reflect(
    model: &dyn Model,
    period: &Period<'_>,
    observer: Option<Template>,
) -> Result<Reflected, llm::Error> {
    let material = material(period);
    let mut best: Option<Reflected> = None;
    for level in 0..=LAST_LEVEL {
        let request = Request {
            prompt: material.prompt(period, observer, level),
            expects: Expects::Tags(&["proposals", "summary"]),
            deadline: DEADLINE,
            budget: BUDGET,
        };
        let said = match model.answer(&request) {
            Ok(said) => said,
            // What was said before is still worth something.
            Err(_) if best.is_some() => break,
            Err(error) => return Err(error),
        };
        let Some(answer) = parse::parse(&said.text, said.whole) else { continue };
        let output = tokens::estimate(&render(&answer));
        let (input, left_out) = (material.tokens, material.left_out);
        let flagged = !is_compressed(input, output);
        let reflected = Reflected { answer, level, flagged, input, output, left_out };
        if !flagged {
            return Ok(reflected);
        }
        if best.as_ref().is_none_or(|best| reflected.output < best.output) {
            best = Some(reflected);
        }
    }
    best.map(|best| Reflected { level: LAST_LEVEL, ..best }).ok_or_else(|| {
        llm::Error::new(
            Fault::Provider,
            Retry::Never,
            "the model did not answer in the form it was asked for",
        )
    })
}

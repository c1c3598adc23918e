//! `reflected`: deletes old entries from the hot list after a reflection (STO-01). The daily logs keep them
//! for good, and the valuable ones have been proposed.

use rekindle_core::event::Event;
use serde_json::json;

use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepRunner, StepRunnerExt};
use crate::pipeline::observations;

pub(super) fn reflected(
    _: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let removed = steps.run("tidy-observations", || {
        let removed = observations::remove_expired(&mut context.db()?, context.now().date())?;
        Ok(removed as u64)
    })?;
    Ok(FunctionOutcome::Completed(json!({"removed": removed})))
}

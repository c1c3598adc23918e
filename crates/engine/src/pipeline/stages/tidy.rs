//! `tidy`: deletes old finished data, so that the state folder does not grow without limit (EXE-14, MNT-08).

use jiff::SignedDuration;
use rekindle_core::event::Event;
use serde_json::json;

use crate::agents::hook_log;
use crate::context::injection_log;
use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepError, StepRunner, StepRunnerExt, lookup};
use crate::jobs::sessions;
use crate::platform::disk;

/// The age in days at which finished runs and their events are deleted; dead runs stay until somebody looks
/// at them.
const RUN_RETENTION_DAYS: i64 = 30;
/// The age in hours at which a temporary file is abandoned: no command takes that long.
const MAX_TEMPORARY_AGE_HOURS: i64 = 24;

pub(super) fn tidy(
    _: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let markers = steps.run("markers", || {
        sessions::remove_old_markers(&context.places.sessions(), context.now().timestamp())
            .map_err(StepError::retryable)
    })?;
    let temporaries = steps.run("temporaries", || sweep_temporaries(context))?;
    let removed_logs = steps.run("told", || {
        injection_log::remove_old_files(&context.places, context.now().timestamp())
            .map_err(StepError::retryable)
    })?;
    let runs = steps.run("runs", || {
        let before = context.now().timestamp() - SignedDuration::from_hours(24 * RUN_RETENTION_DAYS);
        Ok(lookup::tidy(&mut context.db()?, before)?)
    })?;
    let logs = steps.run("logs", || {
        hook_log::rotate_log(&context.places.logs_folder(), &context.now()).map_err(StepError::retryable)
    })?;
    Ok(FunctionOutcome::Completed(
        json!({"markers": markers, "temporaries": temporaries, "told": removed_logs, "runs": runs, "logs": logs}),
    ))
}

/// Deletes temporary files of commands that were killed at least a day ago.
fn sweep_temporaries(context: &StageContext) -> Result<u64, StepError> {
    let before = (context.now().timestamp() - SignedDuration::from_hours(MAX_TEMPORARY_AGE_HOURS)).into();
    let folders = [
        (context.places.state().to_owned(), true),
        (context.home.root().to_owned(), false),
        (context.home.models(), false),
        (context.places.identity().to_owned(), false),
    ];
    let mut swept = 0;
    for (folder, deep) in folders {
        swept += disk::remove_temporaries(&folder, before, deep).map_err(StepError::retryable)?;
    }
    let now = context.now();
    let vault = context.vault()?.remove_temporaries(before, &now).map_err(StepError::retryable)?;
    Ok(swept + vault)
}

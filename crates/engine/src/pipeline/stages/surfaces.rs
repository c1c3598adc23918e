//! `surfaces` (REV-05…REV-08): syncs tasks and buttons with the store and turns answers into decisions. The
//! first decision wins; a repeated or late answer changes nothing.

use rekindle_core::event::{ButtonPressed, Event, TaskChanged, names};
use rekindle_core::knowledge::surface::{ReviewSurface, SurfaceAnswer, SurfaceQuestion, telegram, todoist};
use rekindle_core::vault::review::ProposalId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::STAGE_REGISTRY;
use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepError, StepRunner, StepRunnerExt};
use crate::review::proposals::{self, DecisionOutcome, ProposalRecord, ProposalVerdict};
use crate::review::surfaces::{self, ButtonPress, SyncResult};

pub use crate::review::surfaces::SURFACES;
use crate::review::surfaces::SYNC_KEY;

/// The key of a run: one sync at a time, and one change per task or press at a time.
pub(super) fn key(event: &Event) -> Option<String> {
    let of = |field: &str| event.data.get(field).and_then(Value::as_str).map(|id| format!("{field} {id}"));
    of("taskId").or_else(|| of("callbackId")).or_else(|| Some(SYNC_KEY.to_owned()))
}

pub(super) fn surfaces(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    match event.name.as_str() {
        names::TASK_COMPLETED | names::TASK_DELETED | names::TASK_UPDATED => task(event, steps, context),
        names::BUTTON_PRESSED => button(event, steps, context),
        _ => sync(steps, context),
    }
}

fn sync(steps: &mut dyn StepRunner, context: &StageContext) -> Result<FunctionOutcome, RunInterrupt> {
    let settings = &context.config.review;
    let mut report = json!({});
    for surface in ReviewSurface::ALL.into_iter().filter(|surface| surfaces::is_enabled(settings, *surface)) {
        let synced: SyncResult = steps.run_and_send(surface.as_str(), || {
            Ok(surfaces::sync(&mut context.db()?, settings, surface, &context.now())?)
        })?;
        if let Some(next) = synced.next {
            // Last, because a crash before this only repeats the answers, which count once.
            steps.run(&format!("{}-heard", surface.as_str()), || {
                Ok(surfaces::confirm(&mut context.db()?, surface, next, context.now().timestamp())?)
            })?;
        }
        report[surface.as_str()] = json!(synced);
    }
    match report.as_object().is_some_and(serde_json::Map::is_empty) {
        true => Ok(FunctionOutcome::Skipped("no review service is connected".to_owned())),
        false => Ok(FunctionOutcome::Completed(report)),
    }
}

/// The outcome of an external change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SurfaceOutcome {
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<ProposalId>,
    /// The outcome in a sentence.
    said: String,
    /// True if this change decided.
    decided: bool,
}

impl SurfaceOutcome {
    fn no_decision(message: impl Into<String>) -> Self {
        Self { proposal: None, said: message.into(), decided: false }
    }

    fn into_function_outcome(self) -> FunctionOutcome {
        match self.decided {
            true => FunctionOutcome::Completed(json!(self)),
            false => FunctionOutcome::Skipped(self.said),
        }
    }
}

fn task(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    Ok(steps.run("decide", || decide_by_task(event, context))?.into_function_outcome())
}

/// Decides by the labels of a task on the proposal in its description (REV-06).
fn decide_by_task(event: &Event, context: &StageContext) -> Result<SurfaceOutcome, StepError> {
    let task = TaskChanged::deserialize(&event.data).map_err(StepError::fatal)?;
    if !todoist::is_ours(&task.labels) {
        return Ok(SurfaceOutcome::no_decision("the task is not labelled memory-review"));
    }
    let Some(id) = todoist::proposal(&task.description) else {
        return Ok(SurfaceOutcome::no_decision("the task names no proposal"));
    };
    let mut db = context.db()?;
    let Some(record) = proposals::find_proposal(&db, id)? else {
        return Ok(SurfaceOutcome::no_decision(format!("there is no proposal {id}")));
    };
    let at = task.changed_at.unwrap_or(event.at);
    let current = surfaces::is_current(&db, ReviewSurface::Todoist, id, &task.task_id)?;
    if record.reopened > Some(at) && !current {
        return Ok(SurfaceOutcome::no_decision(format!("{id} was opened again since")));
    }
    let question = SurfaceQuestion { proposal: &record.proposal, text: record.text() };
    let outcome = match todoist::answer(&event.name, &task, question) {
        Ok(answer) => decide(&mut db, id, answer, ReviewSurface::Todoist, context)?,
        Err(why) => SurfaceOutcome::no_decision(why),
    };
    if event.name != names::TASK_UPDATED {
        // The task is gone or completed.
        surfaces::close_question(&mut db, ReviewSurface::Todoist, id, &task.task_id)?;
    }
    Ok(outcome)
}

fn button(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let outcome = steps.run("decide", || decide_by_button(event, context))?;
    if let Some(id) = outcome.proposal {
        // The next sync repairs a lost message, so this is no failure.
        steps.run("tell", || {
            let pressed = ButtonPressed::deserialize(&event.data).map_err(StepError::fatal)?;
            let mut db = context.db()?;
            let record = proposals::find_proposal(&db, id)?;
            let press =
                ButtonPress { pressed: &pressed, id, reply: outcome.said.clone(), record: record.as_ref() };
            Ok(surfaces::answer_button(&mut db, &context.config.review, &press)?
                .map(|trouble| trouble.message))
        })?;
    }
    Ok(outcome.into_function_outcome())
}

/// Decides by a button if the person pressed it in the configured chat (REV-08).
fn decide_by_button(event: &Event, context: &StageContext) -> Result<SurfaceOutcome, StepError> {
    let pressed = ButtonPressed::deserialize(&event.data).map_err(StepError::fatal)?;
    let settings = &context.config.review.telegram;
    if settings.chat == 0 || pressed.chat_id != settings.chat {
        return Ok(SurfaceOutcome::no_decision("it was pressed in another chat"));
    }
    if !telegram::may_decide(&pressed, settings) {
        return Ok(SurfaceOutcome::no_decision(
            "in a group, only the user of `review.telegram.user` may decide",
        ));
    }
    let Some((id, answer)) = telegram::parse_button(&pressed.data) else {
        return Ok(SurfaceOutcome::no_decision("it is not a button of Rekindle"));
    };
    let outcome = decide(&mut context.db()?, id, answer, ReviewSurface::Telegram, context)?;
    Ok(SurfaceOutcome { proposal: Some(id), ..outcome })
}

fn decide(
    db: &mut crate::platform::db::Database,
    id: ProposalId,
    answer: SurfaceAnswer,
    surface: ReviewSurface,
    context: &StageContext,
) -> Result<SurfaceOutcome, StepError> {
    let verdict = match answer {
        SurfaceAnswer::Approve => ProposalVerdict::Approve,
        SurfaceAnswer::Edit(text) => ProposalVerdict::Edit(text),
        SurfaceAnswer::Reject => ProposalVerdict::Reject,
    };
    let decided = proposals::decide(
        db,
        &STAGE_REGISTRY,
        id,
        &verdict,
        surface.decided_by(),
        context.now().timestamp(),
    )?;
    let identity =
        proposals::find_proposal(db, id)?.is_some_and(|record| record.proposal.identity().is_some());
    let message = match &decided {
        DecisionOutcome::Now if verdict == ProposalVerdict::Reject => format!("{id} is rejected"),
        // An identity file changes only by the person's own hand (IDN-05).
        DecisionOutcome::Now if identity => {
            format!("{id}: apply its patch with `rekindle review apply {id}`")
        }
        DecisionOutcome::Now => format!("{id} will be remembered"),
        DecisionOutcome::Already(record) | DecisionOutcome::Ended(record) => describe_earlier(record),
        DecisionOutcome::Refused(why) => format!("{id} was not changed: {why}"),
        DecisionOutcome::Unknown => format!("there is no proposal {id}"),
    };
    let decided = decided == DecisionOutcome::Now;
    Ok(SurfaceOutcome { proposal: Some(id), said: message, decided })
}

fn describe_earlier(record: &ProposalRecord) -> String {
    let by = record.by.map_or_else(String::new, |by| format!(", {}", by.phrase()));
    format!("{} was {} before{by}", record.proposal.id, record.proposal.status.as_str())
}

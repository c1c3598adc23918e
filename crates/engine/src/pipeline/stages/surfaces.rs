//! `surfaces` (REV-05…REV-08): syncs tasks and buttons with the store and turns answers into decisions. The
//! first decision wins; a repeated or late answer changes nothing.

use rekindle_core::event::{ButtonPressed, Event, TaskChanged, names};
use rekindle_core::surface::{Answer, Question, Surface, telegram, todoist};
use rekindle_core::vault::review::Id;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::REGISTRY;
use crate::jobs::context::World;
use crate::jobs::queue::{Ended, Interrupt, StepError, Steps, StepsExt};
use crate::review::proposals::{self, Decided, Standing, Verdict};
use crate::review::surfaces::{self, Press, Synced};

pub use crate::review::surfaces::NAME;
use crate::review::surfaces::SYNC;

/// The key of a run: one sync at a time, and one change per task or press at a time.
pub(super) fn key(event: &Event) -> Option<String> {
    let of = |field: &str| event.data.get(field).and_then(Value::as_str).map(|id| format!("{field} {id}"));
    of("taskId").or_else(|| of("callbackId")).or_else(|| Some(SYNC.to_owned()))
}

pub(super) fn surfaces(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    match event.name.as_str() {
        names::TASK_COMPLETED | names::TASK_DELETED | names::TASK_UPDATED => task(event, steps, world),
        names::BUTTON_PRESSED => button(event, steps, world),
        _ => sync(steps, world),
    }
}

fn sync(steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    let settings = &world.config.review;
    let mut report = json!({});
    for surface in Surface::ALL.into_iter().filter(|surface| surfaces::is_enabled(settings, *surface)) {
        let synced: Synced = steps.run_and_send(surface.word(), || {
            Ok(surfaces::sync(&mut world.db()?, settings, surface, &world.now())?)
        })?;
        if let Some(next) = synced.next {
            // Last, because a crash before this only repeats the answers, which count once.
            steps.run(&format!("{}-heard", surface.word()), || {
                Ok(surfaces::confirm(&mut world.db()?, surface, next, world.now().timestamp())?)
            })?;
        }
        report[surface.word()] = json!(synced);
    }
    match report.as_object().is_some_and(serde_json::Map::is_empty) {
        true => Ok(Ended::Skipped("no other place is connected".to_owned())),
        false => Ok(Ended::Completed(report)),
    }
}

/// The outcome of an external change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<Id>,
    /// The outcome in a sentence.
    said: String,
    /// True if this change decided.
    decided: bool,
}

impl Outcome {
    fn nothing(said: impl Into<String>) -> Self {
        Self { proposal: None, said: said.into(), decided: false }
    }

    fn ended(self) -> Ended {
        match self.decided {
            true => Ended::Completed(json!(self)),
            false => Ended::Skipped(self.said),
        }
    }
}

fn task(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    Ok(steps.run("decide", || decide_by_task(event, world))?.ended())
}

/// Decides by the labels of a task on the proposal in its description (REV-06).
fn decide_by_task(event: &Event, world: &World) -> Result<Outcome, StepError> {
    let task = TaskChanged::deserialize(&event.data).map_err(StepError::fatal)?;
    if !todoist::is_ours(&task.labels) {
        return Ok(Outcome::nothing("the task is not labelled memory-review"));
    }
    let Some(id) = todoist::proposal(&task.description) else {
        return Ok(Outcome::nothing("the task names no proposal"));
    };
    let mut db = world.db()?;
    let Some(standing) = proposals::standing(&db, id)? else {
        return Ok(Outcome::nothing(format!("there is no proposal {id}")));
    };
    let at = task.changed_at.unwrap_or(event.at);
    let current = surfaces::is_current(&db, Surface::Todoist, id, &task.task_id)?;
    if standing.reopened > Some(at) && !current {
        return Ok(Outcome::nothing(format!("{id} was opened again since")));
    }
    let question = Question { proposal: &standing.proposal, text: standing.text() };
    let outcome = match todoist::answer(&event.name, &task, question) {
        Ok(answer) => decide(&mut db, id, answer, Surface::Todoist, world)?,
        Err(why) => Outcome::nothing(why),
    };
    if event.name != names::TASK_UPDATED {
        // The task is gone or completed.
        surfaces::over(&mut db, Surface::Todoist, id, &task.task_id)?;
    }
    Ok(outcome)
}

fn button(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    let outcome = steps.run("decide", || decide_by_button(event, world))?;
    if let Some(id) = outcome.proposal {
        // The next sync repairs a lost message, so this is no failure.
        steps.run("tell", || {
            let pressed = ButtonPressed::deserialize(&event.data).map_err(StepError::fatal)?;
            let mut db = world.db()?;
            let standing = proposals::standing(&db, id)?;
            let press =
                Press { pressed: &pressed, id, said: outcome.said.clone(), standing: standing.as_ref() };
            Ok(surfaces::tell(&mut db, &world.config.review, &press)?.map(|trouble| trouble.what))
        })?;
    }
    Ok(outcome.ended())
}

/// Decides by a button if the person pressed it in the configured chat (REV-08).
fn decide_by_button(event: &Event, world: &World) -> Result<Outcome, StepError> {
    let pressed = ButtonPressed::deserialize(&event.data).map_err(StepError::fatal)?;
    let settings = &world.config.review.telegram;
    if settings.chat == 0 || pressed.chat_id != settings.chat {
        return Ok(Outcome::nothing("it was pressed in a chat that is not asked"));
    }
    if !telegram::decides(&pressed, settings) {
        return Ok(Outcome::nothing("in a group only the person of `review.telegram.user` decides"));
    }
    let Some((id, answer)) = telegram::pressed(&pressed.data) else {
        return Ok(Outcome::nothing("it is no button of ours"));
    };
    let outcome = decide(&mut world.db()?, id, answer, Surface::Telegram, world)?;
    Ok(Outcome { proposal: Some(id), ..outcome })
}

fn decide(
    db: &mut crate::platform::db::Db,
    id: Id,
    answer: Answer,
    surface: Surface,
    world: &World,
) -> Result<Outcome, StepError> {
    let verdict = match answer {
        Answer::Approve => Verdict::Approve,
        Answer::Edit(text) => Verdict::Edit(text),
        Answer::Reject => Verdict::Reject,
    };
    let decided = proposals::decide(db, &REGISTRY, id, &verdict, surface.by(), world.now().timestamp())?;
    let identity =
        proposals::standing(db, id)?.is_some_and(|standing| standing.proposal.identity().is_some());
    let said = match &decided {
        Decided::Now if verdict == Verdict::Reject => format!("{id} is turned down"),
        // An identity file changes only by the person's own hand (IDN-05).
        Decided::Now if identity => format!("{id}: its patch waits, `rekindle review apply {id}` applies it"),
        Decided::Now => format!("{id} will be remembered"),
        Decided::Already(standing) | Decided::Ended(standing) => before(standing),
        Decided::Refused(why) => format!("{id} was not changed: {why}"),
        Decided::Unknown => format!("there is no proposal {id}"),
    };
    let decided = decided == Decided::Now;
    Ok(Outcome { proposal: Some(id), said, decided })
}

fn before(standing: &Standing) -> String {
    let by = standing.by.map_or_else(String::new, |by| format!(", {}", by.phrase()));
    format!("{} was {} before{by}", standing.proposal.id, standing.proposal.status.word())
}

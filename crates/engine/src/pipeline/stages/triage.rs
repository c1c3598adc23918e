//! `proposal-triage` and `batch-review` (REV-09, X-07): judge new proposals before the person is asked. The
//! rules judge, a model may only lower the verdict, and the rest is left to the person. Decisions here take
//! the same path as all others. `docs/adr/0024-triage-decides-little.md` says why triage decides so little.

mod grade;
#[cfg(test)]
mod tests;

use std::time::Duration;

use rekindle_core::base::decided_by::By;
use rekindle_core::config::Triage;
use rekindle_core::event::{Event, ProposalsTriaged, names};
use rekindle_core::knowledge::proposal::acceptance::Category;
use rekindle_core::knowledge::proposal::{Proposal, Status};
use rekindle_core::knowledge::reflect::memory::Memory;
use rekindle_core::knowledge::triage::{BATCH, Facts, Judgement, Outcome, Why, ask, judge, weigh};
use rekindle_core::llm::Model;
use rekindle_core::vault::journal::Place;
use rekindle_core::vault::layout;
use rekindle_core::vault::review::Id;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::REGISTRY;
use super::promote;
use crate::jobs::context::World;
use crate::jobs::queue::{Ended, Interrupt, StepError, Steps, StepsExt};
use crate::llm::Job;
use crate::review::page;
use crate::review::proposals::{self, Verdict};

/// The name of the function in the registry.
pub const NAME: &str = "proposal-triage";

pub(super) fn triage(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    // `rekindle llm` and `doctor` report unusable model settings; the rules do the work meanwhile.
    let model = match world.config.review.triage {
        Triage::On => world.model(Job::Reflector).ok().flatten(),
        Triage::Rules | Triage::Off => None,
    };
    let evaluator = match world.config.review.grade {
        true => world.model(Job::Reflector).ok().flatten(),
        false => None,
    };
    let models = Asks {
        triage: model.as_ref().map(|model| model as &dyn Model),
        grade: evaluator.as_ref().map(|model| model as &dyn Model),
    };
    triage_with(event, steps, world, models)
}

/// The models of a run, if any.
#[derive(Clone, Copy, Default)]
struct Asks<'a> {
    /// The model that judges proposals.
    triage: Option<&'a dyn Model>,
    /// The model that grades inferred proposals (SID-09).
    grade: Option<&'a dyn Model>,
}

fn triage_with(
    _: &Event,
    steps: &mut dyn Steps,
    world: &World,
    Asks { triage: model, grade: evaluator }: Asks<'_>,
) -> Result<Ended, Interrupt> {
    let run = steps.run_id().to_owned();
    let new = steps.run("load-proposals", || load(world))?;
    if new.is_empty() {
        return Ok(Ended::Skipped("no new proposals".to_owned()));
    }
    let mut judgements = steps.run("rules", || by_rules(&new, world))?;
    let mut degraded = None;
    if let Some(model) = model {
        let open: Vec<Judgement> = judgements.iter().filter(|one| is_askable(one)).copied().collect();
        for (number, batch) in open.chunks(BATCH).enumerate() {
            let step = format!("batch-review-{}", number + 1);
            let asked = steps.run(&step, || by_model(batch, model, world))?;
            degraded = asked.degraded.or(degraded);
            for one in asked.judgements {
                if let Some(ruled) = judgements.iter_mut().find(|ruled| ruled.id == one.id) {
                    *ruled = one;
                }
            }
        }
    }
    let triaged = steps.run("decide", || decide(&judgements, world))?;
    let asked: Vec<Id> = judgements.iter().filter(|one| is_askable(one)).map(|one| one.id).collect();
    let graded = grade::grade(&asked, evaluator, steps, world)?;
    steps.run_and_send("emit-triaged", || {
        let now = world.now().timestamp();
        let data = serde_json::to_value(&triaged).map_err(StepError::fatal)?;
        let (id, name) = (format!("triaged-{run}"), names::PROPOSAL_TRIAGED.to_owned());
        Ok(((), vec![Event { id, name, data, at: now }]))
    })?;
    let mut report = json!({
        "promoted": triaged.promoted.len(), "rejected": triaged.rejected.len(),
        "needsReview": triaged.needs_review.len(), "judgements": judgements,
        "by": model.map_or("rules", Model::name),
        "graded": graded,
    });
    if let Some(why) = degraded {
        report["warning"] = json!(format!("the model failed, so the rules alone decided: {why}"));
    }
    Ok(Ended::Completed(report))
}

/// The proposals without a triage. A reopened one is left to the person.
fn load(world: &World) -> Result<Vec<Id>, StepError> {
    let standings = proposals::standings(&world.db()?, true)?;
    let new = standings
        .into_iter()
        .filter(|standing| standing.proposal.status == Status::Pending && standing.reopened.is_none());
    Ok(new.map(|standing| standing.proposal.id).collect())
}

fn memory(world: &World) -> Result<String, StepError> {
    let read = world.vault()?.read(&Place::vault(layout::fixed(layout::MEMORY)));
    Ok(read.map_err(StepError::passing)?.map(|note| note.text).unwrap_or_default())
}

fn by_rules(new: &[Id], world: &World) -> Result<Vec<Judgement>, StepError> {
    if world.config.review.triage == Triage::Off {
        let off = |id: &Id| Judgement { id: *id, outcome: Outcome::NeedsReview, why: Why::Off };
        return Ok(new.iter().map(off).collect());
    }
    let db = world.db()?;
    let accepted = proposals::accepted(&db)?;
    let needed = world.config.review.earn;
    let earned = |proposal: &Proposal| {
        accepted.get(&Category::of(proposal)).is_some_and(|acceptance| acceptance.has_earned(needed))
    };
    let facts = Facts {
        memory: &Memory::read(&memory(world)?),
        all: &proposals::all(&db)?,
        on_page: &page::on_page(&db)?,
        earned: &earned,
        now: world.now().timestamp(),
    };
    Ok(judge(new, &facts))
}

/// True if a model may judge it: not if the rules rejected it, if it forges our format, or if it duplicates a
/// waiting proposal.
fn is_askable(judgement: &Judgement) -> bool {
    judgement.outcome != Outcome::Reject && !matches!(judgement.why, Why::Forged | Why::Same | Why::Off)
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Asked {
    judgements: Vec<Judgement>,
    /// The reason the model did not answer.
    degraded: Option<String>,
}

/// Asks a model about a batch. If it fails, the verdicts of the rules stand: nothing waits for it.
fn by_model(batch: &[Judgement], model: &dyn Model, world: &World) -> Result<Asked, StepError> {
    let db = world.db()?;
    let mut known = Vec::new();
    for judgement in batch {
        // A proposal may have been forgotten in the meantime.
        known.extend(proposals::get(&db, judgement.id)?.map(|proposal| (proposal, *judgement)));
    }
    let shown: Vec<&Proposal> = known.iter().map(|(proposal, _)| proposal).collect();
    let deadline = Duration::from_secs(world.config.llm.timeout_seconds.into());
    match model.answer(&ask(&shown, &memory(world)?, deadline)) {
        Ok(answer) => {
            let asked: Vec<(&Proposal, Judgement)> =
                known.iter().map(|(proposal, judgement)| (proposal, *judgement)).collect();
            Ok(Asked { judgements: weigh(&asked, &answer.text), degraded: None })
        }
        Err(error) => Ok(Asked { judgements: Vec::new(), degraded: Some(error.to_string()) }),
    }
}

/// Carries out the verdicts. An earlier decision wins.
fn decide(judgements: &[Judgement], world: &World) -> Result<ProposalsTriaged, StepError> {
    let mut db = world.db()?;
    let mut triaged = ProposalsTriaged::default();
    for judgement in judgements {
        let verdict = match judgement.outcome {
            Outcome::Promote => Verdict::Approve,
            Outcome::Reject => Verdict::Reject,
            Outcome::NeedsReview => continue,
        };
        let now = world.now().timestamp();
        proposals::decide_because(
            &mut db,
            &REGISTRY,
            judgement.id,
            &verdict,
            By::Triage,
            Some(judgement.why),
            now,
        )?;
    }
    for judgement in judgements {
        proposals::mark_triaged(&mut db, judgement.id)?;
        // The status in the store counts, also on a repetition.
        let Some(standing) = proposals::standing(&db, judgement.id)? else { continue };
        let list = match standing.proposal.status {
            status if status.is_open() => &mut triaged.needs_review,
            _ if standing.by != Some(By::Triage) => continue,
            Status::Rejected => &mut triaged.rejected,
            _ => &mut triaged.promoted,
        };
        list.push(judgement.id);
    }
    Ok(triaged)
}

/// Shows the remaining proposals to the person.
pub(super) fn batch_review(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    let triaged =
        steps.run("load-triaged", || ProposalsTriaged::deserialize(&event.data).map_err(StepError::fatal))?;
    let page = steps.run("refresh-page", || promote::refresh(world))?;
    Ok(Ended::Completed(json!({"needsReview": triaged.needs_review, "page": page})))
}

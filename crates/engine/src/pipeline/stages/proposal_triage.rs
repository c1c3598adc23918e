//! `proposal-triage` and `batch-review` (REV-09, X-07): judge new proposals before the person is asked. The
//! rules judge, a model may only lower the verdict, and the rest is left to the person. Decisions here take
//! the same path as all others. `docs/adr/0024-triage-decides-little.md` says why triage decides so little.

mod grade;
#[cfg(test)]
mod tests;

use std::time::Duration;

use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::config::TriageMode;
use rekindle_core::event::{Event, ProposalsTriaged, names};
use rekindle_core::knowledge::proposal::acceptance::ProposalCategory;
use rekindle_core::knowledge::proposal::{Proposal, ProposalStatus};
use rekindle_core::knowledge::reflect::memory::MemoryDocument;
use rekindle_core::knowledge::triage::{
    BATCH_PROPOSALS, TriageFacts, TriageJudgement, TriageOutcome, TriageReason, ask, judge_by_rules,
    merge_judgements,
};
use rekindle_core::llm::LanguageModel;
use rekindle_core::vault::journal::ChangedFile;
use rekindle_core::vault::layout;
use rekindle_core::vault::review::ProposalId;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::STAGE_REGISTRY;
use super::promote;
use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepError, StepRunner, StepRunnerExt};
use crate::llm::ModelJob;
use crate::review::page;
use crate::review::proposals::{self, ProposalVerdict};

/// The name of the function in the registry.
pub const PROPOSAL_TRIAGE: &str = "proposal-triage";

pub(super) fn proposal_triage(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    // `rekindle llm` and `doctor` report unusable model settings; the rules do the work meanwhile.
    let model = match context.config.review.triage {
        TriageMode::On => context.model(ModelJob::Reflector).ok().flatten(),
        TriageMode::Rules | TriageMode::Off => None,
    };
    let evaluator = match context.config.review.grade {
        true => context.model(ModelJob::Reflector).ok().flatten(),
        false => None,
    };
    let models = TriageModels {
        triage: model.as_ref().map(|model| model as &dyn LanguageModel),
        grade: evaluator.as_ref().map(|model| model as &dyn LanguageModel),
    };
    triage_with(event, steps, context, models)
}

/// The models of a run, if any.
#[derive(Clone, Copy, Default)]
struct TriageModels<'a> {
    /// The model that judges proposals.
    triage: Option<&'a dyn LanguageModel>,
    /// The model that grades inferred proposals (SID-09).
    grade: Option<&'a dyn LanguageModel>,
}

fn triage_with(
    _: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
    TriageModels { triage: model, grade: evaluator }: TriageModels<'_>,
) -> Result<FunctionOutcome, RunInterrupt> {
    let run = steps.run_id().to_owned();
    let new = steps.run("load-proposals", || load(context))?;
    if new.is_empty() {
        return Ok(FunctionOutcome::Skipped("no new proposals".to_owned()));
    }
    let mut judgements = steps.run("rules", || by_rules(&new, context))?;
    let mut degraded = None;
    if let Some(model) = model {
        let open: Vec<TriageJudgement> = judgements.iter().filter(|one| is_askable(one)).copied().collect();
        for (number, batch) in open.chunks(BATCH_PROPOSALS).enumerate() {
            let step = format!("batch-review-{}", number + 1);
            let asked = steps.run(&step, || by_model(batch, model, context))?;
            degraded = asked.degraded.or(degraded);
            for one in asked.judgements {
                if let Some(ruled) = judgements.iter_mut().find(|ruled| ruled.id == one.id) {
                    *ruled = one;
                }
            }
        }
    }
    let triaged = steps.run("decide", || decide(&judgements, context))?;
    let asked: Vec<ProposalId> = judgements.iter().filter(|one| is_askable(one)).map(|one| one.id).collect();
    let graded = grade::grade_proposals(&asked, evaluator, steps, context)?;
    steps.run_and_send("emit-triaged", || {
        let now = context.now().timestamp();
        let data = serde_json::to_value(&triaged).map_err(StepError::fatal)?;
        let (id, name) = (format!("triaged-{run}"), names::PROPOSAL_TRIAGED.to_owned());
        Ok(((), vec![Event { id, name, data, at: now }]))
    })?;
    let mut report = json!({
        "promoted": triaged.promoted.len(), "rejected": triaged.rejected.len(),
        "needsReview": triaged.needs_review.len(), "judgements": judgements,
        "by": model.map_or("rules", LanguageModel::name),
        "graded": graded,
    });
    if let Some(why) = degraded {
        report["warning"] = json!(format!("the model failed, so the rules alone decided: {why}"));
    }
    Ok(FunctionOutcome::Completed(report))
}

/// The proposals without a triage. A reopened one is left to the person.
fn load(context: &StageContext) -> Result<Vec<ProposalId>, StepError> {
    let standings = proposals::list_proposals(&context.db()?, true)?;
    let new = standings
        .into_iter()
        .filter(|record| record.proposal.status == ProposalStatus::Pending && record.reopened.is_none());
    Ok(new.map(|record| record.proposal.id).collect())
}

fn memory(context: &StageContext) -> Result<String, StepError> {
    let read = context.vault()?.read(&ChangedFile::vault(layout::fixed_path(layout::MEMORY)));
    Ok(read.map_err(StepError::retryable)?.map(|note| note.text).unwrap_or_default())
}

fn by_rules(new: &[ProposalId], context: &StageContext) -> Result<Vec<TriageJudgement>, StepError> {
    if context.config.review.triage == TriageMode::Off {
        let off = |id: &ProposalId| TriageJudgement {
            id: *id,
            outcome: TriageOutcome::NeedsReview,
            why: TriageReason::Off,
        };
        return Ok(new.iter().map(off).collect());
    }
    let db = context.db()?;
    let accepted = proposals::acceptance_stats(&db)?;
    let needed = context.config.review.earn;
    let earned = |proposal: &Proposal| {
        accepted
            .get(&ProposalCategory::from_proposal(proposal))
            .is_some_and(|acceptance| acceptance.has_earned(needed))
    };
    let facts = TriageFacts {
        memory: &MemoryDocument::read(&memory(context)?),
        all: &proposals::all_proposals(&db)?,
        on_page: &page::ids_on_page(&db)?,
        earned: &earned,
        now: context.now().timestamp(),
    };
    Ok(judge_by_rules(new, &facts))
}

/// True if a model may judge it: not if the rules rejected it, if it forges our format, or if it duplicates a
/// waiting proposal.
fn is_askable(judgement: &TriageJudgement) -> bool {
    judgement.outcome != TriageOutcome::Reject
        && !matches!(judgement.why, TriageReason::Forged | TriageReason::Same | TriageReason::Off)
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TriageAnswers {
    judgements: Vec<TriageJudgement>,
    /// The reason the model did not answer.
    degraded: Option<String>,
}

/// Asks a model about a batch. If it fails, the verdicts of the rules stand: nothing waits for it.
fn by_model(
    batch: &[TriageJudgement],
    model: &dyn LanguageModel,
    context: &StageContext,
) -> Result<TriageAnswers, StepError> {
    let db = context.db()?;
    let mut known = Vec::new();
    for judgement in batch {
        // A proposal may have been forgotten in the meantime.
        known.extend(proposals::get(&db, judgement.id)?.map(|proposal| (proposal, *judgement)));
    }
    let shown: Vec<&Proposal> = known.iter().map(|(proposal, _)| proposal).collect();
    let deadline = Duration::from_secs(context.config.llm.timeout_seconds.into());
    match model.answer(&ask(&shown, &memory(context)?, deadline)) {
        Ok(answer) => {
            let asked: Vec<(&Proposal, TriageJudgement)> =
                known.iter().map(|(proposal, judgement)| (proposal, *judgement)).collect();
            Ok(TriageAnswers { judgements: merge_judgements(&asked, &answer.text), degraded: None })
        }
        Err(error) => Ok(TriageAnswers { judgements: Vec::new(), degraded: Some(error.to_string()) }),
    }
}

/// Carries out the verdicts. An earlier decision wins.
fn decide(judgements: &[TriageJudgement], context: &StageContext) -> Result<ProposalsTriaged, StepError> {
    let mut db = context.db()?;
    let mut triaged = ProposalsTriaged::default();
    for judgement in judgements {
        let verdict = match judgement.outcome {
            TriageOutcome::Promote => ProposalVerdict::Approve,
            TriageOutcome::Reject => ProposalVerdict::Reject,
            TriageOutcome::NeedsReview => continue,
        };
        let now = context.now().timestamp();
        proposals::decide_with_reason(
            &mut db,
            &STAGE_REGISTRY,
            judgement.id,
            &verdict,
            DecidedBy::Triage,
            Some(judgement.why),
            now,
        )?;
    }
    for judgement in judgements {
        proposals::mark_triaged(&mut db, judgement.id)?;
        // The status in the store counts, also on a repetition.
        let Some(record) = proposals::find_proposal(&db, judgement.id)? else { continue };
        let list = match record.proposal.status {
            status if status.is_open() => &mut triaged.needs_review,
            _ if record.by != Some(DecidedBy::Triage) => continue,
            ProposalStatus::Rejected => &mut triaged.rejected,
            _ => &mut triaged.promoted,
        };
        list.push(judgement.id);
    }
    Ok(triaged)
}

/// Shows the remaining proposals to the person.
pub(super) fn batch_review(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let triaged =
        steps.run("load-triaged", || ProposalsTriaged::deserialize(&event.data).map_err(StepError::fatal))?;
    let page = steps.run("refresh-page", || promote::refresh_page(context))?;
    Ok(FunctionOutcome::Completed(json!({"needsReview": triaged.needs_review, "page": page})))
}

//! Grades inferred proposals (SID-09), one model call each. If the model fails, the proposal has no grade and
//! nothing waits for it.

use std::time::Duration;

use rekindle_core::knowledge::proposal::ProposalGrade;
use rekindle_core::knowledge::triage::{grade_request, is_graded, parse_grade};
use rekindle_core::llm::LanguageModel;
use rekindle_core::vault::review::ProposalId;

use crate::jobs::context::StageContext;
use crate::jobs::queue::{RunInterrupt, StepError, StepRunner, StepRunnerExt};
use crate::review::proposals;

/// Grades the open, inferred proposals among these and returns the number that have a grade now.
pub(super) fn grade_proposals(
    asked: &[ProposalId],
    model: Option<&dyn LanguageModel>,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<u64, RunInterrupt> {
    let Some(model) = model else { return Ok(0) };
    let mut graded = 0;
    for id in asked {
        let noted = steps.run(&format!("grade-{id}"), || grade_one(*id, model, context))?;
        graded += u64::from(noted);
    }
    Ok(graded)
}

fn grade_one(id: ProposalId, model: &dyn LanguageModel, context: &StageContext) -> Result<bool, StepError> {
    let mut db = context.db()?;
    let waits = proposals::get(&db, id)?.filter(|proposal| proposal.status.is_open() && is_graded(proposal));
    let Some(proposal) = waits else { return Ok(false) };
    let deadline = Duration::from_secs(context.config.llm.timeout_seconds.into());
    let answer = model.answer(&grade_request(&proposal, deadline)).ok();
    let grade: Option<ProposalGrade> = answer.and_then(|answer| parse_grade(&answer.text));
    match grade {
        Some(grade) => Ok(proposals::save_grade(&mut db, id, &grade)?),
        None => Ok(false),
    }
}

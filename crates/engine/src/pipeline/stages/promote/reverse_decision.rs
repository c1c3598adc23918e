//! Reverts decisions: the proposal is open again, and the effects of the decision are undone. A reverted end
//! keeps its receipt, and the reversal gets one too, so each proposal has one more end than reversals.

use rekindle_core::base::time::Timestamp;
use rekindle_core::knowledge::proposal::ProposalStatus;
use rekindle_core::run;
use rekindle_core::vault::journal::ChangeActor;
use rekindle_core::vault::review::ProposalId;

use super::undone_promotions::rejection_changes;
use super::{
    EXPIRY_KEY, PROMOTE, promotion_changes, receipts, refresh_page, reverse_undone_promotions, with_followers,
};
use crate::jobs::context::StageContext;
use crate::jobs::queue::StepError;
use crate::jobs::worker_lock::{WorkerLock, run_now};
use crate::pipeline::stages::STAGE_REGISTRY;
use crate::review::patches::is_patch;
use crate::review::proposals::{self, ProposalChange, ProposalRecord};

/// The note of a proposal whose decision was reverted.
const DECISION_REVERSED_REASON: &str = "the decision on it was taken back";

/// The result of reverting a decision.
#[derive(Clone, Debug, PartialEq)]
pub enum ReconsiderOutcome {
    /// The proposal is open again.
    Waiting,
    /// The proposal has another status than the caller expects; nothing changed.
    Otherwise(Box<ProposalRecord>),
    /// The proposal does not exist.
    Unknown,
}

/// Reverts the decision on a proposal; only the one made at `decided`, if given. It requires the worker's
/// lock, which `post` stands for.
pub fn reverse_decision(
    worker_lock: &WorkerLock,
    context: &StageContext,
    id: ProposalId,
    decided: Option<Timestamp>,
) -> Result<ReconsiderOutcome, StepError> {
    // Carry out the decision first, so that no run can do it afterwards.
    let done = |key: &str| {
        run_now(worker_lock, context, &STAGE_REGISTRY, PROMOTE, key).map_err(StepError::retryable)
    };
    done(&id.to_string())?;
    let standing_of = |id| proposals::find_proposal(&context.db()?, id).map_err(StepError::from);
    let Some(mut record) = standing_of(id)? else { return Ok(ReconsiderOutcome::Unknown) };
    if record.proposal.status == ProposalStatus::Expired {
        // An interrupted run of the schedule would expire it again; there may be several.
        while done(EXPIRY_KEY)?.is_some_and(|ended| ended == run::RunStatus::Completed) {}
    }
    if is_patch(&record) {
        // A patch that is in its file is promoted, even if a crash kept the store from knowing.
        reverse_undone_promotions(context)?;
        record = standing_of(id)?.unwrap_or(record);
    }
    if decided.is_some_and(|at| record.decided != Some(at)) || record.proposal.status.is_open() {
        return Ok(ReconsiderOutcome::Otherwise(Box::new(record)));
    }
    // A proposal decided together with another has no end of its own (B-07).
    if let Some(leader) = record.decided_with {
        match standing_of(leader)? {
            Some(other) if !other.proposal.status.is_open() => record = other,
            _ => {}
        }
    }
    let (id, status) = (record.proposal.id, record.proposal.status);
    let now = context.now();
    let vault = context.vault()?;
    let promoted = promotion_changes(&vault).map_err(StepError::retryable)?.remove(&id);
    match promoted.filter(|(_, in_force)| *in_force && status == ProposalStatus::Promoted) {
        Some((change, _)) => {
            vault.undo(Some(change.as_str()), ChangeActor::User, &now).map_err(StepError::retryable)?;
            reverse_undone_promotions(context)?;
        }
        None => {
            if status == ProposalStatus::Rejected
                && let Some((change, true)) =
                    rejection_changes(&vault).map_err(StepError::retryable)?.remove(&id)
            {
                vault
                    .undo(Some(change.id.as_str()), ChangeActor::User, &now)
                    .map_err(StepError::retryable)?;
            }
            reopen_proposal(context, id, status)?;
        }
    }
    refresh_page(context)?;
    Ok(ReconsiderOutcome::Waiting)
}

/// Reopens a proposal and its duplicates.
fn reopen_proposal(context: &StageContext, id: ProposalId, from: ProposalStatus) -> Result<(), StepError> {
    let mut db = context.db()?;
    let ids = with_followers(&db, id)?;
    proposals::reopen(
        &mut db,
        &ids,
        &[from],
        ProposalChange::Reopened,
        DECISION_REVERSED_REASON,
        context.now().timestamp(),
    )?;
    receipts::try_write(context);
    Ok(())
}

//! Applies an approved change of an identity file at the person's command (IDN-05). Nothing else may do that.

use rekindle_core::vault::review::ProposalId;

use super::{PROMOTE, found_promoted, refresh_page, with_followers};
use crate::jobs::context::StageContext;
use crate::jobs::queue::StepError;
use crate::jobs::worker_lock::{WorkerLock, run_now};
use crate::pipeline::stages::STAGE_REGISTRY;
use crate::review::patches::{self, PendingPatch, amendment, is_patch};
use crate::review::proposals::{self, ProposalRecord};
use crate::vault::{self, AmendedFile};

/// A patch as shown to the person.
#[derive(Clone, Debug)]
pub struct PreparedPatch {
    /// The proposal and its status.
    pub record: ProposalRecord,
    /// The change of the file.
    pub amended: AmendedFile,
}

/// The result of looking up a patch.
#[derive(Debug)]
pub enum PatchLookup {
    /// The patch can be applied.
    Patch(Box<PreparedPatch>),
    /// It is approved and does not fit the file any more.
    Unfit(vault::Error),
    /// The proposal is not a patch to be applied.
    Otherwise(Box<ProposalRecord>),
    /// The proposal does not exist.
    Unknown,
}

/// Looks up the patch of a proposal, after its decision is carried out. It requires the worker's lock.
pub fn prepare_patch(
    worker_lock: &WorkerLock,
    context: &StageContext,
    id: ProposalId,
) -> Result<PatchLookup, StepError> {
    run_now(worker_lock, context, &STAGE_REGISTRY, PROMOTE, &id.to_string()).map_err(StepError::retryable)?;
    let Some(record) = proposals::find_proposal(&context.db()?, id)? else {
        return Ok(PatchLookup::Unknown);
    };
    if !is_patch(&record) || record.decided_with.is_some() {
        return Ok(PatchLookup::Otherwise(Box::new(record)));
    }
    Ok(match context.vault()?.preview_amendment(&amendment(&record)) {
        Ok(amended) => PatchLookup::Patch(Box::new(PreparedPatch { record, amended })),
        Err(error) => PatchLookup::Unfit(error),
    })
}

/// Applies a patch exactly as shown. It is idempotent: a repetition after a crash changes nothing.
pub fn apply(_post: &WorkerLock, context: &StageContext, patch: &PreparedPatch) -> Result<(), StepError> {
    let PreparedPatch { record, amended } = patch;
    let id = record.proposal.id;
    let now = proposals::find_proposal(&context.db()?, id)?.filter(is_patch);
    if now.is_none_or(|now| now.decided != record.decided) {
        return Err(StepError::fatal(format!("{id} was decided differently in the meantime")));
    }
    context.vault()?.apply(&amendment(record), amended, &context.now()).map_err(StepError::retryable)?;
    mark_applied(context, id)
}

/// Marks a proposal and its duplicates as promoted.
fn mark_applied(context: &StageContext, id: ProposalId) -> Result<(), StepError> {
    found_promoted(&with_followers(&context.db()?, id)?, context)?;
    refresh_page(context)?;
    Ok(())
}

/// Marks the patches that are in their files as applied, whoever applied them, also after a crash (REV-14).
pub(super) fn record_applied(context: &StageContext) -> Result<(), StepError> {
    for PendingPatch { record, fits } in patches::pending_patches(&context.db()?, &context.vault()?)? {
        if fits.is_ok_and(|amended| amended.is_there()) {
            mark_applied(context, record.proposal.id)?;
        }
    }
    Ok(())
}

//! Approved changes of identity files, which the person applies (IDN-05).

use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::knowledge::proposal::ProposalStatus;
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::jobs::worker_lock::WorkerLock;
use rekindle_engine::pipeline::stages::promote::{self, PatchLook, PreparedPatch, ReconsiderOutcome};
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::patches::{self, PendingPatch};
use rekindle_engine::review::proposals::{self, ProposalRecord, ProposalVerdict};

use super::describe::outcome_with_author;
use super::{ScopeArgs, WORKER_TIMEOUT, settle, undo_decision};
use crate::app::CommandContext;
use crate::error::CliError;

/// The state of a patch.
pub(crate) enum ApplicablePatch {
    Patch(Box<PreparedPatch>),
    /// The patch was applied before.
    Applied(Box<ProposalRecord>),
}

/// The patches that wait to be applied.
pub(crate) fn pending(context: &CommandContext<'_>) -> Result<Vec<PendingPatch>, CliError> {
    let db = Database::open(&context.places.database())?;
    Ok(patches::pending_patches(&db, &context.vault()?)?)
}

/// Looks up a patch. The worker's lock is released before the person reads it.
pub(crate) fn preview_patch(
    context: &CommandContext<'_>,
    id: ProposalId,
) -> Result<ApplicablePatch, CliError> {
    let worker_lock = acquire_worker_lock(context, id)?;
    match promote::prepare_patch(&worker_lock, &context.stage_context(), id).map_err(CliError::new)? {
        PatchLook::Patch(patch) => Ok(ApplicablePatch::Patch(patch)),
        PatchLook::Unfit(error) => {
            Err(CliError::new(format!("the patch of {id} no longer applies: {error}"))
                .hint(format!("reopen it with `rekindle undo {id}`, then edit or reject it")))
        }
        PatchLook::Otherwise(record) if record.proposal.status.is_open() => {
            Err(CliError::new(format!("{id} is not approved"))
                .hint(format!("see it with `rekindle review {id}`, approve it with `rekindle approve {id}`")))
        }
        PatchLook::Otherwise(record)
            if record.proposal.status == ProposalStatus::Promoted && record.proposal.identity().is_some() =>
        {
            Ok(ApplicablePatch::Applied(record))
        }
        PatchLook::Otherwise(record) => {
            let what = match record.proposal.identity() {
                Some(_) => outcome_with_author(context, &record),
                None => format!("{id} does not change an identity file; approving it is enough"),
            };
            Err(CliError::new(what))
        }
        PatchLook::Unknown => Err(CliError::usage(format!("there is no proposal {id}"))),
    }
}

/// Applies a patch that the person has seen.
pub(crate) fn apply_patch(context: &CommandContext<'_>, patch: &PreparedPatch) -> Result<(), CliError> {
    context.require_person("change an identity file")?;
    let id = patch.record.proposal.id;
    let worker_lock = acquire_worker_lock(context, id)?;
    promote::apply(&worker_lock, &context.stage_context(), patch).map_err(|error| {
        CliError::new(format!("could not apply {id}: {error}"))
            .hint(format!("try again with `rekindle review apply {id}`"))
    })
}

/// Discards an approved change that was not applied: its approval is taken back, and it is rejected.
pub(crate) fn discard_patch(
    context: &CommandContext<'_>,
    id: ProposalId,
    by: DecidedBy,
) -> Result<(), CliError> {
    context.require_person("discard a change of an identity file")?;
    let found = proposals::find_proposal(&Database::open(&context.places.database())?, id)?;
    match found {
        None => return Err(CliError::usage(format!("there is no proposal {id}"))),
        Some(record) if !patches::is_patch(&record) => {
            return Err(CliError::new(outcome_with_author(context, &record)));
        }
        Some(_) => {}
    }
    match undo_decision(context, id, None)? {
        ReconsiderOutcome::Waiting => {}
        ReconsiderOutcome::Otherwise(record) => {
            return Err(CliError::new(outcome_with_author(context, &record)));
        }
        ReconsiderOutcome::Unknown => return Err(CliError::usage(format!("there is no proposal {id}"))),
    }
    let report = settle(context, &[id], &ProposalVerdict::Reject, ScopeArgs::default(), by)?;
    match report.wrong.into_iter().next() {
        Some((_, why)) => Err(CliError::new(why)),
        None => Ok(()),
    }
}

fn acquire_worker_lock(context: &CommandContext<'_>, id: ProposalId) -> Result<WorkerLock, CliError> {
    let worker_lock = WorkerLock::acquire(&context.places.locks_folder(), WORKER_TIMEOUT)?;
    worker_lock.ok_or_else(|| {
        CliError::new(format!("could not apply {id}: a worker is running"))
            .hint("try again when it has finished (see `rekindle runs`)")
    })
}

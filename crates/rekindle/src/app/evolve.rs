//! Gives a memory a new version.

use rekindle_core::base::provenance::Origin;
use rekindle_core::vault::agent_edit::AgentEditPermission;
use rekindle_core::vault::journal::ChangeActor;
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::pipeline::stages::STAGE_REGISTRY;
use rekindle_engine::pipeline::stages::route_candidates;
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::proposals;
use rekindle_engine::vault::EvolvedEntry;

use super::CommandContext;
use crate::error::CliError;

/// The outcome of an agent's new version of a memory.
pub(crate) enum EvolveOutcome {
    /// The memory has the new version.
    Evolved(EvolvedEntry),
    /// The person is asked for approval.
    Proposed(ProposalId),
    /// The person was asked before and rejected it.
    TurnedDown(ProposalId),
}

/// Gives a memory a new version in the person's words.
pub(crate) fn renew(
    context: &CommandContext<'_>,
    reference: &str,
    body: &str,
    reason: &str,
) -> Result<EvolvedEntry, CliError> {
    check(reason)?;
    let vault = context.writable_vault()?;
    let path = vault.find(reference, &context.cwd)?;
    Ok(vault.evolve(&path, body, reason, Origin::User, ChangeActor::User, &context.now)?)
}

/// Gives a memory a new version in an agent's words. The memory must belong to this project. If it is pinned
/// or holds elsewhere too, the person has to approve (B-01, R-15).
pub(crate) fn evolve_for_agent(
    context: &CommandContext<'_>,
    reference: &str,
    body: &str,
    reason: &str,
    session: &str,
) -> Result<EvolveOutcome, CliError> {
    check(reason)?;
    let vault = context.writable_vault()?;
    let (path, edit) = vault.find_for_agent(reference, &context.cwd, &context.save_scope())?;
    if edit != AgentEditPermission::NeedsApproval {
        let evolved = vault.evolve(&path, body, reason, Origin::Agent, ChangeActor::Agent, &context.now)?;
        return Ok(EvolveOutcome::Evolved(evolved));
    }
    let mut db = Database::open(&context.places.database())?;
    let (id, waits) = proposals::propose_version(
        &mut db,
        &STAGE_REGISTRY,
        &vault,
        &path,
        (body, reason),
        session,
        &context.now,
    )
    .map_err(CliError::new)?;
    route_candidates::refresh_review_page(&context.stage_context()).map_err(CliError::new)?;
    Ok(if waits { EvolveOutcome::Proposed(id) } else { EvolveOutcome::TurnedDown(id) })
}

fn check(reason: &str) -> Result<(), CliError> {
    match reason.trim().is_empty() {
        true => Err(CliError::usage("the reason is empty").hint("give the reason in a few words")),
        false => Ok(()),
    }
}

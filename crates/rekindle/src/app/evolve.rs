//! Gives a memory a new version.

use rekindle_core::base::provenance::Origin;
use rekindle_core::vault::agent_edit::AgentEdit;
use rekindle_core::vault::journal::Actor;
use rekindle_core::vault::review::Id;
use rekindle_engine::pipeline::stages::REGISTRY;
use rekindle_engine::pipeline::stages::keep;
use rekindle_engine::platform::db::Db;
use rekindle_engine::review::proposals;
use rekindle_engine::vault::Evolved;

use super::Context;
use crate::error::Failure;

/// The outcome of an agent's new version of a memory.
pub(crate) enum Renewed {
    /// The memory has the new version.
    Evolved(Evolved),
    /// The person is asked for approval.
    Proposed(Id),
    /// The person was asked before and rejected it.
    TurnedDown(Id),
}

/// Gives a memory a new version in the person's words.
pub(crate) fn renew(
    context: &Context<'_>,
    reference: &str,
    body: &str,
    reason: &str,
) -> Result<Evolved, Failure> {
    check(reason)?;
    let vault = context.vault_to_change()?;
    let path = vault.find(reference, &context.cwd)?;
    Ok(vault.evolve(&path, body, reason, Origin::User, Actor::User, &context.now)?)
}

/// Gives a memory a new version in an agent's words. The memory must belong to this project. If it is pinned
/// or holds elsewhere too, the person has to approve (B-01, R-15).
pub(crate) fn renew_for_agent(
    context: &Context<'_>,
    reference: &str,
    body: &str,
    reason: &str,
    session: &str,
) -> Result<Renewed, Failure> {
    check(reason)?;
    let vault = context.vault_to_change()?;
    let (path, edit) = vault.find_for_agent(reference, &context.cwd, &context.here())?;
    if edit != AgentEdit::NeedsApproval {
        let evolved = vault.evolve(&path, body, reason, Origin::Agent, Actor::Agent, &context.now)?;
        return Ok(Renewed::Evolved(evolved));
    }
    let mut db = Db::open(&context.places.database())?;
    let (id, waits) =
        proposals::revise(&mut db, &REGISTRY, &vault, &path, (body, reason), session, &context.now)
            .map_err(Failure::new)?;
    keep::show(&context.world()).map_err(Failure::new)?;
    Ok(if waits { Renewed::Proposed(id) } else { Renewed::TurnedDown(id) })
}

fn check(reason: &str) -> Result<(), Failure> {
    match reason.trim().is_empty() {
        true => Err(Failure::usage("the reason is empty").hint("say in a few words why it changed")),
        false => Ok(()),
    }
}

//! Takes back a change of the vault.

use rekindle_core::text::RedactionCounts;
use rekindle_core::vault::journal::ChangeActor;
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::pipeline::stages::promote;
use rekindle_engine::vault::UndoneChange;

use super::CommandContext;
use crate::error::CliError;

/// Undoes a change, or the newest one, and returns the proposals that wait again because of it.
pub(crate) fn undo_change(
    context: &CommandContext<'_>,
    reference: Option<&str>,
) -> Result<(UndoneChange, Vec<ProposalId>), CliError> {
    let vault = context.writable_vault()?;
    let by = if context.is_agent_shell() { ChangeActor::Agent } else { ChangeActor::User };
    let undone = vault.undo(reference, by, &context.now)?;
    context.report_redactions(&RedactionCounts::default(), &undone.by.conflicts);
    // An undone promotion makes the proposal open again.
    let waiting = promote::reverse_undone_promotions(&context.stage_context()).unwrap_or_else(|error| {
        let what = "the change is undone, but the proposals could not be updated";
        context.out.warn(format!("{what}: {error}"));
        Vec::new()
    });
    Ok((undone, waiting))
}

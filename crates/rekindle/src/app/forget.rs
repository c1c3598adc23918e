//! Forgets a memory for an agent, and lists the deleted places.

use rekindle_core::text::plural::count_phrase;
use rekindle_core::vault::agent_edit::AgentEditPermission;
use rekindle_core::vault::journal::ChangeActor;
use rekindle_engine::ops::forget::{ForgetReport, ForgetRequest};

use super::CommandContext;
use crate::error::CliError;

/// Forgets a memory for an agent. The agent must have written it in this project, the person must not have
/// reviewed it, and nothing else may repeat it. Deletion is permanent, so everything else is left to the
/// person (B-01).
pub(crate) fn forget_for_agent(
    context: &CommandContext<'_>,
    reference: &str,
) -> Result<ForgetReport, CliError> {
    let vault = context.vault_for_forget()?;
    let (path, edit) = vault.find_for_agent(reference, &context.cwd, &context.save_scope())?;
    let what = ForgetRequest::Entry(&path);
    if edit == AgentEditPermission::NeedsApproval || !vault.agent_may_forget(&vault.plan_forget(what)?)? {
        return Err(CliError::new(format!("only the user can forget {path}")).hint(format!(
            "the user said it, reviewed it, or keeps it for every project; the user can run `rekindle forget {path}`"
        )));
    }
    Ok(vault.forget(what, ChangeActor::Agent, &context.now)?)
}

/// Lists the deleted files and places, line by line; also for a dry run.
pub(crate) fn lines(forgotten: &ForgetReport, word: &str) -> Vec<String> {
    let files = forgotten.files.iter().map(|path| format!("{word}: {path}"));
    let elsewhere = forgotten.places.iter().filter(|(_, count)| *count > 0);
    let elsewhere = elsewhere.map(|(store, count)| {
        format!("{word}: the same text in {} of the {store}", count_phrase(*count, "place"))
    });
    let lines: Vec<String> = files.chain(elsewhere).collect();
    if lines.is_empty() { vec!["no memory says that".to_owned()] } else { lines }
}

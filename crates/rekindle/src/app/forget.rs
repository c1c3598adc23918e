//! Forgets a memory for an agent, and lists the deleted places.

use rekindle_core::vault::agent_edit::AgentEdit;
use rekindle_core::vault::journal::Actor;
use rekindle_engine::forget::{Forgotten, What};

use super::Context;
use crate::error::Failure;

/// Forgets a memory for an agent. The agent must have written it in this project, the person must not have
/// reviewed it, and nothing else may repeat it. Deletion is permanent, so everything else is left to the
/// person (B-01).
pub(crate) fn forget_for_agent(context: &Context<'_>, reference: &str) -> Result<Forgotten, Failure> {
    let vault = context.vault_to_forget()?;
    let (path, edit) = vault.find_for_agent(reference, &context.cwd, &context.here())?;
    let what = What::Entry(&path);
    if edit == AgentEdit::NeedsApproval || !vault.agent_may_forget(&vault.plan_forget(what)?)? {
        return Err(Failure::new(format!("only the user can forget {path}")).hint(format!(
            "they said it, reviewed it or keep it for every project; they can run `rekindle forget {path}`"
        )));
    }
    Ok(vault.forget(what, Actor::Agent, &context.now)?)
}

/// Lists the deleted files and places, line by line; also for a dry run.
pub(crate) fn lines(forgotten: &Forgotten, word: &str) -> Vec<String> {
    let files = forgotten.files.iter().map(|path| format!("{word}: {path}"));
    let elsewhere = forgotten.places.iter().filter(|(_, count)| *count > 0);
    let elsewhere =
        elsewhere.map(|(store, count)| format!("{word}: the same text in {count} place(s) of the {store}"));
    let lines: Vec<String> = files.chain(elsewhere).collect();
    if lines.is_empty() { vec!["nothing here says that".to_owned()] } else { lines }
}

//! Queues saved memories for a notice to the person at the next hook ([`crate::context::notices`]).

use std::collections::HashMap;

use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::{Timestamp, format_utc};
use rekindle_core::context::notice::KeptMemory;
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::journal::{ChangeActor, ChangeRoot};
use rekindle_core::vault::path::VaultPath;

use crate::context::notices;
use crate::jobs::context::StageContext;
use crate::jobs::queue::StepError;
use crate::vault::{ChangeOutcome, Vault};

/// Queues the memories saved since the event of a run for the next hook of the project, and returns their
/// number. An older change of the same session was announced before.
pub(super) fn announce_saved(
    saved: &[String],
    project: Option<&ProjectId>,
    since: Timestamp,
    context: &StageContext,
) -> Result<usize, StepError> {
    if saved.is_empty() {
        return Ok(0);
    }
    let vault = context.vault()?;
    let changes = changes(&vault, saved, since)?;
    let kept: Vec<KeptMemory> = saved
        .iter()
        .filter_map(|path| {
            let change = changes.get(path)?;
            let read = vault.read_entry(&VaultPath::parse(path).ok()?).ok()?;
            Some(KeptMemory::new(change, path, ParsedNote::parse(&read.text).ok()?.body()))
        })
        .collect();
    notices::add(&context.places, project, &kept)?;
    Ok(kept.len())
}

/// The newest change of each memory that the worker made since then, by path: the one that `rekindle undo`
/// reverts.
fn changes(vault: &Vault, paths: &[String], since: Timestamp) -> Result<HashMap<String, String>, StepError> {
    let since = format_utc(since);
    let mut found = HashMap::new();
    for record in vault.changes().map_err(StepError::retryable)? {
        let record = record.map_err(StepError::retryable)?;
        let change = record.change;
        if change.at < since || found.len() == paths.len() {
            break;
        }
        let keeps = ["save", "evolve"].contains(&change.verb.as_str());
        let is_ours = keeps && change.by == ChangeActor::Worker && record.outcome != ChangeOutcome::Aborted;
        let places = change.ops.iter().filter(|_| is_ours).filter_map(|op| op.changed_file());
        let touched = places.filter(|place| place.root == ChangeRoot::Vault).map(|place| place.path.as_str());
        for path in touched.filter(|touched| paths.iter().any(|path| path == touched)) {
            found.entry(path.to_owned()).or_insert_with(|| change.id.short_id().to_owned());
        }
    }
    Ok(found)
}

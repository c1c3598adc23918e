//! The versions of one memory, from the journal of this machine.

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::id::ChangeId;
use rekindle_core::base::time::{Timestamp, parse};
use rekindle_core::hosts::install::diff::unified_diff;
use rekindle_core::vault::journal::{ChangeActor, ChangedFile, FileOperation, VaultChange};
use rekindle_core::vault::path::VaultPath;
use rekindle_engine::vault::{ChangeOutcome, Vault};

use crate::error::CliError;

/// The most changes of the journal that are searched.
const MAX_CHANGES: usize = 50_000;
/// The most versions that are shown.
const MAX_VERSIONS: usize = 50;

/// A change of one memory.
pub(crate) struct MemoryVersion {
    pub(crate) change: ChangeId,
    pub(crate) at: Option<Timestamp>,
    pub(crate) verb: String,
    pub(crate) by: ChangeActor,
    /// The change of the text; `None` if the text before is no longer known.
    pub(crate) diff: Option<String>,
    /// The name of the file before, if it was moved.
    pub(crate) moved_from: Option<String>,
    pub(crate) can_be_undone: bool,
}

/// The changes of the file at `path`, the newest first. `text` is its current text.
pub(crate) fn versions(vault: &Vault, path: &VaultPath, text: &str) -> Result<Vec<MemoryVersion>, CliError> {
    let mut place = ChangedFile::vault(path.clone());
    let mut text = Some(text.to_owned());
    let mut versions = Vec::new();
    let mut undone: Vec<ChangeId> = Vec::new();
    for record in vault.changes()?.take(MAX_CHANGES) {
        let record = record?;
        if record.outcome == ChangeOutcome::Aborted {
            continue;
        }
        let change = record.change;
        if !undone.contains(&change.id) {
            undone.extend(change.undoes.clone());
        }
        let Some(op) = change.ops.iter().rev().find(|op| op.changed_file() == Some(&place)) else { continue };
        let before = text_before(op, text.as_deref());
        let diff = match (&before, &text) {
            (Some(before), Some(after)) => Some(unified_diff("", Some(before), Some(after))),
            _ => None,
        };
        let moved_from = match op {
            FileOperation::Move { from, .. } => Some(from.clone()),
            _ => None,
        };
        versions.push(MemoryVersion {
            at: parse(&change.at),
            diff: diff.filter(|_| moved_from.is_none()),
            moved_from: moved_from.as_ref().map(ToString::to_string),
            can_be_undone: record.outcome == ChangeOutcome::Done
                && !undone.contains(&change.id)
                && change.ops.iter().all(FileOperation::can_be_undone),
            verb: change.verb,
            by: change.by,
            change: change.id,
        });
        let is_first = matches!(op, FileOperation::Create { .. });
        if is_first || versions.len() >= MAX_VERSIONS {
            break;
        }
        (text, place) = (before, moved_from.unwrap_or(place));
    }
    Ok(versions)
}

/// The text before an operation. A file that was changed outside of Rekindle since may not show it any more.
fn text_before(op: &FileOperation, after: Option<&str>) -> Option<String> {
    match op {
        // A later edit in another program is not what Rekindle wrote.
        FileOperation::Create { after: written, .. } => {
            (ContentHash::of_bytes(after?.as_bytes()) == *written).then(String::new)
        }
        FileOperation::Edit { patch: Some(patch), .. } | FileOperation::Append { patch: Some(patch), .. } => {
            patch.reverse(after?).ok()
        }
        FileOperation::Move { .. } => after.map(str::to_owned),
        FileOperation::Edit { .. }
        | FileOperation::Append { .. }
        | FileOperation::Remove { .. }
        | FileOperation::Forgotten => None,
    }
}

/// Lists the files of a change, for people.
pub(crate) fn changed_files(change: &VaultChange) -> Vec<String> {
    change
        .ops
        .iter()
        .flat_map(|op| match op {
            FileOperation::Forgotten => vec!["(forgotten)".to_owned()],
            op => op.changed_files().map(ToString::to_string).collect(),
        })
        .collect()
}

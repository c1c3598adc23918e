//! Changes of one memory that the person makes while looking at it.

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::scope::{ProjectId, Scope};
use rekindle_core::text::RedactionCounts;
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::journal::ChangeActor;
use rekindle_core::vault::path::VaultPath;
use rekindle_engine::ops::forget::{ForgetReport, ForgetRequest};
use rekindle_engine::vault::{self, Edited, NoteText};

use crate::app::CommandContext;
use crate::error::CliError;

/// The outcome of an edit.
pub(crate) enum EditOutcome {
    Saved(Edited),
    /// The text is what it was.
    Unchanged,
    /// The memory has changed since the person read it. Nothing was written; this is the text now.
    Conflict(NoteText),
}

/// Replaces the note of a memory, if it is still the one that the person read.
pub(crate) fn edit(
    context: &CommandContext<'_>,
    path: &VaultPath,
    read: &str,
    text: &str,
) -> Result<EditOutcome, CliError> {
    context.require_person_words("edit a memory")?;
    let vault = context.writable_vault()?;
    let current = vault.read_entry(path)?;
    if current.hash.to_string() != read {
        return Ok(EditOutcome::Conflict(current));
    }
    if text.trim().is_empty() {
        return Err(CliError::usage("the text is empty, so nothing was saved")
            .hint("to delete the memory and every copy of its text, forget it"));
    }
    if text.trim_end() == current.text.trim_end() {
        return Ok(EditOutcome::Unchanged);
    }
    match vault.edit_entry(path, &current, text, &context.now) {
        Ok(edited) => Ok(EditOutcome::Saved(edited)),
        Err(vault::Error::Changed(_)) => Ok(EditOutcome::Conflict(vault.read_entry(path)?)),
        Err(error) => Err(error.into()),
    }
}

/// Sets where a memory holds: in one project, or everywhere.
pub(crate) fn set_scope(
    context: &CommandContext<'_>,
    path: &VaultPath,
    scope: &Scope,
) -> Result<EditOutcome, CliError> {
    context.require_person("change where a memory holds")?;
    let vault = context.writable_vault()?;
    let current = vault.read_entry(path)?;
    let document = |source| vault::Error::Document { path: path.to_string(), source };
    let note = ParsedNote::parse(&current.text).map_err(document)?;
    let project = scope.project().map(ProjectId::as_str);
    let mut changes = vec![("scope", Some(scope.kind_str()))];
    changes.extend(project.map(|project| ("project", Some(project))));
    let text = note.head_with(&changes).map_err(document)? + note.body();
    if text == current.text {
        return Ok(EditOutcome::Unchanged);
    }
    Ok(EditOutcome::Saved(vault.edit_entry(path, &current, &text, &context.now)?))
}

/// Lists what `forget` would delete.
pub(crate) fn plan_forget(context: &CommandContext<'_>, path: &VaultPath) -> Result<ForgetReport, CliError> {
    Ok(context.vault()?.plan_forget(ForgetRequest::Entry(path))?)
}

/// Deletes a memory and every copy of its text, for good, if it is still the one that the person read.
pub(crate) fn forget(
    context: &CommandContext<'_>,
    path: &VaultPath,
    read: &str,
) -> Result<ForgetReport, CliError> {
    context.require_person("forget a memory for the user")?;
    let vault = context.vault_for_forget()?;
    let current: ContentHash = vault.read_entry(path)?.hash;
    if current.to_string() != read {
        return Err(CliError::new(format!("{path} has changed since you read it, so nothing was forgotten"))
            .hint("look at it again, then decide"));
    }
    Ok(vault.forget(ForgetRequest::Entry(path), ChangeActor::User, &context.now)?)
}

/// A sentence about removed secrets; empty if there were none.
pub(crate) fn redaction_words(redacted: &RedactionCounts) -> String {
    if redacted.is_empty() { String::new() } else { format!(" Removed likely secrets: {redacted}.") }
}

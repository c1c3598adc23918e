//! Saves a memory, for the person or for an agent.

use rekindle_core::base::provenance::{Origin, Provenance};
use rekindle_core::base::scope::Scope;
use rekindle_core::knowledge::statement::{self, MAX_SENTENCE_CHARS, StatementContext};
use rekindle_core::text::clean_and_redact;
use rekindle_core::vault::entry::Confidence;
use rekindle_core::vault::journal::ChangeActor;
use rekindle_core::vault::layout::EntryDestination;
use rekindle_core::vault::path::slug;
use rekindle_engine::pipeline::statements::StatementClassifier;
use rekindle_engine::vault::{NewEntry, SavedEntry};

use super::CommandContext;
use crate::error::CliError;

/// The number of words of a text that form its slug.
const SLUG_WORDS: usize = 6;

/// Saves the words of an agent for the current project, as unreviewed (B-01).
pub(crate) fn keep_for_agent(
    context: &CommandContext<'_>,
    new: NewEntry,
) -> Result<(SavedEntry, Scope), CliError> {
    let provenance = Provenance { origin: Origin::Agent, ..new.provenance };
    let new = NewEntry { provenance, confidence: Confidence::Medium, ..new };
    save_entry(context, new, false, ChangeActor::Agent)
}

/// Saves a memory for the current project, or globally, and returns its scope.
pub(crate) fn save_entry(
    context: &CommandContext<'_>,
    new: NewEntry,
    global: bool,
    by: ChangeActor,
) -> Result<(SavedEntry, Scope), CliError> {
    let vault = context.writable_vault()?;
    // A pinned memory outside any project loads everywhere.
    let pinned = new.to == EntryDestination::AlwaysLoad && context.project_id().is_none();
    let scope = context.scope(global || pinned)?;
    let new = NewEntry { scope: scope.clone(), ..new };
    Ok((vault.save(&new, by, &context.now)?, scope))
}

/// Infers the kind of a memory from its text: the classifier's label, or `note` if it is unsure.
pub(crate) fn infer_kind(text: &str) -> String {
    let admitted = clean_and_redact(text).text;
    let sentence: String = admitted.trim().chars().take(MAX_SENTENCE_CHARS).collect();
    let context = statement::context(statement::StatementSpeaker::User, &StatementContext::default());
    StatementClassifier::builtin().label(&context, &sentence).entry_kind().unwrap_or("note").to_owned()
}

/// Builds the slug of a memory from its first words, without secrets.
pub(crate) fn infer_slug(text: &str) -> String {
    let admitted = clean_and_redact(text).text;
    let words: Vec<&str> = admitted.split_whitespace().take(SLUG_WORDS).collect();
    slug("slug", &words.join(" ")).unwrap_or_else(|_| "memory".to_owned())
}

//! Saves a memory, for the person or for an agent.

use rekindle_core::base::provenance::{Origin, Provenance};
use rekindle_core::base::scope::Scope;
use rekindle_core::knowledge::statement::{self, SENTENCE_CHARS, Surroundings};
use rekindle_core::text::admit;
use rekindle_core::vault::entry::Confidence;
use rekindle_core::vault::journal::Actor;
use rekindle_core::vault::layout::Destination;
use rekindle_core::vault::path::slug;
use rekindle_engine::pipeline::statements::Statements;
use rekindle_engine::vault::{NewEntry, Saved};

use super::Context;
use crate::error::Failure;

/// The words of a text that its slug is made of.
const SLUG_WORDS: usize = 6;

/// Saves the words of an agent: for the project at hand, and believed by nobody until the person looks at them (B-01).
pub(crate) fn keep_for_agent(context: &Context<'_>, new: NewEntry) -> Result<(Saved, Scope), Failure> {
    let provenance = Provenance { origin: Origin::Agent, ..new.provenance };
    let new = NewEntry { provenance, confidence: Confidence::Medium, ..new };
    keep(context, new, false, Actor::Agent)
}

/// Saves it for the project at hand, unless it is for everywhere, and says how far it reaches.
pub(crate) fn keep(
    context: &Context<'_>,
    new: NewEntry,
    global: bool,
    by: Actor,
) -> Result<(Saved, Scope), Failure> {
    let vault = context.vault_to_change()?;
    // What is pinned outside of any project loads everywhere.
    let pinned = new.to == Destination::AlwaysLoad && context.project_id().is_none();
    let scope = context.scope(global || pinned)?;
    let new = NewEntry { scope: scope.clone(), ..new };
    Ok((vault.save(&new, by, &context.now)?, scope))
}

/// The kind of a memory that has only a text: the classifier's, or a note where the classifier is not sure.
pub(crate) fn infer_kind(text: &str) -> String {
    let admitted = admit(text).text;
    let sentence: String = admitted.trim().chars().take(SENTENCE_CHARS).collect();
    let context = statement::context(statement::Speaker::User, &Surroundings::default());
    Statements::builtin().label(&context, &sentence).entry_kind().unwrap_or("note").to_owned()
}

/// The slug of a memory that has only a text: its first words, without secrets.
pub(crate) fn infer_slug(text: &str) -> String {
    let admitted = admit(text).text;
    let words: Vec<&str> = admitted.split_whitespace().take(SLUG_WORDS).collect();
    slug("slug", &words.join(" ")).unwrap_or_else(|_| "memory".to_owned())
}

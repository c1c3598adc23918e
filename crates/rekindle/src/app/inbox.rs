//! Keeps or drops memories of the inbox (SID-06, R-05).

use rekindle_core::vault::entry::Confidence;
use rekindle_core::vault::journal::ChangeActor;
use rekindle_core::vault::path::VaultPath;
use rekindle_engine::pipeline::sightings;
use rekindle_engine::platform::db::Database;
use rekindle_engine::vault::{Error, KeepRequest, ScannedEntry, ShelveResult, Vault};

use super::CommandContext;
use crate::error::CliError;

/// The origin of an inbox memory.
pub(crate) fn origin_phrase(found: &ScannedEntry) -> &'static str {
    match (&found.entry.provenance.session, found.entry.confidence) {
        (None, _) => "added by hand",
        (Some(_), Some(Confidence::Low) | None) => "seen once in a session",
        (Some(_), Some(Confidence::Medium | Confidence::High)) => "inferred, not confirmed",
    }
}

/// Keeps the memories that these ids, paths or slugs name: they move to their kind and count as reviewed.
pub(crate) fn keep(
    context: &CommandContext<'_>,
    references: &[String],
    request: &KeepRequest,
) -> Result<ShelveResult, CliError> {
    context.require_person("keep memories from the inbox")?;
    let vault = context.writable_vault()?;
    let paths = find(context, &vault, references)?;
    keep_paths(context, &vault, &paths, request)
}

/// Keeps the whole inbox. The memories that cannot be kept are returned with the reason.
pub(crate) fn keep_all(
    context: &CommandContext<'_>,
    request: &KeepRequest,
) -> Result<(ShelveResult, Vec<(String, String)>), CliError> {
    context.require_person("keep memories from the inbox")?;
    let vault = context.writable_vault()?;
    let (paths, mut left) = split_keepable(vault.inbox()?, request);
    // An unreadable note does not stop the others from being kept.
    let unread = vault.scan(false)?.problems.into_iter();
    let inbox = vault.folder().join("personal-private/_inbox");
    let unread = unread.filter(|problem| problem.path.starts_with(&inbox));
    left.extend(unread.map(|problem| (problem.path.display().to_string(), problem.message)));
    Ok((keep_paths(context, &vault, &paths, request)?, left))
}

fn keep_paths(
    context: &CommandContext<'_>,
    vault: &Vault,
    paths: &[VaultPath],
    request: &KeepRequest,
) -> Result<ShelveResult, CliError> {
    let kept = vault.keep_inboxed(paths, request, ChangeActor::User, &context.now)?;
    move_sightings(context, &kept);
    Ok(kept)
}

/// Separates the memories that can be kept at once from the rest, which get a reason.
fn split_keepable(
    waiting: Vec<ScannedEntry>,
    request: &KeepRequest,
) -> (Vec<VaultPath>, Vec<(String, String)>) {
    let (mut paths, mut left) = (Vec::new(), Vec::new());
    for found in waiting {
        // Without a kind, a note takes the name of its folder as kind.
        if request.kind.is_none() && found.entry.kind == "inbox" {
            left.push((found.path.to_string(), "it has no kind; give it one with `--kind`".to_owned()));
        } else {
            paths.push(found.path);
        }
    }
    (paths, left)
}

/// Drops memories: they move to the archive.
pub(crate) fn drop_entries(
    context: &CommandContext<'_>,
    references: &[String],
) -> Result<ShelveResult, CliError> {
    context.require_person("drop memories from the inbox")?;
    let vault = context.writable_vault()?;
    let paths = find(context, &vault, references)?;
    Ok(vault.drop_inboxed(&paths, ChangeActor::User, &context.now)?)
}

fn find(
    context: &CommandContext<'_>,
    vault: &Vault,
    references: &[String],
) -> Result<Vec<VaultPath>, CliError> {
    let find = |reference: &String| match vault.find_in_inbox(reference, &context.cwd) {
        Err(Error::NotFound(_) | Error::Misspelt { .. }) => {
            Err(CliError::usage(format!("there is no `{reference}` in the inbox"))
                .hint("list the inbox with `rekindle inbox`"))
        }
        other => Ok(other?),
    };
    references.iter().map(find).collect()
}

/// Moves the sightings of a memory to its new path. A failure only warns: a sighting with the old path
/// restores nothing.
fn move_sightings(context: &CommandContext<'_>, kept: &ShelveResult) {
    let Ok(Some(mut db)) = Database::open_existing(&context.places.database()) else { return };
    for entry in &kept.entries {
        if let Err(error) = sightings::follow_move(&mut db, entry.from.as_str(), entry.path.as_str()) {
            context.out.warn(format!("could not update the sightings of {}: {error}", entry.path));
        }
    }
}

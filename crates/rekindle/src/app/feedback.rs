//! Records whether a memory helped.

use rekindle_core::base::scope::{ProjectId, is_project_visible_in};
use rekindle_core::recall::document::Document;
use rekindle_core::recall::memory_usage::UsageSignal;
use rekindle_core::session::command_speaker::CommandSpeaker;
use rekindle_core::text::clean::one_line;
use rekindle_core::vault::entry::EntryProperties;
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::path::VaultPath;
use rekindle_engine::recall::find;
use rekindle_engine::recall::messages::MessageStore;
use rekindle_engine::recall::usage::UsageSummary;
use rekindle_engine::vault::{self, Vault};

use super::CommandContext;
use crate::error::CliError;

/// Records feedback on a memory; returns the memory's id and its new strength. An agent cannot rate memories
/// of other projects.
pub(crate) fn record(
    context: &CommandContext<'_>,
    memory: &str,
    signal: UsageSignal,
    speaker: CommandSpeaker,
) -> Result<(String, f32), CliError> {
    let id = match speaker {
        CommandSpeaker::Person => id(context, memory, &|vault| vault.find(memory, &context.cwd))?,
        CommandSpeaker::Agent => id_for_agent(context, memory)?,
    };
    let file = context.places.usage();
    UsageSummary::record(&file, &id, signal, context.now.timestamp())?;
    let strength = UsageSummary::read(&file).strength(&id);
    Ok((id, strength))
}

/// A lookup of the entry that a name means.
type EntryLookup<'a> = dyn Fn(&Vault) -> Result<VaultPath, vault::Error> + 'a;

/// Returns the id of an entry under any of its names. Other documents have only the id that `recall` prints.
fn id(context: &CommandContext<'_>, memory: &str, find: &EntryLookup<'_>) -> Result<String, CliError> {
    if memory.contains('#') {
        return Ok(memory.to_owned());
    }
    let vault = context.writable_vault()?;
    id_of(&vault, &find(&vault)?)
}

/// The id by which recall knows the memory in this file.
pub(crate) fn id_of(vault: &Vault, path: &VaultPath) -> Result<String, CliError> {
    let read = vault.read_entry(path)?;
    let id = ParsedNote::parse(&read.text).ok().and_then(|note| EntryProperties::of(&note, path).id);
    Ok(id.map_or_else(|| format!("{}/{path}", vault.folder_name()), |id| id.to_string()))
}

/// Returns the id of a document that an agent can see from here.
fn id_for_agent(context: &CommandContext<'_>, memory: &str) -> Result<String, CliError> {
    let here = context.save_scope();
    if memory.contains('#') {
        let found =
            find::document_by_id(&context.index(), &MessageStore::from_paths(&context.places), memory)?;
        let project = context.project_id().map(ProjectId::as_str);
        let is_here = |document: &Document| {
            is_project_visible_in(document.project.as_ref().map(ProjectId::as_str), project)
        };
        return found.filter(is_here).map(|found| found.id).ok_or_else(|| {
            CliError::usage(format!("there is no memory `{}`", one_line(memory, 80)))
                .hint("`rekindle recall` shows the ids")
        });
    }
    id(context, memory, &|vault| Ok(vault.find_for_agent(memory, &context.cwd, &here)?.0))
}

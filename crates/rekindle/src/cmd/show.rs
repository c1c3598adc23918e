//! `rekindle show`: prints the note of a memory.

use clap::Args;
use rekindle_core::vault::entry::{EntryProperties, title};
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::layout;
use serde_json::json;

use super::list;
use crate::app::CommandContext;
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
Prints the note as it is in its file.

Examples:
  rekindle show staging-port
  rekindle show m-7k2d9q0x1abc --json")]
pub(crate) struct ShowArgs {
    /// The memory: its id, path or slug
    #[arg(value_name = "ID|PATH")]
    reference: String,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl ShowArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let vault = context.vault()?;
        let path = vault.find(&self.reference, &context.cwd)?;
        let read = vault.read_entry(&path)?;
        if !self.json {
            return context.out.write(read.text.as_bytes());
        }
        let note = ParsedNote::parse(&read.text)
            .map_err(|source| rekindle_engine::vault::Error::Document { path: path.to_string(), source })?;
        let found = rekindle_engine::vault::ScannedEntry {
            shelf: layout::shelf_of(&path),
            entry: EntryProperties::of(&note, &path),
            title: title(note.body(), &path),
            path,
        };
        let mut object = list::object(context, &found);
        object["body"] = json!(note.body().trim_start_matches(['\n', '\r']));
        object["hash"] = json!(read.hash);
        context.out.json(&object)
    }
}

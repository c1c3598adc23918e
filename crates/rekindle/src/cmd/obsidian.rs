//! `rekindle obsidian`: writes the home note and the notes of projects.

use clap::Args;
use serde_json::json;

use crate::app::{CommandContext, home_notes};
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
Writes `Rekindle.md`, a table of all memories (`Rekindle.base`) and a note for each project into the vault folder, for
Obsidian and other note apps. They are rebuilt after each session if your notes are an Obsidian vault, or if you set
`vault.home_note` to `on`. Recall never reads them.

What you write around the rebuilt part of a note stays. If you change the part itself, your version is kept as a copy.

Examples:
  rekindle obsidian
  rekindle config set vault.home_note off")]
pub(crate) struct ObsidianArgs {
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl ObsidianArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let report = home_notes::save(context)?;
        for copy in &report.copies {
            context.out.warn(format!("you changed a derived note; your version is {}", copy.display()));
        }
        for theirs in &report.theirs {
            context.out.warn(format!(
                "{} is a note of yours, so nothing was written there; rename it to get ours",
                theirs.display()
            ));
        }
        if self.json {
            return context.out.json(&json!({
                "notes": report.notes, "written": report.written, "copies": report.copies, "left": report.theirs,
            }));
        }
        let folder = context.places.vault().display();
        context
            .out
            .line(format!("{} derived notes in {folder}, {} of them written.", report.notes, report.written))
    }
}

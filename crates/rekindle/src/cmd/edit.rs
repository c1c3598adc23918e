//! `rekindle edit`: edits a memory or a proposal in the person's editor.

use clap::Args;
use rekindle_core::base::hash::ContentHash;
use rekindle_core::vault::path::VaultPath;
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::platform::db::Database;
use rekindle_engine::platform::editor;
use rekindle_engine::review::proposals::{self, ProposalVerdict};
use serde_json::json;

use super::review_decide::decide;
use super::{id_match, text_argument};
use crate::app::CommandContext;
use crate::app::review::ScopeArgs;
use crate::dialog;
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
Opens the note of a memory in your editor ($VISUAL, else $EDITOR, else vi). When you leave the editor, the note is saved
and indexed; `rekindle undo` undoes the edit. If your edit breaks the frontmatter, nothing is saved: you see the wrong
line, and the next `rekindle edit` reopens your text.

With the id of a proposal, it opens the proposal's text and approves it with your changes; --text takes the new text
without an editor.

Examples:
  rekindle edit staging-port
  EDITOR=nano rekindle edit m-7k2d9q0x1abc
  rekindle edit p-20261115-001
  rekindle edit p-20261115-001 --text 'Run the tests with --release, except the fuzzers.'")]
pub(crate) struct EditArgs {
    /// The memory: its id, path or slug; or a proposal: its id, the beginning of the id, or its number
    #[arg(value_name = "NAME|ID")]
    id: String,
    /// With a proposal: the text to approve instead: TEXT, @FILE, or - for stdin
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    text: Option<String>,
    #[command(flatten)]
    reach: ScopeArgs,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl EditArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        match &self.text {
            None if !id_match::is_proposal(&self.id) => self.memory(context),
            text => {
                let ids = id_match::proposals(context, std::slice::from_ref(&self.id))?;
                let words = match text {
                    Some(text) => text_argument::read(text, &context.cwd)?,
                    None => match proposal_words(context, &ids)? {
                        Some(words) => words,
                        None => {
                            context.out.note("No changes, so no decision was made.");
                            return Ok(());
                        }
                    },
                };
                decide(context, &ids, &ProposalVerdict::Edit(words), self.reach, self.json)
            }
        }
    }

    fn memory(&self, context: &CommandContext<'_>) -> Result<(), CliError> {
        context.require_person_words("edit a memory")?;
        if self.reach.everywhere || self.reach.this_project {
            return Err(CliError::usage("--everywhere and --this-project work with proposals only"));
        }
        let vault = context.writable_vault()?;
        let path = vault.find(&self.id, &context.cwd)?;
        let read = vault.read_entry(&path)?;
        let (folder, name) = (context.places.editing_folder(), draft_name(&path));
        let draft = editor::draft(&folder, &name).map_err(CliError::new)?;
        if draft.is_some() {
            context.out.note(format!("Your last edit of {path} was not saved. Reopening it."));
        }
        let text = edit_text(context, &name, draft.as_deref().unwrap_or(&read.text))?;
        if text.trim().is_empty() || text.trim_end() == read.text.trim_end() {
            if !text.trim().is_empty() {
                editor::drop_draft(&folder, &name).map_err(CliError::new)?;
            }
            context.out.note(format!("No changes in {path}."));
            return Ok(());
        }
        let edited = match vault.edit_entry(&path, &read, &text, &context.now) {
            Ok(edited) => edited,
            Err(error) => {
                let kept = editor::keep_draft(&folder, &name, &text).map_err(CliError::new)?;
                let code = CliError::from(error);
                return Err(CliError {
                    message: format!("not saved: {}", code.message),
                    hint: Some(format!(
                        "the memory is unchanged. Your text is in {}; `rekindle edit {}` reopens it",
                        kept.display(),
                        self.id
                    )),
                    ..code
                });
            }
        };
        editor::drop_draft(&folder, &name).map_err(CliError::new)?;
        context.report_redactions(&edited.redacted, &edited.conflicts);
        if self.json {
            return context.out.json(&json!({
                "path": path,
                "file": context.file(path.as_str()),
                "change": edited.change,
                "redacted": edited.redacted,
                "conflicts": edited.conflicts,
            }));
        }
        context.out.line(format!("Saved {path}. Undo with `rekindle undo`."))
    }
}

/// Lets the person edit the text of a proposal; `None` if it was not changed.
fn proposal_words(context: &CommandContext<'_>, ids: &[ProposalId]) -> Result<Option<String>, CliError> {
    context.require_person("decide on proposals with a command")?;
    let [id] = ids else { return Ok(None) };
    let record = proposals::find_proposal(&Database::open(&context.places.database())?, *id)?;
    let record = record.ok_or_else(|| CliError::usage(format!("there is no proposal {id}")))?;
    let before = record.text();
    let after = edit_text(context, &id.to_string(), before)?;
    let is_changed = !after.trim().is_empty() && after.trim() != before.trim();
    Ok(is_changed.then(|| after.trim().to_owned()))
}

fn edit_text(context: &CommandContext<'_>, name: &str, text: &str) -> Result<String, CliError> {
    if editor::configured_editor().is_none() && !dialog::has_screen() {
        return Err(CliError::usage("an editor needs a terminal")
            .hint("set EDITOR, or use `rekindle evolve` for a memory and `--text` for a proposal"));
    }
    editor::edit(&context.places.editing_folder(), name, text).map_err(CliError::new)
}

/// The name of a memory's draft: its file name, and a hash that distinguishes equal names.
fn draft_name(path: &VaultPath) -> String {
    format!("{}-{}", path.stem(), ContentHash::of_bytes(path.as_str().as_bytes()).short_hex(8))
}

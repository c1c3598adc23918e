//! `rekindle forget`: deletes a memory and every copy of its text.

use clap::Args;
use rekindle_core::vault::journal::ChangeActor;
use rekindle_engine::ops::forget::{ForgetReport, ForgetRequest};
use rekindle_engine::recall::find;
use rekindle_engine::recall::messages::MessageStore;

use super::text_argument;
use crate::app::CommandContext;
use crate::app::forget::{forget_for_agent, lines};
use crate::dialog::{self, CANCELLED_TEXT};
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
Deletes the memory with all its versions, and the same statement wherever else Rekindle keeps it:
archive, conflict copies, MEMORY.md, daily logs, journal. You cannot undo this. A tombstone without the
text keeps it from being learnt again. Notes of yours outside the vault are listed, but not changed.
At a terminal it asks first; in a script it does not.

`rekindle rm` is the same command.

Examples:
  rekindle forget staging-port --dry-run
  rekindle forget m-7k2d9q0x1abc --yes
  rekindle forget 'claude/9a1c#msg-7'      # a message, by the id in `recall --json`
  rekindle forget --text 'The staging host is hermes.'")]
pub(crate) struct ForgetArgs {
    /// The memory: its id, path or slug; or the id of a line or message, as `recall --json` shows it
    #[arg(value_name = "ID|PATH", required_unless_present = "text")]
    reference: Option<String>,
    /// Forget this statement instead: TEXT, @FILE, or - for stdin
    #[arg(long, value_name = "TEXT|@FILE|-", conflicts_with = "reference", allow_hyphen_values = true)]
    text: Option<String>,
    /// Show what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Delete without asking
    #[arg(long, short = 'y')]
    yes: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl ForgetArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        if context.is_agent_shell() && !self.dry_run {
            return self.for_agent(context);
        }
        let vault = context.vault_for_forget()?;
        // Documents other than entries have only the id that `recall` printed. The statement behind it is
        // deleted everywhere.
        let (line, entry) = match self.reference {
            Some(reference) if reference.contains('#') => (Some(statement(context, &reference)?), None),
            reference => (None, reference),
        };
        let path = entry.map(|reference| vault.find(&reference, &context.cwd)).transpose()?;
        let text = self.text.map(|text| text_argument::read(&text, &context.cwd)).transpose()?.or(line);
        let what = match (&path, &text) {
            (Some(path), _) => ForgetRequest::Entry(path),
            (None, text) => ForgetRequest::Text(text.as_deref().unwrap_or_default()),
        };
        let asking = !self.yes && dialog::is_possible();
        if self.dry_run || asking {
            let plan = vault.plan_forget(what)?;
            if self.dry_run && self.json {
                return context.out.json(&plan);
            }
            report(context, &plan, "would go")?;
            if self.dry_run {
                return Ok(());
            }
            if !dialog::yes("This cannot be undone. Forget it?", false)? {
                context.out.note(CANCELLED_TEXT);
                return Ok(());
            }
        }
        let forgotten = vault.forget(what, ChangeActor::User, &context.now)?;
        match self.json {
            true => context.out.json(&forgotten),
            false => report(context, &forgotten, "gone"),
        }
    }
}

impl ForgetArgs {
    fn for_agent(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let Some(reference) = self.reference.filter(|reference| !reference.contains('#')) else {
            return context.require_person("forget a statement everywhere");
        };
        let forgotten = forget_for_agent(context, &reference)?;
        match self.json {
            true => context.out.json(&forgotten),
            false => report(context, &forgotten, "gone"),
        }
    }
}

/// Returns the text of a line, a section or a message by its `recall` id.
fn statement(context: &CommandContext<'_>, id: &str) -> Result<String, CliError> {
    match find::document_by_id(&context.index(), &MessageStore::from_paths(&context.places), id)? {
        Some(document) => Ok(document.text),
        None => Err(CliError::new(format!("there is no memory `{id}`"))
            .hint("find ids with `rekindle recall --json`, or forget a statement by its text with `--text`")),
    }
}

fn report(context: &CommandContext<'_>, forgotten: &ForgetReport, word: &str) -> Result<(), CliError> {
    for line in lines(forgotten, word) {
        context.out.line(line)?;
    }
    for file in &forgotten.also_in {
        context
            .out
            .warn(format!("{} says the same, but it is your own note and was not changed", file.display()));
    }
    Ok(())
}

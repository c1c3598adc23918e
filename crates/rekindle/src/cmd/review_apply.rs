//! `rekindle review apply`: applies an approved change to an identity file (IDN-05).

use clap::Args;
use rekindle_core::hosts::install::diff;
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::patches::{self, PendingPatch};
use serde_json::{Value, json};

use super::id_match;
use crate::app::CommandContext;
use crate::app::review::describe::outcome_with_author;
use crate::app::review::patches::{ApplicablePatch, apply_patch, pending, preview_patch};
use crate::app::review::read_page;
use crate::dialog;
use crate::error::CliError;

#[derive(Args)]
pub(crate) struct ApplyArgs {
    /// The proposals; without ids, every approved change
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Apply without asking
    #[arg(long)]
    yes: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl ApplyArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        context.writable_vault()?;
        read_page(context)?;
        let ids = if self.ids.is_empty() {
            pending_ids(context)?
        } else {
            id_match::proposals(context, &self.ids)?
        };
        if ids.is_empty() && !self.json {
            context.out.note("No approved changes to identity files.");
        }
        let mut answers = Vec::new();
        for id in ids {
            answers.push(self.apply_one(context, id)?);
        }
        if self.json {
            context.out.json(&json!({"patches": answers}))?;
        }
        Ok(())
    }

    fn apply_one(&self, context: &CommandContext<'_>, id: ProposalId) -> Result<Value, CliError> {
        let patch = match preview_patch(context, id)? {
            ApplicablePatch::Patch(patch) => patch,
            // The patch was already applied.
            ApplicablePatch::Applied(record) => {
                context
                    .out
                    .note(format!("{}; nothing left to apply.", outcome_with_author(context, &record)));
                let file = record.proposal.file();
                return Ok(json!({"id": id, "file": file, "diff": "", "applied": true}));
            }
        };
        let (name, amended) = (patch.record.proposal.file(), &patch.amended);
        let shown = diff::unified_diff(name, amended.before.as_deref(), Some(&amended.after));
        let file = amended.file.display().to_string();
        let answer = |applied: bool| json!({"id": id, "file": file, "diff": shown, "applied": applied});
        if !self.json {
            context.out.line(format!("{id} changes {file}:"))?;
            shown.lines().skip(2).try_for_each(|line| context.out.line(line))?;
        }
        if !self.yes {
            if !dialog::is_possible() {
                return Err(CliError::usage(format!(
                    "confirmation needs a terminal; {file} was not changed"
                ))
                .hint("see the change with `rekindle review`, then use --yes"));
            }
            if !dialog::yes(&format!("Change {name}?"), false)? {
                context.out.note(format!("Not applied. {id} stays pending."));
                return Ok(answer(false));
            }
        }
        apply_patch(context, &patch)?;
        if !self.json {
            context.out.line(format!("Applied {id} to {name}. Undo with `rekindle undo`."))?;
        }
        Ok(answer(true))
    }
}

fn pending_ids(context: &CommandContext<'_>) -> Result<Vec<ProposalId>, CliError> {
    Ok(pending(context)?.iter().map(|patch| patch.record.proposal.id).collect())
}

/// Prints the patches that wait to be applied, and returns them as JSON.
pub(super) fn pending_patches_json(
    context: &CommandContext<'_>,
    db: &Database,
) -> Result<Vec<Value>, CliError> {
    let waiting = patches::pending_patches(db, &context.vault()?)?;
    let about = |PendingPatch { record, fits }: &PendingPatch| {
        let id = record.proposal.id;
        let path = patches::path(&context.places.patches_folder(), id);
        let unfit = fits.as_ref().err().map(ToString::to_string);
        json!({"id": id, "file": record.proposal.file(), "text": record.text(),
            "patch": path.is_file().then_some(path), "unfit": unfit})
    };
    Ok(waiting.iter().map(about).collect())
}

//! `rekindle review apply`: applies an approved change to an identity file (IDN-05).

use clap::Args;
use rekindle_core::hosts::install::diff;
use rekindle_core::knowledge::proposal::ProposalStatus;
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::jobs::worker_lock::WorkerLock;
use rekindle_engine::pipeline::stages::promote::{self, PatchLook, PreparedPatch};
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::patches::{self, PendingPatch};
use rekindle_engine::review::proposals::ProposalRecord;
use serde_json::{Value, json};

use super::id_match;
use crate::app::CommandContext;
use crate::app::review::describe::outcome_with_author;
use crate::app::review::{WORKER_TIMEOUT, read_page};
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
        context.require_person("change an identity file")?;
        let worker_lock = acquire_worker_lock(context, id)?;
        promote::apply(&worker_lock, &context.stage_context(), &patch).map_err(|error| {
            CliError::new(format!("could not apply {id}: {error}"))
                .hint(format!("try again with `rekindle review apply {id}`"))
        })?;
        if !self.json {
            context.out.line(format!("Applied {id} to {name}. Undo with `rekindle undo`."))?;
        }
        Ok(answer(true))
    }
}

fn acquire_worker_lock(context: &CommandContext<'_>, id: ProposalId) -> Result<WorkerLock, CliError> {
    let worker_lock = WorkerLock::acquire(&context.places.locks_folder(), WORKER_TIMEOUT)?;
    worker_lock.ok_or_else(|| {
        CliError::new(format!("could not apply {id}: a worker is running"))
            .hint("try again when it has finished (see `rekindle runs`)")
    })
}

/// The state of a patch.
enum ApplicablePatch {
    Patch(Box<PreparedPatch>),
    /// The patch was applied before.
    Applied(Box<ProposalRecord>),
}

/// Looks up a patch. The worker's lock is released before the person reads it.
fn preview_patch(context: &CommandContext<'_>, id: ProposalId) -> Result<ApplicablePatch, CliError> {
    let worker_lock = acquire_worker_lock(context, id)?;
    match promote::prepare_patch(&worker_lock, &context.stage_context(), id).map_err(CliError::new)? {
        PatchLook::Patch(patch) => Ok(ApplicablePatch::Patch(patch)),
        PatchLook::Unfit(error) => {
            Err(CliError::new(format!("the patch of {id} no longer applies: {error}"))
                .hint(format!("reopen it with `rekindle undo {id}`, then edit or reject it")))
        }
        PatchLook::Otherwise(record) if record.proposal.status.is_open() => {
            Err(CliError::new(format!("{id} is not approved"))
                .hint(format!("see it with `rekindle review {id}`, approve it with `rekindle approve {id}`")))
        }
        PatchLook::Otherwise(record)
            if record.proposal.status == ProposalStatus::Promoted && record.proposal.identity().is_some() =>
        {
            Ok(ApplicablePatch::Applied(record))
        }
        PatchLook::Otherwise(record) => {
            let what = match record.proposal.identity() {
                Some(_) => outcome_with_author(context, &record),
                None => format!("{id} does not change an identity file; approving it is enough"),
            };
            Err(CliError::new(what))
        }
        PatchLook::Unknown => Err(CliError::usage(format!("there is no proposal {id}"))),
    }
}

fn pending_ids(context: &CommandContext<'_>) -> Result<Vec<ProposalId>, CliError> {
    let db = Database::open(&context.places.database())?;
    let waiting = patches::pending_patches(&db, &context.vault()?)?;
    Ok(waiting.iter().map(|patch| patch.record.proposal.id).collect())
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

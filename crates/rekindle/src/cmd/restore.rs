//! `rekindle restore`: puts a backup back.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use rekindle_core::text::plural::count_phrase;
use rekindle_engine::ops::backup::{RestoreAction, RestoreOptions, RestorePlan, StagedBackup};

use crate::app::CommandContext;
use crate::dialog::{self, CANCELLED_TEXT};
use crate::error::CliError;

/// The most files listed one by one.
const MAX_LISTED_FILES: usize = 20;

#[derive(Args)]
#[command(after_help = "\
The backup is unpacked and checked before the first file changes. What a restore replaces is backed up first,
into the state folder; the last three such copies stay. Files that the backup does not have stay, too, unless
you ask for an exact copy of the vault.

A restore asks before it replaces files that changed after the backup; in a script, it stops.

Examples:
  rekindle restore rekindle-2026-11-19.tar.gz --dry-run
  rekindle restore rekindle-2026-11-19.tar.gz --exact     # the vault as it was, without later memories
  age -d rekindle.tar.gz.age | rekindle restore - --yes
  rekindle restore old-laptop.tar.gz --device             # with its paths, accounts and programs")]
pub(crate) struct RestoreArgs {
    /// The backup, or - for stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// Also restore the settings and projects that belong to the machine of the backup
    #[arg(long)]
    device: bool,
    /// Remove what the backup does not have from the vault
    #[arg(long)]
    exact: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Replace newer files without asking
    #[arg(long, short = 'y')]
    yes: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl RestoreArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        context.require_person("restore a backup")?;
        let options = RestoreOptions { device: self.device, exact: self.exact };
        let mut input: Box<dyn Read> = if self.file == Path::new("-") {
            Box::new(std::io::stdin().lock())
        } else {
            let path = context.cwd.join(&self.file);
            let file = File::open(&path)
                .map_err(|error| CliError::usage(format!("cannot read {}: {error}", path.display())))?;
            Box::new(file)
        };
        let staged = context.out.with_progress("reading the backup", || {
            StagedBackup::unpack(&context.home, &context.places, &mut input)
        })?;
        let plan = staged.plan(&context.home, &context.places, options)?;
        if self.dry_run {
            return if self.json { context.out.json(&plan) } else { self.show(context, &plan) };
        }
        if !self.may_restore(context, &plan)? {
            context.out.note(CANCELLED_TEXT);
            return Ok(());
        }
        let report = staged.restore(&context.home, &context.places, options, context.now.timestamp())?;
        context.index_batch();
        if self.json {
            return context.out.json(&report);
        }
        let changed = report.plan.files.len() - report.plan.count(RestoreAction::Unchanged);
        context.out.line(format!(
            "Restored {} from {}",
            count_phrase(changed, "file"),
            context.day(plan.manifest.created)
        ))?;
        context.out.note(format!("Undo with `rekindle restore {} --exact`", report.before.display()));
        Ok(())
    }

    /// True if the person agrees, or if nothing newer would be lost.
    fn may_restore(&self, context: &CommandContext<'_>, plan: &RestorePlan) -> Result<bool, CliError> {
        let newer = plan.count(RestoreAction::ReplaceNewer) + plan.count(RestoreAction::Remove);
        if self.yes || newer == 0 {
            return Ok(true);
        }
        if !dialog::is_possible() {
            return Err(CliError::new(format!(
                "{} changed after this backup or not in it would be replaced or removed",
                count_phrase(newer, "file")
            ))
            .hint("look at them with `--dry-run`, then run it again with `--yes`; nothing was changed"));
        }
        self.show(context, plan)?;
        dialog::yes("Restore this backup? What it replaces is backed up first.", false)
    }

    fn show(&self, context: &CommandContext<'_>, plan: &RestorePlan) -> Result<(), CliError> {
        let out = context.out;
        out.line(format!(
            "Backup of {}, written by Rekindle {}",
            context.day(plan.manifest.created),
            plan.manifest.program
        ))?;
        if plan.is_empty() {
            return out.line("Everything in it is here already.");
        }
        let groups = [
            (RestoreAction::ReplaceNewer, "replaced, although newer here"),
            (RestoreAction::Remove, "removed, because the backup does not have it"),
            (RestoreAction::Replace, "replaced"),
            (RestoreAction::Create, "created"),
        ];
        for (action, label) in groups {
            let files: Vec<&PathBuf> =
                plan.files.iter().filter(|file| file.action == action).map(|file| &file.path).collect();
            for path in files.iter().take(MAX_LISTED_FILES) {
                out.line(format!("{label}: {}", path.display()))?;
            }
            if files.len() > MAX_LISTED_FILES {
                out.line(format!("{label}: {} more", files.len() - MAX_LISTED_FILES))?;
            }
        }
        let unchanged = plan.count(RestoreAction::Unchanged);
        if unchanged > 0 {
            out.line(format!("unchanged: {}", count_phrase(unchanged, "file")))?;
        }
        Ok(())
    }
}

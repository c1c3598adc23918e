//! `rekindle backup`: writes everything into one file.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use rekindle_core::text::plural::count_phrase;
use rekindle_engine::ops::backup::{BackupReport, write_backup};
use rekindle_engine::platform::disk;

use crate::app::CommandContext;
use crate::error::CliError;
use crate::output::format_bytes;

#[derive(Args)]
#[command(after_help = "\
The file holds your vault, Ideas.md, identity files and settings, the stored messages, the undo journal and
the database. Derived data and logs are left out. What belongs to this machine (paths, accounts, programs,
project folders) is in a folder `device` of its own. Secrets are not in it: the settings only name the
variables that hold keys.

The file is not encrypted, but it can be piped into a program that encrypts.

Examples:
  rekindle backup                                 # rekindle-2026-11-19.tar.gz in this folder
  rekindle backup ~/Backups/rekindle.tar.gz --force
  rekindle backup - | age -p > rekindle.tar.gz.age")]
pub(crate) struct BackupArgs {
    /// The file to write, or - for stdout
    #[arg(value_name = "FILE|-")]
    file: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl BackupArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let now = context.now.timestamp();
        let file =
            self.file.clone().unwrap_or_else(|| format!("rekindle-{}.tar.gz", context.day(now)).into());
        if file == Path::new("-") {
            return self.to_stdout(context);
        }
        let path = context.cwd.join(file);
        if path.exists() && !self.force {
            return Err(CliError::usage(format!("{} already exists", path.display()))
                .hint("name another file, or replace it with `--force`"));
        }
        let failed = |error: io::Error| {
            CliError::new(format!("cannot write {}: {error}", path.display()))
                .hint("check that the folder exists, can be written to and has room")
        };
        if !path.parent().is_some_and(Path::is_dir) {
            return Err(failed(io::ErrorKind::NotFound.into()));
        }
        let mut outcome = None;
        let written = context.out.with_progress("backing up", || {
            disk::write_atomic_with(&path, &mut |file| {
                let report = write_backup(&context.home, &context.places, file, now);
                let done = report.as_ref().map(|_| ()).map_err(|_| io::Error::other("the backup failed"));
                outcome = Some(report);
                done
            })
        });
        let report = match outcome {
            Some(report) => report?,
            None => return written.map_err(failed),
        };
        written.map_err(failed)?;
        self.tell(context, &report, &path)
    }

    fn to_stdout(&self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let mut output = io::stdout().lock();
        if output.is_terminal() {
            return Err(CliError::usage("a backup is not text, so it is not written to a terminal")
                .hint("name a file, or pipe the output: `rekindle backup - | age -p > FILE`"));
        }
        write_backup(&context.home, &context.places, &mut output, context.now.timestamp())?;
        Ok(output.flush()?)
    }

    fn tell(&self, context: &CommandContext<'_>, report: &BackupReport, path: &Path) -> Result<(), CliError> {
        if self.json {
            return context.out.json(&serde_json::json!({
                "path": path, "files": report.files, "notes": report.notes, "bytes": report.bytes,
            }));
        }
        context.out.line(format!(
            "Backed up {} ({}, {}) to {}",
            count_phrase(usize::try_from(report.files).unwrap_or(usize::MAX), "file"),
            count_phrase(usize::try_from(report.notes).unwrap_or(usize::MAX), "note"),
            format_bytes(usize::try_from(report.bytes).unwrap_or(usize::MAX)),
            path.display()
        ))
    }
}

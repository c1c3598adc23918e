//! `rekindle worker`: processes finished sessions.

use std::time::Duration;

use clap::Args;
use rekindle_engine::jobs::spool::Spool;
use rekindle_engine::jobs::worker_lock::WorkerLock;
use rekindle_engine::pipeline::stages::{STAGE_REGISTRY, index};
use rekindle_engine::pipeline::worker::{self, WORKER_LIFETIME, WorkerPhase, WorkerStats};
use rekindle_engine::platform::background;
use rekindle_engine::recall::messages::MessageStore;
use serde_json::json;

use crate::app::CommandContext;
use crate::app::{gate, health, home_notes, milestones, week};
use crate::error::CliError;

/// The longest wait of `--once` for a running worker.
const WORKER_LOCK_TIMEOUT: Duration = Duration::from_secs(15 * 60);

#[derive(Args)]
#[command(after_help = "\
Hooks start a worker when there is work, and it exits when it is done; there is no daemon and no port. By hand
it is useful in scripts, or where hooks may not start one (capture.background = false).

Examples:
  rekindle worker
  rekindle worker --once     # waits for a running worker, then does the rest
  rekindle worker --watch    # stays, until Ctrl-C or a STOP file")]
pub(crate) struct WorkerArgs {
    /// Wait for a running worker, then do what is due and exit
    #[arg(long, conflicts_with = "watch")]
    once: bool,
    /// Keep running
    #[arg(long)]
    watch: bool,
    /// On its own, without a word, while nobody waits
    #[arg(long, hide = true, conflicts_with_all = ["once", "watch"])]
    background: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// The mode of the worker.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkerMode {
    /// Waits for a running worker, then runs until nothing is due.
    Drain {
        /// The longest wait for a running worker.
        patience: Duration,
    },
    /// Runs like `Drain`, for a limited time and without waiting.
    Background,
    /// Runs until it is stopped.
    Watch,
}

/// Runs the worker; `None` if another one is running.
pub(crate) fn run_worker(
    context: &CommandContext<'_>,
    mode: WorkerMode,
) -> Result<Option<WorkerStats>, CliError> {
    let mut all: Option<WorkerStats> = None;
    let patience = if let WorkerMode::Drain { patience } = mode { patience } else { Duration::ZERO };
    loop {
        let Some(worker_lock) = WorkerLock::acquire(&context.places.locks_folder(), patience)? else {
            return Ok(all);
        };
        let mut stage_context = context.stage_context();
        if mode == WorkerMode::Background {
            stage_context = stage_context.with_time_limit(WORKER_LIFETIME);
        }
        // Works in batches, so that memory stays flat and a permanent worker can report. After a failure, the
        // next batch or the next worker does the work.
        let mut at = |moment| match moment {
            // A new session should know changes made by other programs (STO-14). If they cannot be read,
            // recall uses the existing index.
            WorkerPhase::Began => {
                if let Err(error) = index::refresh_index(&stage_context) {
                    let what = "changes made elsewhere are not indexed yet";
                    context.out.warn(format!("{what}: {}", error.message));
                }
            }
            WorkerPhase::Worked => {
                context.index_batch();
                if let Err(error) = MessageStore::from_paths(&context.places).update(&mut |_, _| {}) {
                    context.out.warn(error);
                }
                if mode == WorkerMode::Watch {
                    health::check_after_work(context, false);
                }
            }
        };
        let done = match mode {
            WorkerMode::Watch => worker::run_forever(&worker_lock, &stage_context, &STAGE_REGISTRY, &mut at)?,
            _ => worker::run_pending(&worker_lock, &stage_context, &STAGE_REGISTRY, &mut at)?,
        };
        if done.begun > 0 {
            // Changes found at the session start may need more embeddings than are computed in passing.
            context.index_batch();
        }
        all = Some(all.unwrap_or_default().merge(done));
        drop(worker_lock);
        // A hook that arrived during the shutdown saw a running worker and started none.
        if stage_context.should_stop()
            || Spool::in_folder(context.places.spool_folder()).oldest_files(1)?.is_empty()
        {
            return Ok(all);
        }
    }
}

impl WorkerArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        if self.background {
            background::detach();
        }
        if !context.settings.config.memory.enabled || context.places.stop_file().exists() {
            let why = match context.settings.config.memory.enabled {
                false => "memory.enabled is false".to_owned(),
                true => format!("{} exists", context.places.stop_file().display()),
            };
            context.out.note(format!("The worker does not run while {why}."));
            return Ok(());
        }
        let mode = match (self.watch, self.background) {
            (true, _) => WorkerMode::Watch,
            (_, true) => WorkerMode::Background,
            _ => WorkerMode::Drain { patience: if self.once { WORKER_LOCK_TIMEOUT } else { Duration::ZERO } },
        };
        let done = run_worker(context, mode);
        let failed = match &done {
            Ok(stats) => stats.is_some_and(|stats| stats.failed + stats.dead + stats.broken > 0),
            Err(_) => true,
        };
        health::check_after_work(context, failed);
        week::save_if_due(context);
        home_notes::save_if_wanted(context);
        milestones::record(context);
        gate::start_if_due(context);
        let Some(stats) = done? else {
            if !self.background {
                context.out.note("Another worker is running. To wait for it, use `--once`.");
            }
            return Ok(());
        };
        if self.background {
            return Ok(());
        }
        if self.json {
            return context.out.json(&json!({
                "taken": stats.taken, "broken": stats.broken, "completed": stats.completed, "skipped": stats.skipped,
                "failed": stats.failed, "dead": stats.dead,
            }));
        }
        if stats.broken > 0 {
            context.out.warn(format!(
                "{} spool files could not be read; they are in {}",
                stats.broken,
                context.places.spool_folder().join("broken").display()
            ));
        }
        let mut parts = vec![format!("{} done", stats.completed)];
        let more = [(stats.skipped, "skipped"), (stats.failed, "to be retried"), (stats.dead, "dead")];
        parts.extend(
            more.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")),
        );
        context.out.line(parts.join(", "))
    }
}

//! `rekindle friction`: looks for recurring problems.

use std::time::Duration;

use clap::Args;
use rekindle_core::event::{Event, names};
use rekindle_core::run::RunStatus;
use rekindle_engine::jobs::queue::{RunFilter, RunQueue, RunRecord};
use rekindle_engine::pipeline::stages::{STAGE_REGISTRY, friction};
use rekindle_engine::platform::db::Database;
use rekindle_engine::platform::random;
use rekindle_engine::review::proposals;
use serde_json::{Value, json};

use super::worker::{self, WorkerMode};
use crate::app::CommandContext;
use crate::error::CliError;

/// The longest wait for a running worker.
const WORKER_LOCK_TIMEOUT: Duration = Duration::from_secs(15 * 60);

#[derive(Args)]
#[command(after_help = "\
Runs the daily seven o'clock analysis now: it searches the observations of the last seven days for corrections you had
to repeat, commands that keep failing, and outdated lines of MEMORY.md. Each fix is a proposal with the file, the
exact line and the evidence; nothing changes before you approve it. If it finds nothing, it says why
(friction.min_observations, friction.min_days and friction.min_sessions set the thresholds).

`rekindle friction` and `rekindle review friction` are the same command.

Examples:
  rekindle friction
  rekindle friction --json | jq '.report.why'")]
pub(crate) struct FrictionArgs {
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl FrictionArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        context.writable_vault()?;
        let at = context.now.timestamp();
        let event = Event {
            id: random::change_id(at)?.as_str().to_owned(),
            name: names::FRICTION_REQUESTED.to_owned(),
            data: json!({}),
            at,
        };
        let mut queue = RunQueue::new(Database::open(&context.places.database())?);
        queue.enqueue(&STAGE_REGISTRY, std::slice::from_ref(&event), at)?;
        if worker::run_worker(context, WorkerMode::Drain { patience: WORKER_LOCK_TIMEOUT })?.is_none() {
            return Err(CliError::new("timed out waiting for another worker")
                .hint("see `rekindle runs` for its progress; the analysis is queued and will run"));
        }
        let runs = queue.history(&RunFilter { since: Some(at), ..RunFilter::default() })?;
        let run = runs.into_iter().find(|run| run.event == event.id && run.function == friction::FRICTION);
        let run = run.ok_or_else(|| {
            CliError::new("the analysis did not run").hint("see `rekindle doctor` for the cause")
        })?;
        if matches!(run.status, RunStatus::Failed | RunStatus::Dead) {
            let why = run.error.as_deref().unwrap_or("unknown reason").to_owned();
            return Err(CliError::new(format!("the analysis failed: {why}"))
                .hint(format!("see `rekindle run {}` for details", run.id)));
        }
        self.show(context, &run)
    }

    fn show(&self, context: &CommandContext<'_>, run: &RunRecord) -> Result<(), CliError> {
        let report = run.output.clone().unwrap_or_else(|| json!({"why": run.reason, "proposed": []}));
        let db = Database::open(&context.places.database())?;
        let ids = report["proposed"].as_array().cloned().unwrap_or_default();
        let mut found = Vec::new();
        for id in ids.iter().filter_map(Value::as_str).filter_map(|id| id.parse().ok()) {
            found.extend(proposals::get(&db, id)?);
        }
        if self.json {
            return context.out.json(&json!({"run": run.id, "proposals": found, "report": report}));
        }
        for proposal in &found {
            context.out.line(format!("{}  {}", proposal.id, proposal.title))?;
            context.out.line(format!("  {}", proposal.text))?;
        }
        match report["why"].as_str() {
            Some(why) => context.out.note(format!("No proposals: {why}.")),
            None => context.out.note("Review them and their evidence with `rekindle review`."),
        }
        Ok(())
    }
}

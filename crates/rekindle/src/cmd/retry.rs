//! `rekindle retry`: retries failed runs.

use clap::Args;
use rekindle_core::run::RunStatus;
use rekindle_engine::jobs::hooks;
use rekindle_engine::jobs::queue::RunFilter;
use serde_json::json;

use super::run;
use crate::app::CommandContext;
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
A run continues at the step that failed; finished steps are not repeated. You can also retry a run at once that is
waiting for its next attempt.

Examples:
  rekindle retry 7QK2M4XA
  rekindle retry --all")]
pub(crate) struct RetryArgs {
    /// The ids of the runs, or the ends of them
    #[arg(required_unless_present = "all", value_name = "ID")]
    ids: Vec<String>,
    /// Retry every run that failed for good
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl RetryArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let mut queue = context.queue()?;
        let ids: Vec<String> = match &queue {
            Some(queue) if self.all => {
                let dead = RunFilter { status: Some(RunStatus::Dead), ..RunFilter::default() };
                queue.history(&dead)?.into_iter().map(|run| run.id).collect()
            }
            found => {
                let mut ids = Vec::new();
                for id in &self.ids {
                    let run = run::find(found.as_ref(), id)?;
                    if !matches!(run.status, RunStatus::Dead | RunStatus::Failed) {
                        return Err(CliError::usage(format!(
                            "run {id} is {}; only failed and dead runs can be retried",
                            run.status
                        )));
                    }
                    ids.push(run.id);
                }
                ids
            }
        };
        let revived = match &mut queue {
            Some(queue) => queue.retry_dead(&ids)?,
            None => 0,
        };
        if revived > 0 && context.settings.config.capture.background {
            hooks::wake_worker(&context.home, &context.places)?;
        }
        match self.json {
            true => context.out.json(&json!({"revived": revived})),
            false if revived == 0 => context.out.line("No failed runs to retry."),
            false => {
                context.out.line(format!("{revived} queued for retry; follow them with `rekindle runs`"))
            }
        }
    }
}

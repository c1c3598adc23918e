//! `rekindle gate`: proves that memory works, from the agents' hooks to the next session.

use std::time::Duration;

use clap::Args;
use rekindle_core::base::time::format_utc;
use rekindle_engine::ops::gate::history;
use rekindle_engine::platform::background;
use serde_json::json;

use crate::app::CommandContext;
use crate::app::gate::{GatePace, print, run_and_record};
use crate::error::CliError;

// A doc comment here would become the help of each command that takes these options.
#[derive(Args)]
pub(crate) struct GatePaceArgs {
    /// The longest wait for one stage, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 120_000, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    wait_ms: u64,
    /// The pause between two looks, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    poll_ms: u64,
}

impl GatePaceArgs {
    pub(crate) fn pace(&self) -> GatePace {
        GatePace { wait: Duration::from_millis(self.wait_ms), poll: Duration::from_millis(self.poll_ms) }
    }
}

#[derive(Args)]
#[command(after_help = "\
For each connected agent it reads the hooks back from the agent's settings and calls them as the agent does: a session
states a random fact, the next one is asked for it, a third changes it, and then it is forgotten. It also checks the weekly
job and everything that `rekindle health` checks. All of it happens in a scratch folder that is removed afterwards; your
vault, your index and your agents' transcripts stay as they are. The exit code is 1 if anything fails.

It runs by itself once a week and after an update (setting gate.weekly). `rekindle e2e` and `rekindle weekly` run its
parts alone.

Examples:
  rekindle gate
  rekindle gate --history
  rekindle gate --json | jq -r '.nextActions[]'")]
pub(crate) struct GateArgs {
    #[command(flatten)]
    pace: GatePaceArgs,
    /// List the past gates, the newest first, and run none
    #[arg(long)]
    history: bool,
    /// On its own, without a word, while nobody waits
    #[arg(long, hide = true, conflicts_with = "history")]
    background: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl GateArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        if self.background {
            background::detach();
            background::lower_priority();
            return run_and_record(context, self.pace.pace()).map(drop);
        }
        if self.history {
            return self.list(context);
        }
        let report = context.out.with_progress("Sending a fact through the hooks…", || {
            run_and_record(context, self.pace.pace())
        })?;
        print(context, &report, self.json)
    }

    fn list(&self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let mut records = history::read(&context.places);
        records.reverse();
        if self.json {
            return context.out.json(&json!({"gates": records}));
        }
        if records.is_empty() {
            return context.out.line("No gate has run yet.");
        }
        for record in records {
            let verdict = if record.ok { "green" } else { "red  " };
            let at = format_utc(record.at);
            context.out.line(format!("{at}  {verdict}  {:>5.1} s  {}", record.seconds, record.version))?;
            for failed in &record.failed {
                let agent = failed.agent.map_or_else(String::new, |agent| format!("{agent}: "));
                context.out.line(format!("{}{agent}{}", " ".repeat(22), failed.failure.what))?;
            }
        }
        Ok(())
    }
}

//! `rekindle e2e`: the round trip of a fact through the installed hooks, alone.

use clap::Args;
use rekindle_core::telemetry::gate::GatePart;

use super::gate::GatePaceArgs;
use crate::app::CommandContext;
use crate::app::gate::{print, run};
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
The part of `rekindle gate` that sends a random fact through the hooks of every connected agent: captured, distilled,
recalled in the next session, superseded by a new value, and forgotten. Nothing of it stays. With --json it also reports
the run that captured the session, the number of memories before and after, and the hits of `rekindle recall`.

Examples:
  rekindle e2e
  rekindle e2e --wait-ms 120000 --poll-ms 1500 --json")]
pub(crate) struct E2eArgs {
    #[command(flatten)]
    pace: GatePaceArgs,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl E2eArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let work = || run(context, &[GatePart::Setup, GatePart::E2e], self.pace.pace());
        let report = context.out.with_progress("Sending a fact through the hooks…", work)?;
        print(context, &report, self.json)
    }
}

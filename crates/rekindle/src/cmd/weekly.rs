//! `rekindle weekly`: checks the weekly job, alone.

use clap::Args;
use rekindle_core::telemetry::gate::GatePart;

use super::gate::GatePaceArgs;
use crate::app::CommandContext;
use crate::app::gate::{print, run};
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
The part of `rekindle gate` that checks the weekly job: is it scheduled, did the last one succeed, and does it run. The
trial run happens in a scratch folder that is removed afterwards, so your own week is not counted twice. `rekindle week`
shows what a week brought.

Examples:
  rekindle weekly
  rekindle weekly --wait-ms 60000 --poll-ms 1000 --json")]
pub(crate) struct WeeklyArgs {
    #[command(flatten)]
    pace: GatePaceArgs,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl WeeklyArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let work = || run(context, &[GatePart::Setup, GatePart::Weekly], self.pace.pace());
        let report = context.out.with_progress("Running the weekly job…", work)?;
        print(context, &report, self.json)
    }
}

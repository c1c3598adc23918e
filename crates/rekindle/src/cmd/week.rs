//! `rekindle week`: shows what a week brought.

use clap::Args;
use rekindle_core::knowledge::week::page;

use crate::app::{CommandContext, week};
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
One page in Markdown: what was learnt, what agents used, what you had to say again although a memory says it, what waits
for you, and what it cost. Once a week the page is also written into the `_meta` folder of your vault, which recall never
reads.

Examples:
  rekindle week
  rekindle week --ago 1
  rekindle week --save
  rekindle week --json | jq .repeated")]
pub(crate) struct WeekArgs {
    /// Show the seven days that ended N weeks ago
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=52))]
    ago: u32,
    /// Write the page into the vault as well
    #[arg(long)]
    save: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl WeekArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let week = week::gather(context, self.ago)?;
        if self.save {
            let path = week::save(context, &week, context.actor())?;
            context.out.note(format!("Written to {}.", path.display()));
        }
        match self.json {
            true => context.out.json(&week),
            false => context.out.line(page(&week).trim_end()),
        }
    }
}

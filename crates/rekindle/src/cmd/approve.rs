//! `rekindle approve`

use clap::Args;
use rekindle_engine::proposals::Verdict;

use super::named;
use super::review_decide::decide;
use crate::app::Context;
use crate::app::review::Reach;
use crate::error::Failure;

#[derive(Args)]
#[command(after_help = "\
Approving twice is approving once. `rekindle undo` takes a promotion back.

What was said in a project will hold in that project; --everywhere keeps it for all. A line that takes the place of
another holds where that one held.

Examples:
  rekindle approve p-20261115-001
  rekindle approve p-20261115-001 --everywhere  # in every project
  rekindle approve p-20261115-001 p-20261115-004 --json
  rekindle approve p-20261115-005 --keep-both   # the line that it would take the place of stays")]
pub(crate) struct Approve {
    /// Their ids as `rekindle review` shows them, or the beginning of one, or its number
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Leave a line of MEMORY.md that it names as it is, instead of striking it
    #[arg(long)]
    keep_both: bool,
    #[command(flatten)]
    reach: Reach,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Approve {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        let verdict = if self.keep_both { Verdict::KeepBoth(None) } else { Verdict::Approve };
        decide(context, &named::proposals(context, &self.ids)?, &verdict, self.reach, self.json)
    }
}

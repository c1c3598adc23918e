//! `rekindle reject`

use clap::Args;
use rekindle_core::vault::review::Id;
use rekindle_engine::proposals::Verdict;

use super::review;
use crate::compose::Context;
use crate::error::Failure;

/// Say no to proposals: nobody asks about them again
#[derive(Args)]
#[command(after_help = "\
What was turned down stays in the log of the day, with its id and its words.

Examples:
  rekindle reject p-20261115-002
  rekindle reject p-20261115-002 p-20261115-003")]
pub(crate) struct Reject {
    /// Which, as `rekindle review` shows them
    #[arg(value_name = "ID", required = true)]
    ids: Vec<Id>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Reject {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        review::decide(context, &self.ids, &Verdict::Reject, self.json)
    }
}

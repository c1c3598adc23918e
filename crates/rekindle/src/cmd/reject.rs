//! `rekindle reject`

use clap::Args;
use rekindle_engine::proposals::Verdict;

use super::named;
use super::review_decide::decide;
use crate::app::Context;
use crate::app::review::Reach;
use crate::error::Failure;

#[derive(Args)]
#[command(after_help = "\
What was turned down stays in the log of the day, with its id, its words and the reason, if you give one. A memory that
was kept of the same words goes to the archive. `rekindle undo ID` takes both back.

Examples:
  rekindle reject p-20261115-002 --reason 'only true for the old server'
  rekindle reject p-20261115-002 p-20261115-003")]
pub(crate) struct Reject {
    /// Their ids as `rekindle review` shows them, or the beginning of one, or its number
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Why not, in a few words
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Reject {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        let verdict = self.reason.map_or(Verdict::Reject, Verdict::RejectFor);
        decide(context, &named::proposals(context, &self.ids)?, &verdict, Reach::default(), self.json)
    }
}

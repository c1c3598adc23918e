//! `rekindle approve`: approves proposals.

use clap::Args;
use rekindle_engine::review::proposals::ProposalVerdict;

use super::id_match;
use super::review_decide::decide;
use crate::app::CommandContext;
use crate::app::review::ScopeArgs;
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
An approved proposal goes to MEMORY.md, or to the file it names. It applies to the project where it was said;
--everywhere applies it to every project. A line that replaces another keeps its scope. `rekindle undo ID` undoes the
decision; approving twice does no harm.

`rekindle approve` and `rekindle review approve` are the same command.

Examples:
  rekindle approve p-20261115-001
  rekindle approve p-20261115-001 --everywhere  # in every project
  rekindle approve p-20261115-001 p-20261115-004 --json
  rekindle approve p-20261115-005 --keep-both   # keeps the line it would replace")]
pub(crate) struct ApproveArgs {
    /// The proposals: ids as `rekindle review` shows them, their beginnings, or their numbers
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Keep the line of MEMORY.md that it would replace
    #[arg(long)]
    keep_both: bool,
    #[command(flatten)]
    reach: ScopeArgs,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl ApproveArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let verdict = if self.keep_both { ProposalVerdict::KeepBoth(None) } else { ProposalVerdict::Approve };
        decide(context, &id_match::proposals(context, &self.ids)?, &verdict, self.reach, self.json)
    }
}

//! `rekindle reject`: rejects proposals.

use clap::Args;
use rekindle_engine::review::proposals::ProposalVerdict;

use super::id_match;
use super::review_decide::decide;
use crate::app::CommandContext;
use crate::app::review::ScopeArgs;
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
A rejected proposal stays in the log of the day, with its id, its text and your reason. A memory saved from the same
statement goes to the archive. `rekindle undo ID` undoes both.

`rekindle reject` and `rekindle review reject` are the same command.

Examples:
  rekindle reject p-20261115-002 --reason 'only true for the old server'
  rekindle reject p-20261115-002 p-20261115-003")]
pub(crate) struct RejectArgs {
    /// The proposals: ids as `rekindle review` shows them, their beginnings, or their numbers
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// The reason, in a few words
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl RejectArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let verdict = self.reason.map_or(ProposalVerdict::Reject, ProposalVerdict::RejectFor);
        decide(context, &id_match::proposals(context, &self.ids)?, &verdict, ScopeArgs::default(), self.json)
    }
}

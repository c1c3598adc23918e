//! `rekindle edit`

use clap::Args;
use rekindle_core::vault::review::Id;
use rekindle_engine::proposals::Verdict;

use super::body;
use super::review_decide::{Reach, decide};
use crate::compose::Context;
use crate::error::Failure;

#[derive(Args)]
#[command(after_help = "\
Examples:
  rekindle edit p-20261115-001 --text 'Run the tests with --release, except the fuzzers.'
  $EDITOR rule.txt && rekindle edit p-20261115-001 --text @rule.txt")]
pub(crate) struct Edit {
    /// Which, as `rekindle review` shows it
    #[arg(value_name = "ID")]
    id: Id,
    /// What should be remembered instead: TEXT, @FILE, or - for stdin
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    text: String,
    #[command(flatten)]
    reach: Reach,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Edit {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        let text = body::read(&self.text, &context.cwd)?;
        decide(context, &[self.id], &Verdict::Edit(text), self.reach, self.json)
    }
}

//! `rekindle edit`

use clap::Args;
use rekindle_engine::proposals::Verdict;

use super::review_decide::decide;
use super::{body, named};
use crate::app::Context;
use crate::app::review::Reach;
use crate::error::Failure;

#[derive(Args)]
#[command(after_help = "\
Examples:
  rekindle edit p-20261115-001 --text 'Run the tests with --release, except the fuzzers.'
  $EDITOR rule.txt && rekindle edit p-20261115-001 --text @rule.txt")]
pub(crate) struct Edit {
    /// Its id as `rekindle review` shows it, or the beginning of it, or its number
    #[arg(value_name = "ID")]
    id: String,
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
        let ids = named::proposals(context, &[self.id])?;
        decide(context, &ids, &Verdict::Edit(text), self.reach, self.json)
    }
}

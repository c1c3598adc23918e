//! `rekindle feedback`: rates a memory.

use clap::{Args, ValueEnum};
use rekindle_core::recall::memory_usage::UsageSignal;
use rekindle_engine::recall::usage::UsageSummary;
use serde_json::json;

use crate::app::CommandContext;
use crate::app::feedback::record;
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
A memory that helped ranks a little higher from now on; one that misled or is outdated, a little lower. Nothing is
deleted: `rekindle evolve` corrects a memory, `rekindle forget` deletes it.

Examples:
  rekindle feedback m-0123456789ab good
  rekindle feedback personal-private/fix/staging-port.md stale")]
pub(crate) struct FeedbackArgs {
    /// The memory: its id, or its path
    #[arg(value_name = "ID|PATH")]
    memory: String,
    /// Your verdict
    #[arg(value_enum)]
    word: FeedbackWord,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum FeedbackWord {
    /// It helped
    Good,
    /// It misled
    Wrong,
    /// It is outdated
    Stale,
}

impl FeedbackArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let signal = match self.word {
            FeedbackWord::Good => UsageSignal::Good,
            FeedbackWord::Wrong => UsageSignal::Wrong,
            FeedbackWord::Stale => UsageSignal::Stale,
        };
        let (id, strength) = record(context, &self.memory, signal, context.speaker())?;
        if self.json {
            let standing = UsageSummary::read(&context.places.usage()).memory_usage(&id);
            return context.out.json(&json!({"id": id, "strength": strength, "usage": standing}));
        }
        context.out.line(format!("Saved. The strength of {id} is now {strength:+.1} (from -1 to +1)."))
    }
}

//! `rekindle feedback`: rates a memory.

use clap::{Args, ValueEnum};
use rekindle_engine::recall::usage::{Signal, Usage};
use serde_json::json;

use crate::app::Context;
use crate::app::feedback::record;
use crate::error::Failure;

#[derive(Args)]
#[command(after_help = "\
A memory that helped ranks a little higher from now on; one that misled or is outdated, a little lower. Nothing is
deleted: `rekindle evolve` corrects a memory, `rekindle forget` deletes it.

Examples:
  rekindle feedback m-0123456789ab good
  rekindle feedback personal-private/fix/staging-port.md stale")]
pub(crate) struct Feedback {
    /// The memory: its id, or its path
    #[arg(value_name = "ID|PATH")]
    memory: String,
    /// Your verdict
    #[arg(value_enum)]
    word: Word,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Word {
    /// It helped
    Good,
    /// It misled
    Wrong,
    /// It is outdated
    Stale,
}

impl Feedback {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        let signal = match self.word {
            Word::Good => Signal::Good,
            Word::Wrong => Signal::Wrong,
            Word::Stale => Signal::Stale,
        };
        let (id, strength) = record(context, &self.memory, signal, context.speaker())?;
        if self.json {
            let standing = Usage::read(&context.places.usage()).standing(&id);
            return context.out.json(&json!({"id": id, "strength": strength, "usage": standing}));
        }
        context.out.line(format!("Noted. The strength of {id} is now {strength:+.1} (from -1 to +1)."))
    }
}

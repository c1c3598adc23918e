//! `rekindle note`: adds an observation to today's log.

use clap::Args;
use rekindle_core::base::provenance::Origin;
use serde_json::json;

use super::text_argument;
use crate::app::CommandContext;
use crate::app::note::note;
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
For you, and for agents in the middle of a session. The observation is in today's log a moment later, and recall finds
it. `rekindle save` keeps something for good.

Examples:
  rekindle note \"the staging database is read-only on Fridays\"
  rekindle note --agent --session s1 \"tests need REDIS_URL\"
  git log -1 --format=%s | rekindle note -")]
pub(crate) struct NoteArgs {
    /// The observation; - for stdin
    text: String,
    /// An agent says it, not you
    #[arg(long)]
    agent: bool,
    /// The session it belongs to
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl NoteArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let origin = if self.agent { Origin::Agent } else { context.speaker().origin() };
        let id = note(context, &text_argument::read(&self.text, &context.cwd)?, origin, self.session)?;
        match self.json {
            true => context.out.json(&json!({"id": id})),
            false => context.out.line("Noted"),
        }
    }
}

//! `rekindle note`

use clap::Args;
use rekindle_core::base::provenance::Origin;
use rekindle_core::event::{Noted, names};
use rekindle_core::text::admit;
use serde_json::json;

use super::{body, send};
use crate::compose::Context;
use crate::error::Failure;

#[derive(Args)]
#[command(after_help = "\
For you and for agents in the middle of a session: one observation, as it is. It is in the log of the day a moment
later. `rekindle save` keeps something for good.

Examples:
  rekindle note \"the staging database is read-only on Fridays\"
  rekindle note --agent --session s1 \"tests need REDIS_URL\"
  git log -1 --format=%s | rekindle note -")]
pub(crate) struct Note {
    /// What to note; `-` for standard input
    text: String,
    /// Said by an agent, not by you
    #[arg(long)]
    agent: bool,
    /// The session it belongs to
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Note {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        let origin = if self.agent { Origin::Agent } else { context.speaker().origin() };
        let id = note(context, &body::read(&self.text, &context.cwd)?, origin, self.session)?;
        match self.json {
            true => context.out.json(&json!({"id": id})),
            false => context.out.line("Noted"),
        }
    }
}

/// Leaves a note for the worker and says under which id.
pub(crate) fn note(
    context: &Context<'_>,
    text: &str,
    origin: Origin,
    session_id: Option<String>,
) -> Result<String, Failure> {
    let admitted = admit(text);
    if admitted.text.trim().is_empty() {
        return Err(Failure::usage("there is nothing to note").hint("rekindle note \"what to note\""));
    }
    context.mention(&admitted.redacted, &[]);
    let noted = Noted {
        text: admitted.text,
        origin,
        session_id,
        messages: Vec::new(),
        said_at: Some(context.now.timestamp()),
        cwd: context.cwd.to_str().map(str::to_owned),
        pasted: false,
    };
    let data = serde_json::to_value(noted).map_err(Failure::new)?;
    send::leave(context, names::NOTED, data)
}

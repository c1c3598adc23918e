//! `rekindle evolve`: gives a memory a new version.

use clap::Args;
use rekindle_core::session::command_speaker::CommandSpeaker;
use rekindle_core::vault::review::ProposalId;
use serde_json::json;

use super::text_argument;
use crate::app::CommandContext;
use crate::app::evolve::{EvolveOutcome, evolve_for_agent, renew};
use crate::error::CliError;

/// The session name of an agent that runs the command instead of calling the tool.
const SHELL_ORIGIN: &str = "shell";

#[derive(Args)]
#[command(after_help = "\
The memory keeps its name, and the old version goes to the archive with the reason. `rekindle edit` changes a memory in
your editor instead.

Examples:
  rekindle evolve staging-port --body 'Staging Postgres listens on 5434.' --reason 'moved hosts'
  rekindle evolve m-7k2d9q0x1abc --body @new.md --reason 'rewritten after the incident'")]
pub(crate) struct EvolveArgs {
    /// The memory: its id, path or slug
    #[arg(value_name = "ID|PATH")]
    reference: String,
    /// The new text: TEXT, @FILE, or - for stdin
    #[arg(long, short = 'b', value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    body: String,
    /// The reason for the change; it is kept with the new version
    #[arg(long, short = 'r', value_name = "TEXT", allow_hyphen_values = true)]
    reason: String,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl EvolveArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let body = text_argument::read(&self.body, &context.cwd)?;
        let (reference, reason) = (&self.reference, &self.reason);
        let evolved = match context.speaker() {
            CommandSpeaker::Person => renew(context, reference, &body, reason)?,
            CommandSpeaker::Agent => {
                match evolve_for_agent(context, reference, &body, reason, SHELL_ORIGIN)? {
                    EvolveOutcome::Evolved(evolved) => evolved,
                    EvolveOutcome::Proposed(id) => return self.proposed(context, id, true),
                    EvolveOutcome::TurnedDown(id) => return self.proposed(context, id, false),
                }
            }
        };
        context.report_redactions(&evolved.redacted, &evolved.conflicts);
        if self.json {
            return context.out.json(&json!({
                "id": evolved.id,
                "path": evolved.path,
                "file": context.file(evolved.path.as_str()),
                "archive": evolved.archive,
                "change": evolved.change,
                "redacted": evolved.redacted,
                "conflicts": evolved.conflicts,
            }));
        }
        context.out.line(format!("{} is now {}", evolved.path, evolved.id))?;
        context.out.line(format!("The old version is now {}", evolved.archive))
    }
}

impl EvolveArgs {
    fn proposed(&self, context: &CommandContext<'_>, id: ProposalId, waits: bool) -> Result<(), CliError> {
        match (self.json, waits) {
            (true, _) => context.out.json(&json!({"proposed": id, "waits": waits})),
            (false, true) => {
                context.out.line(format!("Proposed as {id}; the memory changes once you approve it"))
            }
            (false, false) => context.out.line(format!("Not changed: you already decided {id}")),
        }
    }
}

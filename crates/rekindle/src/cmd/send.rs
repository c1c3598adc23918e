//! `rekindle send`: sends an event to the worker.

use clap::Args;
use rekindle_core::base::provenance::Origin;
use rekindle_core::event::{self, names};
use rekindle_core::session::command_speaker::CommandSpeaker;
use rekindle_engine::pipeline::stages::STAGE_REGISTRY;
use serde_json::{Value, json};

use super::text_argument;
use crate::app::CommandContext;
use crate::app::events::leave;
use crate::error::CliError;

/// The events that an agent may send: its own observations, and requests that decide nothing. Every other
/// event would speak for the person or a host: approvals, button presses, tasks, session messages and calls
///
const AGENT_EVENTS: [&str; 3] = [names::OBSERVATION_NOTED, names::FRICTION_REQUESTED, names::SYNC_REQUESTED];
/// The largest data of an event, in bytes.
const MAX_DATA_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Args)]
#[command(after_help = "\
When the command returns, the event is on disk; a worker processes it.

Examples:
  rekindle send session/observation.noted --data '{\"text\":\"the staging database is read-only on Fridays\"}'
  rekindle send memory/session.ended --data @session.json
  make-event | rekindle send voice/call.completed --data -")]
pub(crate) struct SendArgs {
    /// The name of the event, such as session/observation.noted
    event: String,
    /// The data as JSON: TEXT, @FILE, or - for stdin
    #[arg(long, value_name = "JSON|@FILE|-")]
    data: String,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl SendArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        if !AGENT_EVENTS.contains(&self.event.as_str()) {
            context.require_person(&format!("send {}", self.event))?;
        }
        let text = text_argument::read_limited(MAX_DATA_BYTES, &self.data, &context.cwd)?;
        let mut data: Value = serde_json::from_str(&text)
            .map_err(|error| CliError::usage(format!("the data is not JSON: {error}")))?;
        event::check(&self.event, &data)?;
        if !STAGE_REGISTRY.known_events().contains(self.event.as_str()) {
            return Err(CliError::usage(format!("no function listens to `{}`", self.event)));
        }
        // Only the person can send the person's words.
        if self.event == names::OBSERVATION_NOTED
            && context.speaker() == CommandSpeaker::Agent
            && data.get("origin").is_some()
        {
            data["origin"] = json!(Origin::Agent);
        }
        let id = leave(context, &self.event, data)?;
        match self.json {
            true => context.out.json(&json!({"id": id, "event": self.event})),
            false => context.out.line(format!("Sent {} ({id})", self.event)),
        }
    }
}

//! `rekindle send`

use clap::Args;
use rekindle_core::base::provenance::Origin;
use rekindle_core::event::{self, Event, names};
use rekindle_core::session::speaker::Speaker;
use rekindle_engine::jobs::hooks;
use rekindle_engine::jobs::spool::{Spool, What};
use rekindle_engine::pipeline::stages::REGISTRY;
use rekindle_engine::platform::random;
use serde_json::{Value, json};

use super::body;
use crate::compose::Context;
use crate::error::Failure;

/// What an agent may send: its own observations, and requests that decide nothing. Everything else would speak for the person
/// or for a host: approvals, button presses, tasks, what was said in a session or a call.
const FOR_AGENTS: [&str; 3] = [names::NOTED, names::FRICTION_REQUESTED, names::SYNC_REQUESTED];
/// The most that an event may hold.
const MAX_DATA_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Args)]
#[command(after_help = "\
The event is on the disk when this returns; a worker takes it from there.

Examples:
  rekindle send session/observation.noted --data '{\"text\":\"the staging database is read-only on Fridays\"}'
  rekindle send memory/session.ended --data @session.json
  make-event | rekindle send voice/call.completed --data -")]
pub(crate) struct Send {
    /// The event's name, such as session/observation.noted
    event: String,
    /// Its data as JSON: the text itself, `@FILE`, or `-` for standard input
    #[arg(long, value_name = "JSON|@FILE|-")]
    data: String,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Send {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        if !FOR_AGENTS.contains(&self.event.as_str()) {
            context.only_the_person(&format!("send {}", self.event))?;
        }
        let text = body::read_up_to(MAX_DATA_BYTES, &self.data, &context.cwd)?;
        let mut data: Value = serde_json::from_str(&text)
            .map_err(|error| Failure::usage(format!("the data is not JSON: {error}")))?;
        event::check(&self.event, &data)?;
        if !REGISTRY.heard().contains(self.event.as_str()) {
            return Err(Failure::usage(format!("nothing listens to `{}` yet", self.event)));
        }
        // Nobody but the person can send their words.
        if self.event == names::NOTED && context.speaker() == Speaker::Agent && data.get("origin").is_some() {
            data["origin"] = json!(Origin::Agent);
        }
        let id = leave(context, &self.event, data)?;
        match self.json {
            true => context.out.json(&json!({"id": id, "event": self.event})),
            false => context.out.line(format!("Sent {} ({id})", self.event)),
        }
    }
}

/// Leaves an event for the worker, and wakes one.
pub(crate) fn leave(context: &Context<'_>, name: &str, data: Value) -> Result<String, Failure> {
    let id = random::change_id(context.now.timestamp())?.as_str().to_owned();
    leave_as(context, &id, name, data)?;
    Ok(id)
}

/// The same for one that may come again: the same id counts once.
pub(crate) fn leave_as(context: &Context<'_>, id: &str, name: &str, mut data: Value) -> Result<(), Failure> {
    if !context.settings.config.memory.enabled {
        return Err(Failure::new("memory is switched off by memory.enabled, so nothing is sent"));
    }
    let redacted = event::admit(&mut data);
    context.mention(&redacted, &[]);
    let at = context.now.timestamp();
    let event = Event { id: id.to_owned(), name: name.to_owned(), data, at };
    Spool::at(context.places.spool()).put(What::Event(event), at)?;
    if context.settings.config.capture.background {
        hooks::wake(&context.home, &context.places)?;
    }
    Ok(())
}

//! Sends events to the worker.

use rekindle_core::event::{self, Event};
use rekindle_engine::jobs::hooks;
use rekindle_engine::jobs::spool::{Spool, SpoolPayload};
use rekindle_engine::platform::random;
use serde_json::Value;

use super::CommandContext;
use crate::error::CliError;

/// Sends an event to the worker and starts one.
pub(crate) fn leave(context: &CommandContext<'_>, name: &str, data: Value) -> Result<String, CliError> {
    let id = random::change_id(context.now.timestamp())?.as_str().to_owned();
    leave_as(context, &id, name, data)?;
    Ok(id)
}

/// Sends an event with a given id. Repeated ids count once.
pub(crate) fn leave_as(
    context: &CommandContext<'_>,
    id: &str,
    name: &str,
    mut data: Value,
) -> Result<(), CliError> {
    if !context.settings.config.memory.enabled {
        return Err(CliError::new("memory is off (memory.enabled), so nothing is sent"));
    }
    let redacted = event::redact_data(&mut data);
    context.report_redactions(&redacted, &[]);
    let at = context.now.timestamp();
    let event = Event { id: id.to_owned(), name: name.to_owned(), data, at };
    Spool::in_folder(context.places.spool_folder()).write_entry(SpoolPayload::Event(event), at)?;
    if context.settings.config.capture.background {
        hooks::wake_worker(&context.home, &context.places)?;
    }
    Ok(())
}

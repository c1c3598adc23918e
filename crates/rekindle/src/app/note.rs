//! Adds one observation to the log of the day.

use rekindle_core::base::provenance::Origin;
use rekindle_core::event::{ObservationNoted, names};
use rekindle_core::text::clean_and_redact;

use super::{CommandContext, events};
use crate::error::CliError;

/// Sends a note to the worker and returns its event id.
pub(crate) fn note(
    context: &CommandContext<'_>,
    text: &str,
    origin: Origin,
    session_id: Option<String>,
) -> Result<String, CliError> {
    let admitted = clean_and_redact(text);
    if admitted.text.trim().is_empty() {
        return Err(CliError::usage("the note is empty").hint("rekindle note \"what to note\""));
    }
    context.report_redactions(&admitted.redacted, &[]);
    let noted = ObservationNoted {
        text: admitted.text,
        origin,
        session_id,
        messages: Vec::new(),
        said_at: Some(context.now.timestamp()),
        cwd: context.cwd.to_str().map(str::to_owned),
        pasted: false,
    };
    let data = serde_json::to_value(noted).map_err(CliError::new)?;
    events::leave(context, names::OBSERVATION_NOTED, data)
}

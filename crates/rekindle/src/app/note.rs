//! Adds one observation to the log of the day.

use rekindle_core::base::provenance::Origin;
use rekindle_core::event::{Noted, names};
use rekindle_core::text::admit;

use super::{Context, events};
use crate::error::Failure;

/// Sends a note to the worker and returns its event id.
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
    events::leave(context, names::NOTED, data)
}

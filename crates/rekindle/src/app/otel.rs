//! Telemetry for a person: reads events and says what could not be read.

use jiff::SignedDuration;
use rekindle_core::telemetry::stats::TelemetryStats;
use rekindle_core::telemetry::{EventLevel, TelemetryEvent};
use rekindle_engine::telemetry::read::read;
use rekindle_engine::telemetry::store::TelemetryFilter;

use super::CommandContext;

/// What to list.
pub(crate) struct TelemetryQuery {
    pub(crate) hours: u32,
    pub(crate) stage: Option<String>,
    pub(crate) level: Option<EventLevel>,
    pub(crate) text: Option<String>,
}

/// Lists the events of the last hours, newest first. What could not be read is a warning.
pub(crate) fn events(context: &CommandContext<'_>, query: TelemetryQuery) -> Vec<TelemetryEvent> {
    let since = context.now.timestamp() - SignedDuration::from_hours(i64::from(query.hours));
    let TelemetryQuery { stage, level, text, .. } = query;
    let filter = TelemetryFilter { since: Some(since), stage, level, text };
    let listing = read(&context.places, &filter, context.settings.config.memory.log_level);
    if let Some(error) = listing.table_error {
        context.out.warn(format!("{error}; these events are from the log files alone (`rekindle doctor`)"));
    }
    if listing.damaged > 0 {
        context.out.warn(format!("{} damaged event(s) were left out", listing.damaged));
    }
    listing.events
}

/// Sums up the events of the last hours.
pub(crate) fn stats(context: &CommandContext<'_>, query: TelemetryQuery) -> TelemetryStats {
    TelemetryStats::of(&events(context, query))
}

//! Telemetry for a person: reads events and says what could not be read.

use jiff::SignedDuration;
use rekindle_core::telemetry::stats::TelemetryStats;
use rekindle_core::telemetry::{EventLevel, TelemetryEvent};
use rekindle_engine::platform::db::Database;
use rekindle_engine::telemetry::export::{self, ExportState};
use rekindle_engine::telemetry::fold::fold;
use rekindle_engine::telemetry::read::read;
use rekindle_engine::telemetry::store::TelemetryFilter;

use super::CommandContext;
use crate::error::CliError;

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

/// Sends everything that the collector has not taken, and returns the number of events and the state after that.
pub(crate) fn export(context: &CommandContext<'_>) -> Result<(u64, ExportState), CliError> {
    let config = &context.settings.config;
    let settings = &config.telemetry.otlp;
    if !settings.enabled {
        return Err(CliError::usage("the export of events is off").hint(
            "`rekindle config set telemetry.otlp.url URL` names the collector, \
             `rekindle config set telemetry.otlp.enabled true` switches it on",
        ));
    }
    let mut db = Database::open(&context.places.database())?;
    fold(&mut db, &context.places.logs_folder(), config.memory.log_level)?;
    let mut all = 0;
    loop {
        let sent = export::export(&mut db, settings, context.now.timestamp())?;
        all += sent;
        let state = export::state(&db, settings)?;
        if sent == 0 || state.waiting == 0 {
            return Ok((all, state));
        }
    }
}

//! Lists events for a person: from the table and the ring, and from the logs alone if the database is broken.

use std::collections::HashSet;

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::config::LogLevel;
use rekindle_core::telemetry::TelemetryEvent;
use rekindle_core::telemetry::log_lines::{hook_event, recall_event};

use super::fold::fold;
use super::ring::WarningRing;
use super::store::{self, TelemetryFilter};
use crate::agents::hook_log;
use crate::platform::db::Database;
use crate::platform::home::DataPaths;
use crate::recall::log::RecallLog;

/// Events, and what could not be read.
#[derive(Debug, Default)]
pub struct TelemetryListing {
    /// The events, newest first.
    pub events: Vec<TelemetryEvent>,
    /// The number of unreadable rows and lines.
    pub damaged: u64,
    /// The reason why the table could not be read. The events are from the files then.
    pub table_error: Option<String>,
}

/// Lists the events that pass a filter, newest first. It never fails: what can be read is listed.
pub fn read(places: &DataPaths, filter: &TelemetryFilter, level: LogLevel) -> TelemetryListing {
    let logs = places.logs_folder();
    let mut listing = TelemetryListing::default();
    match from_table(places, filter, level) {
        Ok(stored) => (listing.events, listing.damaged) = (stored.events, stored.damaged),
        Err(error) => {
            listing.table_error = Some(error.to_string());
            let hooks = hook_log::read_recent(&logs).ok().into_iter().flatten();
            let recall_log = RecallLog::in_folder(&logs);
            let recall = recall_log.read().ok().into_iter().flatten();
            listing.events.extend(hooks.filter_map(|line| hook_event(&line)));
            listing.events.extend(recall.filter_map(|line| recall_event(&line)));
            listing.events.retain(|event| filter.accepts(event));
        }
    }
    match WarningRing::in_folder(&logs).read() {
        Ok(ring) => {
            listing.damaged += ring.damaged;
            let known: HashSet<String> = listing.events.iter().map(|event| event.id.clone()).collect();
            let new = ring.events.into_iter().filter(|event| !known.contains(&event.id));
            listing.events.extend(new.filter(|event| filter.accepts(event)));
        }
        Err(_) => listing.damaged += 1,
    }
    // Stable, so events of the same instant keep their order in the table.
    listing.events.sort_by_key(|event| std::cmp::Reverse(event.at));
    listing
}

fn from_table(
    places: &DataPaths,
    filter: &TelemetryFilter,
    level: LogLevel,
) -> Result<store::StoredEvents, crate::platform::db::Error> {
    let mut db = Database::open(&places.database())?;
    fold(&mut db, &places.logs_folder(), level).ignore_failure("the worker folds the lines later");
    store::list(&db, filter)
}

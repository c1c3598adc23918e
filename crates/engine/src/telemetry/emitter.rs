//! The emitter (O11-01): every event of every stage goes through it.

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::config::LogLevel;
use rekindle_core::telemetry::TelemetryEvent;
use rusqlite::Connection;

use super::ring::WarningRing;
use super::store;
use crate::platform::db::Database;
use crate::platform::home::DataPaths;

/// Stores events and mirrors warnings. It never fails: telemetry must not stop what it reports on.
#[derive(Clone, Debug)]
pub struct TelemetryEmitter {
    ring: WarningRing,
    level: LogLevel,
}

impl TelemetryEmitter {
    /// Creates an emitter for a home, with the level of `memory.log_level`.
    pub fn new(places: &DataPaths, level: LogLevel) -> Self {
        Self { ring: WarningRing::in_folder(&places.logs_folder()), level }
    }

    /// The least severe events that are stored.
    pub fn level(&self) -> LogLevel {
        self.level
    }

    /// Stores an event in the transaction that it reports on, so that it costs no commit of its own. The
    /// caller mirrors it after the commit.
    pub(crate) fn store(&self, transaction: &Connection, event: &TelemetryEvent) {
        if event.level.is_stored_at(self.level) {
            store::insert(transaction, event).ignore_failure("the table is damaged, which `health` reports");
        }
    }

    /// Writes a warning or an error to the ring, too.
    pub fn mirror(&self, event: &TelemetryEvent) {
        if event.level.is_mirrored() && event.level.is_stored_at(self.level) {
            self.ring.append(event).ignore_failure("the disk is full or the file is damaged; work goes on");
        }
    }

    /// Stores and mirrors an event of its own. Without a database it is only mirrored.
    pub fn emit(&self, db: Option<&mut Database>, event: &TelemetryEvent) {
        if let Some(db) = db.filter(|_| event.level.is_stored_at(self.level)) {
            db.change(|transaction| store::insert(transaction, event))
                .ignore_failure("the ring has it if it matters");
        }
        self.mirror(event);
    }
}

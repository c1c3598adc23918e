//! Telemetry: events of the stages, as ids and numbers.
//!
//! - [`event`]: an event and its metadata (O11-02, O11-04)
//! - [`error_kind`]: the kind of an error, in place of its message
//! - [`log_lines`]: events from the lines of the hook log and the recall log
//! - [`stats`]: events summed up by stage
//! - [`gate`]: the verdict of the self-test, and when it is due
//! - [`health`]: checks of what is measured, and their thresholds
//! - [`milestones`]: milestones of an installation, for the system log

pub mod error_kind;
pub mod event;
pub mod gate;
pub mod health;
pub mod log_lines;
pub mod milestones;
pub mod stats;

pub use self::error_kind::ErrorKind;
pub use self::event::{EventLevel, EventPhase, TelemetryEvent};

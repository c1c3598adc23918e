//! Telemetry: stores and reads the events of the stages (O11-01).
//!
//! - [`emitter`]: stores an event, and mirrors warnings
//! - [`store`]: the table `otel_events`, bounded in size and age
//! - [`ring`]: warnings and errors in a small file that survives a broken database
//! - [`fold`]: turns the lines that hooks and recall append into events
//! - [`read`]: lists events for a person
//! - `otlp`: events as messages of OTLP
//! - [`export`]: sends events to a collector of the person's
//!
//! Hooks never come here, except with a failure: they append a line to their log, and the worker folds it in.

pub mod emitter;
pub mod export;
pub mod fold;
mod otlp;
pub mod read;
pub mod ring;
pub mod store;

pub use self::emitter::TelemetryEmitter;

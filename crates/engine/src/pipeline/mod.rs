//! The pipeline from a finished session to memories: its stages, and the worker that runs them.
//!
//! - [`worker`]: drains the spool and the queue
//! - `worker_events`: what a worker reports about itself
//! - [`stages`]: the functions of the registry
//! - [`backfill`]: distils sessions from before the installation
//! - [`observations`]: the store of observations
//! - [`sightings`]: repetitions of the same observation
//! - [`statements`]: the statement classifier

pub mod backfill;
pub mod observations;
pub mod sightings;
pub mod stages;
pub mod statements;
pub mod worker;
mod worker_events;

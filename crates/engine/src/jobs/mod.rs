//! Background jobs: the spool of the hooks, the durable queue, and the context of a running job.
//!
//! - [`queue`]: events, runs, leases and retries
//! - [`context`]: the settings, places and stores that a job works with
//! - [`worker_lock`]: at most one worker at a time
//! - [`spool`]: events that hooks leave for the worker
//! - [`sessions`]: open sessions and their markers
//! - [`shared`]: locks, the hot list and decisions that several machines share
//! - [`hooks`]: records the events that hooks report
//! - [`health`]: what hooks need to know of the queue without opening it

pub mod context;
pub mod health;
pub mod hooks;
pub mod queue;
pub mod sessions;
pub mod shared;
pub mod spool;
pub mod worker_lock;

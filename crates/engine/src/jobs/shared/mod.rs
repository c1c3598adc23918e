//! State that several machines share (STO-01…05, B-16): locks, the hot list, proposals and their decisions.
//!
//! The database of this machine has everything and answers every question, so a server may be away at any time. It is
//! where machines find what the others have: the stage `share` compares both sides and repeats nothing. Hooks never
//! reach this module.
//!
//! - `locks`: the interface of locks, and the locks of this machine
//! - [`redis`]: a Redis server
//! - [`servers`]: builds the server of the settings, and knows how it is and which ones hold text of ours

#[cfg(test)]
pub(crate) mod contract;
pub(crate) mod locks;
pub mod redis;
pub mod servers;

use thiserror::Error;

/// The reason a server did not do what it was asked.
#[derive(Debug, Error)]
#[error("{what}")]
pub struct SharedError {
    /// The server and what went wrong.
    pub what: String,
    /// The advice to the person.
    pub hint: &'static str,
}

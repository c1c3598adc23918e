//! The agents on this machine: their settings, their transcripts, and our hooks in them.
//!
//! - [`install`]: connects and disconnects agents
//! - [`transcripts`]: reads transcripts as messages
//! - [`hook_log`]: the log of hook calls
//! - [`identity`]: the identity files that every agent should read

pub mod hook_log;
pub mod identity;
pub mod install;
pub mod transcripts;

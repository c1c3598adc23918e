//! Injection: the lines that hooks put in front of an agent, and the log of them.
//!
//! - [`alerts`]: what the health checks found, for the person
//! - [`inject`]: the briefing at session start and the memories for a prompt
//! - [`injection_log`]: the lines that each session received
//! - [`injection_stats`]: injected lines and their tokens over time
//! - [`notices`]: one-line notices to the person

pub mod alerts;
pub mod inject;
pub mod injection_log;
pub mod injection_stats;
pub mod notices;

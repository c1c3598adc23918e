//! The decisions of Rekindle, without I/O.
//!
//! Everything here is pure: text and values in, text and values out. No files, environment, clock or processes;
//! `clippy.toml` beside this crate enforces it. A module depends only on modules above it in this list:
//!
//! - [`base`]: time, ids, hashes, scope, provenance
//! - [`config`]: settings, their layers and defaults
//! - [`text`]: cleaning, redaction, terms, similarity and contradiction of statements
//! - [`llm`]: requests to language models and their prompts
//! - [`project`]: the project that a folder belongs to
//! - [`run`]: retries and schedules of background runs
//! - [`vault`]: the documents on disk: parse, change, render
//! - [`session`]: transcripts of agents as messages and turns
//! - [`event`]: the event contract between stages
//! - [`recall`]: indexing, ranking and the relevance gate
//! - [`knowledge`]: observations, proposals, triage, feedback, review through Todoist and Telegram
//! - [`telemetry`]: events of the stages, without text; health checks and their thresholds
//! - [`context`]: briefing and injected memories
//! - [`hosts`]: hooks and settings of the agents

pub mod base;
pub mod config;
pub mod context;
pub mod event;
#[cfg(test)]
mod fixtures;
pub mod hosts;
pub mod knowledge;
pub mod llm;
pub mod project;
pub mod recall;
pub mod run;
pub mod session;
pub mod telemetry;
pub mod text;
pub mod vault;

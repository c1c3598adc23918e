//! The I/O of Rekindle: files, SQLite, processes and models behind the decisions of [`rekindle_core`].
//!
//! A module depends only on modules above it in this list; `tests/it/house.rs` enforces it:
//!
//! - [`platform`]: the machine: files, clock, environment, SQLite, HTTP
//! - [`config`]: settings files and the folders of the notes
//! - [`project`]: the project that a folder belongs to
//! - [`agents`]: settings, transcripts and hooks of the agents
//! - [`llm`]: language models and their cost
//! - [`index`]: the search index and the models that fill it
//! - [`vault`]: the only writer of Markdown, and the sources of recall
//! - [`recall`]: asking the index, keeping it current, messages of sessions
//! - [`telemetry`]: events of the stages: stored, mirrored and read
//! - [`jobs`]: the queue, and what a running job may use
//! - [`review`]: proposals and where the person decides on them
//! - [`context`]: the lines that hooks put in front of an agent
//! - [`pipeline`]: from a finished session to memories
//! - [`ops`]: setting up an installation, checking it, and forgetting for good

pub mod agents;
pub mod config;
pub mod context;
pub mod index;
pub mod jobs;
pub mod llm;
pub mod ops;
pub mod pipeline;
pub mod platform;
pub mod project;
pub mod recall;
pub mod review;
pub mod telemetry;
#[cfg(test)]
mod test_notes;
pub mod vault;

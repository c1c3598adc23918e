//! Answers queries from the index, and keeps the index up to date with the notes.
//!
//! - [`query_embedding`]: a prompt on its way to a vector
//! - [`search`]: from a prompt to the order of everything that was found
//! - [`ask`]: from there to what is shown, each hit checked against its file
//! - `observation_merger`: what was observed several times is one hit
//! - [`relevance_gate`]: whether the best hit is shown at all
//! - [`indexer`]: what changed in the notes arrives in the index
//! - [`index_condition`]: whether the index is as good as it could be
//! - [`find`]: what an id means that an answer has named
//! - [`usage`], [`log`]: what helped, and what was answered
//! - [`eval`]: how good the answers are on the person's own notes
//! - [`mod@bench`]: the same on conversations from outside, to be measured

pub mod ask;
pub mod bench;
pub mod eval;
pub mod find;
pub mod index_condition;
pub mod indexer;
pub mod log;
pub mod messages;
mod observation_merger;
pub mod query_embedding;
pub mod relevance_gate;
pub mod search;
pub mod usage;

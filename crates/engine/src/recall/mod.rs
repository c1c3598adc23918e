//! Answers queries from the index, and keeps the index up to date with the notes.
//!
//! - [`query_embedding`]: the embedding of a prompt, on its own thread
//! - [`search`]: ranking all documents for a prompt
//! - [`ask`]: the answer to a prompt, each hit checked against its file
//! - `observation_merger`: merging repeated observations into one hit
//! - [`relevance_gate`]: the measures by which the best hits are shown or not
//! - [`indexer`]: updating the index after changes of the notes
//! - [`index_condition`]: the condition of the index
//! - [`find`]: looking up an id from an answer
//! - [`usage`], [`log`]: the usage of memories, and the log of answers
//! - [`eval`]: the recall quality on the person's own notes
//! - [`mod@bench`]: benchmarks on external conversations

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

//! The search index: memory-mapped segments that a new process can query in milliseconds.
//!
//! It is derived from the Markdown: if you delete the folder, the same index is rebuilt.
//!
//! - `format`, `nibbles`, `postings`, `build`, `merge`, [`segment`]: the file format of a segment, writing
//!   and reading it
//! - `manifest`, `frames`, [`store`]: generations, their deltas, and the locks of writers
//! - [`snapshot`]: the index as one reader sees it; `scan`: a query against all its vectors
//! - [`embedding`]: computing missing vectors

mod build;
pub mod embedding;
mod format;
mod frames;
pub(crate) mod manifest;
pub(crate) mod merge;
mod nibbles;
mod postings;
mod scan;
pub mod segment;
pub mod snapshot;
pub mod store;
#[cfg(test)]
mod tests;

/// Builds a segment for lexical search only.
pub(crate) fn words_segment(units: Vec<PreparedUnit>) -> Vec<u8> {
    build::build(&VectorSpace { model: String::new(), dimension: 0 }, units)
}

pub use build::{EmbeddedWindow, PreparedDocument, PreparedUnit, VectorSpace};
pub use embedding::Embedder;
pub use format::SegmentDamage;
pub use snapshot::{IndexSize, IndexSnapshot};
pub use store::{DeltaAppender, EmbeddingLock, Error, GenerationWriter, OldBytes, RecallIndex};
pub mod models;

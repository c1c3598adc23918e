//! The search index: memory-mapped segments that a new process can query in milliseconds.
//!
//! It is derived from the Markdown: if you delete the folder, it is rebuilt the same.
//!
//! - `format`, `nibbles`, `postings`, `build`, `merge`, [`segment`]: the bytes of a segment, writing and reading them
//! - `manifest`, `frames`, [`store`]: generations, the delta beside them, and who may change them
//! - [`snapshot`]: the whole as one reader sees it; `scan`: a query against all its vectors
//! - [`embedding`]: making the vectors that are missing

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

/// The bytes of a segment whose documents are found by their words alone.
pub(crate) fn words_segment(units: Vec<PreparedUnit>) -> Vec<u8> {
    build::build(&VectorSpace { model: String::new(), dimension: 0 }, units)
}

pub use build::{EmbeddedWindow, PreparedDocument, PreparedUnit, VectorSpace};
pub use embedding::Embedder;
pub use format::SegmentDamage;
pub use snapshot::{IndexSize, IndexSnapshot};
pub use store::{DeltaAppender, EmbeddingLock, Error, GenerationWriter, OldBytes, RecallIndex};
pub mod models;

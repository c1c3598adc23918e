//! The search index: memory-mapped segments that a new process can query in milliseconds.
//!
//! It is derived from the Markdown: if you delete the folder, the same index is rebuilt.
//!
//! - `format`, `nibbles`, `postings`, `build`, `merge`, [`segment`]: the file format of a segment, writing
//!   and reading it
//! - `segment_folder`: numbered segment files and the manifest that names the live ones
//! - `frames`, [`store`]: generations, their deltas, and the locks of writers
//! - [`snapshot`]: the index as one reader sees it; `scan`: a query against all its vectors
//! - `erase`, `blank`: erasing documents for good, in place
//! - [`embedding`]: computing missing vectors

mod blank;
mod build;
pub mod embedding;
mod erase;
mod error;
mod format;
mod frames;
pub(crate) mod merge;
mod nibbles;
mod postings;
mod scan;
pub mod segment;
pub(crate) mod segment_folder;
pub mod snapshot;
pub mod store;
#[cfg(test)]
mod tests;

/// Builds a segment for lexical search only.
pub(crate) fn words_segment(units: Vec<PreparedUnit>) -> Vec<u8> {
    build::build(&VectorSpace::none(), units)
}

pub use build::{EmbeddedWindow, PreparedDocument, PreparedUnit};
pub use embedding::{Embedder, vocabulary_for};
pub use erase::ErasureScope;
pub use error::Error;
pub use format::{SegmentDamage, VectorSpace};
pub use snapshot::{IndexSize, IndexSnapshot};
pub use store::{DeltaAppender, EmbeddingLock, GenerationWriter, IndexPart, OldBytes, RecallIndex};
pub mod models;

//! Search and its ranking: documents, queries, scores, and the relevance gate.
//!
//! - [`document`], [`collect`]: what can be recalled, and how it is found in the files
//! - [`terms`], [`counts`], [`windows`]: a text as the index sees it
//! - [`collection`]: what ranking reads of every document
//! - [`query`], [`when`]: a prompt as a question, and the times it names
//! - [`rewrite`]: a question into better search words, if a model may help
//! - [`lexical`]: BM25, of a document, its surroundings and its thread
//! - [`fuse`]: meaning and words together
//! - [`adjust`], [`rank`]: age, usage, review and project; the order that comes out
//! - [`filter`], [`trust`], [`select`]: which hits were asked for, which are trusted, which are shown
//! - [`relevance_gate`]: whether the best hit is shown at all
//! - [`said`]: which raw messages answer, where the notes leave room
//! - [`citation`]: which messages a memory was made from
//! - [`score`]: how good answers were

pub mod adjust;
pub mod answer;
pub mod citation;
pub mod collect;
pub mod collection;
pub mod counts;
pub mod document;
pub mod filter;
pub mod fuse;
pub mod lexical;
pub mod merge;
pub mod query;
pub mod rank;
pub mod relevance_gate;
pub mod rewrite;
pub mod said;
pub mod score;
pub mod select;
pub mod trust;
pub mod when;
pub mod windows;

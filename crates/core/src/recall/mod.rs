//! Search and its ranking: documents, queries, scores, and the relevance gate.
//!
//! - [`document`], [`collect`]: what can be recalled, and how it is found in the files
//! - [`terms`], [`term_counts`], [`windows`]: a text as the index sees it
//! - [`collection`]: what ranking reads of every document
//! - [`query`], [`time_expressions`]: a prompt as a question, and the times it names
//! - [`rewrite`]: a question into better search words, if a model may help
//! - [`lexical`]: BM25, of a document, its surroundings and its thread
//! - [`fusion`]: meaning and words together
//! - [`score_factors`], [`rank`]: age, usage, review and project; the order that comes out
//! - [`filter`], [`trust`], [`select`]: which hits were asked for, which are trusted, which are shown
//! - [`relevance_gate`]: whether the best hit is shown at all
//! - [`message_match`]: which raw messages answer, where the notes leave room
//! - [`citation`]: which messages a memory was made from
//! - [`metrics`]: how good answers were

pub mod answer;
pub mod citation;
pub mod collect;
pub mod collection;
pub mod document;
pub mod filter;
pub mod fusion;
pub mod lexical;
pub mod merge;
pub mod message_match;
pub mod metrics;
pub mod query;
pub mod rank;
pub mod relevance_gate;
pub mod rewrite;
pub mod score_factors;
pub mod select;
pub mod term_counts;
pub mod time_expressions;
pub mod trust;
pub mod windows;

//! Search and its ranking: documents, queries, scores, and the relevance gate.
//!
//! - [`document`], [`collect`]: the units of recall, and their collection from files
//! - [`terms`](crate::text::terms), [`term_counts`], [`windows`]: the index's view of a text
//! - [`collection`]: the columns of all documents that ranking reads
//! - [`query`], [`time_expressions`]: a prompt as a query, and the times it names
//! - [`rewrite`]: rewriting a query into better search words with a model
//! - [`bm25`], [`lexical`]: the BM25 formula, and the scores of a document, its neighbours and its thread
//! - [`fusion`]: combining lexical and vector scores
//! - [`memory_usage`]: what signals do to the strength of a memory
//! - [`score_factors`], [`rank`]: age, usage, review and project, and the resulting order
//! - [`filter`], [`trust`], [`select`]: the filters, the trust check, and the selection of hits to show
//! - [`relevance_gate`]: the decision to show the best hits or nothing
//! - [`message_match`]: matching of raw messages, if the notes leave room
//! - [`citation`]: the messages that a memory was made from
//! - [`metrics`]: metrics of retrieval quality

pub mod answer;
pub mod bm25;
pub mod citation;
pub mod collect;
pub mod collection;
pub mod document;
pub mod filter;
pub mod fusion;
pub mod lexical;
pub mod memory_usage;
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

//! What is found again, and why.
//!
//! - [`document`]: what can be recalled, wherever it was written
//! - [`terms`]: text as the terms that a lexical search compares

pub mod document;
pub mod terms;

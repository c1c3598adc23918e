//! What is found again, and why.
//!
//! - [`document`]: what can be recalled, wherever it was written
//! - [`terms`]: text as the terms that a lexical search compares
//! - [`windows`]: text in pieces that an embedding can hold

pub mod document;
pub mod terms;
pub mod windows;

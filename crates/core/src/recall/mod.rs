//! Finding what is worth showing.
//!
//! - [`rewrite`]: a question into better search words, if a model may help

pub mod rewrite;

//! What is found again, and why.
//!
//! - [`document`]: what can be recalled, wherever it was written

pub mod document;

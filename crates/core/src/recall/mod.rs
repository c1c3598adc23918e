//! What is found again, and why.
//!
//! - [`abstain`]: whether what was found is worth showing at all
//! - [`commonplace`]: words that every programmer's prompts hold

pub mod abstain;
pub mod commonplace;

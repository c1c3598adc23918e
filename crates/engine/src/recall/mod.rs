//! Asking the index, and keeping it true to the notes.
//!
//! - [`search`]: from a prompt to the order of everything that was found
//! - [`bench`]: the same on conversations from outside, to be measured

pub mod bench;
pub mod search;

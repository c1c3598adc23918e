//! The documents people own: how each is parsed, changed and rendered, byte for byte.

mod as_text;
mod comment;
pub mod daily_log;
mod escape;
pub mod ideas;
pub mod lines;
pub mod marker;
pub mod memory;
pub mod priority;
pub mod review;
pub mod system_log;

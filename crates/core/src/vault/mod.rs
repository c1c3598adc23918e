//! The documents people own: how each is parsed, changed and rendered, byte for byte.

pub mod daily_log;
pub mod ideas;
pub mod memory;
pub mod review;
pub mod system_log;

//! The agents that we plug into: what their hooks send, and our lines in their settings.

pub mod hook;
pub mod install;
pub mod jsonc;

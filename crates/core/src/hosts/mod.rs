//! The agents that we integrate with: input of their hooks, entries in their settings.

pub mod hook;
pub mod install;
pub mod jsonc;

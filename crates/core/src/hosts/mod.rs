//! Agent integration: the input of hooks, and our entries in the agents' settings.

pub mod hook;
pub mod install;
pub mod jsonc;
pub mod rehearsal;

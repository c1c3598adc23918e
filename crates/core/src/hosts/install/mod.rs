//! What stands in an agent's settings so that it calls us, and how it gets in and out again (B-15, OPS-04).

pub mod command;
pub mod diff;
pub mod events;
pub mod plugin;
pub mod servers;
pub mod settings;

pub use command::{Invocation, Recognised, recognise};
pub use events::{Registered, events};

//! Our entries in an agent's settings: install, recognise, update, uninstall (B-15, OPS-04).

pub mod command;
pub mod diff;
pub mod events;
pub mod plugin;
pub mod servers;
pub mod settings;

pub use command::{HookInvocation, RecognisedCommand, recognise_command};
pub use events::{RegisteredEvent, events};

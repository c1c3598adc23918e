//! Sessions in a common form, independent of the agent.

pub mod answer;
pub mod capture;
pub mod clean;
pub mod command_speaker;
pub mod head;
pub mod host;
pub mod message;
pub mod noise_gate;
pub mod notes;
pub mod outcome;
pub(crate) mod pasted;
pub mod remember_requests;
pub mod restore;
pub mod serialise;
pub mod tools;

pub use head::SessionHead;
pub use message::{Message, MessageRole, ToolCall, ToolOutcome, handed_back_plan};

//! Sessions in a common form, independent of the agent.

pub mod answer;
pub mod asked;
pub mod became;
pub mod capture;
pub mod clean;
pub mod gate;
pub mod head;
pub mod host;
pub mod message;
pub mod notes;
pub(crate) mod pasted;
pub mod restore;
pub mod serialise;
pub mod speaker;
pub mod tools;

pub use head::SessionHead;
pub use message::{Message, MessageRole, ToolCall, ToolOutcome};

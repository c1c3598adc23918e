//! A session as we understand it, whichever agent it was held with.

pub mod message;

pub use message::{Call, Message, Outcome, Role};

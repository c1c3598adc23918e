//! The context given to an agent: the briefing at session start, the memories with a prompt, and one-line
//! notices.

pub mod briefing;
pub mod inject;
pub mod notice;

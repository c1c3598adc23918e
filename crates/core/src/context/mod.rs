//! Context for agents: the briefing at session start, the memories for a prompt, and one-line notices.

pub mod briefing;
pub mod inject;
pub mod notice;

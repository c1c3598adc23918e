//! The sidecar: extracts memories (SID-02…06) and ideas (IDEA-01) from a session's observations. The
//! confidence decides the destination, and only the user's own explicit words are saved without asking
//!

pub mod candidate;
pub mod model_answer;
pub mod research;

pub use candidate::{MemoryCandidate, MemoryCategory, MinedIdea, candidates, ideas};

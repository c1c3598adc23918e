//! The sidecar: from what was observed in a session to what should be known in every later one (SID-02…06) and to ideas
//! (IDEA-01). How sure we are decides where it goes, and only the person's own explicit words are saved unasked.

pub mod answer;
pub mod candidate;
pub mod research;

pub use candidate::{Candidate, Category, Idea, candidates, ideas};

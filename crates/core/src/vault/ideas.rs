//! ideas.

//! What a change was.

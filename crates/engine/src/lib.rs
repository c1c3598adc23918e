//! What Rekindle does: one folder per outside thing.

pub mod clock;
pub mod environment;
pub mod project;

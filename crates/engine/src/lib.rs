//! What Rekindle does: one folder per outside thing.

pub mod clock;
pub mod config;
pub mod environment;
pub mod home;
pub mod project;

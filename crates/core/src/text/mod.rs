//! What may pass, and how it is cleaned.

pub mod clean;
pub mod normal;
pub mod redact;

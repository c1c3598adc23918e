//! Generated memories: texts, the vault that holds them, and questions about them.

pub mod memory;
pub mod note;
pub mod question;
pub mod random;
pub mod words;
pub mod write;

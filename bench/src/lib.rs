//! The recall benchmark: `corpus` generates memories, `measure` runs programs cold and reports.

pub mod corpus;
pub mod measure;

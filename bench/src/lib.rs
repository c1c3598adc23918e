//! What the benchmark of recall is made of: `corpus` makes memories, `measure` runs programs cold and reports.

pub mod corpus;
pub mod measure;

//! Runs programs cold, in turns, measures them and compares the results with the targets.

pub mod index;
pub mod machine;
pub mod options;
pub mod plot;
pub mod program;
pub mod rekindle;
pub mod report;
pub mod rounds;
pub mod run;
pub mod store;
pub mod targets;

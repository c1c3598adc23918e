//! Programs run cold, in turns, with what they took; and what that is beside the targets.

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

//! Health: checks of measured facts, each with a threshold.
//!
//! `engine` measures the [`HealthFacts`]; [`HealthReport::of`] decides.
//!
//! - [`facts`]: what is measured
//! - [`thresholds`]: all thresholds
//! - [`report`]: the checks and their results
//! - [`alert`]: the line that a person sees where they are

pub mod alert;
mod checks;
pub mod facts;
pub mod report;
#[cfg(test)]
mod tests;
pub mod thresholds;

pub use self::facts::HealthFacts;
pub use self::report::{CheckOutcome, HealthCheck, HealthReport};

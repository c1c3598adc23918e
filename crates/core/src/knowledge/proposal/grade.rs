//! The grade that a model gave to a proposal (SID-09).

use serde::{Deserialize, Serialize};

/// What an evaluator thinks of a proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// From 0 (of no use) to 1.
    pub score: f64,
    /// Why, in a sentence.
    pub reason: String,
}

impl Grade {
    /// As a person reads it.
    pub fn sentence(&self) -> String {
        format!("graded {:.2} of 1: {}", self.score, self.reason)
    }
}

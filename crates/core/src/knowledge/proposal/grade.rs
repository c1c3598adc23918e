//! The grade that a model gave to a proposal (SID-09).

use serde::{Deserialize, Serialize};

/// An evaluator's grade of a proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposalGrade {
    /// The score from 0 (useless) to 1.
    pub score: f64,
    /// The reason, in one sentence.
    pub reason: String,
}

impl ProposalGrade {
    /// The grade as text for the user.
    pub fn describe_grade(&self) -> String {
        format!("graded {:.2} of 1: {}", self.score, self.reason)
    }
}

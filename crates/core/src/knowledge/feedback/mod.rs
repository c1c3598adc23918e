//! Feedback on injected memories (FBK-01…05): use by the agent ([`usage_verdict`]), and corrections by the user
//! ([`correction`]). Both only detect; `engine`'s usage store derives the ranking.

pub mod correction;
pub mod usage_verdict;

use serde::{Deserialize, Serialize};

/// The verdict of a turn on a memory shown before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UsageVerdict {
    /// The answer or a call contains something that only the memory could tell.
    Used,
    /// Nothing of the memory came up.
    Ignored,
    /// Undecidable: the agent knew its content from elsewhere, or it can be followed without a trace.
    Unclear,
}

/// A verdict, and its grounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedMemory {
    /// The name of the memory.
    pub id: String,
    /// The verdict of the turn.
    pub verdict: UsageVerdict,
    /// A few matches that support the verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
}

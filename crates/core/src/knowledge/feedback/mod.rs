//! What became of what was put in front of an agent (FBK-01…05): whether the agent made use of it ([`used`]), and what the
//! person put right ([`correction`]). Both only look; the ranking that follows from it is `engine`'s store of usage.

pub mod correction;
pub mod used;

use serde::{Deserialize, Serialize};

/// What a turn shows about a memory that stood in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The answer or a call holds what only the memory could tell.
    Used,
    /// Nothing of it came up.
    Ignored,
    /// Nobody can tell: it says nothing that the agent did not have from elsewhere, or it can be heeded without a trace.
    Unclear,
}

/// A verdict, and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The memory's name.
    pub id: String,
    /// The verdict.
    pub verdict: Verdict,
    /// What of the memory came up, at most a few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
}

//! What a transcript says about its session as a whole.

use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;

/// A session, as its host describes it. Whatever the host does not say is absent, never guessed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The host's id for the session.
    pub session: Option<String>,
    /// The folder that it was started in.
    pub cwd: Option<String>,
    /// The address of the repository that it was held in, where the host notes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The first time that is written in it.
    pub started: Option<Timestamp>,
    /// What the host or the person called it.
    pub name: Option<String>,
    /// The branch that was checked out, as the host wrote it down last.
    pub branch: Option<String>,
    /// The host's version.
    pub version: Option<String>,
    /// Held by an agent with an agent it started: never captured (B-04).
    pub subagent: bool,
    /// Run by a program, not typed into (`claude -p`, `codex exec`): labelled, and captured like the others (B-04).
    pub headless: bool,
}

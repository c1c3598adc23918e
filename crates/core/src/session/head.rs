//! Metadata of a session, as its transcript states it.

use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;

/// Session metadata from the host. Anything that the host does not state is absent, never guessed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionHead {
    /// The host's id of the session.
    pub session: Option<String>,
    /// The folder that the session was started in.
    pub cwd: Option<String>,
    /// The repository URL, if the host records it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The first timestamp in the transcript.
    pub started: Option<Timestamp>,
    /// The session's name, given by the host or the user.
    pub name: Option<String>,
    /// The last branch that the host recorded.
    pub branch: Option<String>,
    /// The version of the host.
    pub version: Option<String>,
    /// True for a session between an agent and a subagent, which is never captured (B-04).
    pub subagent: bool,
    /// True if a program ran it (`claude -p`, `codex exec`). Such sessions are labelled and captured like
    /// others (B-04).
    pub headless: bool,
}

//! One thing that was said or done in a session.

use serde::{Deserialize, Serialize};

use crate::base::provenance::Origin;
use crate::base::time::Timestamp;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person, in their own words.
    User,
    /// The agent.
    Assistant,
    /// A tool's output, which anybody may have written.
    Tool,
    /// The host's own summary of what it dropped from its context: said by nobody, and a boundary.
    Summary,
}

impl Role {
    /// Whose words these are (B-01).
    pub fn origin(self) -> Origin {
        match self {
            Self::User => Origin::User,
            Self::Assistant | Self::Summary => Origin::Agent,
            Self::Tool => Origin::Tool,
        }
    }
}

/// One message, in the order of the session's current branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The same in every reading of the transcript, so that a memory can point back to it.
    pub id: String,
    /// When, as the host wrote it down.
    pub at: Option<Timestamp>,
    /// Who.
    pub role: Role,
    /// What: the words, or a tool's output.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The tools that the agent called with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// For a tool's output: of which call, and how it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// For the person's words: they stopped the agent, or refused a call, to say this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// The folder the agent was in, where the host notes it with each message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// For the person's words: a program gave them to the agent (`claude -p`, an SDK), nobody typed them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub automated: bool,
}

impl Message {
    /// Words, and nothing that was done with them.
    pub fn new(id: impl Into<String>, at: Option<Timestamp>, role: Role, text: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            at,
            role,
            text: text.into(),
            calls: Vec::new(),
            outcome: None,
            stopped: false,
            cwd: None,
            automated: false,
        }
    }
}

/// A tool that was called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Names the call; its output says the same.
    pub id: String,
    /// The tool's name, as the host calls it.
    pub tool: String,
    /// What it was called with, in short: the command, the path, or the start of the arguments.
    pub input: String,
    /// Files that it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// Files that it changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Text that the agent wrote for later: lines it added to the project's own memory, a plan, a list of steps, the text of
    /// a pull request or an issue.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

/// How a call went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The call's id.
    pub call: String,
    /// The tool's name, where the host repeats it.
    pub tool: Option<String>,
    /// Whether the host says that it failed.
    pub failed: bool,
    /// The exit code of a command, where it is known.
    pub exit_code: Option<i32>,
}

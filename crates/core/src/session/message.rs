//! One message of a session, with its tool calls.

use serde::{Deserialize, Serialize};

use crate::base::provenance::Origin;
use crate::base::time::Timestamp;

/// First lines of messages with which hosts pass the agent's own plan back to it as a user message.
const HANDED_BACK_OPENINGS: &[&str] = &[
    "Implement the following plan:",
    "A previous agent produced the plan below to accomplish the user's task.",
];

/// The plan in a message that only passes it back to the agent, in the user's name.
pub fn handed_back_plan(message: &str) -> Option<&str> {
    HANDED_BACK_OPENINGS.iter().find_map(|start| message.strip_prefix(start))
}

/// The speaker of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    /// The user, in their own words.
    User,
    /// The agent that answers.
    Assistant,
    /// A tool's output, which anybody may have written.
    Tool,
    /// The host's own summary after compaction: nobody said it, and it marks a boundary.
    Summary,
}

impl MessageRole {
    /// The author of words in this role (B-01).
    pub fn origin(self) -> Origin {
        match self {
            Self::User => Origin::User,
            Self::Assistant | Self::Summary => Origin::Agent,
            Self::Tool => Origin::Tool,
        }
    }
}

/// One message on the session's current branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// An id that is the same in every reading of the transcript, so that a memory can refer to it.
    pub id: String,
    /// The timestamp, if the host recorded one.
    pub at: Option<Timestamp>,
    /// The speaker of the message.
    pub role: MessageRole,
    /// The words, or a tool's output.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The tool calls that the agent made with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// For a tool's output: its call and the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ToolOutcome>,
    /// For user messages: true if the user interrupted the agent or rejected a call to say this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// The agent's working folder, if the host records it per message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// For user messages: true if a program sent it (`claude -p`, an SDK) and nobody typed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub automated: bool,
}

impl Message {
    /// Whose words these are: the agent's if nobody typed them or if they are its own plan (B-01, R-19).
    pub fn author(&self) -> MessageRole {
        let typed = !self.automated && handed_back_plan(&self.text).is_none();
        if self.role == MessageRole::User && !typed { MessageRole::Assistant } else { self.role }
    }

    /// Creates a message with text only.
    pub fn new(
        id: impl Into<String>,
        at: Option<Timestamp>,
        role: MessageRole,
        text: impl Into<String>,
    ) -> Self {
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

/// A tool call by the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id of the call, which its output repeats.
    pub id: String,
    /// The tool's name in the host's spelling.
    pub tool: String,
    /// A short form of the input: the command, the path, or the start of the arguments.
    pub input: String,
    /// The files that it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// The files that it changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Text that the agent wrote for later: lines added to the project's own memory, a plan, a list of steps,
    /// the text of a pull request or an issue.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutcome {
    /// The id of the call.
    pub call: String,
    /// The tool's name, if the host repeats it.
    pub tool: Option<String>,
    /// True if the host reports a failure.
    pub failed: bool,
    /// The exit code of a command, if known.
    pub exit_code: Option<i32>,
}

//! The data of each event as it is stored. Unknown fields are ignored.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names;
use crate::base::agent::Agent;
use crate::base::decided_by::DecidedBy;
use crate::base::provenance::Origin;
use crate::base::time::{Date, Timestamp};
use crate::session::Message;
use crate::vault::review::ProposalId;

/// The trigger of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CaptureTrigger {
    /// The host is about to compact the conversation.
    Compaction,
    /// The session ended, or has been silent long enough to count as ended.
    Shutdown,
}

impl CaptureTrigger {
    /// The trigger's name in files and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compaction => "compaction",
            Self::Shutdown => "shutdown",
        }
    }

    /// The name of the event for a window captured with this trigger.
    pub fn event(self) -> &'static str {
        match self {
            Self::Compaction => names::COMPACTION_PENDING,
            Self::Shutdown => names::SESSION_ENDED,
        }
    }
}

pub(super) fn check_trigger(name: &str, value: &Value) -> Result<(), &'static str> {
    let trigger = value.get("trigger").and_then(Value::as_str);
    match (name, trigger) {
        (names::COMPACTION_PENDING, Some("compaction")) | (names::SESSION_ENDED, Some("shutdown")) => Ok(()),
        (names::COMPACTION_PENDING, _) => Err("`trigger` must be \"compaction\""),
        _ => Err("`trigger` must be \"shutdown\""),
    }
}

/// The cause of a capture that the person asked for. It has no minimum session length.
pub const ASKED_CAUSE: &str = "asked";

/// The cause of a capture of a session that ended before Rekindle knew of it (DIS-01). Its event's time
/// becomes its date.
pub const BACKFILL_CAUSE: &str = "backfill";

/// A request to capture a session up to a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaptureRequested {
    /// The agent of the session.
    pub agent: Agent,
    /// The id of the session.
    pub session_id: String,
    /// The trigger of the capture.
    pub trigger: CaptureTrigger,
    /// The cause of the trigger: the hook's event, `idle`, [`ASKED_CAUSE`] or [`BACKFILL_CAUSE`].
    pub cause: String,
    /// The path of the transcript, if the host keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// The length of the transcript at that time. Anything later belongs to a later window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upto: Option<u64>,
    /// The working folder of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// A request to compare a turn with what was injected for it (FBK-02).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EchoRequested {
    /// The agent of the session.
    pub agent: Agent,
    /// The id of the session.
    pub session_id: String,
    /// The path of the transcript, if the host keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// The length of the transcript at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upto: Option<u64>,
    /// The working folder of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// True if nothing more will follow: a turn without an answer stays without one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub last: bool,
    /// True for tests and probes without a person, which prove nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub synthetic: bool,
}

/// A captured window of a session (CAP-05, CAP-06).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionCaptured {
    /// The id of the session.
    pub session_id: String,
    /// The deduplication key, the same for the same window (CAP-11).
    pub dedupe_key: String,
    /// The trigger of the capture.
    pub trigger: CaptureTrigger,
    /// The text of the window, redacted: lines such as `[HH:MM] [User]: …`.
    pub messages: String,
    /// The number of messages in the window.
    pub message_count: u64,
    /// The approximate number of tokens (compaction only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// The number of user messages in the session so far (shutdown only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_count: Option<u64>,
    /// Seconds from the session's first message to its last (shutdown only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<u64>,
    /// A few words that name the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_name: Option<String>,
    /// Files that were read but not changed.
    pub files_read: Vec<String>,
    /// Files that were changed.
    pub files_modified: Vec<String>,
    /// The time of the capture.
    pub captured_at: Timestamp,
    /// The version of this schema.
    pub schema_version: u32,
    /// The agent of the session; absent for events that came through `send`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// The working folder of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The branch checked out at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// True for sessions without a person at the keyboard (`claude -p`, `codex exec`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub headless: bool,
    /// The reason why the noise gate found nothing to learn in it, if it did (B-04).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<String>,
    /// The messages without their text, in order, for back-references (B-01). [`crate::session::restore`]
    /// joins both again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Message>,
}

/// A single observation that somebody noted explicitly (CAP-20).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservationNoted {
    /// The text of the note.
    pub text: String,
    /// The author of the words.
    #[serde(default = "agent")]
    pub origin: Origin,
    /// The session in which it was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The ids of the messages that say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// The time at which it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<Timestamp>,
    /// The working folder at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// True if the person may only have pasted the text. Then they are asked before it is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pasted: bool,
}

/// The default origin: a note without one is not trusted as the user's own.
fn agent() -> Origin {
    Origin::Agent
}

/// A transcribed voice call (CAP-20).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VoiceCall {
    /// The id of the call.
    pub call_id: String,
    /// The text of the call.
    pub transcript: String,
    /// The duration in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<u64>,
    /// The time at which the call began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
}

/// A day that has enough observations to be reflected on (CAP-07).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservationsAccumulated {
    /// The person's calendar day.
    pub date: Date,
    /// The approximate number of observed tokens.
    pub total_tokens: u64,
    /// The number of observed windows.
    pub observation_count: u64,
    /// The time at which the threshold was noticed.
    pub captured_at: Timestamp,
}

/// The result of a reflection over the days up to `date` (CAP-08).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservationsReflected {
    /// The person's calendar day.
    pub date: Date,
    /// The approximate number of tokens read.
    pub input_tokens: u64,
    /// The approximate number of tokens produced.
    pub output_tokens: u64,
    /// Output tokens divided by input tokens.
    pub compression_ratio: f64,
    /// The number of new proposals.
    pub proposal_count: u64,
    /// The time of the reflection.
    pub captured_at: Timestamp,
    /// The retry level at which a model's answer was accepted although it was too long (REF-14).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_level: Option<u8>,
}

/// A decision about a proposal. The proposal's text is in the store only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalDecided {
    /// The id of the proposal.
    pub proposal_id: ProposalId,
    /// The channel of the decision; another program by default.
    #[serde(default = "another_program")]
    pub by: DecidedBy,
}

fn another_program() -> DecidedBy {
    DecidedBy::Event
}

/// A report that somebody carried out an approved fix (FRI-09). The file itself shows if it was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FixCompleted {
    /// The id of the proposal.
    pub proposal_id: ProposalId,
}

/// A task that was completed, deleted or changed (REV-06, REV-07).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskChanged {
    /// The id of the task.
    pub task_id: String,
    /// All labels of the task. They decide what happens.
    pub labels: Vec<String>,
    /// The current title of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The description of the task, which names its proposal.
    #[serde(default)]
    pub description: String,
    /// The time of the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<Timestamp>,
}

/// A button that was pressed (REV-08).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ButtonPressed {
    /// The id with which the press is answered.
    pub callback_id: String,
    /// The button's payload: `memory:approve:p-…`.
    pub data: String,
    /// The id of the chat.
    pub chat_id: i64,
    /// The id of the person who pressed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<i64>,
    /// The id of the message with the button.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<i64>,
}

/// The result of triage over new proposals, by their ids (REV-09).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalsTriaged {
    /// Proposals that will be written to `MEMORY.md`.
    #[serde(default)]
    pub promoted: Vec<ProposalId>,
    /// Proposals that were turned down.
    #[serde(default)]
    pub rejected: Vec<ProposalId>,
    /// Proposals that the person has to decide on.
    pub needs_review: Vec<ProposalId>,
}

/// The counts of the weekly maintenance (CAP-09, MNT-02).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WeeklySummary {
    /// The person's day on which the week ends.
    pub date: Date,
    /// The number of statements of earlier sessions that came up again in the week and were counted as
    /// sightings.
    pub merge_count: u64,
    /// The number of memories that may be outdated (FBK-04).
    pub stale_count: u64,
    /// The number of proposals that wait for a decision.
    pub triage_backlog: u64,
    /// The time of the count.
    pub captured_at: Timestamp,
}

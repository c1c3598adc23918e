//! The particulars of events, as they are written down. Fields that we do not know are left alone.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names;
use crate::base::agent::Agent;
use crate::base::decided_by::By;
use crate::base::provenance::Origin;
use crate::base::time::{Date, Timestamp};
use crate::session::Message;
use crate::vault::review::Id;

/// What made us look at a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// The host is about to summarise what was said so far.
    Compaction,
    /// It ended, or nobody has said anything for so long that it might as well have.
    Shutdown,
}

impl Trigger {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Compaction => "compaction",
            Self::Shutdown => "shutdown",
        }
    }

    /// The event that a window captured for this reason becomes.
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
        (names::COMPACTION_PENDING, _) => Err("`trigger` has to be \"compaction\""),
        _ => Err("`trigger` has to be \"shutdown\""),
    }
}

/// The cause of a capture that the person asked for: however short the session is.
pub const ASKED: &str = "asked";

/// The cause of a capture of a session that was over before Rekindle knew of it (DIS-01): it is dated by its event.
pub const BACKFILL: &str = "backfill";

/// A session to be looked at, and how far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaptureRequested {
    /// Whose session.
    pub agent: Agent,
    /// Which.
    pub session_id: String,
    /// Why.
    pub trigger: Trigger,
    /// What told us: the hook's event, `idle`, [`ASKED`] or [`BACKFILL`].
    pub cause: String,
    /// Where the host keeps the transcript, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// How long the transcript was then. What came later belongs to a later window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upto: Option<u64>,
    /// The folder it was held in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// A turn that is to be held against what the session was told for it (FBK-02).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EchoRequested {
    /// Whose session.
    pub agent: Agent,
    /// Which.
    pub session_id: String,
    /// Where the host keeps the transcript, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// How long the transcript was then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upto: Option<u64>,
    /// The folder it was held in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether nothing more is to be expected: what has no answer by now has none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub last: bool,
    /// Whether nobody held the session: a test, a probe. It says nothing about anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub synthetic: bool,
}

/// A window of a session, as it was said (CAP-05, CAP-06).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionCaptured {
    /// Which session.
    pub session_id: String,
    /// The same window has the same key (CAP-11).
    pub dedupe_key: String,
    /// Why it was captured.
    pub trigger: Trigger,
    /// The window: `[HH:MM] [User]: …` and so on, redacted.
    pub messages: String,
    /// How many messages that is.
    pub message_count: u64,
    /// About how many tokens (compaction).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// How many of the session's messages so far are the person's (shutdown).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_count: Option<u64>,
    /// Seconds from the session's first message to its last (shutdown).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<u64>,
    /// A few words that name the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_name: Option<String>,
    /// Files that were only read.
    pub files_read: Vec<String>,
    /// Files that were changed.
    pub files_modified: Vec<String>,
    /// When it was captured.
    pub captured_at: Timestamp,
    /// The version of this schema.
    pub schema_version: u32,
    /// Whose session; not there for what came through `send`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// The folder it was held in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The branch that was checked out at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether nobody sat at it (`claude -p`, `codex exec`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub headless: bool,
    /// Why there is nothing to learn from it, if the noise gate thinks so (B-04).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<String>,
    /// The messages without their words, in order, for back-pointers (B-01): [`crate::session::restore`] puts both together
    /// again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Message>,
}

/// A single observation, noted by somebody in so many words (CAP-20).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Noted {
    /// What was noted.
    pub text: String,
    /// Whose words.
    #[serde(default = "agent")]
    pub origin: Origin,
    /// In which session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The messages that say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// When it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<Timestamp>,
    /// The folder it was said in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether the person may only have pasted it: then they are asked before it is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pasted: bool,
}

/// What comes without an origin is nobody's own word.
fn agent() -> Origin {
    Origin::Agent
}

/// A call that was written down (CAP-20).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VoiceCall {
    /// Which call.
    pub call_id: String,
    /// What was said.
    pub transcript: String,
    /// How long it took, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<u64>,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
}

/// A day that has enough observations to be reflected on (CAP-07).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accumulated {
    /// The person's day.
    pub date: Date,
    /// About how many tokens were observed on it.
    pub total_tokens: u64,
    /// In how many windows.
    pub observation_count: u64,
    /// When that was noticed.
    pub captured_at: Timestamp,
}

/// What came of reflecting on the days up to one (CAP-08).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reflected {
    /// The person's day.
    pub date: Date,
    /// About how many tokens were reflected on.
    pub input_tokens: u64,
    /// About how many came of it.
    pub output_tokens: u64,
    /// The one divided by the other.
    pub compression_ratio: f64,
    /// How many proposals are new.
    pub proposal_count: u64,
    /// When.
    pub captured_at: Timestamp,
    /// The level at which a model's answer was taken though it was too long (REF-14).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_level: Option<u8>,
}

/// What somebody decided about a proposal. What it says is in the store and nowhere else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalDecided {
    /// Which.
    pub proposal_id: Id,
    /// By which way; another program's word if it does not say.
    #[serde(default = "another_program")]
    pub by: By,
}

fn another_program() -> By {
    By::Event
}

/// Somebody carried out what was approved (FRI-09). Whether they did is seen in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FixCompleted {
    /// The proposal it carries out.
    pub proposal_id: Id,
}

/// A task that was completed, deleted or changed (REV-06, REV-07).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskChanged {
    /// Which.
    pub task_id: String,
    /// All its labels; what it is about is decided by them.
    pub labels: Vec<String>,
    /// Its title, as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What stands below it: which proposal it is about.
    #[serde(default)]
    pub description: String,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<Timestamp>,
}

/// A button that was pressed (REV-08).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ButtonPressed {
    /// By which the press is answered.
    pub callback_id: String,
    /// What the button says: `memory:approve:p-…`.
    pub data: String,
    /// In which chat.
    pub chat_id: i64,
    /// By whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<i64>,
    /// Below which message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<i64>,
}

/// What triage made of new proposals, by their ids (REV-09).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalsTriaged {
    /// On their way to `MEMORY.md`.
    #[serde(default)]
    pub promoted: Vec<Id>,
    /// Turned down.
    #[serde(default)]
    pub rejected: Vec<Id>,
    /// Left to the person: only these are asked about.
    pub needs_review: Vec<Id>,
}

/// What the weekly maintenance found (CAP-09, MNT-02).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WeeklySummary {
    /// The person's day on which the week ends.
    pub date: Date,
    /// How many statements of earlier sessions came up again in the week and were counted as sightings.
    pub merge_count: u64,
    /// How many memories may be outdated (FBK-04).
    pub stale_count: u64,
    /// How many proposals wait for a decision.
    pub triage_backlog: u64,
    /// When that was counted.
    pub captured_at: Timestamp,
}

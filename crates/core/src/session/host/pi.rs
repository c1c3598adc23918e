//! pi transcripts: a header, then a tree of entries by `id` and `parentId`. The last entry is the leaf.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::branch_chain::BranchChain;
use super::content::MessageContent;
use super::{
    BranchVerdict, BranchWalk, LineVerdict, TranscriptParser, add, clean_output_or_empty, typed_text,
};
use crate::base::hash::ContentHash;
use crate::base::time;
use crate::base::time::Timestamp;
use crate::session::{Message, MessageRole, SessionHead, ToolOutcome, clean, tools};

/// The newest known version of the format. Version 1 has no tree; its entries are in order.
const MAX_KNOWN_VERSION: u64 = 3;
/// Entry types without content for us. `custom_message` is the output of extensions, including ours.
const IGNORED_ENTRY_KINDS: &[&str] =
    &["context_edit", "custom", "custom_message", "label", "model_change", "thinking_level_change", "usage"];

/// The stop reason of an answer that the user interrupted.
const ABORTED_REASON: &str = "aborted";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PiEntry<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    /// Null for the first entry; otherwise present in every entry that the host wrote completely.
    #[serde(default, deserialize_with = "present")]
    parent_id: Option<Option<String>>,
    timestamp: Option<String>,
    version: Option<u64>,
    cwd: Option<String>,
    name: Option<String>,
    summary: Option<String>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PiMessage {
    role: String,
    #[serde(default)]
    content: MessageContent<PiPart>,
    // Fields of a result.
    tool_call_id: Option<String>,
    tool_name: Option<String>,
    #[serde(default)]
    is_error: bool,
    // Fields of an answer.
    stop_reason: Option<String>,
    // Fields of a command that the user ran.
    command: Option<String>,
    output: Option<String>,
    exit_code: Option<i32>,
}

#[derive(Default, Deserialize)]
struct PiPart {
    #[serde(rename = "type", default)]
    kind: String,
    text: Option<String>,
    id: Option<String>,
    name: Option<String>,
    #[serde(default)]
    arguments: Value,
}

impl PiPart {
    fn text(text: String) -> Self {
        Self { kind: "text".to_owned(), text: Some(text), ..Self::default() }
    }
}

/// Only the fields that show if a message is complete.
#[derive(Deserialize)]
struct PiCompleteness {
    #[serde(rename = "role")]
    _role: String,
    #[serde(rename = "content", default)]
    _content: MessageContent<IgnoredAny>,
}

/// Deserialises so that null differs from an absent field.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

fn parse(line: &[u8]) -> Option<PiEntry<'_>> {
    serde_json::from_slice(line).ok()
}

/// The backwards walk over a pi session.
#[derive(Default)]
pub struct PiWalk {
    chain: BranchChain,
}

impl BranchWalk for PiWalk {
    fn visit_line(&mut self, at: u64, line: &[u8]) -> BranchVerdict {
        let Some(entry) = parse(line) else { return BranchVerdict::Kept };
        match (entry.kind.as_deref(), &entry.id) {
            (Some("session") | None, _) | (_, None) => BranchVerdict::Kept,
            (Some(kind), Some(id)) => {
                let is_whole = |raw: &RawValue| serde_json::from_str::<PiCompleteness>(raw.get()).is_ok();
                // A message of unknown shape proves nothing about what was taken back.
                let whole = kind != "message" || entry.message.is_some_and(is_whole);
                let parent = entry.parent_id.as_ref().and_then(Option::as_deref);
                let taken = self.chain.is_on_branch(at, id, parent, whole);
                if taken && parent.is_none() && (entry.parent_id.is_none() || !whole) {
                    // The entry has no parent and is not marked as the first, so its predecessor counts as
                    // its parent.
                    self.chain.bridge_gap(false);
                }
                if taken || !whole { BranchVerdict::Kept } else { BranchVerdict::Left }
            }
        }
    }

    fn missing_parent(&self) -> Option<u64> {
        self.chain.missing_parent()
    }

    fn bridge_gap(&mut self, all: bool) {
        self.chain.bridge_gap(all);
    }
}

/// Reads the messages of a pi session.
#[derive(Default)]
pub struct PiReader {
    head: SessionHead,
    /// The format version, if it is an unknown one.
    foreign: Option<u64>,
    /// True if the user interrupted the agent and has said nothing since.
    stopped: bool,
}

impl PiReader {
    fn header(&mut self, entry: PiEntry<'_>) -> LineVerdict {
        let version = entry.version.unwrap_or(1);
        if version > MAX_KNOWN_VERSION {
            self.foreign = Some(version);
            return LineVerdict::Unknown(format!("version {version}"));
        }
        if self.head.session.is_none() {
            self.head.started = entry.timestamp.as_deref().and_then(time::parse);
            self.head.session = entry.id;
            self.head.cwd = entry.cwd;
        }
        LineVerdict::Known
    }

    fn user_message(
        &mut self,
        id: String,
        at: Option<Timestamp>,
        said: PiMessage,
        say: &mut dyn FnMut(Message),
    ) -> LineVerdict {
        let mut words = String::new();
        let mut calls = Vec::new();
        for part in said.content.into_parts(PiPart::text) {
            match (part.kind.as_str(), part.text, part.id, part.name) {
                ("text", Some(text), _, _) => add(&mut words, &text),
                ("toolCall", _, Some(id), Some(name)) => {
                    calls.push(tools::parse_call(&id, &name, &part.arguments));
                }
                _ => {}
            }
        }
        match said.role.as_str() {
            "user" if clean::is_summary(&words) => {
                say(Message::new(id, at, MessageRole::Summary, clean_output_or_empty(&words)));
            }
            "user" => {
                let text = typed_text(&words);
                if !text.is_empty() {
                    let stopped = std::mem::take(&mut self.stopped);
                    say(Message { stopped, ..Message::new(id, at, MessageRole::User, text) });
                }
            }
            "assistant" => {
                self.stopped |= said.stop_reason.as_deref() == Some(ABORTED_REASON);
                let text = clean_output_or_empty(&words);
                if !text.is_empty() || !calls.is_empty() {
                    say(Message { calls, ..Message::new(id, at, MessageRole::Assistant, text) });
                }
            }
            "toolResult" => {
                let exit_code = if said.is_error { tools::exit_code(&words) } else { None };
                let outcome = ToolOutcome {
                    call: said.tool_call_id.unwrap_or_default(),
                    tool: said.tool_name,
                    failed: said.is_error,
                    exit_code,
                };
                say(Message {
                    outcome: Some(outcome),
                    ..Message::new(id, at, MessageRole::Tool, clean_output_or_empty(&words))
                });
            }
            "bashExecution" => {
                let text =
                    format!("$ {}\n{}", said.command.unwrap_or_default(), said.output.unwrap_or_default());
                let outcome = ToolOutcome {
                    call: id.clone(),
                    tool: Some("bash".to_owned()),
                    failed: said.exit_code.is_some_and(|code| code != 0),
                    exit_code: said.exit_code,
                };
                say(Message {
                    outcome: Some(outcome),
                    ..Message::new(id, at, MessageRole::Tool, clean_output_or_empty(&text))
                });
            }
            "system" | "custom" | "hookMessage" | "branchSummary" | "compactionSummary" => {}
            role => return LineVerdict::Strange(format!("message of {role}")),
        }
        LineVerdict::Known
    }
}

impl TranscriptParser for PiReader {
    fn line(&mut self, line: &[u8], say: &mut dyn FnMut(Message)) -> LineVerdict {
        let Some(mut entry) = parse(line) else { return LineVerdict::Damaged };
        let Some(kind) = entry.kind.take() else { return LineVerdict::Unknown("no type".to_owned()) };
        if kind == "session" {
            return self.header(entry);
        }
        if let Some(version) = self.foreign {
            return LineVerdict::Unknown(format!("version {version}"));
        }
        let at = entry.timestamp.as_deref().and_then(time::parse);
        // Entries of version 1 have no ids.
        let id = entry.id.unwrap_or_else(|| ContentHash::of_bytes(line).short_hex(16));
        match kind.as_str() {
            "message" => match entry.message.and_then(|raw| serde_json::from_str(raw.get()).ok()) {
                Some(said) => self.user_message(id, at, said, say),
                None => LineVerdict::Strange("message without contents".to_owned()),
            },
            "compaction" | "branch_summary" => {
                let text = clean_output_or_empty(&entry.summary.unwrap_or_default());
                say(Message::new(id, at, MessageRole::Summary, text));
                LineVerdict::Known
            }
            "session_info" => {
                self.head.name = entry.name.filter(|name| !name.is_empty());
                LineVerdict::Known
            }
            kind if IGNORED_ENTRY_KINDS.contains(&kind) => LineVerdict::Known,
            kind => LineVerdict::Unknown(kind.to_owned()),
        }
    }

    fn head(&self) -> &SessionHead {
        &self.head
    }
}

//! Claude Code transcripts: a tree of entries by `uuid` and `parentUuid`, one per line, among many other
//! types of lines.
//!
//! The chain from the newest message to the first passes through entries without content (`attachment`,
//! `system`, `progress`), and over a compaction by `logicalParentUuid`. Parallel tool calls fork the tree
//! although nothing was taken back; their results are recognised by the calls they answer.

mod author;
mod queue;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use self::author::{EntryAuthor, HostMark};
use self::queue::PromptQueue;
use super::content::MessageContent;
use super::recent_ids::RecentIds;
use super::{LineVerdict, TranscriptParser, add, clean_output_or_empty, typed_text};
use crate::base::time;
use crate::base::time::Timestamp;
use crate::session::{Message, MessageRole, SessionHead, ToolOutcome, answer, clean, tools};

pub use self::walk::ClaudeWalk;

/// Line types without content for us. From the host's own list (2.1.325), plus older ones.
const IGNORED_ENTRY_KINDS: &[&str] = &[
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "artifact-autoreact-ledger",
    "artifact-comment-monitor",
    "atis-latch",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "continued-in",
    "cost-state",
    "custom-title",
    "data-flow-incomplete",
    "data-flow-records",
    "derived-from",
    "dev-mods",
    "ended-by-model",
    "file-history-delta",
    "file-history-snapshot",
    "fork-context-ref",
    "frame-link",
    "history-suppression",
    "isolation-latch",
    "last-prompt",
    "memory-mode",
    "mode",
    "observer-ref",
    "permission-mode",
    "pr-link",
    "progress",
    "relocated",
    "repl-mode",
    "resume-head-vouch",
    "session-owner",
    "summary",
    "system",
    "tag",
    "tools-used",
    "worktree-state",
];
/// The maximum number of results kept that may answer a call on the branch. There are never more parallel
/// calls.
const MAX_PENDING_ENTRIES: usize = 512;
/// The tool that asks the user a question and records the answer.
const QUESTION_TOOL: &str = "AskUserQuestion";
/// The opening of a message that says only that the user interrupted the agent.
const INTERRUPTED_PREFIX: &str = "[Request interrupted by user";
/// The text in front of the user's words when they reject a call with a reason.
const REFUSED_PREFIX: &str = "The user doesn't want to proceed with this tool use.";
const REASON_PREFIX: &str = "the user said:\n";
/// The host's note beside the result of a rejected call.
const REJECTED_RESULT: &str = "User rejected tool use";
/// Tools whose error messages the host writes. Error output of any other tool may contain anything.
const HOST_WORDED_TOOLS: &[&str] = &[
    "AskUserQuestion",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "MultiEdit",
    "NotebookEdit",
    "TodoWrite",
    "Write",
];
/// The shell tool. Its failures start with their exit code, so that no output can pass for a rejection that
/// the host notes beside it.
const SHELL_TOOL: &str = "Bash";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeEntry<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    uuid: Option<String>,
    /// Null for the first entry; otherwise present in every entry that the host wrote completely.
    #[serde(default, deserialize_with = "present")]
    parent_uuid: Option<Option<String>>,
    logical_parent_uuid: Option<String>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_compact_summary: bool,
    #[serde(default)]
    is_visible_in_transcript_only: bool,
    #[serde(default)]
    is_api_error_message: bool,
    timestamp: Option<String>,
    session_id: Option<String>,
    cwd: Option<String>,
    git_branch: Option<String>,
    version: Option<String>,
    #[serde(default)]
    entrypoint: HostMark,
    #[serde(default)]
    user_type: HostMark,
    #[serde(default)]
    is_synthetic: bool,
    agent_id: Option<String>,
    tool_denial_kind: Option<String>,
    #[serde(default)]
    origin: HostMark,
    #[serde(default)]
    prompt_source: HostMark,
    #[serde(default)]
    turn_origin: HostMark,
    scheduled_task_id: Option<Value>,
    #[serde(default)]
    repeats_compact_summary: bool,
    custom_title: Option<String>,
    ai_title: Option<String>,
    // The fields of `queue-operation`.
    operation: Option<String>,
    content: Option<Value>,
    #[serde(borrow)]
    attachment: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
    // The fields of `last-prompt`.
    #[serde(default, deserialize_with = "present")]
    leaf_uuid: Option<Option<String>>,
    #[serde(default)]
    explicit: bool,
    #[serde(default)]
    rewound: bool,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

impl ClaudeEntry<'_> {
    fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp.as_deref().and_then(time::parse)
    }
}

/// Deserialises so that null differs from an absent field.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
struct ClaudeMessage {
    model: Option<String>,
    content: MessageContent<ClaudeBlock>,
}

#[derive(Default, Deserialize)]
struct ClaudeBlock {
    #[serde(rename = "type", default)]
    kind: String,
    text: Option<String>,
    // Fields of a call.
    id: Option<String>,
    name: Option<String>,
    #[serde(default)]
    input: Value,
    // Fields of a result.
    tool_use_id: Option<String>,
    content: Option<MessageContent<ClaudeBlock>>,
    is_error: Option<bool>,
}

impl ClaudeBlock {
    fn text(text: String) -> Self {
        Self { kind: "text".to_owned(), text: Some(text), ..Self::default() }
    }
}

fn parse(line: &[u8]) -> Option<ClaudeEntry<'_>> {
    // A write interrupted by a crash leaves zeros in front of the next line.
    let start = line.iter().position(|byte| *byte != 0)?;
    serde_json::from_slice(&line[start..]).ok()
}

/// Reads the messages of a Claude Code session.
#[derive(Default)]
pub struct ClaudeReader {
    head: SessionHead,
    /// True if the user named the session.
    named: bool,
    /// True if a user was at the keyboard at least once.
    interactive: bool,
    /// True while a program drives the host.
    driven: bool,
    /// Host versions that mark the source of every prompt.
    marking: BTreeSet<String>,
    /// The tool of each recent call.
    tools: RecentIds,
    /// Prompts typed while the agent worked.
    queue: PromptQueue,
    /// True if the user interrupted the agent and has said nothing since.
    stopped: bool,
    /// The folder named by the last line.
    cwd: Option<String>,
}

/// The host's record of a question that the agent asked.
#[derive(Deserialize)]
struct ClaudeAnswers {
    answers: BTreeMap<String, String>,
}

impl ClaudeReader {
    fn note(&mut self, entry: &ClaudeEntry<'_>) {
        let head = &mut self.head;
        if head.session.is_none() {
            head.session.clone_from(&entry.session_id);
        }
        if head.cwd.is_none() {
            head.cwd.clone_from(&entry.cwd);
        }
        if entry.cwd.is_some() {
            self.cwd.clone_from(&entry.cwd);
        }
        // Without a branch the host writes `HEAD`, without a repository nothing.
        if let Some(branch) =
            entry.git_branch.as_ref().filter(|branch| !branch.is_empty() && *branch != "HEAD")
        {
            head.branch = Some(branch.clone());
        }
        if head.version.is_none() {
            head.version.clone_from(&entry.version);
        }
        if head.started.is_none() {
            head.started = entry.timestamp();
        }
        if let Some(interactive) = entry.is_interactive() {
            self.driven = !interactive;
            self.interactive |= interactive;
            head.headless = !self.interactive;
        }
        if let Some(title) = &entry.custom_title {
            head.name = Some(title.clone());
            self.named = true;
        } else if let Some(title) = entry.ai_title.as_ref().filter(|_| !self.named) {
            head.name = Some(title.clone());
        }
    }

    fn user(
        &mut self,
        entry: &ClaudeEntry<'_>,
        id: &str,
        message: ClaudeMessage,
        say: &mut dyn FnMut(Message),
    ) {
        let at = entry.timestamp();
        let author = self.author(entry);
        let blocks = message.content.into_parts(ClaudeBlock::text);
        let results = blocks.iter().filter(|block| block.kind == "tool_result").count();
        let (mut words, mut summary) = (String::new(), None);
        for block in blocks {
            match (block.kind.as_str(), block.text, block.tool_use_id) {
                ("text", Some(text), _) if text.starts_with(INTERRUPTED_PREFIX) => self.stopped = true,
                ("text", Some(text), _) if clean::is_summary(&text) => summary = Some(text),
                ("text", Some(text), _) if author != EntryAuthor::Other => {
                    add(&mut words, &typed_text(&text));
                }
                ("tool_result", _, Some(call)) => {
                    let text = block.content.map(text_of).unwrap_or_default();
                    let tool = self.tools.get(&call).map(str::to_owned);
                    let failed = block.is_error.unwrap_or(false);
                    // The reason that a user gives instead of "yes" is their own word, and often the most
                    // telling one.
                    if failed && let Some(reason) = reason(&text, tool.as_deref(), entry) {
                        add(&mut words, &typed_text(reason));
                        self.stopped = true;
                    }
                    if tool.as_deref() == Some(QUESTION_TOOL) && !failed {
                        answers(entry).iter().for_each(|answer| add(&mut words, answer));
                    }
                    let exit_code = if failed { tools::exit_code(&text) } else { None };
                    let id = if results == 1 { id.to_owned() } else { format!("{id}/{call}") };
                    let outcome = Some(ToolOutcome { call, tool, failed, exit_code });
                    say(Message {
                        outcome,
                        ..Message::new(id, at, MessageRole::Tool, clean_output_or_empty(&text))
                    });
                }
                _ => {}
            }
        }
        if let Some(text) = summary {
            say(Message::new(id, at, MessageRole::Summary, clean_output_or_empty(&text)));
            return;
        }
        let id = if results == 0 { id.to_owned() } else { format!("{id}/said") };
        // An answer to a call was typed, unless a program drives the session.
        let automated = if results == 0 { author == EntryAuthor::Program } else { self.driven };
        self.prompt(id, at, &words, automated, say);
    }

    /// The author of a text in `entry`.
    fn author(&self, entry: &ClaudeEntry<'_>) -> EntryAuthor {
        let marked = match &entry.version {
            Some(version) => self.marking.contains(version),
            None => !self.marking.is_empty(),
        };
        entry.author(marked)
    }

    /// Reports a prompt, typed by the user or given by a program.
    fn prompt(
        &mut self,
        id: String,
        at: Option<Timestamp>,
        words: &str,
        automated: bool,
        say: &mut dyn FnMut(Message),
    ) {
        if let Some(text) = clean::clean_user_text(words) {
            let stopped = std::mem::take(&mut self.stopped);
            say(Message { stopped, automated, ..Message::new(id, at, MessageRole::User, text.into_owned()) });
        }
    }

    /// Reports prompts typed while the agent worked; some never become messages of their own.
    fn queued(&mut self, entry: &ClaudeEntry<'_>, say: &mut dyn FnMut(Message)) {
        let text = match entry.kind.as_deref() {
            // Hosts that mark prompts do not mark all of these.
            Some("attachment") if entry.author(false) == EntryAuthor::Other => None,
            Some("attachment") => entry.attachment.and_then(|raw| self.queue.queued_prompt(raw.get())),
            _ => {
                let text = entry.content.as_ref().and_then(Value::as_str);
                self.queue.apply_operation(entry.operation.as_deref().unwrap_or_default(), text)
            }
        };
        if let Some(text) = text {
            let at = entry.timestamp();
            let time = entry.timestamp.as_deref().unwrap_or_default();
            let id = entry.uuid.clone().unwrap_or_else(|| format!("queued-{time}"));
            let automated = match entry.is_interactive() {
                Some(_) => entry.author(false) == EntryAuthor::Program,
                None => self.driven,
            };
            self.prompt(id, at, &text, automated, say);
        }
    }

    fn assistant(
        &mut self,
        entry: &ClaudeEntry<'_>,
        id: &str,
        message: ClaudeMessage,
        say: &mut dyn FnMut(Message),
    ) {
        if entry.is_api_error_message || message.model.as_deref() == Some("<synthetic>") {
            return;
        }
        let (mut words, mut calls) = (String::new(), Vec::new());
        for block in message.content.into_parts(ClaudeBlock::text) {
            match (block.kind.as_str(), block.text, block.id, block.name) {
                ("text", Some(text), _, _) => add(&mut words, &text),
                ("tool_use", _, Some(id), Some(name)) => {
                    self.tools.set(&id, &name);
                    calls.push(tools::parse_call(&id, &name, &block.input));
                }
                _ => {}
            }
        }
        let text = clean_output_or_empty(&words);
        if !text.is_empty() || !calls.is_empty() {
            say(Message { calls, ..Message::new(id, entry.timestamp(), MessageRole::Assistant, text) });
        }
    }
}

/// The user's answers to the agent's questions, each with its question.
fn answers(entry: &ClaudeEntry<'_>) -> Vec<String> {
    let answered =
        entry.tool_use_result.and_then(|raw| serde_json::from_str::<ClaudeAnswers>(raw.get()).ok());
    let answers = answered.map(|answered| answered.answers).unwrap_or_default();
    answers.iter().map(|(question, answer)| answer::render_answer(question, answer)).collect()
}

/// The user's own words in the text of a rejected call. Only if the host wrote that text: a foreign tool's
/// output may contain anything.
fn reason<'a>(text: &'a str, tool: Option<&str>, entry: &ClaudeEntry<'_>) -> Option<&'a str> {
    let noted = || entry.tool_use_result.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let by_host = match entry.tool_denial_kind.as_deref() {
        Some(kind) => kind == "user-rejected",
        None => tool.is_some_and(|tool| {
            HOST_WORDED_TOOLS.contains(&tool)
                || noted().is_some_and(|noted| {
                    noted == REJECTED_RESULT
                        || tool == SHELL_TOOL && noted.strip_prefix("Error: ").unwrap_or(&noted) == text
                })
        }),
    };
    let (_, reason) = text.strip_prefix(REFUSED_PREFIX).filter(|_| by_host)?.split_once(REASON_PREFIX)?;
    Some(reason)
}

impl TranscriptParser for ClaudeReader {
    fn line(&mut self, line: &[u8], say: &mut dyn FnMut(Message)) -> LineVerdict {
        let Some(entry) = parse(line) else { return LineVerdict::Damaged };
        let Some(kind) = entry.kind.as_deref() else { return LineVerdict::Unknown("no type".to_owned()) };
        let cwd = entry.cwd.clone().or_else(|| self.cwd.clone());
        let say = &mut |message: Message| say(Message { cwd: cwd.clone(), ..message });
        if entry.agent_id.is_some() || entry.is_sidechain {
            // Another agent's entry. If nothing came before, the whole session is a subagent's.
            self.head.subagent |= self.head.session.is_none();
            self.note(&entry);
            return LineVerdict::Known;
        }
        let said = match kind {
            "user" | "assistant" => {
                entry.message.and_then(|raw| serde_json::from_str::<ClaudeMessage>(raw.get()).ok())
            }
            "queue-operation" | "attachment" => {
                self.note(&entry);
                self.queued(&entry, say);
                return LineVerdict::Known;
            }
            kind if IGNORED_ENTRY_KINDS.contains(&kind) => {
                self.note(&entry);
                return LineVerdict::Known;
            }
            kind => return LineVerdict::Unknown(kind.to_owned()),
        };
        let (Some(said), Some(id)) = (said, entry.uuid.as_deref()) else {
            return LineVerdict::Strange(format!("{kind} without a message"));
        };
        self.note(&entry);
        if let Some(version) = entry.version.as_ref().filter(|_| kind == "user" && entry.is_prompt_mark()) {
            self.marking.insert(version.clone());
        }
        if entry.is_compact_summary {
            let text = clean_output_or_empty(&text_of(said.content));
            say(Message::new(id, entry.timestamp(), MessageRole::Summary, text));
        } else if !entry.is_meta && !entry.is_visible_in_transcript_only {
            let id = id.to_owned();
            match kind {
                "user" => self.user(&entry, &id, said, say),
                _ => self.assistant(&entry, &id, said, say),
            }
        }
        LineVerdict::Known
    }

    fn head(&self) -> &SessionHead {
        &self.head
    }

    fn know(&mut self, marking: BTreeSet<String>) {
        self.marking.extend(marking);
    }
}

fn text_of(content: MessageContent<ClaudeBlock>) -> String {
    let mut words = String::new();
    for block in content.into_parts(ClaudeBlock::text) {
        if let ("text", Some(text)) = (block.kind.as_str(), block.text) {
            add(&mut words, &text);
        }
    }
    words
}

//! Codex transcripts: one record per line, in order. A rollback takes back the last turns; a compaction takes
//! back nothing.

mod walk;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::content::MessageContent;
use super::recent_ids::RecentIds;
use super::{LineVerdict, TranscriptParser, add, clean_output_or_empty, typed_text};
use crate::base::hash::ContentHash;
use crate::base::time;
use crate::base::time::Timestamp;
use crate::session::{Message, MessageRole, SessionHead, ToolOutcome, answer, clean, tools};

pub use self::walk::CodexWalk;

/// Record types that repeat others or have no content for us.
const IGNORED_RECORD_KINDS: &[&str] = &["token_usage_record", "world_state"];
/// Item types without content for us.
const IGNORED_ITEM_KINDS: &[&str] = &[
    "compaction",
    "compaction_summary",
    "compaction_trigger",
    "context_compaction",
    "ghost_snapshot",
    "image_generation_call",
    "other",
    "reasoning",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
];

/// The tool that asks the user a question; its output is the answer.
const QUESTION_TOOL: &str = "request_user_input";
/// The prefix of free text that the user adds to the option they chose.
const USER_NOTE_PREFIX: &str = "user_note: ";
/// The type of a typed part. Files, skills and others have types of their own.
const TYPED_PART_KIND: &str = "user.text";
/// Session sources with typed input. Any other source is a program.
const INTERACTIVE_SOURCES: &[&str] = &["cli", "vscode"];
/// Turn triggers for typed input.
const TYPED_TURN_TRIGGERS: &[&str] = &["user", "human"];
/// The openings of context that an editor adds in front of the user's words, and the heading between the two.
const EDITOR_PREFIXES: &[&str] =
    &["# Context from my IDE setup:", "# Files mentioned by the user:", "# Selected text:"];
const REQUEST_HEADING: &str = "## My request for Codex:";
/// The complete output of a call that the user rejected.
const REFUSED_OUTPUTS: &[&str] =
    &["rejected by user", "exec command rejected by user", "patch rejected by user"];

#[derive(Deserialize)]
struct CodexRecord<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    timestamp: Option<String>,
    ordinal: Option<u64>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    metadata: Option<CodexMetadata>,
}

#[derive(Deserialize)]
struct CodexMetadata {
    #[serde(default)]
    compaction_output: bool,
}

#[derive(Deserialize)]
struct CodexItem {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    role: Option<String>,
    #[serde(default)]
    content: MessageContent<CodexPart>,
    call_id: Option<String>,
    name: Option<String>,
    namespace: Option<String>,
    arguments: Option<String>,
    input: Option<String>,
    action: Option<Value>,
    #[serde(default)]
    output: Value,
    #[serde(rename = "internal_chat_message_metadata_passthrough")]
    about: Option<CodexItemMetadata>,
}

#[derive(Deserialize)]
struct CodexItemMetadata {
    #[serde(default)]
    content_item_kinds: Vec<String>,
}

#[derive(Default, Deserialize)]
struct CodexPart {
    text: Option<String>,
}

#[derive(Deserialize)]
struct CodexEvent {
    #[serde(rename = "type")]
    kind: String,
    num_turns: Option<u64>,
    reason: Option<String>,
    turn_attribution: Option<TurnAttribution>,
}

/// The trigger of a turn, if the host records it.
#[derive(Deserialize)]
struct TurnAttribution {
    turn_trigger: Option<Value>,
}

/// The questions of one call.
#[derive(Deserialize)]
struct CodexQuestions {
    questions: Vec<CodexQuestion>,
}

#[derive(Deserialize)]
struct CodexQuestion {
    id: String,
    question: String,
    #[serde(rename = "isSecret", default)]
    is_secret: bool,
}

/// The user's answers, by question id.
#[derive(Deserialize)]
struct CodexAnswers {
    answers: BTreeMap<String, CodexAnswer>,
}

#[derive(Deserialize)]
struct CodexAnswer {
    answers: Vec<String>,
}

/// The earlier part of a session. A revert continues in a new file and leaves the old one unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionBase {
    /// The last part of that file's name, before `.jsonl`.
    pub file: String,
    /// The number of bytes that count.
    pub bytes: u64,
}

/// The earlier part of the session whose first line is `line`. The source of a fork is a different session,
/// not an earlier part.
pub fn session_base(line: &[u8]) -> Option<SessionBase> {
    let record = parse(line).filter(|record| record.kind.as_deref() == Some("session_meta"))?;
    let meta: CodexMeta = record.payload()?;
    let base = meta.history_base.filter(|_| meta.forked_from_id.is_none())?;
    Some(SessionBase { file: base.thread_id, bytes: base.end_byte_offset })
}

#[derive(Deserialize)]
struct HistoryBase {
    thread_id: String,
    end_byte_offset: u64,
}

#[derive(Deserialize)]
struct CodexGit {
    branch: Option<String>,
    repository_url: Option<String>,
}

#[derive(Deserialize)]
struct CodexMeta {
    id: Option<String>,
    session_id: Option<String>,
    cwd: Option<String>,
    timestamp: Option<String>,
    cli_version: Option<String>,
    git: Option<CodexGit>,
    originator: Option<String>,
    #[serde(default)]
    source: Value,
    thread_source: Option<String>,
    forked_from_id: Option<String>,
    history_base: Option<HistoryBase>,
}

fn parse(line: &[u8]) -> Option<CodexRecord<'_>> {
    serde_json::from_slice(line).ok()
}

impl CodexRecord<'_> {
    fn payload<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        serde_json::from_str(self.payload?.get()).ok()
    }
}

/// The user's own words in a user message, which also contains the host's notices. Newer versions mark each
/// part. If the marks are absent or incomplete, only a text that looks like nobody else's counts. `marked`
/// means that this version marks messages, so that an unmarked one has no author.
fn user_text(content: MessageContent<CodexPart>, kinds: &[String], marked: bool) -> String {
    if marked && kinds.is_empty() {
        return String::new();
    }
    let parts = content.into_parts(|text| CodexPart { text: Some(text) });
    let is_user = |kind: &String| kind == TYPED_PART_KIND;
    let of_each = kinds.len() == parts.len();
    let mut words = String::new();
    for (index, part) in parts.into_iter().enumerate() {
        let is_user_text =
            if of_each { kinds.get(index).is_some_and(is_user) } else { kinds.iter().all(is_user) };
        let text =
            part.text.filter(|_| is_user_text).map(|text| typed_text(request(&text))).unwrap_or_default();
        if !text.is_empty() {
            add(&mut words, &text);
        }
    }
    words
}

/// A message without an editor's context in front of it. Selected text may contain the heading of the
/// request, so the last heading counts. Without a heading nothing was typed.
fn request(text: &str) -> &str {
    let start = text.trim_start();
    if !EDITOR_PREFIXES.iter().any(|opening| start.starts_with(opening)) {
        return text;
    }
    let headings = text.match_indices(REQUEST_HEADING).map(|(at, _)| at);
    let at = headings.filter(|at| text[..*at].ends_with('\n')).last();
    at.map_or("", |at| &text[at + REQUEST_HEADING.len()..])
}

/// The agent's own words.
fn answer_of(content: MessageContent<CodexPart>) -> String {
    let mut words = String::new();
    for text in
        content.into_parts(|text| CodexPart { text: Some(text) }).into_iter().filter_map(|part| part.text)
    {
        let text = clean_output_or_empty(&text);
        if !text.is_empty() {
            add(&mut words, &text);
        }
    }
    words
}

/// Reads the messages of a Codex session.
#[derive(Default)]
pub struct CodexReader {
    head: SessionHead,
    begun: bool,
    /// The tool of each recent call.
    tools: RecentIds,
    /// The agent's questions, by call.
    questions: RecentIds,
    /// True if the user interrupted the agent and has said nothing since.
    stopped: bool,
    /// The folder of the current turn.
    cwd: Option<String>,
    /// True if the host marks the parts of messages.
    marked: bool,
    /// True if a program triggered this turn.
    automated: bool,
}

/// The settings in force from here on.
#[derive(Deserialize)]
struct TurnContext {
    cwd: Option<String>,
}

impl CodexReader {
    fn meta(&mut self, meta: CodexMeta) {
        // A fork repeats the header of its source; the first header is its own.
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let from_agent = |text: &str| text.starts_with("subagent");
        self.head.subagent = meta.source.get("subagent").is_some()
            || meta.source.as_str().is_some_and(from_agent)
            || meta.thread_source.as_deref().is_some_and(from_agent);
        // Older versions do not record it.
        let interactive = meta.source.is_null()
            || self.head.subagent
            || meta.source.as_str().is_some_and(|source| INTERACTIVE_SOURCES.contains(&source));
        let is_program = |originator: &str| originator.ends_with("_exec") || originator.contains("_sdk");
        self.head.headless = !interactive || meta.originator.as_deref().is_some_and(is_program);
        self.head.session = meta.id.or(meta.session_id);
        self.cwd.clone_from(&meta.cwd);
        self.head.cwd = meta.cwd;
        self.head.started = meta.timestamp.as_deref().and_then(time::parse);
        self.head.version = meta.cli_version;
        if let Some(git) = meta.git {
            (self.head.branch, self.head.repository) = (git.branch, git.repository_url);
        }
    }

    fn event(&mut self, event: &CodexEvent) {
        match event.kind.as_str() {
            // A turn also ends when it is replaced or its budget is spent, and nobody says that.
            "turn_aborted" => self.stopped |= event.reason.as_deref() == Some("interrupted"),
            "task_started" => {
                let trigger = event.turn_attribution.as_ref().and_then(|turn| turn.turn_trigger.as_ref());
                let is_typed = |trigger: &Value| {
                    trigger.as_str().is_some_and(|word| TYPED_TURN_TRIGGERS.contains(&word))
                };
                self.automated = trigger.is_some_and(|trigger| !is_typed(trigger));
            }
            _ => {}
        }
    }

    fn item(
        &mut self,
        id: String,
        at: Option<Timestamp>,
        item: CodexItem,
        say: &mut dyn FnMut(Message),
    ) -> LineVerdict {
        match item.kind.as_str() {
            "message" => {
                let kinds = item.about.map(|about| about.content_item_kinds).unwrap_or_default();
                self.marked |= !kinds.is_empty();
                let (role, text) = match item.role.as_deref() {
                    Some("user") => (MessageRole::User, user_text(item.content, &kinds, self.marked)),
                    Some("assistant") => (MessageRole::Assistant, answer_of(item.content)),
                    // Instructions, and context from hooks.
                    _ => return LineVerdict::Known,
                };
                // Versions before `compacted` wrote the summary as a user message.
                let role = if role == MessageRole::User && clean::is_summary(&text) {
                    MessageRole::Summary
                } else {
                    role
                };
                if !text.is_empty() {
                    let stopped = role == MessageRole::User && std::mem::take(&mut self.stopped);
                    let automated = role == MessageRole::User && (self.automated || self.head.headless);
                    say(Message { stopped, automated, ..Message::new(id, at, role, text) });
                }
            }
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let name = item.name.unwrap_or_else(|| "shell".to_owned());
                // Only the host's own tool. Output of another tool with this name is not the user's answer.
                if name == QUESTION_TOOL
                    && item.namespace.is_none()
                    && let (Some(call), Some(asked)) = (&item.call_id, &item.arguments)
                {
                    self.questions.set(call, asked);
                }
                let tool = match item.namespace {
                    Some(space) => format!("{}__{name}", space.trim_end_matches("__")),
                    None => name,
                };
                let arguments = match (item.arguments, item.input, item.action) {
                    (Some(json), _, _) => serde_json::from_str(&json).unwrap_or(Value::String(json)),
                    (None, Some(input), _) => Value::String(input),
                    (None, None, action) => action.unwrap_or_default(),
                };
                let call = item.call_id.unwrap_or_else(|| id.clone());
                self.tools.set(&call, &tool);
                let calls = vec![tools::parse_call(&call, &tool, &arguments)];
                say(Message { calls, ..Message::new(id, at, MessageRole::Assistant, "") });
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                let call = item.call_id.unwrap_or_default();
                let (text, exit_code, failed) = output(item.output);
                let tool = self.tools.get(&call).map(str::to_owned);
                let refused = REFUSED_OUTPUTS.contains(&text.trim());
                self.stopped |= refused;
                let answered =
                    self.questions.get(&call).map(|asked| answers(asked, &text)).unwrap_or_default();
                let outcome = Some(ToolOutcome { call, tool, failed: failed || refused, exit_code });
                let answer_id = format!("{id}/said");
                say(Message {
                    outcome,
                    ..Message::new(id, at, MessageRole::Tool, clean_output_or_empty(&text))
                });
                let words = typed_text(&answered);
                if !words.is_empty() {
                    let automated = self.head.headless;
                    say(Message { automated, ..Message::new(answer_id, at, MessageRole::User, words) });
                }
            }
            kind if IGNORED_ITEM_KINDS.contains(&kind) => {}
            kind => return LineVerdict::Unknown(format!("response_item {kind}")),
        }
        LineVerdict::Known
    }
}

/// The user's answers to the questions of a call, each with its question. Questions for a secret are left
/// out. An answer that the host filled in for the user is empty.
fn answers(asked: &str, output: &str) -> String {
    let (Ok(asked), Ok(answered)) =
        (serde_json::from_str::<CodexQuestions>(asked), serde_json::from_str::<CodexAnswers>(output))
    else {
        return String::new();
    };
    let mut words = String::new();
    for question in asked.questions.iter().filter(|question| !question.is_secret) {
        let given =
            answered.answers.get(&question.id).map(|answer| answer.answers.as_slice()).unwrap_or_default();
        let given: Vec<&str> = given
            .iter()
            .map(|answer| answer.strip_prefix(USER_NOTE_PREFIX).unwrap_or(answer).trim())
            .filter(|answer| !answer.is_empty())
            .collect();
        if !given.is_empty() {
            add(&mut words, &answer::render_answer(&question.question, &given.join(", ")));
        }
    }
    words
}

/// A tool's output without the host's wrapping, with the exit code and a failure flag.
fn output(value: Value) -> (String, Option<i32>, bool) {
    let failed = value.get("success").and_then(Value::as_bool).map(|success| !success);
    let text = match value {
        Value::String(text) => text,
        Value::Array(parts) => {
            let mut words = String::new();
            for text in parts.iter().filter_map(|part| part.get("text")).filter_map(Value::as_str) {
                add(&mut words, text);
            }
            words
        }
        Value::Object(mut map) => match map.remove("content").or_else(|| map.remove("output")) {
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
            None => String::new(),
        },
        Value::Null => String::new(),
        other => other.to_string(),
    };
    // Older versions: the output is itself JSON.
    if text.starts_with("{\"output\":")
        && let Ok(Value::Object(mut map)) = serde_json::from_str(&text)
        && let Some(Value::String(inner)) = map.remove("output")
    {
        let code = map.get("metadata").and_then(|about| about.get("exit_code")).and_then(Value::as_i64);
        let code = code.and_then(|code| i32::try_from(code).ok());
        return (inner, code, code.is_some_and(|code| code != 0));
    }
    // Newer versions write a few lines in front, twice if a command was intercepted (a patch).
    let (mut rest, mut code, mut named) = (text.as_str(), None, false);
    while ["Chunk ID: ", "Exit code: ", "Wall time: "].iter().any(|start| rest.starts_with(start))
        && let Some((before, after)) = rest.split_once("Output:\n")
    {
        code = tools::exit_code(before).or(code);
        (rest, named) = (after, true);
    }
    if named {
        return (rest.to_owned(), code, code.is_some_and(|code| code != 0));
    }
    (text, None, failed.unwrap_or(false))
}

impl TranscriptParser for CodexReader {
    fn line(&mut self, line: &[u8], say: &mut dyn FnMut(Message)) -> LineVerdict {
        let Some(record) = parse(line) else { return LineVerdict::Damaged };
        let Some(kind) = record.kind.as_deref() else { return LineVerdict::Unknown("no type".to_owned()) };
        let unknown = || LineVerdict::Strange(format!("{kind} without what belongs to it"));
        let at = record.timestamp.as_deref().and_then(time::parse);
        let made_up = || match record.ordinal {
            Some(ordinal) => format!("record-{ordinal}"),
            None => ContentHash::of_bytes(line).short_hex(16),
        };
        let cwd = self.cwd.clone();
        let say = &mut |message: Message| say(Message { cwd: cwd.clone(), ..message });
        match kind {
            "turn_context" => {
                let context: Option<TurnContext> = record.payload();
                self.cwd = context.and_then(|context| context.cwd).or(self.cwd.take());
                LineVerdict::Known
            }
            "event_msg" => {
                if let Some(event) = record.payload::<CodexEvent>() {
                    self.event(&event);
                }
                LineVerdict::Known
            }
            "session_meta" => match record.payload() {
                Some(meta) => {
                    self.meta(meta);
                    LineVerdict::Known
                }
                None => unknown(),
            },
            "response_item" => {
                // The model's own draft of a summary; `compacted` repeats it, marked as one.
                if record.metadata.as_ref().is_some_and(|metadata| metadata.compaction_output) {
                    return LineVerdict::Known;
                }
                match record.payload::<CodexItem>() {
                    Some(mut item) => {
                        let id = item.id.take().unwrap_or_else(made_up);
                        self.item(id, at, item, say)
                    }
                    None => unknown(),
                }
            }
            "compacted" => {
                #[derive(Deserialize)]
                struct CodexCompaction {
                    #[serde(default)]
                    message: String,
                }
                match record.payload::<CodexCompaction>() {
                    Some(compacted) => {
                        say(Message::new(
                            made_up(),
                            at,
                            MessageRole::Summary,
                            clean_output_or_empty(&compacted.message),
                        ));
                        LineVerdict::Known
                    }
                    None => unknown(),
                }
            }
            kind if IGNORED_RECORD_KINDS.contains(&kind) => LineVerdict::Known,
            kind => LineVerdict::Unknown(kind.to_owned()),
        }
    }

    fn head(&self) -> &SessionHead {
        &self.head
    }
}

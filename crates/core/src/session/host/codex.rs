//! Codex: one record a line, in order. A rollback takes back the last turns; a compaction takes back nothing.

mod walk;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::content::Content;
use super::recent::Recent;
use super::{Line, Transcript, add, told, typed};
use crate::base::hash::ContentHash;
use crate::base::time;
use crate::base::time::Timestamp;
use crate::session::{Head, Message, Outcome, Role, answer, clean, tools};

pub use self::walk::Walk;

/// Kinds of records that repeat what others say, or say nothing for us.
const BULK: &[&str] = &["token_usage_record", "world_state"];
/// Kinds of items that say nothing for us.
const BULK_ITEMS: &[&str] = &[
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

/// The tool with which the agent asks the person something; its output is what they answered.
const QUESTION_TOOL: &str = "request_user_input";
/// In front of what the person wrote beside the option that they chose.
const WRITTEN: &str = "user_note: ";
/// The kind of a part that was typed. Files, skills and the like are of kinds of their own.
const TYPED: &str = "user.text";
/// Where sessions are held that people type into. Any other source is a program's.
const INTERACTIVE: &[&str] = &["cli", "vscode"];
/// What begins a turn that a person typed.
const TYPED_TURNS: &[&str] = &["user", "human"];
/// How an editor begins what it puts in front of the person's words, and what stands between the two.
const EDITOR: &[&str] =
    &["# Context from my IDE setup:", "# Files mentioned by the user:", "# Selected text:"];
const REQUEST: &str = "## My request for Codex:";
/// The whole output of a call that the person did not let run.
const REFUSED: &[&str] = &["rejected by user", "exec command rejected by user", "patch rejected by user"];

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    timestamp: Option<String>,
    ordinal: Option<u64>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    compaction_output: bool,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    role: Option<String>,
    #[serde(default)]
    content: Content<Part>,
    call_id: Option<String>,
    name: Option<String>,
    namespace: Option<String>,
    arguments: Option<String>,
    input: Option<String>,
    action: Option<Value>,
    #[serde(default)]
    output: Value,
    #[serde(rename = "internal_chat_message_metadata_passthrough")]
    about: Option<About>,
}

#[derive(Deserialize)]
struct About {
    #[serde(default)]
    content_item_kinds: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Part {
    text: Option<String>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    num_turns: Option<u64>,
    reason: Option<String>,
    turn_attribution: Option<Attribution>,
}

/// What began a turn, where the host says it.
#[derive(Deserialize)]
struct Attribution {
    turn_trigger: Option<Value>,
}

/// The questions of one call.
#[derive(Deserialize)]
struct Questions {
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct Question {
    id: String,
    question: String,
    #[serde(rename = "isSecret", default)]
    is_secret: bool,
}

/// The person's answers, by the question's id.
#[derive(Deserialize)]
struct Answers {
    answers: BTreeMap<String, Answer>,
}

#[derive(Deserialize)]
struct Answer {
    answers: Vec<String>,
}

/// Where the earlier part of a session is: a revert goes on in a new file and leaves the old one as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// How the name of that file ends, before `.jsonl`.
    pub file: String,
    /// How much of it counts.
    pub bytes: u64,
}

/// The earlier part of the session whose first line is `line`. What a fork was made from is another session, not a part
/// of this one.
pub fn base(line: &[u8]) -> Option<Base> {
    let record = parse(line).filter(|record| record.kind.as_deref() == Some("session_meta"))?;
    let meta: Meta = record.payload()?;
    let base = meta.history_base.filter(|_| meta.forked_from_id.is_none())?;
    Some(Base { file: base.thread_id, bytes: base.end_byte_offset })
}

#[derive(Deserialize)]
struct HistoryBase {
    thread_id: String,
    end_byte_offset: u64,
}

#[derive(Deserialize)]
struct Git {
    branch: Option<String>,
    repository_url: Option<String>,
}

#[derive(Deserialize)]
struct Meta {
    id: Option<String>,
    session_id: Option<String>,
    cwd: Option<String>,
    timestamp: Option<String>,
    cli_version: Option<String>,
    git: Option<Git>,
    originator: Option<String>,
    #[serde(default)]
    source: Value,
    thread_source: Option<String>,
    forked_from_id: Option<String>,
    history_base: Option<HistoryBase>,
}

fn parse(line: &[u8]) -> Option<Record<'_>> {
    serde_json::from_slice(line).ok()
}

impl Record<'_> {
    fn payload<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        serde_json::from_str(self.payload?.get()).ok()
    }
}

/// What the person said in a message of theirs: the host puts its own notices into the same list. Newer versions say which
/// is which; where they do not, or not for every part, only what looks like nobody else's counts. `marked`: this session is
/// of such a version, so that a message of which it does not say it is nobody's.
fn said(content: Content<Part>, kinds: &[String], marked: bool) -> String {
    if marked && kinds.is_empty() {
        return String::new();
    }
    let parts = content.parts(|text| Part { text: Some(text) });
    let is_user = |kind: &String| kind == TYPED;
    let of_each = kinds.len() == parts.len();
    let mut words = String::new();
    for (index, part) in parts.into_iter().enumerate() {
        let theirs = if of_each { kinds.get(index).is_some_and(is_user) } else { kinds.iter().all(is_user) };
        let text = part.text.filter(|_| theirs).map(|text| typed(request(&text))).unwrap_or_default();
        if !text.is_empty() {
            add(&mut words, &text);
        }
    }
    words
}

/// A message without what an editor puts in front of it. What is selected there may hold the heading of the request, so that
/// only the last one is the editor's; without it, nothing was typed.
fn request(text: &str) -> &str {
    let start = text.trim_start();
    if !EDITOR.iter().any(|opening| start.starts_with(opening)) {
        return text;
    }
    let headings = text.match_indices(REQUEST).map(|(at, _)| at);
    let at = headings.filter(|at| text[..*at].ends_with('\n')).last();
    at.map_or("", |at| &text[at + REQUEST.len()..])
}

/// What the agent said.
fn answer_of(content: Content<Part>) -> String {
    let mut words = String::new();
    for text in content.parts(|text| Part { text: Some(text) }).into_iter().filter_map(|part| part.text) {
        let text = told(&text);
        if !text.is_empty() {
            add(&mut words, &text);
        }
    }
    words
}

/// The messages of a Codex session.
#[derive(Default)]
pub struct Reader {
    head: Head,
    begun: bool,
    /// Which tool a call was for.
    tools: Recent,
    /// The agent's questions, by call.
    questions: Recent,
    /// The person stopped the agent and has said nothing since.
    stopped: bool,
    /// The folder of the current turn.
    cwd: Option<String>,
    /// Whether the host says of the parts of messages what they are.
    marked: bool,
    /// Whether a program began this turn.
    automated: bool,
}

/// What is in force from here on.
#[derive(Deserialize)]
struct TurnContext {
    cwd: Option<String>,
}

impl Reader {
    fn meta(&mut self, meta: Meta) {
        // A fork repeats the header of what it was forked from; the first is its own.
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let from_agent = |text: &str| text.starts_with("subagent");
        self.head.subagent = meta.source.get("subagent").is_some()
            || meta.source.as_str().is_some_and(from_agent)
            || meta.thread_source.as_deref().is_some_and(from_agent);
        // Older versions do not say.
        let interactive = meta.source.is_null()
            || self.head.subagent
            || meta.source.as_str().is_some_and(|source| INTERACTIVE.contains(&source));
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

    fn event(&mut self, event: &Event) {
        match event.kind.as_str() {
            // A turn also ends because it was replaced, or because the budget is spent: that is nobody's word.
            "turn_aborted" => self.stopped |= event.reason.as_deref() == Some("interrupted"),
            "task_started" => {
                let trigger = event.turn_attribution.as_ref().and_then(|turn| turn.turn_trigger.as_ref());
                let is_typed =
                    |trigger: &Value| trigger.as_str().is_some_and(|word| TYPED_TURNS.contains(&word));
                self.automated = trigger.is_some_and(|trigger| !is_typed(trigger));
            }
            _ => {}
        }
    }

    fn item(&mut self, id: String, at: Option<Timestamp>, item: Item, say: &mut dyn FnMut(Message)) -> Line {
        match item.kind.as_str() {
            "message" => {
                let kinds = item.about.map(|about| about.content_item_kinds).unwrap_or_default();
                self.marked |= !kinds.is_empty();
                let (role, text) = match item.role.as_deref() {
                    Some("user") => (Role::User, said(item.content, &kinds, self.marked)),
                    Some("assistant") => (Role::Assistant, answer_of(item.content)),
                    // Instructions, and what hooks put in.
                    _ => return Line::Known,
                };
                // Versions before `compacted` wrote the summary into the person's mouth.
                let role = if role == Role::User && clean::is_summary(&text) { Role::Summary } else { role };
                if !text.is_empty() {
                    let stopped = role == Role::User && std::mem::take(&mut self.stopped);
                    let automated = role == Role::User && (self.automated || self.head.headless);
                    say(Message { stopped, automated, ..Message::new(id, at, role, text) });
                }
            }
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let name = item.name.unwrap_or_else(|| "shell".to_owned());
                // Only the host's own tool: what another of that name returns is not what the person answered.
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
                let calls = vec![tools::call(&call, &tool, &arguments)];
                say(Message { calls, ..Message::new(id, at, Role::Assistant, "") });
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                let call = item.call_id.unwrap_or_default();
                let (text, exit_code, failed) = output(item.output);
                let tool = self.tools.get(&call).map(str::to_owned);
                let refused = REFUSED.contains(&text.trim());
                self.stopped |= refused;
                let answered =
                    self.questions.get(&call).map(|asked| answers(asked, &text)).unwrap_or_default();
                let outcome = Some(Outcome { call, tool, failed: failed || refused, exit_code });
                let answer_id = format!("{id}/said");
                say(Message { outcome, ..Message::new(id, at, Role::Tool, told(&text)) });
                let words = typed(&answered);
                if !words.is_empty() {
                    let automated = self.head.headless;
                    say(Message { automated, ..Message::new(answer_id, at, Role::User, words) });
                }
            }
            kind if BULK_ITEMS.contains(&kind) => {}
            kind => return Line::Unknown(format!("response_item {kind}")),
        }
        Line::Known
    }
}

/// The person's answers to the questions of a call, each with its question. A question for a secret is left out, and an
/// answer that the host filled in because nobody gave one is empty.
fn answers(asked: &str, output: &str) -> String {
    let (Ok(asked), Ok(answered)) =
        (serde_json::from_str::<Questions>(asked), serde_json::from_str::<Answers>(output))
    else {
        return String::new();
    };
    let mut words = String::new();
    for question in asked.questions.iter().filter(|question| !question.is_secret) {
        let given =
            answered.answers.get(&question.id).map(|answer| answer.answers.as_slice()).unwrap_or_default();
        let given: Vec<&str> = given
            .iter()
            .map(|answer| answer.strip_prefix(WRITTEN).unwrap_or(answer).trim())
            .filter(|answer| !answer.is_empty())
            .collect();
        if !given.is_empty() {
            add(&mut words, &answer::to_question(&question.question, &given.join(", ")));
        }
    }
    words
}

/// A tool's output without what the host wrote around it, the exit code, and whether it failed.
fn output(value: Value) -> (String, Option<i32>, bool) {
    let told = value.get("success").and_then(Value::as_bool).map(|success| !success);
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
    // Newer ones write a few lines in front, and twice so where a command is caught on its way (a patch).
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
    (text, None, told.unwrap_or(false))
}

impl Transcript for Reader {
    fn line(&mut self, line: &[u8], say: &mut dyn FnMut(Message)) -> Line {
        let Some(record) = parse(line) else { return Line::Damaged };
        let Some(kind) = record.kind.as_deref() else { return Line::Unknown("no type".to_owned()) };
        let unknown = || Line::Strange(format!("{kind} without what belongs to it"));
        let at = record.timestamp.as_deref().and_then(time::parse);
        let made_up = || match record.ordinal {
            Some(ordinal) => format!("record-{ordinal}"),
            None => ContentHash::of(line).short(16),
        };
        let cwd = self.cwd.clone();
        let say = &mut |message: Message| say(Message { cwd: cwd.clone(), ..message });
        match kind {
            "turn_context" => {
                let context: Option<TurnContext> = record.payload();
                self.cwd = context.and_then(|context| context.cwd).or(self.cwd.take());
                Line::Known
            }
            "event_msg" => {
                if let Some(event) = record.payload::<Event>() {
                    self.event(&event);
                }
                Line::Known
            }
            "session_meta" => match record.payload() {
                Some(meta) => {
                    self.meta(meta);
                    Line::Known
                }
                None => unknown(),
            },
            "response_item" => {
                // The model's own draft of a summary: `compacted` says it again, as what it is.
                if record.metadata.as_ref().is_some_and(|metadata| metadata.compaction_output) {
                    return Line::Known;
                }
                match record.payload::<Item>() {
                    Some(mut item) => {
                        let id = item.id.take().unwrap_or_else(made_up);
                        self.item(id, at, item, say)
                    }
                    None => unknown(),
                }
            }
            "compacted" => {
                #[derive(Deserialize)]
                struct Compacted {
                    #[serde(default)]
                    message: String,
                }
                match record.payload::<Compacted>() {
                    Some(compacted) => {
                        say(Message::new(made_up(), at, Role::Summary, told(&compacted.message)));
                        Line::Known
                    }
                    None => unknown(),
                }
            }
            kind if BULK.contains(&kind) => Line::Known,
            kind => Line::Unknown(kind.to_owned()),
        }
    }

    fn head(&self) -> &Head {
        &self.head
    }
}

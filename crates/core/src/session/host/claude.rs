//! Claude Code: a tree of entries by `uuid` and `parentUuid`, one a line, among many lines of other kinds.
//!
//! The chain from the newest message to the first leads through entries that say nothing (`attachment`, `system`,
//! `progress`), and over a compaction by `logicalParentUuid`. Calls that an agent makes side by side fork the tree
//! although nothing was taken back; their results are recognised by the calls they answer.

mod queue;

use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use self::queue::Queue;
use super::chain::Chain;
use super::content::Content;
use super::recent::Recent;
use super::{Branch, Line, Seen, Transcript, add, told, typed};
use crate::session::{Head, Message, Outcome, Role, answer, clean, tools};
use crate::time::{self, Timestamp};

/// Kinds of lines that say nothing for us. From the list that the host itself keeps (2.1.325), and older ones.
const BULK: &[&str] = &[
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
/// Programs that start the host without anybody typing.
const HEADLESS: &[&str] = &["sdk-cli", "sdk-ts", "sdk-py", "claude-code-github-action", "bench"];
/// Turns that a prompt began: typed, or given by the program that started a session without anybody at it.
const TYPED_TURNS: &[&str] = &["human", "sdk"];
/// Results that may turn out to answer a call on the branch. More calls than this are never made side by side.
const MAX_PENDING: usize = 512;
/// The tool with which the agent asks the person something, and in which the host writes down what they answered.
const QUESTION_TOOL: &str = "AskUserQuestion";
/// How a message begins that says only that the person stopped the agent.
const INTERRUPTED: &str = "[Request interrupted by user";
/// Before the person's words, in what an agent is told when a call was refused with a reason.
const REFUSED: &str = "The user doesn't want to proceed with this tool use.";
const REASON: &str = "the user said:\n";
/// What the host notes beside the result of a call that was refused.
const REJECTED: &str = "User rejected tool use";
/// Tools whose failures the host words itself. What others print when they fail may say anything.
const WORDED_BY_HOST: &[&str] = &[
    "AskUserQuestion",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "MultiEdit",
    "NotebookEdit",
    "TodoWrite",
    "Write",
];
/// The tool that runs commands. Its failures begin with their exit code, so that no output can pass for a refusal where the
/// host notes the same beside it.
const SHELL: &str = "Bash";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    uuid: Option<String>,
    parent_uuid: Option<String>,
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
    entrypoint: Option<String>,
    agent_id: Option<String>,
    tool_denial_kind: Option<String>,
    origin: Option<Origin>,
    prompt_source: Option<String>,
    turn_origin: Option<String>,
    scheduled_task_id: Option<Value>,
    #[serde(default)]
    repeats_compact_summary: bool,
    custom_title: Option<String>,
    ai_title: Option<String>,
    // Of `queue-operation`.
    operation: Option<String>,
    content: Option<Value>,
    #[serde(borrow)]
    attachment: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
    // Of `last-prompt`.
    #[serde(default, deserialize_with = "present")]
    leaf_uuid: Option<Option<String>>,
    #[serde(default)]
    explicit: bool,
    #[serde(default)]
    rewound: bool,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

/// Who gave the agent a text, as the host says it.
#[derive(Deserialize)]
struct Origin {
    kind: Option<String>,
}

impl Origin {
    /// Whether a person typed it. Versions that do not say so had nobody else who could have.
    fn is_human(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| kind == "human")
    }
}

impl Entry<'_> {
    fn at(&self) -> Option<Timestamp> {
        self.timestamp.as_deref().and_then(time::parse)
    }

    /// Whether nothing that the host notes says that somebody else than the person wrote this: a schedule, another session, a
    /// task that ended, the host itself.
    fn is_typed(&self) -> bool {
        let turn = self.turn_origin.as_deref().is_none_or(|origin| TYPED_TURNS.contains(&origin));
        let host = self.prompt_source.as_deref() == Some("system") || self.repeats_compact_summary;
        self.origin.as_ref().is_none_or(Origin::is_human) && turn && !host && self.scheduled_task_id.is_none()
    }
}

/// Tells a field that is null from one that is not there.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
struct Said {
    model: Option<String>,
    content: Content<Block>,
}

#[derive(Default, Deserialize)]
struct Block {
    #[serde(rename = "type", default)]
    kind: String,
    text: Option<String>,
    // Of a call.
    id: Option<String>,
    name: Option<String>,
    #[serde(default)]
    input: Value,
    // Of a result.
    tool_use_id: Option<String>,
    content: Option<Content<Block>>,
    is_error: Option<bool>,
}

impl Block {
    fn text(text: String) -> Self {
        Self { kind: "text".to_owned(), text: Some(text), ..Self::default() }
    }
}

fn parse(line: &[u8]) -> Option<Entry<'_>> {
    // A write that was cut off by a crash leaves zeros in front of the next line.
    let start = line.iter().position(|byte| *byte != 0)?;
    serde_json::from_slice(&line[start..]).ok()
}

/// The current branch of a Claude Code session.
#[derive(Default)]
pub struct Walk {
    chain: Chain,
    pending: VecDeque<Pending>,
    /// The answers of the model that have a block on the branch.
    answers: Recent,
}

/// An entry that is not on the chain, but may belong to an answer that is.
struct Pending {
    at: u64,
    answer: Option<String>,
    calls: Vec<String>,
    results: Vec<String>,
}

/// Only what tells where an entry belongs.
#[derive(Default, Deserialize)]
struct Ids {
    id: Option<String>,
    #[serde(default)]
    content: Content<IdBlock>,
}

#[derive(Deserialize)]
struct IdBlock {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    tool_use_id: Option<String>,
}

impl Walk {
    /// Lets go of what waited for the answer `answer`, or for one of `calls`.
    fn free(&mut self, answer: Option<&str>, calls: Vec<String>) -> Vec<u64> {
        let mut freed = Vec::new();
        let mut calls = calls;
        if let Some(answer) = answer {
            self.answers.insert(answer);
            self.pending.retain_mut(|pending| {
                let same = pending.answer.as_deref() == Some(answer);
                if same {
                    freed.push(pending.at);
                    calls.append(&mut pending.calls);
                }
                !same
            });
        }
        if !calls.is_empty() {
            self.pending.retain(|pending| {
                let answers = pending.results.iter().any(|result| calls.contains(result));
                if answers {
                    freed.push(pending.at);
                }
                !answers
            });
        }
        freed
    }
}

impl Branch for Walk {
    fn see(&mut self, at: u64, line: &[u8]) -> Seen {
        let Some(entry) = parse(line) else { return Seen::Kept };
        let kind = entry.kind.as_deref();
        if kind == Some("last-prompt")
            && let Some(leaf) = entry.leaf_uuid
            && (entry.explicit || entry.rewound)
        {
            self.chain.start_at(at, leaf);
            return Seen::Kept;
        }
        let (Some(uuid), false) = (entry.uuid, entry.is_sidechain) else { return Seen::Kept };
        let message = matches!(kind, Some("user" | "assistant"));
        let parent = entry.parent_uuid.or(entry.logical_parent_uuid);
        let taken = self.chain.take(at, &uuid, parent.as_deref(), message);
        let Some(raw) = entry.message.filter(|_| message) else { return Seen::Kept };
        let ids: Ids = serde_json::from_str(raw.get()).unwrap_or_default();
        let blocks = match ids.content {
            Content::Parts(blocks) => blocks,
            Content::Text(_) => Vec::new(),
        };
        let answer = ids.id.filter(|_| kind == Some("assistant"));
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for block in blocks {
            match block.kind.as_deref() {
                Some("tool_use") => calls.extend(block.id),
                Some("tool_result") => results.extend(block.tool_use_id),
                _ => {}
            }
        }
        if taken || answer.as_deref().is_some_and(|answer| self.answers.contains(answer)) {
            let freed = self.free(answer.as_deref(), calls);
            return if freed.is_empty() { Seen::Kept } else { Seen::KeptWith(freed) };
        }
        if answer.is_some() || !results.is_empty() {
            if self.pending.len() == MAX_PENDING {
                self.pending.pop_front();
            }
            self.pending.push_back(Pending { at, answer, calls, results });
        }
        Seen::Left
    }

    fn gap(&self) -> Option<u64> {
        self.chain.gap()
    }

    fn mend(&mut self, all: bool) {
        self.chain.mend(all);
    }
}

/// The messages of a Claude Code session.
#[derive(Default)]
pub struct Reader {
    head: Head,
    /// Whether the person gave the session its name.
    named: bool,
    /// Whether somebody typed at least once.
    typed: bool,
    /// Which tool a call was for.
    tools: Recent,
    /// What was typed while the agent worked.
    queue: Queue,
    /// Whether the person stopped the agent and has said nothing since.
    stopped: bool,
    /// The folder that the last line named.
    cwd: Option<String>,
}

/// What the host notes of a question that the agent asked.
#[derive(Deserialize)]
struct Answered {
    answers: BTreeMap<String, String>,
}

impl Reader {
    fn note(&mut self, entry: &Entry<'_>) {
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
        // Without a branch the host says `HEAD`, and without a repository nothing.
        if let Some(branch) =
            entry.git_branch.as_ref().filter(|branch| !branch.is_empty() && *branch != "HEAD")
        {
            head.branch = Some(branch.clone());
        }
        if head.version.is_none() {
            head.version.clone_from(&entry.version);
        }
        if head.started.is_none() {
            head.started = entry.at();
        }
        if let Some(by) = &entry.entrypoint {
            self.typed |= !HEADLESS.contains(&by.as_str());
            head.headless = !self.typed;
        }
        if let Some(title) = &entry.custom_title {
            head.name = Some(title.clone());
            self.named = true;
        } else if let Some(title) = entry.ai_title.as_ref().filter(|_| !self.named) {
            head.name = Some(title.clone());
        }
    }

    fn user(&mut self, entry: &Entry<'_>, id: &str, said: Said, say: &mut dyn FnMut(Message)) {
        let at = entry.at();
        let blocks = said.content.parts(Block::text);
        let results = blocks.iter().filter(|block| block.kind == "tool_result").count();
        let (mut words, mut summary) = (String::new(), None);
        for block in blocks {
            match (block.kind.as_str(), block.text, block.tool_use_id) {
                ("text", Some(text), _) if text.starts_with(INTERRUPTED) => self.stopped = true,
                ("text", Some(text), _) if clean::is_summary(&text) => summary = Some(text),
                ("text", Some(text), _) if entry.is_typed() => add(&mut words, &typed(&text)),
                ("tool_result", _, Some(call)) => {
                    let text = block.content.map(text_of).unwrap_or_default();
                    let tool = self.tools.get(&call).map(str::to_owned);
                    let failed = block.is_error.unwrap_or(false);
                    // What the person said instead of "yes" is theirs, and often the most telling thing they say.
                    if failed && let Some(reason) = reason(&text, tool.as_deref(), entry) {
                        add(&mut words, &typed(reason));
                        self.stopped = true;
                    }
                    if tool.as_deref() == Some(QUESTION_TOOL) && !failed {
                        answers(entry).iter().for_each(|answer| add(&mut words, answer));
                    }
                    let exit_code = if failed { tools::exit_code(&text) } else { None };
                    let id = if results == 1 { id.to_owned() } else { format!("{id}/{call}") };
                    let outcome = Some(Outcome { call, tool, failed, exit_code });
                    say(Message { outcome, ..Message::new(id, at, Role::Tool, told(&text)) });
                }
                _ => {}
            }
        }
        if let Some(text) = summary {
            say(Message::new(id, at, Role::Summary, told(&text)));
            return;
        }
        let id = if results == 0 { id.to_owned() } else { format!("{id}/said") };
        self.typed(id, at, &words, say);
    }

    /// Words of the person.
    fn typed(&mut self, id: String, at: Option<Timestamp>, words: &str, say: &mut dyn FnMut(Message)) {
        if let Some(text) = clean::said(words) {
            let stopped = std::mem::take(&mut self.stopped);
            say(Message { stopped, ..Message::new(id, at, Role::User, text.into_owned()) });
        }
    }

    /// What the person typed while the agent was at work: some of it never becomes a message of its own.
    fn queued(&mut self, entry: &Entry<'_>, say: &mut dyn FnMut(Message)) {
        let text = match entry.kind.as_deref() {
            Some("attachment") => entry.attachment.and_then(|raw| self.queue.attached(raw.get())),
            _ => {
                let text = entry.content.as_ref().and_then(Value::as_str);
                self.queue.operation(entry.operation.as_deref().unwrap_or_default(), text)
            }
        };
        if let Some(text) = text {
            let at = entry.at();
            let time = entry.timestamp.as_deref().unwrap_or_default();
            let id = entry.uuid.clone().unwrap_or_else(|| format!("queued-{time}"));
            self.typed(id, at, &text, say);
        }
    }

    fn assistant(&mut self, entry: &Entry<'_>, id: &str, said: Said, say: &mut dyn FnMut(Message)) {
        if entry.is_api_error_message || said.model.as_deref() == Some("<synthetic>") {
            return;
        }
        let (mut words, mut calls) = (String::new(), Vec::new());
        for block in said.content.parts(Block::text) {
            match (block.kind.as_str(), block.text, block.id, block.name) {
                ("text", Some(text), _, _) => add(&mut words, &text),
                ("tool_use", _, Some(id), Some(name)) => {
                    self.tools.set(&id, &name);
                    calls.push(tools::call(&id, &name, &block.input));
                }
                _ => {}
            }
        }
        let text = told(&words);
        if !text.is_empty() || !calls.is_empty() {
            say(Message { calls, ..Message::new(id, entry.at(), Role::Assistant, text) });
        }
    }
}

/// What the person answered to the agent's questions, each with its question.
fn answers(entry: &Entry<'_>) -> Vec<String> {
    let answered = entry.tool_use_result.and_then(|raw| serde_json::from_str::<Answered>(raw.get()).ok());
    let answers = answered.map(|answered| answered.answers).unwrap_or_default();
    answers.iter().map(|(question, answer)| answer::to_question(question, answer)).collect()
}

/// The person's own words in what an agent was told when a call was refused. Only where the host wrote that: the output
/// of a tool from elsewhere may say anything.
fn reason<'a>(text: &'a str, tool: Option<&str>, entry: &Entry<'_>) -> Option<&'a str> {
    let noted = || entry.tool_use_result.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let by_host = match entry.tool_denial_kind.as_deref() {
        Some(kind) => kind == "user-rejected",
        None => tool.is_some_and(|tool| {
            WORDED_BY_HOST.contains(&tool)
                || noted().is_some_and(|noted| {
                    noted == REJECTED
                        || tool == SHELL && noted.strip_prefix("Error: ").unwrap_or(&noted) == text
                })
        }),
    };
    let (_, reason) = text.strip_prefix(REFUSED).filter(|_| by_host)?.split_once(REASON)?;
    Some(reason)
}

impl Transcript for Reader {
    fn line(&mut self, line: &[u8], say: &mut dyn FnMut(Message)) -> Line {
        let Some(entry) = parse(line) else { return Line::Damaged };
        let Some(kind) = entry.kind.as_deref() else { return Line::Unknown("no type".to_owned()) };
        let cwd = entry.cwd.clone().or_else(|| self.cwd.clone());
        let say = &mut |message: Message| say(Message { cwd: cwd.clone(), ..message });
        if entry.agent_id.is_some() || entry.is_sidechain {
            // Another agent's: if nothing else came before, all of it is.
            self.head.subagent |= self.head.session.is_none();
            self.note(&entry);
            return Line::Known;
        }
        let said = match kind {
            "user" | "assistant" => {
                entry.message.and_then(|raw| serde_json::from_str::<Said>(raw.get()).ok())
            }
            "queue-operation" | "attachment" => {
                self.note(&entry);
                self.queued(&entry, say);
                return Line::Known;
            }
            kind if BULK.contains(&kind) => {
                self.note(&entry);
                return Line::Known;
            }
            kind => return Line::Unknown(kind.to_owned()),
        };
        let (Some(said), Some(id)) = (said, entry.uuid.as_deref()) else {
            return Line::Strange(format!("{kind} without a message"));
        };
        self.note(&entry);
        if entry.is_compact_summary {
            let text = told(&text_of(said.content));
            say(Message::new(id, entry.at(), Role::Summary, text));
        } else if !entry.is_meta && !entry.is_visible_in_transcript_only {
            let id = id.to_owned();
            match kind {
                "user" => self.user(&entry, &id, said, say),
                _ => self.assistant(&entry, &id, said, say),
            }
        }
        Line::Known
    }

    fn head(&self) -> &Head {
        &self.head
    }
}

fn text_of(content: Content<Block>) -> String {
    let mut words = String::new();
    for block in content.parts(Block::text) {
        if let ("text", Some(text)) = (block.kind.as_str(), block.text) {
            add(&mut words, &text);
        }
    }
    words
}

//! Gemini CLI transcripts: a header, messages, patches of the header (`$set`) and rewinds. A message that
//! grew is written again under the same id, and the last version counts.
//!
//! After a compression a `$set` replaces all messages. Messages that it omits were said all the same and
//! stay. The summary is new. Messages that it keeps are repeated under new ids.

use serde::Deserialize;
use serde_json::Value;

use super::content::MessageContent;
use super::recent_ids::RecentIds;
use super::{
    BranchVerdict, BranchWalk, LineVerdict, TranscriptParser, add, clean_output_or_empty, typed_text,
};
use crate::base::time;
use crate::base::time::Timestamp;
use crate::session::{Message, MessageRole, SessionHead, ToolOutcome, answer, clean, tools};

/// The opening of a summary after compression, and the answer that the host then writes in the agent's name.
const SUMMARY_TAG: &str = "<state_snapshot>";
const SUMMARY_REPLY: &str = "Got it. Thanks for the additional context!";
/// The openings of messages that the host writes in the user's name.
const HOST_MESSAGES: &[&str] =
    &["System: ", "I ran the following shell command:\n```sh\n", "Background execution update:"];
/// The opening of file contents that the host adds for `@` references.
const FILES_HEADING: &str = "--- Content from referenced files ---";
/// The opening of an MCP resource's content, which has no line in front.
const RESOURCE_PREFIX: &str = "Content from @";
/// The openings of prompts typed while the agent worked; the user's words are between the tags.
const STEERING_PREFIXES: &[&str] = &["User steering update:\n", "User hints:\n"];
const TYPED_TAGS: (&str, &str) = ("<user_input>\n", "\n</user_input>");
/// The tool that asks the user a question.
const QUESTION_TOOL: &str = "ask_user";
/// The tool that shows a plan to the user, and the host's text around their words if they send it back.
const PLAN_TOOL: &str = "exit_plan_mode";
const REJECTED_PLAN_AFFIXES: (&str, &str) = ("Plan rejected. User feedback: ", "\n\nThe plan is stored at: ");
/// The host's texts for an interrupted agent and for a rejected call.
const CANCELLED_MESSAGE: &str = "Request cancelled.";
const REFUSED_OUTPUTS: &[&str] = &["User denied execution", "User cancelled"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiRecord {
    // Fields of a message.
    id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    timestamp: Option<String>,
    #[serde(default)]
    content: MessageContent<GeminiPart>,
    /// The typed text of a prompt, without the files that the host inserted for `@name`.
    display_content: Option<MessageContent<GeminiPart>>,
    #[serde(default)]
    tool_calls: Vec<GeminiToolCall>,
    // Fields of the header, whose `kind` has a meaning of its own.
    session_id: Option<String>,
    project_hash: Option<String>,
    start_time: Option<String>,
    summary: Option<String>,
    #[serde(rename = "kind")]
    of: Option<String>,
    /// Converted files hold their messages in the header.
    #[serde(default)]
    messages: Vec<GeminiRecord>,
    #[serde(rename = "$set")]
    set: Option<Box<GeminiRecord>>,
    #[serde(rename = "$rewindTo")]
    rewind_to: Option<String>,
}

impl GeminiRecord {
    fn is_summary(&self) -> bool {
        let begins = |text: &str| text.trim_start().starts_with(SUMMARY_TAG);
        self.kind.as_deref() == Some("user")
            && match &self.content {
                MessageContent::Text(text) => begins(text),
                MessageContent::Parts(parts) => {
                    parts.iter().find_map(|part| part.text.as_deref()).is_some_and(begins)
                }
            }
    }
}

#[derive(Default, Deserialize)]
struct GeminiPart {
    text: Option<String>,
}

#[derive(Deserialize)]
struct GeminiToolCall {
    id: Option<String>,
    name: Option<String>,
    #[serde(default)]
    args: Value,
    #[serde(default)]
    result: Option<MessageContent<GeminiResultPart>>,
    status: Option<String>,
    timestamp: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiResultPart {
    text: Option<String>,
    function_response: Option<GeminiResponse>,
}

#[derive(Deserialize)]
struct GeminiResponse {
    #[serde(default)]
    response: Value,
}

/// The messages of a Gemini CLI session that were neither rewritten later nor rewound.
#[derive(Default)]
pub struct GeminiWalk {
    seen_ids: RecentIds,
    /// An open rewind: everything from here back to its target is dropped.
    cut: Option<RewindCut>,
    /// True if further rewinds to missing messages are ignored.
    rewinds_ignored: bool,
}

/// The maximum number of messages in one rewind.
const MAX_REWOUND_MESSAGES: usize = 16_384;

/// A rewind whose target was not reached yet.
struct RewindCut {
    /// The offset of its record.
    at: u64,
    target: String,
    /// The messages passed since; dropped only if the target is found.
    passed: Vec<String>,
}

impl GeminiWalk {
    /// True if a message is seen for the first time.
    fn is_new(&mut self, id: &str) -> bool {
        match &mut self.cut {
            Some(cut) if !self.seen_ids.contains(id) => {
                if cut.passed.len() < MAX_REWOUND_MESSAGES {
                    cut.passed.push(id.to_owned());
                }
                true
            }
            Some(_) => false,
            None => self.seen_ids.insert(id),
        }
    }

    /// Ends a rewind at its target: drops the messages passed since, wherever they were written.
    fn resolve(&mut self) {
        for id in self.cut.take().map(|cut| cut.passed).unwrap_or_default() {
            self.seen_ids.insert(&id);
        }
    }
}

impl BranchWalk for GeminiWalk {
    fn visit_line(&mut self, at: u64, line: &[u8]) -> BranchVerdict {
        // An unknown record has no content and replaces no earlier version of a message.
        let Ok(record) = serde_json::from_slice::<GeminiRecord>(line) else { return BranchVerdict::Kept };
        if let Some(target) = record.rewind_to {
            // Of two rewinds in a row the earlier target counts, and that one is reached last.
            if self.cut.is_none() && !self.rewinds_ignored {
                self.cut = Some(RewindCut { at, target, passed: Vec::new() });
            }
            return BranchVerdict::Kept;
        }
        let is_target =
            |id: &String, cut: &Option<RewindCut>| cut.as_ref().is_some_and(|cut| cut.target == *id);
        if let Some(id) = record.id {
            if record.kind.is_none() {
                return BranchVerdict::Kept;
            }
            let new = self.is_new(&id);
            let is_cut = self.cut.is_some();
            if is_target(&id, &self.cut) {
                self.resolve();
            }
            return if new && !is_cut { BranchVerdict::Kept } else { BranchVerdict::Left };
        }
        let listed = record.set.map(|set| set.messages).unwrap_or_default();
        let targets = |one: &GeminiRecord| one.id.as_ref().is_some_and(|id| is_target(id, &self.cut));
        if let Some(from) = listed.iter().position(targets) {
            // Drop the listed messages from the target on where they were said, too.
            self.resolve();
            listed[from..].iter().filter_map(|one| one.id.as_ref()).for_each(|id| {
                self.seen_ids.insert(id);
            });
            return BranchVerdict::Left;
        }
        if self.cut.is_some() && !listed.is_empty() { BranchVerdict::Left } else { BranchVerdict::Kept }
    }

    fn missing_parent(&self) -> Option<u64> {
        self.cut.as_ref().map(|cut| cut.at)
    }

    fn bridge_gap(&mut self, all: bool) {
        // The target does not exist, so the rewind drops nothing.
        self.cut = None;
        self.rewinds_ignored |= all;
    }
}

/// Reads the messages of a Gemini CLI session.
#[derive(Default)]
pub struct GeminiReader {
    head: SessionHead,
    said_ids: RecentIds,
    /// True if the user interrupted the agent and has said nothing since.
    stopped: bool,
}

impl GeminiReader {
    fn header(&mut self, record: &mut GeminiRecord) {
        if let Some(session) = record.session_id.take() {
            self.head.session.get_or_insert(session);
        }
        if let Some(started) = record.start_time.as_deref().and_then(time::parse) {
            self.head.started.get_or_insert(started);
        }
        if let Some(summary) = record.summary.take() {
            self.head.name = Some(summary);
        }
        self.head.subagent |= record.of.as_deref() == Some("subagent");
    }

    /// Reports words of the user.
    fn user_message(
        &mut self,
        id: String,
        at: Option<Timestamp>,
        text: String,
        say: &mut dyn FnMut(Message),
    ) {
        let stopped = std::mem::take(&mut self.stopped);
        say(Message { stopped, ..Message::new(id, at, MessageRole::User, text) });
    }

    fn message(&mut self, record: GeminiRecord, say: &mut dyn FnMut(Message)) -> LineVerdict {
        let (Some(id), Some(kind)) = (record.id, record.kind) else {
            return LineVerdict::Strange("message without a type".to_owned());
        };
        if !self.said_ids.insert(&id) {
            return LineVerdict::Known;
        }
        let at = record.timestamp.as_deref().and_then(time::parse);
        let words = joined_text(record.content);
        match kind.as_str() {
            "user" => {
                if clean::is_summary(&words) {
                    say(Message::new(id, at, MessageRole::Summary, clean_output_or_empty(&words)));
                    return LineVerdict::Known;
                }
                // If the host records the displayed text, nothing else was typed, even if it is empty.
                let shown = record.display_content.map(joined_text);
                let text = typed_text(before_files(shown.as_deref().unwrap_or(&words)));
                // Text with these prefixes is a command to the host.
                let command = text.starts_with(['/', '?']);
                if !text.is_empty() && !command && !HOST_MESSAGES.iter().any(|words| text.starts_with(words))
                {
                    self.user_message(id, at, text, say);
                }
            }
            "gemini" => {
                let mut calls = Vec::new();
                let mut results = Vec::new();
                // The user's answer to one of the calls, and a flag for a rejected call.
                let (mut answered, mut refused) = (String::new(), false);
                for call in record.tool_calls {
                    let (Some(call_id), Some(tool)) = (call.id, call.name) else { continue };
                    calls.push(tools::parse_call(&call_id, &tool, &call.args));
                    let Some(result) = call.result else { continue };
                    let raw = clean_output_or_empty(&text_of(result));
                    let exit_code = tools::exit_code(&raw);
                    let failed = matches!(call.status.as_deref(), Some("error" | "cancelled"))
                        || exit_code.is_some_and(|code| code != 0);
                    refused |= call.status.as_deref() == Some("cancelled")
                        && REFUSED_OUTPUTS.iter().any(|words| raw.contains(words));
                    match tool.as_str() {
                        QUESTION_TOOL if !failed => add(&mut answered, &answers(&call.args, &raw)),
                        PLAN_TOOL if !failed => {
                            let words = sent_back(&raw);
                            refused |= words.is_some();
                            add(&mut answered, words.unwrap_or_default());
                        }
                        _ => {}
                    }
                    let done = call.timestamp.as_deref().and_then(time::parse).or(at);
                    let result_id = format!("{id}/{call_id}");
                    let outcome = Some(ToolOutcome { call: call_id, tool: Some(tool), failed, exit_code });
                    results.push(Message {
                        outcome,
                        ..Message::new(result_id, done, MessageRole::Tool, without_frame(&raw))
                    });
                }
                let text = clean_output_or_empty(&words);
                let answer_id = format!("{id}/said");
                if (!text.is_empty() && text != SUMMARY_REPLY) || !calls.is_empty() {
                    say(Message { calls, ..Message::new(id, at, MessageRole::Assistant, text) });
                }
                let answered_at = results.last().and_then(|result: &Message| result.at).or(at);
                results.into_iter().for_each(&mut *say);
                self.stopped |= refused;
                let answered = typed_text(&answered);
                if !answered.is_empty() {
                    self.user_message(answer_id, answered_at, answered, say);
                }
            }
            "info" => self.stopped |= words.trim() == CANCELLED_MESSAGE,
            "error" | "warning" => {}
            kind => return LineVerdict::Strange(format!("message of {kind}")),
        }
        LineVerdict::Known
    }
}

/// The text of a message, including what was typed while the agent worked.
fn joined_text(content: MessageContent<GeminiPart>) -> String {
    let mut words = String::new();
    for text in
        content.into_parts(|text| GeminiPart { text: Some(text) }).into_iter().filter_map(|part| part.text)
    {
        add(&mut words, steering_text(&text));
    }
    words
}

/// A message without the files and resources that the host appends. They extend to the end, because a file
/// may contain the end mark itself.
fn before_files(text: &str) -> &str {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_end();
        if line.starts_with(FILES_HEADING) || trimmed.starts_with(RESOURCE_PREFIX) && trimmed.ends_with(':') {
            return &text[..at];
        }
        at += line.len();
    }
    text
}

/// Prompts typed while the agent worked, without the instruction that the host adds.
fn steering_text(text: &str) -> &str {
    let inner = STEERING_PREFIXES.iter().find_map(|start| text.strip_prefix(start));
    let inner = inner.and_then(|rest| rest.strip_prefix(TYPED_TAGS.0)?.split_once(TYPED_TAGS.1));
    inner.map_or(text, |(typed, _)| typed)
}

/// The user's answers, each with its question. The output refers to questions by index.
fn answers(asked: &Value, output: &str) -> String {
    let answered: Value = serde_json::from_str(output).unwrap_or_default();
    let questions = asked.get("questions").and_then(Value::as_array);
    let mut words = String::new();
    for (place, question) in questions.into_iter().flatten().enumerate() {
        let answer = answered.get("answers").and_then(|answers| answers.get(place.to_string()));
        let pair = question.get("question").and_then(Value::as_str).zip(answer.and_then(Value::as_str));
        if let Some((question, answer)) = pair.filter(|(_, answer)| !answer.trim().is_empty()) {
            add(&mut words, &answer::render_answer(question, answer));
        }
    }
    words
}

/// The user's words when they sent a plan back.
fn sent_back(output: &str) -> Option<&str> {
    let (words, _) = output.strip_prefix(REJECTED_PLAN_AFFIXES.0)?.rsplit_once(REJECTED_PLAN_AFFIXES.1)?;
    Some(words.trim()).filter(|words| !words.is_empty())
}

/// A command's output without the host's lines around it.
fn without_frame(output: &str) -> String {
    let Some(inner) = output.strip_prefix("Output: ") else { return output.to_owned() };
    let frame = |line: &&str| line.starts_with("Process Group PGID: ") || line.starts_with("Exit Code: ");
    let lines: Vec<&str> = inner.lines().filter(|line| !frame(line)).collect();
    lines.join("\n")
}

fn text_of(result: MessageContent<GeminiResultPart>) -> String {
    let mut words = String::new();
    for part in result.into_parts(|text| GeminiResultPart { text: Some(text), function_response: None }) {
        if let Some(text) = part.text {
            add(&mut words, &text);
        } else if let Some(GeminiResponse { response }) = part.function_response {
            match ["output", "error"].iter().find_map(|key| response.get(key)).unwrap_or(&response) {
                Value::String(text) => add(&mut words, text),
                Value::Null => {}
                other => add(&mut words, &other.to_string()),
            }
        }
    }
    words
}

impl TranscriptParser for GeminiReader {
    fn line(&mut self, line: &[u8], say: &mut dyn FnMut(Message)) -> LineVerdict {
        let Ok(mut record) = serde_json::from_slice::<GeminiRecord>(line) else {
            // Tell complete JSON of an unknown shape from incomplete JSON.
            let whole = serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
            return if whole {
                LineVerdict::Strange("a record of another shape".to_owned())
            } else {
                LineVerdict::Damaged
            };
        };
        if record.rewind_to.is_some() {
            return LineVerdict::Known;
        }
        if record.id.is_some() {
            return self.message(record, say);
        }
        let mut header = match record.set.take() {
            Some(set) => *set,
            None if record.session_id.is_some() && record.project_hash.is_some() => record,
            None => return LineVerdict::Unknown("no type".to_owned()),
        };
        self.header(&mut header);
        let messages = std::mem::take(&mut header.messages);
        // After a compression the kept end of the history is listed behind the summary under new ids. It was
        // said before.
        let compressed = messages.iter().any(GeminiRecord::is_summary);
        for message in messages {
            if compressed && !message.is_summary() {
                if let Some(id) = &message.id {
                    self.said_ids.insert(id);
                }
                continue;
            }
            if let LineVerdict::Strange(what) = self.message(message, say) {
                return LineVerdict::Strange(what);
            }
        }
        LineVerdict::Known
    }

    fn head(&self) -> &SessionHead {
        &self.head
    }
}

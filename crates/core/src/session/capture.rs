//! Windows of a session: everything said since the last capture, in the form of the events CAP-05 and CAP-06.

use std::collections::BTreeSet;

use crate::base::time::{TimeZone, Timestamp};
use crate::session::{Message, MessageRole, ToolCall, serialise};
use crate::text::clean_and_redact;

/// The maximum size of a window. A longer one is split: a model could not read more at once, and memory use
/// stays flat.
pub const MAX_WINDOW_BYTES: usize = 4 * 1024 * 1024;
/// The maximum number of files listed in a window.
const MAX_FILES: usize = 500;
/// The maximum length of a session's name.
const MAX_NAME_CHARS: usize = 60;
/// The maximum length of a quote in a handoff.
const MAX_QUOTE_CHARS: usize = 400;

/// A part of a session, ready to become an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionWindow {
    /// The redacted text: `[HH:MM] [User]: …`.
    pub text: String,
    /// Its messages without their text.
    pub turns: Vec<Message>,
    /// The time of its first message as the host wrote it, or that message's id if there is no time. Part of
    /// the dedupe key.
    pub first: String,
    /// The number of user messages.
    pub by_user: u64,
    /// Files that were read.
    pub read: BTreeSet<String>,
    /// Files that were changed.
    pub modified: BTreeSet<String>,
    /// The user's last message.
    pub last_request: Option<String>,
    /// The agent's last message.
    pub last_answer: Option<String>,
}

impl SessionWindow {
    /// The number of messages.
    pub fn len(&self) -> u64 {
        self.turns.len() as u64
    }

    /// True if the window has no messages.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// The files that were read but not changed.
    pub fn read_only_files(&self) -> Vec<String> {
        self.read.difference(&self.modified).cloned().collect()
    }

    fn add(&mut self, message: &Message, block: &str) {
        if self.is_empty() {
            self.first = message.at.map_or_else(|| message.id.clone(), |at| at.to_string());
        } else {
            self.text.push('\n');
        }
        self.text.push_str(block);
        self.turns.push(without_words(message));
        for call in &message.calls {
            let room = |files: &BTreeSet<String>| MAX_FILES.saturating_sub(files.len());
            let (reads, writes) = (room(&self.read), room(&self.modified));
            self.read.extend(call.reads.iter().take(reads).cloned());
            self.modified.extend(call.writes.iter().take(writes).cloned());
        }
        let quoted = || {
            Some(shorten_line(&clean_and_redact(start(&message.text)).text, MAX_QUOTE_CHARS))
                .filter(|text| !text.is_empty())
        };
        match message.role {
            MessageRole::User => {
                self.by_user += 1;
                self.last_request = quoted().or(self.last_request.take());
            }
            MessageRole::Assistant => self.last_answer = quoted().or(self.last_answer.take()),
            MessageRole::Tool | MessageRole::Summary => {}
        }
    }

    /// A summary for the next session (CAP-19): the last request, the last answer and the changed files.
    /// Paths in `cwd` are relative to it.
    pub fn handoff(&self, cwd: Option<&str>) -> String {
        let mut lines = Vec::new();
        lines.extend(self.last_request.as_ref().map(|request| format!("Last request: {request}")));
        lines.extend(self.last_answer.as_ref().map(|answer| format!("Last answer: {answer}")));
        if !self.modified.is_empty() {
            let here = |file: &'_ String| -> String {
                let inside = cwd.and_then(|cwd| file.strip_prefix(cwd)?.strip_prefix(['/', '\\']));
                inside.unwrap_or(file).to_owned()
            };
            let files: Vec<String> = self.modified.iter().take(10).map(here).collect();
            let more = self.modified.len().saturating_sub(files.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            lines.push(format!("Changed: {}{more}", files.join(", ")));
        }
        lines.join("\n")
    }
}

/// A message without its text, which the window holds. The calls' inputs are redacted.
fn without_words(message: &Message) -> Message {
    let calls = message.calls.iter().take(serialise::MAX_CALLS);
    let calls = calls
        .map(|call| ToolCall {
            input: clean_and_redact(&call.input).text,
            notes: clean_and_redact(&call.notes).text,
            ..call.clone()
        })
        .collect();
    Message { text: String::new(), calls, cwd: None, ..message.clone() }
}

/// Builds windows from a stream of messages.
#[derive(Debug)]
pub struct WindowBuilder {
    zone: TimeZone,
    max_tokens: usize,
    current: SessionWindow,
    last_at: Option<Timestamp>,
}

impl WindowBuilder {
    /// Creates an empty window; times are shown in `zone`.
    pub fn new(zone: TimeZone) -> Self {
        Self::of_size(zone, MAX_WINDOW_BYTES)
    }

    fn of_size(zone: TimeZone, max_tokens: usize) -> Self {
        Self { zone, max_tokens, current: SessionWindow::default(), last_at: None }
    }

    /// Adds a message and returns the previous window if it was full. Windows must start at different times,
    /// otherwise their keys would be equal. The host's own summaries are skipped: nobody said them.
    pub fn push(&mut self, message: &Message) -> Option<SessionWindow> {
        if message.role == MessageRole::Summary {
            return None;
        }
        let block = serialise::render_block(message, &self.zone)?;
        let block = block.text;
        let is_full = self.current.text.len() + block.len() > self.max_tokens && !self.current.is_empty();
        let is_later = message.at.is_none() || message.at != self.last_at;
        let full = (is_full && is_later).then(|| std::mem::take(&mut self.current));
        self.current.add(message, &block);
        self.last_at = message.at;
        full
    }

    /// Ends the current window and returns it, unless it is empty.
    pub fn finish_window(&mut self) -> Option<SessionWindow> {
        Some(std::mem::take(&mut self.current)).filter(|window| !window.is_empty())
    }
}

/// A name for an unnamed session, taken from its first request (CAP-19).
pub fn name(first_request: &str) -> Option<String> {
    let line = first_request.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(shorten_line(line, MAX_NAME_CHARS))
}

/// A prefix of a text to quote from. It ends at white space, so that no secret is split: half of one would
/// not be recognised.
fn start(text: &str) -> &str {
    match text.char_indices().nth(MAX_QUOTE_CHARS * 4) {
        None => text,
        Some((at, _)) => text
            .get(..at)
            .and_then(|cut| cut.rfind(char::is_whitespace).and_then(|space| cut.get(..space)))
            .unwrap_or_default(),
    }
}

/// The start of a text, on one line.
fn shorten_line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        None => line,
        Some((at, _)) => {
            let cut = line.get(..at).unwrap_or_default();
            let whole = cut.rfind(' ').filter(|space| *space > at / 2).and_then(|space| cut.get(..space));
            format!("{}…", whole.unwrap_or(cut))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: usize, role: MessageRole, text: &str) -> Message {
        let at = Timestamp::from_second(1_800_000_000 + id as i64).ok();
        Message::new(format!("m{id}"), at, role, text)
    }

    fn windows(messages: &[Message], most: usize) -> Vec<SessionWindow> {
        let mut windows = WindowBuilder::of_size(TimeZone::UTC, most);
        let mut all: Vec<SessionWindow> =
            messages.iter().filter_map(|message| windows.push(message)).collect();
        all.extend(windows.finish_window());
        all
    }

    #[test]
    fn every_message_is_in_exactly_one_window() {
        let messages: Vec<Message> =
            (0..200).map(|id| message(id, MessageRole::User, &"word ".repeat(1 + id % 17))).collect();
        for most in [1, 100, 1000, 1_000_000] {
            let windows = windows(&messages, most);
            let ids: Vec<&String> =
                windows.iter().flat_map(|window| &window.turns).map(|turn| &turn.id).collect();
            assert_eq!(ids, messages.iter().map(|message| &message.id).collect::<Vec<_>>(), "{most}");
            let firsts: BTreeSet<&String> = windows.iter().map(|window| &window.first).collect();
            assert_eq!(firsts.len(), windows.len(), "{most}");
        }
    }

    #[test]
    fn windows_never_begin_at_the_same_time() {
        let mut messages: Vec<Message> =
            (0..40).map(|id| message(id, MessageRole::User, "some words")).collect();
        let same = messages[0].at;
        messages.iter_mut().for_each(|message| message.at = same);
        assert_eq!(windows(&messages, 10).len(), 1);
    }

    #[test]
    fn cap_19_a_handoff_says_where_the_session_stood() {
        let mut edit = message(2, MessageRole::Assistant, "Moved the limit to 20 ms.");
        edit.calls = vec![ToolCall {
            id: "c".to_owned(),
            tool: "Edit".to_owned(),
            input: "src/a.rs".to_owned(),
            reads: Vec::new(),
            writes: vec!["src/a.rs".to_owned()],
            ..ToolCall::default()
        }];
        let messages = [
            message(1, MessageRole::User, "raise the limit"),
            edit,
            message(3, MessageRole::Summary, "nobody said this"),
        ];
        let window = windows(&messages, 1000).remove(0);
        assert_eq!(
            window.handoff(None),
            "Last request: raise the limit\nLast answer: Moved the limit to 20 ms.\nChanged: src/a.rs"
        );
        assert!(!window.text.contains("nobody"));
        assert!(window.handoff(Some("src")).ends_with("Changed: a.rs"));
    }

    #[test]
    fn cap_19_a_session_is_named_by_how_it_began() {
        assert_eq!(name("\n  Fix the   flaky test\nin ci").as_deref(), Some("Fix the flaky test"));
        assert_eq!(name("   \n"), None);
        let long = name(&"abcdefghi ".repeat(20)).unwrap();
        assert!(long.chars().count() <= MAX_NAME_CHARS + 1 && long.ends_with('…'), "{long}");
    }
}

//! Tests of the rules, with sentences of eight languages, synthetic sessions and random input.

mod course;
mod golden;
mod hostile;
mod open_items;
mod sentences;

use crate::base::time::{TimeZone, Timestamp};
use crate::knowledge::observe::{Finding, FindingKind, ObservedSession, rules};
use crate::session::{Message, MessageRole, ToolCall, ToolOutcome};

/// A session builder: one minute passes between messages.
#[derive(Default)]
pub(super) struct SessionScript {
    pub(super) messages: Vec<Message>,
    minute: i64,
}

/// The start of every synthetic session: 09:00.
const MORNING: &str = "2026-03-02T09:00:00Z";

impl SessionScript {
    pub(super) fn new() -> Self {
        Self::default()
    }

    fn push(&mut self, role: MessageRole, text: &str) -> &mut Message {
        let at = self.messages.len();
        let morning: Timestamp = MORNING.parse().unwrap();
        self.messages.push(Message {
            id: format!("m{at}"),
            at: Some(Timestamp::from_second(morning.as_second() + self.minute * 60).unwrap()),
            role,
            text: text.to_owned(),
            calls: Vec::new(),
            outcome: None,
            stopped: false,
            cwd: None,
            automated: false,
        });
        self.minute += 1;
        self.messages.last_mut().unwrap()
    }

    pub(super) fn user(mut self, text: &str) -> Self {
        self.push(MessageRole::User, text);
        self
    }

    pub(super) fn agent(mut self, text: &str) -> Self {
        self.push(MessageRole::Assistant, text);
        self
    }

    pub(super) fn later(mut self, minutes: i64) -> Self {
        self.minute += minutes;
        self
    }

    fn called(mut self, tool: &str, input: &str, writes: &[&str], failed: bool, output: &str) -> Self {
        let id = format!("c{}", self.messages.len());
        let call = ToolCall {
            id: id.clone(),
            tool: tool.to_owned(),
            input: input.to_owned(),
            reads: Vec::new(),
            writes: writes.iter().map(|&name| name.to_owned()).collect(),
            ..ToolCall::default()
        };
        self.push(MessageRole::Assistant, "").calls.push(call);
        let outcome =
            ToolOutcome { call: id, failed, exit_code: failed.then_some(1), ..ToolOutcome::default() };
        self.push(MessageRole::Tool, output).outcome = Some(outcome);
        self
    }

    /// Adds a command that succeeded.
    pub(super) fn ran(self, command: &str, output: &str) -> Self {
        self.called("Bash", command, &[], false, output)
    }

    /// Adds a command that failed.
    pub(super) fn failed(self, command: &str, output: &str) -> Self {
        self.called("Bash", command, &[], true, output)
    }

    /// Adds a call that writes notes.
    pub(super) fn wrote(mut self, tool: &str, writes: &[&str], notes: &str, output: &str) -> Self {
        self = self.called(tool, "", writes, false, output);
        let call = self.messages.iter_mut().rev().find_map(|message| message.calls.last_mut());
        call.unwrap().notes = notes.to_owned();
        self
    }

    /// Adds an edit of a file.
    pub(super) fn edited(self, path: &str) -> Self {
        self.called("Edit", path, &[path], false, "The file was updated.")
    }

    pub(super) fn observe(&self) -> ObservedSession {
        rules::observe(&self.messages, &TimeZone::UTC, Some("/home/dev/shop"))
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        self.observe().findings().cloned().collect()
    }

    /// Every finding as `Rule: text`.
    pub(super) fn told(&self) -> Vec<String> {
        self.findings().iter().map(|finding| format!("{:?}: {}", finding.kind, finding.text)).collect()
    }
}

/// The findings of one user message, sent to an agent that had done something.
pub(super) fn said(text: &str) -> Vec<(FindingKind, String)> {
    let session = SessionScript::new()
        .user("please look at the parser module")
        .agent("I looked at it.")
        .user(text)
        .agent("Done.");
    session.findings().into_iter().map(|finding| (finding.kind, finding.text)).collect()
}

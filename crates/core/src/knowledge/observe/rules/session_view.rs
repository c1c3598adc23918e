//! A session as input of the rules: typed text, calls with outcomes, and turns.

use std::collections::HashMap;

use super::command::ShellCommand;
use super::output::{self, CallState};
use crate::base::provenance::Origin;
use crate::base::time::{Date, TimeZone};
use crate::session::{Message, MessageRole, ToolCall, clean};
use crate::text;
use crate::text::phrases;
use crate::text::phrases::{truncate_head, truncate_tail};
use crate::vault::daily_log::{FactTime, TimeOfDay};

/// The number of bytes read from the start of a user message: more was pasted.
const USER_HEAD_BYTES: usize = 16 * 1024;
/// The number of bytes read from its end, where users comment on pasted text.
const USER_TAIL_BYTES: usize = 4 * 1024;

/// The maximum number of distinct files in one stretch.
const MAX_FILES: usize = 200;

/// The messages of a session, with derived data.
pub(super) struct SessionView<'a> {
    /// The messages in order.
    pub messages: &'a [Message],
    /// The messages that the user typed.
    pub person_messages: Vec<PersonMessage>,
    /// The calls, in order.
    pub steps: Vec<ToolStep<'a>>,
    zone: &'a TimeZone,
    cwd: Option<&'a str>,
}

/// A message of the user.
pub(super) struct PersonMessage {
    /// The index of the message.
    pub at: usize,
    /// The text: clean, without secrets, and without its middle if it is very long.
    pub text: String,
}

/// A call and its outcome.
pub(super) struct ToolStep<'a> {
    /// The index of the message with the call.
    pub at: usize,
    /// The index of the message with its output.
    pub result: Option<usize>,
    /// The tool call itself.
    pub call: &'a ToolCall,
    /// The parsed command, if it runs one.
    pub command: Option<ShellCommand>,
    /// The outcome of the call.
    pub state: CallState,
}

impl<'a> SessionView<'a> {
    pub(super) fn new(messages: &'a [Message], zone: &'a TimeZone, cwd: Option<&'a str>) -> Self {
        let mut person_messages = Vec::new();
        let mut steps: Vec<ToolStep<'a>> = Vec::new();
        let mut open: HashMap<&'a str, usize> = HashMap::new();
        for (at, message) in messages.iter().enumerate() {
            match message.role {
                MessageRole::User => {
                    person_messages.extend(typed_text(&message.text).map(|text| PersonMessage { at, text }));
                }
                MessageRole::Assistant => {
                    for call in &message.calls {
                        open.insert(&call.id, steps.len());
                        let command = ShellCommand::from_call(call);
                        steps.push(ToolStep { at, result: None, call, command, state: CallState::Open });
                    }
                }
                MessageRole::Tool => {
                    let Some(outcome) = &message.outcome else { continue };
                    let Some(step) = open.remove(outcome.call.as_str()).and_then(|step| steps.get_mut(step))
                    else {
                        continue;
                    };
                    step.result = Some(at);
                    step.state = output::state(outcome, &message.text, step.command.as_ref());
                }
                MessageRole::Summary => {}
            }
        }
        Self { messages, person_messages, steps, zone, cwd }
    }

    /// The day of a message, if the host recorded a time.
    pub(super) fn day(&self, message: &Message) -> Option<Date> {
        message.at.map(|at| at.to_zoned(self.zone.clone()).date())
    }

    /// The time of message `at`; without a recorded time, its part of the session (OBS-07).
    pub(super) fn message_time(&self, at: usize) -> Option<FactTime> {
        if let Some(time) = self.messages.get(at).and_then(|message| message.at) {
            return Some(FactTime::At(TimeOfDay::from_zoned(&time.to_zoned(self.zone.clone()))));
        }
        let third = self.messages.len().div_ceil(3);
        match at {
            at if at < third => Some(FactTime::EarlyInSession),
            at if at >= self.messages.len() - third => Some(FactTime::NearEnd),
            _ => None,
        }
    }

    /// The ids of messages without duplicates, at most `most`: the first ones and the last.
    pub(super) fn message_ids(&self, at: &[usize], most: usize) -> Vec<String> {
        let mut at: Vec<usize> = at.to_vec();
        at.sort_unstable();
        at.dedup();
        if at.len() > most && most > 0 {
            let last = at.split_off(at.len() - 1);
            at.truncate(most - 1);
            at.extend(last);
        }
        at.iter().filter_map(|at| self.messages.get(*at)).map(|message| message.id.clone()).collect()
    }

    /// The agent's messages between two indexes.
    pub(super) fn agent(&self, from: usize, to: usize) -> impl DoubleEndedIterator<Item = (usize, &'a str)> {
        let messages: &'a [Message] = self.messages;
        let to = to.min(messages.len());
        (from.min(to)..to).filter_map(move |at| {
            let message = &messages[at];
            let speaks = message.role.origin() == Origin::Agent && message.role == MessageRole::Assistant;
            (speaks && !message.text.trim().is_empty()).then_some((at, message.text.as_str()))
        })
    }

    /// The files changed between two messages, as the user would name them, without duplicates.
    pub(super) fn files(&self, from: usize, to: usize) -> Vec<(usize, String)> {
        let mut files: Vec<(usize, String)> = Vec::new();
        for step in self.steps_between(from, to).filter(|step| step.state == CallState::Passed) {
            for path in &step.call.writes {
                let name = self.name(path);
                if files.len() < MAX_FILES
                    && !is_scratch(&name)
                    && !name.is_empty()
                    && !files.iter().any(|(_, known)| *known == name)
                {
                    files.push((step.at, name));
                }
            }
        }
        files
    }

    /// The calls of the messages from `from` up to `to`.
    pub(super) fn steps_between(
        &self,
        from: usize,
        to: usize,
    ) -> impl DoubleEndedIterator<Item = &ToolStep<'a>> {
        let first = self.steps.partition_point(|step| step.at < from);
        let last = self.steps.partition_point(|step| step.at < to).max(first);
        self.steps[first..last].iter()
    }

    /// A path relative to the session's folder.
    pub(super) fn name(&self, path: &str) -> String {
        let inside = self.cwd.filter(|cwd| !cwd.is_empty()).and_then(|cwd| path.strip_prefix(cwd));
        let name = match inside.map(|rest| rest.strip_prefix(['/', '\\']).unwrap_or(rest)) {
            Some(name) if !name.is_empty() && (path.len() - name.len()) > self.cwd.map_or(0, str::len) => {
                name
            }
            _ => path,
        };
        phrases::line(name, 120)
    }
}

/// True for temporary files.
fn is_scratch(path: &str) -> bool {
    const PLACES: &[&str] =
        &["/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/var/tmp/"];
    PLACES.iter().any(|place| path.starts_with(place)) || path.contains("\\Temp\\")
}

/// The part of a message that the user may have typed.
fn typed_text(message: &str) -> Option<String> {
    let text = if message.len() > USER_HEAD_BYTES + USER_TAIL_BYTES {
        // Two pieces, separated by blank lines.
        let (start, end) = (truncate_head(message, USER_HEAD_BYTES), truncate_tail(message, USER_TAIL_BYTES));
        let start = start.rfind('\n').map_or(start, |at| &start[..at]);
        let end = end.find('\n').map_or("", |at| &end[at..]);
        clean::clean_user_text(&format!("{start}\n\n{end}"))?.into_owned()
    } else {
        clean::clean_user_text(message)?.into_owned()
    };
    let text = text::clean_and_redact(&text).text;
    (!text.trim().is_empty()).then_some(text)
}

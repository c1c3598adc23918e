//! A session as the rules look at it: what the person typed, which calls went how, and whose turn it was.

use std::collections::HashMap;

use super::command::Command;
use super::output::{self, State};
use crate::base::provenance::Origin;
use crate::base::time::{Date, TimeZone};
use crate::session::{Call, Message, Role, clean};
use crate::text;
use crate::text::phrases;
use crate::text::phrases::{head, tail};
use crate::vault::daily_log::{Clock, When};

/// What is read of a message of the person: more was pasted.
const USER_HEAD: usize = 16 * 1024;
/// … and of its end, where people say what they want with what they pasted.
const USER_TAIL: usize = 4 * 1024;

/// The most files that are told apart in one stretch.
const MAX_FILES: usize = 200;

/// The messages, and what is known about them.
pub(super) struct View<'a> {
    /// As they came.
    pub messages: &'a [Message],
    /// What the person typed, by message.
    pub said: Vec<Said>,
    /// The calls, in order.
    pub steps: Vec<Step<'a>>,
    zone: &'a TimeZone,
    cwd: Option<&'a str>,
}

/// A message of the person.
pub(super) struct Said {
    /// Which message.
    pub at: usize,
    /// Its text: clean, without secrets, and without its middle if it is very long.
    pub text: String,
}

/// A call and how it went.
pub(super) struct Step<'a> {
    /// The message with the call.
    pub at: usize,
    /// The message with its output.
    pub result: Option<usize>,
    /// The call.
    pub call: &'a Call,
    /// What it runs, if it runs a command.
    pub command: Option<Command>,
    /// How it went.
    pub state: State,
}

impl<'a> View<'a> {
    pub(super) fn new(messages: &'a [Message], zone: &'a TimeZone, cwd: Option<&'a str>) -> Self {
        let mut said = Vec::new();
        let mut steps: Vec<Step<'a>> = Vec::new();
        let mut open: HashMap<&'a str, usize> = HashMap::new();
        for (at, message) in messages.iter().enumerate() {
            match message.role {
                Role::User => said.extend(typed(&message.text).map(|text| Said { at, text })),
                Role::Assistant => {
                    for call in &message.calls {
                        open.insert(&call.id, steps.len());
                        let command = Command::of(call);
                        steps.push(Step { at, result: None, call, command, state: State::Open });
                    }
                }
                Role::Tool => {
                    let Some(outcome) = &message.outcome else { continue };
                    let Some(step) = open.remove(outcome.call.as_str()).and_then(|step| steps.get_mut(step))
                    else {
                        continue;
                    };
                    step.result = Some(at);
                    step.state = output::state(outcome, &message.text, step.command.as_ref());
                }
                Role::Summary => {}
            }
        }
        Self { messages, said, steps, zone, cwd }
    }

    /// The day on which a message was written, where the host wrote down a time.
    pub(super) fn day(&self, message: &Message) -> Option<Date> {
        message.at.map(|at| at.to_zoned(self.zone.clone()).date())
    }

    /// When message `at` was written; where the host wrote down no time, in which part of the session (OBS-07).
    pub(super) fn when(&self, at: usize) -> Option<When> {
        if let Some(time) = self.messages.get(at).and_then(|message| message.at) {
            return Some(When::At(Clock::of(&time.to_zoned(self.zone.clone()))));
        }
        let third = self.messages.len().div_ceil(3);
        match at {
            at if at < third => Some(When::EarlyInSession),
            at if at >= self.messages.len() - third => Some(When::NearEnd),
            _ => None,
        }
    }

    /// The ids of messages, each once, at most `most`: the first ones and the last.
    pub(super) fn ids(&self, at: &[usize], most: usize) -> Vec<String> {
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

    /// The agent's words between two messages, with their places.
    pub(super) fn agent(&self, from: usize, to: usize) -> impl DoubleEndedIterator<Item = (usize, &'a str)> {
        let messages: &'a [Message] = self.messages;
        let to = to.min(messages.len());
        (from.min(to)..to).filter_map(move |at| {
            let message = &messages[at];
            let speaks = message.role.origin() == Origin::Agent && message.role == Role::Assistant;
            (speaks && !message.text.trim().is_empty()).then_some((at, message.text.as_str()))
        })
    }

    /// The files that were really changed between two messages, as the person would name them, each once.
    pub(super) fn files(&self, from: usize, to: usize) -> Vec<(usize, String)> {
        let mut files: Vec<(usize, String)> = Vec::new();
        for step in self.steps_between(from, to).filter(|step| step.state == State::Passed) {
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
    pub(super) fn steps_between(&self, from: usize, to: usize) -> impl DoubleEndedIterator<Item = &Step<'a>> {
        let first = self.steps.partition_point(|step| step.at < from);
        let last = self.steps.partition_point(|step| step.at < to).max(first);
        self.steps[first..last].iter()
    }

    /// A path as seen from the session's folder.
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

/// Files that nobody keeps.
fn is_scratch(path: &str) -> bool {
    const PLACES: &[&str] =
        &["/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/var/tmp/"];
    PLACES.iter().any(|place| path.starts_with(place)) || path.contains("\\Temp\\")
}

/// What of a message the person may have typed.
fn typed(message: &str) -> Option<String> {
    let text = if message.len() > USER_HEAD + USER_TAIL {
        // Two pieces, with lines between that belong to neither.
        let (start, end) = (head(message, USER_HEAD), tail(message, USER_TAIL));
        let start = start.rfind('\n').map_or(start, |at| &start[..at]);
        let end = end.find('\n').map_or("", |at| &end[at..]);
        clean::said(&format!("{start}\n\n{end}"))?.into_owned()
    } else {
        clean::said(message)?.into_owned()
    };
    let text = text::admit(&text).text;
    (!text.trim().is_empty()).then_some(text)
}

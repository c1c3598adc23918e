//! The turns of a transcript that belong to what a session was told.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use rekindle_core::context::inject::fingerprint;
use rekindle_core::event::{CaptureRequested, EchoRequested, Trigger};
use rekindle_core::session::{Head, Message, Role};

use super::super::capture;
use crate::context::injection_log::Told;
use crate::jobs::context::World;
use crate::jobs::queue::StepError;

/// So much of what was said before a turn is looked at, in bytes …
const BEFORE_BYTES: usize = 128 * 1024;
/// … and so many messages of the turn itself.
const MOST_MESSAGES: usize = 2_000;
/// No more of a message is kept.
const MESSAGE_BYTES: usize = 64 * 1024;
/// A clock may be this much behind the other.
const SLACK_SECONDS: i64 = 5;

/// One turn as it was held.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard {
    /// What was said before it.
    pub before: Vec<String>,
    /// The prompt.
    pub prompt: String,
    /// What the prompt answers, and the prompt.
    pub asked: Vec<Message>,
    /// What followed it.
    pub messages: Vec<Message>,
}

impl Heard {
    /// Whether the agent said or did anything.
    pub(super) fn is_answered(&self) -> bool {
        self.messages.iter().any(|message| {
            message.role == Role::Assistant && !(message.text.trim().is_empty() && message.calls.is_empty())
        })
    }
}

/// The turns of these prompts, `None` for those that are not there yet; nothing if there is no transcript, or if it is one
/// of an agent's helper or of a program.
pub(super) fn hear(
    request: &EchoRequested,
    prompts: &[&Told],
    world: &World,
) -> Result<Option<Vec<Option<Heard>>>, StepError> {
    let source = CaptureRequested {
        agent: request.agent,
        session_id: request.session_id.clone(),
        trigger: Trigger::Shutdown,
        cause: String::new(),
        transcript: request.transcript.clone(),
        upto: request.upto,
        cwd: request.cwd.clone(),
    };
    let mut heard: Vec<Option<Heard>> = vec![None; prompts.len()];
    let mut before: VecDeque<String> = VecDeque::new();
    let mut bytes = 0;
    let mut turn: Vec<Message> = Vec::new();
    let mut current: Option<usize> = None;
    // The last prompt as the host has it, if we do not know it again by its words.
    let mut last: Option<Heard> = None;
    let read = capture::each_message(&source, world, &mut |mut message| {
        if message.text.len() > MESSAGE_BYTES {
            message.text.truncate(message.text.floor_char_boundary(MESSAGE_BYTES));
        }
        if message.automated && !world.config.capture.headless {
            // A turn that a program began tells nothing about the person.
            (current, last) = (None, None);
            message.role = Role::Assistant;
        }
        if message.role == Role::User {
            let mark = fingerprint(&message.text);
            current = prompts.iter().rposition(|told| told.prompt.as_deref() == Some(mark.as_str()));
            let mut asked: Vec<Message> = std::mem::take(&mut turn);
            asked.push(message.clone());
            let begins = Heard {
                before: before.iter().cloned().collect(),
                prompt: message.text.clone(),
                asked,
                messages: Vec::new(),
            };
            match current {
                Some(at) => heard[at] = Some(begins),
                None => last = Some(begins),
            }
        } else {
            let target = match current {
                Some(at) => heard[at].as_mut(),
                None => last.as_mut(),
            };
            if let Some(target) = target.filter(|target| target.messages.len() < MOST_MESSAGES) {
                target.messages.push(message.clone());
            }
        }
        bytes += message.text.len();
        before.push_back(message.text.clone());
        while bytes > BEFORE_BYTES {
            let Some(oldest) = before.pop_front() else { break };
            bytes -= oldest.len();
        }
        if message.role != Role::User && turn.len() < MOST_MESSAGES {
            turn.push(message);
        }
        ControlFlow::Continue(())
    })?;
    let headless = |head: &Head| head.headless && !world.config.capture.headless;
    if read.is_none_or(|(head, _)| head.subagent || headless(&head)) {
        return Ok(None);
    }
    // A prompt that the host writes down otherwise than it told us: the newest one, if it came when it should.
    if let (Some(newest), None, Some(told)) = (last, current, prompts.last())
        && let Some(place) = heard.last_mut().filter(|place| place.is_none())
        && let Some(at) = newest.asked.last().and_then(|message| message.at)
        && at.as_second() + SLACK_SECONDS >= told.at.as_second()
    {
        *place = Some(newest);
    }
    Ok(Some(heard))
}

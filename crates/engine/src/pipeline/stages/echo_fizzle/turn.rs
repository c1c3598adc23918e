//! Finds the turns of a transcript that belong to injections.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use rekindle_core::context::inject::prompt_fingerprint;
use rekindle_core::event::{CaptureRequested, CaptureTrigger, EchoRequested};
use rekindle_core::session::{Message, MessageRole, SessionHead};

use super::super::capture;
use crate::context::injection_log::Injection;
use crate::jobs::context::StageContext;
use crate::jobs::queue::StepError;

/// The size of the context read before a turn, in bytes.
const MAX_CONTEXT_BYTES: usize = 128 * 1024;
/// The most messages of the turn itself.
const MAX_TURN_MESSAGES: usize = 2_000;
/// The size limit of a message; the rest is cut.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;
/// The tolerance between the two clocks, in seconds.
const MAX_CLOCK_SKEW_SECONDS: i64 = 5;

/// A turn in the transcript.
#[derive(Clone, Debug, Default)]
pub(super) struct TranscriptTurn {
    /// The texts before it.
    pub before: Vec<String>,
    /// The text of the prompt.
    pub prompt: String,
    /// The context of the prompt, and the prompt.
    pub request: Vec<Message>,
    /// The messages after it.
    pub messages: Vec<Message>,
}

impl TranscriptTurn {
    /// True if the agent answered or acted.
    pub(super) fn is_answered(&self) -> bool {
        self.messages.iter().any(|message| {
            message.role == MessageRole::Assistant
                && !(message.text.trim().is_empty() && message.calls.is_empty())
        })
    }
}

/// Finds the turns of these prompts; `None` for one that is not there yet. Returns `None` if there is no
/// transcript, or if it belongs to a subagent or a program.
pub(super) fn read_turns(
    request: &EchoRequested,
    prompts: &[&Injection],
    stage_context: &StageContext,
) -> Result<Option<Vec<Option<TranscriptTurn>>>, StepError> {
    let source = CaptureRequested {
        agent: request.agent,
        session_id: request.session_id.clone(),
        trigger: CaptureTrigger::Shutdown,
        cause: String::new(),
        transcript: request.transcript.clone(),
        upto: request.upto,
        cwd: request.cwd.clone(),
    };
    let mut turns: Vec<Option<TranscriptTurn>> = vec![None; prompts.len()];
    let mut before: VecDeque<String> = VecDeque::new();
    let mut bytes = 0;
    let mut turn: Vec<Message> = Vec::new();
    let mut current: Option<usize> = None;
    // The last prompt in the transcript, if its text does not match ours.
    let mut last: Option<TranscriptTurn> = None;
    let read = capture::each_message(&source, stage_context, &mut |mut message| {
        if message.text.len() > MAX_MESSAGE_BYTES {
            message.text.truncate(message.text.floor_char_boundary(MAX_MESSAGE_BYTES));
        }
        if message.automated && !stage_context.config.capture.headless {
            // A turn that a program began says nothing about the person.
            (current, last) = (None, None);
            message.role = MessageRole::Assistant;
        }
        if message.role == MessageRole::User {
            let mark = prompt_fingerprint(&message.text);
            current = prompts.iter().rposition(|prompt| prompt.prompt.as_deref() == Some(mark.as_str()));
            let mut asked: Vec<Message> = std::mem::take(&mut turn);
            asked.push(message.clone());
            let begins = TranscriptTurn {
                before: before.iter().cloned().collect(),
                prompt: message.text.clone(),
                request: asked,
                messages: Vec::new(),
            };
            match current {
                Some(at) => turns[at] = Some(begins),
                None => last = Some(begins),
            }
        } else {
            let target = match current {
                Some(at) => turns[at].as_mut(),
                None => last.as_mut(),
            };
            if let Some(target) = target.filter(|target| target.messages.len() < MAX_TURN_MESSAGES) {
                target.messages.push(message.clone());
            }
        }
        bytes += message.text.len();
        before.push_back(message.text.clone());
        while bytes > MAX_CONTEXT_BYTES {
            let Some(oldest) = before.pop_front() else { break };
            bytes -= oldest.len();
        }
        if message.role != MessageRole::User && turn.len() < MAX_TURN_MESSAGES {
            turn.push(message);
        }
        ControlFlow::Continue(())
    })?;
    let headless = |head: &SessionHead| head.headless && !stage_context.config.capture.headless;
    if read.is_none_or(|(head, _)| head.subagent || headless(&head)) {
        return Ok(None);
    }
    // The host may store a prompt with another text: accept the newest one if its time matches.
    if let (Some(newest), None, Some(prompt)) = (last, current, prompts.last())
        && let Some(place) = turns.last_mut().filter(|place| place.is_none())
        && let Some(at) = newest.request.last().and_then(|message| message.at)
        && at.as_second() + MAX_CLOCK_SKEW_SECONDS >= prompt.at.as_second()
    {
        *place = Some(newest);
    }
    Ok(Some(turns))
}

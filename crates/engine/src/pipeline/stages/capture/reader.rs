//! One pass over the messages of a session, and the resulting events.

use std::borrow::Cow;

use rekindle_core::base::agent::Agent;
use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::Timestamp;
use rekindle_core::event::{
    ASKED_CAUSE, CaptureRequested, CaptureTrigger, Event, ObservationNoted, SCHEMA_VERSION, SessionCaptured,
    dedupe_key, names,
};
use rekindle_core::session::capture;
use rekindle_core::session::capture::{SessionWindow, WindowBuilder};
use rekindle_core::session::noise_gate::SessionCounts;
use rekindle_core::session::outcome::NOTHING_NEW_REASON;
use rekindle_core::session::remember_requests::{self, RememberRequest};
use rekindle_core::session::{Message, MessageRole, SessionHead, ToolCall};
use rekindle_core::text::{clean_and_redact, tokens};
use rekindle_core::vault::tombstone::Graveyard;

use super::CaptureResult;
use super::project_tracker::{FolderProject, ProjectTracker};
use crate::jobs::context::StageContext;
use crate::jobs::queue::StepError;

/// The state of a pass over the messages.
pub(super) struct CaptureReader<'a> {
    windows: WindowBuilder,
    full: Vec<CompleteWindow>,
    whereabouts: ProjectTracker<'a>,
    /// The place of the open window.
    open: Option<FolderProject>,
    events: Vec<Event>,
    /// The input of the noise gate, from new messages only.
    facts: SessionCounts,
    user_messages: u64,
    first_request: Option<String>,
    first_at: Option<Timestamp>,
    last_at: Option<Timestamp>,
    last_id: Option<String>,
    last_captured_at: Option<Timestamp>,
    /// Forgotten texts, which must not come back (B-08).
    forgotten: Graveyard,
    /// The time of capture; for a session that ended long ago, its end.
    now: Timestamp,
    /// True if a program's prompts count as the person's words (`capture.headless`).
    programs_count: bool,
}

/// A window that is complete.
struct CompleteWindow {
    trigger: CaptureTrigger,
    spot: FolderProject,
    window: SessionWindow,
}

impl<'a> CaptureReader<'a> {
    pub(super) fn new(context: &'a StageContext, now: Timestamp) -> Result<Self, StepError> {
        Ok(Self {
            windows: WindowBuilder::new(context.zone.clone()),
            full: Vec::new(),
            whereabouts: ProjectTracker::new(context),
            open: None,
            events: Vec::new(),
            facts: SessionCounts::default(),
            user_messages: 0,
            first_request: None,
            first_at: None,
            last_at: None,
            last_id: None,
            last_captured_at: None,
            forgotten: context.vault()?.graveyard().map_err(StepError::retryable)?,
            now,
            programs_count: context.config.capture.headless,
        })
    }

    /// Counts a message for the session as a whole.
    pub(super) fn count(&mut self, message: &Message) {
        self.whereabouts.track(message);
        if message.role == MessageRole::User {
            self.user_messages += 1;
            if self.first_request.is_none() {
                let kept = without_forgotten(message, &self.forgotten);
                self.first_request = kept.map(|message| message.text.chars().take(400).collect());
            }
        }
        self.first_at = self.first_at.or(message.at);
        self.last_at = message.at.or(self.last_at);
    }

    /// Takes in a new message.
    pub(super) fn add_message(&mut self, message: &Message, request: &CaptureRequested) {
        self.last_id = Some(message.id.clone());
        self.last_captured_at = message.at.or(self.last_captured_at);
        let Some(message) = without_forgotten(message, &self.forgotten) else { return };
        let message = &match message.automated && self.programs_count {
            true => Cow::Owned(Message { automated: false, ..message.into_owned() }),
            false => message,
        };
        self.facts.count(message);
        // Only the transcript shows that Gemini really compressed; its hook fires before every call.
        if message.role == MessageRole::Summary && request.agent == Agent::Gemini {
            self.finish_window(CaptureTrigger::Compaction);
        }
        let here = self.whereabouts.current();
        // Each project has windows of its own.
        if self.open.as_ref().is_some_and(|open| open.project != here.project) {
            self.finish_window(request.trigger);
        }
        let spot = self.open.get_or_insert_with(|| here.clone()).clone();
        let window = self.windows.push(message);
        self.full.extend(window.map(|window| CompleteWindow { trigger: request.trigger, spot, window }));
        // A program's prompt is no wish of the person.
        if message.role == MessageRole::User && !message.automated {
            for (place, wish) in remember_requests::remember_requests(&message.text).into_iter().enumerate() {
                if self.forgotten.holds_text(&wish.text) {
                    continue;
                }
                self.events.extend(noted_event(request, message, place, &wish, here.cwd.as_ref(), self.now));
            }
        }
    }

    /// Ends the open window.
    fn finish_window(&mut self, trigger: CaptureTrigger) {
        let spot = self.open.take().unwrap_or_default();
        self.full.extend(self.windows.finish_window().map(|window| CompleteWindow { trigger, spot, window }));
    }

    pub(super) fn finish(
        mut self,
        request: &CaptureRequested,
        head: &SessionHead,
        bytes: u64,
        context: &StageContext,
    ) -> Result<(CaptureResult, Vec<Event>), StepError> {
        self.finish_window(request.trigger);
        let forgotten = &self.forgotten;
        let named = |name: String| {
            Some(clean_and_redact(&name).text)
                .filter(|name| !name.trim().is_empty() && !forgotten.holds_text(name))
        };
        let name =
            head.name.clone().or_else(|| capture::name(self.first_request.as_deref()?)).and_then(named);
        let mut captured = CaptureResult {
            messages: self.full.iter().map(|full| full.window.len()).sum(),
            user_messages: self.user_messages,
            last_id: self.last_id,
            last_at: self.last_captured_at,
            bytes,
            name: name.clone(),
            archive: !head.subagent && !self.full.is_empty(),
            cwd: head.cwd.clone().or_else(|| request.cwd.clone()),
            ..CaptureResult::default()
        };
        let least = u64::from(context.config.capture.min_user_messages);
        captured.skipped = if head.subagent {
            Some("a subagent's session; the user's own session reports its result".to_owned())
        } else if self.full.is_empty() {
            Some(NOTHING_NEW_REASON.to_owned())
        } else if self.full.iter().all(|full| full.trigger == CaptureTrigger::Shutdown)
            && self.user_messages < least
            && request.cause != ASKED_CAUSE
        {
            let count = self.user_messages;
            Some(format!("{count} messages by the person; {least} are needed (capture.min_user_messages)"))
        } else {
            None
        };
        if head.subagent {
            return Ok((captured, Vec::new()));
        }
        // A program's prompt is no wish of the person.
        let headless = head.headless && !context.config.capture.headless;
        if headless {
            self.events.clear();
        }
        // An observed session includes its wishes; without an observation each wish is an event of its own.
        let noise =
            self.facts.noise_reason().filter(|_| request.cause != ASKED_CAUSE).map(|noise| noise.to_string());
        let mut events = if captured.skipped.is_some() || noise.is_some() { self.events } else { Vec::new() };
        captured.asked = events.len() as u64;
        if captured.skipped.is_some() {
            // The skipped messages must still be there if the session continues and grows long enough.
            (captured.last_id, captured.last_at, captured.bytes) = (None, None, 0);
            return Ok((captured, events));
        }
        let duration =
            self.first_at.zip(self.last_at).map(|(first, last)| last.duration_since(first).as_secs());
        let last = self.full.last().map(|full| full.spot.clone()).unwrap_or_default();
        let session_folder = captured.cwd.clone();
        for CompleteWindow { trigger, spot, window } in &self.full {
            let mut key = dedupe_key(&request.session_id, *trigger, &window.first);
            // The first messages of two windows have the same time.
            if captured.windows.contains(&key) {
                key = dedupe_key(
                    &request.session_id,
                    *trigger,
                    &format!("{} {}", window.first, captured.windows.len()),
                );
            }
            let cwd = spot.cwd.clone().or_else(|| session_folder.clone());
            let ending = *trigger == CaptureTrigger::Shutdown;
            let data = SessionCaptured {
                session_id: request.session_id.clone(),
                dedupe_key: key.clone(),
                trigger: *trigger,
                messages: window.text.clone(),
                message_count: window.len(),
                tokens_before: (!ending).then(|| tokens::estimate_tokens(&window.text)),
                user_message_count: ending.then_some(self.user_messages),
                duration: ending.then(|| u64::try_from(duration.unwrap_or(0)).unwrap_or(0)),
                // The name comes from the first request.
                session_name: name.clone().filter(|_| self.whereabouts.is_first_project(spot)),
                files_read: window.read_only_files(),
                files_modified: window.modified.iter().cloned().collect(),
                captured_at: self.now,
                schema_version: SCHEMA_VERSION,
                agent: Some(request.agent),
                cwd: cwd.clone(),
                // The host's last branch is the one at the end of the session.
                branch: head
                    .branch
                    .as_deref()
                    .filter(|_| spot.project == last.project)
                    .map(|branch| clean_and_redact(branch).text),
                headless,
                noise: noise.clone(),
                turns: window.turns.clone(),
            };
            let data = serde_json::to_value(data).map_err(StepError::fatal)?;
            let name = trigger.event().to_owned();
            events.push(Event { id: format!("session-{key}"), name, data, at: self.now });
            captured.windows.push(key);
            captured.folders.extend(cwd.filter(|cwd| !captured.folders.contains(cwd)));
            if spot.project == last.project {
                captured.read.extend(window.read_only_files());
                captured.modified.extend(window.modified.iter().cloned());
            }
        }
        captured.name = name.filter(|_| self.whereabouts.is_first_project(&last));
        captured.ended_in = last.cwd.or(session_folder);
        let cwd = captured.ended_in.as_deref();
        captured.handoff = self.full.last().map(|full| full.window.handoff(cwd)).unwrap_or_default();
        Ok((captured, events))
    }
}

/// Removes forgotten text from a message; `None` if nothing is left.
fn without_forgotten<'a>(message: &'a Message, forgotten: &Graveyard) -> Option<Cow<'a, Message>> {
    if forgotten.is_empty() {
        return Some(Cow::Borrowed(message));
    }
    if forgotten.holds_message(&message.id) || forgotten.holds_text(&message.text) {
        return None;
    }
    let noted = |text: &str| text.lines().any(|line| forgotten.holds_text(line));
    if message.calls.iter().any(|call| noted(&call.notes)) {
        let calls =
            message.calls.iter().map(|call| ToolCall { notes: String::new(), ..call.clone() }).collect();
        return Some(Cow::Owned(Message { calls, ..message.clone() }));
    }
    if !message.text.lines().any(|line| forgotten.holds_text(line)) {
        return Some(Cow::Borrowed(message));
    }
    let left: Vec<&str> = message.text.lines().filter(|line| !forgotten.holds_text(line)).collect();
    Some(Cow::Owned(Message { text: left.join("\n"), ..message.clone() }))
}

/// Builds the event for a wish of the person to remember something.
fn noted_event(
    request: &CaptureRequested,
    message: &Message,
    place: usize,
    wish: &RememberRequest,
    cwd: Option<&String>,
    now: Timestamp,
) -> Option<Event> {
    let data = ObservationNoted {
        text: clean_and_redact(&wish.text).text,
        origin: Origin::User,
        session_id: Some(request.session_id.clone()),
        messages: vec![message.id.clone()],
        said_at: message.at,
        cwd: cwd.or(request.cwd.as_ref()).cloned(),
        pasted: !wish.certain,
    };
    let id = format!("noted-{}-{}-{}-{place}", request.agent, request.session_id, message.id);
    let data = serde_json::to_value(data).ok()?;
    Some(Event { id, name: names::OBSERVATION_NOTED.to_owned(), data, at: now })
}

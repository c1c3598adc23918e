//! `capture`: what was said in a session since it was last looked at becomes an event (CAP-01…06).
//!
//! The hook said where the transcript is and how long it was; nothing was read there. Here it is read, in flat memory, from
//! behind what is captured already up to what the hook saw.

use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use rekindle_core::capture::{self, Window, Windows};
use rekindle_core::event::{
    CaptureRequested, Event, Noted, SCHEMA_VERSION, SessionCaptured, Trigger, dedupe_key, names,
};
use rekindle_core::journal::Actor;
use rekindle_core::provenance::Origin;
use rekindle_core::session::gate::Facts;
use rekindle_core::session::{Head, Message, Role, asked};
use rekindle_core::text::{admit, tokens};
use rekindle_core::time::Timestamp;
use rekindle_core::vault::daily_log::{Clock, Flush, Handoff, Section, Source};
use rekindle_core::vault::tombstone::Graveyard;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::World;
use crate::db::{self, OptionalExtension, params};
use crate::queue::{Ended, Interrupt, StepError, Steps, StepsExt};
use crate::{sessions, transcripts};

/// What reading came to, as the run remembers it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Captured {
    /// Why there is nothing to observe.
    skipped: Option<String>,
    messages: u64,
    user_messages: u64,
    /// The windows' keys.
    windows: Vec<String>,
    /// What the person asked to be remembered.
    asked: u64,
    last_id: Option<String>,
    last_at: Option<Timestamp>,
    bytes: u64,
    name: Option<String>,
    handoff: String,
    read: Vec<String>,
    modified: Vec<String>,
}

pub(super) fn capture(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    let request = CaptureRequested::deserialize(&event.data)
        .map_err(|error| Interrupt::Failed { step: "read".to_owned(), error: StepError::fatal(error) })?;
    let captured: Captured = steps.run_and_send("read", || read(&request, world))?;
    steps.run("mark", || mark(&request, &captured, event.at, world).map_err(StepError::from))?;
    if captured.skipped.is_none() {
        steps.run("append-daily-log", || log(&request, &captured, world))?;
    } else {
        steps.run("mark-reflected", || {
            sessions::reflected(&world.places.sessions(), &request.session_id).map_err(StepError::passing)
        })?;
    }
    match captured.skipped {
        Some(reason) => Ok(Ended::Skipped(reason)),
        None => Ok(Ended::Completed(json!({
            "messages": captured.messages, "windows": captured.windows, "asked": captured.asked,
        }))),
    }
}

/// How far a session is captured.
struct Before {
    id: Option<String>,
    at: Option<Timestamp>,
}

fn before(request: &CaptureRequested, world: &World) -> Result<Before, db::Error> {
    let row = world.db()?.run(|connection| {
        connection
            .query_row(
                "SELECT captured_id, captured_at FROM sessions WHERE agent = ?1 AND id = ?2",
                params![request.agent.word(), request.session_id],
                |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?)),
            )
            .optional()
    })?;
    let (id, at) = row.unwrap_or_default();
    Ok(Before { id, at: at.and_then(|at| Timestamp::from_millisecond(at).ok()) })
}

/// Where the words come from: the host's transcript, or what the hooks kept where the host keeps none.
fn each_message(
    request: &CaptureRequested,
    world: &World,
    each: &mut dyn FnMut(Message) -> ControlFlow<()>,
) -> Result<Option<(Head, u64)>, StepError> {
    if let Some(path) = &request.transcript {
        match transcripts::read(request.agent, Path::new(path), request.upto, each) {
            Ok(read) => return Ok(Some((read.head, read.bytes))),
            Err(transcripts::Error::Missing(_)) => {}
            Err(error @ transcripts::Error::UnknownFormat { .. }) => return Err(StepError::fatal(error)),
            Err(error @ transcripts::Error::Unreadable { .. }) => return Err(StepError::passing(error)),
        }
    }
    let kept =
        sessions::kept(&world.places, request.agent, &request.session_id).map_err(StepError::passing)?;
    if kept.is_empty() {
        return Ok(None);
    }
    for message in kept {
        if each(message).is_break() {
            break;
        }
    }
    Ok(Some((Head::default(), 0)))
}

fn read(request: &CaptureRequested, world: &World) -> Result<(Captured, Vec<Event>), StepError> {
    let before = before(request, world)?;
    // Whether what was captured last is still on the branch; if the person went back behind it, time has to tell.
    let mut on_branch = false;
    if let Some(id) = &before.id {
        each_message(request, world, &mut |message| {
            on_branch |= message.id == *id;
            if on_branch { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
    }
    let mut reading = Reading::new(world)?;
    let mut is_new = before.id.is_none();
    let read = each_message(request, world, &mut |message| {
        reading.count(&message);
        if is_new {
            reading.take(&message, request);
        } else if on_branch {
            is_new = before.id.as_deref() == Some(message.id.as_str());
        } else if message.at.zip(before.at).is_none_or(|(at, captured)| at > captured) {
            reading.take(&message, request);
        }
        ControlFlow::Continue(())
    })?;
    let Some((head, bytes)) = read else {
        let skipped = Some("the agent left no transcript of this session".to_owned());
        return Ok((Captured { skipped, ..Captured::default() }, Vec::new()));
    };
    reading.finish(request, &head, bytes, world)
}

/// Everything that one pass over the messages gathers.
struct Reading {
    windows: Windows,
    full: Vec<Window>,
    asked: Vec<Event>,
    /// What the noise gate goes by: of what is new.
    facts: Facts,
    user_messages: u64,
    first_request: Option<String>,
    first_at: Option<Timestamp>,
    last_at: Option<Timestamp>,
    last_id: Option<String>,
    last_captured_at: Option<Timestamp>,
    /// What was forgotten does not come back (B-08).
    forgotten: Graveyard,
    now: Timestamp,
}

impl Reading {
    fn new(world: &World) -> Result<Self, StepError> {
        Ok(Self {
            windows: Windows::new(world.zone.clone()),
            full: Vec::new(),
            asked: Vec::new(),
            facts: Facts::default(),
            user_messages: 0,
            first_request: None,
            first_at: None,
            last_at: None,
            last_id: None,
            last_captured_at: None,
            forgotten: world.vault()?.graveyard().map_err(StepError::passing)?,
            now: world.now().timestamp(),
        })
    }

    /// What counts for the session as a whole.
    fn count(&mut self, message: &Message) {
        if message.role == Role::User {
            self.user_messages += 1;
            if self.first_request.is_none() {
                let said = remembered(message, &self.forgotten);
                self.first_request = said.map(|message| message.text.chars().take(400).collect());
            }
        }
        self.first_at = self.first_at.or(message.at);
        self.last_at = message.at.or(self.last_at);
    }

    /// What is new.
    fn take(&mut self, message: &Message, request: &CaptureRequested) {
        self.last_id = Some(message.id.clone());
        self.last_captured_at = message.at.or(self.last_captured_at);
        let Some(message) = &remembered(message, &self.forgotten) else { return };
        self.facts.count(message);
        self.full.extend(self.windows.push(message));
        if message.role == Role::User {
            for (place, text) in asked::find(&message.text).into_iter().enumerate() {
                if self.forgotten.holds_text(&text) {
                    continue;
                }
                self.asked.extend(noted(request, message, place, &text, self.now));
            }
        }
    }

    fn finish(
        mut self,
        request: &CaptureRequested,
        head: &Head,
        bytes: u64,
        world: &World,
    ) -> Result<(Captured, Vec<Event>), StepError> {
        self.full.extend(self.windows.finish());
        let forgotten = &self.forgotten;
        let named = |name: String| {
            Some(admit(&name).text).filter(|name| !name.trim().is_empty() && !forgotten.holds_text(name))
        };
        let name =
            head.name.clone().or_else(|| capture::name(self.first_request.as_deref()?)).and_then(named);
        let mut captured = Captured {
            messages: self.full.iter().map(Window::len).sum(),
            user_messages: self.user_messages,
            last_id: self.last_id,
            last_at: self.last_captured_at,
            bytes,
            name: name.clone(),
            ..Captured::default()
        };
        let least = u64::from(world.config.capture.min_user_messages);
        captured.skipped = if head.subagent {
            Some("a session between agents; the person's own session tells what came of it".to_owned())
        } else if self.full.is_empty() {
            Some("nothing was said since this session was last captured".to_owned())
        } else if request.trigger == Trigger::Shutdown && self.user_messages < least {
            let count = self.user_messages;
            Some(format!("{count} messages by the person; {least} are needed (capture.min_user_messages)"))
        } else {
            None
        };
        if head.subagent {
            return Ok((captured, Vec::new()));
        }
        captured.asked = self.asked.len() as u64;
        let mut events = self.asked;
        if captured.skipped.is_some() {
            return Ok((captured, events));
        }
        let duration =
            self.first_at.zip(self.last_at).map(|(first, last)| last.duration_since(first).as_secs());
        for window in &self.full {
            let key = dedupe_key(&request.session_id, request.trigger, &window.first);
            let ending = request.trigger == Trigger::Shutdown;
            let data = SessionCaptured {
                session_id: request.session_id.clone(),
                dedupe_key: key.clone(),
                trigger: request.trigger,
                messages: window.text.clone(),
                message_count: window.len(),
                tokens_before: (!ending).then(|| tokens::estimate(&window.text)),
                user_message_count: ending.then_some(self.user_messages),
                duration: ending.then(|| u64::try_from(duration.unwrap_or(0)).unwrap_or(0)),
                session_name: name.clone(),
                files_read: window.only_read(),
                files_modified: window.modified.iter().cloned().collect(),
                captured_at: self.now,
                schema_version: SCHEMA_VERSION,
                agent: Some(request.agent),
                cwd: head.cwd.clone().or_else(|| request.cwd.clone()),
                headless: head.headless,
                noise: self.facts.noise().map(|noise| noise.to_string()),
                message_ids: window.ids.clone(),
            };
            let data = serde_json::to_value(data).map_err(StepError::fatal)?;
            let name = request.trigger.event().to_owned();
            events.push(Event { id: format!("session-{key}"), name, data, at: self.now });
            captured.windows.push(key);
            captured.read.extend(window.only_read());
            captured.modified.extend(window.modified.iter().cloned());
        }
        let cwd = head.cwd.as_deref().or(request.cwd.as_deref());
        captured.handoff = self.full.last().map(|window| window.handoff(cwd)).unwrap_or_default();
        Ok((captured, events))
    }
}

/// A message without what was forgotten; `None` if that was all of it.
fn remembered<'a>(message: &'a Message, forgotten: &Graveyard) -> Option<Cow<'a, Message>> {
    if forgotten.is_empty() {
        return Some(Cow::Borrowed(message));
    }
    if forgotten.holds_message(&message.id) || forgotten.holds_text(&message.text) {
        return None;
    }
    if !message.text.lines().any(|line| forgotten.holds_text(line)) {
        return Some(Cow::Borrowed(message));
    }
    let left: Vec<&str> = message.text.lines().filter(|line| !forgotten.holds_text(line)).collect();
    Some(Cow::Owned(Message { text: left.join("\n"), ..message.clone() }))
}

/// Something that the person asked to be remembered, as an event of its own.
fn noted(
    request: &CaptureRequested,
    message: &Message,
    place: usize,
    text: &str,
    now: Timestamp,
) -> Option<Event> {
    let data = Noted {
        text: admit(text).text,
        origin: Origin::User,
        session_id: Some(request.session_id.clone()),
        messages: vec![message.id.clone()],
        said_at: message.at,
    };
    let id = format!("noted-{}-{}-{}-{place}", request.agent, request.session_id, message.id);
    let data = serde_json::to_value(data).ok()?;
    Some(Event { id, name: names::NOTED.to_owned(), data, at: now })
}

/// Remembers how far the session is captured now. What happened since keeps it open.
fn mark(
    request: &CaptureRequested,
    captured: &Captured,
    asked_at: Timestamp,
    world: &World,
) -> Result<(), db::Error> {
    world.db()?.change(|transaction| {
        transaction.execute(
            "INSERT INTO sessions (agent, id, transcript, cwd, started, last_seen) VALUES (?1, ?2, ?3, ?4, ?5, ?5)
             ON CONFLICT (agent, id) DO NOTHING",
            params![
                request.agent.word(),
                request.session_id,
                request.transcript,
                request.cwd,
                asked_at.as_millisecond()
            ],
        )?;
        transaction.execute(
            "UPDATE sessions SET captured_id = coalesce(?3, captured_id), captured_at = coalesce(?4, captured_at),
                captured_bytes = max(captured_bytes, ?5),
                state = CASE WHEN last_seen <= ?6 AND ?7 THEN 'captured' ELSE state END
             WHERE agent = ?1 AND id = ?2",
            params![
                request.agent.word(),
                request.session_id,
                captured.last_id,
                captured.last_at.map(Timestamp::as_millisecond),
                i64::try_from(captured.bytes).unwrap_or(i64::MAX),
                asked_at.as_millisecond(),
                request.trigger == Trigger::Shutdown,
            ],
        )
    })?;
    Ok(())
}

/// The handoff of a session that ended, or what a compaction was about to drop (CAP-19, LOG-05).
fn log(request: &CaptureRequested, captured: &Captured, world: &World) -> Result<bool, StepError> {
    let now = world.now();
    let source = Source {
        session: Some(request.session_id.clone()),
        name: captured.name.clone(),
        dedupe_key: captured.windows.last().map(|key| format!("{}-{key}", request.trigger.word())),
    };
    let time = Clock::of(&now);
    let section = match request.trigger {
        Trigger::Shutdown => Section::Handoff(Handoff { source, time, text: admit(&captured.handoff).text }),
        Trigger::Compaction => Section::Flush(Flush {
            source,
            time,
            messages: captured.messages,
            modified: captured.modified.clone(),
            read: captured.read.clone(),
        }),
    };
    let committed = world.vault()?.log_once(&section, Actor::Worker, &now).map_err(StepError::passing)?;
    Ok(committed.is_some())
}

impl From<io::Error> for StepError {
    fn from(error: io::Error) -> Self {
        Self::passing(error)
    }
}

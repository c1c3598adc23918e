//! `capture`: turns the new messages of a session into events (CAP-01…06).
//!
//! The hook only recorded the path and length of the transcript. This stage reads the transcript, in constant
//! memory, from the captured position to that length.

mod project_tracker;
mod reader;

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use rekindle_core::base::time::Timestamp;
use rekindle_core::event::{BACKFILL_CAUSE, CaptureRequested, CaptureTrigger, Event};
use rekindle_core::session::{Message, SessionHead};
use rekindle_core::text::clean_and_redact;
use rekindle_core::vault::daily_log::{LogSection, LoggedFlush, LoggedHandoff, SectionSource, TimeOfDay};
use rekindle_core::vault::journal::ChangeActor;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::project_tracker::{FolderProject, ProjectTracker};
use self::reader::CaptureReader;
use crate::agents::transcripts;
use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepError, StepRunner, StepRunnerExt};
use crate::jobs::sessions;
use crate::platform::db::{self, OptionalExtension, params};
use crate::recall::messages::{MessageSession, MessageStore};

/// The earliest credible time, in seconds: 2000. A clock without a battery says 1970.
const MIN_UNIX_SECONDS: i64 = 946_684_800;
/// The most seconds that a clock may be ahead: a day, for a transcript from another zone written without one.
const MAX_CLOCK_DRIFT_SECONDS: i64 = 24 * 3600;

/// The result of the read step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct CaptureResult {
    /// The reason to skip observation.
    skipped: Option<String>,
    /// True if the messages go to the archive.
    archive: bool,
    /// The folder of the session.
    cwd: Option<String>,
    /// The folders of its windows; more than one if it changed projects.
    folders: Vec<String>,
    /// The folder of the last window.
    ended_in: Option<String>,
    messages: u64,
    user_messages: u64,
    /// The keys of the windows.
    windows: Vec<String>,
    /// The number of the person's wishes to remember something.
    asked: u64,
    last_id: Option<String>,
    last_at: Option<Timestamp>,
    bytes: u64,
    name: Option<String>,
    handoff: String,
    read: Vec<String>,
    modified: Vec<String>,
}

pub(super) fn capture(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let request = CaptureRequested::deserialize(&event.data)
        .map_err(|error| RunInterrupt::Failed { step: "read".to_owned(), error: StepError::fatal(error) })?;
    // A session that ended long ago is dated by its end.
    let when = if request.cause == BACKFILL_CAUSE { event.at } else { context.now().timestamp() };
    let captured: CaptureResult = steps.run_and_send("read", || read(&request, when, context))?;
    let archived = match captured.archive {
        true => steps.run("archive", || archive(&request, &captured, context))?,
        false => ArchiveResult::default(),
    };
    steps.run("mark", || {
        let folders = captured.cwd.iter().chain(&captured.folders);
        folders.into_iter().try_for_each(|folder| context.remember_project(Some(folder)))?;
        mark(&request, &captured, event.at, context).map_err(StepError::from)
    })?;
    if captured.skipped.is_none() {
        steps
            .run("append-daily-log", || context.run_exclusive(|| log(&request, &captured, when, context)))?;
    } else {
        steps.run("mark-reflected", || {
            sessions::mark_reflected(&context.places.sessions(), &request.session_id)
                .map_err(StepError::retryable)
        })?;
    }
    match captured.skipped {
        Some(reason) => Ok(FunctionOutcome::Skipped(reason)),
        None => Ok(FunctionOutcome::Completed(json!({
            "messages": captured.messages, "windows": captured.windows, "asked": captured.asked,
            "archived": archived.messages, "redacted": archived.redacted,
        }))),
    }
}

/// The position up to which a session is captured.
struct CapturePosition {
    id: Option<String>,
    at: Option<Timestamp>,
}

fn capture_position(
    request: &CaptureRequested,
    context: &StageContext,
) -> Result<CapturePosition, db::Error> {
    let row = context.db()?.run(|connection| {
        connection
            .query_row(
                "SELECT captured_id, captured_at FROM sessions WHERE agent = ?1 AND id = ?2",
                params![request.agent.as_str(), request.session_id],
                |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?)),
            )
            .optional()
    })?;
    let (id, at) = row.unwrap_or_default();
    Ok(CapturePosition { id, at: at.and_then(|at| Timestamp::from_millisecond(at).ok()) })
}

/// Reads the messages: from the host's transcript, or from the copies of the hooks if the host has none.
pub(super) fn each_message(
    request: &CaptureRequested,
    context: &StageContext,
    each: &mut dyn FnMut(Message) -> ControlFlow<()>,
) -> Result<Option<(SessionHead, u64)>, StepError> {
    let now = context.now().timestamp();
    let each = &mut |message: Message| each(with_credible_time(message, now));
    if let Some(path) = &request.transcript {
        match transcripts::read(request.agent, Path::new(path), request.upto, each) {
            Ok(read) => return Ok(Some((read.head, read.bytes))),
            Err(transcripts::Error::Missing(_)) => {}
            Err(error @ transcripts::Error::UnknownFormat { .. }) => return Err(StepError::fatal(error)),
            Err(error @ transcripts::Error::Unreadable { .. }) => return Err(StepError::retryable(error)),
        }
    }
    let kept = sessions::kept_messages(&context.places, request.agent, &request.session_id)
        .map_err(StepError::retryable)?;
    if kept.is_empty() {
        return Ok(None);
    }
    for message in kept {
        if each(message).is_break() {
            break;
        }
    }
    Ok(Some((SessionHead::default(), 0)))
}

/// Removes an implausible time from a message, such as next year or 1970 from a wrong clock. Its neighbours,
/// or the time of capture, date it instead.
fn with_credible_time(mut message: Message, now: Timestamp) -> Message {
    let credible = |at: &Timestamp| {
        at.as_second() >= MIN_UNIX_SECONDS && at.as_second() <= now.as_second() + MAX_CLOCK_DRIFT_SECONDS
    };
    message.at = message.at.filter(credible);
    message
}

/// The last message of another session in this transcript. A fork repeats the messages of its origin under
/// the same ids; they were captured there.
fn fork_origin(request: &CaptureRequested, context: &StageContext) -> Result<Option<String>, StepError> {
    let mut others: HashMap<String, i64> = context
        .db()?
        .run(|connection| {
            let mut rows = connection.prepare(
                "SELECT captured_id, captured_at FROM sessions
                 WHERE agent = ?1 AND id <> ?2 AND captured_id IS NOT NULL AND captured_at IS NOT NULL",
            )?;
            let rows = rows.query_map(params![request.agent.as_str(), request.session_id], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
            rows.collect()
        })
        .map_err(StepError::from)?;
    if others.is_empty() {
        return Ok(None);
    }
    let mut last = None;
    each_message(request, context, &mut |message| {
        let Some(at) = message.at.map(Timestamp::as_millisecond) else { return ControlFlow::Continue(()) };
        if others.get(&message.id) == Some(&at) {
            last = Some(message.id.clone());
        }
        // A session that ended before this message cannot occur further down; a new session stops at its
        // first message.
        others.retain(|_, ended| *ended >= at);
        if others.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(last)
}

fn read(
    request: &CaptureRequested,
    when: Timestamp,
    context: &StageContext,
) -> Result<(CaptureResult, Vec<Event>), StepError> {
    let mut before = capture_position(request, context)?;
    if before.id.is_none() {
        before.id = fork_origin(request, context)?;
    }
    let before = before;
    // True if the last captured message is still on the branch. If the person rewound behind it, times
    // decide.
    let mut on_branch = false;
    if let Some(id) = &before.id {
        each_message(request, context, &mut |message| {
            on_branch |= message.id == *id;
            if on_branch { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
    }
    let mut reading = CaptureReader::new(context, when)?;
    let mut is_new = before.id.is_none();
    let read = each_message(request, context, &mut |message| {
        reading.count(&message);
        if is_new {
            reading.add_message(&message, request);
        } else if on_branch {
            is_new = before.id.as_deref() == Some(message.id.as_str());
        } else if message.at.zip(before.at).is_none_or(|(at, captured)| at > captured) {
            reading.add_message(&message, request);
        }
        ControlFlow::Continue(())
    })?;
    let Some((head, bytes)) = read else {
        let skipped = Some("the agent left no transcript of this session".to_owned());
        return Ok((CaptureResult { skipped, ..CaptureResult::default() }, Vec::new()));
    };
    context
        .remember_gone_folder(head.cwd.as_deref().or(request.cwd.as_deref()), head.repository.as_deref())?;
    reading.finish(request, &head, bytes, context)
}

/// The result of archiving.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct ArchiveResult {
    messages: u64,
    /// The number of redacted secrets.
    redacted: u64,
}

/// Archives the redacted messages, for keyword search (B-14). It is idempotent; the worker indexes the
/// archive once its queue is empty.
fn archive(
    request: &CaptureRequested,
    captured: &CaptureResult,
    context: &StageContext,
) -> Result<ArchiveResult, StepError> {
    let session = MessageSession {
        agent: request.agent,
        id: request.session_id.clone(),
        cwd: captured.cwd.clone(),
        project: context.project(captured.cwd.as_deref()),
    };
    let forgotten = context.vault()?.graveyard().map_err(StepError::retryable)?;
    let messages = MessageStore::from_paths(&context.places);
    let mut appender = messages.appender(&session, &forgotten).map_err(StepError::retryable)?;
    let mut failed = None;
    let mut whereabouts = ProjectTracker::new(context);
    each_message(request, context, &mut |message| {
        whereabouts.track(&message);
        let added = match whereabouts.current() {
            FolderProject { cwd: None, .. } => appender.add(&message),
            FolderProject { cwd, project } => {
                appender.add_in_folder(&message, cwd.as_ref(), project.as_ref())
            }
        };
        match added {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    match failed {
        Some(error) => Err(StepError::retryable(error)),
        None => {
            let added = appender.finish().map_err(StepError::retryable)?;
            Ok(ArchiveResult { messages: added.messages, redacted: added.redacted.total() as u64 })
        }
    }
}

/// Stores the captured position of the session. Later events keep it open.
fn mark(
    request: &CaptureRequested,
    captured: &CaptureResult,
    asked_at: Timestamp,
    context: &StageContext,
) -> Result<(), db::Error> {
    context.db()?.change(|transaction| {
        transaction.execute(
            "INSERT INTO sessions (agent, id, transcript, cwd, started, last_seen) VALUES (?1, ?2, ?3, ?4, ?5, ?5)
             ON CONFLICT (agent, id) DO NOTHING",
            params![
                request.agent.as_str(),
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
                request.agent.as_str(),
                request.session_id,
                captured.last_id,
                captured.last_at.map(Timestamp::as_millisecond),
                i64::try_from(captured.bytes).unwrap_or(i64::MAX),
                asked_at.as_millisecond(),
                request.trigger == CaptureTrigger::Shutdown,
            ],
        )
    })?;
    Ok(())
}

/// Logs the handoff of a session that ended, or the content that a compaction drops (CAP-19, LOG-05).
fn log(
    request: &CaptureRequested,
    captured: &CaptureResult,
    when: Timestamp,
    context: &StageContext,
) -> Result<bool, StepError> {
    let now = context.now();
    let last_at = context.zoned(captured.last_at.unwrap_or(when));
    let source = SectionSource {
        session: Some(request.session_id.clone()),
        name: captured.name.clone(),
        dedupe_key: captured.windows.last().map(|key| format!("{}-{key}", request.trigger.as_str())),
        project: context
            .project(captured.ended_in.as_deref().or(captured.cwd.as_deref()))
            .map(|project| project.as_str().to_owned()),
    };
    let time = TimeOfDay::from_zoned(&last_at);
    let section = match request.trigger {
        CaptureTrigger::Shutdown => LogSection::Handoff(LoggedHandoff {
            source,
            time,
            text: clean_and_redact(&captured.handoff).text,
        }),
        CaptureTrigger::Compaction => LogSection::Flush(LoggedFlush {
            source,
            time,
            messages: captured.messages,
            modified: captured.modified.clone(),
            read: captured.read.clone(),
        }),
    };
    let committed = context
        .vault()?
        .log_once_on(last_at.date(), &section, ChangeActor::Worker, &now)
        .map_err(StepError::retryable)?;
    Ok(committed.is_some())
}

impl From<io::Error> for StepError {
    fn from(error: io::Error) -> Self {
        Self::retryable(error)
    }
}

//! External review surfaces (REV-05…REV-08): `todoist.rs` creates tasks, `telegram.rs` sends messages with
//! buttons, both through `api.rs`; `task_store.rs` maps proposals to tasks and messages.
//!
//! The store is the authority. Each send is recorded before and after, so that recovery after a crash knows
//! which items may exist; answers become events, and `stages::surfaces` decides by them.

mod api;
mod task_store;
mod telegram;
mod todoist;

use std::time::Duration;

use jiff::SignedDuration;
use rekindle_core::base::time::{Timestamp, Zoned};
use rekindle_core::config::ReviewSettings;
use rekindle_core::event::{Event, names};
use rekindle_core::knowledge::surface::{ReviewSurface, SurfaceQuestion};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::platform::db::{self, Database};
use crate::review::page;
use crate::review::proposals::{self, ProposalRecord};

pub use api::ApiError;
pub use task_store::{SurfaceStatus, surface_status};
pub(crate) use task_store::{close_question, is_current};
pub use telegram::ButtonPress;

/// The name of the function that syncs surfaces.
pub const SURFACES: &str = "surfaces";
/// The key of a sync: one runs at a time.
pub(crate) const SYNC_KEY: &str = "sync";

/// The shortest interval between two polls of a surface.
const SYNC_INTERVAL: SignedDuration = SignedDuration::from_mins(5);
/// The first pause after a failure; each later one doubles.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_mins(1);
const MAX_PAUSE: SignedDuration = SignedDuration::from_hours(2);
/// The most new questions per sync; the rest follows later.
const MAX_NEW_QUESTIONS: usize = 10;
/// The time limit of a sync with one surface.
const SYNC_TIMEOUT: Duration = Duration::from_secs(90);

/// True if proposals are sent to the surface.
pub fn is_enabled(settings: &ReviewSettings, surface: ReviewSurface) -> bool {
    match surface {
        ReviewSurface::Todoist => settings.todoist.enabled,
        ReviewSurface::Telegram => settings.telegram.enabled,
    }
}

/// The environment variable with its key.
pub fn key_variable(settings: &ReviewSettings, surface: ReviewSurface) -> &str {
    match surface {
        ReviewSurface::Todoist => &settings.todoist.key_variable,
        ReviewSurface::Telegram => &settings.telegram.key_variable,
    }
}

/// The host that proposals are sent to.
pub fn host(settings: &ReviewSettings, surface: ReviewSurface) -> String {
    crate::platform::http::host(match surface {
        ReviewSurface::Todoist => &settings.todoist.url,
        ReviewSurface::Telegram => &settings.telegram.url,
    })
}

/// A surface with a usable key.
enum SurfaceClient {
    Todoist(todoist::TodoistClient),
    Telegram(telegram::TelegramClient),
}

impl SurfaceClient {
    /// Reads the key from the environment; makes no request. A worker that an agent's hook started has the
    /// agent's environment, which may lack the key.
    fn open(settings: &ReviewSettings, surface: ReviewSurface) -> Result<Self, ApiError> {
        Ok(match surface {
            ReviewSurface::Todoist => Self::Todoist(todoist::TodoistClient::new(&settings.todoist)?),
            ReviewSurface::Telegram => Self::Telegram(telegram::TelegramClient::new(&settings.telegram)?),
        })
    }
}

/// Asks the surface for the name of our account or bot. It sends nothing but the key.
pub fn account_name(settings: &ReviewSettings, surface: ReviewSurface) -> Result<String, ApiError> {
    match SurfaceClient::open(settings, surface)? {
        SurfaceClient::Todoist(todoist) => todoist.name(),
        SurfaceClient::Telegram(telegram) => telegram.name(),
    }
}

/// Tells the person through Telegram that nothing works (O11-06). Does nothing unless Telegram is enabled.
pub fn tell(settings: &ReviewSettings, text: &str) -> Result<(), ApiError> {
    match is_enabled(settings, ReviewSurface::Telegram) {
        true => telegram::TelegramClient::new(&settings.telegram)?.tell(text),
        false => Ok(()),
    }
}

/// Returns the event that requests a sync, if one is due: the surface shows an ended proposal, or a proposal
/// waits and the last sync is long ago.
pub fn request(
    db: &mut Database,
    settings: &ReviewSettings,
    now: Timestamp,
) -> Result<Option<Event>, db::Error> {
    let mut due = false;
    for surface in ReviewSurface::ALL.into_iter().filter(|surface| is_enabled(settings, *surface)) {
        if task_store::is_sync_running(db)? || !is_due(db, surface, now)? {
            continue;
        }
        match SurfaceClient::open(settings, surface) {
            Ok(_) => due = true,
            // Reported once; a worker that has the key does the sync.
            Err(trouble) => task_store::note(db, surface, &trouble.message)?,
        }
    }
    let id = format!("surfaces-{}", now.as_millisecond());
    Ok(due.then(|| polled_event(id, names::SYNC_REQUESTED, &json!({}), now)))
}

fn is_due(db: &Database, surface: ReviewSurface, now: Timestamp) -> Result<bool, db::Error> {
    let state = task_store::state(db, surface)?;
    if is_paused(&state, now) {
        return Ok(false);
    }
    if task_store::has_decided_questions(db, surface)? {
        return Ok(true);
    }
    let since = now.duration_since(state.synced);
    // A time in the future was written before the clock was set back.
    let over = since >= SYNC_INTERVAL || since < -SYNC_INTERVAL;
    Ok(over && (task_store::has_questions(db, surface)? || proposals::pending_count(db)?.0 > 0))
}

/// True if the surface is paused; a pause is never longer than a day.
fn is_paused(state: &task_store::SyncState, now: Timestamp) -> bool {
    let left = state.not_before.duration_since(now);
    left > SignedDuration::ZERO && left <= SignedDuration::from_hours(25)
}

/// The result of a sync.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SyncResult {
    /// The number of new questions.
    pub asked: usize,
    /// The number of removed questions.
    pub closed: usize,
    /// The number of answers found.
    pub answered: usize,
    /// The problem, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The position to fetch updates from, once the answers are stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
}

/// The reason a sync was aborted.
enum SyncFailure {
    Db(db::Error),
    Trouble(ApiError),
}

impl From<db::Error> for SyncFailure {
    fn from(error: db::Error) -> Self {
        Self::Db(error)
    }
}

impl From<ApiError> for SyncFailure {
    fn from(trouble: ApiError) -> Self {
        Self::Trouble(trouble)
    }
}

/// A sync in progress.
struct SyncPass<'a> {
    db: &'a mut Database,
    proposals: Vec<ProposalRecord>,
    now: Timestamp,
    synced: SyncResult,
    events: Vec<Event>,
}

/// Syncs a surface: sends open proposals and reads answers. A failure of the surface is recorded and pauses
/// it; it is not an error.
pub fn sync(
    db: &mut Database,
    settings: &ReviewSettings,
    surface: ReviewSurface,
    now: &Zoned,
) -> Result<(SyncResult, Vec<Event>), db::Error> {
    let nothing = |problem| Ok((SyncResult { problem, ..SyncResult::default() }, Vec::new()));
    if !is_enabled(settings, surface) {
        return nothing(None);
    }
    let (state, at) = (task_store::state(db, surface)?, now.timestamp());
    if is_paused(&state, at) {
        return nothing(state.problem);
    }
    let client = match SurfaceClient::open(settings, surface) {
        Ok(client) => client,
        Err(trouble) => {
            task_store::note(db, surface, &trouble.message)?;
            return nothing(Some(trouble.message));
        }
    };
    let asked = page::asked_today(db, settings.per_day, now)?.today;
    let asked = asked.into_iter().map(|(record, _)| record).collect();
    let mut look =
        SyncPass { db, proposals: asked, now: at, synced: SyncResult::default(), events: Vec::new() };
    let done = match client {
        SurfaceClient::Todoist(todoist) => todoist.sync(&mut look),
        SurfaceClient::Telegram(telegram) => telegram.sync(&mut look, state.next_update(at)),
    };
    let SyncPass { mut synced, events, .. } = look;
    match done {
        Ok(()) => task_store::record_success(db, surface, at, synced.problem.as_deref())?,
        Err(SyncFailure::Db(error)) => return Err(error),
        Err(SyncFailure::Trouble(trouble)) => {
            let doublings = state.failures.min(10);
            let pause = FIRST_PAUSE.saturating_mul(1 << doublings).min(MAX_PAUSE);
            let retry_after = trouble.after.and_then(|after| SignedDuration::try_from(after).ok());
            let pause = retry_after.map_or(pause, |retry_after| retry_after.max(pause));
            task_store::record_failure(db, surface, at, pause, &trouble.message)?;
            synced.problem = Some(trouble.message);
        }
    }
    synced.answered = events.len();
    Ok((synced, events))
}

/// Confirms that the answers up to `next` are stored: the service may drop them.
pub fn confirm(
    db: &mut Database,
    surface: ReviewSurface,
    next: i64,
    now: Timestamp,
) -> Result<(), db::Error> {
    task_store::set_next_update(db, surface, next, now)
}

/// Reports the result of a button press and removes the buttons. The next sync repairs a lost message.
pub fn answer_button(
    db: &mut Database,
    settings: &ReviewSettings,
    press: &ButtonPress<'_>,
) -> Result<Option<ApiError>, db::Error> {
    if !settings.telegram.enabled {
        return Ok(None);
    }
    match telegram::TelegramClient::new(&settings.telegram) {
        Ok(telegram) => telegram.answer_button(db, press),
        Err(trouble) => Ok(Some(trouble)),
    }
}

/// Converts a proposal to a question.
fn question(record: &ProposalRecord) -> SurfaceQuestion<'_> {
    SurfaceQuestion { proposal: &record.proposal, text: record.text() }
}

/// Builds an event found by a sync.
fn polled_event(id: String, name: &str, data: &impl Serialize, at: Timestamp) -> Event {
    let data = serde_json::to_value(data).unwrap_or(Value::Null);
    Event { id, name: name.to_owned(), data, at }
}

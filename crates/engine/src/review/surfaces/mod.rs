//! Other places in which a person is asked about proposals (REV-05…REV-08): `todoist.rs` makes tasks, `telegram.rs` sends
//! messages with buttons, both through `api.rs`; `book.rs` remembers which proposal is what there.
//!
//! The store is the truth. What is sent there is noted before and after, so that whoever goes on after a crash knows what
//! may be there already; what is found there becomes events, and `stages::surfaces` decides by them.

mod api;
mod book;
mod telegram;
mod todoist;

use std::time::Duration;

use jiff::SignedDuration;
use rekindle_core::base::time::{Timestamp, Zoned};
use rekindle_core::config::Review;
use rekindle_core::event::{Event, names};
use rekindle_core::surface::{Question, Surface};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::platform::db::{self, Db};
use crate::review::page;
use crate::review::proposals::{self, Standing};

pub use api::Trouble;
pub use book::{Condition, condition};
pub(crate) use book::{is_current, over};
pub use telegram::Press;

/// The name of the function that syncs surfaces.
pub const NAME: &str = "surfaces";
/// The key of a sync: one runs at a time.
pub(crate) const SYNC: &str = "sync";

/// A place is not asked more often than this for what a person did there.
const INTERVAL: SignedDuration = SignedDuration::from_mins(5);
/// The first pause after a failure; each one after it is twice as long.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_mins(1);
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(2);
/// So many new questions are sent at a time; the rest follows.
const MOST_NEW: usize = 10;
/// A look at one place takes no longer than this altogether.
const PATIENCE: Duration = Duration::from_secs(90);

/// Whether proposals are sent there.
pub fn is_enabled(settings: &Review, surface: Surface) -> bool {
    match surface {
        Surface::Todoist => settings.todoist.enabled,
        Surface::Telegram => settings.telegram.enabled,
    }
}

/// The variable that holds the key to it.
pub fn key_variable(settings: &Review, surface: Surface) -> &str {
    match surface {
        Surface::Todoist => &settings.todoist.key_variable,
        Surface::Telegram => &settings.telegram.key_variable,
    }
}

/// The host that proposals are sent to.
pub fn host(settings: &Review, surface: Surface) -> &str {
    crate::platform::http::host(match surface {
        Surface::Todoist => &settings.todoist.url,
        Surface::Telegram => &settings.telegram.url,
    })
}

/// A place that can be asked.
enum Client {
    Todoist(todoist::Todoist),
    Telegram(telegram::Telegram),
}

impl Client {
    /// With the key from the environment; nobody is asked yet. A worker that an agent's hook started has the agent's
    /// environment, and the key may not be in it.
    fn open(settings: &Review, surface: Surface) -> Result<Self, Trouble> {
        Ok(match surface {
            Surface::Todoist => Self::Todoist(todoist::Todoist::new(&settings.todoist)?),
            Surface::Telegram => Self::Telegram(telegram::Telegram::new(&settings.telegram)?),
        })
    }
}

/// Asks the place who we are there, and sends nothing but the key. Gives what to call it: an account, a bot.
pub fn who(settings: &Review, surface: Surface) -> Result<String, Trouble> {
    match Client::open(settings, surface)? {
        Client::Todoist(todoist) => todoist.name(),
        Client::Telegram(telegram) => telegram.name(),
    }
}

/// The event that asks for a look at the places, if it is time for one: something ended that is still asked about there,
/// or something waits and nobody has looked for a while.
pub fn request(db: &mut Db, settings: &Review, now: Timestamp) -> Result<Option<Event>, db::Error> {
    let mut due = false;
    for surface in Surface::ALL.into_iter().filter(|surface| is_enabled(settings, *surface)) {
        if book::is_under_way(db)? || !is_due(db, surface, now)? {
            continue;
        }
        match Client::open(settings, surface) {
            Ok(_) => due = true,
            // Said once, and left to a worker that has the key.
            Err(trouble) => book::note(db, surface, &trouble.what)?,
        }
    }
    let id = format!("surfaces-{}", now.as_millisecond());
    Ok(due.then(|| found(id, names::SYNC_REQUESTED, &json!({}), now)))
}

fn is_due(db: &Db, surface: Surface, now: Timestamp) -> Result<bool, db::Error> {
    let state = book::state(db, surface)?;
    if is_paused(&state, now) {
        return Ok(false);
    }
    if book::ended(db, surface)? {
        return Ok(true);
    }
    let since = now.duration_since(state.synced);
    // A time that lies ahead was written by a clock that has been put back since.
    let over = since >= INTERVAL || since < -INTERVAL;
    Ok(over && (book::asks(db, surface)? || proposals::waiting(db)?.0 > 0))
}

/// Whether the place is to be left alone for now; no pause of ours is longer than a day.
fn is_paused(state: &book::Now, now: Timestamp) -> bool {
    let left = state.not_before.duration_since(now);
    left > SignedDuration::ZERO && left <= SignedDuration::from_hours(25)
}

/// What a look at a place came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Synced {
    /// How many questions are new there.
    pub asked: usize,
    /// How many are gone from there.
    pub closed: usize,
    /// How many answers were found.
    pub answered: usize,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// From where on to listen, once the answers are safe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
}

/// Why a look was broken off.
enum Broken {
    Db(db::Error),
    Trouble(Trouble),
}

impl From<db::Error> for Broken {
    fn from(error: db::Error) -> Self {
        Self::Db(error)
    }
}

impl From<Trouble> for Broken {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

/// A look under way.
struct Look<'a> {
    db: &'a mut Db,
    asked: Vec<Standing>,
    now: Timestamp,
    synced: Synced,
    events: Vec<Event>,
}

/// Brings a place up to what waits here, and finds what was answered there. What goes wrong there is noted, and is no
/// failure: the place is left alone for a while.
pub fn sync(
    db: &mut Db,
    settings: &Review,
    surface: Surface,
    now: &Zoned,
) -> Result<(Synced, Vec<Event>), db::Error> {
    let nothing = |problem| Ok((Synced { problem, ..Synced::default() }, Vec::new()));
    if !is_enabled(settings, surface) {
        return nothing(None);
    }
    let (state, at) = (book::state(db, surface)?, now.timestamp());
    if is_paused(&state, at) {
        return nothing(state.problem);
    }
    let client = match Client::open(settings, surface) {
        Ok(client) => client,
        Err(trouble) => {
            book::note(db, surface, &trouble.what)?;
            return nothing(Some(trouble.what));
        }
    };
    let asked = page::asked_today(db, settings.per_day, now)?.today;
    let asked = asked.into_iter().map(|(standing, _)| standing).collect();
    let mut look = Look { db, asked, now: at, synced: Synced::default(), events: Vec::new() };
    let done = match client {
        Client::Todoist(todoist) => todoist.sync(&mut look),
        Client::Telegram(telegram) => telegram.sync(&mut look, state.next_at(at)),
    };
    let Look { mut synced, events, .. } = look;
    match done {
        Ok(()) => book::went_well(db, surface, at, synced.problem.as_deref())?,
        Err(Broken::Db(error)) => return Err(error),
        Err(Broken::Trouble(trouble)) => {
            let doublings = state.failures.min(10);
            let pause = FIRST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE);
            let wanted = trouble.after.and_then(|after| SignedDuration::try_from(after).ok());
            let pause = wanted.map_or(pause, |wanted| wanted.max(pause));
            book::went_wrong(db, surface, at, pause, &trouble.what)?;
            synced.problem = Some(trouble.what);
        }
    }
    synced.answered = events.len();
    Ok((synced, events))
}

/// The answers up to here are safe: the place need not tell them again.
pub fn confirm(db: &mut Db, surface: Surface, next: i64, now: Timestamp) -> Result<(), db::Error> {
    book::listen_from(db, surface, next, now)
}

/// Tells whoever pressed a button what came of it, and takes the buttons away. What does not arrive is made up for by the
/// next look.
pub fn tell(db: &mut Db, settings: &Review, press: &Press<'_>) -> Result<Option<Trouble>, db::Error> {
    if !settings.telegram.enabled {
        return Ok(None);
    }
    match telegram::Telegram::new(&settings.telegram) {
        Ok(telegram) => telegram.tell(db, press),
        Err(trouble) => Ok(Some(trouble)),
    }
}

/// A proposal as a question.
fn question(standing: &Standing) -> Question<'_> {
    Question { proposal: &standing.proposal, text: standing.text() }
}

/// An event that was found by looking.
fn found(id: String, name: &str, data: &impl Serialize, at: Timestamp) -> Event {
    let data = serde_json::to_value(data).unwrap_or(Value::Null);
    Event { id, name: name.to_owned(), data, at }
}

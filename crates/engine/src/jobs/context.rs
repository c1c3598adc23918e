//! What a function may touch.

use std::cell::{Cell, OnceCell};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::{Date, TimeZone, Timestamp, Zoned};
use rekindle_core::config::{Config, Provider};
use rekindle_core::event::Event;
use rekindle_core::llm::{Error, Fault, Model, Retry};
use serde_json::Value;

use crate::jobs::queue::StepError;
use crate::llm;
use crate::llm::cost::{Caps, Metered};
use crate::platform::clock;
use crate::platform::db::{self, Db};
use crate::platform::environment;
use crate::platform::home::{Home, Places};
use crate::project;
use crate::vault::{Logs, Vault};

/// Backfill works on several sessions at once (DIS-01). What compares with what is known and then adds to it does so one at a
/// time; other processes are kept out by the worker's lock.
static ALONE: Mutex<()> = Mutex::new(());

/// The places, the settings and the time that functions work with.
pub struct World {
    /// Where everything is.
    pub home: Home,
    /// Where everything is, resolved.
    pub places: Places,
    /// How it is set.
    pub config: Config,
    /// The zone of the person's days.
    pub zone: TimeZone,
    /// When to end at the latest, whatever is left.
    until: Option<Instant>,
    /// Whether somebody wants us to end.
    stopped: Cell<bool>,
    /// The database, once a step has asked for it.
    db: OnceCell<Db>,
    /// What the steps so far have learnt about the daily logs.
    logs: Arc<Logs>,
}

impl World {
    /// With no end in sight.
    pub fn new(home: Home, places: Places, config: Config, zone: TimeZone) -> Self {
        let (stopped, db, logs) = (Cell::new(false), OnceCell::new(), Arc::default());
        Self { home, places, config, zone, until: None, stopped, db, logs }
    }

    /// That ends in so much time.
    pub fn for_at_most(self, limit: Duration) -> Self {
        Self { until: Some(Instant::now() + limit), ..self }
    }

    /// The time, in the person's zone.
    pub fn now(&self) -> Zoned {
        clock::now(self.zone.clone())
    }

    /// The person's time of an instant.
    pub fn at(&self, at: Timestamp) -> Zoned {
        at.to_zoned(self.zone.clone())
    }

    /// The person's day that an event counts for. By the clock: the day it was due on, however late somebody woke.
    pub fn day_of(&self, event: &Event) -> Date {
        let due = event.data.get("due").and_then(Value::as_str).and_then(|due| due.parse().ok());
        self.at(due.unwrap_or(event.at)).date()
    }

    /// Asks everything to end at the next chance.
    pub fn stop(&self) {
        self.stopped.set(true);
    }

    /// Whether to begin nothing more: the STOP file is there (EXE-16), the time is up, or somebody takes over.
    pub fn should_stop(&self) -> bool {
        let over = self.until.is_some_and(|until| Instant::now() >= until);
        if over || self.places.stop_file().exists() {
            self.stopped.set(true);
        }
        self.stopped.get()
    }

    /// The database, for a step. It is opened once.
    pub fn db(&self) -> Result<Db, db::Error> {
        if let Some(db) = self.db.get() {
            return Ok(db.clone());
        }
        let db = Db::open(&self.places.database())?;
        Ok(self.db.get_or_init(|| db).clone())
    }

    /// The language model that the settings name for a job, counted and kept within the day's share; none if they name
    /// nobody, and rules have to do.
    pub fn model(&self, job: llm::Job) -> Result<Option<Metered<Box<dyn Model>>>, Error> {
        let model = llm::model(&self.config.llm, job, &llm::Surroundings::look(&self.places))?;
        self.metered(model, self.config.llm.provider)
    }

    /// The program that looks into ideas, counted with the other programs; none while it is switched off.
    pub fn researcher(&self) -> Result<Option<Metered<Box<dyn Model>>>, Error> {
        let model = llm::researcher(&self.config.ideas.research, &llm::Surroundings::look(&self.places))?;
        self.metered(model, Provider::Command)
    }

    fn metered(
        &self,
        model: Option<Box<dyn Model>>,
        provider: Provider,
    ) -> Result<Option<Metered<Box<dyn Model>>>, Error> {
        let Some(model) = model else { return Ok(None) };
        let uncounted =
            |error| Error::new(Fault::Ours, Retry::Never, format!("it could not be counted: {error}"));
        let db = self.db().map_err(uncounted)?;
        Ok(Some(Metered::new(model, db, Caps::of(&self.config.llm, provider), self.zone.clone())))
    }

    /// The project of a folder. A folder that is gone belongs to the project that is known to have been there, else it is one
    /// of its own: what was said in it must not hold everywhere (B-05).
    pub fn project(&self, cwd: Option<&str>) -> Option<ProjectId> {
        let known = project::load(&self.places.projects_file());
        let cwd = Path::new(cwd?);
        let found = project::of_session(cwd, environment::home_folder().as_deref(), &known);
        let is_gone = cwd.is_absolute() && !cwd.is_dir();
        found.or_else(|| is_gone.then(|| project::settle(&project::gone(cwd, None), &known).own.id))
    }

    /// Does what no other thread of this process may do meanwhile.
    pub fn alone<T>(&self, work: impl FnOnce() -> T) -> T {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        work()
    }

    /// Writes down how the project of `cwd` can be recognised, if that is news: after a rename it keeps its memories, and so it
    /// does when a worktree is removed.
    pub fn remember_project(&self, cwd: Option<&str>) -> Result<(), StepError> {
        let home = environment::home_folder();
        let Some(place) = cwd.and_then(|cwd| project::locate(Path::new(cwd), home.as_deref())) else {
            return Ok(());
        };
        let registry = self.places.projects_file();
        let found = project::identify(&place, &project::load(&registry));
        project::remember(&registry, &found).map(drop).map_err(StepError::passing)
    }

    /// Writes down that the folder `cwd`, which is gone and was never seen, was a clone of `repository`: the agent noted the
    /// address in its transcript (B-05).
    pub fn remember_gone(&self, cwd: Option<&str>, repository: Option<&str>) -> Result<(), StepError> {
        let (Some(cwd), Some(_)) = (cwd.map(Path::new), repository) else { return Ok(()) };
        let registry = self.places.projects_file();
        let known = project::load(&registry);
        let is_known = || project::of_session(cwd, environment::home_folder().as_deref(), &known).is_some();
        if !cwd.is_absolute() || cwd.is_dir() || is_known() {
            return Ok(());
        }
        let trail = project::gone(cwd, repository);
        project::remember_gone(&registry, &trail).map(drop).map_err(StepError::passing)
    }

    /// The vault, for a step that writes to it.
    pub fn vault(&self) -> Result<Vault, StepError> {
        let vault = Vault::open(&self.places).map_err(StepError::passing)?;
        vault.resume_forgets(&self.now()).map_err(StepError::passing)?;
        Ok(vault.in_zone(self.zone.clone()).knowing(Arc::clone(&self.logs)))
    }
}

impl From<db::Error> for StepError {
    fn from(error: db::Error) -> Self {
        Self::passing(error)
    }
}

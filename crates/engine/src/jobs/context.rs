//! The context of a background function: places, settings, time and stores.

use std::cell::{Cell, OnceCell};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::{Date, TimeZone, Timestamp, Zoned};
use rekindle_core::config::{Config, LlmProvider};
use rekindle_core::event::Event;
use rekindle_core::llm::{Error, FailureOwner, LanguageModel, RetryAdvice};
use serde_json::Value;

use crate::jobs::queue::StepError;
use crate::jobs::shared::SharedError;
use crate::jobs::shared::locks::LockStore;
use crate::jobs::shared::redis::RedisServer;
use crate::jobs::shared::servers;
use crate::llm;
use crate::llm::cost::{MeteredModel, SpendingCaps};
use crate::platform::clock;
use crate::platform::db::{self, Database};
use crate::platform::environment;
use crate::platform::home::{DataPaths, HomeFolder};
use crate::project;
use crate::telemetry::TelemetryEmitter;
use crate::vault::{LogCache, Vault};

/// Backfill processes several sessions in parallel (DIS-01). Steps that compare with stored data and then add
/// to it take this lock; the worker's lock excludes other processes.
static ROUTING_LOCK: Mutex<()> = Mutex::new(());

/// The places, the settings and the time of a worker.
pub struct StageContext {
    /// The unresolved home folder.
    pub home: HomeFolder,
    /// The places of the home, resolved.
    pub places: DataPaths,
    /// The settings of the home.
    pub config: Config,
    /// The time zone of the person.
    pub zone: TimeZone,
    /// The deadline, if any.
    until: Option<Instant>,
    /// True once a stop was requested.
    stopped: Cell<bool>,
    /// The database, opened on first use.
    db: OnceCell<Database>,
    /// The cache of the daily logs.
    logs: Arc<LogCache>,
}

impl StageContext {
    /// Creates a context without a deadline.
    pub fn new(home: HomeFolder, places: DataPaths, config: Config, zone: TimeZone) -> Self {
        let (stopped, db, logs) = (Cell::new(false), OnceCell::new(), Arc::default());
        Self { home, places, config, zone, until: None, stopped, db, logs }
    }

    /// Sets a deadline for the work.
    pub fn with_time_limit(self, limit: Duration) -> Self {
        Self { until: Some(Instant::now() + limit), ..self }
    }

    /// The current time in the person's zone.
    pub fn now(&self) -> Zoned {
        clock::now(self.zone.clone())
    }

    /// An instant in the person's zone.
    pub fn zoned(&self, at: Timestamp) -> Zoned {
        at.to_zoned(self.zone.clone())
    }

    /// The person's day that an event counts for. A scheduled event counts for the day it was due, however
    /// late it runs.
    pub fn day_of(&self, event: &Event) -> Date {
        let due = event.data.get("due").and_then(Value::as_str).and_then(|due| due.parse().ok());
        self.zoned(due.unwrap_or(event.at)).date()
    }

    /// Asks all work to end at the next chance.
    pub fn request_stop(&self) {
        self.stopped.set(true);
    }

    /// True if no more work should start: the STOP file exists (EXE-16), the deadline has passed, or a stop
    /// was requested.
    pub fn should_stop(&self) -> bool {
        let over = self.until.is_some_and(|until| Instant::now() >= until);
        if over || self.places.stop_file().exists() {
            self.stopped.set(true);
        }
        self.stopped.get()
    }

    /// The emitter of telemetry events.
    pub fn telemetry(&self) -> TelemetryEmitter {
        TelemetryEmitter::new(&self.places, self.config.memory.log_level)
    }

    /// Opens the database once and returns it.
    pub fn db(&self) -> Result<Database, db::Error> {
        if let Some(db) = self.db.get() {
            return Ok(db.clone());
        }
        let db = Database::open(&self.places.database())?;
        Ok(self.db.get_or_init(|| db).clone())
    }

    /// The language model configured for a job, metered within the daily limits; `None` if no model is
    /// configured and rules must do.
    pub fn model(&self, job: llm::ModelJob) -> Result<Option<MeteredModel<Box<dyn LanguageModel>>>, Error> {
        let model = llm::model(
            &self.config.llm,
            job,
            &llm::ProviderEnvironment::from_environment(&self.places, &self.config),
        )?;
        self.metered(model, self.config.llm.provider)
    }

    /// The program that researches ideas, metered like the other programs; `None` while it is off.
    pub fn researcher(&self) -> Result<Option<MeteredModel<Box<dyn LanguageModel>>>, Error> {
        let model = llm::researcher(
            &self.config.ideas.research,
            &llm::ProviderEnvironment::from_environment(&self.places, &self.config),
        )?;
        self.metered(model, LlmProvider::Command)
    }

    fn metered(
        &self,
        model: Option<Box<dyn LanguageModel>>,
        provider: LlmProvider,
    ) -> Result<Option<MeteredModel<Box<dyn LanguageModel>>>, Error> {
        let Some(model) = model else { return Ok(None) };
        let uncounted = |error| {
            Error::new(FailureOwner::Ours, RetryAdvice::Never, format!("could not record the usage: {error}"))
        };
        let db = self.db().map_err(uncounted)?;
        Ok(Some(MeteredModel::new(
            model,
            db,
            SpendingCaps::from_settings(&self.config.llm, provider),
            self.zone.clone(),
        )))
    }

    /// The project of a folder. A deleted folder belongs to the project once seen there, or else to one of
    /// its own: its messages must not hold everywhere (B-05).
    pub fn project(&self, cwd: Option<&str>) -> Option<ProjectId> {
        let known = project::load(&self.places.projects_file());
        let cwd = Path::new(cwd?);
        let found = project::session_project(cwd, environment::home_folder().as_deref(), &known);
        let is_gone = cwd.is_absolute() && !cwd.is_dir();
        found.or_else(|| is_gone.then(|| project::settle(&project::gone_project(cwd, None), &known).last.id))
    }

    /// True if other machines may decide, observe and reflect on the same (B-16).
    pub(crate) fn is_shared(&self) -> bool {
        servers::configured(&self.config.engines).is_some()
    }

    /// Takes a lock for `token`, on this machine and on the shared server; false if another token holds it. A server
    /// that is away has no say: this machine then works alone (STO-03, STO-04).
    pub(crate) fn take_lock(&self, name: &str, token: &str, seconds: i64) -> Result<bool, db::Error> {
        let (mut db, now) = (self.db()?, self.now().timestamp());
        if !db.take(name, token, seconds, now)? {
            return Ok(false);
        }
        Ok(self.ask_server(&mut db, |server| server.take(name, token, seconds, now)).unwrap_or(true))
    }

    /// Releases the locks of these tokens, here and on the shared server.
    pub(crate) fn release_locks(&self, held: &[(String, String)]) -> Result<(), db::Error> {
        let mut db = self.db()?;
        for (name, token) in held {
            db.release(name, token)?;
        }
        if !held.is_empty() {
            let release = |server: &mut RedisServer| {
                held.iter().try_for_each(|(name, token)| server.release(name, token).map(drop))
            };
            // A lock that stays on a server that is away expires within the hour.
            self.ask_server(&mut db, release);
        }
        Ok(())
    }

    /// Asks the shared server, unless it failed a moment ago. Returns `None` without an answer, and remembers why.
    pub(crate) fn ask_server<T>(
        &self,
        db: &mut Database,
        question: impl FnOnce(&mut RedisServer) -> Result<T, SharedError>,
    ) -> Option<T> {
        let settings = servers::configured(&self.config.engines)?;
        let now = self.now().timestamp();
        if servers::state(db, settings).ok()?.is_some_and(|state| state.is_paused(now)) {
            return None;
        }
        servers::remember(db, settings).ok()?;
        match RedisServer::open(settings).and_then(|mut server| question(&mut server)) {
            Ok(answer) => Some(answer),
            Err(error) => {
                servers::record_failure(db, &settings.url, now, &error.what)
                    .ignore_failure("the next exchange reports the server");
                None
            }
        }
    }

    /// Runs `work` while no other thread of this process runs such work.
    pub fn run_exclusive<T>(&self, work: impl FnOnce() -> T) -> T {
        let _alone = ROUTING_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        work()
    }

    /// Registers the project of `cwd` if it is new, so that it keeps its memories after a rename or after its
    /// worktree is removed.
    pub fn remember_project(&self, cwd: Option<&str>) -> Result<(), StepError> {
        let home = environment::home_folder();
        let Some(place) = cwd.and_then(|cwd| project::locate(Path::new(cwd), home.as_deref())) else {
            return Ok(());
        };
        let registry = self.places.projects_file();
        let found = project::identify_folder(&place, &project::load(&registry));
        project::remember(&registry, &found).map(drop).map_err(StepError::retryable)
    }

    /// Registers the deleted, unknown folder `cwd` as a clone of `repository`, the address from the agent's
    /// transcript (B-05).
    pub fn remember_gone_folder(&self, cwd: Option<&str>, repository: Option<&str>) -> Result<(), StepError> {
        let (Some(cwd), Some(_)) = (cwd.map(Path::new), repository) else { return Ok(()) };
        let registry = self.places.projects_file();
        let known = project::load(&registry);
        let is_known =
            || project::session_project(cwd, environment::home_folder().as_deref(), &known).is_some();
        if !cwd.is_absolute() || cwd.is_dir() || is_known() {
            return Ok(());
        }
        let trail = project::gone_project(cwd, repository);
        project::remember_gone(&registry, &trail).map(drop).map_err(StepError::retryable)
    }

    /// Opens the vault for a step that writes to it.
    pub fn vault(&self) -> Result<Vault, StepError> {
        let vault = Vault::open(&self.places).map_err(StepError::retryable)?;
        vault.resume_forgets(&self.now()).map_err(StepError::retryable)?;
        Ok(vault.in_zone(self.zone.clone()).with_log_cache(Arc::clone(&self.logs)))
    }
}

impl From<db::Error> for StepError {
    fn from(error: db::Error) -> Self {
        Self::retryable(error)
    }
}

//! The worker: takes in what the hooks left, runs what is due, and ends. One at a time; started by a hook, or by hand.
//!
//! No port, no daemon. Being killed at any instant loses nothing: what it was doing is in the database, what it had not
//! taken in yet is in the spool, and the next one goes on.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rekindle_core::event::{Event, names};
use rekindle_core::run::Status;
use rekindle_core::time::Timestamp;
use serde_json::json;
use thiserror::Error;

use crate::db::{self, Db, OptionalExtension, params};
use crate::disk;
use crate::queue::{self, Queue, Registry};
use crate::sessions;
use crate::spool::{self, Spool, What};
use crate::stages::{World, idle, promote, signal};
use crate::told;

/// A worker that a hook started ends after this long, whatever is left; the next hook starts another.
pub const LIFETIME: Duration = Duration::from_secs(20 * 60);
/// A step that takes longer has hung; the worker ends, and the run counts a crash.
const STEP_LIMIT: Duration = Duration::from_secs(10 * 60);
/// So many files are taken from the spool at a time, so that memory stays flat however many there are.
const BATCH: usize = 64;
/// How often a watching worker looks.
const NAP: Duration = Duration::from_millis(500);

const LOCK: &str = "worker.lock";
const SUCCESSOR: &str = "worker.successor";
/// Rises when workers of different versions should not share a database; an older worker makes room for a newer one.
pub const GENERATION: u32 = 1;

/// Why a worker could not work.
#[derive(Debug, Error)]
pub enum Error {
    /// The database.
    #[error(transparent)]
    Db(#[from] db::Error),
    /// The spool.
    #[error(transparent)]
    Spool(#[from] spool::Error),
    /// The lock.
    #[error("the worker's lock {path} cannot be used: {cause}")]
    Lock {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The sessions' markers and what was said in them.
    #[error("what is known of sessions in {path} cannot be changed: {cause}")]
    Sessions {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Did {
    /// Files taken from the spool.
    pub taken: u64,
    /// Files of the spool that could not be read.
    pub broken: u64,
    /// Runs that were completed.
    pub completed: u64,
    /// Runs that had nothing to do.
    pub skipped: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Runs that are dead now.
    pub dead: u64,
}

/// The right to be the worker.
pub struct Post {
    file: File,
    folder: PathBuf,
}

/// Whether a worker is at it right now.
pub fn is_busy(locks: &Path) -> bool {
    let path = locks.join(LOCK);
    path.exists() && disk::lock(&path, Duration::ZERO).is_err()
}

impl Post {
    /// Takes the post, waiting for its holder for at most `patience`; `None` if somebody has it still. An older worker is
    /// asked to make room.
    pub fn take(locks: &Path, patience: Duration) -> Result<Option<Self>, Error> {
        let path = locks.join(LOCK);
        let failed = |cause| Error::Lock { path: path.clone(), cause };
        disk::make_folder(locks).map_err(failed)?;
        let file = match disk::lock(&path, Duration::ZERO) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                if generation(&path).is_some_and(|holder| holder < GENERATION) {
                    disk::write_whole(&locks.join(SUCCESSOR), GENERATION.to_string().as_bytes())
                        .map_err(failed)?;
                }
                match disk::lock(&path, patience) {
                    Ok(file) => file,
                    Err(error) if error.kind() == io::ErrorKind::TimedOut => return Ok(None),
                    Err(error) => return Err(failed(error)),
                }
            }
            Err(error) => return Err(failed(error)),
        };
        let mut post = Self { file, folder: locks.to_owned() };
        post.sign().map_err(failed)?;
        Ok(Some(post))
    }

    /// Says who holds it. Not durable: it is about a process that is running.
    fn sign(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        write!(self.file, "{GENERATION} {}", std::process::id())?;
        if self.successor().is_some_and(|wanted| wanted <= GENERATION) {
            disk::remove(&self.folder.join(SUCCESSOR))?;
        }
        Ok(())
    }

    fn successor(&self) -> Option<u32> {
        std::fs::read_to_string(self.folder.join(SUCCESSOR)).ok()?.trim().parse().ok()
    }

    /// Whether a newer version waits for the post.
    fn is_wanted(&self) -> bool {
        self.successor().is_some_and(|wanted| wanted > GENERATION)
    }
}

fn generation(path: &Path) -> Option<u32> {
    let mut text = String::new();
    File::open(path).ok()?.take(64).read_to_string(&mut text).ok()?;
    text.split(' ').next()?.parse().ok()
}

/// Takes in everything that waits and runs everything that is due; then ends. Retries that are due later are left for
/// later. `after` is called whenever a batch of runs is done, so that what follows from them is done in batches as well.
pub fn drain(post: &Post, world: &World, registry: &Registry, after: &mut dyn FnMut()) -> Result<Did, Error> {
    let mut did = Did::default();
    let spool = Spool::at(world.places.spool());
    let mut queue = Queue::new(Db::open(&world.places.database())?);
    queue.recover(world.now().timestamp())?;
    // What a person did on the page counts when somebody wakes (REV-03). If it cannot be read now, it stays as it is and is
    // read later; `doctor` says what is wrong with it.
    promote::look(world).ok();
    let watchdog = Watchdog::start();
    while !world.should_stop() {
        if post.is_wanted() {
            world.stop();
            break;
        }
        let taken = take_in(&spool, &mut queue, registry, world, &mut did)?;
        let worked = work(&mut queue, registry, world, &watchdog, &mut did)?;
        if worked {
            after();
        } else if taken == 0 && !remind(&mut queue, registry, world)? {
            break;
        }
    }
    queue.db().checkpoint()?;
    Ok(did)
}

/// Does one thing that somebody waits for, now: the run of a function with this key. `None` if there is nothing to do.
pub fn do_now(
    _post: &Post,
    world: &World,
    registry: &Registry,
    function: &str,
    key: &str,
) -> Result<Option<Status>, Error> {
    let mut queue = Queue::new(Db::open(&world.places.database())?);
    queue.recover(world.now().timestamp())?;
    let Some(claimed) = queue.claim_for(function, key, world.now().timestamp())? else { return Ok(None) };
    let ended = queue::run(&mut queue, registry, &claimed, world);
    Ok(Some(queue.settle(&claimed, ended, world.now().timestamp())?))
}

/// Works until somebody says stop, for those who want a worker that stays.
pub fn watch(post: &Post, world: &World, registry: &Registry, after: &mut dyn FnMut()) -> Result<Did, Error> {
    let mut all = Did::default();
    loop {
        let did = drain(post, world, registry, after)?;
        all = all.and(did);
        if world.should_stop() {
            return Ok(all);
        }
        std::thread::sleep(NAP);
    }
}

impl Did {
    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self {
            taken: self.taken + other.taken,
            broken: self.broken + other.broken,
            completed: self.completed + other.completed,
            skipped: self.skipped + other.skipped,
            failed: self.failed + other.failed,
            dead: self.dead + other.dead,
        }
    }
}

/// Takes a batch of files from the spool into the database. A file goes only after what it says is committed; if we die
/// in between, the next worker finds it again and the database knows it already.
fn take_in(
    spool: &Spool,
    queue: &mut Queue,
    registry: &Registry,
    world: &World,
    did: &mut Did,
) -> Result<u64, Error> {
    let mut taken = 0;
    let sessions_failed = |cause| Error::Sessions { path: world.places.sessions(), cause };
    for path in spool.waiting()?.into_iter().take(BATCH) {
        let Some(file) = spool.read(&path)? else { continue };
        match file.content {
            Ok(spooled) => {
                let now = world.now().timestamp();
                match spooled.what {
                    What::Event(event) => queue.accept(registry, &[event], now)?,
                    What::Signal { signal, position, messages } => {
                        if !messages.is_empty() {
                            sessions::keep(&world.places, &signal, &messages).map_err(sessions_failed)?;
                        }
                        let at = spooled.at;
                        queue.db().change(|t| signal::note(t, &signal, position, at))?;
                        sessions::reopen(&world.places.sessions(), &signal, at).map_err(sessions_failed)?;
                        let told = told::read(&world.places, &signal.session);
                        let echo = signal::echo(&signal, position, &told, at);
                        let capture = signal::request(&signal, position, &spooled.id, at);
                        let events: Vec<Event> = echo.into_iter().chain(capture).collect();
                        queue.accept(registry, &events, now)?;
                    }
                }
                spool.done(&path)?;
                did.taken += 1;
            }
            Err(_) => {
                spool.set_aside(&path)?;
                did.broken += 1;
            }
        }
        taken += 1;
    }
    Ok(taken)
}

/// What the clock asks for: scheduled functions that are due, and sessions that went silent (MNT-04, EXE-15).
fn remind(queue: &mut Queue, registry: &Registry, world: &World) -> Result<bool, Error> {
    let now = world.now();
    let mut events = idle::requests(queue.db(), world, now.timestamp())?;
    let mut begun = Vec::new();
    for function in registry.functions {
        let Some(schedule) = function.schedule else { continue };
        let last: Option<i64> = queue.db().run(|connection| {
            connection
                .query_row("SELECT last FROM schedule WHERE function = ?1", [function.name], |row| row.get(0))
                .optional()
        })?;
        let last = last.and_then(|last| Timestamp::from_millisecond(last).ok());
        match schedule.due(last, &now) {
            Some(due) => {
                let id = format!("schedule-{}-{}", function.name, due.as_millisecond());
                let data = json!({"function": function.name, "due": due.to_string()});
                events.push(Event {
                    id,
                    name: names::SCHEDULE_REACHED.to_owned(),
                    data,
                    at: now.timestamp(),
                });
                begun.push((function.name, due));
            }
            // What was never due is due from now on.
            None if last.is_none() => begun.push((function.name, now.timestamp())),
            None => {}
        }
    }
    queue.accept(registry, &events, now.timestamp())?;
    queue.db().change(|transaction| {
        for (name, at) in &begun {
            transaction.execute(
                "INSERT INTO schedule VALUES (?1, ?2) ON CONFLICT (function) DO UPDATE SET last = ?2",
                params![name, at.as_millisecond()],
            )?;
        }
        Ok(())
    })?;
    Ok(!events.is_empty())
}

/// Runs what is due. Says whether there was anything.
fn work(
    queue: &mut Queue,
    registry: &Registry,
    world: &World,
    watchdog: &Watchdog,
    did: &mut Did,
) -> Result<bool, Error> {
    let mut any = false;
    for _ in 0..BATCH {
        if world.should_stop() {
            break;
        }
        let Some(claimed) = queue.claim(world.now().timestamp())? else { break };
        any = true;
        watchdog.begin();
        let ended = queue::run(queue, registry, &claimed, world);
        watchdog.end();
        match queue.settle(&claimed, ended, world.now().timestamp())? {
            Status::Completed => did.completed += 1,
            Status::Skipped => did.skipped += 1,
            Status::Failed => did.failed += 1,
            Status::Dead => did.dead += 1,
            Status::Running => {}
        }
    }
    Ok(any)
}

/// Ends the process when a run hangs: a step cannot be interrupted from outside, and nothing may run for ever.
struct Watchdog {
    /// Seconds since the worker began at which the current run has to be over; 0 while there is none.
    deadline: Arc<AtomicU64>,
    began: std::time::Instant,
}

impl Watchdog {
    fn start() -> Self {
        let watchdog = Self { deadline: Arc::default(), began: std::time::Instant::now() };
        let (deadline, began) = (Arc::downgrade(&watchdog.deadline), watchdog.began);
        std::thread::spawn(move || {
            while let Some(deadline) = deadline.upgrade() {
                let at = deadline.load(Ordering::Relaxed);
                if at != 0 && began.elapsed().as_secs() > at {
                    // The lease, the database and the spool are all made for this.
                    std::process::exit(70);
                }
                drop(deadline);
                std::thread::sleep(Duration::from_secs(1));
            }
        });
        watchdog
    }

    fn begin(&self) {
        self.deadline.store(self.began.elapsed().as_secs() + STEP_LIMIT.as_secs(), Ordering::Relaxed);
    }

    fn end(&self) {
        self.deadline.store(0, Ordering::Relaxed);
    }
}

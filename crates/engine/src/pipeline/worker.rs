//! The worker: takes in what the hooks left, runs what is due, and ends. One at a time; started by a hook, or by hand.
//!
//! No port, no daemon. Being killed at any instant loses nothing: what it was doing is in the database, what it had not
//! taken in yet is in the spool, and the next one goes on.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rekindle_core::base::time::{Date, Timestamp};
use rekindle_core::event::{Event, names};
use rekindle_core::hosts::hook::{Kind, Signal};
use rekindle_core::run::Status;
use rekindle_core::vault::daily_log;
use serde_json::json;

use crate::context::injection_log;
use crate::jobs::context::World;
use crate::jobs::health;
use crate::jobs::queue::{self, Claimed, Ended, Interrupt, Queue, Registry};
use crate::jobs::sessions;
use crate::jobs::spool::{Spool, Spooled, What};
use crate::jobs::worker_lock::{Error, Post};
use crate::pipeline::observations;
use crate::pipeline::stages::pace::Pace;
use crate::pipeline::stages::{idle, promote, signal};
use crate::platform::db::{Db, OptionalExtension, params};
use crate::review::surfaces;
use crate::vault::Vault;

/// A worker that a hook started ends after this long, whatever is left; the next hook starts another.
pub const LIFETIME: Duration = Duration::from_secs(20 * 60);
/// A run that takes longer has hung; the worker ends, and the run counts a crash.
const RUN_LIMIT: Duration = Duration::from_secs(10 * 60);
/// So many files are taken from the spool at a time, and so many runs are done before the next.
const BATCH: usize = 64;
/// No more once they have so many bytes together.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;
/// How often the watchdog looks, at least.
const LOOK: Duration = Duration::from_secs(1);
/// How often a watching worker looks.
const NAP: Duration = Duration::from_millis(500);

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
    /// Sessions that began.
    pub begun: u64,
}

/// When a worker's host has something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Sessions began.
    Began,
    /// A batch of runs is done. Comes now and then, and in the end, so that what follows from runs is done in batches as
    /// well.
    Worked,
}

/// Takes in everything that waits and runs everything that is due; then ends. Retries that are due later are left for
/// later. `at` hears of the moments at which something else is to be done.
pub fn drain(
    post: &Post,
    world: &World,
    registry: &Registry,
    at: &mut dyn FnMut(Moment),
) -> Result<Did, Error> {
    let mut did = Did::default();
    let spool = Spool::at(world.places.spool());
    // A step whose result a power cut took is done again; all of them are made for that.
    let mut queue = Queue::new(Db::open(&world.places.database())?.relaxed()?);
    queue.recover(world.now().timestamp())?;
    // What cannot be read back now is read by the next worker; the logs stay as they are.
    restore_hot_list(world, &mut queue).ok();
    // What a person did on the page counts when somebody wakes (REV-03). If it cannot be read now, it stays as it is and is
    // read later; `doctor` says what is wrong with it.
    promote::look(world).ok();
    let (watchdog, pace) = (Watchdog::start(RUN_LIMIT, give_up), Pace::default());
    while !world.should_stop() {
        if post.is_wanted() {
            world.stop();
            break;
        }
        let begun = did.begun;
        let taken = take_in(&spool, &mut queue, registry, world, &mut did)?;
        if did.begun > begun {
            at(Moment::Began);
        }
        let worked = work(&mut queue, registry, world, &watchdog, &mut did, &|_, _| {})?;
        if worked {
            pace.sometimes(|| at(Moment::Worked));
        } else if taken == 0 && !remind(&mut queue, registry, world)? {
            break;
        }
    }
    pace.if_owed(|| at(Moment::Worked));
    health::note(&world.places, &queue)?;
    queue.db().checkpoint()?;
    Ok(did)
}

/// Fills an empty hot list from the logs of its days: the database was lost, or the vault is from another machine (STO-01).
fn restore_hot_list(world: &World, queue: &mut Queue) -> Result<(), Error> {
    if !observations::is_empty(queue.db())? {
        return Ok(());
    }
    let Ok(vault) = Vault::open(&world.places) else { return Ok(()) };
    let today = world.now().date();
    let days = (0..=observations::KEPT_DAYS).rev();
    let days = days.filter_map(|back| today.checked_sub(jiff::Span::new().days(back)).ok());
    let logs = days.filter_map(|day| Some((day, daily_log::parse(&vault.daily_log(day).ok()??))));
    let logs: Vec<(Date, daily_log::Log)> = logs.collect();
    observations::restore(queue.db(), &logs)?;
    Ok(())
}

/// Learns from sessions that were over before we came (DIS-01), on several threads, each in a world that `worlds` makes. What
/// hooks left comes first, in the world `live`, so that no session waits longer than one such call takes. `heard` is told how
/// every run ended.
pub fn learn(
    post: &Post,
    live: &World,
    worlds: &(dyn Fn() -> World + Sync),
    registry: &'static Registry,
    events: &[Event],
    threads: usize,
    heard: &(dyn Fn(&Claimed, &Result<Ended, Interrupt>) + Sync),
) -> Result<Did, Error> {
    let mut did = Did::default();
    let mut queue = Queue::new(Db::open(&live.places.database())?.relaxed()?);
    queue.recover(live.now().timestamp())?;
    restore_hot_list(live, &mut queue).ok();
    let spool = Spool::at(live.places.spool());
    let work_off = |world: &World, queue: &mut Queue| {
        let (watchdog, mut did) = (Watchdog::start(RUN_LIMIT, give_up), Did::default());
        while !post.is_wanted() && work(queue, registry, world, &watchdog, &mut did, heard)? {}
        Ok::<_, Error>(did)
    };
    while !post.is_wanted() && take_in(&spool, &mut queue, registry, live, &mut did)? > 0 {}
    did = did.and(work_off(live, &mut queue)?);
    queue.accept(registry, events, live.now().timestamp())?;
    let world = worlds();
    std::thread::scope(|scope| {
        let helper = || {
            let world = worlds();
            work_off(&world, &mut Queue::new(Db::open(&world.places.database())?.relaxed()?))
        };
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(helper)).collect();
        did = did.and(work_off(&world, &mut queue)?);
        for helper in helpers {
            did = did.and(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        // What the last of them sent.
        did = did.and(work_off(&world, &mut queue)?);
        Ok::<_, Error>(())
    })?;
    queue.db().checkpoint()?;
    Ok(did)
}

/// Works until somebody says stop, for those who want a worker that stays.
pub fn watch(
    post: &Post,
    world: &World,
    registry: &Registry,
    at: &mut dyn FnMut(Moment),
) -> Result<Did, Error> {
    let mut all = Did::default();
    loop {
        let did = drain(post, world, registry, at)?;
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
            begun: self.begun + other.begun,
        }
    }
}

/// Takes a batch of files from the spool into the database. The files go only after what they say is committed and on the
/// disk; if we die in between, the next worker finds them again and the database knows them already.
fn take_in(
    spool: &Spool,
    queue: &mut Queue,
    registry: &Registry,
    world: &World,
    did: &mut Did,
) -> Result<u64, Error> {
    let batch = gather(spool, did)?;
    let sessions_failed = |cause| Error::Sessions { path: world.places.sessions(), cause };
    let mut events = Vec::new();
    for (_, spooled) in &batch.files {
        match &spooled.what {
            What::Event(event) => events.push(event.clone()),
            What::Signal { signal, position, messages } => {
                if !messages.is_empty() {
                    sessions::keep(&world.places, signal, messages).map_err(sessions_failed)?;
                }
                let told = injection_log::read(&world.places, &signal.session);
                events.extend(signal::echo(signal, *position, &told, spooled.at));
                events.extend(signal::request(signal, *position, &spooled.id, spooled.at));
            }
        }
    }
    if !batch.files.is_empty() {
        queue.accept_for_good(registry, &events, world.now().timestamp(), |transaction| {
            batch
                .signals()
                .try_for_each(|(signal, position, at)| signal::note(transaction, signal, position, at))
        })?;
    }
    remember_projects(&batch, world);
    for (signal, _, at) in batch.signals() {
        sessions::reopen(&world.places.sessions(), signal, at).map_err(sessions_failed)?;
        did.begun += u64::from(signal.kind == Kind::Start && !signal.subagent);
    }
    for (path, _) in &batch.files {
        spool.done(path)?;
    }
    did.taken += batch.files.len() as u64;
    Ok(batch.looked_at)
}

/// Writes down the projects of the folders that the signals came from, while the folders are there: a worktree may be removed
/// before its session is captured (B-05).
fn remember_projects(batch: &Taken, world: &World) {
    let folders: HashSet<&str> = batch
        .signals()
        .filter(|(signal, ..)| !signal.subagent)
        .filter_map(|(signal, ..)| signal.cwd.as_deref())
        .collect();
    for folder in folders {
        // Signals go on without it. Capture does the same again, and says what is wrong.
        world.remember_project(Some(folder)).unwrap_or_default();
    }
}

/// Some files of the spool.
#[derive(Default)]
struct Taken {
    files: Vec<(PathBuf, Spooled)>,
    /// With those that could not be read.
    looked_at: u64,
}

impl Taken {
    fn signals(&self) -> impl Iterator<Item = (&Signal, Option<u64>, Timestamp)> {
        self.files.iter().filter_map(|(_, spooled)| match &spooled.what {
            What::Signal { signal, position, .. } => Some((signal, *position, spooled.at)),
            What::Event(_) => None,
        })
    }
}

/// Reads the next files of the spool, a few at a time so that memory stays flat however many there are. What cannot be
/// read is set aside.
fn gather(spool: &Spool, did: &mut Did) -> Result<Taken, Error> {
    let (mut taken, mut bytes) = (Taken::default(), 0);
    for path in spool.oldest(BATCH)? {
        let Some(file) = spool.read(&path)? else { continue };
        taken.looked_at += 1;
        match file.content {
            Ok(spooled) => {
                bytes += std::fs::metadata(&path).map_or(0, |file| file.len());
                taken.files.push((path, spooled));
            }
            Err(_) => {
                spool.set_aside(&path)?;
                did.broken += 1;
            }
        }
        if bytes >= BATCH_BYTES {
            break;
        }
    }
    Ok(taken)
}

/// What the clock asks for: scheduled functions that are due, sessions that went silent (MNT-04, EXE-15), and other places
/// in which a person may have answered (REV-06).
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
    events.extend(surfaces::request(queue.db(), &world.config.review, now.timestamp())?);
    // What is asked for again and again is no reason to go on: a session whose clock ran ahead stays open, and silent.
    let new = queue.accept(registry, &events, now.timestamp())?;
    queue.db().change(|transaction| {
        for (name, at) in &begun {
            transaction.execute(
                "INSERT INTO schedule VALUES (?1, ?2) ON CONFLICT (function) DO UPDATE SET last = ?2",
                params![name, at.as_millisecond()],
            )?;
        }
        Ok(())
    })?;
    Ok(new > 0)
}

/// Runs what is due, and tells `heard` how each run ended. Says whether there was anything.
fn work(
    queue: &mut Queue,
    registry: &Registry,
    world: &World,
    watchdog: &Watchdog,
    did: &mut Did,
    heard: &dyn Fn(&Claimed, &Result<Ended, Interrupt>),
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
        heard(&claimed, &ended);
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
    /// Milliseconds since the worker began at which the current run has to be over; 0 while there is none.
    deadline: Arc<AtomicU64>,
    began: std::time::Instant,
    limit: Duration,
}

impl Watchdog {
    /// Calls `bite` once a run has taken longer than `limit`.
    fn start(limit: Duration, bite: impl Fn() + Send + 'static) -> Self {
        let watchdog = Self { deadline: Arc::default(), began: std::time::Instant::now(), limit };
        let (deadline, began) = (Arc::downgrade(&watchdog.deadline), watchdog.began);
        std::thread::spawn(move || {
            while let Some(deadline) = deadline.upgrade() {
                let at = deadline.load(Ordering::Relaxed);
                if at != 0 && began.elapsed().as_millis() > u128::from(at) {
                    bite();
                }
                drop(deadline);
                std::thread::sleep(LOOK.min(limit / 2));
            }
        });
        watchdog
    }

    fn begin(&self) {
        let at = (self.began.elapsed() + self.limit).as_millis();
        self.deadline.store(u64::try_from(at).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn end(&self) {
        self.deadline.store(0, Ordering::Relaxed);
    }
}

/// The lease, the database and the spool are all made for this.
fn give_up() {
    std::process::exit(70);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_run_that_hangs_ends_the_worker_and_one_that_ends_in_time_does_not() {
        let (bitten, bites) = mpsc::channel();
        let watchdog =
            Watchdog::start(Duration::from_millis(60), move || bitten.send(()).unwrap_or_default());
        for _ in 0..10 {
            watchdog.begin();
            std::thread::sleep(Duration::from_millis(10));
            watchdog.end();
        }
        std::thread::sleep(Duration::from_millis(120));
        assert!(bites.try_recv().is_err(), "nothing has hung, and nothing is running now");
        watchdog.begin();
        assert!(bites.recv_timeout(Duration::from_secs(10)).is_ok(), "this one hangs");
    }
}

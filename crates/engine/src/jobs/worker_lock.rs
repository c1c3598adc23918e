//! The worker's lock: at most one process drains the queue (EXE-04).

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rekindle_core::run::RunStatus;
use thiserror::Error;

use crate::jobs::context::StageContext;
use crate::jobs::queue::{self, FunctionRegistry, RunQueue};
use crate::jobs::spool;
use crate::platform::db::{self, Database};
use crate::platform::disk;

const LOCK_FILE: &str = "worker.lock";
const SUCCESSOR_FILE: &str = "worker.successor";
/// The version of the worker protocol. It rises if workers of different versions must not share a database;
/// an older worker yields to a newer one.
pub const WORKER_GENERATION: u32 = 1;

/// The reason a worker could not work.
#[derive(Debug, Error)]
pub enum Error {
    /// The database could not be read or written.
    #[error(transparent)]
    Db(#[from] db::Error),
    /// The spool could not be read or written.
    #[error(transparent)]
    Spool(#[from] spool::Error),
    /// The lock could not be used.
    #[error("cannot use the worker's lock {path}: {cause}")]
    Lock {
        /// The path of the lock.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The markers or stored messages of sessions could not be changed.
    #[error("cannot update the session records in {path}: {cause}")]
    Sessions {
        /// The path of the folder.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
}

/// The held lock of the worker.
pub struct WorkerLock {
    file: File,
    folder: PathBuf,
}

/// The file in which a newer version asks older workers to end.
pub fn successor_file(locks: &Path) -> PathBuf {
    locks.join(SUCCESSOR_FILE)
}

/// True if a newer version asked workers of this version to end.
pub fn is_yielding(locks: &Path) -> bool {
    wanted_generation(locks).is_some_and(|wanted| wanted > WORKER_GENERATION)
}

fn wanted_generation(locks: &Path) -> Option<u32> {
    std::fs::read_to_string(successor_file(locks)).ok()?.trim().parse().ok()
}

/// True if a worker is running.
pub fn is_locked(locks: &Path) -> bool {
    let path = locks.join(LOCK_FILE);
    path.exists() && disk::lock(&path, Duration::ZERO).is_err()
}

impl WorkerLock {
    /// Takes the lock, waiting for its holder for at most `patience`; `None` if it stays taken. An older
    /// worker is asked to yield.
    pub fn acquire(locks: &Path, patience: Duration) -> Result<Option<Self>, Error> {
        let path = locks.join(LOCK_FILE);
        let failed = |cause| Error::Lock { path: path.clone(), cause };
        disk::create_private_folder(locks).map_err(failed)?;
        let file = match disk::lock(&path, Duration::ZERO) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                if generation(&path).is_some_and(|holder| holder < WORKER_GENERATION) {
                    disk::write_atomic(&locks.join(SUCCESSOR_FILE), WORKER_GENERATION.to_string().as_bytes())
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

    /// Writes the holder's generation and process id. It need not be durable: the process is running.
    fn sign(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        write!(self.file, "{WORKER_GENERATION} {}", std::process::id())?;
        if self.successor().is_some_and(|wanted| wanted <= WORKER_GENERATION) {
            disk::remove(&self.folder.join(SUCCESSOR_FILE))?;
        }
        Ok(())
    }

    fn successor(&self) -> Option<u32> {
        wanted_generation(&self.folder)
    }

    /// True if a newer version waits for the lock.
    pub(crate) fn is_wanted(&self) -> bool {
        self.successor().is_some_and(|wanted| wanted > WORKER_GENERATION)
    }
}

fn generation(path: &Path) -> Option<u32> {
    let mut text = String::new();
    File::open(path).ok()?.take(64).read_to_string(&mut text).ok()?;
    text.split(' ').next()?.parse().ok()
}

/// Runs one function with this key at once, for a caller that waits. Returns `None` if there is nothing to
/// do.
pub fn run_now(
    _post: &WorkerLock,
    context: &StageContext,
    registry: &FunctionRegistry,
    function: &str,
    key: &str,
) -> Result<Option<RunStatus>, Error> {
    let db = Database::open(&context.places.database())?;
    let mut queue = RunQueue::new(db).reporting_to(context.telemetry());
    queue.release_abandoned(context.now().timestamp())?;
    let Some(claimed) = queue.claim_for(function, key, context.now().timestamp())? else { return Ok(None) };
    let ended = queue::run(&mut queue, registry, &claimed, context);
    Ok(Some(queue.finish_run(&claimed, ended, context.now().timestamp())?))
}

//! Injects failures into a real, unmodified program at a chosen step of its disk operations.
//!
//! The program runs under ptrace. Each system call that changes or syncs data on disk is a *step*. Steps are
//! numbered from 1 in the order in which they begin, over all threads and child processes. A step counts when
//! it is attempted, whether or not it would succeed. The steps are: opening for writing or creating; write,
//! truncate, allocate, copy; every sort of sync; rename, link, symlink, unlink; creating and removing
//! folders; changing mode, owner, times or extended attributes. Locks, reads and operations on pipes,
//! sockets, terminals, `/dev`, `/proc` or `/sys` do not count.
//!
//! A program with one thread has the same steps in every run. With several writing threads only each thread's
//! own order is deterministic. Writes through a shared memory map are not system calls and cannot be seen.
//!
//! This works on Linux (x86-64, aarch64) if ptrace is permitted. Call [`available`] first and skip with its
//! reason: every other function here panics if tracing is impossible.

use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use crate::{CommandResult, TestCommand};

pub use call::DiskCall;

pub(crate) mod call;

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod ptrace;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod steps;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tracer;

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod tracer {
    pub(super) fn follow(
        _: &crate::TestCommand,
        _: Option<super::PlannedFault>,
        _: Option<super::SlowDisk>,
    ) -> std::io::Result<super::TracedRun> {
        Err(std::io::Error::other("planned faults need Linux on x86-64 or aarch64"))
    }
}

/// The errno for a broken disk.
pub const EIO: i32 = 5;
/// The errno for a missing permission.
pub const EACCES: i32 = 13;
/// The errno of a file system for an unknown option, such as an exchanging rename.
pub const EINVAL: i32 = 22;
/// The errno for a full disk.
pub const ENOSPC: i32 = 28;
/// The errno for a read-only file system.
pub const EROFS: i32 = 30;
/// The errno for an unknown system call.
pub const ENOSYS: i32 = 38;
/// The errno for an exceeded quota.
pub const EDQUOT: i32 = 122;

/// A planned failure at a chosen step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedFault {
    /// The step that it strikes, from 1.
    pub at: usize,
    /// The effect of the failure.
    pub kind: FaultKind,
}

/// The effect of a failure at the chosen step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// SIGKILL before the step, which is never performed. The program's child processes die with it, so that
    /// the disk stays in the state of that moment.
    Kill,
    /// SIGKILL as soon as the step has been performed, also for child processes.
    KillAfter,
    /// The step is skipped and fails with this error number. All other steps run normally.
    Errno(i32),
    /// This step and every later one is skipped and fails with this error number.
    ErrnoFrom(i32),
    /// From this step on every call that needs disk space fails with `ENOSPC`: writing, allocating, new
    /// files, folders and links. Other calls work as on a full disk: unlinking, renaming, truncating,
    /// syncing, changing modes. (Use `ErrnoFrom` for a disk that refuses everything.)
    FullDisk,
}

impl PlannedFault {
    /// Creates [`FaultKind::Kill`] at step `at`.
    pub fn kill(at: usize) -> Self {
        Self { at, kind: FaultKind::Kill }
    }

    /// Creates [`FaultKind::KillAfter`] at step `at`.
    pub fn kill_after(at: usize) -> Self {
        Self { at, kind: FaultKind::KillAfter }
    }

    /// Creates [`FaultKind::Errno`] at step `at`.
    pub fn errno(at: usize, number: i32) -> Self {
        Self { at, kind: FaultKind::Errno(number) }
    }

    /// Creates [`FaultKind::ErrnoFrom`] from step `at` on.
    pub fn errno_from(at: usize, number: i32) -> Self {
        Self { at, kind: FaultKind::ErrnoFrom(number) }
    }

    /// Creates [`FaultKind::FullDisk`] from step `at` on.
    pub fn full_disk_from(at: usize) -> Self {
        Self { at, kind: FaultKind::FullDisk }
    }
}

/// A slow disk: delays every call of one sort by this much, in the thread that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowDisk {
    /// Syncing a file to disk.
    Sync(Duration),
    /// Querying the metadata of a file.
    Stat(Duration),
}

/// The result of tracing a program to its end.
#[derive(Debug)]
struct TracedRun {
    output: CommandResult,
    steps: Vec<DiskCall>,
    took: Duration,
}

/// Checks if faults can be injected here. The error is the reason, for a test to print before it skips. The
/// check traces a shell, once per process.
pub fn available() -> Result<(), &'static str> {
    static FOUND: OnceLock<Result<(), String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| probe().map_err(|error| format!("tracing a shell fails: {error}")));
    found.as_ref().copied().map_err(String::as_str)
}

/// True if faults can be injected here; [`available`] gives the reason if not.
pub fn supported() -> bool {
    available().is_ok()
}

fn probe() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let create = TestCommand::new("/bin/sh", folder.path()).args(&["-c", ": > probe"]);
    let refused = tracer::follow(&create, Some(PlannedFault::errno(1, EIO)), None)?;
    let allowed = tracer::follow(&create, None, None)?;
    let works = refused.output.code != Some(0) && allowed.output.code == Some(0) && allowed.steps.len() == 1;
    if works { Ok(()) } else { Err(io::Error::other("ptrace is there, but does not change system calls")) }
}

/// Runs the command to its end and lists its steps.
///
/// # Panics
/// If the command fails, because the steps of a failed command number nothing useful (use [`watch`] for one
/// that is meant to fail), if it cannot be traced, or if it exceeds its limit.
#[track_caller]
pub fn trace(command: &TestCommand) -> Vec<DiskCall> {
    let (output, steps) = watch(command);
    output.ok();
    steps
}

/// The number of steps of the command. Panics like [`trace`].
#[track_caller]
pub fn count(command: &TestCommand) -> usize {
    trace(command).len()
}

/// Runs the command to its end, whatever its exit status, and returns its output and steps.
///
/// # Panics
/// If the command cannot be traced or exceeds its limit.
#[track_caller]
pub fn watch(command: &TestCommand) -> (CommandResult, Vec<DiskCall>) {
    let TracedRun { output, steps, .. } = follow(command, None, None);
    (output, steps)
}

/// Runs the command with a planned fault. `CommandResult::fault` is the call that was struck, or `None` if the
/// command ended before that step.
///
/// # Panics
/// If the command cannot be traced or exceeds its limit.
#[track_caller]
pub fn run(command: &TestCommand, fault: PlannedFault) -> CommandResult {
    assert!(fault.at > 0, "steps are numbered from 1");
    follow(command, Some(fault), None).output
}

/// Runs the command on a slow disk, with all processes that it leaves behind. Returns its output and the run
/// time of its own process.
///
/// # Panics
/// If the command cannot be traced or exceeds its limit.
#[track_caller]
pub fn run_slowly(command: &TestCommand, slow: SlowDisk) -> (CommandResult, Duration) {
    let TracedRun { output, took, .. } = follow(command, None, Some(slow));
    (output, took)
}

#[track_caller]
fn follow(command: &TestCommand, fault: Option<PlannedFault>, slow: Option<SlowDisk>) -> TracedRun {
    match tracer::follow(command, fault, slow) {
        Ok(followed) => followed,
        Err(error) => panic!("cannot follow `{}` with {fault:?}: {error}", command.line()),
    }
}

#[cfg(test)]
mod tests;

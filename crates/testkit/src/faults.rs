//! Failures put into a real, unmodified program at a chosen step of its work on the disk.
//!
//! The program runs under ptrace. Each system call that changes what is on disk, or promises that it is there,
//! is a *step*; steps are numbered from 1 in the order in which they are begun, over all threads and child
//! processes. A step is counted when it is tried, whether or not it would succeed. The steps are: opening for
//! writing or creating; write, truncate, allocate, copy; every kind of sync; rename, link, symlink, unlink;
//! making and removing folders; changing mode, owner, times or extended attributes. Locks, reads and whatever
//! goes to pipes, sockets, terminals, `/dev`, `/proc` or `/sys` are not.
//!
//! A program with one thread has the same steps in every run; with several that write, only each thread's own
//! order is certain. Writes through a shared memory map are not system calls and cannot be seen.
//!
//! It works on Linux (x86-64, aarch64) where ptrace is permitted. Ask [`available`] first and skip with its
//! reason: every other function here panics where it does not.

use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use crate::{Command, Output};

pub use call::Call;

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
        _: &crate::Command,
        _: Option<super::Fault>,
        _: Option<super::Slow>,
    ) -> std::io::Result<super::Followed> {
        Err(std::io::Error::other("planned faults need Linux on x86-64 or aarch64"))
    }
}

/// The disk is broken.
pub const EIO: i32 = 5;
/// Not permitted.
pub const EACCES: i32 = 13;
/// What a file system says to an option it does not know, such as an exchanging rename.
pub const EINVAL: i32 = 22;
/// The disk is full.
pub const ENOSPC: i32 = 28;
/// The file system is read-only.
pub const EROFS: i32 = 30;
/// The kernel has no such call.
pub const ENOSYS: i32 = 38;
/// The person's quota is used up.
pub const EDQUOT: i32 = 122;

/// What goes wrong, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The step it strikes, from 1.
    pub at: usize,
    /// What happens there.
    pub kind: Kind,
}

/// What happens at the chosen step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// SIGKILL before the step, which is never performed. The program's child processes die with it, so that
    /// the disk stays as it was at that moment.
    Kill,
    /// SIGKILL, likewise, as soon as the step has been performed.
    KillAfter,
    /// The step is not performed and fails with this error number; all others run normally.
    Errno(i32),
    /// This step and every later one is not performed and fails with this error number.
    ErrnoFrom(i32),
    /// From this step on whatever needs room on the disk fails with `ENOSPC`: writing, allocating, new files,
    /// folders and links. What needs none goes on as it does on a full disk: unlinking, renaming, truncating,
    /// syncing, changing modes. (For a disk that refuses everything: `ErrnoFrom`.)
    FullDisk,
}

impl Fault {
    /// [`Kind::Kill`] at step `at`.
    pub fn kill(at: usize) -> Self {
        Self { at, kind: Kind::Kill }
    }

    /// [`Kind::KillAfter`] at step `at`.
    pub fn kill_after(at: usize) -> Self {
        Self { at, kind: Kind::KillAfter }
    }

    /// [`Kind::Errno`] at step `at`.
    pub fn errno(at: usize, number: i32) -> Self {
        Self { at, kind: Kind::Errno(number) }
    }

    /// [`Kind::ErrnoFrom`] from step `at` on.
    pub fn errno_from(at: usize, number: i32) -> Self {
        Self { at, kind: Kind::ErrnoFrom(number) }
    }

    /// [`Kind::FullDisk`] from step `at` on.
    pub fn full_disk_from(at: usize) -> Self {
        Self { at, kind: Kind::FullDisk }
    }
}

/// A disk that takes its time: every such call takes so much longer, each for the thread that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slow {
    /// Waiting until something is on the disk.
    Sync(Duration),
    /// Asking what there is about a file.
    Stat(Duration),
}

/// A program that was followed to its end.
#[derive(Debug)]
struct Followed {
    output: Output,
    steps: Vec<Call>,
    took: Duration,
}

/// Whether faults can be planned here; if not, the reason, for a test to print before it skips. Found out once
/// per process by doing it to a shell.
pub fn available() -> Result<(), &'static str> {
    static FOUND: OnceLock<Result<(), String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| probe().map_err(|error| format!("tracing a shell fails: {error}")));
    found.as_ref().copied().map_err(String::as_str)
}

/// Whether faults can be planned here; see [`available`] for the reason if not.
pub fn supported() -> bool {
    available().is_ok()
}

fn probe() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let create = Command::new("/bin/sh", folder.path()).args(&["-c", ": > probe"]);
    let refused = tracer::follow(&create, Some(Fault::errno(1, EIO)), None)?;
    let allowed = tracer::follow(&create, None, None)?;
    let works = refused.output.code != Some(0) && allowed.output.code == Some(0) && allowed.steps.len() == 1;
    if works { Ok(()) } else { Err(io::Error::other("ptrace is there, but does not change system calls")) }
}

/// Runs the command to its end and lists its steps.
///
/// # Panics
/// When the command fails, since the steps of a failed command would number nothing (use [`watch`] for one
/// that is meant to fail), and when it cannot be followed or overruns its limit.
#[track_caller]
pub fn trace(command: &Command) -> Vec<Call> {
    let (output, steps) = watch(command);
    output.ok();
    steps
}

/// How many steps the command has; as [`trace`].
#[track_caller]
pub fn count(command: &Command) -> usize {
    trace(command).len()
}

/// Runs the command to its end, however it ends, and lists its steps beside its output.
///
/// # Panics
/// When the command cannot be followed or overruns its limit.
#[track_caller]
pub fn watch(command: &Command) -> (Output, Vec<Call>) {
    let Followed { output, steps, .. } = follow(command, None, None);
    (output, steps)
}

/// Runs the command with a planned fault. `Output::fault` says what was struck, and is `None` if the command
/// ended before it came to that step.
///
/// # Panics
/// When the command cannot be followed or overruns its limit.
#[track_caller]
pub fn run(command: &Command, fault: Fault) -> Output {
    assert!(fault.at > 0, "steps are numbered from 1");
    follow(command, Some(fault), None).output
}

/// Runs the command on a slow disk, with all that it leaves behind. Its output, and how long its own process took.
///
/// # Panics
/// When the command cannot be followed or overruns its limit.
#[track_caller]
pub fn run_slowly(command: &Command, slow: Slow) -> (Output, Duration) {
    let Followed { output, took, .. } = follow(command, None, Some(slow));
    (output, took)
}

#[track_caller]
fn follow(command: &Command, fault: Option<Fault>, slow: Option<Slow>) -> Followed {
    match tracer::follow(command, fault, slow) {
        Ok(followed) => followed,
        Err(error) => panic!("cannot follow `{}` with {fault:?}: {error}", command.line()),
    }
}

#[cfg(test)]
mod tests;

//! The tracer: follows a program from start to end and injects the fault.

use std::collections::BTreeMap;
use std::io;
use std::panic;
use std::process::ExitStatus;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use libc::{c_int, c_long, pid_t};

use super::ptrace::{self, SyscallStage, TraceeReport, WaitResult};
use super::steps::{self, DiskStep};
use super::{DiskCall, FaultKind, PlannedFault, SlowDisk, TracedRun};
use crate::TestCommand;
use crate::command::ChildStreams;

/// Runs the command under a tracer of its own.
///
/// The tracer has its own thread, because for the kernel a thread traces and waits, not a process. A fresh
/// thread has no other children that could be reaped by mistake. The calling thread enforces the time limit.
pub(super) fn follow(
    command: &TestCommand,
    fault: Option<PlannedFault>,
    slow: Option<SlowDisk>,
) -> io::Result<TracedRun> {
    let tasks = Arc::new(Mutex::new(TracedTasks::default()));
    let (running, ended) = mpsc::channel::<()>();
    let tracer = thread::spawn({
        let (command, tasks) = (command.clone(), Arc::clone(&tasks));
        move || {
            let _running = running;
            let (steps, struck, napping) = (Vec::new(), None, Vec::new());
            FaultTracer { fault, slow, tasks, steps, struck, napping, took: Duration::ZERO }.run(&command)
        }
    });
    let overran = ended.recv_timeout(command.limit) == Err(RecvTimeoutError::Timeout);
    if overran {
        lock(&tasks).kill();
    }
    let followed = tracer.join().unwrap_or_else(|cause| panic::resume_unwind(cause))?;
    if overran {
        let last = followed.steps.last().map(DiskCall::to_string);
        let last = last.unwrap_or_else(|| "none".to_owned());
        let text = format!("killed after {:?}; its last step was: {last}", command.limit);
        return Err(io::Error::new(io::ErrorKind::TimedOut, text));
    }
    Ok(followed)
}

/// The traced threads and processes that have not ended.
#[derive(Default)]
struct TracedTasks {
    alive: BTreeMap<pid_t, TracedTask>,
    /// True if everything is being killed, including tasks about to be created.
    dying: bool,
}

#[derive(Default)]
struct TracedTask {
    /// True after the initial SIGSTOP of a new task, which nobody sent; a later one is real.
    started: bool,
    /// The action at the end of the current system call.
    at_exit: Option<ExitAction>,
}

enum ExitAction {
    Kill,
    Answer(c_int),
}

impl TracedTasks {
    fn kill(&mut self) {
        self.dying = true;
        for tid in self.alive.keys() {
            ptrace::kill(*tid);
        }
    }
}

fn lock(tasks: &Mutex<TracedTasks>) -> MutexGuard<'_, TracedTasks> {
    tasks.lock().unwrap_or_else(PoisonError::into_inner)
}

struct FaultTracer {
    fault: Option<PlannedFault>,
    slow: Option<SlowDisk>,
    tasks: Arc<Mutex<TracedTasks>>,
    steps: Vec<DiskCall>,
    struck: Option<DiskCall>,
    /// Tasks delayed in front of a slow call, with the end of their delay.
    napping: Vec<(Instant, pid_t)>,
    /// The run time of the program itself.
    took: Duration,
}

impl FaultTracer {
    fn run(mut self, command: &TestCommand) -> io::Result<TracedRun> {
        let began = Instant::now();
        let mut child = ptrace::spawn(command.to_std())?;
        let streams = ChildStreams::start(&mut child, command.stdin.as_deref());
        let program = child.id() as pid_t;
        let mut status = None;
        let mut failure = None;
        let shared = Arc::clone(&self.tasks);
        loop {
            let tid = match ptrace::wait(self.napping.is_empty())? {
                WaitResult::NoTask => break,
                WaitResult::Nothing => {
                    self.wake()?;
                    thread::sleep(Duration::from_millis(1));
                    continue;
                }
                WaitResult::Task(tid) => tid,
            };
            // Held while a report is handled, so that a kill on timeout never targets a task that is gone.
            let mut tasks = lock(&shared);
            let handled = self.handle(&mut tasks, tid, program, &mut status);
            if status.is_some() && self.took.is_zero() {
                self.took = began.elapsed();
            }
            // A task can be killed at any moment; its end is then the next thing it reports.
            if let Err(error) = handled
                && error.raw_os_error() != Some(libc::ESRCH)
            {
                failure.get_or_insert(error);
                tasks.kill();
            }
        }
        // No process is left to hold the streams open, so this does not wait.
        let (stdout, stderr) = streams.finish(Instant::now())?;
        match (failure, status) {
            (Some(error), _) => Err(error),
            (None, None) => Err(io::Error::other("the program's end was never reported")),
            (None, Some(status)) => {
                let output = crate::CommandResult::new(command.line(), status, stdout, stderr, self.struck);
                Ok(TracedRun { output, steps: self.steps, took: self.took })
            }
        }
    }

    fn handle(
        &mut self,
        tasks: &mut TracedTasks,
        tid: pid_t,
        program: pid_t,
        status: &mut Option<ExitStatus>,
    ) -> io::Result<()> {
        let Some(report) = ptrace::take(tid)? else { return Ok(()) };
        if let TraceeReport::Ended(how) = report {
            tasks.alive.remove(&tid);
            if tid == program {
                *status = Some(how);
            }
            return Ok(());
        }
        if tasks.dying {
            tasks.alive.entry(tid).or_default();
            ptrace::kill(tid);
            return Ok(());
        }
        let task = tasks.alive.entry(tid).or_default();
        match report {
            TraceeReport::Signal(libc::SIGTRAP) if tid == program && !task.started => {
                task.started = true;
                ptrace::follow_everything(tid)?;
                ptrace::resume(tid, 0)
            }
            TraceeReport::Signal(libc::SIGSTOP) if !task.started => {
                task.started = true;
                ptrace::resume(tid, 0)
            }
            TraceeReport::Signal(signal) => ptrace::resume(tid, signal),
            TraceeReport::AtSyscall => self.at_syscall(tasks, tid),
            TraceeReport::Loaded { formerly } => {
                // A thread that calls exec takes over the id of its process; its own id is gone.
                if formerly != tid {
                    tasks.alive.remove(&formerly);
                }
                ptrace::resume(tid, 0)
            }
            TraceeReport::Event | TraceeReport::Ended(_) => ptrace::resume(tid, 0),
        }
    }

    /// Resumes tasks whose delay has passed. One that was killed meanwhile is not an error.
    fn wake(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let due: Vec<pid_t> =
            self.napping.iter().filter(|(until, _)| *until <= now).map(|(_, tid)| *tid).collect();
        self.napping.retain(|(until, _)| *until > now);
        due.into_iter().try_for_each(|tid| match ptrace::resume(tid, 0) {
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
            other => other,
        })
    }

    fn at_syscall(&mut self, tasks: &mut TracedTasks, tid: pid_t) -> io::Result<()> {
        let task = tasks.alive.entry(tid).or_default();
        match ptrace::stage(tid)? {
            SyscallStage::Entry { number, args } => {
                if let Some(slow) = self.slow.filter(|slow| slow.calls().contains(&number)) {
                    self.napping.push((Instant::now() + slow.delay(), tid));
                    return Ok(());
                }
                if let Some(step) = steps::find(tid, number, &args) {
                    self.steps.push(step.call.clone());
                    match self.strike(&step) {
                        None => {}
                        Some(FaultStrike::Kill) => {
                            ptrace::skip_call(tid)?;
                            tasks.kill();
                            return Ok(());
                        }
                        Some(FaultStrike::KillAfter) => task.at_exit = Some(ExitAction::Kill),
                        Some(FaultStrike::Errno(number)) => {
                            ptrace::skip_call(tid)?;
                            task.at_exit = Some(ExitAction::Answer(number));
                        }
                    }
                }
            }
            SyscallStage::Exit => match task.at_exit.take() {
                None => {}
                Some(ExitAction::Kill) => {
                    tasks.kill();
                    return Ok(());
                }
                Some(ExitAction::Answer(number)) => ptrace::answer(tid, number)?,
            },
            SyscallStage::Neither => {}
        }
        ptrace::resume(tid, 0)
    }

    /// The effect of the fault on the step that was just recorded, if any.
    fn strike(&mut self, step: &DiskStep) -> Option<FaultStrike> {
        let PlannedFault { at, kind } = self.fault?;
        let now = self.steps.len();
        let strike = match kind {
            FaultKind::Kill if now == at => FaultStrike::Kill,
            FaultKind::KillAfter if now == at => FaultStrike::KillAfter,
            FaultKind::Errno(number) if now == at => FaultStrike::Errno(number),
            FaultKind::ErrnoFrom(number) if now >= at => FaultStrike::Errno(number),
            FaultKind::FullDisk if now >= at && step.needs_room => FaultStrike::Errno(libc::ENOSPC),
            _ => return None,
        };
        self.struck.get_or_insert_with(|| step.call.clone());
        Some(strike)
    }
}

impl SlowDisk {
    fn calls(self) -> &'static [c_long] {
        match self {
            Self::Sync(_) => &[libc::SYS_fsync, libc::SYS_fdatasync],
            Self::Stat(_) => &[libc::SYS_statx, libc::SYS_newfstatat],
        }
    }

    fn delay(self) -> Duration {
        match self {
            Self::Sync(delay) | Self::Stat(delay) => delay,
        }
    }
}

enum FaultStrike {
    Kill,
    KillAfter,
    Errno(c_int),
}

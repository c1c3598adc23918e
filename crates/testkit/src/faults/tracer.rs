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

use super::ptrace::{self, Report, Stage, Waited};
use super::steps::{self, Step};
use super::{Call, Fault, Followed, Kind, Slow};
use crate::Command;
use crate::command::Streams;

/// Runs the command under a tracer of its own.
///
/// The tracer has its own thread, because for the kernel a thread traces and waits, not a process. A fresh
/// thread has no other children that could be reaped by mistake. The calling thread enforces the time limit.
pub(super) fn follow(command: &Command, fault: Option<Fault>, slow: Option<Slow>) -> io::Result<Followed> {
    let tasks = Arc::new(Mutex::new(Tasks::default()));
    let (running, ended) = mpsc::channel::<()>();
    let tracer = thread::spawn({
        let (command, tasks) = (command.clone(), Arc::clone(&tasks));
        move || {
            let _running = running;
            let (steps, struck, napping) = (Vec::new(), None, Vec::new());
            Tracer { fault, slow, tasks, steps, struck, napping, took: Duration::ZERO }.run(&command)
        }
    });
    let overran = ended.recv_timeout(command.limit) == Err(RecvTimeoutError::Timeout);
    if overran {
        lock(&tasks).kill();
    }
    let followed = tracer.join().unwrap_or_else(|cause| panic::resume_unwind(cause))?;
    if overran {
        let last = followed.steps.last().map(Call::to_string);
        let last = last.unwrap_or_else(|| "none".to_owned());
        let text = format!("killed after {:?}; its last step was: {last}", command.limit);
        return Err(io::Error::new(io::ErrorKind::TimedOut, text));
    }
    Ok(followed)
}

/// The traced threads and processes that have not ended.
#[derive(Default)]
struct Tasks {
    alive: BTreeMap<pid_t, Task>,
    /// True if everything is being killed, including tasks about to be created.
    dying: bool,
}

#[derive(Default)]
struct Task {
    /// True after the initial SIGSTOP of a new task, which nobody sent; a later one is real.
    started: bool,
    /// The action at the end of the current system call.
    at_exit: Option<AtExit>,
}

enum AtExit {
    Kill,
    Answer(c_int),
}

impl Tasks {
    fn kill(&mut self) {
        self.dying = true;
        for tid in self.alive.keys() {
            ptrace::kill(*tid);
        }
    }
}

fn lock(tasks: &Mutex<Tasks>) -> MutexGuard<'_, Tasks> {
    tasks.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Tracer {
    fault: Option<Fault>,
    slow: Option<Slow>,
    tasks: Arc<Mutex<Tasks>>,
    steps: Vec<Call>,
    struck: Option<Call>,
    /// Tasks delayed in front of a slow call, with the end of their delay.
    napping: Vec<(Instant, pid_t)>,
    /// The run time of the program itself.
    took: Duration,
}

impl Tracer {
    fn run(mut self, command: &Command) -> io::Result<Followed> {
        let began = Instant::now();
        let mut child = ptrace::spawn(command.to_std())?;
        let streams = Streams::start(&mut child, command.stdin.as_deref());
        let program = child.id() as pid_t;
        let mut status = None;
        let mut failure = None;
        let shared = Arc::clone(&self.tasks);
        loop {
            let tid = match ptrace::wait(self.napping.is_empty())? {
                Waited::NoTask => break,
                Waited::Nothing => {
                    self.wake()?;
                    thread::sleep(Duration::from_millis(1));
                    continue;
                }
                Waited::Task(tid) => tid,
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
                let output = crate::Output::new(command.line(), status, stdout, stderr, self.struck);
                Ok(Followed { output, steps: self.steps, took: self.took })
            }
        }
    }

    fn handle(
        &mut self,
        tasks: &mut Tasks,
        tid: pid_t,
        program: pid_t,
        status: &mut Option<ExitStatus>,
    ) -> io::Result<()> {
        let Some(report) = ptrace::take(tid)? else { return Ok(()) };
        if let Report::Ended(how) = report {
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
            Report::Signal(libc::SIGTRAP) if tid == program && !task.started => {
                task.started = true;
                ptrace::follow_everything(tid)?;
                ptrace::resume(tid, 0)
            }
            Report::Signal(libc::SIGSTOP) if !task.started => {
                task.started = true;
                ptrace::resume(tid, 0)
            }
            Report::Signal(signal) => ptrace::resume(tid, signal),
            Report::AtSyscall => self.at_syscall(tasks, tid),
            Report::Loaded { formerly } => {
                // A thread that calls exec takes over the id of its process; its own id is gone.
                if formerly != tid {
                    tasks.alive.remove(&formerly);
                }
                ptrace::resume(tid, 0)
            }
            Report::Event | Report::Ended(_) => ptrace::resume(tid, 0),
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

    fn at_syscall(&mut self, tasks: &mut Tasks, tid: pid_t) -> io::Result<()> {
        let task = tasks.alive.entry(tid).or_default();
        match ptrace::stage(tid)? {
            Stage::Entry { number, args } => {
                if let Some(slow) = self.slow.filter(|slow| slow.calls().contains(&number)) {
                    self.napping.push((Instant::now() + slow.delay(), tid));
                    return Ok(());
                }
                if let Some(step) = steps::find(tid, number, &args) {
                    self.steps.push(step.call.clone());
                    match self.strike(&step) {
                        None => {}
                        Some(Strike::Kill) => {
                            ptrace::skip_call(tid)?;
                            tasks.kill();
                            return Ok(());
                        }
                        Some(Strike::KillAfter) => task.at_exit = Some(AtExit::Kill),
                        Some(Strike::Errno(number)) => {
                            ptrace::skip_call(tid)?;
                            task.at_exit = Some(AtExit::Answer(number));
                        }
                    }
                }
            }
            Stage::Exit => match task.at_exit.take() {
                None => {}
                Some(AtExit::Kill) => {
                    tasks.kill();
                    return Ok(());
                }
                Some(AtExit::Answer(number)) => ptrace::answer(tid, number)?,
            },
            Stage::Neither => {}
        }
        ptrace::resume(tid, 0)
    }

    /// The effect of the fault on the step that was just recorded, if any.
    fn strike(&mut self, step: &Step) -> Option<Strike> {
        let Fault { at, kind } = self.fault?;
        let now = self.steps.len();
        let strike = match kind {
            Kind::Kill if now == at => Strike::Kill,
            Kind::KillAfter if now == at => Strike::KillAfter,
            Kind::Errno(number) if now == at => Strike::Errno(number),
            Kind::ErrnoFrom(number) if now >= at => Strike::Errno(number),
            Kind::FullDisk if now >= at && step.needs_room => Strike::Errno(libc::ENOSPC),
            _ => return None,
        };
        self.struck.get_or_insert_with(|| step.call.clone());
        Some(strike)
    }
}

impl Slow {
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

enum Strike {
    Kill,
    KillAfter,
    Errno(c_int),
}

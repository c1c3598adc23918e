//! Runs a program, once or many times, and checks its output.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::faults::call::DiskCall;
use crate::terminal;

/// Long enough for a slow shared machine, and short enough that somebody notices a hang.
const LIMIT: Duration = Duration::from_secs(20);

/// A program with its arguments, environment, working folder and standard input.
///
/// The environment contains `PATH`, `TZ=UTC`, `LANG=C.UTF-8` and variables from [`TestCommand::env`]. Nothing
/// else of the test's own environment reaches the child. Standard input is an idle terminal, as for a
/// person's commands, unless [`TestCommand::stdin`] or [`TestCommand::without_terminal`] changes it.
#[derive(Clone, Debug)]
#[must_use = "a command does nothing until it is run"]
pub struct TestCommand {
    program: PathBuf,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    cwd: PathBuf,
    pub(crate) stdin: Option<Vec<u8>>,
    at_terminal: bool,
    pub(crate) limit: Duration,
}

impl TestCommand {
    /// A call of `program` without arguments in the folder `cwd`.
    pub fn new(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        let command = Self {
            program: program.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: cwd.into(),
            stdin: None,
            at_terminal: true,
            limit: LIMIT,
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env("PATH", path).env("TZ", "UTC").env("LANG", "C.UTF-8")
    }

    /// Adds one argument. Unlike the arguments of `Sandbox::rekindle` it need not be UTF-8.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds several arguments at once.
    pub fn args(self, args: &[&str]) -> Self {
        args.iter().fold(self, Self::arg)
    }

    /// Sets a variable of the child's environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Removes a variable from the child's environment.
    pub fn without_env(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.remove(name.as_ref());
        self
    }

    /// Sets another working folder.
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = folder.into();
        self
    }

    /// Sets the child's standard input to these bytes, followed by end of file.
    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(text.into());
        self
    }

    /// Runs without a terminal, as an agent or another program does.
    pub fn without_terminal(mut self) -> Self {
        self.at_terminal = false;
        self
    }

    /// Sets the time limit, after which the child is killed and the test fails (default: 20 s).
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs the program to its end.
    ///
    /// # Panics
    /// If the program cannot be started or exceeds the limit, or if a process that it leaves behind keeps its
    /// output open after that (reading the output would hang).
    #[track_caller]
    pub fn run(&self) -> CommandResult {
        let deadline = Instant::now() + self.limit;
        let mut child = match self.to_std().spawn() {
            Ok(child) => child,
            Err(error) => panic!("cannot start `{}`: {error}", self.line()),
        };
        let streams = ChildStreams::start(&mut child, self.stdin.as_deref());
        let ended = wait_until(&mut child, deadline).and_then(|status| match status {
            Some(status) => Ok(Some(status)),
            None => child.kill().and_then(|()| child.wait()).map(|_| None),
        });
        match ended {
            Ok(Some(status)) => match streams.finish(deadline) {
                Ok((stdout, stderr)) => CommandResult::new(self.line(), status, stdout, stderr, None),
                Err(error) => panic!("`{}` has ended, but: {error}", self.line()),
            },
            Ok(None) => panic!("`{}` was killed after {:?}", self.line(), self.limit),
            Err(error) => panic!("cannot wait for `{}`: {error}", self.line()),
        }
    }

    /// Starts the program and leaves it running. The caller ends it.
    ///
    /// # Panics
    /// If the program cannot be started.
    #[track_caller]
    pub fn spawn(&self) -> Child {
        match self.to_std().spawn() {
            Ok(child) => child,
            Err(error) => panic!("cannot start `{}`: {error}", self.line()),
        }
    }

    /// Converts to the standard library's command, with all three streams set up for [`ChildStreams`].
    pub(crate) fn to_std(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.args).env_clear().envs(&self.env).current_dir(&self.cwd);
        command.stdin(match (&self.stdin, self.at_terminal) {
            (Some(_), _) => Stdio::piped(),
            (None, true) => terminal::stdin(),
            (None, false) => Stdio::null(),
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The command line, for messages.
    pub(crate) fn line(&self) -> String {
        let program = self.program.file_name().unwrap_or(self.program.as_os_str());
        let words = std::iter::once(program).chain(self.args.iter().map(OsString::as_os_str));
        words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
    }
}

/// Waits for the child by polling. The standard library has no wait with a deadline, and a blocked waiter
/// could not be stopped.
fn wait_until(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    let mut pause = Duration::from_micros(100);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    }
}

/// The child's three streams, each served by a thread, so that a full pipe never blocks the child.
pub(crate) struct ChildStreams {
    stdin: Receiver<io::Result<()>>,
    stdout: Receiver<io::Result<Vec<u8>>>,
    stderr: Receiver<io::Result<Vec<u8>>>,
}

impl ChildStreams {
    pub(crate) fn start(child: &mut Child, input: Option<&[u8]>) -> Self {
        let (stdin, input) = (child.stdin.take(), input.map(<[u8]>::to_vec));
        Self {
            stdin: on_thread(move || match (stdin, input) {
                (Some(mut pipe), Some(bytes)) => match pipe.write_all(&bytes) {
                    // The child may have read enough or may be dead; its exit status tells which.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    written => written,
                },
                _ => Ok(()),
            }),
            stdout: read_on_thread(child.stdout.take()),
            stderr: read_on_thread(child.stderr.take()),
        }
    }

    /// The child's stdout and stderr. Fails if a process still holds a stream open at the deadline.
    pub(crate) fn finish(self, deadline: Instant) -> io::Result<(String, String)> {
        until(deadline, &self.stdin, "stdin")?;
        let stdout = until(deadline, &self.stdout, "stdout")?;
        let stderr = until(deadline, &self.stderr, "stderr")?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok((text(stdout), text(stderr)))
    }
}

fn read_on_thread(pipe: Option<impl Read + Send + 'static>) -> Receiver<io::Result<Vec<u8>>> {
    on_thread(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    })
}

fn on_thread<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = mpsc::channel();
    // If the receiver gave up at its deadline, nobody wants the answer any more.
    thread::spawn(move || sender.send(job()).ok());
    receiver
}

fn until<T>(deadline: Instant, answer: &Receiver<io::Result<T>>, name: &str) -> io::Result<T> {
    // Even after the deadline, a stream that has just been closed gets time to report.
    let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_secs(1));
    match answer.recv_timeout(left) {
        Ok(done) => done,
        Err(_) => Err(io::Error::other(format!("a process it started still holds its {name} open"))),
    }
}

/// The exit status and output of a program.
#[derive(Clone, Debug)]
pub struct CommandResult {
    /// The exit code; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// The signal that ended the program, if any.
    pub signal: Option<i32>,
    /// Standard output, with invalid UTF-8 replaced.
    pub stdout: String,
    /// Standard error, with invalid UTF-8 replaced.
    pub stderr: String,
    /// The system call struck by a planned fault. `None` without a fault, or if the program ended before that
    /// step.
    pub fault: Option<DiskCall>,
    command: String,
}

impl CommandResult {
    pub(crate) fn new(
        command: String,
        status: ExitStatus,
        stdout: String,
        stderr: String,
        fault: Option<DiskCall>,
    ) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Self { code: status.code(), signal, stdout, stderr, fault, command }
    }

    /// Returns the output if the exit code is 0.
    ///
    /// # Panics
    /// If it is not, showing both streams.
    #[track_caller]
    pub fn ok(self) -> Self {
        self.fails(0)
    }

    /// Returns the output if the exit code is `code`.
    ///
    /// # Panics
    /// If it is not, showing both streams.
    #[track_caller]
    pub fn fails(self, code: i32) -> Self {
        assert!(self.code == Some(code), "expected exit {code} of {}", self.describe());
        self
    }

    /// Returns the output if SIGKILL ended the program.
    ///
    /// # Panics
    /// If it did not, showing both streams.
    #[track_caller]
    pub fn killed(self) -> Self {
        assert!(self.signal == Some(9), "expected a kill of {}", self.describe());
        self
    }

    /// Parses standard output as one JSON value.
    ///
    /// # Panics
    /// If it is not JSON, showing both streams.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("stdout is not JSON ({error}) of {}", self.describe()),
        }
    }

    fn describe(&self) -> String {
        let end = match (self.code, self.signal) {
            (Some(code), _) => format!("exit {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "an unknown end".to_owned(),
        };
        let fault = self.fault.as_ref().map(|call| format!("\nfault at: {call}")).unwrap_or_default();
        format!(
            "`{}`, which had {end}{fault}\n--- stdout\n{}\n--- stderr\n{}",
            self.command, self.stdout, self.stderr
        )
    }
}

#[cfg(test)]
mod tests;

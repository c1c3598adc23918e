//! A program to be run once or many times, and what came of it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::faults::call::Call;
use crate::terminal;

/// Long enough for a slow shared machine, short enough that a hang is seen while somebody is looking.
const LIMIT: Duration = Duration::from_secs(20);

/// A program with its arguments, environment, working folder and standard input.
///
/// The environment holds `PATH`, `TZ=UTC`, `LANG=C.UTF-8` and what [`Command::env`] adds; nothing else of the
/// test's own environment reaches the child. Standard input is a terminal at which nobody types, as a person's commands have
/// it, unless [`Command::stdin`] or [`Command::without_terminal`] says otherwise.
#[derive(Clone, Debug)]
#[must_use = "a command does nothing until it is run"]
pub struct Command {
    program: PathBuf,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    cwd: PathBuf,
    pub(crate) stdin: Option<Vec<u8>>,
    at_terminal: bool,
    pub(crate) limit: Duration,
}

impl Command {
    /// `program` without arguments, to be run in the folder `cwd`.
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

    /// Adds one argument; unlike the arguments of `Sandbox::rekindle` it need not be UTF-8.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds several arguments.
    pub fn args(self, args: &[&str]) -> Self {
        args.iter().fold(self, Self::arg)
    }

    /// Sets a variable of the child's environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Takes a variable out of the child's environment.
    pub fn without_env(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.remove(name.as_ref());
        self
    }

    /// Runs in another folder.
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = folder.into();
        self
    }

    /// Gives the child these bytes on standard input, then the end of it.
    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(text.into());
        self
    }

    /// Runs without a terminal, as an agent or another program does.
    pub fn without_terminal(mut self) -> Self {
        self.at_terminal = false;
        self
    }

    /// How long the child may take before it is killed and the test fails (20 s unless said otherwise).
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs the program to its end.
    ///
    /// # Panics
    /// When the program cannot be started, is not done within the limit, or leaves somebody behind who still
    /// holds its output open then (whoever waits for that output would hang).
    #[track_caller]
    pub fn run(&self) -> Output {
        let deadline = Instant::now() + self.limit;
        let mut child = match self.to_std().spawn() {
            Ok(child) => child,
            Err(error) => panic!("cannot start `{}`: {error}", self.line()),
        };
        let streams = Streams::start(&mut child, self.stdin.as_deref());
        let ended = wait_until(&mut child, deadline).and_then(|status| match status {
            Some(status) => Ok(Some(status)),
            None => child.kill().and_then(|()| child.wait()).map(|_| None),
        });
        match ended {
            Ok(Some(status)) => match streams.finish(deadline) {
                Ok((stdout, stderr)) => Output::new(self.line(), status, stdout, stderr, None),
                Err(error) => panic!("`{}` has ended, but: {error}", self.line()),
            },
            Ok(None) => panic!("`{}` was killed after {:?}", self.line(), self.limit),
            Err(error) => panic!("cannot wait for `{}`: {error}", self.line()),
        }
    }

    /// The same for the standard library, with all three streams set up for [`Streams`].
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

/// Polls, since the standard library has no wait with a deadline and a blocked waiter could not be stopped.
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
pub(crate) struct Streams {
    stdin: Receiver<io::Result<()>>,
    stdout: Receiver<io::Result<Vec<u8>>>,
    stderr: Receiver<io::Result<Vec<u8>>>,
}

impl Streams {
    pub(crate) fn start(child: &mut Child, input: Option<&[u8]>) -> Self {
        let (stdin, input) = (child.stdin.take(), input.map(<[u8]>::to_vec));
        Self {
            stdin: on_thread(move || match (stdin, input) {
                (Some(mut pipe), Some(bytes)) => match pipe.write_all(&bytes) {
                    // A child may have read enough, or may be dead: its exit says which.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    written => written,
                },
                _ => Ok(()),
            }),
            stdout: read_on_thread(child.stdout.take()),
            stderr: read_on_thread(child.stderr.take()),
        }
    }

    /// What the child wrote to stdout and stderr. Fails when somebody still holds a stream at the deadline.
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
    // The receiver may have given up at its deadline; then nobody wants the answer any more.
    thread::spawn(move || sender.send(job()).ok());
    receiver
}

fn until<T>(deadline: Instant, answer: &Receiver<io::Result<T>>, name: &str) -> io::Result<T> {
    // Also past the deadline a stream that has just been closed gets the time to say so.
    let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_secs(1));
    match answer.recv_timeout(left) {
        Ok(done) => done,
        Err(_) => Err(io::Error::other(format!("a process it started still holds its {name} open"))),
    }
}

/// How a program ended and what it said.
#[derive(Clone, Debug)]
pub struct Output {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Standard output; bytes that are not UTF-8 appear as replacement characters.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// The system call that a planned fault struck; `None` without a fault, or when the program ended before
    /// it came to that step.
    pub fault: Option<Call>,
    command: String,
}

impl Output {
    pub(crate) fn new(
        command: String,
        status: ExitStatus,
        stdout: String,
        stderr: String,
        fault: Option<Call>,
    ) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Self { code: status.code(), signal, stdout, stderr, fault, command }
    }

    /// Itself, if the exit code is 0.
    ///
    /// # Panics
    /// Otherwise, showing both streams.
    #[track_caller]
    pub fn ok(self) -> Self {
        self.fails(0)
    }

    /// Itself, if the exit code is `code`.
    ///
    /// # Panics
    /// Otherwise, showing both streams.
    #[track_caller]
    pub fn fails(self, code: i32) -> Self {
        assert!(self.code == Some(code), "expected exit {code} of {}", self.describe());
        self
    }

    /// Itself, if SIGKILL ended it.
    ///
    /// # Panics
    /// Otherwise, showing both streams.
    #[track_caller]
    pub fn killed(self) -> Self {
        assert!(self.signal == Some(9), "expected a kill of {}", self.describe());
        self
    }

    /// Standard output read as one JSON value.
    ///
    /// # Panics
    /// When it is not JSON, showing both streams.
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

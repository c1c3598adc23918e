//! Runs a program, with all its child processes, until it ends or the deadline passes.
#![expect(clippy::disallowed_methods, reason = "the program is the person's; it is waited for, or ended")]

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rekindle_core::base::ignore_failure::IgnoreFailure as _;

/// The maximum size of the output, more than any answer needs.
const MAX_OUTPUT_BYTES: usize = 8 * 1024 * 1024;
/// The number of bytes of stderr that are kept, from its end.
const STDERR_TAIL_BYTES: usize = 4 * 1024;
/// The polling interval for the end of the process.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// The maximum number of retries while the program file is still being written.
const MAX_SPAWN_RETRIES: usize = 20;
/// The maximum wait for the rest of the output after the process ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// The outcome of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessEnd {
    /// It exited with this code; `None` if it was killed.
    Exit(Option<i32>),
    /// It reached the deadline.
    Late,
    /// It printed more than the limit.
    Flood,
}

/// A process that has ended.
#[derive(Debug)]
pub(super) struct FinishedProcess {
    pub(super) end: ProcessEnd,
    pub(super) stdout: Vec<u8>,
    /// The end of stderr.
    pub(super) stderr: String,
}

/// Runs a program with only these variables, and writes `input` to its stdin.
pub(super) fn run(
    program: &Path,
    arguments: &[OsString],
    folder: &Path,
    variables: &[(OsString, OsString)],
    input: &str,
    patience: Duration,
) -> io::Result<FinishedProcess> {
    let until = Instant::now() + patience;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env_clear();
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Use a process group, so that child processes end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = spawn(&mut command)?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.as_bytes().to_vec();
        // A program may end without reading all of its input.
        thread::spawn(move || stdin.write_all(&input).unwrap_or_default());
    }
    // A process outside of the group may keep a pipe open, so do not wait for these threads beyond the
    // deadline.
    let stdout = child.stdout.take().map(|pipe| in_background(move || read_limited(pipe)));
    let stderr = child.stderr.take().map(|pipe| in_background(move || read_tail(pipe)));
    let mut printed = None;
    let end = loop {
        if let Some(status) = child.try_wait()? {
            break ProcessEnd::Exit(status.code());
        }
        if printed.is_none() {
            printed = stdout.as_ref().and_then(|stdout| stdout.try_recv().ok());
        }
        if printed.as_ref().is_some_and(|printed| printed.len() > MAX_OUTPUT_BYTES) {
            break ProcessEnd::Flood;
        }
        if Instant::now() >= until {
            break ProcessEnd::Late;
        }
        thread::sleep(POLL_INTERVAL);
    };
    finish(&mut child);
    let rest = |from: Option<Receiver<Vec<u8>>>| from.and_then(|from| from.recv_timeout(DRAIN_TIMEOUT).ok());
    let stdout = printed.or_else(|| rest(stdout)).unwrap_or_default();
    let end = if stdout.len() > MAX_OUTPUT_BYTES { ProcessEnd::Flood } else { end };
    let stderr = String::from_utf8_lossy(&rest(stderr).unwrap_or_default()).into_owned();
    Ok(FinishedProcess { end, stdout, stderr })
}

/// Starts the program, with retries while a newer version replaces its file.
fn spawn(command: &mut Command) -> io::Result<Child> {
    for _ in 0..MAX_SPAWN_RETRIES {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => thread::sleep(POLL_INTERVAL),
            result => return result,
        }
    }
    command.spawn()
}

fn in_background(work: impl FnOnce() -> Vec<u8> + Send + 'static) -> Receiver<Vec<u8>> {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()).ignore_failure("nobody waits any more"));
    result
}

/// Reads one byte more than the limit, to detect a flood.
fn read_limited(pipe: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    pipe.take(MAX_OUTPUT_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .ignore_failure("a partial output is judged by the exit status");
    bytes
}

fn read_tail(mut pipe: impl Read) -> Vec<u8> {
    let (mut tail, mut piece) = (VecDeque::new(), [0; 1024]);
    while let Ok(count @ 1..) = pipe.read(&mut piece) {
        tail.extend(&piece[..count]);
        let over = tail.len().saturating_sub(STDERR_TAIL_BYTES);
        tail.drain(..over);
    }
    tail.into()
}

/// Kills the process and all its child processes.
fn finish(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(raw) = i32::try_from(child.id())
        && let Some(group) = rustix::process::Pid::from_raw(raw)
    {
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL)
            .ignore_failure("the group may be empty already");
    }
    child.kill().and_then(|()| child.wait()).ignore_failure("it may have ended already");
}

//! A program that runs to its end or to the deadline, with everything it starts.
#![expect(clippy::disallowed_methods, reason = "the program is the person's; it is waited for, or ended")]

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// More than any answer is long.
const LARGEST: usize = 8 * 1024 * 1024;
/// As much of what a program complains about as is looked at.
const TAIL: usize = 4 * 1024;
/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(10);
/// How often it is started while its file is still being written.
const BUSY_TRIES: usize = 20;
/// How long what it has printed may take to arrive when it has ended.
const REST: Duration = Duration::from_secs(2);

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself, with this code; none if it was killed.
    Exit(Option<i32>),
    /// At the deadline.
    Late,
    /// It printed without end.
    Flood,
}

/// A program that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) stdout: Vec<u8>,
    /// The end of what it printed there.
    pub(super) stderr: String,
}

/// Runs a program with nothing but these variables, and gives it `input`.
pub(super) fn run(
    program: &Path,
    arguments: &[OsString],
    folder: &Path,
    variables: &[(OsString, OsString)],
    input: &str,
    patience: Duration,
) -> io::Result<Ended> {
    let until = Instant::now() + patience;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env_clear();
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that what it has started ends with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = spawn(&mut command)?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.as_bytes().to_vec();
        // One that does not read what it is given ends all the same.
        thread::spawn(move || stdin.write_all(&input).unwrap_or_default());
    }
    // Somebody who got away from the group may keep a pipe open, so nobody waits for these threads beyond the deadline.
    let stdout = child.stdout.take().map(|pipe| in_background(move || up_to_the_largest(pipe)));
    let stderr = child.stderr.take().map(|pipe| in_background(move || the_tail(pipe)));
    let mut printed = None;
    let end = loop {
        if let Some(status) = child.try_wait()? {
            break End::Exit(status.code());
        }
        if printed.is_none() {
            printed = stdout.as_ref().and_then(|stdout| stdout.try_recv().ok());
        }
        if printed.as_ref().is_some_and(|printed| printed.len() > LARGEST) {
            break End::Flood;
        }
        if Instant::now() >= until {
            break End::Late;
        }
        thread::sleep(LOOK);
    };
    finish(&mut child);
    let rest = |from: Option<Receiver<Vec<u8>>>| from.and_then(|from| from.recv_timeout(REST).ok());
    let stdout = printed.or_else(|| rest(stdout)).unwrap_or_default();
    let end = if stdout.len() > LARGEST { End::Flood } else { end };
    let stderr = String::from_utf8_lossy(&rest(stderr).unwrap_or_default()).into_owned();
    Ok(Ended { end, stdout, stderr })
}

/// Starts it, also in the moment in which it is being replaced by a newer version of itself.
fn spawn(command: &mut Command) -> io::Result<Child> {
    for _ in 0..BUSY_TRIES {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => thread::sleep(LOOK),
            result => return result,
        }
    }
    command.spawn()
}

fn in_background(work: impl FnOnce() -> Vec<u8> + Send + 'static) -> Receiver<Vec<u8>> {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()).unwrap_or_default());
    result
}

/// One byte more than may be: then it is a flood.
fn up_to_the_largest(pipe: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    pipe.take(LARGEST as u64 + 1).read_to_end(&mut bytes).unwrap_or_default();
    bytes
}

fn the_tail(mut pipe: impl Read) -> Vec<u8> {
    let (mut tail, mut piece) = (VecDeque::new(), [0; 1024]);
    while let Ok(count @ 1..) = pipe.read(&mut piece) {
        tail.extend(&piece[..count]);
        let over = tail.len().saturating_sub(TAIL);
        tail.drain(..over);
    }
    tail.into()
}

/// Ends the program and everything it has started.
fn finish(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(raw) = i32::try_from(child.id())
        && let Some(group) = rustix::process::Pid::from_raw(raw)
    {
        // There may be nobody left.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap_or_default();
    }
    child.kill().and_then(|()| child.wait()).map(drop).unwrap_or_default();
}

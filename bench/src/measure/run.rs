//! Runs one program and measures it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Error, Result};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

/// A command to run: program, working folder, arguments, variables and input.
#[derive(Clone, Debug)]
pub struct ProgramRun {
    program: PathBuf,
    arguments: Vec<OsString>,
    variables: Vec<(&'static str, OsString)>,
    folder: PathBuf,
    input: Option<PathBuf>,
}

/// The cost of one run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunSample {
    /// The wall time from before the start to the end, in milliseconds.
    pub wall: f64,
    /// The processor time of the program and of the kernel, in milliseconds; other work on the machine
    /// disturbs it least.
    pub cpu: f64,
    /// The peak resident memory, in bytes. Mapped files count as far as they were touched. A child begins as
    /// a copy of this program, so the floor is a few megabytes.
    pub peak: u64,
}

impl ProgramRun {
    /// Creates a command with no arguments and an empty environment except for `PATH`.
    pub fn new(program: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self {
            program: program.into(),
            arguments: Vec::new(),
            variables: vec![("PATH", path)],
            folder: folder.into(),
            input: None,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds several arguments.
    #[must_use]
    pub fn args(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(OsString::from));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Takes a file as standard input.
    #[must_use]
    pub fn input(mut self, file: impl Into<PathBuf>) -> Self {
        self.input = Some(file.into());
        self
    }

    /// Runs the command and measures it; output is discarded.
    pub fn timed(&self) -> Result<RunSample> {
        let mut command = self.command(Stdio::null())?;
        let start = Instant::now();
        let child = command.spawn().map_err(|error| self.failed(&error.to_string()))?;
        let (status, sample) = wait(child.id())?;
        let wall = start.elapsed().as_secs_f64() * 1e3;
        match status.success() {
            true => Ok(RunSample { wall, ..sample }),
            false => Err(self.failed(&status.to_string())),
        }
    }

    /// Runs the command and returns its output.
    pub fn printed(&self) -> Result<String> {
        let output = self.command(Stdio::piped())?.stderr(Stdio::piped()).output();
        let output = output.map_err(|error| self.failed(&error.to_string()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(self.failed(&format!("{}\n{said}", output.status)));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// True if the command exits with success; output is discarded.
    pub fn succeeds(&self) -> bool {
        let command = self.command(Stdio::null());
        command
            .and_then(|mut command| command.stderr(Stdio::null()).status())
            .is_ok_and(|status| status.success())
    }

    fn command(&self, output: Stdio) -> Result<Command> {
        let input = match &self.input {
            Some(file) => Stdio::from(File::open(file)?),
            None => Stdio::null(),
        };
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.folder)
            .stdin(input)
            .stdout(output);
        Ok(command)
    }

    fn failed(&self, why: &str) -> Error {
        let arguments: Vec<_> = self.arguments.iter().map(|argument| argument.to_string_lossy()).collect();
        let variables: Vec<String> = self.variables[1..]
            .iter()
            .map(|(name, value)| format!("{name}={} ", value.to_string_lossy()))
            .collect();
        let line = format!("{}{} {}", variables.concat(), self.program.display(), arguments.join(" "));
        Error::other(format!("`{}`: {why}", line.trim_end()))
    }
}

/// Waits for a child and reads its resource usage: processor time and peak memory.
#[expect(unsafe_code, reason = "the standard library waits without the resource usage")]
fn wait(child: u32) -> Result<(ExitStatus, RunSample)> {
    let mut status = 0;
    // SAFETY: all zeroes is a valid `rusage`, a struct of numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: the child is ours and was not waited for; both pointers are to live values of the right type.
        let waited = unsafe { libc::wait4(child as libc::pid_t, &raw mut status, 0, &raw mut usage) };
        if waited >= 0 {
            break;
        }
        let error = Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let millis = |time: libc::timeval| time.tv_sec as f64 * 1e3 + time.tv_usec as f64 / 1e3;
    // Linux reports KiB, macOS bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    let peak = u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit;
    let cpu = millis(usage.ru_utime) + millis(usage.ru_stime);
    Ok((ExitStatus::from_raw(status), RunSample { wall: 0.0, cpu, peak }))
}

/// Sums the sizes of all files below a folder.
pub fn bytes_below(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for item in std::fs::read_dir(folder)? {
            let item = item?;
            let about = item.metadata()?;
            if about.is_dir() {
                folders.push(item.path());
            } else {
                sum += about.len();
            }
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_failure_of_a_child_are_its_own() {
        let folder = std::env::temp_dir();
        let sleep = ProgramRun::new("/bin/sh", &folder).args(&["-c", "sleep 0.1"]).timed().unwrap();
        assert!(sleep.wall >= 100.0 && sleep.cpu < 90.0 && sleep.peak > 100_000, "{sleep:?}");
        let failed = ProgramRun::new("/bin/sh", &folder).args(&["-c", "exit 3"]).timed().unwrap_err();
        assert!(failed.to_string().contains("exit status: 3"), "{failed}");
        assert_eq!(
            ProgramRun::new("/bin/sh", &folder)
                .args(&["-c", "echo $PWD"])
                .env("X", "1")
                .printed()
                .unwrap()
                .lines()
                .count(),
            1
        );
    }
}

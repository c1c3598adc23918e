//! The hooks as an agent has them installed: their command lines, read back from its settings, and calls of them
//! as the agent makes them.
#![expect(clippy::disallowed_methods, reason = "a hook is a process; this one is waited for, or ended")]

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rekindle_core::base::agent::Agent;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::hosts::install::command::shell_quote;
use rekindle_core::hosts::install::settings::InstalledHook;
use rekindle_core::hosts::install::{events, settings};
use serde_json::Value;

use super::file::read;
use super::host::AgentLocation;
use super::{Error, InstallEnvironment, pi};

/// The time limit of a hook, about the same as the agents'.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum size of an answer.
const MAX_OUTPUT_BYTES: u64 = 1024 * 1024;
/// The longest wait for the rest of an answer after the hook has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// The exit code of a shell that does not find a program.
const NOT_FOUND_CODE: i32 = 127;

/// How an agent starts a hook.
#[derive(Clone, Debug)]
enum CallForm {
    /// A shell with its option, and the line that it runs.
    Shell { shell: PathBuf, option: &'static str, line: String },
    /// A program with its arguments.
    Direct { arguments: Vec<String> },
}

/// A hook of ours in an agent's settings.
#[derive(Clone, Debug)]
pub struct InstalledCommand {
    /// The event that it is registered for.
    pub event: String,
    /// The program that it calls.
    pub program: String,
    /// The home that it passes on.
    pub home: Option<String>,
    /// True if it brings settings of its own.
    pub has_own_settings: bool,
    form: CallForm,
}

/// The environment and folder of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallEnvironment<'a> {
    /// All variables of the process.
    pub variables: &'a [(OsString, OsString)],
    /// The working folder.
    pub folder: &'a Path,
}

/// The result of calling a hook.
#[derive(Clone, Debug)]
pub struct HookAnswer {
    /// What it printed; empty if there is a problem.
    pub output: Value,
    /// The duration of the call.
    pub took: Duration,
    /// What an agent would have to say against it.
    pub problem: Option<String>,
}

/// The hooks that an agent has installed, in the order of its settings.
pub(super) fn commands(machine: &InstallEnvironment, agent: Agent) -> Result<Vec<InstalledCommand>, Error> {
    let host = AgentLocation::locate(agent, machine)?;
    let Some(text) = read(&host.settings)? else { return Ok(Vec::new()) };
    if agent == Agent::Pi {
        let Some((program, home)) = pi::recorded_call(&text).filter(|_| pi::is_ours(&text)) else {
            return Ok(Vec::new());
        };
        let called = events(agent, pi::is_called_before_tools(&text));
        return Ok(called.iter().map(|one| of_extension(&program, home.as_deref(), one.event)).collect());
    }
    let found = settings::find(&text, agent).map_err(Error::json(&host.settings))?;
    Ok(found.into_iter().map(|hook| of_settings(machine, agent, hook)).collect())
}

/// pi's extension starts the program without a shell.
fn of_extension(program: &str, home: Option<&str>, event: &str) -> InstalledCommand {
    let home_option = home.iter().flat_map(|home| ["--home", home]);
    let words = home_option.chain(["hook", Agent::Pi.as_str(), event]);
    InstalledCommand {
        event: event.to_owned(),
        program: program.to_owned(),
        home: home.map(str::to_owned),
        has_own_settings: false,
        form: CallForm::Direct { arguments: words.map(str::to_owned).collect() },
    }
}

fn of_settings(machine: &InstallEnvironment, agent: Agent, hook: InstalledHook) -> InstalledCommand {
    let form = match hook.args {
        Some(arguments) => CallForm::Direct { arguments },
        None => {
            let (shell, option) = shell(machine, agent);
            CallForm::Shell { shell, option, line: hook.line.clone() }
        }
    };
    InstalledCommand {
        event: hook.event,
        program: match form {
            CallForm::Direct { .. } => hook.line,
            CallForm::Shell { .. } => hook.recognised.program,
        },
        home: hook.recognised.home,
        has_own_settings: hook.recognised.has_own_settings,
        form,
    }
}

/// The shell in which an agent runs hooks: Codex uses the person's own as a login shell, Gemini CLI bash, Claude
/// Code the system's.
fn shell(machine: &InstallEnvironment, agent: Agent) -> (PathBuf, &'static str) {
    if cfg!(windows) {
        return ("cmd".into(), "/C");
    }
    match agent {
        Agent::Codex => (machine.shell.clone().unwrap_or_else(|| "/bin/sh".into()), "-lc"),
        Agent::Gemini => (machine.find_program("bash").unwrap_or_else(|| "sh".into()), "-c"),
        Agent::Claude | Agent::Pi => ("sh".into(), "-c"),
    }
}

impl InstalledCommand {
    /// The command line, for messages.
    pub fn line(&self) -> String {
        match &self.form {
            CallForm::Shell { line, .. } => line.clone(),
            CallForm::Direct { arguments } => {
                let words: Vec<String> =
                    std::iter::once(&self.program).chain(arguments).map(|word| shell_quote(word)).collect();
                words.join(" ")
            }
        }
    }

    /// A command of a program with this home.
    pub fn of_program(program: &str, home: &Path, arguments: &[&str]) -> Self {
        let home = home.to_string_lossy().into_owned();
        let words = ["--home", &home].into_iter().chain(arguments.iter().copied());
        Self {
            event: String::new(),
            program: program.to_owned(),
            has_own_settings: false,
            form: CallForm::Direct { arguments: words.map(str::to_owned).collect() },
            home: Some(home),
        }
    }

    /// Calls the hook as the agent does. What it leaves running in the background goes on.
    pub fn call(&self, input: &str, environment: CallEnvironment<'_>) -> HookAnswer {
        self.call_within(CALL_TIMEOUT, input, environment)
    }

    /// The same with another time limit.
    pub fn call_within(&self, limit: Duration, input: &str, environment: CallEnvironment<'_>) -> HookAnswer {
        let mut command = self.command();
        command.env_clear().envs(environment.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(environment.folder);
        self.answer(&mut command, input, limit, false)
    }

    /// Calls the hook in the environment of this process, and ends everything that it started.
    pub(super) fn probe(&self, input: &str, variable: &str) -> HookAnswer {
        self.answer(self.command().env(variable, "1"), input, CALL_TIMEOUT, true)
    }

    fn command(&self) -> Command {
        match &self.form {
            CallForm::Shell { shell, option, line } => {
                let mut command = Command::new(shell);
                command.args([*option, line]);
                command
            }
            CallForm::Direct { arguments } => {
                let mut command = Command::new(&self.program);
                command.args(arguments);
                command
            }
        }
    }

    fn answer(&self, command: &mut Command, input: &str, limit: Duration, ends_children: bool) -> HookAnswer {
        let began = Instant::now();
        let result = run(command, input, limit, ends_children);
        let took = began.elapsed();
        let missing = || format!("the program it calls does not exist: {}", self.program);
        let (output, problem) = match result {
            Ok((Some(0), output)) => match parse_output(&output) {
                Some(output) => (output, None),
                None => (Value::Null, Some("its output is not a JSON object".to_owned())),
            },
            Ok((Some(NOT_FOUND_CODE), _)) => (Value::Null, Some(missing())),
            Ok((Some(code), _)) => (Value::Null, Some(format!("it exited with code {code}"))),
            Ok((None, _)) if took >= limit => {
                (Value::Null, Some(format!("it did not finish within {} s", limit.as_secs())))
            }
            Ok((None, _)) => (Value::Null, Some("it was killed".to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Value::Null, Some(missing())),
            Err(error) => (Value::Null, Some(format!("it did not start: {error}"))),
        };
        HookAnswer { output, took, problem }
    }
}

/// The answer as an agent parses it; null for no answer. `None` if an agent could not parse it.
fn parse_output(output: &[u8]) -> Option<Value> {
    if output.trim_ascii().is_empty() {
        return Some(Value::Null);
    }
    serde_json::from_slice(output).ok().filter(Value::is_object)
}

/// Runs a command until it ends or the deadline passes: the exit code (`None` if it was killed) and its
/// output.
fn run(
    command: &mut Command,
    input: &str,
    limit: Duration,
    ends_children: bool,
) -> io::Result<(Option<i32>, Vec<u8>)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // Use a process group, so that a shell's child processes can be ended with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.as_bytes().to_vec();
        // A hook may end without reading its input.
        std::thread::spawn(move || stdin.write_all(&input).unwrap_or_default());
    }
    let (sender, answer) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes).map(|_| bytes);
            sender.send(read).ignore_failure("nobody waits any more");
        });
    }
    let deadline = Instant::now() + limit;
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break status.code();
        }
        if Instant::now() >= deadline {
            break None;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    if ends_children || ended.is_none() {
        end(&mut child);
    }
    // A process in the background may keep the pipe open.
    let answer = answer.recv_timeout(DRAIN_TIMEOUT).unwrap_or_else(|_| Ok(Vec::new()))?;
    Ok((ended, answer))
}

/// Kills the hook and all its child processes.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(raw) = i32::try_from(child.id())
        && let Some(group) = rustix::process::Pid::from_raw(raw)
    {
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL)
            .ignore_failure("the group may be empty already");
    }
    child.kill().and_then(|()| child.wait()).ignore_failure("it may have ended already");
}

//! Runs an installed hook as its agent would, and checks the answer.
#![expect(clippy::disallowed_methods, reason = "a hook is a process; this one is waited for, or ended")]

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rekindle_core::base::agent::Agent;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::hosts::hook::PROBE_VARIABLE;
use rekindle_core::hosts::install::{events, settings};
use serde_json::{Value, json};

use super::file::read;
use super::host::AgentLocation;
use super::{Error, InstallEnvironment, pi};

/// The time limit of a hook, about the same as the agents'.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum size of an answer.
const MAX_OUTPUT_BYTES: u64 = 1024 * 1024;

/// The result of one hook.
#[derive(Clone, Debug)]
pub struct HookProbe {
    /// The event of the hook.
    pub event: String,
    /// The duration of the call.
    pub took: Duration,
    /// The problem, if there is one.
    pub problem: Option<String>,
}

pub(super) fn probe(machine: &InstallEnvironment, agent: Agent) -> Result<Vec<HookProbe>, Error> {
    let host = AgentLocation::locate(agent, machine)?;
    let Some(text) = read(&host.settings)? else { return Ok(Vec::new()) };
    if agent == Agent::Pi {
        let Some((program, home)) = pi::recorded_call(&text).filter(|_| pi::is_ours(&text)) else {
            return Ok(Vec::new());
        };
        let command = |event: &str| {
            let mut command = Command::new(&program);
            command.args(home.iter().flat_map(|home| ["--home", home])).args(["hook", "pi", event]);
            command
        };
        let asked = events(agent, pi::is_called_before_tools(&text));
        return Ok(asked.iter().map(|one| fire_hook(&mut command(one.event), agent, one.event)).collect());
    }
    let found = settings::find(&text, agent).map_err(Error::json(&host.settings))?;
    let command = |line: &str| {
        let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let mut command = Command::new(shell);
        command.args([option, line]);
        command
    };
    Ok(found.iter().map(|one| fire_hook(&mut command(&one.line), agent, &one.event)).collect())
}

fn fire_hook(command: &mut Command, agent: Agent, event: &str) -> HookProbe {
    let sample = json!({
        "session_id": "rekindle-probe", "transcript_path": null, "cwd": std::env::temp_dir(),
        "hook_event_name": event, "prompt": "Is anybody there?", "source": "startup", "reason": "other",
        "trigger": "manual", "agent": agent,
    });
    let began = Instant::now();
    let result = run(command, &sample.to_string());
    let took = began.elapsed();
    let problem = match result {
        Ok((Some(0), answer)) => invalid_answer(&answer),
        Ok((Some(127), _)) => Some("the program it calls does not exist".to_owned()),
        Ok((Some(code), _)) => Some(format!("it exited with code {code}")),
        Ok((None, _)) if took >= PROBE_TIMEOUT => {
            Some(format!("it did not finish within {} s", PROBE_TIMEOUT.as_secs()))
        }
        Ok((None, _)) => Some("it was killed".to_owned()),
        Err(error) => Some(format!("it did not start: {error}")),
    };
    HookProbe { event: event.to_owned(), took, problem }
}

/// The reason why an agent could not parse an answer, or `None`.
fn invalid_answer(answer: &[u8]) -> Option<String> {
    if answer.trim_ascii().is_empty() {
        return None;
    }
    match serde_json::from_slice::<Value>(answer) {
        Ok(Value::Object(_)) => None,
        _ => Some("its output is not a JSON object".to_owned()),
    }
}

/// Runs a command until it ends or the deadline passes: the exit code (`None` if it was killed) and its
/// output.
fn run(command: &mut Command, input: &str) -> std::io::Result<(Option<i32>, Vec<u8>)> {
    command.env(PROBE_VARIABLE, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // Use a process group, so that a shell's child processes end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let deadline = Instant::now() + PROBE_TIMEOUT;
    std::thread::scope(|scope| {
        // A hook may end without reading its input.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
        let reader = scope.spawn(move || {
            let mut answer = Vec::new();
            let read = stdout.map(|stdout| stdout.take(MAX_OUTPUT_BYTES).read_to_end(&mut answer));
            read.transpose().map(|_| answer)
        });
        let ended = loop {
            if let Some(status) = child.try_wait()? {
                break status.code();
            }
            if Instant::now() >= deadline {
                break None;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        end(&mut child);
        let answer = reader.join().unwrap_or_else(|_| Ok(Vec::new()))?;
        Ok((ended, answer))
    })
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

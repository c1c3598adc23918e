//! Work that goes on when a command has ended, and ends itself.
#![expect(clippy::disallowed_methods, reason = "the one room that starts a process")]

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::platform::environment;

/// Variables that an agent sets for what it starts, by how they begin. A process that goes on without the agent must not
/// carry them: the agents that it may start itself would take themselves for helpers of one that is gone.
const OF_A_SESSION: &[&str] = &["CLAUDECODE", "CLAUDE_", "CODEX_", "GEMINI_", "PI_", "AI_AGENT"];
/// Settings of the agents, which say where their files are and who pays.
const NOT_OF_A_SESSION: &[&str] =
    &["CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "GEMINI_CLI_HOME", "PI_TELEMETRY"];
/// The same, by how they begin: who pays, and what the person does not want to happen.
const SETTINGS: &[&str] = &["CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_", "CLAUDE_CODE_DISABLE_"];

/// Whether a variable belongs to the session of an agent, and not to the person.
pub(crate) fn is_of_a_session(name: &str) -> bool {
    let is_key = (name.ends_with("_KEY") || name.ends_with("_TOKEN")) && !name.contains("_SESSION_");
    let is_setting =
        is_key || NOT_OF_A_SESSION.contains(&name) || SETTINGS.iter().any(|start| name.starts_with(start));
    !is_setting && OF_A_SESSION.iter().any(|start| name.starts_with(start))
}

/// Sees to it that no file which an agent left open in this process stays open in one that is started now: the agent may
/// wait for the end of a pipe, and a lock lives as long as its last copy.
#[cfg(unix)]
fn keep_nothing_open() {
    use std::os::fd::{BorrowedFd, RawFd};
    let list = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    let names = std::fs::read_dir(list).into_iter().flatten().flatten();
    let open: Vec<RawFd> =
        names.filter_map(|name| name.file_name().to_str()?.parse().ok()).filter(|fd| *fd > 2).collect();
    for fd in open {
        #[expect(
            unsafe_code,
            reason = "a file of somebody else's has no owner here; if it is closed by now, the call fails"
        )]
        let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
        // One that was closed meanwhile (the list's own) is as good.
        rustix::io::fcntl_setfd(borrowed, rustix::io::FdFlags::CLOEXEC).unwrap_or_default();
    }
}

#[cfg(not(unix))]
fn keep_nothing_open() {}

/// Starts this program again with `arguments`, on its own: no terminal, no pipes, no folder that it would keep busy. It
/// leaves the session it was born in as soon as it runs ([`detach`]), so closing a terminal does not end it.
pub fn start(arguments: &[&str], folder: &Path) -> io::Result<()> {
    let mut command = again()?;
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    // Nobody waits for it: whoever started it is about to end, and the system cleans up after both.
    command.spawn().map(drop)
}

/// Starts this program again, on its own, in the same folder and with the same arguments and `more` of them, and gives it
/// `input`: for a process that has to end before its work is done. Returns once the input is in the pipe.
pub fn hand_over(more: &[&str], input: &[u8]) -> io::Result<()> {
    let mut command = again()?;
    command.args(environment::arguments()).args(more).stdin(Stdio::piped());
    let mut child = command.spawn()?;
    child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(input))
}

/// This program, without what belongs to an agent's session and without anything open.
fn again() -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    for (name, _) in environment::all() {
        if is_of_a_session(&name) {
            command.env_remove(name);
        }
    }
    keep_nothing_open();
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// Nothing in the background lasts longer, whatever it waits for: a disk that does not answer cannot be interrupted in any
/// other way. What was begun is taken up by the next one.
const LIMIT: Duration = Duration::from_secs(35 * 60);

/// Leaves the session this process was born in, where there are sessions, and sees to it that it ends.
pub fn detach() {
    std::thread::spawn(|| {
        std::thread::sleep(LIMIT);
        std::process::exit(70);
    });
    #[cfg(unix)]
    // It fails only for a process that already leads one.
    rustix::process::setsid().map(drop).unwrap_or_default();
}

/// Lets everybody else go first: agents and their hooks must not feel a long run.
pub fn give_way() {
    #[cfg(unix)]
    // Where it is refused, the run is as important as any other.
    rustix::process::nice(10).map(drop).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_a_session_stay_behind_and_settings_do_not() {
        for name in [
            "CLAUDECODE",
            "CLAUDE_CODE_ENTRYPOINT",
            "CODEX_SANDBOX",
            "GEMINI_SESSION_ID",
            "PI_OFFLINE",
            "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
        ] {
            assert!(is_of_a_session(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "GEMINI_API_KEY",
            "REKINDLE_HOME",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ] {
            assert!(!is_of_a_session(name), "{name}");
        }
    }
}

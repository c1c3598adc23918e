//! Background processes: work that continues after a command ended, and ends by itself.
#![expect(clippy::disallowed_methods, reason = "the one room that starts a process")]

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rekindle_core::base::ignore_failure::IgnoreFailure as _;

use crate::platform::environment;

/// Prefixes of the variables that an agent sets for its child processes. A process that outlives the agent
/// must not carry them: agents that it starts would take themselves for subagents of one that is gone.
const SESSION_VARIABLE_PREFIXES: &[&str] = &["CLAUDECODE", "CLAUDE_", "CODEX_", "GEMINI_", "PI_", "AI_AGENT"];
/// Settings of the agents that match those prefixes: the location of their files and the account that pays.
const KEPT_VARIABLES: &[&str] =
    &["CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "GEMINI_CLI_HOME", "PI_TELEMETRY"];
/// Prefixes of further settings: the account that pays, and features that the user turned off.
const KEPT_VARIABLE_PREFIXES: &[&str] = &["CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_", "CLAUDE_CODE_DISABLE_"];

/// True if a variable belongs to an agent's session and not to the user.
pub(crate) fn is_session_variable(name: &str) -> bool {
    let is_key = (name.ends_with("_KEY") || name.ends_with("_TOKEN")) && !name.contains("_SESSION_");
    let is_setting = is_key
        || KEPT_VARIABLES.contains(&name)
        || KEPT_VARIABLE_PREFIXES.iter().any(|start| name.starts_with(start));
    !is_setting && SESSION_VARIABLE_PREFIXES.iter().any(|start| name.starts_with(start))
}

/// Marks all file descriptors that an agent left open as close-on-exec. The agent may wait for the end of a
/// pipe, and a lock lives as long as its last copy.
#[cfg(unix)]
fn close_inherited_files() {
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
        rustix::io::fcntl_setfd(borrowed, rustix::io::FdFlags::CLOEXEC)
            .ignore_failure("a descriptor that was closed meanwhile, such as the list's own, is fine");
    }
}

#[cfg(not(unix))]
fn keep_nothing_open() {}

/// Starts this program again with `arguments`, detached: no terminal, no pipes, no busy working folder. It
/// leaves its session as soon as it runs ([`detach`]), so closing a terminal does not end it.
pub fn start_detached(arguments: &[&str], folder: &Path) -> io::Result<()> {
    let mut command = detached_command()?;
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    // Do not wait for it: the parent is about to end, and the system reaps both.
    command.spawn().map(drop)
}

/// Starts this program again, detached, in the same folder, with the same arguments plus `more`, and writes
/// `input` to its stdin: for a process that has to end before its work is done. Returns once the input is in
/// the pipe.
pub fn restart_detached(more: &[&str], input: &[u8]) -> io::Result<()> {
    let mut command = detached_command()?;
    command.args(environment::arguments()).args(more).stdin(Stdio::piped());
    let mut child = command.spawn()?;
    child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(input))
}

/// Opens an address in the person's browser. The browser gets its own process group, so that Ctrl-C here does not
/// end it.
pub fn open_in_browser(address: &str) -> io::Result<()> {
    let mut command = match std::env::consts::OS {
        "macos" => Command::new("open"),
        "windows" => Command::new("explorer"),
        _ => Command::new("xdg-open"),
    };
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    // The opener ends soon; it is reaped while we run.
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// A command that runs this program, without an agent's session variables and open files.
fn detached_command() -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    for (name, _) in environment::utf8_variables() {
        if is_session_variable(&name) {
            command.env_remove(name);
        }
    }
    close_inherited_files();
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// The maximum lifetime of a background process. Nothing else interrupts a disk that does not answer. The
/// next process resumes the work.
const MAX_LIFETIME: Duration = Duration::from_secs(35 * 60);

/// Leaves the session of the parent process, if the system has sessions, and limits the lifetime of this one.
pub fn detach() {
    std::thread::spawn(|| {
        std::thread::sleep(MAX_LIFETIME);
        std::process::exit(70);
    });
    #[cfg(unix)]
    rustix::process::setsid().ignore_failure("it fails only for a process that already leads a session");
}

/// Lowers the priority of this process, so that agents and their hooks do not feel a long run.
pub fn lower_priority() {
    #[cfg(unix)]
    rustix::process::nice(10).ignore_failure("if refused, the process keeps its normal priority");
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
            assert!(is_session_variable(name), "{name}");
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
            assert!(!is_session_variable(name), "{name}");
        }
    }
}

//! Work that goes on when a command has ended, and ends itself.
#![expect(clippy::disallowed_methods, reason = "the one room that starts a process")]

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Starts this program again with `arguments`, on its own: no terminal, no pipes, no folder that it would keep busy. It
/// leaves the session it was born in as soon as it runs ([`detach`]), so closing a terminal does not end it.
pub fn start(arguments: &[&str], folder: &Path) -> io::Result<()> {
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Nobody waits for it: whoever started it is about to end, and the system cleans up after both.
    command.spawn().map(drop)
}

/// Leaves the session this process was born in, where there are sessions.
pub fn detach() {
    #[cfg(unix)]
    // It fails only for a process that already leads one.
    rustix::process::setsid().map(drop).unwrap_or_default();
}

//! An idle terminal as standard input, as for a person's commands. Reads return end of file at once. All
//! commands of a test program share one. If no terminal is available, standard input is empty.

use std::process::Stdio;

/// Standard input on an idle terminal.
#[cfg(target_os = "linux")]
pub(crate) fn stdin() -> Stdio {
    use std::fs::File;
    use std::sync::OnceLock;

    // Keep both ends open, because a terminal whose other end was closed no longer counts as one.
    static TERMINAL: OnceLock<Option<(File, File)>> = OnceLock::new();
    let ends = TERMINAL.get_or_init(|| linux::open().ok());
    match ends.as_ref().and_then(|(_, theirs)| theirs.try_clone().ok()) {
        Some(theirs) => theirs.into(),
        None => Stdio::null(),
    }
}

/// Standard input without a terminal, for systems where none can be opened.
#[cfg(not(target_os = "linux"))]
pub(crate) fn stdin() -> Stdio {
    Stdio::null()
}

#[cfg(target_os = "linux")]
mod linux {
    #![expect(unsafe_code, reason = "terminals have no safe interface in the standard library")]

    use std::fs::{File, OpenOptions};
    use std::io;
    use std::mem;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;

    /// Opens a new pseudo-terminal: our end, and the one for programs.
    pub(super) fn open() -> io::Result<(File, File)> {
        let open =
            |path: &str| OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(path);
        let ours = open("/dev/ptmx")?;
        let fd = ours.as_raw_fd();
        let (mut number, locked): (libc::c_uint, libc::c_int) = (0, 0);
        // SAFETY: both calls read or write one integer that lives until they return.
        done(unsafe { libc::ioctl(fd, libc::TIOCSPTLCK, &raw const locked) })?;
        // SAFETY: as above.
        done(unsafe { libc::ioctl(fd, libc::TIOCGPTN, &raw mut number) })?;
        let theirs = open(&format!("/dev/pts/{number}"))?;
        // SAFETY: all zeros is a valid value of this plain structure, which the calls fill in and read.
        let mut how: libc::termios = unsafe { mem::zeroed() };
        // SAFETY: as above.
        done(unsafe { libc::tcgetattr(theirs.as_raw_fd(), &raw mut how) })?;
        how.c_lflag &= !(libc::ICANON | libc::ECHO);
        (how.c_cc[libc::VMIN], how.c_cc[libc::VTIME]) = (0, 0);
        // SAFETY: as above.
        done(unsafe { libc::tcsetattr(theirs.as_raw_fd(), libc::TCSANOW, &raw const how) })?;
        Ok((ours, theirs))
    }

    fn done(result: libc::c_int) -> io::Result<()> {
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

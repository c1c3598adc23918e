//! A terminal at which nobody types: what a person's commands have for standard input. Reading from it is at its end at once.
//! There is one for all commands of a test program; where there is none, standard input is empty.

use std::process::Stdio;

/// Standard input as a person's shell gives it.
#[cfg(target_os = "linux")]
pub(crate) fn stdin() -> Stdio {
    use std::fs::File;
    use std::sync::OnceLock;

    // Both ends stay open: a terminal that was hung up is none.
    static TERMINAL: OnceLock<Option<(File, File)>> = OnceLock::new();
    let ends = TERMINAL.get_or_init(|| linux::open().ok());
    match ends.as_ref().and_then(|(_, theirs)| theirs.try_clone().ok()) {
        Some(theirs) => theirs.into(),
        None => Stdio::null(),
    }
}

/// The same where there is nothing to open one with.
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

    /// Our end of a new terminal, and the one of programs.
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
        // SAFETY: all zeros is a value of this plain structure, which the calls fill in and read.
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

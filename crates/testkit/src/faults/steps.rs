//! The system calls that count as steps, and the files that they affect.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use libc::{c_int, c_long, pid_t};

use super::DiskCall;

/// A step found in a stopped tracee.
pub(super) struct DiskStep {
    pub(super) call: DiskCall,
    /// True if it fails on a full disk.
    pub(super) needs_room: bool,
}

/// The arguments that identify the affected file, by index.
#[derive(Clone, Copy)]
enum CallTarget {
    /// The file behind a descriptor argument.
    Fd(usize),
    /// The file at a path argument.
    At(PathArgument),
    /// Two paths, the old name first.
    Two(PathArgument, PathArgument),
    /// A path, if the flags request more than reading.
    Open(PathArgument, FlagsArgument),
    /// No particular file, as for a global sync.
    All,
}

/// A path argument, relative to the folder of the descriptor argument, or else to the working folder.
#[derive(Clone, Copy)]
struct PathArgument {
    folder: Option<usize>,
    path: usize,
}

/// The position of the flags of an opening call.
#[derive(Clone, Copy)]
enum FlagsArgument {
    Given(usize),
    /// The first field of the structure that the argument points to.
    Pointed(usize),
}

#[derive(Clone, Copy)]
struct CallRow {
    number: c_long,
    name: &'static str,
    on: CallTarget,
    needs_room: bool,
}

const fn row(number: c_long, name: &'static str, on: CallTarget) -> CallRow {
    CallRow { number, name, on, needs_room: false }
}

/// A call that fails on a full disk.
const fn big(number: c_long, name: &'static str, on: CallTarget) -> CallRow {
    CallRow { number, name, on, needs_room: true }
}

const fn at(folder: usize, path: usize) -> PathArgument {
    PathArgument { folder: Some(folder), path }
}

const fn here(path: usize) -> PathArgument {
    PathArgument { folder: None, path }
}

/// Missing in `libc` for some architectures; the number is the same on all of them.
const SYS_FCHMODAT2: c_long = 452;

const CALLS: &[CallRow] = &[
    row(libc::SYS_openat, "openat", CallTarget::Open(at(0, 1), FlagsArgument::Given(2))),
    row(libc::SYS_openat2, "openat2", CallTarget::Open(at(0, 1), FlagsArgument::Pointed(2))),
    big(libc::SYS_write, "write", CallTarget::Fd(0)),
    big(libc::SYS_pwrite64, "pwrite64", CallTarget::Fd(0)),
    big(libc::SYS_writev, "writev", CallTarget::Fd(0)),
    big(libc::SYS_pwritev, "pwritev", CallTarget::Fd(0)),
    big(libc::SYS_pwritev2, "pwritev2", CallTarget::Fd(0)),
    big(libc::SYS_fallocate, "fallocate", CallTarget::Fd(0)),
    big(libc::SYS_sendfile, "sendfile", CallTarget::Fd(0)),
    big(libc::SYS_splice, "splice", CallTarget::Fd(2)),
    big(libc::SYS_copy_file_range, "copy_file_range", CallTarget::Fd(2)),
    row(libc::SYS_ftruncate, "ftruncate", CallTarget::Fd(0)),
    row(libc::SYS_truncate, "truncate", CallTarget::At(here(0))),
    row(libc::SYS_fsync, "fsync", CallTarget::Fd(0)),
    row(libc::SYS_fdatasync, "fdatasync", CallTarget::Fd(0)),
    row(libc::SYS_sync_file_range, "sync_file_range", CallTarget::Fd(0)),
    row(libc::SYS_syncfs, "syncfs", CallTarget::Fd(0)),
    row(libc::SYS_sync, "sync", CallTarget::All),
    row(libc::SYS_msync, "msync", CallTarget::All),
    row(libc::SYS_renameat, "renameat", CallTarget::Two(at(0, 1), at(2, 3))),
    row(libc::SYS_renameat2, "renameat2", CallTarget::Two(at(0, 1), at(2, 3))),
    big(libc::SYS_linkat, "linkat", CallTarget::Two(at(0, 1), at(2, 3))),
    big(libc::SYS_symlinkat, "symlinkat", CallTarget::At(at(1, 2))),
    big(libc::SYS_mkdirat, "mkdirat", CallTarget::At(at(0, 1))),
    big(libc::SYS_mknodat, "mknodat", CallTarget::At(at(0, 1))),
    row(libc::SYS_unlinkat, "unlinkat", CallTarget::At(at(0, 1))),
    row(libc::SYS_fchmod, "fchmod", CallTarget::Fd(0)),
    row(libc::SYS_fchmodat, "fchmodat", CallTarget::At(at(0, 1))),
    row(SYS_FCHMODAT2, "fchmodat2", CallTarget::At(at(0, 1))),
    row(libc::SYS_fchown, "fchown", CallTarget::Fd(0)),
    row(libc::SYS_fchownat, "fchownat", CallTarget::At(at(0, 1))),
    row(libc::SYS_utimensat, "utimensat", CallTarget::At(at(0, 1))),
    row(libc::SYS_setxattr, "setxattr", CallTarget::At(here(0))),
    row(libc::SYS_lsetxattr, "lsetxattr", CallTarget::At(here(0))),
    row(libc::SYS_fsetxattr, "fsetxattr", CallTarget::Fd(0)),
    row(libc::SYS_removexattr, "removexattr", CallTarget::At(here(0))),
    row(libc::SYS_lremovexattr, "lremovexattr", CallTarget::At(here(0))),
    row(libc::SYS_fremovexattr, "fremovexattr", CallTarget::Fd(0)),
];

/// Older calls, which newer architectures never had.
#[cfg(target_arch = "x86_64")]
const OLDER_CALLS: &[CallRow] = &[
    row(libc::SYS_open, "open", CallTarget::Open(here(0), FlagsArgument::Given(1))),
    big(libc::SYS_creat, "creat", CallTarget::At(here(0))),
    row(libc::SYS_rename, "rename", CallTarget::Two(here(0), here(1))),
    big(libc::SYS_link, "link", CallTarget::Two(here(0), here(1))),
    big(libc::SYS_symlink, "symlink", CallTarget::At(here(1))),
    row(libc::SYS_unlink, "unlink", CallTarget::At(here(0))),
    big(libc::SYS_mkdir, "mkdir", CallTarget::At(here(0))),
    row(libc::SYS_rmdir, "rmdir", CallTarget::At(here(0))),
    big(libc::SYS_mknod, "mknod", CallTarget::At(here(0))),
    row(libc::SYS_chmod, "chmod", CallTarget::At(here(0))),
    row(libc::SYS_chown, "chown", CallTarget::At(here(0))),
    row(libc::SYS_lchown, "lchown", CallTarget::At(here(0))),
    row(libc::SYS_utime, "utime", CallTarget::At(here(0))),
    row(libc::SYS_utimes, "utimes", CallTarget::At(here(0))),
    row(libc::SYS_futimesat, "futimesat", CallTarget::At(at(0, 1))),
];

#[cfg(not(target_arch = "x86_64"))]
const OLDER_CALLS: &[CallRow] = &[];

/// The step that a tracee performs by entering this system call, if any.
pub(super) fn find(tid: pid_t, number: c_long, args: &[u64; 6]) -> Option<DiskStep> {
    let row = CALLS.iter().chain(OLDER_CALLS).find(|row| row.number == number)?;
    let task = StoppedTracee { tid, args };
    let mut needs_room = row.needs_room;
    let mut from = None;
    let path = match row.on {
        CallTarget::Fd(index) => task.descriptor(index)?,
        CallTarget::At(name) => task.path(name)?,
        CallTarget::Two(old, new) => {
            from = task.path(old);
            task.path(new)?
        }
        CallTarget::Open(name, flags) => {
            let flags = task.flags(flags)?;
            let path = task.path(name)?;
            let changes = libc::O_CREAT | libc::O_TRUNC;
            if flags & libc::O_ACCMODE == libc::O_RDONLY && flags & changes == 0 {
                return None;
            }
            let unnamed = flags & libc::O_TMPFILE == libc::O_TMPFILE;
            needs_room = unnamed || (flags & libc::O_CREAT != 0 && path.symlink_metadata().is_err());
            path
        }
        CallTarget::All => {
            return Some(DiskStep { call: DiskCall { name: row.name, path: None, from: None }, needs_room });
        }
    };
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let call = DiskCall { name: row.name, path: Some(text(path.clone())), from: from.map(text) };
    is_on_disk(&path).then_some(DiskStep { call, needs_room })
}

/// True unless the file is the kernel's own or an unnamed file in memory, which cannot be lost.
fn is_on_disk(path: &Path) -> bool {
    let kernel = ["/proc", "/sys", "/dev"].iter().any(|folder| path.starts_with(folder));
    (!kernel || path.starts_with("/dev/shm")) && !path.as_os_str().as_encoded_bytes().starts_with(b"/memfd:")
}

/// A stopped tracee with the arguments of its call.
struct StoppedTracee<'a> {
    tid: pid_t,
    args: &'a [u64; 6],
}

impl StoppedTracee<'_> {
    /// The file or folder behind a descriptor. `None` for pipes, sockets and terminals.
    fn descriptor(&self, index: usize) -> Option<PathBuf> {
        let link = self.proc(&format!("fd/{}", self.args[index] as c_int));
        let about = fs::metadata(&link).ok()?;
        (about.is_file() || about.is_dir()).then(|| fs::read_link(link).ok())?
    }

    fn path(&self, name: PathArgument) -> Option<PathBuf> {
        let given = self.text(self.args[name.path]).unwrap_or_default();
        if given.is_empty() {
            // No path or an empty one means the descriptor itself.
            return self.descriptor(name.folder?);
        }
        let given = PathBuf::from(String::from_utf8_lossy(&given).into_owned());
        if given.is_absolute() {
            return Some(given);
        }
        let folder = match name.folder {
            Some(index) if self.args[index] as c_int != libc::AT_FDCWD => self.descriptor(index)?,
            _ => fs::read_link(self.proc("cwd")).ok()?,
        };
        Some(folder.join(given))
    }

    fn flags(&self, flags: FlagsArgument) -> Option<c_int> {
        match flags {
            FlagsArgument::Given(index) => Some(self.args[index] as c_int),
            FlagsArgument::Pointed(index) => {
                let mut word = [0; 8];
                self.memory()?.read_exact_at(&mut word, self.args[index]).ok()?;
                Some(u64::from_ne_bytes(word) as c_int)
            }
        }
    }

    /// The zero-terminated bytes at an address of the tracee.
    fn text(&self, address: u64) -> Option<Vec<u8>> {
        /// Reading page by page never reaches an unmapped page.
        const PAGE: u64 = 4096;
        let memory = self.memory()?;
        let mut text = Vec::new();
        while text.len() <= libc::PATH_MAX as usize {
            let next = address.checked_add(text.len() as u64)?;
            let mut page = vec![0; (PAGE - next % PAGE) as usize];
            memory.read_exact_at(&mut page, next).ok()?;
            match page.iter().position(|byte| *byte == 0) {
                Some(end) => {
                    text.extend_from_slice(&page[..end]);
                    return Some(text);
                }
                None => text.append(&mut page),
            }
        }
        None
    }

    fn memory(&self) -> Option<File> {
        File::open(self.proc("mem")).ok()
    }

    fn proc(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.tid))
    }
}

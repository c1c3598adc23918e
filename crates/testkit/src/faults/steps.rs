//! The system calls that count as steps, and the files that they affect.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use libc::{c_int, c_long, pid_t};

use super::Call;

/// A step found in a stopped tracee.
pub(super) struct Step {
    pub(super) call: Call,
    /// True if it fails on a full disk.
    pub(super) needs_room: bool,
}

/// The arguments that identify the affected file, by index.
#[derive(Clone, Copy)]
enum On {
    /// The file behind a descriptor argument.
    Fd(usize),
    /// The file at a path argument.
    At(Name),
    /// Two paths, the old name first.
    Two(Name, Name),
    /// A path, if the flags request more than reading.
    Open(Name, Flags),
    /// No particular file, as for a global sync.
    All,
}

/// A path argument, relative to the folder of the descriptor argument, or else to the working folder.
#[derive(Clone, Copy)]
struct Name {
    folder: Option<usize>,
    path: usize,
}

/// The position of the flags of an opening call.
#[derive(Clone, Copy)]
enum Flags {
    Given(usize),
    /// The first field of the structure that the argument points to.
    Pointed(usize),
}

#[derive(Clone, Copy)]
struct Row {
    number: c_long,
    name: &'static str,
    on: On,
    needs_room: bool,
}

const fn row(number: c_long, name: &'static str, on: On) -> Row {
    Row { number, name, on, needs_room: false }
}

/// A call that fails on a full disk.
const fn big(number: c_long, name: &'static str, on: On) -> Row {
    Row { number, name, on, needs_room: true }
}

const fn at(folder: usize, path: usize) -> Name {
    Name { folder: Some(folder), path }
}

const fn here(path: usize) -> Name {
    Name { folder: None, path }
}

/// Missing in `libc` for some architectures; the number is the same on all of them.
const SYS_FCHMODAT2: c_long = 452;

const CALLS: &[Row] = &[
    row(libc::SYS_openat, "openat", On::Open(at(0, 1), Flags::Given(2))),
    row(libc::SYS_openat2, "openat2", On::Open(at(0, 1), Flags::Pointed(2))),
    big(libc::SYS_write, "write", On::Fd(0)),
    big(libc::SYS_pwrite64, "pwrite64", On::Fd(0)),
    big(libc::SYS_writev, "writev", On::Fd(0)),
    big(libc::SYS_pwritev, "pwritev", On::Fd(0)),
    big(libc::SYS_pwritev2, "pwritev2", On::Fd(0)),
    big(libc::SYS_fallocate, "fallocate", On::Fd(0)),
    big(libc::SYS_sendfile, "sendfile", On::Fd(0)),
    big(libc::SYS_splice, "splice", On::Fd(2)),
    big(libc::SYS_copy_file_range, "copy_file_range", On::Fd(2)),
    row(libc::SYS_ftruncate, "ftruncate", On::Fd(0)),
    row(libc::SYS_truncate, "truncate", On::At(here(0))),
    row(libc::SYS_fsync, "fsync", On::Fd(0)),
    row(libc::SYS_fdatasync, "fdatasync", On::Fd(0)),
    row(libc::SYS_sync_file_range, "sync_file_range", On::Fd(0)),
    row(libc::SYS_syncfs, "syncfs", On::Fd(0)),
    row(libc::SYS_sync, "sync", On::All),
    row(libc::SYS_msync, "msync", On::All),
    row(libc::SYS_renameat, "renameat", On::Two(at(0, 1), at(2, 3))),
    row(libc::SYS_renameat2, "renameat2", On::Two(at(0, 1), at(2, 3))),
    big(libc::SYS_linkat, "linkat", On::Two(at(0, 1), at(2, 3))),
    big(libc::SYS_symlinkat, "symlinkat", On::At(at(1, 2))),
    big(libc::SYS_mkdirat, "mkdirat", On::At(at(0, 1))),
    big(libc::SYS_mknodat, "mknodat", On::At(at(0, 1))),
    row(libc::SYS_unlinkat, "unlinkat", On::At(at(0, 1))),
    row(libc::SYS_fchmod, "fchmod", On::Fd(0)),
    row(libc::SYS_fchmodat, "fchmodat", On::At(at(0, 1))),
    row(SYS_FCHMODAT2, "fchmodat2", On::At(at(0, 1))),
    row(libc::SYS_fchown, "fchown", On::Fd(0)),
    row(libc::SYS_fchownat, "fchownat", On::At(at(0, 1))),
    row(libc::SYS_utimensat, "utimensat", On::At(at(0, 1))),
    row(libc::SYS_setxattr, "setxattr", On::At(here(0))),
    row(libc::SYS_lsetxattr, "lsetxattr", On::At(here(0))),
    row(libc::SYS_fsetxattr, "fsetxattr", On::Fd(0)),
    row(libc::SYS_removexattr, "removexattr", On::At(here(0))),
    row(libc::SYS_lremovexattr, "lremovexattr", On::At(here(0))),
    row(libc::SYS_fremovexattr, "fremovexattr", On::Fd(0)),
];

/// Older calls, which newer architectures never had.
#[cfg(target_arch = "x86_64")]
const OLDER_CALLS: &[Row] = &[
    row(libc::SYS_open, "open", On::Open(here(0), Flags::Given(1))),
    big(libc::SYS_creat, "creat", On::At(here(0))),
    row(libc::SYS_rename, "rename", On::Two(here(0), here(1))),
    big(libc::SYS_link, "link", On::Two(here(0), here(1))),
    big(libc::SYS_symlink, "symlink", On::At(here(1))),
    row(libc::SYS_unlink, "unlink", On::At(here(0))),
    big(libc::SYS_mkdir, "mkdir", On::At(here(0))),
    row(libc::SYS_rmdir, "rmdir", On::At(here(0))),
    big(libc::SYS_mknod, "mknod", On::At(here(0))),
    row(libc::SYS_chmod, "chmod", On::At(here(0))),
    row(libc::SYS_chown, "chown", On::At(here(0))),
    row(libc::SYS_lchown, "lchown", On::At(here(0))),
    row(libc::SYS_utime, "utime", On::At(here(0))),
    row(libc::SYS_utimes, "utimes", On::At(here(0))),
    row(libc::SYS_futimesat, "futimesat", On::At(at(0, 1))),
];

#[cfg(not(target_arch = "x86_64"))]
const OLDER_CALLS: &[Row] = &[];

/// The step that a tracee performs by entering this system call, if any.
pub(super) fn find(tid: pid_t, number: c_long, args: &[u64; 6]) -> Option<Step> {
    let row = CALLS.iter().chain(OLDER_CALLS).find(|row| row.number == number)?;
    let task = Task { tid, args };
    let mut needs_room = row.needs_room;
    let mut from = None;
    let path = match row.on {
        On::Fd(index) => task.descriptor(index)?,
        On::At(name) => task.path(name)?,
        On::Two(old, new) => {
            from = task.path(old);
            task.path(new)?
        }
        On::Open(name, flags) => {
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
        On::All => return Some(Step { call: Call { name: row.name, path: None, from: None }, needs_room }),
    };
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let call = Call { name: row.name, path: Some(text(path.clone())), from: from.map(text) };
    is_on_disk(&path).then_some(Step { call, needs_room })
}

/// True unless the file is the kernel's own or an unnamed file in memory, which cannot be lost.
fn is_on_disk(path: &Path) -> bool {
    let kernel = ["/proc", "/sys", "/dev"].iter().any(|folder| path.starts_with(folder));
    (!kernel || path.starts_with("/dev/shm")) && !path.as_os_str().as_encoded_bytes().starts_with(b"/memfd:")
}

/// A stopped tracee with the arguments of its call.
struct Task<'a> {
    tid: pid_t,
    args: &'a [u64; 6],
}

impl Task<'_> {
    /// The file or folder behind a descriptor. `None` for pipes, sockets and terminals.
    fn descriptor(&self, index: usize) -> Option<PathBuf> {
        let link = self.proc(&format!("fd/{}", self.args[index] as c_int));
        let about = fs::metadata(&link).ok()?;
        (about.is_file() || about.is_dir()).then(|| fs::read_link(link).ok())?
    }

    fn path(&self, name: Name) -> Option<PathBuf> {
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

    fn flags(&self, flags: Flags) -> Option<c_int> {
        match flags {
            Flags::Given(index) => Some(self.args[index] as c_int),
            Flags::Pointed(index) => {
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

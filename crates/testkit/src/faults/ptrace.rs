//! The kernel calls for tracing a program. All of this crate's unsafe code for tracing is here.
#![expect(unsafe_code, reason = "ptrace and waitid have no safe interface in the standard library")]

use std::io;
use std::mem;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus};
use std::ptr;

use libc::{c_int, c_long, c_void, pid_t};

#[cfg(target_env = "musl")]
type Request = c_int;
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;

/// Available since Linux 5.3; the `libc` crate defines it for glibc only.
const GET_SYSCALL_INFO: Request = 0x420e;

#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xC000_00B7;

/// Clones are threads; forks and vforks are processes. A tracee dies with its tracer, however that ends.
const OPTIONS: c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;

/// A kernel report about a tracee.
pub(super) enum TraceeReport {
    /// It has ended and was reaped.
    Ended(ExitStatus),
    /// It is stopped at entry to or exit from a system call.
    AtSyscall,
    /// It is stopped after an exec; the id of the calling task was `formerly`.
    Loaded { formerly: pid_t },
    /// It is stopped for another event that needs no action.
    Event,
    /// It is stopped because this signal is about to be delivered.
    Signal(c_int),
}

/// The stage of a system call at which a tracee is stopped.
pub(super) enum SyscallStage {
    Entry { number: c_long, args: [u64; 6] },
    Exit,
    Neither,
}

/// Starts a program, traced by this thread. It stops once loaded, before its first instruction.
pub(super) fn spawn(mut command: std::process::Command) -> io::Result<Child> {
    let trace_me = || {
        // SAFETY: PTRACE_TRACEME takes no pointers and touches no memory; it is a bare system call, which is
        // allowed between fork and exec.
        let done = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, ptr::null_mut::<c_void>(), 0_usize) };
        if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: the closure makes one system call, allocates nothing and takes no lock.
    unsafe { command.pre_exec(trace_me) };
    command.spawn()
}

/// The result of [`wait`].
pub(super) enum WaitResult {
    /// This tracee has a report.
    Task(pid_t),
    /// No tracee has a report.
    Nothing,
    /// There are no tracees left.
    NoTask,
}

/// Finds a tracee of this thread with a report, without consuming the report. With `patient` it blocks until
/// there is one. Tracees and children of other threads are ignored.
pub(super) fn wait(patient: bool) -> io::Result<WaitResult> {
    let hang = if patient { 0 } else { libc::WNOHANG };
    let options = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT | libc::__WALL | libc::__WNOTHREAD | hang;
    loop {
        // SAFETY: siginfo_t is plain data for which all zeroes is a valid value.
        let mut info: libc::siginfo_t = unsafe { mem::zeroed() };
        // SAFETY: `info` is a siginfo_t that the kernel may write for the length of the call.
        if unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, options) } == 0 {
            // SAFETY: waitid succeeded, so the kernel filled the fields of a child's report.
            return Ok(match unsafe { info.si_pid() } {
                0 => WaitResult::Nothing,
                tid => WaitResult::Task(tid),
            });
        }
        match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => {}
            error if error.raw_os_error() == Some(libc::ECHILD) => return Ok(WaitResult::NoTask),
            error => return Err(error),
        }
    }
}

/// Consumes the report of a tracee. `None` if a kill has overtaken it since [`wait`].
pub(super) fn take(tid: pid_t) -> io::Result<Option<TraceeReport>> {
    let mut status = 0;
    // SAFETY: `status` is an int that the kernel may write for the length of the call.
    match unsafe { libc::waitpid(tid, &raw mut status, libc::__WALL | libc::__WNOTHREAD | libc::WNOHANG) } {
        -1 => return Err(io::Error::last_os_error()),
        0 => return Ok(None),
        _ => {}
    }
    if !libc::WIFSTOPPED(status) {
        return Ok(Some(TraceeReport::Ended(ExitStatus::from_raw(status))));
    }
    let event = status >> 16;
    Ok(Some(match libc::WSTOPSIG(status) {
        signal if signal == libc::SIGTRAP | 0x80 => TraceeReport::AtSyscall,
        _ if event == libc::PTRACE_EVENT_EXEC => TraceeReport::Loaded { formerly: event_message(tid)? },
        _ if event != 0 => TraceeReport::Event,
        signal => TraceeReport::Signal(signal),
    }))
}

/// Makes the kernel report everything that a stopped tracee, its threads and its children do from here on.
pub(super) fn follow_everything(tid: pid_t) -> io::Result<()> {
    // SAFETY: the options go by value; no pointers are passed.
    unsafe { request(libc::PTRACE_SETOPTIONS, tid, 0, ptr::without_provenance_mut(OPTIONS as usize)) }
}

/// Resumes a stopped tracee until its next system call, delivering `signal` unless it is 0.
pub(super) fn resume(tid: pid_t, signal: c_int) -> io::Result<()> {
    // SAFETY: the signal goes by value; no pointers are passed.
    unsafe { request(libc::PTRACE_SYSCALL, tid, 0, ptr::without_provenance_mut(signal as usize)) }
}

/// Sends SIGKILL to a tracee and its whole process. A tracee that is gone is not an error.
pub(super) fn kill(tid: pid_t) {
    // SAFETY: no pointers are passed. The id cannot belong to another process: callers pass only tracees that
    // were not reaped yet, and until then the kernel keeps the id.
    unsafe { libc::syscall(libc::SYS_tkill, tid, libc::SIGKILL) };
}

/// The stage of a tracee that has reported [`TraceeReport::AtSyscall`].
pub(super) fn stage(tid: pid_t) -> io::Result<SyscallStage> {
    /// The kernel's `struct ptrace_syscall_info`, with its union as words: for an entry the number and six
    /// arguments.
    #[repr(C)]
    #[derive(Default)]
    struct SyscallInfo {
        op: u8,
        flags: [u8; 3],
        arch: u32,
        instruction: u64,
        stack: u64,
        words: [u64; 8],
    }
    let mut info = SyscallInfo::default();
    // SAFETY: the kernel writes at most the given size to `info`, which outlives the call and is plain data.
    unsafe { request(GET_SYSCALL_INFO, tid, size_of::<SyscallInfo>(), (&raw mut info).cast()) }?;
    let [number, args @ .., _] = info.words;
    match info.op {
        1 | 2 if info.arch != NATIVE => {
            Err(io::Error::other("a program for another architecture runs in it"))
        }
        1 => Ok(SyscallStage::Entry { number: number as c_long, args }),
        2 => Ok(SyscallStage::Exit),
        _ => Ok(SyscallStage::Neither),
    }
}

/// Cancels the system call that a tracee is about to enter. Its exit is reported all the same.
pub(super) fn skip_call(tid: pid_t) -> io::Result<()> {
    #[cfg(target_arch = "x86_64")]
    {
        let mut registers = registers(tid)?;
        registers.orig_rax = u64::MAX;
        set_regset(tid, libc::NT_PRSTATUS, &mut registers)
    }
    #[cfg(target_arch = "aarch64")]
    {
        /// `NT_ARM_SYSTEM_CALL`: the call's number has a register set of its own here.
        const SYSTEM_CALL: c_int = 0x404;
        let mut none: c_int = -1;
        set_regset(tid, SYSTEM_CALL, &mut none)
    }
}

/// Makes the system call at whose exit a tracee is stopped return the error `number`.
pub(super) fn answer(tid: pid_t, number: c_int) -> io::Result<()> {
    let result = i64::from(-number).cast_unsigned();
    let mut registers = registers(tid)?;
    #[cfg(target_arch = "x86_64")]
    {
        registers.rax = result;
    }
    #[cfg(target_arch = "aarch64")]
    {
        registers.regs[0] = result;
    }
    set_regset(tid, libc::NT_PRSTATUS, &mut registers)
}

fn event_message(tid: pid_t) -> io::Result<pid_t> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the kernel writes one unsigned long to `message`, which outlives the call.
    unsafe { request(libc::PTRACE_GETEVENTMSG, tid, 0, (&raw mut message).cast()) }?;
    Ok(message as pid_t)
}

fn registers(tid: pid_t) -> io::Result<libc::user_regs_struct> {
    // SAFETY: user_regs_struct is plain integers, for which all zeroes is a valid value.
    let mut registers: libc::user_regs_struct = unsafe { mem::zeroed() };
    let mut place = place_of(&mut registers);
    // SAFETY: the kernel writes at most the place's length to `registers`; both outlive the call.
    unsafe { request(libc::PTRACE_GETREGSET, tid, libc::NT_PRSTATUS as usize, (&raw mut place).cast()) }?;
    Ok(registers)
}

fn set_regset<T>(tid: pid_t, set: c_int, value: &mut T) -> io::Result<()> {
    let mut place = place_of(value);
    // SAFETY: the kernel reads at most the place's length from `value`; both outlive the call.
    unsafe { request(libc::PTRACE_SETREGSET, tid, set as usize, (&raw mut place).cast()) }
}

fn place_of<T>(value: &mut T) -> libc::iovec {
    libc::iovec { iov_base: ptr::from_mut(value).cast(), iov_len: size_of::<T>() }
}

/// # Safety
/// `address` and `data` must be what the request asks for; what `data` points to must outlive the call.
unsafe fn request(request: Request, tid: pid_t, address: usize, data: *mut c_void) -> io::Result<()> {
    // SAFETY: the caller guarantees the two words; the kernel checks everything else.
    match unsafe { libc::ptrace(request, tid, address, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

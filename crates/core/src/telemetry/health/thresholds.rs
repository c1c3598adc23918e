//! The thresholds of all health checks (O11-08). `docs/health.md` lists them; a test compares the two.

/// Work that waits for longer than this, while no stage succeeds, is a stall (O11-06). `--stall-minutes`
/// changes it.
pub const STALL_MINUTES: u32 = 30;
/// The window of the rates. `--hours` changes it.
pub const WINDOW_HOURS: u32 = 24;
/// The share of stage ends that may be failures.
pub const MAX_ERROR_RATE: f64 = 0.2;
/// A rate over fewer stage ends than this says nothing.
pub const MIN_ENDS: u64 = 5;
/// The share of hook calls that may fail.
pub const MAX_HOOK_ERROR_RATE: f64 = 0.05;
/// A rate over fewer hook calls than this says nothing.
pub const MIN_HOOK_CALLS: u64 = 10;
/// The most runs that wait for a retry.
pub const MAX_FAILED_RUNS: u64 = 3;
/// The most runs and reports of hooks that wait.
pub const MAX_BACKLOG: u64 = 200;
/// The share of memories that may be stale.
pub const MAX_STALE_RATIO: f64 = 0.3;
/// The share of memories that may wait in the inbox.
pub const MAX_UNREVIEWED_RATIO: f64 = 0.6;
/// A share of fewer memories than this says nothing.
pub const MIN_MEMORIES: u64 = 20;
/// The most memories in the inbox (O11-14).
pub const MAX_INBOX: u64 = 50;
/// The most ideas that are neither promoted nor put away (O11-14).
pub const MAX_IDEAS: u64 = 20;
/// The age in days of the oldest proposal (B-07).
pub const MAX_PROPOSAL_DAYS: i64 = 5;
/// The days without a reflection while there is something to reflect on (O11-14).
pub const MAX_REFLECTION_DAYS: i64 = 7;
/// The time in hours that the index may lack the newest notes.
pub const MAX_INDEX_HOURS: i64 = 1;
/// The hours for which an agent may be used after the last call of its hooks.
pub const MAX_SILENT_HOURS: i64 = 24;
/// The days after which the last gate is too old. It runs by itself once a week.
pub const MAX_GATE_DAYS: i64 = 10;
/// The share of finished sessions from which something must be learnt.
pub const MIN_LEARNT_SHARE: f64 = 0.1;
/// A share of fewer finished sessions than this says nothing.
pub const MIN_SESSIONS: u64 = 5;
/// The share of recalls that may find nothing.
pub const MAX_ZERO_HIT_RATE: f64 = 0.98;
/// A rate over fewer recalls than this says nothing.
pub const MIN_RECALLS: u64 = 50;
/// The window of the zero-hit rate in hours: a day has too few prompts.
pub const RECALL_WINDOW_HOURS: u32 = 7 * 24;
/// The most bytes of all models on the disk.
pub const MAX_MODEL_DISK_BYTES: u64 = 4 * GIB;
/// The most bytes of the model in use, which every recall maps into memory.
pub const MAX_MODEL_MEMORY_BYTES: u64 = 2 * GIB;
/// The share of a daily limit that may be spent.
pub const MAX_SPENT_SHARE: f64 = 0.9;
/// An event that is this far in the future comes from a clock that was wrong.
pub const MAX_CLOCK_DRIFT_MINUTES: i64 = 5;

const GIB: u64 = 1024 * 1024 * 1024;

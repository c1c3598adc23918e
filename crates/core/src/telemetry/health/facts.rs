//! What health checks are decided on. Every field is measured; nothing is judged here.

use crate::base::time::Timestamp;
use crate::config::LogLevel;
use crate::telemetry::gate::GateRecord;

/// All facts at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct HealthFacts {
    /// The moment.
    pub now: Timestamp,
    /// The window of the rates, in hours.
    pub window_hours: u32,
    /// The time in minutes after which waiting work is a stall.
    pub stall_minutes: u32,
    /// The least severe events that are stored.
    pub log_level: LogLevel,
    /// The events of the window.
    pub telemetry: TelemetryFacts,
    /// The background work.
    pub work: WorkFacts,
    /// The sessions of the last weeks.
    pub sessions: SessionFacts,
    /// The memories, ideas and proposals.
    pub memories: MemoryFacts,
    /// The search index.
    pub index: IndexFacts,
    /// The agents on this machine.
    pub agents: Vec<AgentFacts>,
    /// The last gate, if there was one.
    pub last_gate: Option<GateRecord>,
    /// The models and what they cost.
    pub resources: ResourceFacts,
}

/// The events of the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TelemetryFacts {
    /// The number of events.
    pub events: u64,
    /// The number of stage ends, without hooks and recall.
    pub ends: u64,
    /// The number of failures among them.
    pub failures: u64,
    /// The last end of a stage that did not fail, of any age.
    pub last_success: Option<Timestamp>,
    /// The number of hook calls.
    pub hook_calls: u64,
    /// The number of failed hook calls.
    pub hook_failures: u64,
    /// The number of recalls in the last [`RECALL_WINDOW_HOURS`](super::thresholds::RECALL_WINDOW_HOURS).
    pub recalls: u64,
    /// The number of recalls among them that found nothing.
    pub recalls_without_hits: u64,
    /// The number of events stamped in the future.
    pub future_events: u64,
    /// The number of unreadable rows and lines.
    pub damaged: u64,
    /// The reason why the table cannot be read.
    pub table_error: Option<String>,
    /// The export to a collector; `None` while it is off.
    pub export: Option<ExportFacts>,
}

/// The export of events to a collector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportFacts {
    /// The number of events that the collector has not taken.
    pub waiting: u64,
    /// Why the last try failed; `None` if it did not.
    pub error: Option<String>,
}

/// The background work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkFacts {
    /// The reason why the database cannot be read.
    pub database_error: Option<String>,
    /// The number of due runs and of files in the spool.
    pub waiting: u64,
    /// The time since which the oldest of them waits.
    pub waiting_since: Option<Timestamp>,
    /// The number of runs that wait for a retry.
    pub failed_runs: u64,
    /// The number of runs that failed for good.
    pub dead_runs: u64,
    /// The number of files in the spool that could not be read.
    pub unreadable_files: u64,
}

/// The sessions of the last weeks, by what became of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionFacts {
    /// The number of days that are counted.
    pub days: i64,
    /// The number of sessions from which something was learnt.
    pub learnt: u64,
    /// The reasons for which sessions were skipped, with their counts, the most frequent first.
    pub skipped: Vec<(String, u64)>,
}

/// The memories, ideas and proposals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryFacts {
    /// The number of active memories, including those in the inbox.
    pub memories: u64,
    /// The number of memories in the inbox.
    pub inbox: u64,
    /// The number of stale memories; `None` if usage has not been counted for long enough to tell.
    pub stale: Option<u64>,
    /// The number of open ideas.
    pub ideas: u64,
    /// The number of undecided proposals.
    pub proposals: u64,
    /// The time of the oldest undecided proposal.
    pub oldest_proposal: Option<Timestamp>,
    /// The time of the oldest observation that no reflection has seen.
    pub unreflected_since: Option<Timestamp>,
}

/// The condition of the search index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexFacts {
    /// The reason why it cannot be used; `None` for a usable index.
    pub broken: Option<String>,
    /// The number of documents.
    pub documents: u64,
    /// The time of the oldest note that it lacks; `None` if it lacks none.
    pub behind_since: Option<Timestamp>,
}

/// An agent on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentFacts {
    /// The name of the agent for a person.
    pub name: String,
    /// The word for the agent in commands.
    pub word: String,
    /// The reason why the agent skips our hooks, if it is known.
    pub obstacle: Option<String>,
    /// The last call of one of its hooks.
    pub last_call: Option<Timestamp>,
    /// The last time that a session of it was written to.
    pub last_used: Option<Timestamp>,
    /// The time since which its hooks are installed.
    pub connected_since: Option<Timestamp>,
}

/// The models and what they cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceFacts {
    /// The bytes of all models on the disk.
    pub model_disk: u64,
    /// The bytes of the model in use.
    pub model_memory: u64,
    /// The daily limits that are set: the setting, the share that is used, and both in words.
    pub limits: Vec<SpentLimit>,
}

/// A daily limit and how much of it is used.
#[derive(Clone, Debug, PartialEq)]
pub struct SpentLimit {
    /// The setting, such as `llm.daily_dollars`.
    pub setting: String,
    /// The amount that is used.
    pub used: f64,
    /// The limit.
    pub limit: f64,
}

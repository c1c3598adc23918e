//! Every event there is.

/// A session reached a point at which it should be looked at: it ended, went silent, or is about to be compacted.
pub const CAPTURE_REQUESTED: &str = "memory/capture.requested";
/// A window of a session that the host is about to summarise was captured (CAP-05).
pub const COMPACTION_PENDING: &str = "memory/session.compaction.pending";
/// The rest of a session was captured (CAP-06).
pub const SESSION_ENDED: &str = "memory/session.ended";
/// A day has enough observations to be reflected on (CAP-07).
pub const OBSERVATIONS_ACCUMULATED: &str = "memory/observations.accumulated";
/// They were reflected on (CAP-08).
pub const OBSERVATIONS_REFLECTED: &str = "memory/observations.reflected";
/// There are new proposals in the store.
pub const PROPOSALS_STAGED: &str = "memory/proposals.staged";
/// The person said yes to a proposal.
pub const PROPOSAL_APPROVED: &str = "memory/proposal.approved";
/// The person said no.
pub const PROPOSAL_REJECTED: &str = "memory/proposal.rejected";
/// New proposals were looked at by the rules or a model (REV-09).
pub const PROPOSAL_TRIAGED: &str = "memory/proposal.triaged";
/// Somebody wants to know what keeps going wrong.
pub const FRICTION_REQUESTED: &str = "memory/friction.requested";
/// A fix for it was made.
pub const FRICTION_FIX_COMPLETED: &str = "memory/friction.fix.completed";
/// An answer is to be compared with what was recalled for it.
pub const ECHO_REQUESTED: &str = "memory/echo-fizzle.requested";
/// Somebody noted a single thing (CAP-20).
pub const NOTED: &str = "session/observation.noted";
/// A voice call is over and written down (CAP-20).
pub const VOICE_CALL_COMPLETED: &str = "voice/call.completed";
/// A task was ticked off.
pub const TASK_COMPLETED: &str = "todoist/task.completed";
/// A task was deleted.
pub const TASK_DELETED: &str = "todoist/task.deleted";
/// A task was changed; its labels may say something now.
pub const TASK_UPDATED: &str = "todoist/task.updated";
/// A button below a message was pressed (REV-08).
pub const BUTTON_PRESSED: &str = "telegram/button.pressed";
/// It is time to look at the places in which a person is asked, and to tell them what is new.
pub const SYNC_REQUESTED: &str = "memory/review.sync.requested";
/// What the weekly maintenance did.
pub const WEEKLY_SUMMARY: &str = "system/memory-weekly-maintenance-summary";

/// The time of a scheduled function has come; its data names the function.
pub const SCHEDULE_REACHED: &str = "system/schedule.reached";

/// All of them.
pub const ALL: [&str; 21] = [
    CAPTURE_REQUESTED,
    COMPACTION_PENDING,
    SESSION_ENDED,
    OBSERVATIONS_ACCUMULATED,
    OBSERVATIONS_REFLECTED,
    PROPOSALS_STAGED,
    PROPOSAL_APPROVED,
    PROPOSAL_REJECTED,
    PROPOSAL_TRIAGED,
    FRICTION_REQUESTED,
    FRICTION_FIX_COMPLETED,
    ECHO_REQUESTED,
    NOTED,
    VOICE_CALL_COMPLETED,
    TASK_COMPLETED,
    TASK_DELETED,
    TASK_UPDATED,
    BUTTON_PRESSED,
    SYNC_REQUESTED,
    WEEKLY_SUMMARY,
    SCHEDULE_REACHED,
];

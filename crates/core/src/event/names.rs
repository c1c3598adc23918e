//! The names of all events.

/// A session should be captured: it ended, went silent, or is about to be compacted.
pub const CAPTURE_REQUESTED: &str = "memory/capture.requested";
/// A window was captured before the host compacts it (CAP-05).
pub const COMPACTION_PENDING: &str = "memory/session.compaction.pending";
/// The rest of a session was captured (CAP-06).
pub const SESSION_ENDED: &str = "memory/session.ended";
/// A day has enough observations to be reflected on (CAP-07).
pub const OBSERVATIONS_ACCUMULATED: &str = "memory/observations.accumulated";
/// A day's observations were reflected on (CAP-08).
pub const OBSERVATIONS_REFLECTED: &str = "memory/observations.reflected";
/// New proposals are in the store.
pub const PROPOSALS_STAGED: &str = "memory/proposals.staged";
/// The person approved a proposal.
pub const PROPOSAL_APPROVED: &str = "memory/proposal.approved";
/// The person rejected a proposal.
pub const PROPOSAL_REJECTED: &str = "memory/proposal.rejected";
/// Rules or a model triaged new proposals (REV-09).
pub const PROPOSAL_TRIAGED: &str = "memory/proposal.triaged";
/// A friction analysis was requested.
pub const FRICTION_REQUESTED: &str = "memory/friction.requested";
/// A fix for a friction was made.
pub const FRICTION_FIX_COMPLETED: &str = "memory/friction.fix.completed";
/// A turn is to be compared with what was injected for it.
pub const ECHO_REQUESTED: &str = "memory/echo-fizzle.requested";
/// A single observation was noted (CAP-20).
pub const OBSERVATION_NOTED: &str = "session/observation.noted";
/// A voice call ended and was transcribed (CAP-20).
pub const VOICE_CALL_COMPLETED: &str = "voice/call.completed";
/// A task was completed.
pub const TASK_COMPLETED: &str = "todoist/task.completed";
/// A task was deleted.
pub const TASK_DELETED: &str = "todoist/task.deleted";
/// A task was changed, possibly its labels.
pub const TASK_UPDATED: &str = "todoist/task.updated";
/// A button below a message was pressed (REV-08).
pub const BUTTON_PRESSED: &str = "telegram/button.pressed";
/// The review channels are to be synchronised: read decisions, publish new proposals.
pub const SYNC_REQUESTED: &str = "memory/review.sync.requested";
/// The shared server is to be asked what other machines have (B-16).
pub const SHARE_REQUESTED: &str = "memory/share.requested";
/// The weekly maintenance ran; its data has the counts.
pub const WEEKLY_SUMMARY: &str = "system/memory-weekly-maintenance-summary";

/// A scheduled function is due; its data names the function.
pub const SCHEDULE_REACHED: &str = "system/schedule.reached";

/// All event names, in a fixed order.
pub const ALL: [&str; 22] = [
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
    OBSERVATION_NOTED,
    VOICE_CALL_COMPLETED,
    TASK_COMPLETED,
    TASK_DELETED,
    TASK_UPDATED,
    BUTTON_PRESSED,
    SYNC_REQUESTED,
    SHARE_REQUESTED,
    WEEKLY_SUMMARY,
    SCHEDULE_REACHED,
];

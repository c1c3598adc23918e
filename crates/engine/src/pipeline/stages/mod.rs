//! Stages: the functions of the pipeline, written against [`StepRunner`](crate::jobs::queue::StepRunner).

pub mod capture;
mod contradictions;
pub mod echo_fizzle;
pub mod friction;
pub mod hook_signals;
mod idea_links;
pub mod idle_sessions;
pub mod index;
mod notify;
mod observation_window;
pub mod observe;
pub mod observe_session_noted;
pub mod promote;
pub mod proposal_triage;
pub mod reflect;
pub mod reflected;
mod related_memories;
pub mod research;
pub mod route_candidates;
pub mod share;
pub mod surfaces;
pub mod throttle;
pub mod tidy;
pub mod voice_call_completed;
pub mod weekly_maintenance;
mod write_gate;

use jiff::civil::Weekday;
use rekindle_core::event::{Event, names};
use rekindle_core::run::schedule::RunSchedule;

use crate::jobs::queue::{FunctionRegistry, QueueFunction};

/// All functions. A function outside of this list never runs, and `doctor` checks that each in it can.
pub static STAGE_REGISTRY: FunctionRegistry = FunctionRegistry {
    functions: &[
        QueueFunction {
            name: "capture",
            triggers: &[names::CAPTURE_REQUESTED],
            schedule: None,
            emits: &[names::COMPACTION_PENDING, names::SESSION_ENDED, names::OBSERVATION_NOTED],
            key: session_key,
            body: capture::capture,
        },
        QueueFunction {
            name: "observe",
            triggers: &[names::COMPACTION_PENDING, names::SESSION_ENDED],
            schedule: None,
            emits: &[names::OBSERVATIONS_ACCUMULATED],
            key: session_key,
            body: observe::observe,
        },
        QueueFunction {
            name: "echo-fizzle",
            triggers: &[names::ECHO_REQUESTED],
            schedule: None,
            emits: &[],
            key: session_key,
            body: echo_fizzle::echo_fizzle,
        },
        QueueFunction {
            name: "observe-session-noted",
            triggers: &[names::OBSERVATION_NOTED],
            schedule: None,
            emits: &[],
            key: session_key,
            body: observe_session_noted::observe_session_noted,
        },
        QueueFunction {
            name: "voice-call-completed",
            triggers: &[names::VOICE_CALL_COMPLETED],
            schedule: None,
            emits: &[names::SESSION_ENDED],
            key: |event| event.data.get("callId")?.as_str().map(str::to_owned),
            body: voice_call_completed::voice_call_completed,
        },
        QueueFunction {
            name: "reflect",
            triggers: &[names::OBSERVATIONS_ACCUMULATED],
            schedule: Some(RunSchedule::Daily { hour: 6, minute: 0 }),
            emits: &[names::OBSERVATIONS_REFLECTED],
            // One at a time for all dates, because every date reads the same list (EXE-03).
            key: |_| Some("reflect".to_owned()),
            body: reflect::reflect,
        },
        QueueFunction {
            name: "reflected",
            triggers: &[names::OBSERVATIONS_REFLECTED],
            schedule: None,
            emits: &[],
            key: |_| Some("reflected".to_owned()),
            body: reflected::reflected,
        },
        QueueFunction {
            name: friction::FRICTION,
            triggers: &[names::FRICTION_REQUESTED],
            // After reflection, which may have found the same.
            schedule: Some(RunSchedule::Daily { hour: 7, minute: 0 }),
            emits: &[],
            // One at a time, whatever the cause (EXE-03).
            key: |_| Some(friction::FRICTION.to_owned()),
            body: friction::friction,
        },
        QueueFunction {
            name: proposal_triage::PROPOSAL_TRIAGE,
            triggers: &[names::PROPOSALS_STAGED],
            schedule: None,
            emits: &[names::PROPOSAL_TRIAGED],
            key: |_| Some("triage".to_owned()),
            body: proposal_triage::proposal_triage,
        },
        QueueFunction {
            name: "batch-review",
            triggers: &[names::PROPOSAL_TRIAGED],
            schedule: None,
            emits: &[],
            key: |_| Some("batch-review".to_owned()),
            body: proposal_triage::batch_review,
        },
        QueueFunction {
            name: "promote",
            triggers: &[names::PROPOSAL_APPROVED, names::PROPOSAL_REJECTED, names::FRICTION_FIX_COMPLETED],
            schedule: Some(RunSchedule::Daily { hour: 3, minute: 0 }),
            emits: &[],
            key: promote::key,
            body: promote::promote,
        },
        QueueFunction {
            name: surfaces::SURFACES,
            triggers: &[
                names::SYNC_REQUESTED,
                names::TASK_COMPLETED,
                names::TASK_DELETED,
                names::TASK_UPDATED,
                names::BUTTON_PRESSED,
            ],
            schedule: None,
            emits: &[
                names::TASK_COMPLETED,
                names::TASK_DELETED,
                names::TASK_UPDATED,
                names::BUTTON_PRESSED,
                names::PROPOSAL_APPROVED,
                names::PROPOSAL_REJECTED,
            ],
            key: surfaces::key,
            body: surfaces::surfaces,
        },
        QueueFunction {
            name: share::SHARE,
            triggers: &[names::SHARE_REQUESTED],
            schedule: None,
            // The decisions that waited for the server.
            emits: &[names::PROPOSAL_APPROVED, names::PROPOSAL_REJECTED],
            key: |_| Some(share::SHARE.to_owned()),
            body: share::share,
        },
        QueueFunction {
            name: "tidy",
            triggers: &[],
            schedule: Some(RunSchedule::Daily { hour: 2, minute: 0 }),
            emits: &[],
            key: |_| Some("tidy".to_owned()),
            body: tidy::tidy,
        },
        QueueFunction {
            name: weekly_maintenance::WEEKLY_MAINTENANCE,
            triggers: &[],
            // After the nightly work of the same day.
            schedule: Some(RunSchedule::Weekly { weekday: Weekday::Sunday, hour: 4 }),
            emits: &[names::WEEKLY_SUMMARY],
            key: |_| Some(weekly_maintenance::WEEKLY_MAINTENANCE.to_owned()),
            body: weekly_maintenance::weekly_maintenance,
        },
        QueueFunction {
            name: weekly_maintenance::WEEKLY_SUMMARY,
            triggers: &[names::WEEKLY_SUMMARY],
            schedule: None,
            emits: &[],
            key: |_| Some("weekly-summary".to_owned()),
            body: weekly_maintenance::weekly_summary,
        },
    ],
    sources: &[
        names::CAPTURE_REQUESTED,
        names::ECHO_REQUESTED,
        names::COMPACTION_PENDING,
        names::SESSION_ENDED,
        names::OBSERVATION_NOTED,
        names::VOICE_CALL_COMPLETED,
        names::FRICTION_REQUESTED,
        names::FRICTION_FIX_COMPLETED,
        names::PROPOSALS_STAGED,
        names::PROPOSAL_APPROVED,
        names::PROPOSAL_REJECTED,
        names::SYNC_REQUESTED,
        names::SHARE_REQUESTED,
        names::TASK_COMPLETED,
        names::TASK_DELETED,
        names::TASK_UPDATED,
        names::BUTTON_PRESSED,
    ],
};

/// One session at a time (EXE-03).
fn session_key(event: &Event) -> Option<String> {
    event.session().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exe_11_exe_12_exe_17_every_function_can_run_and_every_event_is_heard() {
        assert_eq!(STAGE_REGISTRY.check(), []);
    }
}

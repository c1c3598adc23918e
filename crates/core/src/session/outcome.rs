//! The outcome of a session: learnt from, or skipped with a reason.

use crate::run::RunStatus;

/// The reason for an empty window, from `capture`. If it is the only reason, nobody said anything at all.
pub const NOTHING_NEW_REASON: &str = "nothing was said since this session was last captured";
/// The reason for a window that another run has handled, from `observe`.
pub const DUPLICATE_REASON: &str = "duplicate";
const EMPTY_SESSION_REASON: &str = "nothing was said in it";
const NO_FINDINGS_REASON: &str = "nothing in it was worth keeping";

/// A run that processed a session.
#[derive(Clone, Debug)]
pub struct SessionRun {
    /// The run's final state.
    pub status: RunStatus,
    /// The reason why it was skipped.
    pub reason: Option<String>,
    /// The number of findings or stored items.
    pub findings: u64,
}

/// The outcome of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionOutcome {
    /// Something was learnt from it.
    Learnt,
    /// Nothing was learnt, for this reason.
    Skipped(String),
    /// It is still open, or has not been processed yet.
    Waiting,
    /// Processing failed too often.
    GivenUp,
}

/// The outcome of a session, from its runs in order. `open` means that the session goes on.
pub fn session_outcome(attempts: &[SessionRun], open: bool) -> SessionOutcome {
    if attempts.iter().any(|attempt| attempt.findings > 0) {
        return SessionOutcome::Learnt;
    }
    if open || attempts.is_empty() || attempts.iter().any(|attempt| !attempt.status.is_over()) {
        return SessionOutcome::Waiting;
    }
    if attempts.iter().any(|attempt| attempt.status == RunStatus::Dead) {
        return SessionOutcome::GivenUp;
    }
    let reasons = attempts.iter().rev().filter_map(|attempt| attempt.reason.as_deref());
    let telling = reasons.into_iter().find(|reason| ![NOTHING_NEW_REASON, DUPLICATE_REASON].contains(reason));
    SessionOutcome::Skipped(match telling {
        Some(reason) => in_general(reason),
        None if attempts.iter().any(|attempt| attempt.status == RunStatus::Completed) => {
            NO_FINDINGS_REASON.to_owned()
        }
        None => EMPTY_SESSION_REASON.to_owned(),
    })
}

/// Generalises a reason by dropping the session's own numbers, so that sessions can be counted by reason.
fn in_general(reason: &str) -> String {
    let few_messages = reason.split_once(" messages by the person; ").map(|(_, needed)| needed);
    if let Some(needed) = few_messages {
        return format!("too few messages of yours: {needed}");
    }
    if reason.starts_with("only ") && reason.contains(" words were said") {
        return "hardly a word was said and no file was changed".to_owned();
    }
    if reason.starts_with("one request of ") {
        return "one short request, answered without a change or a failure".to_owned();
    }
    reason.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::noise_gate::NoiseReason;

    fn attempt(status: RunStatus, reason: Option<&str>, found: u64) -> SessionRun {
        SessionRun { status, reason: reason.map(str::to_owned), findings: found }
    }

    fn skipped(reason: &str) -> SessionRun {
        attempt(RunStatus::Skipped, Some(reason), 0)
    }

    fn why(attempts: &[SessionRun]) -> String {
        match session_outcome(attempts, false) {
            SessionOutcome::Skipped(why) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn r_13_a_session_was_learnt_from_if_anything_came_of_it() {
        let captured = attempt(RunStatus::Completed, None, 0);
        let all = [captured.clone(), attempt(RunStatus::Completed, None, 3), skipped(NOTHING_NEW_REASON)];
        assert_eq!(session_outcome(&all, true), SessionOutcome::Learnt);
        assert_eq!(session_outcome(&[], false), SessionOutcome::Waiting);
        assert_eq!(session_outcome(&[skipped(NOTHING_NEW_REASON)], true), SessionOutcome::Waiting);
        assert_eq!(
            session_outcome(&[captured.clone(), attempt(RunStatus::Failed, None, 0)], false),
            SessionOutcome::Waiting
        );
        assert_eq!(
            session_outcome(&[captured, attempt(RunStatus::Dead, None, 0)], false),
            SessionOutcome::GivenUp
        );
    }

    #[test]
    fn r_13_sessions_with_the_same_reason_count_together() {
        let noise =
            |noise: NoiseReason| why(&[attempt(RunStatus::Completed, None, 0), skipped(&noise.to_string())]);
        assert_eq!(noise(NoiseReason::SmallTalk { words: 2 }), noise(NoiseReason::SmallTalk { words: 7 }));
        assert_eq!(noise(NoiseReason::Lookup { words: 9 }), noise(NoiseReason::Lookup { words: 20 }));
        assert!(!noise(NoiseReason::Lookup { words: 9 }).contains('9'));
        let few = "4 messages by the person; 5 are needed (capture.min_user_messages)";
        assert_eq!(
            why(&[skipped(few)]),
            "too few messages of yours: 5 are needed (capture.min_user_messages)"
        );
        assert_eq!(why(&[skipped("the agent left no transcript")]), "the agent left no transcript");
        // A later, less specific reason does not hide the first.
        assert_eq!(why(&[skipped(few), skipped(NOTHING_NEW_REASON)]), why(&[skipped(few)]));
        assert_eq!(why(&[skipped(NOTHING_NEW_REASON)]), EMPTY_SESSION_REASON);
        assert_eq!(why(&[attempt(RunStatus::Completed, None, 0)]), NO_FINDINGS_REASON);
    }
}

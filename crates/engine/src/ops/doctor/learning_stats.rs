//! Check that sessions lead to observations or memories.

use rekindle_core::base::time::Timestamp;
use rekindle_core::text::plural::count_phrase;

use super::{CheckReport, DoctorFinding};
use crate::ops::learning::{self, LEARNING_DAYS, LearningStats};
use crate::platform::db::{self, Database};
use crate::platform::home::DataPaths;

/// The setting that skips short sessions, as its reason names it.
const MIN_MESSAGES_SETTING: &str = "capture.min_user_messages";

/// Reports the outcomes of the sessions of the last weeks.
pub fn check_learning(places: &DataPaths, now: Timestamp) -> CheckReport {
    let findings = match learning_stats(places, now) {
        Ok(Some(learning)) => vec![finding(&learning)],
        Ok(None) => vec![DoctorFinding::ok("no sessions yet")],
        Err(error) => vec![DoctorFinding::error(error.to_string(), Some(error.hint()))],
    };
    CheckReport { check: "learning", findings }
}

fn learning_stats(places: &DataPaths, now: Timestamp) -> Result<Option<LearningStats>, db::Error> {
    let db = Database::open_existing(&places.database())?;
    db.map(|db| learning::session_stats(&db, now)).transpose()
}

fn finding(learning: &LearningStats) -> DoctorFinding {
    let LearningStats { seen_sessions: seen, learnt, .. } = learning;
    let skipped = learning.skipped_sessions();
    if !learning.is_without_findings() {
        return match seen {
            0 => DoctorFinding::ok(format!("no sessions in {LEARNING_DAYS} days")),
            _ => DoctorFinding::ok(format!(
                "learnt from {learnt} of {seen} sessions in {LEARNING_DAYS} days, skipped {skipped}"
            )),
        };
    }
    let reasons: Vec<String> =
        learning.skipped.iter().map(|(reason, count)| format!("{count}: {reason}")).collect();
    let what = format!(
        "nothing was learnt in {LEARNING_DAYS} days: {} seen, {skipped} skipped ({})",
        count_phrase(*seen, "session"),
        reasons.join("; ")
    );
    let by_minimum = learning.skipped.iter().any(|(reason, _)| reason.contains(MIN_MESSAGES_SETTING));
    let hint = match by_minimum {
        true => format!("to include short sessions, run `rekindle config set {MIN_MESSAGES_SETTING} 1`"),
        false => "see each with `rekindle runs --status SKIPPED`; sessions with a change, a rule or a decision are not skipped"
            .to_owned(),
    };
    DoctorFinding::warning(what, hint)
}

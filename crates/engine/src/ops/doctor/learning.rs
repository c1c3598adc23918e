//! Check that sessions lead to observations or memories.

use rekindle_core::base::time::Timestamp;

use super::{Checked, Finding};
use crate::ops::learning::{self, DAYS, Learning};
use crate::platform::db::{self, Db};
use crate::platform::home::Places;

/// The setting that skips short sessions, as its reason names it.
const MINIMUM: &str = "capture.min_user_messages";

/// Reports the outcomes of the sessions of the last weeks.
pub fn examine_learning(places: &Places, now: Timestamp) -> Checked {
    let findings = match look(places, now) {
        Ok(Some(learning)) => vec![finding(&learning)],
        Ok(None) => vec![Finding::ok("no session was seen yet")],
        Err(error) => vec![Finding::error(error.to_string(), Some(error.hint()))],
    };
    Checked { check: "learning", findings }
}

fn look(places: &Places, now: Timestamp) -> Result<Option<Learning>, db::Error> {
    let db = Db::open_existing(&places.database())?;
    db.map(|db| learning::look(&db, now)).transpose()
}

fn finding(learning: &Learning) -> Finding {
    let Learning { seen, learnt, .. } = learning;
    let skipped = learning.skipped();
    if !learning.is_fruitless() {
        return match seen {
            0 => Finding::ok(format!("no session was seen in {DAYS} days")),
            _ => Finding::ok(format!(
                "{learnt} of {seen} sessions in {DAYS} days were learnt from, {skipped} skipped"
            )),
        };
    }
    let reasons: Vec<String> =
        learning.skipped.iter().map(|(reason, count)| format!("{count}: {reason}")).collect();
    let what = format!(
        "nothing was learnt from the {seen} session(s) of {DAYS} days; {skipped} skipped ({})",
        reasons.join("; ")
    );
    let by_minimum = learning.skipped.iter().any(|(reason, _)| reason.contains(MINIMUM));
    let hint = match by_minimum {
        true => format!("`rekindle config set {MINIMUM} 1` lets short sessions count"),
        false => "`rekindle runs --status SKIPPED` shows each; sessions with a change, a rule or a decision are kept"
            .to_owned(),
    };
    Finding::warning(what, hint)
}

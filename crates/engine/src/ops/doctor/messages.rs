//! Check of the message archive and its index. A broken index is rebuilt from the archive.

use super::{Finding, Patient};
use crate::recall::messages::Messages;
use crate::vault;

const ANEW: &str = "`rekindle reindex --all` makes it again from what is kept; nothing is lost";

/// Checks the archive and its index; both exist only if sessions were captured or backfilled.
pub(super) fn messages(patient: &Patient<'_>) -> Result<Vec<Finding>, vault::Error> {
    let messages = Messages::of(patient.places);
    let behind = messages.behind();
    Ok(match messages.open() {
        Err(error) => vec![Finding::error(error.to_string(), Some(ANEW.into()))],
        Ok(Some(snapshot)) if snapshot.verify().is_err() => {
            vec![Finding::error("the index of what was said is damaged", Some(ANEW.into()))]
        }
        _ if behind.is_err() => {
            vec![Finding::error("the index of what was said is damaged", Some(ANEW.into()))]
        }
        Ok(snapshot) => {
            let mut findings = Vec::new();
            if let Some(snapshot) = snapshot {
                findings.push(Finding::ok(format!("{} messages can be found", snapshot.len())));
            }
            if let Ok(sessions @ 1..) = behind {
                findings.push(Finding::warning(
                    format!("what was said last in {sessions} session(s) cannot be found yet"),
                    "`rekindle reindex` lets it be found",
                ));
            }
            findings
        }
    })
}

//! Check of the message archive and its index. A broken index is rebuilt from the archive.

use super::{CheckContext, DoctorFinding};
use crate::recall::messages::MessageStore;
use crate::vault;

const REINDEX_HINT: &str = "`rekindle reindex --all` makes it again from what is kept; nothing is lost";

/// Checks the archive and its index; both exist only if sessions were captured or backfilled.
pub(super) fn messages(patient: &CheckContext<'_>) -> Result<Vec<DoctorFinding>, vault::Error> {
    let messages = MessageStore::from_paths(patient.places);
    let behind = messages.unindexed_sessions();
    Ok(match messages.open() {
        Err(error) => vec![DoctorFinding::error(error.to_string(), Some(REINDEX_HINT.into()))],
        Ok(Some(snapshot)) if snapshot.verify().is_err() => {
            vec![DoctorFinding::error("the index of what was said is damaged", Some(REINDEX_HINT.into()))]
        }
        _ if behind.is_err() => {
            vec![DoctorFinding::error("the index of what was said is damaged", Some(REINDEX_HINT.into()))]
        }
        Ok(snapshot) => {
            let mut findings = Vec::new();
            if let Some(snapshot) = snapshot {
                findings.push(DoctorFinding::ok(format!("{} messages can be found", snapshot.len())));
            }
            if let Ok(sessions @ 1..) = behind {
                findings.push(DoctorFinding::warning(
                    format!("what was said last in {sessions} session(s) cannot be found yet"),
                    "`rekindle reindex` lets it be found",
                ));
            }
            findings
        }
    })
}

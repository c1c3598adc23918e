//! Check of the message archive and its index. A broken index is rebuilt from the archive.

use super::{CheckContext, DoctorFinding};
use crate::recall::messages::MessageStore;
use crate::vault;
use rekindle_core::text::plural::count_phrase;

const REINDEX_HINT: &str = "rebuild it with `rekindle reindex --all`; nothing is lost";

/// Checks the archive and its index; both exist only if sessions were captured or backfilled.
pub(super) fn messages(patient: &CheckContext<'_>) -> Result<Vec<DoctorFinding>, vault::Error> {
    let messages = MessageStore::from_paths(patient.places);
    let behind = messages.unindexed_sessions();
    Ok(match messages.open() {
        Err(error) => vec![DoctorFinding::error(error.to_string(), Some(REINDEX_HINT.into()))],
        Ok(Some(snapshot)) if snapshot.verify().is_err() => {
            vec![DoctorFinding::error("the message index is damaged", Some(REINDEX_HINT.into()))]
        }
        _ if behind.is_err() => {
            vec![DoctorFinding::error("the message index is damaged", Some(REINDEX_HINT.into()))]
        }
        Ok(snapshot) => {
            let mut findings = Vec::new();
            if let Some(snapshot) = snapshot {
                findings.push(DoctorFinding::ok(format!("{} messages indexed", snapshot.len())));
            }
            if let Ok(sessions @ 1..) = behind {
                findings.push(DoctorFinding::warning(
                    format!(
                        "the latest messages of {} are not indexed yet",
                        count_phrase(sessions, "session")
                    ),
                    "index them with `rekindle reindex`",
                ));
            }
            findings
        }
    })
}

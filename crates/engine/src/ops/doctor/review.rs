//! Check that proposals are decided (B-07): a queue that nobody reads loses memories.

use super::{CheckContext, DoctorFinding};
use crate::platform::clock;
use crate::platform::db::{self, Database};
use crate::review::page;
use crate::review::patches;
use crate::review::proposals;
use crate::vault::Error;
use rekindle_core::text::plural::count_phrase;

/// A queue is stale if its oldest proposal waits longer than this.
const STALE_QUEUE_DAYS: i64 = 5;
/// The number of proposals without a single decision that the finding names.
const MAX_NAMED_PROPOSALS: usize = 5;

/// Reports the number of waiting proposals, the age of the oldest, and problems with the review page.
pub(super) fn review(patient: &CheckContext<'_>) -> Result<Vec<DoctorFinding>, Error> {
    let database = patient.places.database();
    review_findings(patient).map_err(|error| Error::io("read", &database)(std::io::Error::other(error)))
}

fn review_findings(patient: &CheckContext<'_>) -> Result<Vec<DoctorFinding>, db::Error> {
    let Some(db) = Database::open_existing(&patient.places.database())? else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    if let Some(doubt) = page::page_doubt(&db)? {
        findings.push(DoctorFinding::warning(
            format!("no decisions were read from REVIEW.md: {doubt}"),
            "decide with `rekindle review`, `rekindle approve` or `rekindle reject`",
        ));
    }
    for wrong in proposals::check(&db)?.into_iter().take(MAX_NAMED_PROPOSALS) {
        findings.push(DoctorFinding::warning(
            wrong,
            "see all with `rekindle review --check`; `rekindle runs` shows what ran, `rekindle retry` retries it",
        ));
    }
    for patch in patches::pending_patches(&db, patient.vault)? {
        let (id, file) = (patch.record.proposal.id, patch.record.proposal.file().to_owned());
        findings.push(match patch.fits {
            Ok(_) => DoctorFinding::warning(
                format!("{id} is approved, but not applied to {file} yet"),
                "apply it with `rekindle review apply`",
            ),
            Err(why) => DoctorFinding::warning(
                format!("{id} is approved, but its patch no longer applies to {file}: {why}"),
                "reopen it with `rekindle undo` and its id, then edit or reject it",
            ),
        });
    }
    let (waiting, oldest) = proposals::pending_count(&db)?;
    let now = clock::now(patient.vault.zone().clone()).timestamp();
    let days = oldest.map_or(0, |oldest| now.duration_since(oldest).as_hours() / 24);
    findings.push(match days >= STALE_QUEUE_DAYS {
        true => DoctorFinding::warning(
            format!("{} to review, the oldest {days} days old", count_phrase(waiting, "proposal")),
            "review them with `rekindle review`, the most valuable first",
        ),
        false => DoctorFinding::ok(format!("{} to review", count_phrase(waiting, "proposal"))),
    });
    Ok(findings)
}

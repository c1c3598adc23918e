//! Check that proposals are decided (B-07): a queue that nobody reads loses memories.

use super::{CheckContext, DoctorFinding};
use crate::platform::clock;
use crate::platform::db::{self, Database};
use crate::review::page;
use crate::review::patches;
use crate::review::proposals;
use crate::vault::Error;

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
            format!("nothing was decided from REVIEW.md: {doubt}"),
            "`rekindle review` shows what waits, `rekindle approve` and `rekindle reject` decide",
        ));
    }
    for wrong in proposals::check(&db)?.into_iter().take(MAX_NAMED_PROPOSALS) {
        findings.push(DoctorFinding::warning(
            wrong,
            "`rekindle review --check` shows all of it, `rekindle runs` what was done, `rekindle retry` does it again",
        ));
    }
    for patch in patches::pending_patches(&db, patient.vault)? {
        let (id, file) = (patch.record.proposal.id, patch.record.proposal.file().to_owned());
        findings.push(match patch.fits {
            Ok(_) => DoctorFinding::warning(
                format!("{id} is approved and waits to be applied to {file}"),
                "`rekindle review apply` shows the change and applies it",
            ),
            Err(why) => DoctorFinding::warning(
                format!("{id} is approved and does not fit {file} any more: {why}"),
                "`rekindle undo` with its id lets it wait again, to be edited or turned down",
            ),
        });
    }
    let (waiting, oldest) = proposals::pending_count(&db)?;
    let now = clock::now(patient.vault.zone().clone()).timestamp();
    let days = oldest.map_or(0, |oldest| now.duration_since(oldest).as_hours() / 24);
    findings.push(match days >= STALE_QUEUE_DAYS {
        true => DoctorFinding::warning(
            format!("{waiting} proposal(s) wait, the oldest for {days} days; they do not wait for ever"),
            "`rekindle review` shows them, the most valuable first",
        ),
        false => DoctorFinding::ok(format!("{waiting} proposal(s) wait")),
    });
    Ok(findings)
}

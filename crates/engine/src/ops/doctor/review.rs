//! Check that proposals are decided (B-07): a queue that nobody reads loses memories.

use super::{Finding, Patient};
use crate::platform::clock;
use crate::platform::db::{self, Db};
use crate::review::page;
use crate::review::patches;
use crate::review::proposals;
use crate::vault::Error;

/// A queue is stale if its oldest proposal waits longer than this.
const LONG_DAYS: i64 = 5;
/// The number of proposals without a single decision that the finding names.
const MOST_WRONG: usize = 5;

/// Reports the number of waiting proposals, the age of the oldest, and problems with the review page.
pub(super) fn review(patient: &Patient<'_>) -> Result<Vec<Finding>, Error> {
    let database = patient.places.database();
    look(patient).map_err(|error| Error::io("read", &database)(std::io::Error::other(error)))
}

fn look(patient: &Patient<'_>) -> Result<Vec<Finding>, db::Error> {
    let Some(db) = Db::open_existing(&patient.places.database())? else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    if let Some(doubt) = page::doubt(&db)? {
        findings.push(Finding::warning(
            format!("nothing was decided from REVIEW.md: {doubt}"),
            "`rekindle review` shows what waits, `rekindle approve` and `rekindle reject` decide",
        ));
    }
    for wrong in proposals::check(&db)?.into_iter().take(MOST_WRONG) {
        findings.push(Finding::warning(
            wrong,
            "`rekindle review --check` shows all of it, `rekindle runs` what was done, `rekindle retry` does it again",
        ));
    }
    for patch in patches::waiting(&db, patient.vault)? {
        let (id, file) = (patch.standing.proposal.id, patch.standing.proposal.file().to_owned());
        findings.push(match patch.fits {
            Ok(_) => Finding::warning(
                format!("{id} is approved and waits to be applied to {file}"),
                "`rekindle review apply` shows the change and applies it",
            ),
            Err(why) => Finding::warning(
                format!("{id} is approved and does not fit {file} any more: {why}"),
                "`rekindle undo` with its id lets it wait again, to be edited or turned down",
            ),
        });
    }
    let (waiting, oldest) = proposals::waiting(&db)?;
    let now = clock::now(patient.vault.zone().clone()).timestamp();
    let days = oldest.map_or(0, |oldest| now.duration_since(oldest).as_hours() / 24);
    findings.push(match days >= LONG_DAYS {
        true => Finding::warning(
            format!("{waiting} proposal(s) wait, the oldest for {days} days; they do not wait for ever"),
            "`rekindle review` shows them, the most valuable first",
        ),
        false => Finding::ok(format!("{waiting} proposal(s) wait")),
    });
    Ok(findings)
}

//! `REVIEW.md` as a view of the store (REV-04): what it showed is remembered, so that what a person did to it can be told.

use rekindle_core::journal::Actor;
use rekindle_core::proposal::Proposal;
use rekindle_core::time::{Timestamp, Zoned};
use rekindle_core::vault::review::{self, Queue, Shown};
use thiserror::Error;

use crate::db::{self, Db, params};
use crate::proposals;
use crate::vault::{self, ReviewShown, Vault};

/// So many pages are remembered: a copy that sync brings back may be a few versions old.
const KEPT_PAGES: i64 = 20;

/// Why the page could not be brought up to date.
#[derive(Debug, Error)]
pub enum Error {
    /// The store.
    #[error(transparent)]
    Db(#[from] db::Error),
    /// The vault.
    #[error(transparent)]
    Vault(#[from] vault::Error),
}

/// Brings the page up to what waits in the store.
pub fn refresh(
    db: &mut Db,
    vault: &Vault,
    reviewer: &str,
    by: Actor,
    now: &Zoned,
) -> Result<ReviewShown, Error> {
    let waiting = proposals::open(db)?;
    let queue = Queue {
        reviewer: reviewer.to_owned(),
        date: now.date(),
        updated: now.timestamp(),
        proposals: waiting.iter().map(on_page).collect(),
    };
    let known = known(db)?;
    if queue.proposals.is_empty() && known.is_empty() {
        // Nobody needs a page that asks nothing.
        return Ok(ReviewShown::Unchanged);
    }
    let mut remember = |shown: &Shown| keep(db, shown, now.timestamp()).map_err(std::io::Error::other);
    Ok(vault.show_review(&queue, &known, &mut remember, by, now)?)
}

fn on_page(proposal: &Proposal) -> review::Proposal {
    review::Proposal {
        id: proposal.id,
        place: proposal.place.clone(),
        title: proposal.title.clone(),
        text: proposal.text.clone(),
    }
}

/// What the pages showed that were written, the last one last.
pub fn known(db: &Db) -> Result<Vec<Shown>, db::Error> {
    let rows: Vec<String> = db.run(|connection| {
        let mut rows = connection.prepare("SELECT shown FROM review_pages ORDER BY number")?;
        rows.query_map([], |row| row.get(0))?.collect()
    })?;
    // One that cannot be read any more (its text was forgotten) is one that is not known.
    Ok(rows.iter().filter_map(|row| serde_json::from_str(row).ok()).collect())
}

fn keep(db: &mut Db, shown: &Shown, now: Timestamp) -> Result<(), db::Error> {
    let json = serde_json::to_string(shown).map_err(|error| db.odd(error.to_string()))?;
    db.change(|transaction| {
        transaction.execute(
            "INSERT INTO review_pages (version, at, shown) VALUES (?1, ?2, ?3)
             ON CONFLICT (version) DO UPDATE SET shown = ?3",
            params![shown.version, now.as_millisecond(), json],
        )?;
        transaction.execute(
            "DELETE FROM review_pages WHERE number <= (SELECT max(number) FROM review_pages) - ?1",
            [KEPT_PAGES],
        )
    })?;
    Ok(())
}

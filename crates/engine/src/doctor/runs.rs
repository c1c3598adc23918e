//! Whether what hooks left is being done, and whether everything that could happen has somebody who sees to it.

use rekindle_core::run::Status;

use super::{Checked, Finding};
use crate::db::{self, Db};
use crate::home::Places;
use crate::queue::Queue;
use crate::spool::Spool;
use crate::stages::REGISTRY;
use crate::worker;

/// So many files in the spool are more than a hook leaves between two workers.
const MANY: usize = 200;

/// Looks at the functions, the spool and the runs.
pub fn examine_runs(places: &Places) -> Checked {
    let mut findings: Vec<Finding> = REGISTRY
        .check()
        .into_iter()
        .map(|wrong| {
            Finding::error(wrong.to_string(), Some("this is a bug in rekindle; please report it".into()))
        })
        .collect();
    findings.extend(spool(places));
    match runs(places) {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(Finding::error(error.to_string(), Some(error.hint()))),
    }
    Checked { check: "runs", findings }
}

fn spool(places: &Places) -> Vec<Finding> {
    let spool = Spool::at(places.spool());
    let mut findings = Vec::new();
    match spool.waiting() {
        Ok(waiting) if waiting.len() > MANY && !worker::is_busy(&places.locks()) => {
            findings.push(Finding::warning(
                format!("{} files wait in the spool and no worker is at it", waiting.len()),
                "`rekindle worker` does what they ask for",
            ));
        }
        Ok(_) => {}
        Err(error) => findings.push(Finding::error(
            error.to_string(),
            Some("hooks cannot leave anything until this is mended".into()),
        )),
    }
    let broken = spool.broken();
    if let Some(first) = broken.first() {
        findings.push(Finding::warning(
            format!("{} file(s) of the spool could not be read, such as {}", broken.len(), first.display()),
            "look at them and remove them; the sessions themselves are in the agents' transcripts",
        ));
    }
    findings
}

fn runs(places: &Places) -> Result<Vec<Finding>, db::Error> {
    let Some(db) = Db::open_existing(&places.database())? else {
        return Ok(vec![Finding::ok("nothing has run yet")]);
    };
    let sound: String =
        db.run(|connection| connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)))?;
    if sound != "ok" {
        return Err(db.odd(sound));
    }
    let counts = Queue::new(db).counts()?;
    let of = |status| counts.iter().find(|(is, _)| *is == status).map_or(0, |(_, count)| *count);
    let mut findings = vec![Finding::ok(format!(
        "{} completed, {} skipped, {} to be done",
        of(Status::Completed),
        of(Status::Skipped),
        of(Status::Running) + of(Status::Failed)
    ))];
    if of(Status::Dead) > 0 {
        findings.push(Finding::warning(
            format!("{} run(s) were given up", of(Status::Dead)),
            "`rekindle runs --dead` says why, `rekindle retry` revives them",
        ));
    }
    Ok(findings)
}

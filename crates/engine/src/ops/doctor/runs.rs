//! Check of the background work: the spool empties, runs finish, and every event has a function that handles
//! it.

use jiff::SignedDuration;
use rekindle_core::base::time::{TimeZone, Timestamp, format_utc};
use rekindle_core::run::RunStatus;
use rekindle_core::text::plural::count_phrase;

use super::{CheckReport, DoctorFinding};
use crate::jobs::queue::RunQueue;
use crate::jobs::spool::Spool;
use crate::jobs::worker_lock;
use crate::ops::repair;
use crate::pipeline::stages::STAGE_REGISTRY;
use crate::platform::clock;
use crate::platform::db::{self, Database};
use crate::platform::home::DataPaths;

/// More files than this in the spool means that no worker empties it.
const MAX_SPOOL_FILES: usize = 200;
/// A stamp at most this far ahead does not count as a wrong clock.
const CLOCK_DRIFT_MINUTES: i64 = 5;

/// Checks the functions, the spool and the runs.
pub fn check_runs(places: &DataPaths) -> CheckReport {
    let mut findings: Vec<DoctorFinding> = STAGE_REGISTRY
        .check()
        .into_iter()
        .map(|wrong| {
            DoctorFinding::error(
                wrong.to_string(),
                Some("this is a bug in rekindle; please report it".into()),
            )
        })
        .collect();
    findings.extend(spool(places));
    let now = clock::now(TimeZone::UTC).timestamp();
    findings.extend(repair::stale_locks(places, now).iter().map(|lock| {
        DoctorFinding::error(lock.describe(), Some("release it with `rekindle doctor --fix`".into()))
    }));
    match runs(places) {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(DoctorFinding::error(error.to_string(), Some(error.hint()))),
    }
    CheckReport { check: "runs", findings }
}

fn spool(places: &DataPaths) -> Vec<DoctorFinding> {
    let spool = Spool::in_folder(places.spool_folder());
    let mut findings = Vec::new();
    match spool.pending_files() {
        Ok(waiting) if waiting.len() > MAX_SPOOL_FILES && !worker_lock::is_locked(&places.locks_folder()) => {
            findings.push(DoctorFinding::warning(
                format!("{} files are in the spool, and no worker is running", waiting.len()),
                "process them with `rekindle worker`",
            ));
        }
        Ok(_) => {}
        Err(error) => findings.push(DoctorFinding::error(
            error.to_string(),
            Some("hooks cannot record sessions until this is fixed".into()),
        )),
    }
    let broken = spool.quarantined();
    if let Some(first) = broken.first() {
        findings.push(DoctorFinding::warning(
            format!(
                "could not read {}, such as {}",
                count_phrase(broken.len(), "spool file"),
                first.display()
            ),
            "inspect and remove them; the sessions are still in the agents' transcripts",
        ));
    }
    findings
}

fn runs(places: &DataPaths) -> Result<Vec<DoctorFinding>, db::Error> {
    let Some(db) = Database::open_existing(&places.database())? else {
        return Ok(vec![match repair::is_lost(places) {
            true => DoctorFinding::error(
                format!("{} is gone, although this home was used", places.database().display()),
                Some("rebuild it with `rekindle doctor --fix`".into()),
            ),
            false => DoctorFinding::ok("no runs yet"),
        }]);
    };
    if !db.is_sound()? {
        return Err(db.corrupt_value("the file is malformed"));
    }
    let gaps = db.schema_gaps()?;
    let ahead = check_clock(&db)?;
    let counts = RunQueue::new(db).count_by_status()?;
    let of = |status| counts.iter().find(|(is, _)| *is == status).map_or(0, |(_, count)| *count);
    let mut findings = vec![DoctorFinding::ok(format!(
        "{} completed, {} skipped, {} queued",
        of(RunStatus::Completed),
        of(RunStatus::Skipped),
        of(RunStatus::Running) + of(RunStatus::Failed)
    ))];
    if of(RunStatus::Dead) > 0 {
        findings.push(DoctorFinding::warning(
            format!("{} failed for good", count_phrase(of(RunStatus::Dead), "run")),
            "see why with `rekindle runs --dead`, retry them with `rekindle retry`",
        ));
    }
    if !gaps.is_empty() {
        findings.push(DoctorFinding::error(
            format!("the database lacks {}", gaps.join(", ")),
            Some("add it with `rekindle doctor --fix`".into()),
        ));
    }
    findings.extend(ahead);
    Ok(findings)
}

/// Open sessions that began in the future: the clock was ahead when their hooks ran.
fn check_clock(db: &Database) -> Result<Option<DoctorFinding>, db::Error> {
    let soon = clock::now(TimeZone::UTC).timestamp() + SignedDuration::from_mins(CLOCK_DRIFT_MINUTES);
    let (count, latest): (i64, Option<i64>) = db.run(|connection| {
        connection.query_row(
            "SELECT count(*), max(max(started, last_seen)) FROM sessions
             WHERE state = 'open' AND max(started, last_seen) > ?1",
            [soon.as_millisecond()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    })?;
    let latest = latest.and_then(|at| Timestamp::from_millisecond(at).ok());
    Ok(latest.map(|at| {
        DoctorFinding::warning(
            format!("{} with a start in the future, up to {}", count_phrase(count, "open session"), format_utc(at)),
            "check the computer's clock: it was ahead when they began. They are processed after the usual idle time",
        )
    }))
}

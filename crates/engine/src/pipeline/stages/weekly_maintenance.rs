//! `weekly-maintenance` sends the counts of the week (CAP-09, MNT-02); `weekly-summary` stores them in a log
//! of their own. They are not memories, so they stay outside of the vault, where recall would find them
//!

use std::io;
use std::path::PathBuf;

use jiff::SignedDuration;
use rekindle_core::base::time::{Timestamp, day};
use rekindle_core::event::{Event, WeeklySummary, names};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::index::RecallIndex;
use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepError, StepRunner, StepRunnerExt};
use crate::platform::disk::{self, BackwardLines, LineFile};
use crate::platform::home::DataPaths;
use crate::recall::usage::UsageSummary;
use crate::review::proposals;

/// The name of the function that counts.
pub const WEEKLY_MAINTENANCE: &str = "weekly-maintenance";
/// The name of the function that stores the counts.
pub const WEEKLY_SUMMARY: &str = "weekly-summary";
/// The file name of the log of summaries, one line per week.
const WEEKLY_LOG_FILE: &str = "weekly.jsonl";
const WEEK: SignedDuration = SignedDuration::from_hours(7 * 24);

/// A line of the log.
#[derive(Serialize, Deserialize)]
struct WeeklyLogLine {
    /// The id of the event, so that it is logged once.
    event: String,
    #[serde(flatten)]
    summary: WeeklySummary,
}

pub(super) fn weekly_maintenance(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let summary: WeeklySummary = steps.run_and_send("count", || {
        let summary = count(event, context)?;
        let data = serde_json::to_value(&summary).map_err(StepError::fatal)?;
        let id = format!("weekly-{}", day(summary.date));
        let sent = Event { id, name: names::WEEKLY_SUMMARY.to_owned(), data, at: summary.captured_at };
        Ok((summary, vec![sent]))
    })?;
    Ok(FunctionOutcome::Completed(json!(summary)))
}

fn count(event: &Event, context: &StageContext) -> Result<WeeklySummary, StepError> {
    let now = context.now().timestamp();
    let db = context.db()?;
    let since = (now - WEEK).as_millisecond();
    let merged: i64 = db.run(|connection| {
        connection.query_row(
            "SELECT count(*) FROM sightings WHERE last >= ?1 AND json_array_length(evidence, '$.sessions') > 1",
            [since],
            |row| row.get(0),
        )
    })?;
    Ok(WeeklySummary {
        date: context.day_of(event),
        merge_count: u64::try_from(merged).unwrap_or(0),
        stale_count: count_stale(context, now)?,
        triage_backlog: proposals::pending_count(&db)?.0,
        captured_at: now,
    })
}

/// Counts the memories that nobody needed for so long that they may be outdated; 0 without an index. The next
/// week counts again.
fn count_stale(context: &StageContext, now: Timestamp) -> Result<u64, StepError> {
    let index = RecallIndex::in_folder(context.places.index());
    let Some(snapshot) = index.open().map_err(StepError::retryable)? else { return Ok(0) };
    let usage = UsageSummary::read(&context.places.usage());
    let documents = (0..snapshot.len()).filter_map(|number| snapshot.document(number));
    let stale =
        documents.filter(|document| document.active && usage.usage_score(document, now.as_second()).stale);
    Ok(stale.count() as u64)
}

pub(super) fn weekly_summary(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let logged = steps.run("log", || {
        let summary = WeeklySummary::deserialize(&event.data).map_err(StepError::fatal)?;
        log(&context.places, &WeeklyLogLine { event: event.id.clone(), summary })
            .map_err(StepError::retryable)
    })?;
    Ok(FunctionOutcome::Completed(json!({"logged": logged})))
}

/// Appends a line to the log. Returns false if it was there already.
fn log(places: &DataPaths, line: &WeeklyLogLine) -> io::Result<bool> {
    let path = path(places);
    if log_lines(places)?.any(|known| known.event == line.event) {
        return Ok(false);
    }
    let text = serde_json::to_string(line)? + "\n";
    disk::create_private_folder(&places.logs_folder())?;
    LineFile::open(&path)?.append(&text, true)?;
    Ok(true)
}

fn path(places: &DataPaths) -> PathBuf {
    places.logs_folder().join(WEEKLY_LOG_FILE)
}

/// Reads the lines, the newest first. An unreadable line is skipped.
fn log_lines(places: &DataPaths) -> io::Result<impl Iterator<Item = WeeklyLogLine>> {
    let lines = BackwardLines::open(&path(places))?;
    let parsed = |line: io::Result<Vec<u8>>| serde_json::from_slice(&line.ok()?).ok();
    Ok(lines.into_iter().flatten().filter_map(parsed))
}

/// Lists the summaries of the last weeks, the newest first.
pub fn weekly_summaries(places: &DataPaths) -> io::Result<impl Iterator<Item = WeeklySummary>> {
    Ok(log_lines(places)?.map(|line| line.summary))
}

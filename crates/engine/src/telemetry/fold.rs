//! Folds the lines of the hook log and the recall log into the table. A hook appends one line and opens no
//! database; the worker, and every command that shows events, folds what is new.

use std::path::Path;

use rekindle_core::config::LogLevel;
use rekindle_core::telemetry::TelemetryEvent;
use rekindle_core::telemetry::log_lines::{hook_event, recall_event};
use serde_json::Value;

use super::store;
use crate::agents::hook_log;
use crate::platform::db::{self, Database, OptionalExtension, params};
use crate::recall::log::RecallLog;

/// The most lines that are folded at a time; older ones are left out.
const MAX_LINES: usize = 20_000;

/// Folds the new lines of both logs. Returns the number of lines. A log that cannot be read has no lines.
pub fn fold(db: &mut Database, logs: &Path, level: LogLevel) -> Result<u64, db::Error> {
    let mut folded = 0;
    if let Ok(lines) = hook_log::read_recent(logs) {
        folded += fold_lines(db, "hooks", lines.filter_map(|line| hook_event(&line)), level)?;
    }
    if let Ok(lines) = RecallLog::in_folder(logs).read() {
        folded += fold_lines(db, "recall", lines.filter_map(|line: Value| recall_event(&line)), level)?;
    }
    Ok(folded)
}

/// Stores the events of a log, which come newest first, up to the last one that was folded before.
fn fold_lines(
    db: &mut Database,
    log: &str,
    events: impl Iterator<Item = TelemetryEvent>,
    level: LogLevel,
) -> Result<u64, db::Error> {
    let last: Option<String> = db.run(|connection| {
        connection
            .query_row("SELECT last FROM otel_folded WHERE log = ?1", [log], |row| row.get(0))
            .optional()
    })?;
    let mut new = Vec::new();
    for event in events.take(MAX_LINES) {
        // `forget` may have removed the last folded line, so any known event ends the search, too.
        if last.as_ref() == Some(&event.id) || db.run(|c| store::contains(c, &event.id))? {
            break;
        }
        new.push(event);
    }
    let Some(newest) = new.first().map(|event| event.id.clone()) else { return Ok(0) };
    db.change(|transaction| {
        let stored = new.iter().rev().filter(|event| event.level.is_stored_at(level));
        stored.into_iter().try_for_each(|event| store::insert(transaction, event))?;
        transaction.execute(
            "INSERT INTO otel_folded VALUES (?1, ?2) ON CONFLICT (log) DO UPDATE SET last = ?2",
            params![log, newest],
        )
    })?;
    Ok(new.len() as u64)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test plays the other programs")]

    use rekindle_core::base::time::Zoned;
    use serde_json::json;

    use super::*;
    use crate::telemetry::store::{TelemetryFilter, list};

    fn hook(logs: &Path, second: usize, result: &str) {
        let ts = format!("2026-11-18T10:{:02}:{:02}Z", second / 60, second % 60);
        let line =
            json!({"ts": ts, "hook": "claude Stop", "duration_ms": 1.0, "result": result, "session": "s"});
        hook_log::append(logs, &line).unwrap();
    }

    /// O11-05: each line of a hook is one event, however often and across which rotation it is folded.
    #[test]
    fn o11_05_each_line_is_folded_once() {
        let folder = tempfile::tempdir().unwrap();
        let (logs, mut db) =
            (folder.path().join("logs"), Database::open(&folder.path().join("rekindle.db")).unwrap());
        assert_eq!(fold(&mut db, &logs, LogLevel::Info).unwrap(), 0);
        (0..5).for_each(|second| hook(&logs, second, "success"));
        assert_eq!(fold(&mut db, &logs, LogLevel::Info).unwrap(), 5);
        assert_eq!(fold(&mut db, &logs, LogLevel::Info).unwrap(), 0);
        hook(&logs, 5, "error");
        // The log is rotated before the worker saw its last line.
        let now: Zoned = "2026-11-18T12:00[UTC]".parse().unwrap();
        hook_log::rotate_log(&logs, &now).unwrap();
        hook(&logs, 6, "success");
        assert_eq!(fold(&mut db, &logs, LogLevel::Info).unwrap(), 2);
        assert_eq!(list(&db, &TelemetryFilter::default()).unwrap().events.len(), 7);
    }

    /// OPS-02: `memory.log_level` decides what is stored, and nothing is read twice for that.
    #[test]
    fn ops_02_the_log_level_decides_which_lines_are_stored() {
        let folder = tempfile::tempdir().unwrap();
        let (logs, mut db) =
            (folder.path().join("logs"), Database::open(&folder.path().join("rekindle.db")).unwrap());
        hook(&logs, 0, "error");
        (1..4).for_each(|second| hook(&logs, second, "success"));
        assert_eq!(fold(&mut db, &logs, LogLevel::Warn).unwrap(), 4);
        assert_eq!(fold(&mut db, &logs, LogLevel::Warn).unwrap(), 0);
        assert_eq!(list(&db, &TelemetryFilter::default()).unwrap().events.len(), 1);
    }

    #[test]
    fn a_damaged_log_costs_only_its_damaged_lines() {
        let folder = tempfile::tempdir().unwrap();
        let (logs, mut db) =
            (folder.path().join("logs"), Database::open(&folder.path().join("rekindle.db")).unwrap());
        hook(&logs, 0, "success");
        let path = logs.join("hooks.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}\u{0}rubbish\n[1,2]\n")).unwrap();
        hook(&logs, 1, "success");
        assert_eq!(fold(&mut db, &logs, LogLevel::Info).unwrap(), 2);
    }
}

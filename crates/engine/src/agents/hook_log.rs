//! The hook log: one line per hook call in `logs/hooks.jsonl` (O11-12). Rotated weekly, kept for 30 days
//! (MNT-08).

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::base::time::{Zoned, compact_day};
use serde_json::Value;

use crate::platform::disk::{self, BackwardLines, LineFile};

const FILE_NAME: &str = "hooks.jsonl";
const KEEP_DAYS: i32 = 30;
const ROTATE_AFTER_DAYS: i32 = 7;

/// Appends a line. It is not synced: the event itself is in the spool.
pub fn append(logs: &Path, line: &Value) -> io::Result<()> {
    disk::create_private_folder(logs)?;
    LineFile::open(&logs.join(FILE_NAME))?.append(&format!("{line}\n"), false)
}

/// The lines of the current log, newest first.
pub fn read(logs: &Path) -> io::Result<impl Iterator<Item = Value>> {
    let lines = BackwardLines::open(&logs.join(FILE_NAME))?;
    Ok(lines.into_iter().flatten().filter_map(|line| serde_json::from_slice(&line.ok()?).ok()))
}

/// The lines of the current log and of the one that was rotated last, newest first.
pub fn read_recent(logs: &Path) -> io::Result<impl Iterator<Item = Value>> {
    let files = std::fs::read_dir(logs).into_iter().flatten().flatten().map(|file| file.path());
    let rotated = files.filter_map(|path| Some((rotation_date(&path)?, path))).max();
    let older = rotated.map(|(_, path)| BackwardLines::open(&path)).transpose()?.flatten();
    let older = older.into_iter().flatten();
    Ok(read(logs)?.chain(older.filter_map(|line| serde_json::from_slice(&line.ok()?).ok())))
}

/// All kept lines, including rotated logs, in no particular order.
pub fn read_all(logs: &Path) -> io::Result<impl Iterator<Item = Value>> {
    let mut files = vec![logs.join(FILE_NAME)];
    for file in std::fs::read_dir(logs).into_iter().flatten() {
        let path = file?.path();
        files.extend(rotation_date(&path).map(|_| path));
    }
    let lines = files.into_iter().map(|path| BackwardLines::open(&path)).collect::<io::Result<Vec<_>>>()?;
    let lines = lines.into_iter().flatten().flatten();
    Ok(lines.filter_map(|line| serde_json::from_slice(&line.ok()?).ok()))
}

/// The day on which a log was rotated.
fn rotation_date(path: &Path) -> Option<jiff::civil::Date> {
    let day = path.file_name()?.to_str()?.strip_prefix("hooks-")?.strip_suffix(".jsonl")?;
    day.parse().ok()
}

/// Renames a log of a week after its date, and removes those that are too old. Returns the number removed.
pub fn rotate_log(logs: &Path, now: &Zoned) -> io::Result<u64> {
    let today = now.date();
    let named = |path: &PathBuf| rotation_date(path);
    let mut rotated: Vec<PathBuf> = Vec::new();
    for file in std::fs::read_dir(logs).into_iter().flatten() {
        let path = file?.path();
        if named(&path).is_some() {
            rotated.push(path);
        }
    }
    let days = |day: jiff::civil::Date| (today - day).get_days();
    let newest = rotated.iter().filter_map(named).max();
    let current = logs.join(FILE_NAME);
    if current.exists() && newest.is_none_or(|newest| days(newest) >= ROTATE_AFTER_DAYS) {
        disk::move_aside(&current, &logs.join(format!("hooks-{}.jsonl", compact_day(today))))?;
    }
    let mut removed = 0;
    for path in rotated {
        if named(&path).is_some_and(|day| days(day) > KEEP_DAYS) {
            disk::remove(&path)?;
            removed += 1;
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn mnt_08_logs_are_rotated_weekly_and_kept_for_a_month() {
        let logs = tempfile::tempdir().unwrap();
        let mut now: Zoned = "2026-01-01T02:00[UTC]".parse().unwrap();
        let mut most = 0;
        for day in 0..90 {
            append(logs.path(), &json!({"day": day})).unwrap();
            rotate_log(logs.path(), &now).unwrap();
            now = now.tomorrow().unwrap();
            most = most.max(std::fs::read_dir(logs.path()).unwrap().count());
        }
        assert!((5..=7).contains(&most), "{most}");
        append(logs.path(), &json!({"day": 90})).unwrap();
        assert_eq!(read(logs.path()).unwrap().next().unwrap()["day"], 90);
    }
}

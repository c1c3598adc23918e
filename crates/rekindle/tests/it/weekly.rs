//! The weekly summary (CAP-09, MNT-02, EXE-17).

use std::fs;

use rekindle_core::base::time::Timestamp;
use rekindle_engine::platform::db::Database;
use rekindle_testkit::Sandbox;
use serde_json::Value;

use crate::capture::{ClaudeTranscript, runs, work};
use crate::review::{propose, quiet};
use crate::text;

const WEEK_AND_A_DAY: i64 = 8 * 24 * 3600 * 1000;

fn now() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "the binary under test goes by the same clock")]
    Timestamp::now().as_millisecond()
}

fn change(sandbox: &Sandbox, sql: &str, value: i64) {
    let mut db = Database::open(&sandbox.state().join("rekindle.db")).unwrap();
    db.change(|transaction| transaction.execute(sql, [value])).unwrap();
}

/// The completed weekly runs, by function.
fn done(sandbox: &Sandbox) -> Vec<String> {
    let weekly =
        |run: &Value| text(run, "function").starts_with("weekly-") && text(run, "status") == "COMPLETED";
    runs(sandbox, &[]).iter().filter(|run| weekly(run)).map(|run| text(run, "function").to_owned()).collect()
}

#[test]
fn cap_09_mnt_02_exe_17_a_week_is_counted_once_sent_and_heard() {
    let sandbox = quiet();
    for id in ["s1", "s2"] {
        let mut session = ClaudeTranscript::new(&sandbox, id);
        session.says("Always run the linter before a push.");
        session.hook(&sandbox, "SessionEnd");
        work(&sandbox, &[]);
    }
    for words in ["Deploy on Mondays.", "Write the tests first."] {
        propose(&sandbox, words, 0);
    }
    work(&sandbox, &[]);
    assert_eq!(done(&sandbox), [] as [String; 0], "the week before the first day does not count");
    change(&sandbox, "UPDATE sightings SET last = ?1", now());
    let due = now() - WEEK_AND_A_DAY;
    change(&sandbox, "UPDATE schedule SET last = ?1 WHERE function = 'weekly-maintenance'", due);
    for _ in 0..2 {
        work(&sandbox, &[]);
        assert_eq!(done(&sandbox), ["weekly-maintenance", "weekly-summary"]);
    }
    let log = fs::read_to_string(sandbox.state().join("logs/weekly.jsonl")).unwrap();
    let [line] = log.lines().collect::<Vec<_>>()[..] else { panic!("{log}") };
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["mergeCount"], &line["staleCount"]), (&1.into(), &0.into()), "{line}");
    assert_eq!(line["triageBacklog"], 2, "{line}");
    let status = sandbox.rekindle(&["status", "--json"]).run().ok().json();
    assert_eq!(status["last_week"]["mergeCount"], 1, "{status}");
    assert_eq!(status["last_week"]["date"], line["date"]);
}

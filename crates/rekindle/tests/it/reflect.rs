//! From observations to REVIEW.md through the real worker.

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::{Date, Timestamp};
use rekindle_core::knowledge::observe::{Finding, FindingKind};
use rekindle_engine::pipeline::observations::{self, ObservationRecord};
use rekindle_engine::platform::db::Database;
use rekindle_testkit::{Sandbox, fixtures};
use serde_json::{Value, json};

use crate::{sandbox, text};

const DAY: Date = Date::constant(2026, 11, 14);

/// Adds an observation to the hot list, as the observer does.
fn observed(sandbox: &Sandbox, session: &str, kind: FindingKind, words: &str) {
    observed_on(sandbox, session, kind, words, DAY, Timestamp::from_second(1_800_000_000).unwrap());
}

/// Adds an observation on a given day.
pub(crate) fn observed_on(
    sandbox: &Sandbox,
    session: &str,
    kind: FindingKind,
    words: &str,
    day: Date,
    at: Timestamp,
) {
    let finding =
        Finding { messages: vec![format!("{session}-1")], ..fixtures::finding(kind, Origin::User, words) };
    let entry = ObservationRecord {
        dedupe_key: format!("key-{session}"),
        session: session.to_owned(),
        project: None,
        trigger: "shutdown".to_owned(),
        day,
        at,
        observed: fixtures::observed("Worked on the pumps.", vec![finding]),
        tokens: 20,
        distilled: 0,
        schema_version: observations::SCHEMA_VERSION,
    };
    let mut db = Database::open(&sandbox.state().join("rekindle.db")).unwrap();
    assert!(observations::add(&mut db, &entry).unwrap());
}

/// Sends the observer's event for a full day.
fn accumulated(sandbox: &Sandbox) {
    let data = json!({"date": DAY, "totalTokens": 41_000, "observationCount": 2, "capturedAt": "2026-11-14T18:00:00Z"});
    let send = ["send", "memory/observations.accumulated", "--data", &data.to_string()];
    sandbox.rekindle(&send).run().ok();
    sandbox.rekindle(&["worker", "--once"]).run().ok();
}

fn runs(sandbox: &Sandbox) -> Vec<Value> {
    let lines = sandbox.rekindle(&["runs", "--json"]).run().ok().stdout;
    let runs = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    runs.filter(|run| run["function"] == "reflect").collect()
}

/// Requirements: STO-04.
#[test]
fn exe_04_a_full_day_becomes_a_page_and_the_same_day_again_nothing() {
    let sandbox = sandbox();
    sandbox.rekindle(&["config", "set", "capture.background", "false"]).run().ok();
    accumulated(&sandbox);
    let [first] = runs(&sandbox).try_into().unwrap();
    assert_eq!((text(&first, "status"), text(&first, "reason")), ("SKIPPED", "no observations"));
    observed(&sandbox, "a", FindingKind::Rule, "Never push to main without a review");
    observed(&sandbox, "b", FindingKind::Decision, "The queue lives in SQLite");
    accumulated(&sandbox);
    let page = std::fs::read_to_string(sandbox.vault().join("REVIEW.md")).unwrap();
    for expected in
        ["`p-20261114-001-", "`p-20261114-002-", "## Proposed for: Hard Rules", "The queue lives in SQLite"]
    {
        assert!(page.contains(expected), "{expected} in {page}");
    }
    accumulated(&sandbox);
    assert_eq!(std::fs::read_to_string(sandbox.vault().join("REVIEW.md")).unwrap(), page);
    let states: Vec<String> = runs(&sandbox).iter().map(|run| text(run, "status").to_owned()).collect();
    assert_eq!(states.iter().filter(|state| *state == "COMPLETED").count(), 1, "{states:?}");
    let log = sandbox.rekindle(&["daily"]).run().ok().stdout;
    assert!(log.contains("Reflected") && log.contains("p-20261114-001"), "{log}");
    sandbox.rekindle(&["doctor"]).run().ok();
}

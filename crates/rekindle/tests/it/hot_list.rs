//! The hot list of observations, and the parts that outlive it.

use std::fs;

use rekindle_core::base::sentiment::Sentiment;
use rekindle_core::vault::daily_log::{self, LogSection, ObservationBody};
use serde_json::json;

use rekindle_testkit::Sandbox;

use crate::capture::{ClaudeTranscript, log, work};
use crate::{project, sandbox, text};

#[test]
fn sto_02_sto_07_observations_are_listed_for_other_programs() {
    let sandbox = sandbox();
    let list =
        || sandbox.rekindle(&["inspect", "--observations", "--days", "366", "--json"]).run().ok().json();
    assert_eq!(list(), json!([]));
    let mut session = ClaudeTranscript::new(&sandbox, "s1");
    session.says("Always run the linter before a push.");
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let entries = list();
    let [entry] = entries.as_array().unwrap().as_slice() else { panic!("{entries}") };
    assert_eq!((text(entry, "sessionId"), &entry["schemaVersion"]), ("s1", &json!(1)));
    assert_eq!(text(entry, "pointId"), rekindle_core::base::id::point_id(text(entry, "dedupeKey")));
    assert!(entry["observations"].to_string().contains("linter"), "{entry}");
    let shown = sandbox.rekindle(&["inspect", "--observations", "--days", "366"]).run().ok().stdout;
    assert!(shown.contains("s1") && shown.contains("linter before a push"), "{shown}");
    sandbox.rekindle(&["inspect", "--days", "3"]).run().fails(2);
}

fn lose_the_database(sandbox: &Sandbox) {
    for name in ["rekindle.db", "rekindle.db-wal", "rekindle.db-shm"] {
        fs::remove_file(sandbox.state().join(name)).ok();
    }
}

#[test]
fn sto_01_the_hot_list_is_rebuilt_from_the_logs_alone() {
    let sandbox = sandbox();
    for (id, words) in [
        ("s1", "Always run the linter before a push \u{1f621}"),
        ("s2", "We decided to keep the valve table in SQLite.\nStaging listens on port 5433."),
        ("s3", "I prefer tabs in all my projects. The deploy no longer runs on Fridays."),
    ] {
        let mut session = ClaudeTranscript::new(&sandbox, id);
        session.cwd = project(&sandbox, "pumps");
        session.says(words);
        session.goes_on_for(2);
        session.hook(&sandbox, "SessionEnd");
    }
    work(&sandbox, &[]);
    let list =
        || sandbox.rekindle(&["inspect", "--observations", "--days", "366", "--json"]).run().ok().json();
    let before = list();
    assert_eq!(before.as_array().map(Vec::len), Some(3), "{before}");
    assert!(before.to_string().contains("\"explicit\""), "{before}");
    lose_the_database(&sandbox);
    assert_eq!(list(), json!([]));
    work(&sandbox, &[]);
    assert_eq!(list(), before);
    work(&sandbox, &[]);
    assert_eq!(list(), before, "once");
}

#[test]
fn fbk_07_the_sentiment_outlives_the_hot_list() {
    let sandbox = sandbox();
    let mut session = ClaudeTranscript::new(&sandbox, "s1");
    session.says("Never push to main again \u{1f621}");
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let found = daily_log::parse(&log(&sandbox)).sections.into_iter().find_map(|section| match section {
        LogSection::Observation(observation) => Some(observation.body),
        _ => None,
    });
    let Some(ObservationBody::Segments(segments)) = found else { panic!("{}", log(&sandbox)) };
    let fact =
        segments.iter().flat_map(|segment| &segment.facts).find(|fact| fact.text.contains("push to main"));
    assert_eq!(fact.unwrap().mark.sentiment, Some(Sentiment::Frustrated), "{}", log(&sandbox));
    lose_the_database(&sandbox);
    let list = sandbox.rekindle(&["list", "--json"]).run().ok().json();
    let entries = list.as_array().unwrap();
    assert!(entries.iter().any(|entry| entry["sentiment"] == "frustrated"), "{list}");
}

//! Repeated observations are one hit, and the log keeps every line (STO-16, X-17).

use std::fs;

use rekindle_testkit::Sandbox;
use serde_json::{Value, json};

use crate::{recall, sandbox};

fn log(session: &str, facts: &[(&str, &str)]) -> String {
    project_log(session, "", facts)
}

fn project_log(session: &str, project: &str, facts: &[(&str, &str)]) -> String {
    let mut text = format!(
        "# Log\n\n### 🔍 Observations (session: {session}, 10:30)\n<!-- rekindle session={session} time=10:30{project} -->\n\
         **Trigger**: shutdown\n\n#### Work\n\n"
    );
    for (id, fact) in facts {
        text.push_str(&format!(
            "* 🔴 (10:02) {fact} <!-- rekindle id={id} origin=user messages=m-{id} -->\n"
        ));
    }
    text
}

const FIRST: &str = "The integration tests need the staging database to be up before they run.";
const AGAIN: &str = "Before they run, the integration tests need the staging database to be up.";

fn logged() -> Sandbox {
    let sandbox = sandbox();
    for (day, text) in [
        (
            "2026-05-02",
            log(
                "s1",
                &[
                    ("o-a", FIRST),
                    ("o-d", "Staging Postgres listens on port 5432 for the tests."),
                    ("o-n", "Always restart the staging database before the tests."),
                ],
            ),
        ),
        (
            "2026-05-09",
            log(
                "s2",
                &[
                    ("o-b", AGAIN),
                    ("o-e", "Staging Postgres listens on port 5433 for the tests."),
                    ("o-m", "Never restart the staging database before the tests."),
                ],
            ),
        ),
        ("2026-05-12", log("s3", &[("o-c", FIRST)])),
        ("2026-05-13", project_log("s4", " project=github.com/acme/boats", &[("o-x", FIRST)])),
    ] {
        sandbox.write(format!("memory/{day}.md"), text);
    }
    sandbox.rekindle(&["reindex"]).run().ok();
    sandbox
}

fn asked(sandbox: &Sandbox, more: &[&str]) -> Value {
    let options = [&["--anyway", "-k", "10"], more].concat();
    recall(sandbox, "do the integration tests need the staging database", &options)
}

/// The results, without fields that differ from call to call.
fn results(sandbox: &Sandbox) -> Value {
    asked(sandbox, &[])["results"].clone()
}

fn hit<'a>(results: &'a Value, id: &str) -> &'a Value {
    results.as_array().unwrap().iter().find(|hit| hit["id"] == id).unwrap_or(&Value::Null)
}

#[test]
fn sto_16_x_17_what_was_observed_three_times_is_one_hit_with_its_lineage() {
    let sandbox = logged();
    let before: Vec<String> = ["2026-05-02", "2026-05-09", "2026-05-12"]
        .iter()
        .map(|day| sandbox.read(format!("memory/{day}.md")))
        .collect();
    let found = results(&sandbox);
    let newest = hit(&found, "o-c");
    let observed = &newest["observed"];
    assert_eq!(observed["times"], 3, "{found:#}");
    assert!(observed["first"].as_str().unwrap().starts_with("2026-05-02"), "{observed}");
    assert!(observed["last"].as_str().unwrap().starts_with("2026-05-12"), "{observed}");
    let places: Vec<(&Value, &Value)> =
        observed["places"].as_array().unwrap().iter().map(|place| (&place["id"], &place["path"])).collect();
    let path = |day: &str| json!(format!("MemoryVault/memory/{day}.md"));
    let expected = [("o-a", path("2026-05-02")), ("o-b", path("2026-05-09")), ("o-c", path("2026-05-12"))];
    let expected = expected.map(|(id, path)| (json!(id), path));
    assert_eq!(places, expected.iter().map(|(id, path)| (id, path)).collect::<Vec<_>>());
    assert!(observed["places"][0]["lines"][0].as_u64().is_some());
    assert!(hit(&found, "o-a").is_null() && hit(&found, "o-b").is_null(), "{found:#}");
    // A different number, a negation and another project are not merged.
    for other in ["o-d", "o-e", "o-n", "o-m"] {
        assert!(hit(&found, other)["observed"].is_null(), "{other}: {found:#}");
    }
    assert!(!hit(&found, "o-d").is_null() && !hit(&found, "o-e").is_null(), "{found:#}");
    let everywhere = asked(&sandbox, &["--project", "all"])["results"].clone();
    assert_eq!(hit(&everywhere, "o-c")["observed"]["times"], 3);
    // Three sessions against one.
    assert_eq!((&newest["confidence"], &observed["sessions"]), (&json!(0.6), &json!(3)));
    assert_eq!(hit(&found, "o-d")["confidence"], json!(0.5));
    let question = "do the integration tests need the staging database";
    let explained = sandbox.rekindle(&["recall", question, "--explain"]).run().ok().stdout;
    assert!(explained.contains("0.600  observed in 3 sessions"), "{explained}");
    let shown = sandbox.rekindle(&["recall", question]).run().ok();
    assert!(shown.stdout.contains("observed 3 times, 2026-05-02 to 2026-05-12"), "{}", shown.stdout);
    let after: Vec<String> = ["2026-05-02", "2026-05-09", "2026-05-12"]
        .iter()
        .map(|day| sandbox.read(format!("memory/{day}.md")))
        .collect();
    assert_eq!(before, after, "the log keeps every line");
}

#[test]
fn x_17_a_rebuilt_index_merges_the_same() {
    let sandbox = logged();
    // One more day through the delta segments, then a full rebuild.
    sandbox.write("memory/2026-05-20.md", log("s5", &[("o-f", AGAIN)]));
    sandbox.rekindle(&["reindex"]).run().ok();
    let grown = results(&sandbox);
    assert_eq!(hit(&grown, "o-f")["observed"]["times"], 4, "{grown:#}");
    fs::remove_dir_all(sandbox.state().join("index")).unwrap();
    sandbox.rekindle(&["reindex"]).run().ok();
    assert_eq!(results(&sandbox), grown);
}

#[test]
fn x_17_b_08_what_is_forgotten_leaves_the_others_right() {
    let sandbox = logged();
    sandbox.rekindle(&["forget", "--text", AGAIN]).run().ok();
    // The index dropped more than necessary; `reindex` restores the rest from the logs.
    sandbox.rekindle(&["reindex"]).run().ok();
    let found = results(&sandbox);
    let observed = &hit(&found, "o-c")["observed"];
    assert_eq!(observed["times"], 2, "{found:#}");
    let ids: Vec<&Value> = observed["places"].as_array().unwrap().iter().map(|place| &place["id"]).collect();
    assert_eq!(ids, ["o-a", "o-c"]);
    assert!(sandbox.find_bytes(AGAIN).is_empty());
}

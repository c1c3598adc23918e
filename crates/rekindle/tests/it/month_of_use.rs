//! A month of a hundred sessions with a scripted model: no loss, no invention, and the same result on a
//! second run.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use rekindle_testkit::Sandbox;
use serde_json::{Value, json};

use crate::capture::{hook, log, runs};
use crate::distil::{ScriptedSession, model};
use crate::{project, sandbox};

/// Builds a session: every ninth is only small talk, and all others contain work. Of those, every fifth
/// states a rule of its own and every seventh repeats one rule.
fn session(sandbox: &Sandbox, number: usize) -> ScriptedSession {
    let mut told = ScriptedSession::new(sandbox.work().join("pumps"), &format!("s{number:03}"));
    if number.is_multiple_of(9) {
        told.user("hi").agent("Hello!");
        return told;
    }
    told.user(&format!("Please look at pump {number} and mend what is broken in it."))
        .agent("I will look at it.")
        .runs(&format!("cargo test pump_{number}"), true, &format!("test pump_{number} ... FAILED"))
        .agent(&format!("The cause is that valve_{number} is read before it has settled."))
        .edits(&format!("src/pump_{number}.rs"))
        .runs(&format!("cargo test pump_{number}"), false, "test result: ok. 1 passed");
    if number.is_multiple_of(5) {
        told.user(&format!("From now on always check gauge_{number} before a release.")).agent("Understood.");
    }
    if number.is_multiple_of(7) {
        told.user("From now on never use sleep in tests, poll instead.").agent("Understood.");
    }
    for reply in ["good", "go on please", "and the docs as well", "commit it now"] {
        told.user(reply).agent("Done.");
    }
    told
}

/// A scripted model: it extracts the person's rules, invents one claim, and repeats itself.
const SCRIPT: &str = r#"
lines=$(sed -n 's/^#\([0-9]*\) .*\(From now on [a-z].*\)$/* 🔴 \2 [#\1]/p' "$q")
if grep -q '^<memories>' "$q"; then
  echo '<memories>'
  sed -n 's/^#\([0-9]*\) \(From now on [a-z].*\)$/* preference (high) \2 [#\1]/p' "$q"
  echo '* preference (high) Always deploy from node-99 [#1]'
  echo '</memories>'
elif grep -q '^<ideas>' "$q"; then
  echo '<ideas></ideas>'
else
  echo '<observations>'
  echo '<segment><narrative>A pump was mended.</narrative><facts>'
  echo "$lines"
  echo "$lines"
  echo '* 🔴 (03:14) The reactor was replaced by model XR-5000 [#1]'
  echo '</facts></segment></observations>'
fi
"#;

/// Runs the sessions, a week at a time.
fn hold(sandbox: &Sandbox, count: usize) {
    project(sandbox, "pumps");
    model(sandbox, SCRIPT);
    for number in 1..=count {
        let told = session(sandbox, number);
        let input = json!({"session_id": told.id, "transcript_path": told.path(sandbox), "cwd": sandbox.work().join("pumps")});
        hook(sandbox, "claude", "SessionEnd", &input);
        if number.is_multiple_of(25) || number == count {
            // A quarter of a month at once takes a while on a busy machine.
            sandbox.rekindle(&["worker", "--once"]).limit(Duration::from_secs(120)).run().ok();
        }
    }
}

/// The outcomes of the observer for each session, without random values.
fn outcomes(sandbox: &Sandbox) -> Vec<Value> {
    let mut all: Vec<Value> = runs(sandbox, &["--hours", "24"])
        .into_iter()
        .filter(|run| run["function"] == "observe")
        .map(|run| json!([run["sessionId"], run["status"], run["output"]]))
        .collect();
    all.sort_by_key(Value::to_string);
    all
}

#[test]
fn a_month_of_sessions_loses_nothing_invents_nothing_and_repeats_itself_exactly() {
    let sandbox = sandbox();
    hold(&sandbox, 100);
    let all = runs(&sandbox, &["--hours", "24"]);
    let of = |function: &str, status: &str| {
        all.iter().filter(|run| run["function"] == function && run["status"] == status).count()
    };
    assert!(all.iter().all(|run| run["status"] == "COMPLETED" || run["status"] == "SKIPPED"));
    // Every session counts (R-13): the noise gate skips eleven, and the others are observed once each.
    assert_eq!(
        (of("capture", "COMPLETED"), of("observe", "SKIPPED"), of("observe", "COMPLETED")),
        (100, 11, 89)
    );
    // Runs of the schedule belong to no session.
    let sessions: BTreeSet<&str> = all.iter().filter_map(|run| run["sessionId"].as_str()).collect();
    assert_eq!(sessions.len(), 100);
    // Every rule is one memory, also the repeated one.
    let entries: Vec<String> = sandbox
        .files()
        .into_iter()
        .filter(|(name, _)| name.contains("personal-private/rule/"))
        .map(|(_, bytes)| String::from_utf8(bytes).unwrap())
        .collect();
    let rules: Vec<usize> = (1..=100).filter(|n| n % 5 == 0 && n % 9 != 0).collect();
    for number in &rules {
        let gauge = format!("check gauge_{number} before");
        assert_eq!(entries.iter().filter(|entry| entry.contains(&gauge)).count(), 1, "{gauge}");
    }
    assert_eq!(entries.iter().filter(|entry| entry.contains("never use sleep")).count(), 1);
    assert_eq!(entries.len(), rules.len() + 1);
    // Invented claims appear nowhere, and repeated ones once.
    let log = log(&sandbox);
    for invented in ["XR-5000", "node-99", "03:14"] {
        assert!(
            !log.contains(invented) && !entries.iter().any(|entry| entry.contains(invented)),
            "{invented}"
        );
    }
    let outputs = || all.iter().filter(|run| run["function"] == "observe").map(|run| &run["output"]);
    let total = |key: &str| outputs().map(|output| output["faults"][key].as_u64().unwrap_or(0)).sum::<u64>();
    let repeats = (1..=100)
        .filter(|n: &usize| !n.is_multiple_of(9))
        .map(|n| u64::from(n % 5 == 0) + u64::from(n % 7 == 0));
    assert_eq!((total("invented"), total("repeated")), (89, repeats.sum::<u64>()));
    let cost = sandbox.rekindle(&["cost", "--json"]).run().ok().stdout;
    eprintln!("a month: {cost}");
    assert!(cost.contains("267"), "three calls for each of 89 sessions: {cost}");
    // The same sessions in another home give the same result.
    let again = crate::sandbox();
    hold(&again, 20);
    let first: Vec<Value> =
        outcomes(&sandbox).into_iter().filter(|run| run[0].as_str().is_some_and(|id| id <= "s020")).collect();
    assert_eq!(outcomes(&again), first);
    assert!(fs::read_dir(again.state().join("spool")).unwrap().next().is_none());
}

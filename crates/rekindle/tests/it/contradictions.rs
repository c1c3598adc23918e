//! Contradictions: a new statement that contradicts a memory is shown beside it, and the person decides
//! (REF-05, REV-13).

use std::fs;

use rekindle_testkit::Sandbox;
use serde_json::Value;

use crate::capture::work;
use crate::distil::{ScriptedSession, listed, observe_run};
use crate::{project, sandbox, text};

fn told(sandbox: &Sandbox, id: &str, rule: &str) -> Value {
    let mut told = ScriptedSession::new(project(sandbox, "pumps"), id);
    told.user("Please rename the valve module.")
        .agent("Renamed.")
        .user(rule)
        .agent("Understood.")
        .user("and fix the imports")
        .agent("Fixed.")
        .user("run the tests once more")
        .runs("cargo test", false, "test result: ok. 4 passed")
        .agent("They pass.")
        .user("good, commit it");
    told.ends(sandbox);
    observe_run(sandbox)
}

fn waiting(sandbox: &Sandbox) -> Vec<Value> {
    let listed = sandbox.rekindle(&["review", "--list", "--json"]).run().ok().json();
    listed["proposals"].as_array().cloned().unwrap_or_default()
}

#[test]
fn rev_13_b_09_what_contradicts_a_memory_gives_it_a_new_version_when_the_person_says_so() {
    let sandbox = sandbox();
    let first = told(&sandbox, "s1", "Always squash the commits before merging a branch.");
    let old = listed(&first["output"]["saved"])[0].to_owned();
    let before = fs::read_to_string(sandbox.vault().join(&old)).unwrap();
    assert_eq!(listed(&first["output"]["proposed"]), Vec::<&str>::new());

    let second = told(&sandbox, "s2", "Never squash the commits before merging a branch.");
    let new = listed(&second["output"]["saved"]);
    assert_eq!(new.len(), 1, "what they said outright is known at once: {second}");
    assert_ne!(new[0], old);
    assert_eq!(fs::read_to_string(sandbox.vault().join(&old)).unwrap(), before, "no model calls yet");
    let asked = waiting(&sandbox);
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!((text(&asked[0], "file"), text(&asked[0], "source")), (old.as_str(), "supersede"));
    assert_eq!(text(&asked[0], "supersedes"), "Always squash the commits before merging a branch.");
    let diff = text(&asked[0], "diff");
    assert!(diff.contains("-Always squash") && diff.contains("+Never squash"), "{diff}");

    let id = text(&asked[0], "id");
    sandbox.rekindle(&["approve", id]).run().ok();
    work(&sandbox, &[]);
    let after = fs::read_to_string(sandbox.vault().join(&old)).unwrap();
    assert!(after.contains("Never squash") && !after.contains("Always squash"), "{after}");
    assert!(after.contains(&format!("approved: {id}")), "{after}");
    let archive = after.lines().find_map(|line| line.strip_prefix("supersedes: ")).unwrap();
    let kept = fs::read_to_string(sandbox.vault().join(archive.trim_matches('"'))).unwrap();
    assert!(kept.contains("Always squash"), "the old version is kept: {kept}");
    assert!(!sandbox.vault().join(new[0]).exists(), "what was known at once is not there twice");
    let asks = ["recall", "squash the commits", "--source", "entry", "--anyway", "--json"];
    let answer = sandbox.rekindle(&asks).cwd(project(&sandbox, "pumps")).run().ok().json();
    let found: Vec<&str> = crate::results(&answer).iter().map(|hit| text(hit, "path")).collect();
    assert_eq!(found.len(), 1, "{answer}");

    sandbox.rekindle(&["undo", id]).run().ok();
    assert_eq!(fs::read_to_string(sandbox.vault().join(&old)).unwrap(), before);
    assert!(sandbox.vault().join(new[0]).exists(), "and it is back with the rest");
    let again = waiting(&sandbox);
    assert_eq!((again.len(), text(&again[0], "id")), (1, id), "it waits again");
}

#[test]
fn ref_05_what_contradicts_a_line_of_memory_is_shown_with_it() {
    let sandbox = sandbox();
    let memory = sandbox.vault().join("MEMORY.md");
    let text_before = fs::read_to_string(&memory).unwrap();
    let line = "- (2026-01-02) Always squash the commits before merging a branch.";
    fs::write(&memory, text_before.replacen("## Patterns\n", &format!("## Patterns\n\n{line}\n"), 1))
        .unwrap();
    told(&sandbox, "s1", "Never squash the commits before merging a branch.");
    let asked = waiting(&sandbox);
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(text(&asked[0], "file"), "MEMORY.md");
    assert_eq!(text(&asked[0], "supersedes"), "Always squash the commits before merging a branch.");
    sandbox.rekindle(&["approve", text(&asked[0], "id")]).run().ok();
    work(&sandbox, &[]);
    let after = fs::read_to_string(&memory).unwrap();
    assert!(
        after.contains("~~Always squash") && after.contains("Never squash"),
        "struck and not deleted: {after}"
    );
}

#[test]
fn b_05_what_another_project_says_stands_against_nothing_here() {
    let sandbox = sandbox();
    told(&sandbox, "s1", "Always squash the commits before merging a branch.");
    let mut elsewhere = ScriptedSession::new(project(&sandbox, "boats"), "s2");
    elsewhere.user("Never squash the commits before merging a branch.").agent("Understood.");
    elsewhere.ends(&sandbox);
    assert_eq!(waiting(&sandbox), Vec::<Value>::new());
}

/// R-17, REV-13: a new value ends the old one also in a request to remember it.
#[test]
fn rev_13_a_new_value_that_is_to_be_remembered_ends_the_old_one() {
    let sandbox = sandbox();
    told(&sandbox, "s1", "Remember that staging Postgres listens on port 5433.");
    let asks = ["recall", "which port does staging Postgres use", "--source", "entry", "--anyway", "--json"];
    let found = || {
        let answer = sandbox.rekindle(&asks).cwd(project(&sandbox, "pumps")).run().ok().json();
        crate::results(&answer).iter().map(|hit| text(hit, "text").to_owned()).collect::<Vec<_>>()
    };
    assert!(found()[0].contains("5433"), "{:?}", found());
    told(&sandbox, "s2", "Remember that staging Postgres listens on port 5434 now.");
    let after = found();
    assert!(after[0].contains("5434"), "{after:?}");
    assert!(!after.iter().any(|text| text.contains("5433") && !text.contains("5434")), "{after:?}");
}

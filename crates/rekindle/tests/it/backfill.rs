//! What was said before we came, and finding it again (B-14, DIS-01).

use std::collections::BTreeMap;
use std::path::Path;

use rekindle_testkit::Sandbox;
use rekindle_testkit::faults::{self, Fault};
use serde_json::Value;

use crate::{project, recall, results, sandbox, save, text};

/// A home with the recorded sessions, held in the folder of a project that is there.
fn recorded(sandbox: &Sandbox) -> std::path::PathBuf {
    let folder = project(sandbox, "widgets");
    rekindle_testkit::transcripts::copy_into(sandbox.user_home()).unwrap();
    let mut folders = vec![sandbox.user_home().to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                std::fs::write(&path, text.replace("/home/dev/project", folder.to_str().unwrap())).unwrap();
            }
        }
    }
    folder
}

fn backfill(sandbox: &Sandbox, more: &[&str]) -> Value {
    sandbox.rekindle(&[&["backfill", "--json"], more].concat()).run().ok().json()
}

/// Every message that is kept, by session.
fn kept(sandbox: &Sandbox) -> BTreeMap<String, Vec<String>> {
    let mut kept = BTreeMap::new();
    for agent in ["claude", "codex", "gemini", "pi"] {
        let folder = sandbox.state().join("messages").join(agent);
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let id =
                |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            kept.insert(format!("{agent}/{name}"), text.lines().map(id).collect());
        }
    }
    kept
}

#[test]
fn dis_01_a_dry_run_counts_and_changes_nothing() {
    let sandbox = sandbox();
    recorded(&sandbox);
    let before = sandbox.everything();
    let plan = backfill(&sandbox, &[]);
    assert_eq!((plan["dryRun"].as_bool(), plan["sessions"].as_u64()), (Some(true), Some(12)));
    let shares = plan["shares"].as_array().unwrap();
    assert_eq!(shares.len(), 4, "{plan}");
    assert!(shares.iter().all(|share| share["project"] == "github.com/acme/widgets"), "{plan}");
    assert!(plan["bytes"].as_u64().unwrap() > 100_000);
    let said = sandbox.rekindle(&["backfill"]).run().ok();
    assert!(said.stderr.contains("12 sessions"), "{}", said.stderr);
    assert!(said.stdout.contains("github.com/acme/widgets"), "{}", said.stdout);
    let one = backfill(&sandbox, &["--agent", "pi"]);
    assert_eq!(one["sessions"], 2);
    assert_eq!(backfill(&sandbox, &["--since", "2099-01-01"])["sessions"], 0);
    assert!(!sandbox.state().join("messages").exists());
    assert_eq!(sandbox.everything().len(), before.len());
}

#[test]
fn b_14_the_past_is_found_at_once_and_last() {
    let sandbox = sandbox();
    let folder = recorded(&sandbox);
    save(&sandbox, "fix", "lamp", "The lighthouse lamp turns every ten seconds.");
    let done = backfill(&sandbox, &["--yes"]);
    assert_eq!(done["done"]["sessions"], 12, "{done}");
    assert_eq!(done["done"]["added"], done["done"]["found"]);
    let ask = |query: &str, more: &[&str]| {
        let arguments = [&["recall", query, "--json"], more].concat();
        sandbox.rekindle(&arguments).cwd(&folder).run().ok().json()
    };
    let answer = ask("heights are in metres", &[]);
    let first = &results(&answer)[0];
    assert_eq!((&first["source"], &first["kind"]), (&"message".into(), &"message".into()), "{answer}");
    assert_eq!(first["reviewed"], false);
    assert!(results(&answer).len() <= 3);
    // The person's own words can be asked for, and a note of the same weight comes before them.
    let mine = ask("heights are in metres", &["--origin", "user", "--source", "message"]);
    assert!(results(&mine).iter().all(|hit| hit["origin"] == "user") && !results(&mine).is_empty(), "{mine}");
    let both = ask("how is the lighthouse list sorted", &["--anyway"]);
    let sources: Vec<&str> = results(&both).iter().map(|hit| text(hit, "source")).collect();
    assert_eq!(sources.first(), Some(&"entry"), "{both}");
    assert!(sources.contains(&"message"), "{both}");
    let scores: Vec<f64> = results(&both).iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    // Not what nobody asked about, not from another project.
    assert_eq!(results(&ask("quarterly tax declaration form", &[])).len(), 0);
    assert_eq!(results(&recall(&sandbox, "heights are in metres", &[])).len(), 0);
    // Again, nothing happens; without the index, it comes back.
    let again = backfill(&sandbox, &["--yes"]);
    assert_eq!((&again["done"]["added"], &again["alreadyDone"]), (&0.into(), &12.into()));
    let checked = |level: &str| {
        let report = sandbox.rekindle(&["doctor", "--json"]).run().json();
        let check =
            report["checks"].as_array().unwrap().iter().find(|check| check["check"] == "messages").unwrap();
        check["findings"].as_array().unwrap().iter().any(|finding| finding["level"] == level)
    };
    assert!(checked("ok") && !checked("warning"));
    std::fs::remove_dir_all(sandbox.state().join("messages/index")).unwrap();
    assert!(checked("warning"));
    assert_eq!(results(&ask("heights are in metres", &["--source", "message"])).len(), 0);
    sandbox.rekindle(&["reindex", "--no-embed"]).run().ok();
    assert_eq!(
        results(&ask("heights are in metres", &[])).iter().map(|hit| &hit["id"]).collect::<Vec<_>>(),
        results(&answer).iter().map(|hit| &hit["id"]).collect::<Vec<_>>()
    );
}

#[test]
fn b_08_forget_reaches_what_was_said() {
    let sandbox = sandbox();
    recorded(&sandbox);
    backfill(&sandbox, &["--yes"]);
    let said = "Remember that heights are in metres. The tide table shows feet, please fix it.";
    let gone = sandbox.rekindle(&["forget", "--text", said, "--yes", "--json"]).run().ok().json();
    let places: BTreeMap<String, u64> = serde_json::from_value(Value::Object(
        gone["places"].as_array().unwrap().iter().map(|pair| (text_of(&pair[0]), pair[1].clone())).collect(),
    ))
    .unwrap();
    assert!(places["messages"] >= 4, "{gone}");
    // Other things that were said about the table stay.
    let state: Vec<_> = sandbox
        .find_bytes("in metres. The tide table")
        .into_iter()
        .filter(|path| path.starts_with(sandbox.state()))
        .collect();
    assert_eq!(state, Vec::<std::path::PathBuf>::new());
    // The transcripts still say it; it does not come back.
    std::fs::remove_file(sandbox.state().join("messages/backfill.jsonl")).unwrap();
    backfill(&sandbox, &["--yes"]);
    let answer = recall(&sandbox, said, &["--project=all", "--source", "message"]);
    assert!(
        results(&answer).iter().all(|hit| !text(hit, "text").contains("in metres. The tide table")),
        "{answer}"
    );
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn fnd_06_formats_that_are_not_known_are_told_once() {
    let sandbox = sandbox();
    let folder = sandbox.user_home().join(".claude/projects/p");
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["a", "b"] {
        std::fs::write(folder.join(format!("{name}.jsonl")), "{\"v\":9}\n").unwrap();
    }
    let first = sandbox.rekindle(&["backfill", "--yes"]).run().ok();
    assert_eq!(first.stderr.matches("left out").count(), 1, "{}", first.stderr);
    assert!(first.stderr.contains("and 1 more of Claude Code"), "{}", first.stderr);
    let again = sandbox.rekindle(&["backfill", "--yes"]).run().ok();
    assert!(!again.stderr.contains("left out"), "{}", again.stderr);
}

#[test]
fn ops_03_switched_off_nothing_is_read_in() {
    let sandbox = sandbox();
    recorded(&sandbox);
    sandbox.rekindle(&["backfill", "--yes", "-c", "memory.enabled=false"]).run().fails(1);
    assert!(!sandbox.state().join("messages").exists());
}

/// Killed at any step, and once more, a backfill ends as one that was never disturbed.
#[test]
fn dis_01_a_killed_backfill_loses_and_doubles_nothing() {
    let sandbox = sandbox();
    let name = "01a1de80-face-7155-bcfa-02823f728a10";
    let from = rekindle_testkit::transcripts::home();
    let place = Path::new(".pi/agent/sessions/--home-dev-project--")
        .join(format!("2026-11-15T09-19-17-199Z_{name}.jsonl"));
    std::fs::create_dir_all(sandbox.user_home().join(&place).parent().unwrap()).unwrap();
    std::fs::copy(from.join(&place), sandbox.user_home().join(&place)).unwrap();
    let fill = sandbox.rekindle(&["backfill", "--yes", "--json"]);
    let before = sandbox.snapshot();
    fill.run().ok();
    let whole = kept(&sandbox);
    let asked = |sandbox: &Sandbox| {
        let answer =
            recall(sandbox, "lighthouse list sorted", &["--project=all", "--source", "message", "--k=10"]);
        results(&answer).iter().map(|hit| text(hit, "id").to_owned()).collect::<Vec<_>>()
    };
    let found = asked(&sandbox);
    assert!(!found.is_empty());
    sandbox.restore(&before);
    for step in 1.. {
        sandbox.restore(&before);
        if faults::run(&fill, Fault::kill(step)).fault.is_none() {
            assert!(step > 10, "it takes more than {step} steps");
            break;
        }
        fill.run().ok();
        assert_eq!(kept(&sandbox), whole, "killed at step {step}");
        assert_eq!(asked(&sandbox), found, "killed at step {step}");
    }
}

//! The start of a session brings the index up to date.

use std::fs;
use std::time::{Duration, Instant};

use rekindle_testkit::{Sandbox, TinyBert};
use serde_json::{Value, json};

use crate::capture::{hook_command, work};
use crate::{found, recall, results, sandbox, save, text};

/// Begins a session and runs the worker that its hook would start.
fn begin(sandbox: &Sandbox, id: &str) {
    let input = json!({"session_id": id, "cwd": "/home/dev/project", "source": "startup"});
    hook_command(sandbox, "claude", "SessionStart", &input).run().ok();
    work(sandbox, &[]);
}

#[test]
fn sto_14_a_session_that_begins_knows_what_was_changed_elsewhere() {
    let sandbox = sandbox().reading_all_notes();
    save(&sandbox, "fix", "tender", "The tender is moored at the east jetty.");
    let note = sandbox.vault().parent().unwrap().join("Boats.md");
    fs::write(&note, "# Boats\n\nThe dinghy is kept in the boathouse.\n").unwrap();
    let tender = sandbox.path("personal-private/fix/tender.md");
    let about =
        |subject: &str| recall(&sandbox, &format!("where is the {subject} kept"), &["--anyway"]).to_string();
    assert!(!about("dinghy").contains("boathouse"), "nobody has looked yet");
    begin(&sandbox, "s1");
    let answer = recall(&sandbox, "where is the dinghy kept", &[]);
    assert!(text(&results(&answer)[0], "text").contains("in the boathouse"), "{answer}");
    assert_eq!(answer["degraded"], json!([]));
    fs::write(&note, "# Boats\n\nThe dinghy is kept in the crane shed.\n").unwrap();
    fs::remove_file(tender).unwrap();
    begin(&sandbox, "s2");
    assert!(about("dinghy").contains("crane shed") && !about("tender").contains("east jetty"));
}

#[test]
fn sto_17_what_cannot_be_brought_in_when_a_session_begins_is_said() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "tender", "The tender is moored at the east jetty.");
    let index = sandbox.state().join("index");
    fs::remove_dir_all(&index).unwrap();
    fs::write(&index, "in the way").unwrap();
    let input = json!({"session_id": "s1", "cwd": "/home/dev/project", "source": "startup"});
    hook_command(&sandbox, "claude", "SessionStart", &input).run().ok();
    let said = sandbox.rekindle(&["worker", "--once"]).run().ok().stderr;
    assert!(said.contains("changes made elsewhere are not indexed yet"), "{said}");
}

#[test]
fn sto_11_sto_15_a_session_that_begins_has_the_missing_vectors_made() {
    let sandbox = sandbox();
    let id = text(&save(&sandbox, "fix", "a", "The harbour archive is backed up at night."), "id").to_owned();
    TinyBert::new(1).write(&sandbox.work().join("tiny"));
    sandbox.rekindle(&["model", "add", "tiny"]).run().ok();
    sandbox.rekindle(&["model", "use", "tiny"]).run().ok();
    let asked = || -> Value { recall(&sandbox, "backup of the harbour archive", &["--anyway"]) };
    assert_eq!(asked()["degraded"], json!(["other-model"]));
    let input = json!({"session_id": "s1", "cwd": "/home/dev/project", "source": "startup"});
    hook_command(&sandbox, "claude", "SessionStart", &input).run().ok();
    // Work beyond a worker's time budget is left to a background process.
    let worker = sandbox.rekindle(&["worker", "--once"]).without_env("REKINDLE_INDEX_BACKGROUND");
    worker.run().ok();
    let until = Instant::now() + Duration::from_secs(60);
    while asked()["degraded"] != json!([]) {
        assert!(Instant::now() < until, "still {}", asked()["degraded"]);
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(found(&asked()), [id.as_str()]);
}

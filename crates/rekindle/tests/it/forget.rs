//! `rekindle forget`: deletes every copy of a text (B-08).

use crate::capture::{ClaudeTranscript, work};
use crate::{sandbox, save, text};

const SECRET: &str = "The staging host is called hermes-seventeen.";
const MARK: &[u8] = b"hermes-seventeen";

#[test]
fn b_08_forget_erases_every_copy() {
    let sandbox = sandbox();
    let saved = save(&sandbox, "fix", "hermes-seventeen-host", SECRET);
    sandbox
        .rekindle(&[
            "evolve",
            "hermes-seventeen-host",
            "--body",
            "It is now called hermes-seventeen-b, on port 99.",
            "--reason",
            "moved",
        ])
        .run()
        .ok();
    sandbox.write(
        "personal-private/fix/hermes-seventeen-host (conflicted copy).md",
        format!("---\nkind: fix\n---\n{SECRET}\n"),
    );
    sandbox.write("personal-private/_inbox/twin.md", format!("---\nkind: fix\n---\n\n- {SECRET}\n"));
    sandbox.write(
        "memory/2026-01-01.md",
        format!("# Log\n\n* 🔴 (10:02) {SECRET} <!-- o-1 user -->\n* 🟡 (10:03) other\n"),
    );
    sandbox.rekindle(&["memory", "add", SECRET, "--section", "Patterns"]).run().ok();
    sandbox.rekindle(&["memory", "add", "Keep this one line.", "--section", "Patterns"]).run().ok();
    let event = serde_json::json!({"messages": format!("[10:02] [User]: {SECRET}\n\n[10:03] [User]: hello")});
    std::fs::write(sandbox.state().join("spool/1.json"), event.to_string()).unwrap();
    std::fs::write(sandbox.state().join("logs/hooks.jsonl"), format!("{event}\n{{\"n\":1}}\n")).unwrap();
    assert!(sandbox.find_bytes(MARK).len() >= 8);

    let plan = sandbox.rekindle(&["forget", text(&saved, "id"), "--dry-run", "--json"]).run().ok().json();
    assert_eq!(plan["files"].as_array().unwrap().len(), 3, "{plan}");
    assert!(sandbox.find_bytes(MARK).len() >= 8);

    sandbox.rekindle(&["forget", text(&saved, "id")]).run().ok();
    assert_eq!(sandbox.find_bytes(MARK), Vec::<std::path::PathBuf>::new());
    // Text beside it stays.
    assert_eq!(sandbox.read("memory/2026-01-01.md"), "# Log\n\n* 🟡 (10:03) other\n");
    assert!(sandbox.read("MEMORY.md").contains("Keep this one line."));
    assert!(!sandbox.files().contains_key("personal-private/_inbox/twin.md"));
    let spool = std::fs::read_to_string(sandbox.state().join("spool/1.json")).unwrap();
    assert!(spool.contains("hello"));
    // The tombstone stores only a hash, and no undo brings the text back.
    let stones = sandbox.read("_meta/tombstones.jsonl");
    assert!(stones.contains(text(&saved, "id")) && stones.contains("\"hash\""));
    let log = sandbox.rekindle(&["log", "--json", "-n", "50"]).run().ok().json();
    for change in log.as_array().unwrap().iter().filter(|change| change["undoable"] == false) {
        sandbox.rekindle(&["undo", text(change, "id")]).run().fails(1);
    }
    assert!(sandbox.find_bytes(MARK).is_empty());
}

#[test]
fn forgotten_files_restored_by_sync_are_reported_and_not_shown() {
    let sandbox = sandbox();
    let saved = save(&sandbox, "fix", "host", SECRET);
    let file = sandbox.read("personal-private/fix/host.md");
    sandbox.rekindle(&["forget", "host"]).run().ok();
    sandbox.write("personal-private/fix/host.md", file);
    assert_eq!(sandbox.rekindle(&["list", "--json"]).run().ok().json(), serde_json::json!([]));
    let doctor = sandbox.rekindle(&["doctor"]).run().ok();
    assert!(doctor.stdout.contains("was forgotten but is back"), "{}", doctor.stdout);
    sandbox.rekindle(&["forget", "personal-private/fix/host.md"]).run().ok();
    assert!(sandbox.find_bytes(MARK).is_empty());
    assert_eq!(sandbox.read("_meta/tombstones.jsonl").matches(text(&saved, "id")).count(), 1);
    // The person may save the same text again; the output says that it was forgotten.
    let again = sandbox
        .rekindle(&["save", "fix", "host", "--body", "the staging host is called hermes-seventeen"])
        .run()
        .ok();
    assert!(again.stderr.contains("you forgot this before"), "{}", again.stderr);
}

#[test]
fn a_statement_can_be_forgotten_and_own_notes_are_only_named() {
    let sandbox = sandbox();
    sandbox.rekindle(&["memory", "add", SECRET, "--section", "Hard Rules"]).run().ok();
    let note = sandbox.vault().parent().unwrap().join("My note.md");
    std::fs::write(&note, format!("Dear diary. {SECRET}\n")).unwrap();
    let output = sandbox.rekindle(&["forget", "--text", SECRET]).run().ok();
    assert!(output.stderr.contains("My note.md"), "{}", output.stderr);
    assert_eq!(sandbox.find_bytes(MARK), [note]);
    assert!(
        sandbox.rekindle(&["forget", "--text", SECRET]).run().ok().stdout.contains("no memory says that")
    );
}

#[test]
fn b_08_what_recall_named_can_be_forgotten_by_that_name() {
    let sandbox = sandbox();
    sandbox.rekindle(&["note", SECRET]).run().ok();
    sandbox.rekindle(&["note", "The other host is called athena and stays."]).run().ok();
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    let found = sandbox.rekindle(&["recall", "what is the staging host called", "--json"]).run().ok().json();
    let id = found["results"][0]["id"].as_str().unwrap().to_owned();
    assert!(id.contains('#'), "{found}");
    sandbox.rekindle(&["forget", &id, "--yes"]).run().ok();
    assert!(sandbox.find_bytes(MARK).is_empty(), "{:?}", sandbox.find_bytes(MARK));
    assert!(!sandbox.find_bytes(b"athena").is_empty());
    let again = sandbox.rekindle(&["forget", &id, "--yes"]).run().fails(1);
    assert!(again.stderr.contains("there is no memory"), "{}", again.stderr);
}

#[test]
fn what_cannot_be_removed_is_named_and_does_not_stop_anyone() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "host", SECRET);
    let mut blob = SECRET.as_bytes().to_vec();
    blob.insert(0, 0xff);
    sandbox.write("personal-private/fix/blob.bin", &blob);
    let failed = sandbox.rekindle(&["forget", "host"]).run().fails(1);
    assert!(failed.stderr.contains("blob.bin"), "{}", failed.stderr);
    assert!(!sandbox.files().contains_key("personal-private/fix/host.md"));
    save(&sandbox, "fix", "other", "something else entirely");
    assert!(sandbox.rekindle(&["doctor"]).run().fails(1).stdout.contains("did not finish"));
    sandbox.remove("personal-private/fix/blob.bin");
    sandbox.rekindle(&["forget", "other"]).run().ok();
    assert!(sandbox.find_bytes(MARK).is_empty());
    sandbox.rekindle(&["doctor"]).run().ok();
}

/// SEC-08: removing the vault and the state folder erases everything; nothing of a memory is kept elsewhere.
#[test]
fn sec_08_removing_the_vault_and_the_state_folder_erases_everything() {
    const WORD: &str = "quokkawharf";
    let sandbox = sandbox();
    sandbox.rekindle(&["install", "claude", "--yes"]).run().ok();
    save(&sandbox, "rule", "berth", &format!("Boats of the {WORD} berth on the left."));
    sandbox.rekindle(&["memory", "add", &format!("The {WORD} opens at six.")]).run().ok();
    sandbox.rekindle(&["ideas", "add", &format!("Paint the {WORD}"), "--summary", "In blue."]).run().ok();
    let mut session = ClaudeTranscript::new(&sandbox, "s1");
    session.says(&format!("We never let ferries into the {WORD}."));
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    sandbox.rekindle(&["recall", &format!("who may use the {WORD}?")]).run().ok();
    sandbox.rekindle(&["backup", "outside.tar.gz"]).run().ok();
    assert!(sandbox.find_bytes(WORD).len() >= 5, "{:?}", sandbox.find_bytes(WORD));

    for folder in [sandbox.vault(), sandbox.state()] {
        std::fs::remove_dir_all(folder).unwrap();
    }
    // Ideas.md is the person's own list beside the vault; a backup is where the person put it.
    let ideas = sandbox.vault().parent().unwrap().join("Ideas.md");
    let left = sandbox.find_bytes(WORD);
    assert!(left.iter().all(|path| *path == ideas), "{left:?}");
    for agent_file in [".claude/settings.json", ".claude.json"] {
        let text = std::fs::read_to_string(sandbox.user_home().join(agent_file)).unwrap();
        assert!(!text.contains(WORD), "{agent_file}");
    }
}

//! `rekindle log` and `rekindle undo` (B-09).

use crate::{sandbox, save, text};

#[test]
fn b_09_every_change_can_be_taken_back_and_done_again() {
    let sandbox = sandbox();
    let before = sandbox.files();
    save(&sandbox, "fix", "a", "first");
    let saved = sandbox.files();
    sandbox.rekindle(&["undo"]).run().ok();
    assert_eq!(sandbox.files(), before);
    // Undoing the undo restores the file byte for byte.
    let log = sandbox.rekindle(&["log", "--json"]).run().ok().json();
    assert_eq!((text(&log[0], "verb"), text(&log[1], "verb")), ("undo", "save"));
    sandbox.rekindle(&["undo", text(&log[0], "id")]).run().ok();
    assert_eq!(sandbox.files(), saved);
    // A change cannot be undone twice.
    let undo = text(&log[0], "id");
    sandbox.rekindle(&["undo", undo]).run().fails(2);
}

#[test]
fn vlt_05_an_evolve_is_one_change() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "a", "first");
    let before = sandbox.files();
    sandbox.rekindle(&["evolve", "a", "--body", "second", "--reason", "r"]).run().ok();
    let undone = sandbox.rekindle(&["undo", "--json"]).run().ok().json();
    assert_eq!(undone["places"].as_array().unwrap().len(), 2);
    assert_eq!(sandbox.files(), before);
}

#[test]
fn undo_walks_back_and_leaves_later_hand_edits_alone() {
    let sandbox = sandbox();
    for slug in ["a", "b", "c"] {
        save(&sandbox, "fix", slug, slug);
    }
    sandbox.write("personal-private/fix/c.md", "rewritten by hand\n");
    let refused = sandbox.rekindle(&["undo"]).run().fails(1);
    assert!(refused.stderr.contains("it was changed since"), "{}", refused.stderr);
    assert_eq!(sandbox.read("personal-private/fix/c.md"), "rewritten by hand\n");
    // Other changes can still be undone by their ids.
    let log = sandbox.rekindle(&["log", "--json"]).run().ok().json();
    let id = text(&log[1], "id");
    sandbox.rekindle(&["undo", &id[id.len() - 8..]]).run().ok();
    assert!(!sandbox.files().contains_key("personal-private/fix/b.md"));
    sandbox.rekindle(&["undo"]).run().fails(1);
}

#[test]
fn nothing_to_undo_and_unknown_ids_are_said() {
    let sandbox = sandbox();
    assert!(sandbox.rekindle(&["undo"]).run().fails(1).stderr.contains("nothing to undo"));
    assert!(sandbox.rekindle(&["undo", "ZZZZZZZZ"]).run().fails(2).stderr.contains("rekindle log"));
}

#[test]
fn the_journal_says_what_changed_without_saying_the_text() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "a", "a very private sentence");
    sandbox.rekindle(&["evolve", "a", "--body", "another private sentence", "--reason", "r"]).run().ok();
    let output = sandbox.rekindle(&["log", "--json"]).run().ok();
    assert!(!output.stdout.contains("private sentence"));
    let log = output.json();
    assert_eq!(text(&log[0]["ops"][0], "op"), "create");
    assert_eq!(text(&log[0]["ops"][1], "op"), "edit");
    assert_eq!(log[0]["undoable"], true);
}

//! The inbox, through the binary (SID-06, SID-08, R-05, B-09).

use rekindle_testkit::Sandbox;
use serde_json::Value;

use crate::{recall, results, sandbox, save, text};

/// Writes a note into the inbox, in the form that the worker leaves.
pub(crate) fn inboxed(sandbox: &Sandbox, slug: &str, id: &str, created: &str, body: &str) -> String {
    let note = format!(
        "---\nid: {id}\nkind: fix\nstatus: active\ncreated: {created}\nupdated: {created}\ngroup: personal-private\nscope: global\nconfidence_rating_at_capture: low\norigin: agent\nsession: s-1\nmessages: [a]\n---\n\n{body}"
    );
    sandbox.write(format!("personal-private/_inbox/{slug}.md"), &note);
    note
}

fn two(sandbox: &Sandbox) {
    inboxed(sandbox, "newer", "m-222222222222", "2026-02-01T00:00:00Z", "The newer guess.\n");
    inboxed(sandbox, "older", "m-111111111111", "2026-01-01T00:00:00Z", "The older guess.\n");
}

fn run(sandbox: &Sandbox, args: &[&str]) -> Value {
    sandbox.rekindle(&[&["inbox"], args, &["--json"]].concat()).run().ok().json()
}

#[test]
fn sid_08_the_inbox_shows_count_age_and_how_it_came_there() {
    let sandbox = sandbox();
    assert!(sandbox.rekindle(&["inbox"]).run().ok().stderr.contains("The inbox is empty"));
    two(&sandbox);
    sandbox.write("personal-private/_inbox/mine.md", "Typed by hand.\n");
    let listed = run(&sandbox, &[]);
    assert_eq!((listed["count"].as_u64(), listed["many"].as_bool()), (Some(3), Some(false)));
    let entries = listed["entries"].as_array().unwrap();
    let titles: Vec<&str> = entries.iter().map(|entry| text(entry, "title")).collect();
    assert_eq!(titles, ["The older guess.", "The newer guess.", "Typed by hand."]);
    assert_eq!(entries[0]["age_days"], listed["oldest_days"]);
    assert!(entries[0]["age_days"].as_i64().unwrap() > entries[1]["age_days"].as_i64().unwrap());
    assert_eq!((text(&entries[0], "how"), text(&entries[0], "origin")), ("seen once in a session", "agent"));
    assert_eq!((text(&entries[2], "how"), text(&entries[2], "origin")), ("added by hand", "user"));
    let shown = sandbox.rekindle(&["inbox", "list"]).run().ok();
    assert!(
        shown.stdout.starts_with("m-111111111111") && shown.stderr.contains("3 in the inbox, the oldest")
    );
    assert!(!shown.stderr.contains("warning"), "{}", shown.stderr);
    let status = sandbox.rekindle(&["status", "--json"]).run().ok().json();
    assert_eq!((status["inbox"].as_u64(), text(&status, "inbox_since")), (Some(3), "2026-01-01T00:00:00Z"));
    for number in 0..48 {
        sandbox.write(format!("personal-private/_inbox/more-{number}.md"), "x\n");
    }
    assert!(sandbox.rekindle(&["inbox"]).run().ok().stderr.contains("51 memories are in the inbox"));
}

#[test]
fn r_05_what_is_kept_goes_to_its_kind_and_counts_as_looked_at() {
    let sandbox = sandbox();
    let body = "The staging database listens on port 5433.  \r\n\r\n* mine, as I typed it";
    let note = inboxed(&sandbox, "staging-port", "m-111111111111", "2026-01-01T00:00:00Z", body);
    sandbox.rekindle(&["reindex"]).run().ok();
    let question = "which port does the staging database listen on?";
    let hit = results(&recall(&sandbox, question, &[]))[0].clone();
    assert_eq!((hit["reviewed"].as_bool(), hit["inbox"].as_bool()), (Some(false), Some(true)), "{hit}");
    let before = sandbox.files();

    let kept = run(&sandbox, &["keep", "staging-port"]);
    assert_eq!(text(&kept["kept"][0], "path"), "personal-private/fix/staging-port.md");
    let now = sandbox.read("personal-private/fix/staging-port.md");
    let reviewed: String = now.lines().filter(|line| line.starts_with("reviewed: 20")).collect();
    assert_eq!(now.replace(&format!("{reviewed}\n"), ""), note, "nothing else changed");
    assert!(!sandbox.files().contains_key("personal-private/_inbox/staging-port.md"));
    let answer = recall(&sandbox, question, &[]);
    let hits = results(&answer);
    assert_eq!((hits.len(), text(&hits[0], "id")), (1, "m-111111111111"));
    assert_eq!(hits[0]["reviewed"].as_bool(), Some(true), "{}", hits[0]);
    assert_ne!(hits[0]["inbox"].as_bool(), Some(true), "{}", hits[0]);

    sandbox.rekindle(&["undo"]).run().ok();
    assert_eq!(sandbox.files(), before, "one change, taken back whole");
    assert_eq!(results(&recall(&sandbox, question, &[]))[0]["inbox"].as_bool(), Some(true));
}

#[test]
fn several_are_kept_as_one_change_with_another_kind_and_a_free_name() {
    let sandbox = sandbox();
    two(&sandbox);
    save(&sandbox, "rule", "older", "Another memory of that name.");
    let kept = run(&sandbox, &["keep", "m-111111111111", "newer", "older", "--kind", "Rule"]);
    let paths: Vec<&str> = kept["kept"].as_array().unwrap().iter().map(|one| text(one, "path")).collect();
    assert_eq!(paths, ["personal-private/rule/older-2.md", "personal-private/rule/newer.md"]);
    assert!(sandbox.read("personal-private/rule/newer.md").contains("kind: rule\n"));
    let log = sandbox.rekindle(&["log", "--json"]).run().ok().json();
    assert_eq!((text(&log[0], "verb"), log[0]["ops"].as_array().unwrap().len()), ("keep", 4));
    sandbox.rekindle(&["undo"]).run().ok();

    let kept = run(&sandbox, &["keep", "newer", "--always-load"]);
    assert_eq!(text(&kept["kept"][0], "path"), "personal-private/_always-load/newer.md");
    assert!(sandbox.read("personal-private/_always-load/newer.md").contains("always_load: true\n"));
    // `--all` keeps every valid note; the rest stays and names the problem.
    sandbox.write("personal-private/_inbox/no-kind.md", "By hand.\n");
    sandbox.write("personal-private/_inbox/broken.md", "---\nkind: [never\n");
    let all = sandbox.rekindle(&["inbox", "keep", "--all", "--json"]).run().ok();
    assert_eq!(all.json()["kept"].as_array().unwrap().len(), 1);
    assert!(
        all.stderr.contains("no-kind.md stays in the inbox")
            && all.stderr.contains("broken.md stays in the inbox")
    );
    let left: Vec<String> = sandbox.files().into_keys().filter(|path| path.contains("/_inbox/")).collect();
    assert_eq!(left, ["personal-private/_inbox/broken.md", "personal-private/_inbox/no-kind.md"]);
}

#[test]
fn sid_06_what_is_dropped_is_in_the_archive_and_comes_back_by_undo() {
    let sandbox = sandbox();
    two(&sandbox);
    let before = sandbox.files();
    let dropped = run(&sandbox, &["drop", "older"]);
    let archive = text(&dropped["dropped"][0], "path");
    assert!(
        archive.starts_with("personal-private/_archive/personal-private/_inbox/older.md.20"),
        "{archive}"
    );
    let old = String::from_utf8(before["personal-private/_inbox/older.md"].clone()).unwrap();
    assert_eq!(sandbox.read(archive), old.replace("status: active", "status: dropped"));
    assert_eq!(run(&sandbox, &[])["count"].as_u64(), Some(1));
    sandbox.rekindle(&["undo"]).run().ok();
    assert_eq!(sandbox.files(), before);
}

#[test]
fn b_09_an_edit_after_the_listing_goes_with_the_note() {
    let sandbox = sandbox();
    two(&sandbox);
    run(&sandbox, &[]);
    let edited =
        sandbox.read("personal-private/_inbox/older.md").replace("older guess", "truth, edited") + "\nMore.";
    sandbox.write("personal-private/_inbox/older.md", &edited);
    run(&sandbox, &["keep", "older"]);
    assert!(sandbox.read("personal-private/fix/older.md").ends_with("The truth, edited.\n\nMore."));
    // A note edited after it was kept is not undone.
    let mine = sandbox.read("personal-private/fix/older.md") + "\nMine.";
    sandbox.write("personal-private/fix/older.md", &mine);
    assert!(sandbox.rekindle(&["undo"]).run().fails(1).stderr.contains("changed since"));
    assert_eq!(sandbox.read("personal-private/fix/older.md"), mine);
}

#[test]
fn what_is_not_in_the_inbox_is_refused_with_the_next_step() {
    let sandbox = sandbox();
    two(&sandbox);
    save(&sandbox, "fix", "saved", "A memory.");
    sandbox.write("personal-private/_inbox/broken.md", "---\nkind: [never\n");
    sandbox.write("personal-private/_inbox/no-kind.md", "By hand.\n");
    let before = sandbox.files();
    for (args, code, expected) in [
        (&["keep", "nothing-like-it"][..], 2, "there is no `nothing-like-it` in the inbox"),
        (&["drop", "m-999999999999"], 2, "list the inbox with `rekindle inbox`"),
        (&["keep", "saved"], 2, "personal-private/fix/saved.md is not in the inbox"),
        (&["drop", "MEMORY.md"], 2, "MEMORY.md is not in the inbox"),
        (&["keep", "older", "saved"], 2, "is not in the inbox"),
        (&["keep", "no-kind"], 2, "--kind"),
        (&["keep", "older", "--kind", "!!"], 2, "letters or digits"),
        (&["keep", "personal-private/_inbox/broken.md"], 1, "broken.md, line"),
        (&["keep"], 2, "required"),
        (&["keep", "older", "--all"], 2, "cannot be used with"),
        (&["drop"], 2, "required"),
    ] {
        let refused = sandbox.rekindle(&[&["inbox"], args].concat()).run().fails(code);
        assert!(refused.stderr.contains(expected), "{args:?}: {}", refused.stderr);
        assert_eq!(sandbox.files(), before, "{args:?}");
    }
    let off = sandbox.rekindle(&["-c", "memory.enabled=false", "inbox", "drop", "older"]).run().fails(1);
    assert!(off.stderr.contains("memory is off"), "{}", off.stderr);
}

//! Recall follows changes: by the program, by other programs, and by feedback.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{COMPARABLE, found, order, project, recall, results, sandbox, save, text};

#[test]
fn rec_10_a_superseded_version_is_shown_only_when_asked_for() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "port", "The lighthouse controller listens on port 7001.");
    let args =
        ["evolve", "port", "--body", "The lighthouse controller moved to port 7002.", "--reason", "moved"];
    sandbox.rekindle(&args).run().ok();
    let texts = |more: &[&str]| {
        let answer = recall(&sandbox, "lighthouse controller port", more);
        results(&answer).iter().map(|result| text(result, "text").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(texts(&[]), ["The lighthouse controller moved to port 7002."]);
    let both = texts(&["-a", "--anyway"]);
    assert!(both.len() == 2 && both.iter().any(|text| text.contains("7001")), "{both:?}");
    assert!(!recall(&sandbox, "lighthouse controller port", &["--explain"]).to_string().contains("7001"));
    let shown =
        sandbox.rekindle(&["recall", "lighthouse controller port", "-a", "--anyway"]).run().ok().stdout;
    assert!(shown.contains("no longer holds"), "{shown}");
}

#[test]
fn b_09_what_is_undone_is_not_recalled() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "first", "The foghorn sounds twice a minute.");
    save(&sandbox, "fix", "second", "The foghorn compressor is serviced in May.");
    assert_eq!(found(&recall(&sandbox, "foghorn compressor service", &[])).len(), 2);
    sandbox.rekindle(&["undo"]).run().ok();
    let answer = recall(&sandbox, "foghorn compressor service", &["--anyway"]);
    assert_eq!(found(&answer).len(), 1);
    assert!(!answer.to_string().contains("serviced in May") && answer["degraded"] == json!([]), "{answer}");
    let args = ["evolve", "first", "--body", "The foghorn sounds four times a minute.", "--reason", "r"];
    sandbox.rekindle(&args).run().ok();
    sandbox.rekindle(&["undo"]).run().ok();
    let answer = recall(&sandbox, "how often does the foghorn sound", &[]);
    assert_eq!(text(&results(&answer)[0], "text"), "The foghorn sounds twice a minute.");
}

#[test]
fn b_08_forgotten_text_is_nowhere_in_the_state_folder() {
    let sandbox = sandbox();
    let secret = "The smugglers meet at Albatross Cove on Thursdays.";
    save(&sandbox, "fix", "cove", secret);
    save(&sandbox, "fix", "other", "The customs office closes at five.");
    // The note was recalled, merged into the base segment, and saved to the delta again.
    recall(&sandbox, "where do the smugglers meet", &[]);
    sandbox.rekindle(&["reindex", "--all"]).run().ok();
    let args = ["evolve", "cove", "--body", "They now meet at Albatross Cove on Fridays.", "--reason", "r"];
    sandbox.rekindle(&args).run().ok();
    recall(&sandbox, "where do the smugglers meet", &["-a", "--anyway"]);
    assert!(!sandbox.find_bytes("Albatross Cove").is_empty());
    sandbox.rekindle(&["forget", "cove"]).run().ok();
    let left = sandbox.find_bytes("Albatross Cove");
    assert!(left.is_empty(), "{left:?}");
    let answer = recall(&sandbox, "where do the smugglers meet", &["--anyway", "-a"]);
    assert!(!answer.to_string().contains("Albatross"), "{answer}");
    sandbox.rekindle(&["reindex", "--all"]).run().ok();
    assert!(sandbox.find_bytes("Albatross Cove").is_empty());
    assert_eq!(found(&recall(&sandbox, "when does the customs office close", &[])).len(), 1);
}

#[test]
fn sto_14_an_edit_in_an_editor_shows_without_reindexing() {
    let sandbox = sandbox();
    let id = text(&save(&sandbox, "fix", "pump", "The bilge pump has a 20 amp fuse."), "id").to_owned();
    save(&sandbox, "fix", "valve", "The bilge valve is shut by turning it left.");
    let file = sandbox.read("personal-private/fix/pump.md");
    sandbox.write("personal-private/fix/pump.md", file.replace("20 amp", "35 ampere"));
    let answer = recall(&sandbox, "which fuse does the bilge pump have", &[]);
    let hit = &results(&answer)[0];
    assert_eq!((text(hit, "id"), text(hit, "text")), (id.as_str(), "The bilge pump has a 35 ampere fuse."));
    assert_eq!(hit["refreshed"], true);
    let shown = sandbox.rekindle(&["recall", "which fuse does the bilge pump have"]).run().ok().stdout;
    assert!(shown.contains("35 ampere") && shown.contains("changed since it was indexed"), "{shown}");
    // A file with only a new modification time is unchanged.
    sandbox.write("personal-private/fix/valve.md", sandbox.read("personal-private/fix/valve.md"));
    let answer = recall(&sandbox, "how is the bilge valve shut", &[]);
    assert_eq!(results(&answer)[0]["refreshed"], false);
    // A deleted file leaves the answers at once.
    sandbox.remove("personal-private/fix/pump.md");
    let answer = recall(&sandbox, "which fuse does the bilge pump have", &["--anyway"]);
    assert!(!answer.to_string().contains("fuse.") && !found(&answer).contains(&id.as_str()), "{answer}");
    // A memory that a person marked as resolved leaves them too.
    let file = sandbox.read("personal-private/fix/valve.md");
    sandbox.write("personal-private/fix/valve.md", file.replace("status: active", "status: resolved"));
    assert!(found(&recall(&sandbox, "how is the bilge valve shut", &["--anyway"])).is_empty());
}

#[test]
fn b_05_an_edit_that_moves_a_memory_to_another_project_counts_at_once() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "mast", "The mast is stepped with the crane at the yard.");
    let widgets = project(&sandbox, "widgets");
    let file = sandbox.read("personal-private/fix/mast.md");
    let moved = file.replace("scope: global", "scope: project\nproject: github.com/acme/gadgets");
    sandbox.write("personal-private/fix/mast.md", moved);
    let args = ["recall", "how is the mast stepped", "--json", "--anyway"];
    let answer = sandbox.rekindle(&args).cwd(&widgets).run().ok();
    assert!(!answer.stdout.contains("at the yard"), "{}", answer.stdout);
    let args = [&args[..], &["--project", "github.com/acme/gadgets"]].concat();
    // The index still has the old, global scope, so it is found there.
    assert_eq!(results(&sandbox.rekindle(&args).cwd(&widgets).run().ok().json()).len(), 1);
}

#[test]
fn sto_14_reindex_brings_in_what_changed_elsewhere() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "a", "The tender is moored at the east jetty.");
    sandbox.write("personal-private/fix/b.md", "The dinghy is kept in the boathouse.\n");
    assert!(!recall(&sandbox, "where is the dinghy", &["--anyway"]).to_string().contains("boathouse"));
    let report = sandbox.rekindle(&["reindex", "--json"]).run().ok().json();
    assert_eq!((&report["read"], &report["gone"], &report["pending"]), (&json!(1), &json!(0), &json!(0)));
    let answer = recall(&sandbox, "where is the dinghy", &[]);
    assert_eq!(text(&results(&answer)[0], "text"), "The dinghy is kept in the boathouse.");
    sandbox.remove("personal-private/fix/b.md");
    let report = sandbox.rekindle(&["reindex", "--json"]).run().ok().json();
    assert_eq!((&report["read"], &report["gone"]), (&json!(0), &json!(1)));
    assert!(!recall(&sandbox, "where is the dinghy", &["--anyway"]).to_string().contains("boathouse"));
    // A second run has nothing to do.
    let report = sandbox.rekindle(&["reindex", "--json"]).run().ok().json();
    assert_eq!((&report["read"], &report["gone"], &report["embedded"]), (&json!(0), &json!(0), &json!(0)));
}

#[test]
fn sto_14_a_file_that_is_too_large_is_named_whether_there_was_an_index_or_not() {
    let sandbox = sandbox();
    sandbox.write("personal-private/fix/a.md", "The tender is moored at the east jetty.\n");
    sandbox.write("personal-private/fix/huge.md", "The dinghy leaks. ".repeat(8 * 1024 * 1024 / 18 + 1));
    let told = |args: &[&str]| sandbox.rekindle(&[&["reindex", "--json"], args].concat()).run().ok().json();
    let [first, again, all] = [told(&[]), told(&[]), told(&["--all"])];
    for report in [&first, &again, &all] {
        assert_eq!(report["problems"].as_array().map(Vec::len), Some(1), "{report}");
        assert_eq!(report["problems"][0]["why"], "it is larger than 8 MiB", "{report}");
        assert_eq!(report["files"], first["files"], "{report}");
    }
    assert_eq!((&first["read"], &again["read"], &all["read"]), (&first["files"], &json!(0), &first["files"]));
    assert!(!recall(&sandbox, "does the dinghy leak", &["--anyway"]).to_string().contains("leaks"));
}

#[test]
fn sto_14_a_file_that_became_too_large_leaves_nothing_behind() {
    let sandbox = sandbox();
    sandbox.write("personal-private/fix/a.md", "The tender is moored at the east jetty.\n");
    for how in [&["--all"][..], &[]] {
        sandbox.write("personal-private/fix/b.md", "The dinghy leaks.\n");
        let told =
            |args: &[&str]| sandbox.rekindle(&[&["reindex", "--json"], args].concat()).run().ok().json();
        let before = told(&[]);
        sandbox.write("personal-private/fix/b.md", "The dinghy leaks. ".repeat(8 * 1024 * 1024 / 18 + 1));
        let after = told(how);
        assert_eq!(after["files"].as_u64(), before["files"].as_u64().map(|files| files - 1), "{after}");
        assert_eq!(
            (&after["gone"], &after["problems"][0]["why"]),
            (&json!(1), &json!("it is larger than 8 MiB"))
        );
        assert!(!recall(&sandbox, "does the dinghy leak", &["--anyway"]).to_string().contains("leaks"));
        let index = sandbox.state().join("index");
        let base = || {
            let mut items = fs::read_dir(&index).unwrap().map(|item| item.unwrap().path());
            fs::read(items.find(|path| path.extension().is_some_and(|is| is == "base")).unwrap()).unwrap()
        };
        if how.is_empty() {
            told(&["--all"]);
        }
        let again = base();
        fs::remove_dir_all(&index).unwrap();
        told(&[]);
        assert!(again == base(), "{how:?}: other bytes than an index made from nothing");
    }
}

#[test]
fn rec_08_reindex_writes_a_usage_summary_without_effect_on_ranking() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "a", "The tender is moored at the east jetty.");
    save(&sandbox, "fix", "b", "The tender is moored at the west jetty.");
    let answer = || recall(&sandbox, "where is the tender moored", &COMPARABLE)["results"].clone();
    let id = text(&answer()[1], "id").to_owned();
    sandbox.rekindle(&["feedback", &id, "good"]).run().ok();
    let lines = sandbox.state().join("usage.jsonl");
    let line = format!("{{\"at\":\"2026-11-01T09:00:00Z\",\"id\":\"{id}\",\"signal\":\"recalled\"}}\n");
    fs::write(&lines, fs::read_to_string(&lines).unwrap() + &line.repeat(1000)).unwrap();
    let before = answer();
    sandbox.rekindle(&["reindex"]).run().ok();
    let summary = fs::read_to_string(sandbox.state().join("usage.json")).unwrap();
    let start = format!("\"{id}\"\t");
    let usage = summary.lines().find_map(|line| line.strip_prefix(&*start)).unwrap();
    let usage: Value = serde_json::from_str(usage).unwrap();
    assert!(usage["recallCount"].as_u64() >= Some(1000), "{usage}");
    assert_eq!(answer(), before);
}

#[test]
fn sto_15_reindex_waits_for_another_process_that_makes_vectors() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "a", "The backup of the harbour archive runs at night.");
    rekindle_testkit::TinyBert::new(1).write(&sandbox.work().join("tiny"));
    sandbox.rekindle(&["model", "add", "tiny"]).run().ok();
    sandbox.rekindle(&["model", "use", "tiny"]).run().ok();
    let held = fs::File::create(sandbox.state().join("index/embedding.lock")).unwrap();
    held.lock().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| sandbox.rekindle(&["reindex", "--json"]).run().ok());
        std::thread::sleep(Duration::from_millis(700));
        assert!(!waiting.is_finished());
        held.unlock().unwrap();
        let done = waiting.join().unwrap();
        assert!(done.stderr.contains("waiting"), "{}", done.stderr);
        assert_eq!(done.json()["pending"], json!(0));
    });
}

#[test]
fn sto_17_a_failed_index_update_does_not_prevent_a_save() {
    type Block = fn(&Path);
    let blocked: [(&str, Block); 2] = [
        ("a file in place of the index", |index| {
            fs::remove_dir_all(index).unwrap();
            fs::write(index, "x").unwrap();
        }),
        ("a folder in place of the lock", |index| {
            fs::remove_file(index.join("delta.lock")).unwrap();
            fs::create_dir(index.join("delta.lock")).unwrap();
        }),
    ];
    for (name, block) in blocked {
        let sandbox = sandbox();
        save(&sandbox, "fix", "a", "The tender is moored at the east jetty.");
        let index = sandbox.state().join("index");
        block(&index);
        let body = "The dinghy is kept in the boathouse.";
        let saved = sandbox.rekindle(&["save", "fix", "b", "--body", body]).run().ok();
        assert!(saved.stderr.contains("warning: saved, but not indexed yet: "), "{name}: {}", saved.stderr);
        assert!(saved.stdout.starts_with("Saved "), "{name}: {}", saved.stdout);
        assert!(sandbox.read("personal-private/fix/b.md").contains(body), "{name}");
        // The next save that gets the lock indexes both.
        fs::remove_dir(index.join("delta.lock")).or_else(|_| fs::remove_file(&index)).unwrap();
        save(&sandbox, "fix", "c", "The lantern is lit at dusk.");
        let answer = recall(&sandbox, "where is the dinghy kept", &["--anyway"]);
        assert_eq!(text(&results(&answer)[0], "text"), body, "{name}");
        assert!(is_indexed(&answer), "{name}: {answer}");
    }
}

/// True if the index has every note. On a busy machine the vectors of a save may follow later.
fn is_indexed(answer: &Value) -> bool {
    !answer["degraded"].as_array().unwrap().contains(&json!("behind"))
}

#[test]
fn sto_17_no_recall_waits_for_a_writer_and_a_save_says_that_it_did_not_get_in() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "a", "The tender is moored at the east jetty.");
    let ask = || recall(&sandbox, "where is the tender moored", &COMPARABLE);
    let before = order(&ask());
    assert!(!before.is_empty());
    let held = ["writer.lock", "delta.lock", "embedding.lock"].map(|name| {
        let lock = fs::File::create(sandbox.state().join("index").join(name)).unwrap();
        lock.lock().unwrap();
        lock
    });
    // A busy machine may slow one of them down, but waiting for a lock would take two seconds every time.
    let quickest = (0..3)
        .map(|_| {
            let start = Instant::now();
            let answer = ask();
            assert_eq!((order(&answer), &answer["degraded"]), (before.clone(), &json!([])));
            start.elapsed()
        })
        .min()
        .unwrap();
    assert!(quickest < Duration::from_secs(2), "{quickest:?}");
    let body = "The dinghy is kept in the boathouse.";
    let saved = sandbox.rekindle(&["save", "fix", "b", "--body", body]).run().ok();
    assert!(saved.stderr.contains("not indexed yet: another process is indexing"), "{}", saved.stderr);
    assert!(sandbox.read("personal-private/fix/b.md").contains(body));
    assert_eq!(ask()["degraded"], json!(["behind"]));
    drop(held);
    save(&sandbox, "fix", "c", "The lantern is lit at dusk.");
    let answer = recall(&sandbox, "where is the dinghy kept", &["--anyway"]);
    assert_eq!(text(&results(&answer)[0], "text"), body);
    assert!(is_indexed(&answer), "{answer}");
}

#[test]
fn sto_11_mnt_07_another_model_is_noticed_and_the_index_made_again() {
    let sandbox = sandbox();
    let id = text(&save(&sandbox, "fix", "a", "The backup of the harbour archive runs at night."), "id")
        .to_owned();
    let before = recall(&sandbox, "backup of the harbour archive", &[]);
    rekindle_testkit::TinyBert::new(1).write(&sandbox.work().join("tiny"));
    sandbox.rekindle(&["model", "add", "tiny"]).run().ok();
    sandbox.rekindle(&["model", "use", "tiny"]).run().ok();
    let answer = recall(&sandbox, "backup of the harbour archive", &["--anyway"]);
    assert_eq!(answer["degraded"], json!(["other-model"]));
    assert_eq!(found(&answer), [id.as_str()], "words alone decide, and do");
    sandbox.rekindle(&["reindex"]).run().ok();
    let answer = recall(&sandbox, "backup of the harbour archive", &["--anyway"]);
    assert_eq!((&answer["degraded"], found(&answer)), (&json!([]), vec![id.as_str()]));
    sandbox.rekindle(&["model", "use", "builtin/all-minilm-l6-v2"]).run().ok();
    sandbox.rekindle(&["reindex"]).run().ok();
    let again = recall(&sandbox, "backup of the harbour archive", &[]);
    assert_eq!(results(&again)[0]["parts"], results(&before)[0]["parts"]);
}

#[test]
fn rec_08_what_helped_ranks_higher_and_what_misled_lower() {
    let sandbox = sandbox();
    let mut ids = Vec::new();
    for (slug, place) in [("north", "north"), ("south", "south")] {
        let body = format!("The spare sails are stored in the {place} loft.");
        ids.push(text(&save(&sandbox, "fix", slug, &body), "id").to_owned());
    }
    let ask = || recall(&sandbox, "where are the spare sails stored", &[]);
    let first = found(&ask())[0].to_owned();
    let second = ids.iter().find(|id| **id != first).unwrap().clone();
    let score = |id: &str| {
        let answer = ask();
        results(&answer).iter().find(|result| result["id"] == id).unwrap()["score"].as_f64().unwrap()
    };
    let (before_first, before_second) = (score(&first), score(&second));
    let said = sandbox.rekindle(&["feedback", &second, "good", "--json"]).run().ok().json();
    assert_eq!(
        (text(&said, "id"), said["strength"].as_f64().map(|s| s > 0.0)),
        (second.as_str(), Some(true))
    );
    sandbox.rekindle(&["feedback", &first, "wrong"]).run().ok();
    assert!(score(&second) > before_second && score(&first) < before_first);
    for _ in 0..3 {
        sandbox.rekindle(&["feedback", &second, "good"]).run().ok();
        sandbox.rekindle(&["feedback", &first, "wrong"]).run().ok();
    }
    assert_eq!(found(&ask()), [second.as_str(), &first]);
    // Feedback takes a path, and only for an existing memory.
    sandbox.rekindle(&["feedback", "personal-private/fix/north.md", "stale"]).run().ok();
    sandbox.rekindle(&["feedback", "m-000000000000", "good"]).run().fails(2);
    sandbox.rekindle(&["feedback", &first, "meh"]).run().fails(2);
}

#[test]
fn rec_09_what_is_marked_as_outdated_ranks_lower_and_says_so() {
    let sandbox = sandbox();
    let old = text(&save(&sandbox, "fix", "old", "The chandlery sells rope by the metre on weekdays."), "id")
        .to_owned();
    let before =
        results(&recall(&sandbox, "where is rope sold by the metre", &[]))[0]["score"].as_f64().unwrap();
    let file = sandbox.read("personal-private/fix/old.md");
    sandbox.write("personal-private/fix/old.md", file.replacen("---\n", "---\nstale: true\n", 1));
    sandbox.rekindle(&["reindex"]).run().ok();
    let answer = recall(&sandbox, "where is rope sold by the metre", &[]);
    let hit = &results(&answer)[0];
    assert_eq!((text(hit, "id"), &hit["stale"]), (old.as_str(), &json!(true)));
    assert!(hit["score"].as_f64().unwrap() < before);
}

#[test]
fn rec_23_b_11_inspect_shows_what_was_recalled_and_why() {
    let sandbox = sandbox();
    let id =
        text(&save(&sandbox, "fix", "buoy", "The red buoy marks the wreck of the trawler."), "id").to_owned();
    recall(&sandbox, "what does the red buoy mark", &[]);
    recall(&sandbox, "thanks a lot, bye", &[]);
    let listed = sandbox.rekindle(&["inspect", "--json"]).run().ok().json();
    let queries: Vec<&str> = listed.as_array().unwrap().iter().map(|line| text(line, "query")).collect();
    assert_eq!(queries, ["thanks a lot, bye", "what does the red buoy mark"]);
    let shown = sandbox.rekindle(&["inspect"]).run().ok().stdout;
    assert!(shown.contains("silent") && shown.contains("1 shown"), "{shown}");
    let second = sandbox.rekindle(&["inspect", "2", "--json"]).run().ok().json();
    assert_eq!((&second["results"][0]["id"], &second["abstained"]), (&json!(id), &json!(false)));
    assert!(second["results"][0]["parts"]["relevance"].as_f64().unwrap() > 0.0);
    let told = sandbox.rekindle(&["inspect", "2"]).run().ok().stdout;
    for word in [id.as_str(), "what does the red buoy mark", "meaning", "decay"] {
        assert!(told.contains(word), "{word} is not in\n{told}");
    }
    // Dropped results are listed with the rule.
    let silent = sandbox.rekindle(&["inspect", "1"]).run().ok().stdout;
    assert!(
        silent.contains("touches the topic, but does not answer the question") && silent.contains(&id),
        "{silent}"
    );
    let of = sandbox.rekindle(&["inspect", "--of", &id, "--json"]).run().ok().json();
    assert_eq!(of.as_array().unwrap().len(), 2);
    sandbox.rekindle(&["inspect", "3"]).run().fails(2);
    sandbox.rekindle(&["inspect", "0"]).run().fails(2);
}

/// The only test with a background process: it must finish the work, touch nothing else, and end.
#[test]
fn sto_15_what_a_save_leaves_undone_is_done_in_the_background() {
    let sandbox = sandbox();
    let body: String = (0..400)
        .map(|n| format!("Paragraph {n} tells of harbour number {n} and its {n} cranes.\n\n"))
        .collect();
    let command = sandbox.rekindle(&["save", "note", "long", "--body", "-", "--json"]).stdin(body);
    command.without_env("REKINDLE_INDEX_BACKGROUND").run().ok();
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let answer = recall(&sandbox, "how many cranes has harbour number 217", &[]);
        if answer["degraded"] == json!([]) {
            assert!(!results(&answer).is_empty(), "{answer}");
            break;
        }
        assert!(Instant::now() < until, "still {}", answer["degraded"]);
        std::thread::sleep(Duration::from_millis(100));
    }
    // The locks are free, so no process is left.
    let before = order(&recall(&sandbox, "how many cranes has harbour number 217", &COMPARABLE));
    let report = sandbox.rekindle(&["reindex", "--json"]).run().ok().json();
    assert_eq!((&report["read"], &report["embedded"], &report["pending"]), (&json!(0), &json!(0), &json!(0)));
    assert_eq!(order(&recall(&sandbox, "how many cranes has harbour number 217", &COMPARABLE)), before);
}

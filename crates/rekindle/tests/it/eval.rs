//! Evaluation of recall on the person's own memories, and reports on the index (B-10).

use std::fs;

use rekindle_testkit::{Sandbox, TinyBert};
use serde_json::Value;

use crate::{sandbox, save, text};

/// Memories: slug, title, and a text with words that the title lacks.
const MEMORIES: [(&str, &str, &str); 5] = [
    ("staging-port", "Staging database port", "Postgres listens on 5433 there, not 5432."),
    ("release", "How a release is made", "Tag the commit, wait for the pipeline, then announce it."),
    ("bread", "Sourdough at home", "Feed the starter the evening before and bake at 240 degrees."),
    ("bicycle", "Winter tyres for the bicycle", "Studded ones, 40 mm, at three bar."),
    ("printer", "Printer in the office", "It wants paper in tray two and a reboot on Mondays."),
];

/// Sets up a home without background processes.
fn quiet() -> Sandbox {
    let sandbox = sandbox();
    sandbox.rekindle(&["config", "set", "index.background", "false"]).run().ok();
    sandbox
}

/// Adds the memories to the home, indexes them and returns their ids.
fn filled() -> (Sandbox, Vec<String>) {
    let sandbox = quiet();
    let ids = MEMORIES.map(|(slug, title, rest)| {
        text(&save(&sandbox, "note", slug, &format!("# {title}\n\n{rest}")), "id").to_owned()
    });
    sandbox.rekindle(&["reindex"]).run().ok();
    (sandbox, ids.to_vec())
}

fn eval(sandbox: &Sandbox, args: &[&str]) -> Value {
    sandbox.rekindle(&[&["eval", "--json"], args].concat()).run().ok().json()
}

#[test]
fn b_10_memories_are_asked_for_by_their_titles() {
    let (sandbox, ids) = filled();
    save(&sandbox, "note", "short", "Only this line");
    save(&sandbox, "note", "same", "# Twice\n\nsaid twice");
    save(&sandbox, "note", "again", "# Twice\n\nsaid twice");
    let run = eval(&sandbox, &[]);
    assert_eq!((&run["pairs"], &run["skipped"], &run["from"]), (&5.into(), &3.into(), &"titles".into()));
    assert_eq!((run["hit_at_1"].as_f64(), run["mrr"].as_f64()), (Some(1.0), Some(1.0)), "{run}");
    assert_eq!(
        (&run["misses"], &run["unknown"], &run["degraded"]),
        (&[(); 0].into(), &[(); 0].into(), &[(); 0].into())
    );
    assert!(run["p95_ms"].as_f64() >= run["p50_ms"].as_f64() && run["p50_ms"].as_f64() > Some(0.0), "{run}");
    assert!(run["documents"].as_u64() >= Some(8) && run["windows"].as_u64() >= run["documents"].as_u64());
    assert!(run["bytes"].as_u64() > Some(1000) && text(&run, "model").starts_with("builtin/"), "{run}");
    assert!(run["silent"].as_u64() >= run["hidden"].as_u64());

    // A limit selects the same questions each time, by their ids.
    assert_eq!(eval(&sandbox, &["--limit", "2"])["pairs"], 2);
    let shown = sandbox.rekindle(&["eval", "--k", "3"]).run().ok().stdout;
    for row in
        ["questions   5 made from titles, 3 memories skipped", "hit@1       1.000", "hit@3       1.000"]
    {
        assert!(shown.contains(row), "{row}:\n{shown}");
    }

    // The log keeps numbers and no word of the notes. Measuring does not count as recall.
    let kept = fs::read_to_string(sandbox.state().join("eval.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 3);
    assert!(!kept.contains("Staging") && !kept.contains(&ids[0]), "{kept}");
    assert_eq!(sandbox.rekindle(&["inspect", "--json"]).run().ok().json(), Value::Array(Vec::new()));
    let runs = sandbox.rekindle(&["eval", "--history", "--json"]).run().ok().json();
    let asked: Vec<_> = runs.as_array().unwrap().iter().map(|run| run["pairs"].as_u64().unwrap()).collect();
    assert_eq!(asked, [5, 2, 5]);
    let table = sandbox.rekindle(&["eval", "--history"]).run().ok().stdout;
    assert!(table.lines().count() == 4 && table.starts_with("when "), "{table}");
}

#[test]
fn b_10_questions_of_ones_own_name_what_they_expect() {
    let (sandbox, ids) = filled();
    let line =
        |query: &str, expect: &[&str]| serde_json::json!({"query": query, "expect": expect}).to_string();
    let pairs = [
        line("which port does the staging database use", &[&ids[0]]),
        line("sourdough starter", &["personal-private/note/bread.md"]),
        line("studded winter tyres", &["MemoryVault/personal-private/note/bicycle.md", &ids[4]]),
        line("printer paper", &["m-000000000000"]),
    ];
    fs::write(sandbox.work().join("pairs.jsonl"), pairs.join("\n\n")).unwrap();
    let run = eval(&sandbox, &["--pairs", "pairs.jsonl", "--k", "1"]);
    assert_eq!((&run["from"], &run["pairs"], &run["k"]), (&"file".into(), &4.into(), &1.into()));
    assert_eq!((run["hit_at_k"].as_f64(), run["mrr"].as_f64()), (Some(0.75), Some(0.75)), "{run}");
    // Of two expected memories only one can be first.
    assert_eq!(run["recall_at_k"].as_f64(), Some(0.625));
    assert_eq!(run["unknown"], serde_json::json!(["m-000000000000"]));
    assert_eq!(run["misses"][0]["query"], "printer paper");
    assert_eq!(run["misses"][0]["instead"], ids[4].as_str());

    let asked = sandbox.rekindle(&["eval", "--pairs", "-"]).stdin(pairs.join("\n")).run().ok();
    assert!(asked.stdout.contains("questions   4 from a file"), "{}", asked.stdout);
    assert!(asked.stdout.contains("missed      printer paper (m-000000000000)"), "{}", asked.stdout);
    assert!(asked.stderr.contains("no memory is called m-000000000000"), "{}", asked.stderr);
    assert_eq!(eval(&sandbox, &["--pairs", "pairs.jsonl", "--limit", "1"])["pairs"], 1);
}

#[test]
fn b_10_what_was_shown_is_not_what_helped() {
    let (sandbox, ids) = filled();
    let shown =
        sandbox.rekindle(&["recall", "staging database port", "--k", "2", "--anyway", "--json"]).run().ok();
    let shown = shown.json()["results"].as_array().unwrap().len();
    sandbox.rekindle(&["feedback", &ids[0], "good"]).run().ok();
    sandbox.rekindle(&["feedback", &ids[1], "wrong"]).run().ok();
    let lived = &eval(&sandbox, &[])["lived"];
    assert_eq!((lived["shown"].as_u64(), lived["injected"].as_u64()), (Some(shown as u64), Some(0)));
    assert_eq!(lived["feedback"], serde_json::json!({"good": 1, "wrong": 1, "stale": 0}));
}

#[test]
fn b_10_what_cannot_be_measured_is_refused_with_what_to_do() {
    let sandbox = quiet();
    let refused = |args: &[&str], code: i32, what: &str| {
        let said = sandbox.rekindle(&[&["eval"], args].concat()).run().fails(code).stderr;
        assert!(said.contains(what), "{args:?}: {said}");
        assert!(!sandbox.state().join("eval.jsonl").exists());
    };
    refused(&[], 1, "run `rekindle reindex` to build it");
    sandbox.rekindle(&["reindex"]).run().ok();
    refused(&[], 1, "there are no memories to ask for yet");
    save(&sandbox, "note", "short", "Only this line");
    refused(&[], 1, "1 memories have no text beyond their title");
    save(&sandbox, "note", "long", "# Title\n\nand more");
    refused(&["--limit", "0"], 2, "--limit 0 leaves no questions to ask");
    refused(&["--k", "0"], 2, "--k must be from 1 to 10, not 0");
    refused(&["--k", "11"], 2, "--k must be from 1 to 10, not 11");
    refused(&["--history", "--limit", "3"], 2, "cannot be used with");
    refused(&["-c", "memory.enabled=false"], 1, "memory is off");

    refused(&["--pairs", "none.jsonl"], 2, "no such file: ");
    refused(&["--pairs", "."], 2, "could not read");
    let write = |text: &str| fs::write(sandbox.work().join("pairs.jsonl"), text).unwrap();
    write("{\"query\": \"q\", \"expect\": [\"m-1\"]}\n{\"query\": \n");
    refused(&["--pairs", "pairs.jsonl"], 2, "pairs.jsonl: line 2: EOF while parsing");
    write("{\"query\": \"q\", \"expect\": []}\n");
    refused(&["--pairs", "pairs.jsonl"], 2, "line 1: `expect` is empty");
    write("\n\n");
    refused(&["--pairs", "pairs.jsonl"], 2, "it contains no questions");

    let history = sandbox.rekindle(&["eval", "--history"]).run().ok();
    assert!(history.stdout.is_empty() && history.stderr.contains("No measurements yet"));
}

/// Returns the findings of `doctor` about the index and the word of `status`.
fn index(sandbox: &Sandbox, code: i32) -> (String, String) {
    let doctor = sandbox.rekindle(&["doctor", "--json"]).run();
    let doctor = if code == 0 { doctor.ok() } else { doctor.fails(code) }.json();
    let check = doctor["checks"].as_array().unwrap().iter().find(|check| check["check"] == "index").unwrap();
    let findings = check["findings"].as_array().unwrap().iter();
    let said: Vec<String> = findings
        .map(|one| format!("{} {} | {}", text(one, "level"), text(one, "what"), one["hint"]))
        .collect();
    let status = sandbox.rekindle(&["status", "--json"]).run().ok().json();
    (said.join("\n"), text(&status["index"], "state").to_owned())
}

#[test]
fn b_10_doctor_and_status_say_how_the_index_is() {
    let sandbox = quiet().reading_all_notes();
    let folder = sandbox.state().join("index");
    let expect = |code: i32, state: &str, what: &str| {
        let (said, word) = index(&sandbox, code);
        assert!(said.contains(what) && word == state, "{word}: {said}");
    };
    expect(0, "missing", "warning there is no index yet");
    save(&sandbox, "note", "staging", "# Staging\n\nPostgres listens on 5433.");
    sandbox.rekindle(&["reindex"]).run().ok();
    expect(0, "current", "documents indexed");
    let rows = sandbox.rekindle(&["status"]).run().ok().stdout;
    assert!(rows.contains("index       ") && rows.contains(", current\n"), "{rows}");
    assert!(rows.contains("embeddings: builtin/all-minilm-l6-v2"), "{rows}");

    // A changed file makes the index stale; a new modification time alone does not.
    let note = sandbox.path("personal-private/note/staging.md");
    fs::File::options().write(true).open(&note).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    expect(0, "current", "documents indexed");
    fs::write(&note, fs::read_to_string(&note).unwrap() + "Since May.\n").unwrap();
    fs::write(sandbox.vault().join("../Other.md"), "A note of my own.\n").unwrap();
    expect(0, "behind", "warning 2 files changed since the index was built");
    sandbox.rekindle(&["reindex"]).run().ok();
    expect(0, "current", "documents indexed");

    // Temporary files of a killed process.
    fs::write(folder.join("000000.base"), "old").unwrap();
    fs::write(folder.join(".rekindle-base-1.tmp"), "half").unwrap();
    expect(0, "current", "warning found 2 leftover files");
    sandbox.rekindle(&["reindex", "--all"]).run().ok();
    assert!(!index(&sandbox, 0).0.contains("leftover"));

    // An index from before the last change, as after restoring a backup.
    let before: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    let before: Vec<_> = before.into_iter().map(|file| (fs::read(&file).unwrap(), file)).collect();
    save(&sandbox, "note", "later", "# Later\n\nThis came later.");
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    before.iter().for_each(|(bytes, file)| fs::write(file, bytes).unwrap());
    expect(0, "behind", "warning the newest changes are not indexed yet");
    sandbox.rekindle(&["reindex"]).run().ok();

    // More text than a save indexes in its time budget.
    for n in 0..40 {
        let text =
            format!("# Part {n}\n\n{}\n", format!("word{n} of many that follow each other. ").repeat(12));
        sandbox.write(format!("personal-private/note/part-{n}.md"), text);
    }
    sandbox.rekindle(&["reindex", "--no-embed"]).run().ok();
    expect(0, "pending", "without an embedding");
    sandbox.rekindle(&["reindex"]).run().ok();
    expect(0, "current", "documents indexed");

    // One corrupted byte.
    let base = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let base = base.into_iter().find(|file| file.extension().is_some_and(|ending| ending == "base")).unwrap();
    let mut bytes = fs::read(&base).unwrap();
    let at = bytes.windows(8).position(|window| window == b"Postgres").unwrap();
    bytes[at] ^= 1;
    fs::write(&base, &bytes).unwrap();
    expect(1, "current", "error the index is damaged: ");
    fs::write(&base, &bytes[..100]).unwrap();
    expect(1, "damaged", "with `rekindle reindex --all`");
    assert!(sandbox.rekindle(&["status"]).run().ok().stdout.contains("index       damaged"));
    sandbox.rekindle(&["reindex", "--all"]).run().ok();
    expect(0, "current", "documents indexed");
}

#[test]
fn rec_11_an_index_of_another_model_is_named() {
    let (sandbox, _) = filled();
    TinyBert::new(1).write(&sandbox.work().join("tiny"));
    sandbox.rekindle(&["model", "add", "tiny"]).run().ok();
    sandbox.rekindle(&["model", "use", "tiny"]).run().ok();
    let (said, word) = index(&sandbox, 0);
    assert!(said.contains("it was built with another model (builtin/all-minilm-l6-v2@"), "{said}");
    assert_eq!(word, "other-model");
    let run = sandbox.rekindle(&["eval"]).run().ok();
    assert!(
        run.stderr.contains("built with another model, so only keywords were searched"),
        "{}",
        run.stderr
    );
    sandbox.rekindle(&["reindex"]).run().ok();
    assert_eq!(index(&sandbox, 0).1, "current");
}

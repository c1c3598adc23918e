//! `rekindle bench` follows the format of external scorers: the order of answers, namespaces, the time of a
//! question, and broken lines.

use rekindle_testkit::{Sandbox, TestCommand};
use serde_json::{Value, json};

use crate::{found, results, text};

const QUESTION: &str = "how is the harbour crane greased";
/// A time after every message of this file.
const NOW: &str = "2026-01-01T00:00:00Z";

/// Creates an empty home. Measuring needs no vault, so the store is all that it will hold.
fn nowhere() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_rekindle"))
}

fn bench(sandbox: &Sandbox, args: &[&str], lines: impl Into<Vec<u8>>) -> TestCommand {
    let store = sandbox.home().join("store");
    sandbox.rekindle(&["bench"]).args(args).arg("--store").arg(store).stdin(lines)
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn message(ns: &str, id: &str, ts: &str, text: &str) -> Value {
    json!({"ns": ns, "session": "talk", "id": id, "ts": ts, "role": "user", "text": text})
}

fn question(ns: &str, qid: &str, ts: &str, query: &str) -> Value {
    json!({"ns": ns, "qid": qid, "ts": ts, "query": query})
}

#[track_caller]
fn remember(sandbox: &Sandbox, messages: &[Value]) -> Value {
    bench(sandbox, &["ingest"], lines(messages)).run().ok().json()
}

#[track_caller]
fn ask(sandbox: &Sandbox, more: &[&str], questions: &[Value]) -> Vec<Value> {
    let output = bench(sandbox, &[&["query"], more].concat(), lines(questions)).run().ok();
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The found ids in alphabetical order, for answers with no defined order.
fn sorted(answer: &Value) -> Vec<&str> {
    let mut ids = found(answer);
    ids.sort_unstable();
    ids
}

/// Creates a number of memories that all relate to the question.
fn cranes(count: usize) -> Vec<Value> {
    let crane = |number: usize| {
        let said = format!("Harbour crane {number} is greased on day {number}.");
        message("ada", &format!("crane-{number}"), "2025-01-01T10:00:00Z", &said)
    };
    (0..count).map(crane).collect()
}

#[test]
fn answers_come_in_the_order_of_the_questions() {
    let sandbox = nowhere();
    let at = "2025-01-01T10:00:00Z";
    remember(
        &sandbox,
        &[
            message("ada", "crane", at, "The harbour crane is greased with the yellow tin."),
            message("ada", "ferry", at, "The night ferry leaves from pier four."),
            message("ada", "lemon", at, "Lemon trees must not stand outside in winter."),
        ],
    );
    let asked = [
        ("z", "ferry", "from which pier does the ferry leave"),
        ("a", "lemon", "can the lemon trees stay outside in winter"),
        ("m", "crane", QUESTION),
        ("b", "ferry", "when I take the night ferry, where do I go"),
    ];
    let answers = ask(&sandbox, &[], &asked.map(|(qid, _, query)| question("ada", qid, NOW, query)));
    assert_eq!(answers.len(), asked.len());
    for (answer, (qid, best, _)) in answers.iter().zip(asked) {
        assert_eq!((text(answer, "qid"), found(answer)[0]), (qid, best), "{answer}");
        assert!(answer["latency_ms"].is_number() && answer["context_tokens"].is_u64(), "{answer}");
        assert!(answer["abstain"].is_boolean(), "{answer}");
        let scores: Vec<f64> =
            results(answer).iter().map(|result| result["score"].as_f64().unwrap()).collect();
        assert!(scores.is_sorted_by(|better, worse| better >= worse), "{answer}");
    }
}

#[test]
fn b_05_one_persons_memory_is_never_anothers() {
    let sandbox = nowhere();
    let at = "2025-01-01T10:00:00Z";
    // Session and id are equal in both; only the namespace differs.
    let done = remember(
        &sandbox,
        &[
            message("ada", "tin", at, "The harbour crane is greased with the yellow tin."),
            message("bob", "brush", at, "The harbour crane is greased with a brush."),
            message("ada", "when", at, "The harbour crane is greased on Mondays."),
            message("bob", "when", at, "The harbour crane is greased on Fridays."),
        ],
    );
    assert_eq!((&done["added"], &done["namespaces"]), (&json!(4), &json!(2)));
    let answers = ask(&sandbox, &[], &["ada", "bob", "Ada", ""].map(|ns| question(ns, "q", NOW, QUESTION)));
    let names: Vec<Vec<&str>> = answers.iter().map(sorted).collect();
    assert_eq!(names, [vec!["tin", "when"], vec!["brush", "when"], vec![], vec![]]);
    assert_eq!(answers[2]["abstain"], true, "of whom nothing is known, nothing is said");
}

/// Sorted as text, these times have another order than as instants.
#[test]
fn nothing_is_found_that_is_later_than_the_question() {
    let sandbox = nowhere();
    let said = |id: &str, ts: &str| message("ada", id, ts, &format!("The harbour crane is greased {id}."));
    remember(
        &sandbox,
        &[
            said("after", "2025-02-28T22:00:00-05:00"),
            said("then", "2025-02-28T23:30:00Z"),
            said("before", "2025-03-01T01:00:00+02:00"),
            said("half", "2025-04-01T00:00:00.5Z"),
        ],
    );
    for (now, known) in [
        ("2025-02-28T22:59:59Z", vec![]),
        ("2025-02-28T23:00:00Z", vec!["before"]),
        ("2025-03-01T00:30:00+01:00", vec!["before", "then"]),
        ("2025-03-01T02:59:59Z", vec!["before", "then"]),
        ("2025-02-28T22:00:00-05:00", vec!["after", "before", "then"]),
        ("2025-04-01T00:00:00.499Z", vec!["after", "before", "then"]),
        ("2025-04-01T00:00:00.5Z", vec!["after", "before", "half", "then"]),
    ] {
        let answers = ask(&sandbox, &[], &[question("ada", "q", now, QUESTION)]);
        assert_eq!(sorted(&answers[0]), known, "{now}");
        assert!(!known.is_empty() || answers[0]["abstain"] == true, "{now}: {}", answers[0]);
    }
}

#[test]
fn the_same_id_again_changes_nothing() {
    let sandbox = nowhere();
    let at = "2025-01-01T10:00:00Z";
    let tin = message("ada", "tin", at, "The harbour crane is greased with the yellow tin.");
    let other = message("ada", "tin", "2025-06-01T10:00:00Z", "Lemon trees must not stand outside.");
    let done = remember(&sandbox, &[tin.clone(), other.clone(), tin.clone()]);
    assert_eq!((&done["messages"], &done["added"]), (&json!(3), &json!(1)));
    let asked = [
        question("ada", "crane", NOW, QUESTION),
        question("ada", "lemon", NOW, "can lemon trees stay outside"),
        // A search that took the later text, which has a later time, would find nothing here.
        question("ada", "spring", "2025-03-01T00:00:00Z", QUESTION),
    ];
    let orders = || -> Vec<Value> {
        ask(&sandbox, &[], &asked).into_iter().map(|answer| answer["results"].clone()).collect()
    };
    let (stored, known) = (sandbox.everything(), orders());
    assert!(known.iter().all(|results| results.as_array().unwrap().len() == 1), "{known:?}");
    assert!(known[0][0]["score"].as_f64() > known[1][0]["score"].as_f64(), "the first text stays: {known:?}");

    assert_eq!(remember(&sandbox, &[other, tin.clone()])["added"], 0);
    assert_eq!((sandbox.everything(), orders()), (stored, known));

    let winch = message("ada", "winch", at, "The harbour winch is greased on Mondays.");
    assert_eq!(remember(&sandbox, &[tin, winch])["added"], 1);
    assert_eq!(sorted(&ask(&sandbox, &[], &asked)[0]), ["tin", "winch"]);
}

#[test]
fn b_06_the_whole_order_is_given_also_where_recall_would_be_silent() {
    let sandbox = nowhere();
    remember(&sandbox, &cranes(12));
    let answers = ask(
        &sandbox,
        &[],
        &[
            question("ada", "work", NOW, QUESTION),
            question("ada", "talk", NOW, "thanks, looks good to me!"),
            question("ada", "elsewhere", NOW, "who won the world cup in 1998"),
        ],
    );
    let flags: Vec<&Value> = answers.iter().map(|answer| &answer["abstain"]).collect();
    assert_eq!(flags, [&json!(false), &json!(true), &json!(true)]);
    for answer in &answers {
        assert_eq!(found(answer).len(), 12, "{answer}");
    }
}

#[test]
fn as_many_are_named_as_were_asked_for() {
    let sandbox = nowhere();
    remember(&sandbox, &cranes(60));
    let asked = [question("ada", "q", NOW, QUESTION)];
    let all = ask(&sandbox, &["--k=100"], &asked);
    let all = found(&all[0]);
    assert_eq!(all.len(), 60);
    for (more, count) in [(vec!["--k=3"], 3), (vec!["--k=50"], 50), (vec![], 50)] {
        assert_eq!(found(&ask(&sandbox, &more, &asked)[0]), all[..count], "{more:?}");
    }
}

/// Lines that are neither a message nor a question, with part of the error for each.
const BROKEN: [(&str, &str); 5] = [
    ("harbour crane", "expected"),
    (r#"{"ns":"ada","session":"talk","id":"x","qid":"x","#, "EOF"),
    (
        r#"{"ns":"ada","session":"talk","id":"x","qid":"x","ts":"2025-01-01T10:00:00Z","role":"user"}"#,
        "missing field",
    ),
    (
        r#"{"ns":7,"session":"talk","id":"x","qid":"x","ts":"2025-01-01T10:00:00Z","role":"user","text":"","query":""}"#,
        "expected a string",
    ),
    (
        r#"{"ns":"ada","session":"talk","id":"x","qid":"x","ts":"someday","role":"user","text":"","query":""}"#,
        "year",
    ),
];

#[test]
fn a_broken_line_is_refused_and_nothing_is_remembered() {
    let sandbox = nowhere();
    let around = cranes(3);
    for round in ["no store yet", "a store that knows something"] {
        let before = sandbox.everything();
        for (broken, why) in BROKEN {
            let input = format!("{}{broken}\n{}", lines(&around[1..2]), lines(&around[2..]));
            let output = bench(&sandbox, &["ingest"], input).run().fails(2);
            for said in ["line 2:", why, "rekindle bench --help"] {
                assert!(output.stderr.contains(said), "{round}: `{said}` is not in:\n{}", output.stderr);
            }
            assert_eq!((output.stdout.as_str(), sandbox.everything()), ("", before.clone()), "{round}");
        }
        let no_text = [lines(&around[1..]).as_bytes(), b"\xff\xfe\n"].concat();
        let output = bench(&sandbox, &["ingest"], no_text).run().fails(2);
        assert!(output.stderr.contains("line 3:"), "{round}: {}", output.stderr);
        assert_eq!(sandbox.everything(), before, "{round}");
        remember(&sandbox, &around[..1]);
    }
    let answers = ask(&sandbox, &[], &[question("ada", "q", NOW, QUESTION)]);
    assert_eq!(found(&answers[0]), ["crane-0"]);
}

#[test]
fn a_broken_question_ends_the_answers_in_whole_lines() {
    let sandbox = nowhere();
    remember(&sandbox, &cranes(3));
    let before = sandbox.everything();
    for (broken, why) in BROKEN {
        let asked = |qid: &str| lines(&[question("ada", qid, NOW, QUESTION)]);
        let input = format!("{}{broken}\n{}", asked("before"), asked("behind"));
        let output = bench(&sandbox, &["query"], input).run().fails(2);
        for said in ["line 2:", why, "rekindle bench --help"] {
            assert!(output.stderr.contains(said), "`{said}` is not in:\n{}", output.stderr);
        }
        for line in output.stdout.lines() {
            let answer: Value = serde_json::from_str(line).unwrap();
            assert_eq!((text(&answer, "qid"), found(&answer).len()), ("before", 3), "{broken}");
        }
    }
    assert_eq!(sandbox.everything(), before);
}

//! Recall, through the binary: results, explanations and visibility.

use rekindle_testkit::Sandbox;
use serde_json::{Value, json};

use crate::{found, order, project, recall, results, sandbox, save, text};

/// Memories on different topics: kind, slug and text.
const MEMORIES: [(&str, &str, &str); 8] = [
    (
        "fix",
        "staging-port",
        "The staging Postgres listens on port 5433, because 5432 is taken by the old replica.",
    ),
    (
        "howto",
        "release",
        "To release, tag the commit with the version and wait until the signing job is green.",
    ),
    (
        "decision",
        "queue",
        "Background jobs go through NATS; RabbitMQ lost messages when a node was restarted.",
    ),
    ("gotcha", "parser", "parse_header_line() returns an empty map for a line that has only a colon."),
    ("preference", "reviews", "Ada wants pull requests below 300 changed lines and without reformatting."),
    ("fix", "flaky-clock", "The flaky calendar test froze the clock in local time; it has to be UTC."),
    (
        "howto",
        "certificates",
        "Certificates are renewed by hand in March: run the renewal script on the bastion.",
    ),
    ("decision", "images", "Thumbnails are made on upload, not on request, since the CDN caches errors."),
];

/// Saves [`MEMORIES`] and returns their ids in the same order.
fn furnished() -> (Sandbox, Vec<String>) {
    let sandbox = sandbox();
    let ids = MEMORIES.map(|(kind, slug, body)| text(&save(&sandbox, kind, slug, body), "id").to_owned());
    (sandbox, ids.to_vec())
}

#[test]
fn rec_01_what_was_saved_is_found_by_its_words_by_its_meaning_and_by_a_name() {
    let (sandbox, ids) = furnished();
    for (query, place) in [
        ("staging postgres port", 0),
        ("why is it not 5432", 0),
        ("how do we ship a new version", 1),
        ("what happened to our message broker", 2),
        ("parse_header_line", 3),
        ("how large may a change be before somebody looks at it", 4),
        ("a test that fails in other time zones", 5),
        ("our TLS is about to expire", 6),
    ] {
        let answer = recall(&sandbox, query, &["--anyway"]);
        assert_eq!(found(&answer).first().copied(), Some(ids[place].as_str()), "{query}: {answer}");
        assert_eq!(answer["degraded"], json!([]), "{query}");
    }
    for query in ["staging postgres port", "parse_header_line", "how do we release"] {
        assert_eq!(recall(&sandbox, query, &[])["abstained"], false, "{query}");
    }
}

#[test]
fn b_06_unrelated_prompts_get_no_memories() {
    let (sandbox, _) = furnished();
    for query in ["thanks, that was great!", "write a haiku about the sea", "what is the capital of Mongolia"]
    {
        let answer = recall(&sandbox, query, &[]);
        assert_eq!(
            (&answer["abstained"], &answer["results"]),
            (&json!(true), &json!([])),
            "{query}: {answer}"
        );
        let said = sandbox.rekindle(&["recall", query]).run().ok();
        assert_eq!(said.stdout, "", "{query}");
        assert!(said.stderr.contains("Show the closest with `--anyway`"), "{}", said.stderr);
        let anyway = recall(&sandbox, query, &["--anyway"]);
        assert!(!results(&anyway).is_empty() && anyway["abstained"] == false, "{query}: {anyway}");
    }
}

#[test]
fn rec_07_rec_15_an_answer_says_what_it_did() {
    let (sandbox, ids) = furnished();
    let answer = recall(&sandbox, "staging postgres port", &["--kind", "fix", "--k", "3"]);
    assert_eq!(answer["query"], "staging postgres port");
    assert_eq!(answer["rewrittenQuery"], Value::Null);
    assert_eq!(answer["filtersApplied"], json!([{"filter": "kind", "value": "fix"}]));
    assert_eq!((&answer["droppedByTrustPass"], &answer["abstained"]), (&json!(0), &json!(false)));
    assert!(answer["tookMs"].as_f64().unwrap() > 0.0);
    let best = &results(&answer)[0];
    assert_eq!(text(best, "id"), ids[0]);
    assert_eq!(text(best, "path"), "MemoryVault/personal-private/fix/staging-port.md");
    assert_eq!(text(best, "text"), MEMORIES[0].2);
    assert!(MEMORIES[0].2.starts_with(text(best, "title").trim_end_matches('…')), "{best}");
    assert_eq!((text(best, "origin"), &best["reviewed"]), ("user", &json!(true)));
    assert!(text(best, "created").ends_with('Z'));
    // The score is the sum of its parts times the product of its factors.
    let sum = |value: &Value, but: &str| -> f64 {
        value
            .as_object()
            .unwrap()
            .iter()
            .filter(|(key, _)| *key != but)
            .map(|(_, part)| part.as_f64().unwrap())
            .sum()
    };
    let product: f64 =
        best["factors"].as_object().unwrap().values().map(|part| part.as_f64().unwrap()).product();
    let relevance = best["parts"]["relevance"].as_f64().unwrap();
    assert!((sum(&best["parts"], "relevance") - relevance).abs() < 1e-5, "{best}");
    assert!((relevance * product - best["score"].as_f64().unwrap()).abs() < 1e-5, "{best}");
    // The same for the output without `--json`.
    let shown = sandbox.rekindle(&["recall", "staging postgres port", "--explain"]).run().ok().stdout;
    for word in [
        ids[0].as_str(),
        "staging-port.md",
        "listens on port 5433",
        "\n    meaning  ",
        "Relevance gate: probability ",
    ] {
        assert!(shown.contains(word), "{word} is not in\n{shown}");
    }
}

#[test]
fn x_19_recall_shows_five_results_by_default() {
    let sandbox = sandbox();
    for number in 0..14 {
        let body = format!("Deploy step {number}: the harbour crane number {number} is greased.");
        save(&sandbox, "howto", &format!("crane-{number}"), &body);
    }
    let count = |more: &[&str]| found(&recall(&sandbox, "how is the harbour crane greased", more)).len();
    assert_eq!((count(&[]), count(&["--k", "10"]), count(&["-k", "1"]), count(&["--k", "0"])), (5, 10, 1, 0));
    assert_eq!(count(&["-c", "recall.k=7"]), 7);
    let refused = sandbox.rekindle(&["recall", "crane", "--k", "201", "--json"]).run().fails(2);
    assert!(text(&refused.json()["error"], "message").contains("200 at most"), "{}", refused.stdout);
    // Near misses are counted.
    let answer = recall(&sandbox, "how is the harbour crane greased", &[]);
    assert!(answer["dropped"].as_array().unwrap().iter().any(|dropped| dropped["rule"] == "cap"));
}

const OBSERVED: &str = "# 2026-05-02

### 🔍 Observations (session: lamps, 10:30)
<!-- rekindle session=s-1 time=10:30 -->
**Trigger**: compaction

#### Lamps

* 🔴 (10:02) The harbour lamp is switched by relay nine. <!-- rekindle id=o-1 origin=user messages=m1 -->
* 🟢 (10:03) The harbour lamp may be switched by relay two. <!-- rekindle id=o-2 origin=tool messages=m2 -->
";

#[test]
fn rec_10_sto_09_filters_combine() {
    let sandbox = sandbox();
    let entry = |group: &str, kind: &str, slug: &str, tags: &str, created: &str, origin: &str| {
        let id = format!("m-{:0>12}", slug.replace('-', ""));
        let head = format!(
            "id: {id}\nkind: {kind}\nstatus: active\ntags: [{tags}]\ncreated: {created}\ngroup: {group}\norigin: {origin}"
        );
        sandbox.write(
            format!("{group}/{kind}/{slug}.md"),
            format!("---\n{head}\n---\n\nThe harbour lamp number {slug} is switched by a relay.\n"),
        );
        id
    };
    let a = entry("personal-private", "fix", "aaa", "light, sea", "2026-01-10T08:00:00Z", "user");
    let b = entry("personal-private", "howto", "bbb", "light", "2026-03-10T08:00:00Z", "user");
    let c = entry("personal-skills", "howto", "ccc", "sea", "2026-04-10T08:00:00Z", "agent");
    sandbox.write("memory/2026-05-02.md", OBSERVED);
    sandbox.rekindle(&["reindex"]).run().ok();
    let of = |more: &[&str]| {
        let answer = recall(
            &sandbox,
            "which relay switches the harbour lamp",
            &[&["--anyway", "-k", "10"], more].concat(),
        );
        let mut found: Vec<String> = found(&answer).into_iter().map(str::to_owned).collect();
        found.sort();
        (found, answer["filtersApplied"].as_array().unwrap().len())
    };
    let sorted = |ids: &[&str]| {
        let mut ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        ids.sort();
        ids
    };
    for (more, expected) in [
        (&[][..], &[a.as_str(), &b, &c, "o-1", "o-2"][..]),
        (&["--group", "personal-private"], &[&a, &b]),
        (&["--group", "personal-private", "--group", "personal-skills"], &[&a, &b, &c]),
        (&["--kind", "howto"], &[&b, &c]),
        (&["--tag", "light"], &[&a, &b]),
        (&["--tag", "light", "--tag", "sea"], &[&a]),
        (&["--since", "2026-03-10"], &[&b, &c, "o-1", "o-2"]),
        (&["--until", "2026-03-31"], &[&a, &b]),
        (&["--since", "2026-03-01", "--until", "2026-03-31"], &[&b]),
        (&["--source", "observation"], &["o-1", "o-2"]),
        (&["--priority", "high"], &["o-1"]),
        (&["--priority", "low"], &["o-1", "o-2"]),
        (&["--origin", "agent"], &[&c]),
        (&["--origin", "user", "--origin", "tool"], &[&a, &b, "o-1", "o-2"]),
        (&["--reviewed", "true"], &[&a, &b]),
        (&["--reviewed", "false"], &[&c, "o-1", "o-2"]),
        (&["--kind", "howto", "--tag", "sea", "--reviewed", "false", "--since", "2026-04-01"], &[&c]),
        (&["--kind", "fix", "--tag", "sea", "--since", "2026-04-01"], &[]),
    ] {
        let (found, applied) = of(more);
        assert_eq!(found, sorted(expected), "{more:?}");
        assert_eq!(applied, more.len() / 2, "{more:?}");
    }
    for wrong in
        [["--since", "yesterday-ish"], ["--priority", "urgent"], ["--source", "dreams"], ["--group", "x"]]
    {
        sandbox.rekindle(&["recall", "lamp", wrong[0], wrong[1]]).run().fails(2);
    }
}

const DISPUTED: &str = "# 2026-05-02

### 🔍 Observations (session: lamps, 10:30)
<!-- rekindle session=s-1 time=10:30 -->
**Trigger**: compaction

#### Lamps

* 🟢 (10:03) The harbour lamp is not switched by relay nine of the north panel. <!-- rekindle id=o-1 origin=tool messages=m1 -->
* 🟢 (10:04) The harbour lamp is not switched by relay nine of the north panel any more. <!-- rekindle id=o-2 origin=agent messages=m2 -->
";

/// A session saw something in tool output that contradicts a person's memory, and guessed something else.
#[test]
fn rec_06_ver_12_what_is_not_trusted_is_dropped_or_marked_and_counted() {
    let sandbox = sandbox();
    let body = "The harbour lamp is switched by relay nine of the north panel.";
    let relay = text(&save(&sandbox, "fix", "relay", body), "id").to_owned();
    sandbox.write("memory/2026-05-02.md", DISPUTED);
    let head = "kind: fix\nstatus: active\norigin: tool\nsession: s-1\nconfidence_rating_at_capture: low\ncreated: 2026-05-02T10:00:00Z";
    let guess = "The spare bulb of some lamp seems to lie in the harbour shed.";
    sandbox.write("personal-private/fix/guess.md", format!("---\n{head}\n---\n\n{guess}\n"));
    sandbox.rekindle(&["reindex"]).run().ok();
    let query = "which relay switches the harbour lamp";
    let answer = recall(&sandbox, query, &["--anyway", "-k", "10"]);
    let denied = json!([{"rule": "contradicted", "by": relay}]);
    assert_eq!(
        found(&answer),
        [relay.as_str(), "o-2"],
        "an agent's word is shown below the person's: {answer}"
    );
    let doubts: Vec<&Value> = results(&answer).iter().map(|result| &result["doubts"]).collect();
    assert_eq!(doubts, [&json!([]), &denied]);
    let dropped = answer["dropped"].as_array().unwrap();
    let of = |title: &str| dropped.iter().find(|dropped| dropped["title"] == title).unwrap();
    let tool = of("The harbour lamp is not switched by relay nine of the north panel.");
    for (left_out, why) in [(tool, &denied), (of(guess), &json!([{"rule": "guess"}]))] {
        assert_eq!((&left_out["rule"], &left_out["doubts"]), (&json!("trust"), why), "{left_out}");
    }
    assert_eq!((&answer["droppedByTrustPass"], dropped.len()), (&json!(2), 2));
    let shown = sandbox.rekindle(&["recall", query, "--anyway"]).run().ok().stdout;
    let marked = |line: &str| line.contains("  o-2  ") && line.ends_with("(unreviewed, contradicted)");
    assert!(shown.lines().any(marked) && !shown.contains(guess), "{shown}");
    let told = sandbox.rekindle(&["inspect", "1"]).run().ok().stdout;
    assert_eq!(told.matches("something more trustworthy contradicts it").count(), 2, "{told}");
}

#[test]
fn rec_06_of_two_that_disagree_the_newer_leads_unless_the_older_is_asked_for_by_its_number() {
    let sandbox = sandbox();
    let (past, next) = ("m-00000000past", "m-00000000next");
    for (older, newer) in [("5432", "5433"), ("5433", "5432")] {
        for (id, day, channel) in [(past, "2026-01-01", older), (next, "2026-02-01", newer)] {
            let head = format!("id: {id}\nkind: fix\nstatus: active\ncreated: {day}T08:00:00Z");
            let body = format!("The harbour crane listens on channel {channel} of the radio.");
            sandbox.write(format!("personal-private/fix/{id}.md"), format!("---\n{head}\n---\n\n{body}\n"));
        }
        sandbox.rekindle(&["reindex"]).run().ok();
        let ask = |query: &str| recall(&sandbox, query, &["--anyway", "-c", "recall.decay=off"]);
        let answer = ask("which channel does the harbour crane listen on");
        assert_eq!(found(&answer), [next, past], "{answer}");
        let doubts: Vec<&Value> = results(&answer).iter().map(|result| &result["doubts"]).collect();
        assert_eq!(doubts, [&json!([]), &json!([{"rule": "contradicted", "by": next}])]);
        assert_eq!(answer["droppedByTrustPass"], 0, "a person wrote both");
        let answer = ask(&format!("what is on channel {older} of the harbour crane radio"));
        assert_eq!((found(&answer)[0], &results(&answer)[0]["doubts"]), (past, &json!([])), "{answer}");
    }
}

#[test]
fn b_05_another_project_s_memories_stay_there() {
    let sandbox = sandbox();
    let (widgets, gadgets) = (project(&sandbox, "widgets"), project(&sandbox, "gadgets"));
    let save_in = |folder: &std::path::Path, slug: &str, more: &[&str]| {
        let body = format!("The lighthouse beacon of {slug} blinks every seven seconds.");
        let args = [&["save", "fix", slug, "--body", &body, "--json"], more].concat();
        text(&sandbox.rekindle(&args).cwd(folder).run().ok().json(), "id").to_owned()
    };
    let here = save_in(&widgets, "here", &[]);
    let there = save_in(&gadgets, "there", &[]);
    let everywhere = save_in(&gadgets, "everywhere", &["--global"]);
    let ask = |folder: &std::path::Path, more: &[&str]| {
        let args = [&["recall", "lighthouse beacon blinks", "--json", "--anyway", "-k", "10"], more].concat();
        let output = sandbox.rekindle(&args).cwd(folder).run().ok();
        (output.json(), output.stdout)
    };
    for (folder, more, expected, hidden) in [
        (&widgets, &[][..], vec![&here, &everywhere], Some("of there")),
        (&gadgets, &[], vec![&there, &everywhere], Some("of here")),
        (&widgets, &["--project", "github.com/acme/gadgets"], vec![&there, &everywhere], Some("of here")),
        (&sandbox.work().to_owned(), &[], vec![&everywhere], Some("of here")),
        (&widgets, &["--project", "all"], vec![&here, &there, &everywhere], None),
    ] {
        let (answer, said) = ask(folder, more);
        let (mut found, mut expected) =
            (found(&answer), expected.iter().map(|id| id.as_str()).collect::<Vec<_>>());
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{more:?} in {}", folder.display());
        // It is neither among the results nor among the dropped ones.
        assert!(hidden.is_none_or(|words| !said.contains(words)), "{said}");
    }
    let (answer, _) = ask(&widgets, &[]);
    assert_eq!(found(&answer)[0], here, "the project at hand comes first");
}

#[test]
fn r_05_what_nobody_reviewed_is_found_ranks_lower_and_says_so() {
    let sandbox = sandbox();
    let body = |which: &str| format!("The tide table for the {which} is fetched every six hours.");
    let seen = text(&save(&sandbox, "fix", "seen", &body("north pier")), "id").to_owned();
    let head = "---\nkind: fix\nstatus: active\norigin: agent\nsession: s-1\n";
    sandbox.write(
        "personal-private/_inbox/waits.md",
        format!("{head}id: m-000000000001\n---\n\n{}\n", body("south pier")),
    );
    sandbox.write(
        "personal-private/fix/agent.md",
        format!("{head}id: m-000000000002\n---\n\n{}\n", body("west pier")),
    );
    sandbox.write(
        "REVIEW.md",
        format!("# Pending Memory Proposals\n\n## Proposed for: Patterns\n\n- [ ] `p-20261115-001` **Tides** — {}\n", body("east pier")),
    );
    sandbox.rekindle(&["reindex"]).run().ok();
    let answer = recall(&sandbox, "how often is the tide table of the piers fetched", &[]);
    let by_id = |id: &str| {
        results(&answer).iter().find(|result| result["id"] == id).unwrap_or_else(|| panic!("{id}: {answer}"))
    };
    assert_eq!((&by_id(&seen)["reviewed"], &by_id(&seen)["factors"]["trust"]), (&json!(true), &json!(1.0)));
    for unseen in ["m-000000000001", "m-000000000002", "p-20261115-001"] {
        assert_eq!(by_id(unseen)["reviewed"], false, "{unseen}");
        assert!(by_id(unseen)["factors"]["trust"].as_f64().unwrap() < 1.0, "{unseen}");
    }
    assert_eq!(by_id("m-000000000001")["inbox"], true);
    let trust = |id: &str| by_id(id)["factors"]["trust"].as_f64().unwrap();
    assert!(trust("m-000000000001") < trust("m-000000000002"), "the inbox is below what is not reviewed");
    let with_inbox =
        recall(&sandbox, "how often is the tide table of the piers fetched", &["--include-inbox"]);
    let waits = results(&with_inbox).iter().find(|result| result["id"] == "m-000000000001").unwrap();
    assert_eq!(waits["factors"]["trust"], 1.0);
    let shown =
        sandbox.rekindle(&["recall", "how often is the tide table of the piers fetched"]).run().ok().stdout;
    for (id, mark) in [("m-000000000001", "(unreviewed, inbox)"), ("m-000000000002", "(unreviewed)")] {
        assert!(shown.lines().any(|line| line.contains(id) && line.ends_with(mark)), "{id}: {shown}");
    }
}

#[test]
fn rec_21_rec_22_everything_a_person_keeps_is_found() {
    let sandbox = sandbox().reading_all_notes();
    sandbox
        .rekindle(&[
            "memory",
            "add",
            "Never feed the seagulls on the loading dock.",
            "--section",
            "Hard Rules",
        ])
        .run()
        .ok();
    sandbox
        .rekindle(&[
            "ideas",
            "add",
            "Solar buoys",
            "--summary",
            "Buoys could charge from the sun all summer.",
        ])
        .run()
        .ok();
    sandbox.rekindle(&["daily", "add", "The anchor winch was oiled this morning."]).run().ok();
    sandbox
        .rekindle(&[
            "save",
            "howto",
            "splice",
            "--group",
            "personal-skills",
            "--body",
            "To splice a rope, unlay three strands and tuck each one under.",
        ])
        .run()
        .ok();
    let notes = sandbox.home().join("vault");
    std::fs::create_dir_all(notes.join("boats")).unwrap();
    std::fs::write(notes.join("boats/Keel.md"), "# Keel\n\nThe lead keel weighs eleven hundred kilograms.\n")
        .unwrap();
    std::fs::write(notes.join("varnish.txt"), "Varnish needs twelve degrees to cure.\n").unwrap();
    sandbox.rekindle(&["reindex"]).run().ok();
    for (query, source, path) in [
        ("may I feed the seagulls", "memory", "MemoryVault/MEMORY.md"),
        ("charging buoys with sunlight", "idea", "MemoryVault/personal-private/_idea-incubator/solar-buoys/"),
        ("when was the winch oiled", "observation|daily", "MemoryVault/memory/"),
        ("how do I splice a rope", "skill", "MemoryVault/personal-skills/howto/splice.md"),
        ("how heavy is the lead keel", "note", "boats/Keel.md"),
        ("at which temperature does varnish cure", "note", "varnish.txt"),
    ] {
        let answer = recall(&sandbox, query, &[]);
        let best = results(&answer).first().unwrap_or_else(|| panic!("{query}: {answer}"));
        assert!(text(best, "path").starts_with(path), "{query}: {best}");
        assert!(source.split('|').any(|source| best["source"] == source), "{query}: {best}");
        assert!(best["lines"].is_array(), "{query}: {best}");
    }
}

#[test]
fn b_03_a_secret_in_a_note_is_never_passed_on() {
    let sandbox = sandbox().reading_all_notes();
    let token = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");
    let note = sandbox.home().join("vault/deploy.md");
    std::fs::write(
        &note,
        format!("# Deploying the crane\n\nThe crane is deployed with {token} from the bastion.\n"),
    )
    .unwrap();
    sandbox.rekindle(&["reindex"]).run().ok();
    let query = format!("deploy the crane from the bastion with {token}");
    let answer = recall(&sandbox, &query, &["--anyway"]);
    assert!(text(&results(&answer)[0], "text").contains("[redacted:github-token]"), "{answer}");
    // The same for a file that changed after indexing.
    std::fs::write(
        &note,
        format!("# Deploying the crane\n\nThe crane is now deployed with {token} from there.\n"),
    )
    .unwrap();
    for args in
        [&["recall", &query, "--json", "--anyway"][..], &["recall", &query, "--anyway"], &["inspect", "1"]]
    {
        let output = sandbox.rekindle(args).run().ok();
        assert!(!output.stdout.contains(token) && !output.stderr.contains(token), "{args:?}");
    }
    assert_eq!(sandbox.find_bytes(token), [note], "it is where the person put it, and nowhere else");
}

#[test]
fn ops_03_the_switch_turns_recall_off() {
    let (sandbox, _) = furnished();
    let off = sandbox
        .rekindle(&["recall", "staging postgres port", "--json", "-c", "memory.enabled=false"])
        .run()
        .ok();
    assert!(off.stderr.contains("memory is off"), "{}", off.stderr);
    let answer = off.json();
    assert_eq!((&answer["results"], &answer["abstained"]), (&json!([]), &json!(true)));
    let plain =
        sandbox.rekindle(&["recall", "staging postgres port", "-c", "memory.enabled=false"]).run().ok();
    assert_eq!(plain.stdout, "");
}

#[test]
fn ver_12_rewriting_without_a_model_says_so_and_answers() {
    let (sandbox, ids) = furnished();
    let args =
        ["recall", "staging postgres port", "--json", "-c", "recall.decay=off", "-c", "recall.rewrite=true"];
    let output = sandbox.rekindle(&args).run().ok();
    assert!(output.stderr.contains("no language model is set up"), "{}", output.stderr);
    let answer = output.json();
    assert_eq!(answer["rewrittenQuery"], Value::Null);
    assert_eq!(found(&answer)[0], ids[0]);
    // With the setting off, there is no message, and the answer is the same.
    let off = sandbox.rekindle(&args[..5]).run().ok();
    assert!(off.stderr.is_empty(), "{}", off.stderr);
    assert_eq!(order(&off.json()), order(&answer));
}

#[test]
fn rec_02_rec_03_the_literal_formulas_are_settings() {
    let sandbox = sandbox();
    sandbox.write(
        "personal-private/fix/old.md",
        "---\nid: m-000000000001\nkind: fix\nstatus: active\ncreated: 2020-01-01T00:00:00Z\n---\n\nThe drawbridge opens at nine.\n",
    );
    sandbox.rekindle(&["reindex"]).run().ok();
    let best = |more: &[&str]| results(&recall(&sandbox, "when does the drawbridge open", more))[0].clone();
    let number = |value: &Value| value.as_f64().unwrap();
    let usual = best(&["--anyway"]);
    let linear = best(&["--anyway", "-c", "recall.fusion=linear"]);
    // REC-02: similarity times 0.7 plus 0.3 for each of the two words that match.
    assert!((number(&linear["parts"]["words"]) - 0.6).abs() < 1e-6, "{linear}");
    assert!(number(&linear["parts"]["meaning"]) <= 0.7 && linear["score"] != usual["score"]);
    // REC-03: after six years the literal decay leaves almost nothing, and the bounded one nearly everything.
    let literal = best(&["--anyway", "-c", "recall.decay=literal"]);
    assert!(number(&literal["factors"]["decay"]) < 1e-4, "{literal}");
    assert!(number(&usual["factors"]["decay"]) > 0.9, "{usual}");
    assert!(number(&literal["score"]) < number(&usual["score"]));
}

#[test]
fn sto_13_chinese_japanese_and_korean_are_found() {
    let sandbox = sandbox();
    let chinese =
        text(&save(&sandbox, "fix", "chinese", "测试环境的数据库端口是五四三三。"), "id").to_owned();
    let japanese =
        text(&save(&sandbox, "fix", "japanese", "週次バックアップは日曜日の夜に実行される。"), "id")
            .to_owned();
    let korean = text(&save(&sandbox, "fix", "korean", "배포는 매주 화요일 아침에 한다."), "id").to_owned();
    save(&sandbox, "fix", "other", "The harbour crane is greased on Mondays.");
    for (query, id) in [("数据库端口", &chinese), ("バックアップはいつ", &japanese), ("배포는 언제", &korean)]
    {
        let answer = recall(&sandbox, query, &["--anyway"]);
        assert_eq!(found(&answer)[0], id, "{query}: {answer}");
        assert!(results(&answer)[0]["parts"]["words"].as_f64().unwrap() > 0.0, "{query}: by its words");
    }
}

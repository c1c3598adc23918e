//! Decisions on proposals: by commands and in REVIEW.md, through the real worker (SPEC section 9).

use std::fs;

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::{Date, Timestamp};
use rekindle_core::knowledge::proposal::{Proposal, ProposalEvidence, title};
use rekindle_engine::pipeline::stages::STAGE_REGISTRY;
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::proposals::{self, SubmitOutcome};
use rekindle_testkit::{Sandbox, fixtures};
use serde_json::Value;

use crate::{recall, results, sandbox, text};

/// Sets up a home without background work.
pub(crate) fn quiet() -> Sandbox {
    let sandbox = sandbox();
    sandbox.rekindle(&["config", "set", "capture.background", "false"]).run().ok();
    sandbox
}

/// Stores a proposal, as reflection does, with an age in days.
pub(crate) fn propose(sandbox: &Sandbox, words: &str, days: i64) -> String {
    hand_in(sandbox, words, None, days, Origin::User)
}

/// Stores a proposal that may supersede a line of MEMORY.md, with the origin of its evidence.
pub(crate) fn hand_in(
    sandbox: &Sandbox,
    words: &str,
    supersedes: Option<&str>,
    days: i64,
    origin: Origin,
) -> String {
    hand_in_as(sandbox, |one| Proposal {
        title: title(words),
        text: words.to_owned(),
        supersedes: supersedes.map(str::to_owned),
        origin,
        evidence: ProposalEvidence { quotes: vec![format!("From now on: {words}")], ..one.evidence },
        created: one.created - jiff_hours(24 * days),
        ..one
    })
}

/// Stores a modified plain proposal, an hour old.
pub(crate) fn hand_in_as(sandbox: &Sandbox, as_what: impl Fn(Proposal) -> Proposal) -> String {
    #[expect(clippy::disallowed_methods, reason = "the binary under test goes by the same clock")]
    let created = Timestamp::now() - jiff_hours(1);
    let day = Date::constant(2026, 11, 14);
    let plain = fixtures::proposal(day, created, "");
    let evidence = ProposalEvidence { messages: vec!["s1-4".to_owned()], ..plain.evidence };
    let proposal = as_what(Proposal { confidence: 0.8, evidence, ..plain });
    let mut db = Database::open(&sandbox.state().join("rekindle.db")).unwrap();
    match proposals::submit(&mut db, &STAGE_REGISTRY, "test", &[proposal]).unwrap().remove(0) {
        SubmitOutcome::Proposed(id) => id.to_string(),
        other => panic!("{other:?}"),
    }
}

fn jiff_hours(hours: i64) -> std::time::Duration {
    std::time::Duration::from_secs(u64::try_from(hours).unwrap() * 3600)
}

pub(crate) fn review(sandbox: &Sandbox, more: &[&str]) -> Value {
    sandbox.rekindle(&[&["review", "--json"], more].concat()).run().ok().json()
}

pub(crate) fn status(sandbox: &Sandbox, id: &str) -> String {
    text(&review(sandbox, &[id])["proposals"][0], "status").to_owned()
}

pub(crate) fn page(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.vault().join("REVIEW.md")).unwrap()
}

pub(crate) fn memory(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.vault().join("MEMORY.md")).unwrap()
}

/// Marks a line of the page, as the person does.
fn mark(sandbox: &Sandbox, id: &str, with: &str) {
    let text = page(sandbox);
    assert!(text.contains(&format!("- [ ] `{id}`")), "{text}");
    let text = text.replace(&format!("- [ ] `{id}`"), &format!("- [{with}] `{id}`"));
    fs::write(sandbox.vault().join("REVIEW.md"), text).unwrap();
}

#[test]
fn ver_09_rev_12_approve_reject_and_edit_by_id() {
    let sandbox = quiet();
    let before = memory(&sandbox);
    let ids: Vec<String> = ["Use tabs.", "Deploy on Mondays.", "Write tests first."]
        .iter()
        .map(|words| propose(&sandbox, words, 0))
        .collect();
    let listed = review(&sandbox, &[]);
    assert_eq!((listed["waiting"].as_u64(), listed["shown"].as_u64()), (Some(3), Some(3)), "{listed}");
    let first = &listed["proposals"][0];
    assert_eq!((text(first, "section"), text(first, "origin")), ("Patterns", "user"));
    assert!(first["evidence"]["quotes"][0].as_str().unwrap().starts_with("From now on:"), "{first}");
    let screen = sandbox.rekindle(&["review", "--list"]).run().ok().stdout;
    assert!(screen.contains(&ids[0]) && screen.contains("> From now on: Use tabs."), "{screen}");
    let shown = sandbox.rekindle(&["status"]).run().ok().stdout;
    assert!(shown.contains("3 proposals to review, the oldest from "), "{shown}");

    let said = sandbox.rekindle(&["approve", &ids[0]]).run().ok().stdout;
    assert!(said.contains("MEMORY.md"), "{said}");
    sandbox.rekindle(&["reject", &ids[1]]).run().ok();
    let words = "Write the tests before the code.";
    let edited = sandbox.rekindle(&["edit", &ids[2], "--text", words, "--json"]).run().ok().json();
    assert_eq!(text(&edited["decided"][0], "status"), "promoted", "{edited}");
    let after = memory(&sandbox);
    assert!(
        after.contains(&format!("Use tabs. <!-- user --> ^{}", ids[0])) && after.contains(words),
        "{after}"
    );
    assert!(!after.contains("Mondays"), "{after}");
    for line in before.lines() {
        assert!(after.contains(line), "REV-13: {line}");
    }
    // The same decision again changes nothing; a different one is refused.
    sandbox.rekindle(&["approve", &ids[0], &ids[2]]).run().ok();
    sandbox.rekindle(&["reject", &ids[1]]).run().ok();
    let late = sandbox.rekindle(&["approve", &ids[1]]).run().fails(1);
    assert!(late.stderr.contains(&format!("{} was rejected by a command on ", ids[1])), "{}", late.stderr);
    let late = sandbox.rekindle(&["reject", &ids[0], "p-20261114-099"]).run().fails(1);
    assert!(late.stderr.contains("was promoted by a command"), "{}", late.stderr);
    assert!(late.stderr.contains("there is no proposal p-20261114-099"), "{}", late.stderr);
    assert_eq!(memory(&sandbox), after);
    let wrong = sandbox.rekindle(&["approve", "nonsense"]).run().fails(2);
    assert!(wrong.stderr.contains("p-20261115-001"), "{}", wrong.stderr);
    let log = sandbox.rekindle(&["daily"]).run().ok().stdout;
    for (id, end) in ids.iter().zip(["promoted", "rejected", "promoted"]) {
        assert_eq!(log.matches(&format!("{end} `{id}`")).count(), 1, "{log}");
    }
    assert!(page(&sandbox).contains("| 0 proposals pending"), "{}", page(&sandbox));
    let empty = sandbox.rekindle(&["review"]).run().ok();
    assert!(empty.stderr.contains("No proposals to review"), "{}", empty.stderr);
    sandbox.rekindle(&["doctor"]).run().ok();
}

#[test]
fn rev_03_rev_04_the_worker_reads_the_page_when_it_wakes() {
    let sandbox = quiet();
    let ids: Vec<String> =
        ["Use tabs.", "Deploy on Mondays.", "Write tests first.", "Ask before a migration.", "Be brief."]
            .iter()
            .map(|words| propose(&sandbox, words, 0))
            .collect();
    // A decision on one of them rewrites the page.
    sandbox.rekindle(&["reject", &ids[4]]).run().ok();
    mark(&sandbox, &ids[0], "x");
    mark(&sandbox, &ids[1], "-");
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    assert_eq!(
        [&ids[0], &ids[1], &ids[2]].map(|id| status(&sandbox, id)),
        ["promoted", "rejected", "triaged"]
    );
    assert!(memory(&sandbox).contains("Use tabs."));
    // The tick was read first, so the later command is refused.
    mark(&sandbox, &ids[2], "x");
    let late = sandbox.rekindle(&["reject", &ids[2]]).run().fails(1);
    assert!(late.stderr.contains("was promoted in REVIEW.md on "), "{}", late.stderr);
    // A page that lost most of its lines decides nothing and reports it.
    let more: Vec<String> = ["Name branches after tickets.", "Squash before a merge."]
        .iter()
        .map(|words| propose(&sandbox, words, 0))
        .collect();
    sandbox.rekindle(&["config", "set", "review.per_day", "0"]).run().ok();
    sandbox.rekindle(&["approve", &more[1]]).run().ok();
    let whole = page(&sandbox);
    assert!(whole.contains(&more[0]) && whole.contains(&ids[3]), "{whole}");
    let gutted: String =
        whole.lines().filter(|line| !line.starts_with("- [")).map(|line| format!("{line}\n")).collect();
    fs::write(sandbox.vault().join("REVIEW.md"), &gutted).unwrap();
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    let doubt = review(&sandbox, &["--all"]);
    assert!(text(&doubt, "doubt").contains("missing"), "{doubt}");
    assert_eq!(status(&sandbox, &ids[3]), "triaged");
    let doctor = sandbox.rekindle(&["doctor"]).run().ok().stdout;
    assert!(doctor.contains("no decisions were read from REVIEW.md"), "{doctor}");
    fs::write(sandbox.vault().join("REVIEW.md"), &whole).unwrap();
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    assert!(review(&sandbox, &[])["doubt"].is_null());
}

#[test]
fn rev_11_b_07_what_is_old_says_so_and_the_rest_is_counted() {
    let sandbox = quiet();
    let old = propose(&sandbox, "Use tabs.", 5);
    for words in [
        "Deploy on Mondays.",
        "Write tests first.",
        "Ask before a migration.",
        "Be brief.",
        "Name the branch.",
    ] {
        propose(&sandbox, words, 0);
    }
    let listed = review(&sandbox, &[]);
    assert_eq!((listed["shown"].as_u64(), listed["later"].as_u64()), (Some(5), Some(1)), "{listed}");
    let screen = sandbox.rekindle(&["review"]).run().ok();
    assert!(screen.stderr.contains("1 more with"), "{}", screen.stderr);
    let all = sandbox.rekindle(&["review", "--all"]).run().ok().stdout;
    assert!(all.contains(&old) && all.contains("expires in 2 days"), "{all}");
    let doctor = sandbox.rekindle(&["doctor"]).run().ok().stdout;
    assert!(doctor.contains("6 proposals to review, the oldest 5 days old"), "{doctor}");
}

#[test]
fn r_05_what_waits_behind_the_page_is_recalled_until_it_is_decided() {
    let sandbox = quiet();
    sandbox.rekindle(&["config", "set", "review.per_day", "2"]).run().ok();
    let rules = [
        "Deploy on Mondays only.",
        "Migrations are written by hand in SQL.",
        "Screenshots go to the press folder.",
        "The lighthouse lamp is tested every full moon.",
    ];
    let ids: Vec<String> = rules.iter().map(|words| propose(&sandbox, words, 0)).collect();
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    // The age in seconds selects the two on the page; a rejected one still uses up its place of the day.
    let rejected = ids.iter().find(|id| page(&sandbox).contains(*id)).unwrap();
    sandbox.rekindle(&["reject", rejected]).run().ok();
    let listed = review(&sandbox, &["--all"]);
    let waiting = || ids.iter().filter(|id| *id != rejected);
    let later: Vec<&str> = waiting().map(String::as_str).filter(|id| !page(&sandbox).contains(*id)).collect();
    assert_eq!((listed["waiting"].as_u64(), later.len()), (Some(3), 2), "{listed}");
    for (id, words) in ids.iter().zip(rules).filter(|(id, _)| *id != rejected) {
        let answer = recall(&sandbox, words, &[]);
        let hit =
            results(&answer).iter().find(|hit| hit["id"] == **id).unwrap_or_else(|| panic!("{id}: {answer}"));
        assert_eq!((text(hit, "source"), &hit["reviewed"]), ("proposal", &Value::Bool(false)));
        let is_later = later.contains(&id.as_str());
        assert_eq!(text(hit, "path").contains("_meta/waiting-"), is_later, "{hit}");
    }
    // A forgotten proposal is gone everywhere; a decided one no longer waits.
    let (gone, kept) = (later[0], later[1]);
    let words = rules[ids.iter().position(|id| id == gone).unwrap()];
    sandbox.rekindle(&["forget", "--text", words, "--yes"]).run().ok();
    assert!(results(&recall(&sandbox, words, &[])).iter().all(|hit| hit["id"] != *gone));
    let file = fs::read_to_string(sandbox.vault().join("_meta/waiting.jsonl")).unwrap_or_default();
    assert!(!file.contains(words), "{file}");
    sandbox.rekindle(&["reject", kept]).run().ok();
    assert!(!sandbox.vault().join("_meta/waiting.jsonl").exists());
    let words = rules[ids.iter().position(|id| id == kept).unwrap()];
    assert!(results(&recall(&sandbox, words, &[])).iter().all(|hit| hit["id"] != *kept));
}

#[test]
fn b_09_undo_takes_a_promotion_back() {
    let sandbox = quiet();
    let before = memory(&sandbox);
    let id = propose(&sandbox, "Use tabs.", 0);
    sandbox.rekindle(&["approve", &id]).run().ok();
    assert_ne!(memory(&sandbox), before);
    let undone = sandbox.rekindle(&["undo"]).run().ok().stdout;
    assert!(
        undone.contains("promote") && undone.contains(&format!("{id} is back in your review.")),
        "{undone}"
    );
    assert_eq!(memory(&sandbox), before);
    let waits = review(&sandbox, &[]);
    assert_eq!(text(&waits["proposals"][0], "id"), id);
    assert!(text(&waits["proposals"][0], "note").contains("rekindle undo"), "{waits}");
    sandbox.rekindle(&["approve", &id]).run().ok();
    assert_eq!(memory(&sandbox).matches("Use tabs.").count(), 1);
}

#[test]
fn ops_03_nothing_is_decided_while_memory_is_off() {
    let sandbox = quiet();
    let id = propose(&sandbox, "Use tabs.", 0);
    let off = sandbox.rekindle(&["approve", &id, "-c", "memory.enabled=false"]).run().fails(1);
    assert!(off.stderr.contains("memory is off"), "{}", off.stderr);
    assert_eq!(status(&sandbox, &id), "pending");
}

#[test]
fn rev_14_a_decision_is_taken_back_by_the_id_of_its_proposal() {
    let sandbox = quiet();
    let before = memory(&sandbox);
    let (yes, no) = (propose(&sandbox, "Use tabs.", 0), propose(&sandbox, "Deploy on Mondays.", 0));
    sandbox.rekindle(&["approve", &yes]).run().ok();
    sandbox.rekindle(&["reject", &no, "--reason", "only on Tuesdays"]).run().ok();
    let log = sandbox.rekindle(&["daily"]).run().ok().stdout;
    assert!(log.contains("(because: only on Tuesdays)"), "{log}");
    let late = sandbox.rekindle(&["approve", &no]).run().fails(1);
    assert!(late.stderr.contains("(because: only on Tuesdays)"), "{}", late.stderr);
    for id in [&yes, &no] {
        let said = sandbox.rekindle(&["undo", id]).run().ok().stdout;
        assert_eq!(said, format!("{id} is back in your review.\n"));
        assert_eq!(status(&sandbox, id), "pending");
        let again = sandbox.rekindle(&["undo", id]).run().fails(1);
        assert!(again.stderr.contains("is not decided yet"), "{}", again.stderr);
    }
    assert_eq!(memory(&sandbox), before);
    sandbox.rekindle(&["undo", "p-20261114-099"]).run().fails(2);
    sandbox.rekindle(&["approve", &no]).run().ok();
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    assert_eq!([&yes, &no].map(|id| status(&sandbox, id)), ["pending", "promoted"]);
    sandbox.rekindle(&["doctor"]).run().ok();
}

#[test]
fn fut_04_a_status_line_is_short_and_never_in_the_way() {
    let sandbox = quiet();
    let line = || sandbox.rekindle(&["status", "--line"]).run().ok().stdout;
    assert_eq!(line(), "");
    let ids = ["Use tabs.", "Deploy on Mondays.", "Be brief."].map(|words| propose(&sandbox, words, 0));
    sandbox.rekindle(&["reject", &ids[0]]).run().ok();
    assert_eq!(line(), "rekindle: 2 to review\n");
    // The status line needs no database and reports no errors.
    fs::remove_file(sandbox.state().join("rekindle.db")).unwrap();
    assert_eq!(line(), "rekindle: 2 to review\n");
    assert!(!sandbox.state().join("rekindle.db").exists());
    sandbox.rekindle(&["config", "set", "memory.enabled", "false"]).run().ok();
    assert_eq!(line(), "rekindle: memory is off\n", "OPS-03");
    sandbox.rekindle(&["config", "set", "memory.enabled", "true"]).run().ok();
    fs::write(sandbox.state().join("STOP"), "").unwrap();
    assert_eq!(line(), "rekindle: memory is off\n", "EXE-16");
    fs::remove_file(sandbox.state().join("STOP")).unwrap();
    fs::write(sandbox.vault().join("REVIEW.md"), [0xff, 0xfe, 0x00]).unwrap();
    assert_eq!(line(), "");
    fs::write(sandbox.home().join("config.toml"), "nonsense [").unwrap();
    let broken = sandbox.rekindle(&["status", "--line"]).run().ok();
    assert_eq!((broken.stdout.as_str(), broken.stderr.as_str()), ("", ""));
    let nowhere = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    assert_eq!(nowhere.rekindle(&["status", "--line"]).run().ok().stdout, "");
}

#[test]
fn rev_09_what_was_decided_without_the_person_is_shown_and_opened_again() {
    let sandbox = quiet();
    let kept = propose(&sandbox, "Use tabs for indentation.", 0);
    sandbox.rekindle(&["approve", &kept]).run().ok();
    let known = propose(&sandbox, "Use tabs for the indentation", 0);
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    let automatic = sandbox.rekindle(&["review", "--automatic", "--json"]).run().ok().json();
    let [one] = automatic["automatic"].as_array().unwrap().as_slice() else { panic!("{automatic}") };
    assert_eq!(
        (text(one, "id"), text(one, "status"), text(one, "why")),
        (known.as_str(), "rejected", "said")
    );
    let screen = sandbox.rekindle(&["review", "--automatic"]).run().ok().stdout;
    assert!(screen.contains("MEMORY.md says it already"), "{screen}");
    let input = r#"{"session_id":"s9","hook_event_name":"SessionStart","source":"startup","cwd":"/"}"#;
    let told = sandbox.rekindle(&["hook", "claude", "SessionStart"]).stdin(input).run().ok().stdout;
    assert!(told.contains(&format!("{known}: turned down without asking")), "{told}");
    let stats = sandbox.rekindle(&["review", "--stats", "--json"]).run().ok().json();
    let counts = &stats["categories"][0]["counts"];
    assert_eq!((counts["approved"].as_u64(), counts["dropped"].as_u64()), (Some(1), Some(1)), "{stats}");
    assert_eq!(
        (stats["categories"][0]["earned"].as_bool(), stats["needed"].as_u64()),
        (Some(false), Some(10))
    );
    assert!(sandbox.rekindle(&["review", "--stats"]).run().ok().stdout.contains("1 of 10"));
    sandbox.rekindle(&["undo", &known]).run().ok();
    assert_eq!(status(&sandbox, &known), "pending");
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    assert_eq!(status(&sandbox, &known), "pending", "nobody decides it without the person again");
    assert!(sandbox.rekindle(&["review", "--check"]).run().ok().stdout.contains("exactly once"));
}

#[test]
fn b_07_a_proposal_follows_a_section_that_was_renamed_and_says_when_it_cannot() {
    let sandbox = quiet();
    let first = propose(&sandbox, "Use tabs for indentation.", 0);
    sandbox.rekindle(&["approve", &first]).run().ok();
    let second = propose(&sandbox, "Deploy the gateway on Mondays.", 0);
    let path = sandbox.vault().join("MEMORY.md");
    fs::write(&path, memory(&sandbox).replace("## Patterns", "## How we work")).unwrap();
    let listed = review(&sandbox, &[]);
    assert_eq!(text(&listed["proposals"][0], "section"), "How we work", "{listed}");
    sandbox.rekindle(&["approve", &second]).run().ok();
    let text = memory(&sandbox);
    let (_, section) = text.split_once("## How we work").unwrap();
    let section = section.split("\n## ").next().unwrap();
    assert!(section.contains("Deploy the gateway on Mondays."), "{text}");
    let third = propose(&sandbox, "Name every branch after its ticket.", 0);
    fs::write(&path, "# Memory\n\n## Mine\n\n- My own line.\n").unwrap();
    let lost = review(&sandbox, &[&third]);
    assert!(lost["proposals"][0]["target_lost"].as_str().unwrap().contains("no section"), "{lost}");
}

#[test]
fn r_20_b_16_two_machines_never_give_the_same_id() {
    let (one, other) = (quiet(), quiet());
    let id = propose(&one, "Use tabs for indentation.", 0);
    let theirs = propose(&other, "Deploy the gateway on Mondays.", 0);
    assert_ne!(id, theirs);
    assert_eq!(id.rsplit_once('-').unwrap().0, theirs.rsplit_once('-').unwrap().0, "both count from one");
    one.rekindle(&["approve", &id]).run().ok();
    // The file arrives as with rsync.
    let brought = memory(&one);
    fs::write(other.vault().join("MEMORY.md"), &brought).unwrap();
    other.rekindle(&["approve", &theirs]).run().ok();
    let both = memory(&other);
    for (line, id) in [("Use tabs for indentation.", &id), ("Deploy the gateway on Mondays.", &theirs)] {
        assert_eq!(both.matches(&format!("{line} <!-- user --> ^{id}")).count(), 1, "{both}");
    }
    other.rekindle(&["undo", &theirs]).run().ok();
    assert_eq!(memory(&other), brought);

    for sandbox in [&one, &other] {
        assert!(sandbox.rekindle(&["review", "--check"]).run().ok().stdout.contains("exactly once"));
    }
}

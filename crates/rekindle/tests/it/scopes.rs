//! Scopes: a rule holds in the project where it was stated, or everywhere if the person says so (R-14, R-15,
//! R-20, B-05).

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use rekindle_core::base::scope::ProjectId;
use rekindle_core::knowledge::proposal::Proposal;
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::proposals;
use rekindle_testkit::Sandbox;
use serde_json::{Value, json};

use crate::capture::work;
use crate::distil::{ScriptedSession, listed, observe_run};
use crate::inject::{context, fire};
use crate::review::{hand_in_as, memory, page, quiet, review, status};
use crate::{project, results, sandbox, text};

/// Returns the briefing of a session in a project.
fn briefing(sandbox: &Sandbox, name: &str) -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let session = format!("{name}-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let input = json!({"session_id": session, "source": "startup", "cwd": project(sandbox, name)});
    let answer = fire(sandbox, "SessionStart", &input);
    if answer["hookSpecificOutput"].is_null() { String::new() } else { context(&answer).to_owned() }
}

/// The texts that `recall` finds in a project, whatever their score.
fn recalled(sandbox: &Sandbox, name: &str, question: &str) -> Vec<String> {
    let asks = ["recall", question, "--anyway", "--k=10", "--json"];
    let answer = sandbox.rekindle(&asks).cwd(project(sandbox, name)).run().ok().json();
    results(&answer).iter().map(|hit| text(hit, "text").to_owned()).collect()
}

/// Stores a proposal that came up in a project.
fn propose_in(sandbox: &Sandbox, name: &str, words: &str) -> String {
    hand_in_as(sandbox, |one| Proposal {
        title: words.to_owned(),
        text: words.to_owned(),
        project: Some(ProjectId::new(format!("github.com/acme/{name}"))),
        ..one
    })
}

/// Runs a session in a project with this statement in it.
fn session(sandbox: &Sandbox, name: &str, id: &str, words: &str) -> Value {
    let mut told = ScriptedSession::new(project(sandbox, name), id);
    told.user("Please rename the valve module.")
        .agent("Renamed.")
        .user(words)
        .agent("Understood.")
        .user("run the tests once more")
        .runs("cargo test", false, "test result: ok. 4 passed")
        .agent("They pass.");
    told.ends(sandbox);
    observe_run(sandbox)
}

fn waiting(sandbox: &Sandbox) -> Vec<Value> {
    review(sandbox, &["--all"])["proposals"].as_array().cloned().unwrap_or_default()
}

#[test]
fn r_15_a_line_of_memory_is_shown_only_where_it_holds() {
    let sandbox = quiet();
    let add = |words: &str, more: &[&str], name: &str| {
        let line = ["memory", "add", words, "--section", "Hard Rules"];
        sandbox.rekindle(&[&line, more].concat()).cwd(project(&sandbox, name)).run().ok();
    };
    add("The heron ledger is rebuilt with ledgerctl.", &["--this-project"], "pumps");
    add("Never push to main.", &[], "pumps");
    let text = memory(&sandbox);
    assert!(
        text.contains("rebuilt with ledgerctl. (project: github.com/acme/pumps) <!-- user -->\n"),
        "{text}"
    );
    // A person may name a project by a name of their own.
    let typed = "## Hard Rules\n\n- The otter queue drains at noon. (project: boats)\n";
    fs::write(sandbox.vault().join("MEMORY.md"), text.replace("## Hard Rules\n\n", typed)).unwrap();
    sandbox.rekindle(&["reindex"]).run().ok();
    for (name, own, other) in [("pumps", "ledgerctl", "otter"), ("boats", "otter", "ledgerctl")] {
        let told = briefing(&sandbox, name);
        assert!(told.contains(own) && told.contains("Never push to main."), "{name}: {told}");
        assert!(!told.contains(other) && !told.contains("(project:"), "{name}: {told}");
        for question in ["how is the heron ledger rebuilt", "when does the otter queue drain"] {
            let found = recalled(&sandbox, name, question).join("\n");
            assert!(!found.contains(other), "{name}: {found}");
            let answer = sandbox.rekindle(&["ask", question]).cwd(project(&sandbox, name)).run();
            assert!(!answer.stdout.contains(other), "{name}: {}", answer.stdout);
        }
        assert!(recalled(&sandbox, name, own).join("\n").contains(own), "{name}");
    }
    assert!(!briefing(&sandbox, "kettles").contains("otter"));
    let asked = json!({"session_id": "p1", "prompt": "how is the heron ledger rebuilt?", "cwd": project(&sandbox, "boats")});
    assert_eq!(fire(&sandbox, "UserPromptSubmit", &asked), Value::Null);
    sandbox.rekindle(&["doctor"]).run().ok();
}

#[test]
fn r_15_an_approved_line_holds_where_it_was_said_unless_the_person_says_everywhere() {
    let sandbox = quiet();
    let here = propose_in(&sandbox, "pumps", "Deploys wait for the pressure check.");
    let wide = propose_in(&sandbox, "pumps", "Commit messages say why.");
    let shown = review(&sandbox, &[&here]);
    assert_eq!(shown["proposals"][0]["holds_in"], "github.com/acme/pumps", "{shown}");
    let listed = sandbox.rekindle(&["review", "--list"]).run().ok().stdout;
    assert!(listed.contains("applies to github.com/acme/pumps only; `--everywhere`"), "{listed}");
    let said = sandbox.rekindle(&["approve", &here]).run().ok().stdout;
    assert!(said.contains("for github.com/acme/pumps only"), "{said}");
    let said = sandbox.rekindle(&["approve", &wide, "--everywhere"]).run().ok().stdout;
    assert!(!said.contains("only"), "{said}");
    let lines = memory(&sandbox);
    assert!(
        lines.contains(&format!("pressure check. (project: github.com/acme/pumps) <!-- user --> ^{here}")),
        "{lines}"
    );
    assert!(lines.contains(&format!("Commit messages say why. <!-- user --> ^{wide}")), "{lines}");
    let (pumps, boats) = (briefing(&sandbox, "pumps"), briefing(&sandbox, "boats"));
    assert!(pumps.contains("pressure check") && pumps.contains("say why"), "{pumps}");
    assert!(!boats.contains("pressure check") && boats.contains("say why"), "{boats}");
    // Without a stated scope, the project of origin is used; an undo clears the choice.
    sandbox.rekindle(&["undo", &wide]).run().ok();
    sandbox.rekindle(&["approve", &wide]).run().ok();
    assert!(memory(&sandbox).contains("Commit messages say why. (project: github.com/acme/pumps)"));
    let both = sandbox.rekindle(&["approve", &here, "--everywhere", "--this-project"]).run().fails(2);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
}

#[test]
fn r_15_a_line_that_takes_the_place_of_another_holds_where_that_one_held() {
    let sandbox = quiet();
    sandbox.rekindle(&["memory", "add", "Use npm.", "--section", "Patterns"]).run().ok();
    let instead = |words: &str| {
        hand_in_as(&sandbox, |one| Proposal {
            text: words.to_owned(),
            supersedes: Some("Use npm.".to_owned()),
            project: Some(ProjectId::new("github.com/acme/pumps")),
            ..one
        })
    };
    let id = instead("Use pnpm.");
    sandbox.rekindle(&["approve", &id]).run().ok();
    let lines = memory(&sandbox);
    assert!(
        lines.contains("~~Use npm.~~ (superseded")
            && lines.contains(&format!("Use pnpm. <!-- user --> ^{id}")),
        "{lines}"
    );
    sandbox.rekindle(&["undo", &id]).run().ok();
    // With `--this-project`, the old line still holds elsewhere.
    sandbox.rekindle(&["approve", &id, "--this-project"]).run().ok();
    let lines = memory(&sandbox);
    assert!(!lines.contains("~~") && lines.contains("Use pnpm. (project: github.com/acme/pumps)"), "{lines}");
    assert!(
        briefing(&sandbox, "boats").contains("Use npm.") && !briefing(&sandbox, "boats").contains("pnpm")
    );
}

#[test]
fn r_15_review_md_says_where_a_line_will_hold_and_takes_another_answer() {
    let sandbox = quiet();
    let wide = propose_in(&sandbox, "pumps", "Commit messages say why.");
    let here = propose_in(&sandbox, "pumps", "Deploys wait for the pressure check.");
    let worded = propose_in(&sandbox, "pumps", "Valves are numbered.");
    work(&sandbox, &[]);
    let text = page(&sandbox);
    let mark = "(project: github.com/acme/pumps)";
    assert!(text.contains("write `(everywhere)` instead"), "{text}");
    assert_eq!(
        text.lines().filter(|line| line.starts_with("- [ ]") && line.ends_with(mark)).count(),
        3,
        "{text}"
    );
    let text = text
        .replace(&format!("say why. {mark}"), "say why. (everywhere)")
        .replace(&format!("Valves are numbered. {mark}"), "Valves have numbers, from the left.")
        .replace("- [ ]", "- [x]");
    fs::write(sandbox.vault().join("REVIEW.md"), text).unwrap();
    work(&sandbox, &[]);
    let lines = memory(&sandbox);
    for (id, line) in [
        (&wide, "Commit messages say why.".to_owned()),
        (&here, format!("Deploys wait for the pressure check. {mark}")),
        (&worded, format!("Valves have numbers, from the left. {mark}")),
    ] {
        assert!(lines.contains(&format!("{line} <!-- user --> ^{id}")), "{line} in {lines}");
    }
}

#[test]
fn r_15_a_pin_belongs_to_its_project_and_global_pins_to_all() {
    let sandbox = quiet();
    let pin = |slug: &str, body: &str, more: &[&str], name: &str| {
        let save = ["save", "rule", slug, "--always-load", "--body", body, "--json"];
        sandbox.rekindle(&[&save, more].concat()).cwd(project(&sandbox, name)).run().ok().json()
    };
    let own = pin("pressure", "Check the pressure first.", &[], "pumps");
    assert_eq!((text(&own, "scope"), text(&own, "project")), ("project", "github.com/acme/pumps"));
    let all = pin("answers", "Keep answers short.", &["--global"], "pumps");
    assert_eq!(text(&all, "scope"), "global");
    let (pumps, boats) = (briefing(&sandbox, "pumps"), briefing(&sandbox, "boats"));
    assert!(pumps.contains("Check the pressure first.") && pumps.contains("Keep answers short."), "{pumps}");
    assert!(!boats.contains("Check the pressure first.") && boats.contains("Keep answers short."), "{boats}");
    let outside = ["save", "rule", "brief", "--always-load", "--body", "Be brief.", "--json"];
    assert_eq!(
        text(&sandbox.rekindle(&outside).run().ok().json(), "scope"),
        "global",
        "no project, no border"
    );
}

#[test]
fn r_15_what_waits_in_one_project_is_not_recalled_in_another() {
    let sandbox = quiet();
    sandbox.rekindle(&["config", "set", "review.per_day", "1"]).run().ok();
    for words in ["The heron ledger is rebuilt at night.", "The heron ledger has seven columns."] {
        propose_in(&sandbox, "pumps", words);
    }
    work(&sandbox, &[]);
    sandbox.rekindle(&["reindex"]).run().ok();
    let meta = fs::read_dir(sandbox.vault().join("_meta")).unwrap();
    let files: Vec<String> = meta.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let [file] = &files.iter().filter(|name| name.starts_with("waiting")).collect::<Vec<_>>()[..] else {
        panic!("{files:?}")
    };
    let line = fs::read_to_string(sandbox.vault().join("_meta").join(file)).unwrap();
    assert!(line.contains("\"project\":\"github.com/acme/pumps\""), "{line}");
    assert_eq!(recalled(&sandbox, "pumps", "the heron ledger").len(), 2, "R-05: what waits is found there");
    assert_eq!(recalled(&sandbox, "boats", "the heron ledger"), Vec::<String>::new());
    assert!(!briefing(&sandbox, "boats").contains("heron"));
}

#[test]
fn r_15_the_same_wish_in_a_second_project_asks_once_whether_it_holds_everywhere() {
    let sandbox = sandbox();
    let wish = "From now on always squash the commits before merging a branch.";
    let first = session(&sandbox, "pumps", "s1", wish);
    let own = listed(&first["output"]["saved"])[0].to_owned();
    let second = session(&sandbox, "boats", "s2", wish);
    let twin = listed(&second["output"]["saved"])[0].to_owned();
    assert_ne!(own, twin, "each project has it at once (R-14)");
    let asked = waiting(&sandbox);
    let [one] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((text(one, "source"), text(one, "section")), ("everywhere", "Every project"), "{one}");
    assert_eq!(listed(&one["evidence"]["sessions"]).len(), 2, "{one}");
    assert!(page(&sandbox).contains("## Proposed for: Every project"), "{}", page(&sandbox));
    let told = briefing(&sandbox, "pumps");
    assert!(told.contains("1 pending memory proposals"), "the nudge counts it: {told}");
    assert!(!briefing(&sandbox, "kettles").contains("squash"), "nobody said so yet");
    assert_eq!(recalled(&sandbox, "kettles", "squash the commits"), Vec::<String>::new());

    let id = text(one, "id");
    let said = sandbox.rekindle(&["approve", id]).run().ok().stdout;
    assert!(said.contains("it applies to every project"), "{said}");
    sandbox.rekindle(&["reindex"]).run().ok();
    assert!(briefing(&sandbox, "kettles").contains("squash the commits"));
    let left: Vec<bool> = [&own, &twin].iter().map(|path| sandbox.vault().join(path).exists()).collect();
    assert_eq!(left.iter().filter(|there| **there).count(), 1, "one memory for all of them");
    sandbox.rekindle(&["undo", id]).run().ok();
    assert!(sandbox.vault().join(&own).exists() && sandbox.vault().join(&twin).exists());
    sandbox.rekindle(&["reindex"]).run().ok();
    assert!(!briefing(&sandbox, "kettles").contains("squash"));

    sandbox.rekindle(&["reject", id]).run().ok();
    assert!(sandbox.vault().join(&own).exists(), "it goes on holding where it was said");
    session(&sandbox, "kettles", "s3", wish);
    assert_eq!(waiting(&sandbox), Vec::<Value>::new(), "nobody is asked again");
}

#[test]
fn r_15_what_one_project_does_differently_leaves_alone_what_holds_everywhere() {
    let sandbox = sandbox();
    let wide = "In all my projects, commit subjects have no feat or fix in front.";
    let own = listed(&session(&sandbox, "pumps", "s1", wide)["output"]["saved"])[0].to_owned();
    let before = fs::read_to_string(sandbox.vault().join(&own)).unwrap();
    assert!(before.contains("scope: global"), "{before}");
    let narrow = "No, commit subjects have the area in front now like in the log, e.g. core: drop the cache.";
    let twin = listed(&session(&sandbox, "boats", "s2", narrow)["output"]["saved"])[0].to_owned();
    assert_ne!(own, twin);
    assert_eq!(fs::read_to_string(sandbox.vault().join(&own)).unwrap(), before);
    sandbox.rekindle(&["reindex"]).run().ok();
    assert!(briefing(&sandbox, "boats").contains("area in front"));
    assert!(!briefing(&sandbox, "pumps").contains("area in front"));
}

#[test]
fn r_15_words_that_say_everywhere_without_certainty_are_asked_about() {
    let sandbox = sandbox();
    let run =
        session(&sandbox, "pumps", "s1", "From now on always run make check before every push, generally.");
    let saved = listed(&run["output"]["saved"])[0].to_owned();
    let entry = fs::read_to_string(sandbox.vault().join(&saved)).unwrap();
    let asked = waiting(&sandbox);
    // Either the classifier is sure, or the person is asked; a rule enters other projects in no other way.
    match entry.contains("scope: global") {
        true => assert!(asked.is_empty(), "{asked:?}"),
        false => assert_eq!(text(&asked[0], "source"), "everywhere", "{asked:?}"),
    }
}

#[test]
fn rejecting_a_proposal_archives_the_memory_of_the_same_words_and_nobody_asks_again() {
    let sandbox = sandbox();
    session(&sandbox, "pumps", "s1", "Always squash the commits before merging a branch.");
    let second = session(&sandbox, "pumps", "s2", "Never squash the commits before merging a branch.");
    let kept = listed(&second["output"]["saved"])[0].to_owned();
    let [one] = &waiting(&sandbox)[..] else { panic!("one question") };
    let id = text(one, "id").to_owned();
    assert!(sandbox.vault().join(&kept).exists());
    sandbox.rekindle(&["reject", &id]).run().ok();
    assert!(!sandbox.vault().join(&kept).exists(), "what was turned down does not go on holding");
    assert!(!briefing(&sandbox, "pumps").contains("Never squash"));
    let archived = sandbox.find_bytes("Never squash the commits");
    assert!(archived.iter().any(|path| path.to_string_lossy().contains("_archive")), "{archived:?}");

    // One undo reverts both.
    sandbox.rekindle(&["undo", &id]).run().ok();
    assert!(sandbox.vault().join(&kept).exists());
    assert_eq!(status(&sandbox, &id), "pending");
    sandbox.rekindle(&["reject", &id]).run().ok();
    assert!(!sandbox.vault().join(&kept).exists());

    let again = session(&sandbox, "pumps", "s3", "Never squash the commits before merging a branch.");
    assert_eq!(listed(&again["output"]["proposed"]), Vec::<&str>::new(), "{again}");
    assert_eq!(waiting(&sandbox), Vec::<Value>::new());
    sandbox.rekindle(&["review", "--check"]).run().ok();
}

#[test]
fn rev_10_what_expired_does_not_come_back_under_another_id() {
    let sandbox = sandbox();
    session(&sandbox, "pumps", "s1", "Always squash the commits before merging a branch.");
    session(&sandbox, "pumps", "s2", "Never squash the commits before merging a branch.");
    let [one] = &waiting(&sandbox)[..] else { panic!("one question") };
    let id = text(one, "id").to_owned();
    let mut db = Database::open(&sandbox.state().join("rekindle.db")).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the binary under test goes by the same clock")]
    let now = rekindle_core::base::time::Timestamp::now();
    assert!(proposals::expire(&mut db, id.parse().unwrap(), 0, now).unwrap());
    session(&sandbox, "pumps", "s3", "Never squash the commits before merging a branch.");
    assert_eq!(waiting(&sandbox), Vec::<Value>::new());
    assert_eq!(status(&sandbox, &id), "expired");
}

#[test]
fn r_20_an_id_ends_with_letters_of_the_machine() {
    let sandbox = quiet();
    let ids = ["Use tabs.", "Be brief."].map(|words| propose_in(&sandbox, "pumps", words));
    let letters = ids.each_ref().map(|id| id.rsplit('-').next().unwrap());
    assert_eq!((letters[0].len(), letters[0]), (4, letters[1]), "{ids:?}");
    let unknown = sandbox.rekindle(&["approve", "p-20261114-009"]).run().fails(1);
    assert!(unknown.stderr.contains("there is no proposal"), "{}", unknown.stderr);
    // A prefix of an id is enough.
    let short = ids[0].trim_end_matches(letters[0]).trim_end_matches('-');
    sandbox.rekindle(&["approve", short]).run().ok();
    assert!(memory(&sandbox).contains(&format!("<!-- user --> ^{}", ids[0])));
}

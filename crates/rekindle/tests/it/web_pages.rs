//! What the page shows and changes, beside what the commands and REVIEW.md say.

use crate::review::{hand_in, memory, page as review_page, propose, quiet, status};
use crate::web::{WebPage, encode};
use crate::{project, recall, sandbox, save, text};
use rekindle_core::base::provenance::Origin;

const PAGES: [&str; 7] = ["today", "search", "review", "sessions", "runs", "insight", "settings"];
const MARKUP: &str = "<script>alert(1)</script><img src=x onerror=alert(2)> \"quoted\" & 'single'";

#[test]
fn o11_05_every_page_answers_with_an_empty_store_and_a_full_one() {
    let sandbox = sandbox();
    let page = WebPage::open(&sandbox);
    for name in PAGES {
        page.get(name).is(200).has("<h1>").has("<title>");
    }
    for number in 0..70 {
        let needs = if number % 5 == 0 { "postgres and billing" } else { "nothing else" };
        let body = format!("The pump {number} needs {needs}, see [[pump-{}]].", number / 2);
        save(&sandbox, "fact", &format!("pump-{number}"), &body);
    }
    propose(&sandbox, "Use tabs.", 3);
    for name in PAGES {
        page.get(name).is(200).has("<h1>");
    }
    page.get("search").has("70 memories").has("Older");
    page.get("search?page=2").is(200).has("Newer").lacks("Older");
    page.get("insight").has("aria-labelledby=\"d-memories\"").has("search?q=postgres");
    page.get("settings").has("recall.k").has("Nothing. No language model");
    page.get("style.css").is(200).has("prefers-color-scheme: dark");
    page.get("page.js").is(200);
    page.get("session?id=none").is(404).has("there is no session");
}

#[test]
fn b_11_markup_in_a_memory_is_text_on_every_page() {
    let sandbox = quiet();
    let saved = save(&sandbox, "fact", "markup", &format!("{MARKUP} zebra"));
    let id = propose(&sandbox, MARKUP, 0);
    let page = WebPage::open(&sandbox);
    let pages = [
        "today".to_owned(),
        "search".to_owned(),
        "search?q=zebra&anyway=1".to_owned(),
        "search?q=zebra&anyway=1&live=1".to_owned(),
        format!("search?q={}", encode(MARKUP)),
        format!("memory?id={}", text(&saved, "id")),
        format!("edit?id={}", text(&saved, "id")),
        format!("forget?id={}", text(&saved, "id")),
        "review".to_owned(),
        "insight".to_owned(),
        format!("memory?id={}", encode(MARKUP)),
        format!("session?id={}", encode(MARKUP)),
    ];
    for name in &pages {
        let answer = page.get(name);
        assert!([200, 404].contains(&answer.status), "{name}: {answer:?}");
        answer.lacks("<script>alert").lacks("<img").lacks("\"quoted\"");
    }
    page.get("memory?id=markup").is(200).has("&lt;script&gt;alert(1)&lt;/script&gt;");
    page.get("review").has("&lt;img src=x onerror=alert(2)&gt;");
    page.submit("decide", &[("id", &id), ("verdict", "reject"), ("reason", MARKUP)])
        .is(200)
        .lacks("<script>alert");
}

#[test]
fn b_11_names_lead_to_memories_and_to_no_other_file() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "staging", "Staging listens on 5433.");
    std::fs::write(sandbox.home().join("secret.md"), "the secret").unwrap();
    std::fs::write(sandbox.vault().join("..").join("outside.md"), "the secret").unwrap();
    let page = WebPage::open(&sandbox);
    let absolute = sandbox.home().join("secret.md").display().to_string();
    for name in [
        "../secret.md",
        "../outside.md",
        "../../../../../../etc/passwd",
        "/etc/passwd",
        "config.toml",
        &absolute,
        "_meta",
        ".",
    ] {
        for address in ["memory", "edit", "forget"] {
            page.get(&format!("{address}?id={}", encode(name))).is(404).lacks("the secret").lacks("root:");
        }
    }
    for name in ["MEMORY.md", "REVIEW.md"] {
        page.get(&format!("edit?id={name}")).is(404);
    }
    page.get("memory?id=personal-private%2Ffix%2Fstaging.md").is(200).has("5433");
}

#[test]
fn b_11_an_edit_is_saved_once_and_a_conflict_loses_nothing() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "staging", "Staging listens on 5433.");
    let page = WebPage::open(&sandbox);
    let form = page.get("edit?id=staging").is(200).has("Staging listens on 5433.");
    let hash = form.field("hash");
    let note = sandbox.rekindle(&["show", "staging"]).run().ok().stdout;
    // Browsers send line breaks as `\r\n`.
    let sent = note.replace("5433", "5434").replace('\n', "\r\n");
    let saved = page.submit("edit", &[("id", "staging"), ("hash", &hash), ("text", &sent)]).is(200);
    saved.has("Saved.").has("5434");
    let shown = sandbox.rekindle(&["show", "staging"]).run().ok().stdout;
    assert_eq!(shown, note.replace("5433", "5434"));
    let found = recall(&sandbox, "which port does staging listen on", &["--anyway"]);
    assert!(found.to_string().contains("5434"), "{found}");

    // The second page still shows the first version: nothing is overwritten, and its text is kept.
    let late = note.replace("5433", "9999");
    let conflict = page.post("edit", &[("id", "staging"), ("hash", &hash), ("text", &late)]).is(200);
    let conflict = conflict.has("has changed since you opened it").has("9999").has("5434");
    assert!(sandbox.rekindle(&["show", "staging"]).run().ok().stdout.contains("5434"));
    let fresh = conflict.field("hash");
    assert_ne!(fresh, hash);
    page.submit("edit", &[("id", "staging"), ("hash", &fresh), ("text", &late)]).has("9999");
    // Broken properties are not saved, and the text is shown again.
    let broken = page.get("edit?id=staging").field("hash");
    let wrong = "---\nkind: [\n---\n\nHalf a thought.\n";
    page.post("edit", &[("id", "staging"), ("hash", &broken), ("text", wrong)])
        .is(200)
        .has("Not saved")
        .has("Half a thought.");
    assert!(sandbox.rekindle(&["show", "staging"]).run().ok().stdout.contains("9999"));
    // The history shows both edits and takes the newest back.
    let view = page.get("memory?id=staging").is(200).has("<ins>").has("9999").has("5433");
    let change = view.body.split("name=\"id\" value=\"").skip(1).find_map(|rest| {
        let id = rest.split('"').next()?;
        (id.len() > 20 && !id.contains('/')).then(|| id.to_owned())
    });
    page.submit("undo", &[("id", &change.unwrap()), ("from", "personal-private/fix/staging.md")])
        .has("Undone: edit");
    assert!(sandbox.rekindle(&["show", "staging"]).run().ok().stdout.contains("5434"));
}

#[test]
fn b_11_r_15_a_memory_moves_between_its_project_and_everywhere_and_is_forgotten_for_good() {
    let sandbox = sandbox();
    let folder = project(&sandbox, "pumps");
    let save = ["save", "fix", "valve", "--body", "The valve sticks at zebra pressure.", "--json"];
    let saved = sandbox.rekindle(&save).cwd(&folder).run().ok().json();
    let list = || sandbox.rekindle(&["list", "--json"]).run().ok().json();
    let own = list()[0]["project"].as_str().unwrap().to_owned();
    let page = WebPage::open(&sandbox);
    page.submit("scope", &[("id", "valve"), ("project", "")]).is(200).has("holds everywhere now");
    assert_eq!(list()[0]["scope"], "global");
    page.submit("scope", &[("id", "valve"), ("project", &own)]).is(200).has("holds only in");
    assert_eq!(
        (list()[0]["scope"].as_str(), list()[0]["project"].as_str()),
        (Some("project"), Some(own.as_str()))
    );
    page.submit("scope", &[("id", "valve"), ("project", &own)]).has("there already");

    let asked = page.get("forget?id=valve").is(200).has("cannot be undone").has("would go");
    page.post("forget", &[("id", "valve"), ("hash", "0")]).is(500).has("has changed since you read it");
    assert!(!sandbox.find_bytes("zebra pressure").is_empty());
    page.submit("forget", &[("id", "valve"), ("hash", &asked.field("hash"))]).is(200).has("Forgotten.");
    assert!(sandbox.find_bytes("zebra pressure").is_empty(), "{:?}", sandbox.find_bytes("zebra pressure"));
    page.get(&format!("memory?id={}", text(&saved, "id"))).is(404);
}

#[test]
fn b_11_a_search_says_why_and_typing_leaves_no_trace() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "staging", "Staging listens on port 5433, because 5432 is taken.");
    save(&sandbox, "preference", "tea", "I drink green tea in the morning.");
    let page = WebPage::open(&sandbox);
    let ask = "search?q=which+port+does+staging+listen+on";
    let inspected = || sandbox.rekindle(&["inspect", "--json"]).run().ok().json().as_array().unwrap().len();
    let live = page
        .get(&format!("{ask}&live=1"))
        .is(200)
        .has("5433")
        .has("meaning")
        .has("Relevance gate")
        .lacks("<html");
    assert!(live.body.contains("how close its embedding is"), "{}", live.body);
    assert_eq!(inspected(), 0);
    page.get(ask).is(200).has("5433").has("× age");
    assert_eq!(inspected(), 1);
    page.get("search?kind=preference").is(200).has("green tea").lacks("5433");
    page.get(&format!("{ask}&kind=preference&anyway=1")).lacks("5433");
    page.get("search?reviewed=no").is(200).lacks("green tea");
    page.get("search?since=2999-01-01").has("No memory matches");
}

#[test]
fn rev_04_page_terminal_and_file_agree_on_every_decision() {
    let sandbox = quiet();
    let ids =
        ["Use tabs.", "Run the tests with --release.", "Name branches by issue.", "Never push on Friday."]
            .map(|words| propose(&sandbox, words, 0));
    let page = WebPage::open(&sandbox);
    page.get("review").is(200).has("Use tabs.").has("4 proposals").has("From now on: Use tabs.");
    // Decided on the page, seen by the command, by MEMORY.md and by REVIEW.md.
    let after = page.submit("decide", &[("id", &ids[0]), ("verdict", "approve")]).is(200);
    after.has("MEMORY.md").has("3 proposals").has("Undo");
    assert_eq!(status(&sandbox, &ids[0]), "promoted");
    assert!(memory(&sandbox).contains("Use tabs."));
    assert!(!review_page(&sandbox).contains(&format!("[ ] `{}`", ids[0])));
    let shown = sandbox.rekindle(&["review", &ids[0]]).run().ok().stdout;
    assert!(shown.contains("in the browser"), "{shown}");
    // Decided by a command, seen on the page. The page cannot decide otherwise any more.
    sandbox.rekindle(&["reject", &ids[1]]).run().ok();
    page.get("review").has("2 proposals").has("rejected by a command");
    let late = page.submit("decide", &[("id", &ids[1]), ("verdict", "approve")]);
    late.has("was rejected by a command");
    assert_eq!(status(&sandbox, &ids[1]), "rejected");
    // Ticked in REVIEW.md, seen on the page without any command between.
    let file = sandbox.vault().join("REVIEW.md");
    let ticked =
        review_page(&sandbox).replace(&format!("- [ ] `{}`", ids[2]), &format!("- [x] `{}`", ids[2]));
    let stamp = page.get("alive").is(200).body;
    std::fs::write(&file, ticked).unwrap();
    assert_ne!(page.get("alive").is(200).body, stamp, "an open page hears of it");
    page.get("review").is(200).has("1 proposal,").has("promoted in REVIEW.md");
    assert!(memory(&sandbox).contains("Name branches by issue."));
    // Taken back on the page.
    page.submit("undo", &[("id", &ids[0])]).has("back in your review").has("2 proposals");
    assert!(!memory(&sandbox).contains("Use tabs."));
    assert_eq!(status(&sandbox, &ids[3]), "pending");
}

#[test]
fn rev_03_many_are_decided_at_once_in_other_words_and_beside_the_old_line() {
    let sandbox = quiet();
    sandbox.rekindle(&["memory", "add", "Use spaces.", "--section", "Hard Rules"]).run().ok();
    let old = hand_in(&sandbox, "Use tabs, not spaces.", Some("Use spaces."), 0, Origin::User);
    let many = ["Name branches by issue.", "Never push on Friday.", "Sign every tag."]
        .map(|words| propose(&sandbox, words, 0));
    let page = WebPage::open(&sandbox);
    let fields: Vec<(&str, &str)> =
        many.iter().map(|id| ("id", id.as_str())).chain([("verdict", "approve")]).collect();
    page.submit("decide", &fields).is(200).has("3 proposals decided");
    for words in ["Name branches by issue.", "Never push on Friday.", "Sign every tag."] {
        assert!(memory(&sandbox).contains(words), "{words}");
    }
    page.submit("decide", &[("verdict", "reject")]).has("Nothing was selected");
    page.post("decide", &[("id", "p-1"), ("verdict", "reject")]).is(400);
    page.post("decide", &[("id", &old), ("verdict", "burn")]).is(400);
    assert_eq!(status(&sandbox, &old), "pending");
    page.submit("decide", &[("id", &old), ("verdict", "edit"), ("text", "Use tabs everywhere.")]).is(200);
    assert!(memory(&sandbox).contains("Use tabs everywhere."), "{}", memory(&sandbox));
}

#[test]
fn rev_04_two_pages_decide_at_once_and_one_decision_counts() {
    let sandbox = quiet();
    let ids: Vec<String> =
        (0..4).map(|number| propose(&sandbox, &format!("Rule {number} holds for every pump."), 0)).collect();
    let page = WebPage::open(&sandbox);
    for id in &ids {
        let decide = |verdict| page.submit("decide", &[("id", id), ("verdict", verdict)]).is(200).body;
        let said = std::thread::scope(|scope| {
            let other = scope.spawn(|| decide("reject"));
            [decide("approve"), other.join().unwrap()]
        });
        let late = said.iter().filter(|body| {
            body.contains(" was promoted ")
                || body.contains(" was rejected ")
                || body.contains(" was approved ")
        });
        assert!(late.count() >= 1, "{said:?}");
        let holds = memory(&sandbox)
            .contains(&format!("Rule {} holds", ids.iter().position(|one| one == id).unwrap()));
        assert_eq!(status(&sandbox, id), if holds { "promoted" } else { "rejected" });
    }
    sandbox.rekindle(&["review", "--check"]).run().ok();
}

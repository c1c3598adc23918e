//! Actions of the page that the terminal has too: settings, the probe of hooks, the inbox and patches; and bad input.

use std::fs;
use std::time::Duration;

use crate::inbox::inboxed;
use crate::review::{memory, page as review_page, propose, quiet, status};
use crate::review_patches::for_agents;
use crate::web::{WebPage, encode};
use crate::{recall, sandbox, save};

#[test]
fn o11_05_one_setting_is_changed_with_the_checks_of_the_command() {
    let sandbox = sandbox();
    let file = sandbox.home().join("config.toml");
    let own = "# mine\n[user]\nname = \"Ada\" # me\n";
    fs::write(&file, own).unwrap();
    let get = |key: &str| sandbox.rekindle(&["config", "get", key]).run().ok().stdout.trim_end().to_owned();
    let page = WebPage::open(&sandbox);
    page.get("settings").is(200).has("setting?name=recall.k");
    let shown = page.get("setting?name=recall.k").is(200).has("a whole number from 1 to 10");
    let shown = shown.has("shipped default").has(&file.display().to_string()).has("REKINDLE_RECALL_K");
    let key = shown.field("key");
    let origin = page.origin();
    let set = |name: &str, value: &str| {
        page.post_with("setting", &[("key", &key), ("name", name), ("value", value)], &[&origin])
    };
    page.follow(&set("recall.k", "7").is(303)).has("Saved recall.k").has(&file.display().to_string());
    assert_eq!(get("recall.k"), "7");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(own), "every other byte stays: {text}");
    // What the command refuses, the page refuses; what was typed is shown again.
    for (name, value, why) in [
        ("recall.k", "11", "must be a whole number from 1 to 10"),
        ("recall.k", "<b>7</b>", "must be a whole number"),
        ("memory.enabled", "perhaps", "must be true or false"),
        ("time.zone", "Nowhere/At_All", "does not know that time zone"),
        ("recall.notes", "/no/such/folder", "Not saved"),
    ] {
        let said = set(name, value).is(200).has("Not saved").has(why).lacks("command line:").lacks("<b>7");
        if name != "memory.enabled" {
            assert!(said.body.contains(&value.replace('<', "&lt;").replace('>', "&gt;")), "{}", said.body);
        }
        let refused = sandbox.rekindle(&["config", "set", name, value]).run();
        assert!(refused.stderr.contains("error"), "{name} {value}: {refused:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    set("no.such", "1").is(400).has("no such setting");
    page.get("setting?name=no.such").is(404);
    page.get("setting?name=memory.enabled").is(200).has("<option value=\"false\">");
    // The default again.
    let fields = [("key", key.as_str()), ("name", "recall.k"), ("restore", "1")];
    page.follow(&page.post_with("setting", &fields, &[&origin]).is(303)).has("has its default again");
    assert_ne!(get("recall.k"), "7");
    // A stronger place is named.
    drop(page);
    let page = WebPage::enter(&sandbox.rekindle(&["web", "--no-open"]).env("REKINDLE_RECALL_K", "3"));
    page.get("setting?name=recall.k")
        .has("environment variable REKINDLE_RECALL_K")
        .has("stronger than your settings");
    drop(page);
    let page = WebPage::open_with(&sandbox, &["--read-only"]);
    page.get("setting?name=recall.k").is(200).has("read-only").lacks("<form");
    save(&sandbox, "fix", "staging", "Staging listens on 5433.");
    let own_key = page.get("edit?id=staging").field("key");
    let before = fs::read(&file).unwrap();
    let fields = [("key", own_key.as_str()), ("name", "recall.k"), ("value", "2")];
    page.post_with("setting", &fields, &[&page.origin()]).is(403).has("read-only");
    assert_eq!(fs::read(&file).unwrap(), before);
    // Settings that do not load are named, with their file and line.
    fs::write(&file, "[recall]\nk = \"many\"\n").unwrap();
    page.get("today").has("config.toml:2").has("must be a whole number");
}

#[test]
fn o11_05_the_page_calls_every_hook_and_shows_the_answers() {
    let sandbox = sandbox();
    let page = WebPage::open(&sandbox);
    page.get("settings").is(200).has("Call every hook now").lacks("hooks answer");
    page.submit("probe", &[("from", "settings")]).is(200).has("No agent is connected");
    sandbox.rekindle(&["install", "claude", "--yes"]).run().ok();
    page.submit("probe", &[]).is(200).has("claude").has("hooks answer within");
    page.get("settings").is(200).has("hooks answer within");
    // A hook that does not answer is named, with the next step.
    let settings = sandbox.user_home().join(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replace("/rekindle", "/gone/rekindle")).unwrap();
    page.submit("probe", &[]).is(200).has("does not answer").has("rekindle install claude");
    drop(page);
    let page = WebPage::open_with(&sandbox, &["--read-only"]);
    page.get("settings").is(200).has("rekindle doctor").lacks("Call every hook now");
}

#[test]
fn sid_06_the_inbox_is_kept_and_dropped_on_the_page_and_taken_back() {
    let sandbox = quiet();
    for (slug, id) in [("port", "m-111111111111"), ("guess", "m-222222222222")] {
        inboxed(&sandbox, slug, id, "2026-01-01T00:00:00Z", &format!("The {slug} is a guess.\n"));
    }
    sandbox.write("personal-private/_inbox/mine.md", "Typed by hand.\n");
    let page = WebPage::open(&sandbox);
    page.get("review").is(200).has("The port is a guess.").has("seen once in a session").has("added by hand");
    let inbox = |slug: &str| format!("personal-private/_inbox/{slug}.md");
    let kept = page.submit("inbox", &[("id", &inbox("port")), ("verdict", "keep")]).is(200);
    let kept = kept.has("1 memory kept").lacks("The port is a guess.</a><div class=\"about\"><span");
    assert!(sandbox.read("personal-private/fix/port.md").contains("reviewed:"));
    let undo = kept.field("id");
    page.submit("undo", &[("id", &undo)]).has("Undone: keep");
    assert!(sandbox.path(inbox("port")).exists());
    page.submit("inbox", &[("id", &inbox("guess")), ("verdict", "drop")]).has("1 memory dropped");
    assert!(!sandbox.path(inbox("guess")).exists());
    // A note without a kind needs one; nothing is lost without it.
    page.post("inbox", &[("id", &inbox("mine")), ("verdict", "keep")]).has("kind");
    assert!(sandbox.path(inbox("mine")).exists());
    let moved = [
        ("id", inbox("mine")),
        ("verdict", "keep".into()),
        ("kind", "fact".into()),
        ("back", "memory".into()),
    ];
    let moved: Vec<(&str, &str)> = moved.iter().map(|(name, value)| (*name, value.as_str())).collect();
    page.submit("inbox", &moved).is(200).has("Typed by hand.").has("1 memory kept");
    assert!(sandbox.path("personal-private/fact/mine.md").exists());
    // Decided elsewhere meanwhile.
    page.post("inbox", &[("id", &inbox("guess")), ("verdict", "keep")]).is(400).has("in the inbox");
    page.post("inbox", &[("id", &inbox("port")), ("verdict", "burn")]).is(400);
    page.get("memory?id=m-111111111111").is(200).has("value=\"drop\"");
}

#[test]
fn idn_05_a_patch_is_seen_applied_discarded_and_never_applied_unseen() {
    let sandbox = quiet();
    let file = sandbox.home().join("agents/AGENTS.md");
    fs::write(&file, "# Agents\n\n- Use npm.\n").unwrap();
    let ids =
        [("Use pnpm in this workspace.", Some("Use npm.")), ("Sign every tag.", None), ("Ask first.", None)]
            .map(|(words, old)| for_agents(&sandbox, words, old));
    let page = WebPage::open(&sandbox);
    page.get("review").lacks("Approved, to be applied by you");
    for id in &ids {
        page.submit("decide", &[("id", id), ("verdict", "approve")]).is(200);
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "# Agents\n\n- Use npm.\n");
    let shown = page.get("review").is(200).has("Approved, to be applied by you").has("Apply to AGENTS.md");
    let shown = shown.has("<ins><span class=\"sign\">+ </span>- Use pnpm in this workspace.");
    let seen = |id: &str| {
        let body = page.get("review").body;
        let card = body.split(&format!("id=\"patch-{id}\"")).nth(1).unwrap().to_owned();
        card.split("name=\"seen\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    let old = seen(&ids[0]);
    drop(shown);
    // The file changes after the person looked.
    fs::write(&file, "# Agents\n\n- Use npm.\n- Mine.\n").unwrap();
    let apply =
        |id: &str, seen: &str| page.submit("patch", &[("id", id), ("verdict", "apply"), ("seen", seen)]);
    apply(&ids[0], &old).has("has changed since you looked");
    assert_eq!(fs::read_to_string(&file).unwrap(), "# Agents\n\n- Use npm.\n- Mine.\n");
    let applied = apply(&ids[0], &seen(&ids[0])).has("Applied");
    assert_eq!(fs::read_to_string(&file).unwrap(), "# Agents\n\n- Use pnpm in this workspace.\n- Mine.\n");
    assert_eq!(status(&sandbox, &ids[0]), "promoted");
    page.submit("undo", &[("id", &applied.field("id"))]).has("back in your review");
    assert_eq!(fs::read_to_string(&file).unwrap(), "# Agents\n\n- Use npm.\n- Mine.\n");
    // Discarded: no file changes, and the terminal sees it.
    page.submit("patch", &[("id", &ids[1]), ("verdict", "discard")]).has("was discarded");
    assert_eq!(status(&sandbox, &ids[1]), "rejected");
    page.post("patch", &[("id", &ids[1]), ("verdict", "discard")]).is(500).has("rejected");
    // Applied in the terminal while the page was open.
    let late = seen(&ids[2]);
    sandbox.rekindle(&["review", "apply", &ids[2], "--yes"]).run().ok();
    apply(&ids[2], &late).has("nothing was left to apply");
    sandbox.rekindle(&["review", "--check"]).run().ok();
    assert!(!fs::read_to_string(&file).unwrap().contains("Sign every tag."));
}

#[test]
fn rev_04_page_terminal_and_file_see_each_other_within_a_second() {
    let sandbox = quiet();
    let ids =
        ["Use tabs.", "Name branches by issue.", "Sign every tag."].map(|words| propose(&sandbox, words, 0));
    let page = WebPage::open(&sandbox);
    page.get("review").is(200);
    // An open page asks once a second; the next answer after a change has to say so.
    let changed = |act: &dyn Fn()| {
        let stamp = page.get("alive").is(200).body;
        act();
        assert_ne!(page.get("alive").is(200).body, stamp, "an open page hears of it with its next question");
    };
    changed(&|| drop(sandbox.rekindle(&["approve", &ids[0]]).run().ok()));
    page.get("review").has("2 proposals").has("promoted by a command");
    let ticked = |id: &str| {
        let text = review_page(&sandbox).replace(&format!("- [ ] `{id}`"), &format!("- [x] `{id}`"));
        fs::write(sandbox.vault().join("REVIEW.md"), text).unwrap();
    };
    changed(&|| ticked(&ids[1]));
    page.get("review").has("1 proposal,").has("promoted in REVIEW.md");
    // What the page decides is in the file and in the terminal when its answer arrives.
    page.submit("decide", &[("id", &ids[2]), ("verdict", "approve")]).is(200);
    assert!(!review_page(&sandbox).contains(&format!("[ ] `{}`", ids[2])));
    assert!(memory(&sandbox).contains("Sign every tag."));
    assert_eq!(status(&sandbox, &ids[2]), "promoted");
}

#[test]
fn b_11_a_vault_that_changes_under_the_page_loses_nothing() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "staging", "Staging listens on 5433.");
    save(&sandbox, "fix", "other", "Other words.");
    let page = WebPage::open(&sandbox);
    let form = page.get("edit?id=staging").is(200);
    let (hash, note) = (form.field("hash"), sandbox.read("personal-private/fix/staging.md"));
    // An editor saves the note while the page has it open: both versions are shown, and nothing is written.
    let theirs = note.replace("5433", "6000");
    sandbox.write("personal-private/fix/staging.md", &theirs);
    let mine = note.replace("5433", "7000");
    let both = page.post("edit", &[("id", "staging"), ("hash", &hash), ("text", &mine)]).is(200);
    both.has("has changed since you opened it").has("6000").has("7000");
    assert_eq!(sandbox.read("personal-private/fix/staging.md"), theirs);
    page.get("memory?id=staging").is(200).has("6000").has("outside of Rekindle");
    // A note that appears, moves and vanishes is there, moves and vanishes at once.
    sandbox.write("personal-private/fix/new.md", "A new note by hand.\n");
    page.get("search").has("A new note by hand.").has("3 memories");
    sandbox.remove("personal-private/fix/new.md");
    page.get("search").lacks("A new note by hand.").has("2 memories");
    page.get("memory?id=new").is(404).has("new");
    sandbox.remove("personal-private/fix/staging.md");
    page.post("edit", &[("id", "staging"), ("hash", &hash), ("text", &mine), ("from", "other")]).is(400);
    assert!(!sandbox.path("personal-private/fix/staging.md").exists(), "it is not created again");
    // Broken properties, a folder in the place of a note, and the whole vault gone.
    sandbox.write("personal-private/fix/broken.md", "---\nkind: [\n---\n\nHalf.\n");
    page.get("today").is(200).has("1 note could not be read").has("rekindle doctor");
    page.get("search").is(200).has("Other words.");
    let (vault, aside) = (sandbox.vault(), sandbox.home().join("aside"));
    fs::rename(&vault, &aside).unwrap();
    for name in ["today", "search", "review", "insight"] {
        page.get(name).is(500).has("MemoryVault");
    }
    fs::rename(&aside, &vault).unwrap();
    page.get("search").is(200).has("Other words.");
}

#[test]
fn b_11_a_damaged_index_is_named_and_every_page_answers() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "staging", "Staging listens on port 5433.");
    save(&sandbox, "preference", "tea", "I drink green tea.");
    sandbox.rekindle(&["reindex"]).run().ok();
    let page = WebPage::open(&sandbox);
    let ask = "search?q=which+port+does+staging+listen+on&anyway=1";
    page.get(ask).is(200).has("5433");
    let index = sandbox.state().join("index");
    let files = || {
        let mut files = vec![];
        let mut folders = vec![index.clone()];
        while let Some(folder) = folders.pop() {
            for item in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
                match item.path().is_dir() {
                    true => folders.push(item.path()),
                    false => files.push(item.path()),
                }
            }
        }
        files
    };
    for how in ["overwritten", "emptied"] {
        for file in files() {
            let length = if how == "emptied" { 0 } else { fs::metadata(&file).unwrap().len() };
            fs::write(&file, vec![0xA5; usize::try_from(length).unwrap()]).unwrap();
        }
        // Search answers by reading the notes, and says what to do.
        page.get(ask).is(200).has("5433").has("reindex");
        for name in ["today", "search", "review", "insight", "settings", "sessions", "memory?id=staging"] {
            let status = page.get(name).status;
            assert_eq!(status, 200, "{name}, {how}");
        }
        sandbox.rekindle(&["reindex"]).run().ok();
        page.get(ask).is(200).has("5433").lacks("reindex");
    }
    fs::remove_dir_all(&index).unwrap();
    page.get(ask).is(200).has("5433").has("reindex");
    assert!(
        recall(&sandbox, "which port does staging listen on", &["--anyway"]).to_string().contains("5433")
    );
}

#[test]
fn b_11_a_memory_of_two_megabytes_and_control_characters_are_shown_in_part() {
    let sandbox = sandbox();
    let long: String = (0..60_000).map(|line| format!("Line {line} of a very long memory.\n")).collect();
    assert!(long.len() > 2_000_000);
    sandbox.write("personal-private/fact/long.md", format!("The beginning of it.\n\n{long}"));
    let wide = format!("{}\n", "wide ".repeat(450_000));
    sandbox.write("personal-private/fact/wide.md", &wide);
    let odd =
        "Bell \u{7}, escape \u{1b}[31m, null-like \u{0}, right-to-left \u{202e}abc, <b>bold</b> & more.\n";
    sandbox.write("personal-private/fact/odd.md", odd);
    let page = WebPage::open(&sandbox);
    let shown = page
        .get("memory?id=long")
        .is(200)
        .has("Line 3 of a very long memory.")
        .has("the rest is in the file");
    assert!(shown.body.len() < 400_000, "{}", shown.body.len());
    page.get("memory?id=wide").is(200).has("the rest is in the file");
    for name in ["today", "search", "insight"] {
        assert!(page.get(name).is(200).body.len() < 200_000, "{name}");
    }
    page.get("edit?id=long").is(404).has("too large to edit here").has("rekindle edit");
    page.get("edit?id=odd").is(404).has("control characters").has("rekindle edit");
    let odd_page = page.get("memory?id=odd").is(200).has("&lt;b&gt;bold&lt;/b&gt; &amp; more");
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    assert!(odd_page.body.chars().all(is_plain) && !odd_page.body.contains('\u{202e}'), "{}", odd_page.body);
    assert_eq!(sandbox.read("personal-private/fact/odd.md"), odd, "looking changes nothing");
    sandbox.rekindle(&["reindex", "--no-embed"]).run().ok();
    let hits = page.get("search?q=very+long+memory&anyway=1").is(200);
    assert!(hits.body.len() < 300_000, "{}", hits.body.len());
    assert!(page.get(&format!("search?q={}", encode(odd))).is(200).body.chars().all(is_plain));
    // The listing stays right over the time from which notes are remembered.
    page.get("search").has("3 memories");
    std::thread::sleep(Duration::from_millis(3_300));
    page.get("search").has("3 memories");
    sandbox.write("personal-private/fact/odd.md", "Plain now.\n");
    page.get("search").has("Plain now.").lacks("Bell");
}

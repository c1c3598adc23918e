//! The command line for people: the home screen, the help, short saves, edits and aliases. Also the calls of
//! other programs, which must not change.

use rekindle_testkit::Sandbox;
use serde_json::json;

use crate::provenance::in_shell;
use crate::review::{propose, quiet, status};
use crate::{found, recall, sandbox, save, text};

fn printed(sandbox: &Sandbox, args: &[&str]) -> String {
    sandbox.rekindle(args).run().ok().stdout
}

/// The names of the commands on a help screen.
fn names(help: &str) -> Vec<&str> {
    let indented = help.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    indented.filter_map(|line| line.split_whitespace().next()).filter(|name| !name.starts_with('-')).collect()
}

/// Writes an editor that runs a line of shell on its file.
fn editor(sandbox: &Sandbox, line: &str) -> String {
    let path = sandbox.user_home().join("editor.sh");
    std::fs::write(&path, format!("{line}\n")).unwrap();
    format!("sh {}", path.display())
}

#[test]
fn rekindle_alone_says_what_to_do_before_init() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    let home = sandbox.rekindle(&[]).run().ok().stdout;
    assert!(home.contains("not set up yet") && home.contains("rekindle init"), "{home}");
    assert!(home.contains("`rekindle help`"), "{home}");
    assert!(!sandbox.home().exists(), "a look makes nothing");
    let trial = sandbox.work().join("trial");
    let trial = trial.to_str().unwrap();
    let home = printed(&sandbox, &["--home", trial]);
    assert!(home.contains(&format!("rekindle --home {trial} init")), "{home}");
}

#[test]
fn rekindle_alone_shows_agents_memories_what_waits_and_the_next_step() {
    let sandbox = quiet();
    let home = printed(&sandbox, &[]);
    for row in [
        "agents",
        "memory    on, 0 saved",
        "learnt",
        "waiting   nothing",
        "Next: rekindle save 'Use tabs here'",
    ] {
        assert!(home.contains(row), "`{row}` is not in\n{home}");
    }
    assert!(home.lines().count() <= 12, "it fits on a screen:\n{home}");
    propose(&sandbox, "Use tabs.", 0);
    let learnt =
        "---\nkind: fix\nsession: s1\nupdated: 2999-01-01T00:00:00Z\n---\n\nThe valve sticks in winter.\n";
    sandbox.write("personal-private/fix/valve.md", learnt);
    sandbox.write("personal-private/_inbox/guess.md", "---\nkind: fix\norigin: agent\n---\n\nA guess.\n");
    let home = printed(&sandbox, &[]);
    for row in
        ["The valve sticks in winter.", "1 proposal to review, 1 in the inbox", "Next: rekindle review "]
    {
        assert!(home.contains(row), "`{row}` is not in\n{home}");
    }
    std::fs::create_dir(sandbox.user_home().join(".claude")).unwrap();
    let home = printed(&sandbox, &[]);
    assert!(home.contains("Next: rekindle install"), "{home}");
    sandbox.rekindle(&["install", "claude", "--yes"]).run().ok();
    assert!(printed(&sandbox, &[]).contains("agents    Claude Code"), "{home}");
    let off = printed(&sandbox, &["-c", "memory.enabled=false"]);
    assert!(off.contains("memory    off: "), "{off}");
}

#[test]
fn the_first_screen_has_few_commands_in_groups_and_help_all_has_every_one() {
    let sandbox = sandbox();
    let first = printed(&sandbox, &["--help"]);
    for group in ["Set up:", "Memory:", "Review:", "Insight:", "Options:"] {
        assert!(first.lines().any(|line| line == group), "{group} is not in\n{first}");
    }
    let few = names(&first);
    assert!((12..=18).contains(&few.len()), "{few:?}");
    for other in [&["help"][..], &["-h"]] {
        assert_eq!(names(&printed(&sandbox, other)), few, "{other:?}");
    }
    let text_all = printed(&sandbox, &["help", "--all"]);
    let all = names(&text_all);
    for name in few.iter().copied().chain(["hook", "mcp", "worker", "approve", "inbox", "completions"]) {
        assert!(all.contains(&name), "{name} is not in {all:?}");
        assert!(printed(&sandbox, &["help", name]).contains("Examples:"), "{name}");
    }
    // A command whose description is that of another one has lost its own.
    let descriptions: Vec<&str> =
        text_all.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")).collect();
    let descriptions: Vec<&str> = descriptions
        .iter()
        .filter_map(|line| line.trim().split_once("  ").map(|(_, said)| said.trim()))
        .collect();
    let distinct: std::collections::BTreeSet<&str> = descriptions.iter().copied().collect();
    assert_eq!(distinct.len(), descriptions.len(), "{text_all}");
    // Every command is in a group; the completions list all of them.
    let script = printed(&sandbox, &["completions", "fish"]);
    let known = script.lines().filter(|line| line.contains("__fish_rekindle_needs_command\" -f -a \""));
    let known = known.filter_map(|line| line.split(" -a \"").nth(1)?.split('"').next());
    let aliases = ["remember", "search", "find", "rm"];
    let missing: Vec<&str> = known.filter(|name| !all.contains(name) && !aliases.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let unknown = sandbox.rekindle(&["help", "nonsense"]).run().fails(2);
    assert!(unknown.stderr.contains("nonsense"), "{}", unknown.stderr);
}

#[test]
fn h_is_short_and_help_is_long() {
    let sandbox = sandbox();
    for command in [&["save"][..], &["recall"], &["install"], &["review", "inbox", "keep"]] {
        let short = printed(&sandbox, &[command, &["-h"]].concat());
        let long = printed(&sandbox, &[command, &["--help"]].concat());
        assert!(!short.contains("Examples:") && long.contains("Examples:"), "{short}\n{long}");
        assert!(!short.contains("REKINDLE_HOME") && long.contains("REKINDLE_HOME"), "{short}\n{long}");
        assert!(short.lines().count() < long.lines().count(), "{short}\n{long}");
        assert!(short.contains(&format!("`rekindle {} --help`", command.join(" "))), "{short}");
        assert_eq!(printed(&sandbox, &[&["help"], command].concat()), long);
    }
}

#[test]
fn a_text_alone_is_saved_under_its_first_words() {
    let sandbox = sandbox();
    let saved = sandbox.rekindle(&["save", "Use tabs here", "--json"]).run().ok().json();
    let path = text(&saved, "path");
    assert!(path.ends_with("/use-tabs-here.md"), "{path}");
    assert!(sandbox.read(path).ends_with("---\n\nUse tabs here\n"));
    let told = sandbox.rekindle(&["save", "We decided to keep Postgres for the ledger."]).run().ok();
    assert!(told.stdout.contains("/decision/we-decided-to-keep-postgres-for.md"), "{}", told.stdout);
    assert!(told.stderr.contains("rekindle edit m-"), "{}", told.stderr);
    // Nothing telling: a note. From standard input, and with the options that a save has.
    let piped = sandbox.rekindle(&["save", "-", "--tag", "x", "--json"]).stdin("asdf qwer").run().ok().json();
    assert_eq!(text(&piped, "path"), "personal-private/note/asdf-qwer.md");
    let secret = "The registry password is hunter2-Xk9qLw3Z";
    let saved = sandbox.rekindle(&["save", secret, "--json"]).run().ok().json();
    assert!(!text(&saved, "path").contains("hunter2"), "{saved}");
    assert_eq!(sandbox.find_bytes("hunter2").len(), 0);
    // A duplicate reports the existing note, and several words need quotes.
    let again = sandbox.rekindle(&["save", "Use tabs here"]).run().fails(2);
    assert!(again.stderr.contains("use-tabs-here.md"), "{}", again.stderr);
    let unquoted = sandbox.rekindle(&["save", "Use", "tabs"]).run().fails(2);
    assert!(unquoted.stderr.contains("--body"), "{}", unquoted.stderr);
    sandbox.rekindle(&["save"]).run().fails(2);
}

#[test]
fn other_names_do_the_same() {
    let sandbox = sandbox();
    let saved = sandbox.rekindle(&["remember", "The harbour crane takes the yellow grease", "--json"]).run();
    let id = text(&saved.ok().json(), "id").to_owned();
    let question = "which grease does the harbour crane take";
    let first = recall(&sandbox, question, &[]);
    assert_eq!(found(&first), [id.as_str()]);
    for name in ["search", "find"] {
        let answer = sandbox.rekindle(&[name, question, "--json"]).run().ok().json();
        assert_eq!(found(&answer), [id.as_str()], "{name}");
    }
    sandbox.rekindle(&["rm", &id, "--yes"]).run().ok();
    assert_eq!(sandbox.find_bytes("yellow grease").len(), 0);
}

#[test]
fn review_holds_approve_reject_inbox_and_friction_under_both_names() {
    let sandbox = quiet();
    for (command, status_then) in [
        (&["approve"][..], "promoted"),
        (&["review", "approve"], "promoted"),
        (&["reject"], "rejected"),
        (&["review", "reject"], "rejected"),
    ] {
        let id = propose(&sandbox, &format!("Run {} before a release.", command.join("-")), 0);
        sandbox.rekindle(&[command, &[&id]].concat()).run().ok();
        assert_eq!(status(&sandbox, &id), status_then, "{command:?}");
    }
    for slug in ["one", "two"] {
        let path = format!("personal-private/_inbox/{slug}.md");
        sandbox.write(&path, format!("---\nkind: fix\norigin: agent\n---\n\nGuess {slug}.\n"));
    }
    let old = printed(&sandbox, &["inbox", "--json"]);
    assert_eq!(printed(&sandbox, &["review", "inbox", "--json"]), old);
    sandbox.rekindle(&["review", "inbox", "keep", "one"]).run().ok();
    sandbox.rekindle(&["inbox", "drop", "two"]).run().ok();
    for command in [&["friction", "--json"][..], &["review", "friction", "--json"]] {
        let report = sandbox.rekindle(command).run().ok().json();
        assert!(report["report"]["why"].is_string(), "{report}");
    }
    let help = printed(&sandbox, &["review", "--help"]);
    for name in ["approve", "reject", "inbox", "friction", "apply", "connect"] {
        assert!(names(&help).contains(&name), "{name} is not in\n{help}");
    }
}

#[cfg(unix)]
#[test]
fn edit_opens_a_memory_in_the_editor_and_the_store_reads_it_again() {
    let sandbox = sandbox();
    let path = save(&sandbox, "fix", "crane", "The harbour crane takes the yellow grease.");
    let path = text(&path, "path").to_owned();
    let editor = editor(&sandbox, "sed -i.old s/yellow/green/ \"$1\" && rm \"$1.old\"");
    let edit = || sandbox.rekindle(&["edit", "crane"]).env("EDITOR", &editor);
    let said = edit().run().ok();
    assert!(said.stdout.contains(&format!("Saved {path}")), "{}", said.stdout);
    assert!(sandbox.read(&path).ends_with("The harbour crane takes the green grease.\n"));
    let hit = &recall(&sandbox, "which grease does the harbour crane take", &[])["results"][0];
    assert!(text(hit, "text").contains("green"), "{hit}");
    assert!(edit().run().ok().stderr.contains("No changes in"));
    let log = sandbox.rekindle(&["log", "--json", "-n", "1"]).run().ok().json();
    assert_eq!((text(&log[0], "verb"), text(&log[0], "by")), ("edit", "user"));
    sandbox.rekindle(&["undo"]).run().ok();
    assert!(sandbox.read(&path).contains("yellow"));
    // `VISUAL` has precedence over `EDITOR`. A failing editor changes nothing.
    let failed = edit().env("VISUAL", "false").run().fails(1);
    assert!(failed.stderr.contains("`false` failed"), "{}", failed.stderr);
    assert!(sandbox.read(&path).contains("yellow"));
    let secret = self::editor(&sandbox, "echo 'The password is hunter2-Xk9qLw3Z' >> \"$1\"");
    let said = sandbox.rekindle(&["edit", "crane"]).env("EDITOR", secret).run().ok();
    assert!(said.stderr.contains("removed likely secrets: 1 password"), "{}", said.stderr);
    assert_eq!(
        sandbox.find_bytes("hunter2-Xk9").iter().filter(|path| path.starts_with(sandbox.home())).count(),
        0
    );
}

#[cfg(unix)]
#[test]
fn a_broken_edit_says_what_and_where_and_loses_nothing() {
    let sandbox = sandbox();
    let path = save(&sandbox, "fix", "crane", "The harbour crane takes the yellow grease.");
    let path = text(&path, "path").to_owned();
    let before = sandbox.read(&path);
    let break_it = "printf -- '---\\nkind: fix\\ntags: [db\\n---\\n\\nEvery word of mine.\\n' > \"$1\"";
    let broken = editor(&sandbox, break_it);
    let said = sandbox.rekindle(&["edit", "crane"]).env("EDITOR", broken).run().fails(1);
    assert!(said.stderr.contains(&path) && said.stderr.contains("line "), "{}", said.stderr);
    assert!(said.stderr.contains("rekindle edit crane"), "{}", said.stderr);
    assert_eq!(sandbox.read(&path), before, "the memory is as it was");
    let kept = said.stderr.split("Your text is in ").nth(1).unwrap().split("; ").next().unwrap();
    assert!(std::fs::read_to_string(kept).unwrap().contains("Every word of mine."), "{kept}");
    // The next edit opens the draft; once it is valid, the draft is saved and removed.
    let mend = editor(&sandbox, "sed -i.old 's/\\[db/[db]/' \"$1\" && rm \"$1.old\"");
    let said = sandbox.rekindle(&["edit", "crane"]).env("EDITOR", mend).run().ok();
    assert!(said.stderr.contains("was not saved"), "{}", said.stderr);
    assert!(sandbox.read(&path).ends_with("Every word of mine.\n"));
    assert!(!std::path::Path::new(kept).exists());
    // The note changes while the editor is open: both texts are kept.
    let file = sandbox.path(&path);
    let race = format!("echo mine >> \"$1\"; echo theirs >> '{}'", file.display());
    let said = sandbox.rekindle(&["edit", "crane"]).env("EDITOR", editor(&sandbox, &race)).run().fails(1);
    assert!(sandbox.read(&path).ends_with("theirs\n"), "{}", said.stderr);
    assert!(std::fs::read_to_string(kept).unwrap().ends_with("mine\n"), "{}", said.stderr);
    // `forget` covers drafts.
    sandbox.rekindle(&["forget", "--text", "Every word of mine.", "--yes"]).run().ok();
    assert_eq!(sandbox.find_bytes("Every word of mine").len(), 0);
}

/// Requirements: R-19.
#[cfg(unix)]
#[test]
fn r_19_only_the_person_edits_in_an_editor() {
    let sandbox = quiet();
    save(&sandbox, "fix", "crane", "The harbour crane takes the yellow grease.");
    let id = propose(&sandbox, "Use tabs.", 0);
    let before = sandbox.read("personal-private/fix/crane.md");
    for name in ["crane", &id] {
        let editor = editor(&sandbox, "echo more >> \"$1\"");
        in_shell(&sandbox, &["edit", name]).env("EDITOR", editor).run().fails(1);
    }
    assert_eq!(sandbox.read("personal-private/fix/crane.md"), before);
    // At a terminal, an edited proposal takes the words from the editor.
    let words = editor(&sandbox, "echo 'Use tabs, but not in YAML.' > \"$1\"");
    sandbox.rekindle(&["edit", &id]).env("EDITOR", words).run().ok();
    assert!(sandbox.read("MEMORY.md").contains("Use tabs, but not in YAML."));
    let other = propose(&sandbox, "Squash commits.", 0);
    let said = sandbox.rekindle(&["edit", &other]).env("EDITOR", "true").run().ok();
    assert!(said.stderr.contains("no decision was made"), "{}", said.stderr);
    assert_eq!(status(&sandbox, &other), "pending");
}

/// Requirements: none. Other programs call these commands, so they must not change.
#[cfg(unix)]
#[test]
fn what_other_programs_call_stays_as_it_is() {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    let run = |args: &[&str]| sandbox.rekindle(args).run().ok();
    assert!(run(&["init", "--name", "Ada"]).stdout.contains("made   settings"));
    assert_eq!(run(&["status", "--line"]).stdout, "");
    run(&["config", "set", "capture.background", "false"]);
    let saved = run(&["save", "fix", "crane", "--body", "The harbour crane takes the yellow grease."]);
    assert!(saved.stdout.starts_with("Saved m-"), "{}", saved.stdout);
    assert!(saved.stdout.ends_with(" at personal-private/fix/crane.md\n"), "{}", saved.stdout);
    assert_eq!(saved.stderr, "");
    let answer = run(&["recall", "which grease does the harbour crane take", "--json"]).json();
    for key in ["query", "abstained", "degraded", "documents", "tookMs", "results", "dropped"] {
        assert!(!answer[key].is_null(), "{key} is not in {answer}");
    }
    assert_eq!(run(&["note", "The valve was greased."]).stdout, "Noted\n");
    assert!(run(&["worker", "--once"]).stdout.lines().count() <= 3);
    let said = json!({"type": "user", "uuid": "u1", "sessionId": "s1", "timestamp": "2026-11-14T09:00:00.000Z", "cwd": "/w",
        "message": {"role": "user", "content": "Always run the linter before you commit, please."}});
    std::fs::write(sandbox.work().join("s1.jsonl"), format!("{said}\n")).unwrap();
    let learnt = run(&["reflect", "--session", "s1.jsonl", "--json"]).json();
    assert!(learnt.is_object(), "{learnt}");
    let runs = run(&["runs", "--json"]).stdout;
    assert!(
        runs.lines()
            .all(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["function"].is_string())
    );
    assert!(!runs.is_empty());
    assert_eq!(run(&["runs", "--dead", "--json"]).stdout, "");
    run(&["reindex"]);
    let input =
        json!({"session_id": "s2", "transcript_path": "/nowhere.jsonl", "reason": "exit"}).to_string();
    assert_eq!(sandbox.rekindle(&["hook", "claude", "SessionEnd"]).stdin(input).run().ok().stdout, "");
    assert_eq!(sandbox.rekindle(&["mcp"]).stdin("").run().ok().stdout, "");
    std::fs::create_dir(sandbox.user_home().join(".claude")).unwrap();
    run(&["install", "--yes"]);
    assert!(sandbox.user_home().join(".claude/settings.json").exists());
    run(&["uninstall", "--yes"]);
    assert!(!sandbox.user_home().join(".claude/settings.json").exists());
    let store = sandbox.work().join("store");
    let bench = |verb: &str, line: &serde_json::Value| {
        let command = sandbox.rekindle(&["bench", verb]).arg("--store").arg(&store);
        command.stdin(format!("{line}\n")).run().ok().json()
    };
    let at = "2025-01-01T10:00:00Z";
    let line = json!({"ns": "ada", "session": "talk", "id": "tin", "ts": at, "role": "user", "text": "The crane takes the yellow grease."});
    assert_eq!(bench("ingest", &line)["added"], 1);
    let question = json!({"ns": "ada", "qid": "q", "ts": "2026-01-01T00:00:00Z", "query": "which grease does the crane take"});
    assert_eq!(found(&bench("query", &question)), ["tin"]);
}

//! Daily use at the terminal: answers in sentences, tolerant names, natural dates, and output that explains
//! itself.

use rekindle_testkit::Sandbox;
use serde_json::json;

use crate::capture::{ClaudeTranscript, work};
use crate::{project, sandbox, save, text};

/// Returns both output streams of a command.
fn printed(sandbox: &Sandbox, args: &[&str]) -> String {
    let output = sandbox.rekindle(args).run().ok();
    output.stdout + &output.stderr
}

/// Returns the error message of an invalid command.
fn refused(sandbox: &Sandbox, args: &[&str]) -> String {
    sandbox.rekindle(args).run().fails(2).stderr
}

fn some_memories() -> Sandbox {
    let sandbox = sandbox();
    save(
        &sandbox,
        "fix",
        "staging-port",
        "Staging moved to Frankfurt. The staging database listens on port 5433.",
    );
    save(&sandbox, "preference", "tests", "Run the tests with nextest.");
    save(
        &sandbox,
        "fact",
        "release-day",
        "Releases are tagged on Tuesdays, after the nightly suite was green twice.",
    );
    for n in 1..=12 {
        let body = format!("Importer {n} reads invoices from bank {n} and writes them to table {n}.");
        save(&sandbox, "fact", &format!("importer-{n}"), &body);
    }
    sandbox
}

#[test]
fn rec_16_ask_answers_in_a_sentence_and_says_when_nothing_answers() {
    let sandbox = some_memories();
    let known = sandbox.rekindle(&["ask", "which port does the staging database use?"]).run().ok().stdout;
    let first = known.lines().next().unwrap();
    assert_eq!(first, "The staging database listens on port 5433. [1]", "{known}");
    assert!(known.contains("[1] MemoryVault/personal-private/fix/staging-port.md"), "{known}");
    for question in
        ["who approves a release?", "what is the capital of Mongolia?", "why was the importer rewritten?"]
    {
        let output = sandbox.rekindle(&["ask", question]).run().ok();
        let mut lines = output.stdout.lines();
        assert_eq!(lines.next(), Some("Nothing in your notes or sessions answers that."), "{question}");
        // At most what comes close follows, marked as that.
        assert!(lines.next().is_none_or(|line| line.starts_with("Near: ")), "{question}: {}", output.stdout);
        let json = sandbox.rekindle(&["ask", question, "--json"]).run().ok().json();
        assert_eq!(
            (&json["known"], json["citations"].as_array().unwrap().len()),
            (&false.into(), 0),
            "{question}"
        );
    }
}

#[test]
fn list_kind_nope_names_the_kinds() {
    let sandbox = some_memories();
    let said = refused(&sandbox, &["list", "--kind", "nope"]);
    assert!(
        said.contains("there is no memory of kind `nope`") && said.contains("fact, fix, preference"),
        "{said}"
    );
    assert_eq!(sandbox.rekindle(&["list", "--kind", "fix"]).run().ok().stdout.lines().count(), 1);
    let said = printed(&sandbox, &["list", "--kind", "fix", "--tag", "nope"]);
    assert!(said.contains("No memory matches"), "{said}");
}

#[test]
fn memory_add_to_a_section_that_is_not_there_is_refused() {
    let sandbox = sandbox();
    let before = sandbox.read("MEMORY.md");
    let said = refused(&sandbox, &["memory", "add", "Never push to main.", "--section", "Nope"]);
    assert!(said.contains("MEMORY.md has no section `Nope`") && said.contains("Hard Rules"), "{said}");
    assert_eq!(sandbox.read("MEMORY.md"), before);
    let said = printed(&sandbox, &["memory", "add", "Never push to main.", "--section", "hard rules"]);
    assert!(said.starts_with("Added to MEMORY.md › hard rules") && said.contains("rekindle undo"), "{said}");
    assert!(sandbox.read("MEMORY.md").contains("Never push to main."));
}

#[test]
fn r_17_days_can_be_typed_as_people_say_them() {
    let sandbox = some_memories();
    for since in ["yesterday", "2w", "3 days ago", "2026-11-01"] {
        let json = crate::recall(&sandbox, "which port does staging use?", &["--since", since]);
        assert!(json["error"].is_null() && json["filtersApplied"][0]["filter"] != "nope", "{since}: {json}");
    }
    let recent = crate::recall(&sandbox, "which port does staging use?", &["--since", "yesterday"]);
    assert!(!crate::results(&recent).is_empty(), "{recent}");
    let old = crate::recall(&sandbox, "which port does staging use?", &["--until", "yesterday"]);
    assert!(crate::results(&old).is_empty(), "{old}");
    let today = crate::recall(&sandbox, "which port does staging use?", &["--until", "today"]);
    assert!(!crate::results(&today).is_empty(), "the end of a day, not its beginning: {today}");
    let said = refused(&sandbox, &["recall", "x", "--since", "soonish"]);
    assert!(said.contains("2026-11-15, yesterday, 2w or \"3 days ago\""), "{said}");
    assert!(printed(&sandbox, &["daily", "show", "yesterday"]).contains("No log for 2"));
    sandbox.rekindle(&["daily", "add", "Moved staging."]).run().ok();
    assert!(printed(&sandbox, &["daily", "show", "today"]).contains("Moved staging."));
    sandbox.rekindle(&["backfill", "--since", "2w", "--dry-run"]).run().ok();
}

#[test]
fn the_beginning_of_an_id_is_enough() {
    let sandbox = sandbox();
    let saved = save(&sandbox, "fix", "staging-port", "Staging listens on 5433.");
    let id = text(&saved, "id");
    assert!(printed(&sandbox, &["show", &id[..7]]).contains("listens on 5433"));
    assert!(printed(&sandbox, &["feedback", &id[..7], "good"]).contains(id));
    let said = printed(&sandbox, &["inspect", "--of", &id[..7]]);
    assert!(said.contains("strength") && said.contains("+0."), "{said}");
    // A change can be named by a prefix of the id in `log`.
    let log = sandbox.rekindle(&["log"]).run().ok().stdout;
    let change = log.split_whitespace().next().unwrap().to_owned();
    assert!(printed(&sandbox, &["undo", &change[..5]]).contains(&change), "{log}");
    let said = refused(&sandbox, &["run", "zz"]);
    assert!(said.contains("use at least four characters of the id"), "{said}");
    let said = refused(&sandbox, &["approve", "p-2026"]);
    assert!(said.contains("there is no proposal `p-2026`"), "{said}");
}

#[test]
fn exe_10_the_beginning_of_a_session_id_is_enough() {
    let sandbox = sandbox();
    let ids = ["379d93d5-1201-4f74-a5dd-3275bdd5c0b0", "379d93d5-7777-4f74-a5dd-3275bdd5c0b0"];
    save(&sandbox, "fix", "staging-port", "The staging database listens on port 5433.");
    for id in ids {
        let input = json!({"session_id": id, "cwd": sandbox.work(), "prompt": "which port has the staging database?"});
        sandbox.rekindle(&["hook", "claude", "UserPromptSubmit"]).stdin(input.to_string()).run().ok();
        let mut session = ClaudeTranscript::new(&sandbox, id);
        session.says("Always run the linter before a push.");
        session.hook(&sandbox, "SessionEnd");
    }
    work(&sandbox, &[]);
    let inspected = sandbox.rekindle(&["inspect", "--session", "379d93d5-1", "--json"]).run().ok().json();
    assert_eq!(text(&inspected, "session"), ids[0]);
    let runs = |typed: &str| sandbox.rekindle(&["runs", "--session", typed, "--json"]).run();
    let of_session = runs("379d93d5-7").ok().stdout;
    assert!(of_session.contains(ids[1]) && !of_session.contains(ids[0]), "{of_session}");
    for said in [refused(&sandbox, &["inspect", "--session", "379d"]), runs("379d").fails(2).stderr] {
        assert!(
            said.contains("2 sessions match `379d`") && said.contains("use more characters of the id"),
            "{said}"
        );
    }
}

#[test]
fn r_20_an_id_without_the_letters_of_its_machine_is_enough() {
    let sandbox = crate::review::quiet();
    let [first, second] =
        ["Use tabs.", "Write tests first."].map(|words| crate::review::propose(&sandbox, words, 0));
    let bare = |id: &str| id.rsplit_once('-').unwrap().0.to_owned();
    assert!(bare(&first).len() == "p-20261114-001".len() && first.len() > bare(&first).len(), "{first}");
    assert!(printed(&sandbox, &["review", &bare(&first)]).contains("Use tabs."));
    printed(&sandbox, &["approve", &bare(&first)]);
    printed(&sandbox, &["reject", &bare(&second)]);
    printed(&sandbox, &["undo", &bare(&second)]);
    printed(&sandbox, &["edit", &bare(&second), "--text", "Write the tests first."]);
    assert!(sandbox.read("MEMORY.md").contains("Write the tests first."));
    let said = sandbox.rekindle(&["approve", "p-20261114-009"]).run().fails(1).stderr;
    assert!(said.contains("there is no proposal p-20261114-009"), "{said}");
}

#[test]
fn the_beginning_of_the_id_of_a_run_or_of_an_old_version_is_enough() {
    let sandbox = sandbox();
    sandbox.rekindle(&["note", "Noted for the worker."]).run().ok();
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    let run = crate::capture::runs(&sandbox, &[]).remove(0);
    let id = text(&run, "id");
    assert_eq!(id.len(), 26, "{run}");
    assert!(printed(&sandbox, &["run", &id[..25]]).contains(id));
    let saved = save(&sandbox, "fix", "staging-port", "Staging listens on 5433.");
    let evolve = ["evolve", "staging-port", "--body", "Staging listens on 5434.", "--reason", "moved"];
    sandbox.rekindle(&evolve).run().ok();
    let old = text(&saved, "id");
    assert!(printed(&sandbox, &["show", &old[..7]]).contains("listens on 5433"));
    let said = refused(&sandbox, &["show", "m-zzzzzz"]);
    assert!(said.contains("there is no memory `m-zzzzzz`"), "{said}");
}

#[test]
fn r_17_log_shows_times_in_the_persons_zone() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "mine", "Saved by hand.");
    let at = |zone: &str| {
        let log = sandbox.rekindle(&["log"]).env("TZ", zone).run().ok().stdout;
        log.split_whitespace().nth(1).unwrap().parse::<jiff::civil::DateTime>().unwrap()
    };
    let ahead = at("Etc/GMT-9").since(at("UTC")).unwrap().total(jiff::Unit::Hour).unwrap();
    assert!((ahead - 9.0).abs() < 0.01, "{ahead}");
}

#[test]
fn show_staging_suggests_staging_port() {
    let sandbox = some_memories();
    let said = refused(&sandbox, &["show", "staging"]);
    assert!(said.contains("there is no memory `staging`"), "{said}");
    assert!(said.contains("did you mean `staging-port`?"), "{said}");
    let said = refused(&sandbox, &["show", "kubernetes"]);
    assert!(said.contains("list memories with `rekindle list`"), "{said}");
}

#[test]
fn rec_04_recall_by_a_person_has_no_cap_of_ten_and_shows_text_first() {
    let sandbox = some_memories();
    let all = crate::recall(&sandbox, "importer reads invoices from a bank", &["--k=40", "--anyway"]);
    assert!(crate::results(&all).len() > 10, "{}", crate::results(&all).len());
    let shown = sandbox.rekindle(&["recall", "which port does the staging database use?"]).run().ok().stdout;
    let mut lines = shown.lines();
    assert!(lines.next().unwrap().starts_with("Staging moved to Frankfurt."), "{shown}");
    assert!(
        lines.next().unwrap().starts_with("  MemoryVault/personal-private/fix/staging-port.md"),
        "{shown}"
    );
    let said = refused(&sandbox, &["recall", "x", "--k=1000"]);
    assert!(said.contains("rekindle list"), "{said}");
}

#[test]
fn rec_07_recall_explain_is_a_table_in_words() {
    let sandbox = some_memories();
    let shown = sandbox.rekindle(&["recall", "which port does staging use?", "--explain"]).run().ok().stdout;
    assert!(!shown.contains('{'), "{shown}");
    let row = shown.lines().find(|line| line.trim_start().starts_with("meaning ")).unwrap();
    assert!(row.ends_with("how close its embedding is to the question's"), "{row}");
    assert!(
        shown.contains("Left out:") && shown.contains("far less relevant than the best match"),
        "{shown}"
    );
}

#[test]
fn fbk_03_inspect_explains_its_words() {
    let sandbox = some_memories();
    crate::recall(&sandbox, "which port does the staging database use?", &[]);
    crate::recall(&sandbox, "what is the capital of Mongolia?", &[]);
    let list = printed(&sandbox, &["inspect"]);
    assert!(list.contains("silent: no memory was relevant enough to show"), "{list}");
    let silent = printed(&sandbox, &["inspect", "1"]);
    assert!(silent.lines().any(|line| line.starts_with("silent") && line.ends_with('.')), "{silent}");
    let shown = printed(&sandbox, &["inspect", "2"]);
    assert!(shown.contains("how close its embedding is") && shown.contains("× age"), "{shown}");
}

#[test]
fn exe_10_a_run_is_a_table() {
    let sandbox = sandbox();
    let folder = project(&sandbox, "pumps");
    sandbox.rekindle(&["note", "The staging database moved to Frankfurt."]).cwd(&folder).run().ok();
    sandbox.rekindle(&["worker"]).run().ok();
    let runs = sandbox.rekindle(&["runs"]).run().ok().stdout;
    let id = runs.split_whitespace().next().unwrap_or_else(|| panic!("no runs")).to_owned();
    let shown = sandbox.rekindle(&["run", &id[..5]]).run().ok().stdout;
    assert!(shown.lines().any(|line| line.split_whitespace().eq(["step", "took", "result"])), "{shown}");
    assert!(!shown.contains('{') && !shown.contains("[\""), "{shown}");
}

#[test]
fn log_shows_what_people_changed_and_all_the_rest() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "mine", "Saved by hand.");
    sandbox.rekindle(&["note", "Noted for the worker."]).run().ok();
    sandbox.rekindle(&["worker"]).run().ok();
    let own = sandbox.rekindle(&["log"]).run().ok().stdout;
    assert!(own.contains("fix/mine.md") && !own.contains("memory/2"), "{own}");
    let all = sandbox.rekindle(&["log", "--all"]).run().ok().stdout;
    assert!(all.contains("memory/2") && all.contains("  you ") && all.contains("  rekindle "), "{all}");
    assert!(all.lines().count() > own.lines().count(), "{all}");
}

#[test]
fn doctor_prints_what_is_not_in_order_and_one_line_for_the_rest() {
    let sandbox = sandbox();
    let fine = sandbox.rekindle(&["doctor"]).run().ok().stdout;
    assert_eq!(fine.lines().filter(|line| line.starts_with("ok")).count(), 1, "{fine}");
    let all = sandbox.rekindle(&["doctor", "--all"]).run().ok().stdout;
    assert!(all.lines().filter(|line| line.starts_with("ok")).count() > 5, "{all}");
    sandbox.write("personal-private/fix/broken.md", "---\nid: [\n---\nx\n");
    let broken = sandbox.rekindle(&["doctor"]).run();
    assert!(
        broken.stdout.contains("broken.md") && broken.stdout.contains("other checks passed"),
        "{}",
        broken.stdout
    );
}

#[test]
fn dis_05_install_says_a_summary_first_names_every_file_and_what_is_next() {
    let sandbox = sandbox();
    let output = sandbox.rekindle(&["install", "claude", "codex", "--yes"]).run().ok();
    let summary = output.stdout.lines().next().unwrap();
    assert!(
        summary.starts_with("Claude Code") && summary.contains("adds Rekindle's hooks and MCP server to")
    );
    assert!(!output.stdout.contains("@@"), "no diff unless it is asked for: {}", output.stdout);
    for file in [".claude/settings.json", ".claude.json", ".codex/hooks.json", ".codex/config.toml"] {
        let written = |line: &str| line.starts_with("wrote") && line.ends_with(file);
        assert!(output.stdout.lines().any(written), "{file}: {}", output.stdout);
        assert!(sandbox.user_home().join(file).exists(), "{file}");
    }
    assert!(output.stderr.contains("Next: start a new session in Claude Code or Codex"), "{}", output.stderr);
    let dry = sandbox.rekindle(&["uninstall", "claude", "--dry-run"]).run().ok().stdout;
    assert!(dry.contains("removes Rekindle's hooks") && dry.contains("@@"), "{dry}");
}

#[test]
fn bare_undo_says_whose_change_it_is() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "mine", "Saved by hand.");
    let said = printed(&sandbox, &["undo"]);
    assert!(said.starts_with("Undone: your save "), "{said}");
    sandbox.rekindle(&["note", "Noted for the worker."]).run().ok();
    sandbox.rekindle(&["worker"]).run().ok();
    let said = printed(&sandbox, &["undo"]);
    assert!(said.starts_with("Undone: Rekindle's "), "{said}");
}

#[test]
fn help_is_wrapped_once() {
    let sandbox = sandbox();
    for (columns, least) in [("100", 60), ("80", 45)] {
        for command in ["ask", "recall", "install", "doctor", "forget"] {
            let help = sandbox.rekindle(&[command, "--help"]).env("COLUMNS", columns).run().ok().stdout;
            let width: usize = columns.parse().unwrap();
            assert!(
                help.lines().all(|line| line.chars().count() <= width || line.starts_with("  ")),
                "{help}"
            );
            let lines: Vec<&str> = help.lines().collect();
            let start = lines.iter().rposition(|line| line.starts_with("      --color")).unwrap();
            let words = |line: &str| !line.is_empty() && !line.starts_with(' ');
            // Only the last line of a paragraph may be short.
            for pair in lines[start..].windows(2).filter(|pair| words(pair[0]) && words(pair[1])) {
                assert!(pair[0].chars().count() >= least, "{command} at {columns}: `{}`\n{help}", pair[0]);
            }
        }
    }
}

#[test]
fn readme_takes_the_hooks_out_before_the_program() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let section = readme.split("## Uninstall").nth(1).unwrap();
    let hooks = section.find("rekindle uninstall").expect("the agents' hooks");
    let program = section.find("cargo uninstall rekindle").expect("the program");
    assert!(hooks < program, "{section}");
}

#[test]
fn ops_03_status_says_why_memory_is_off() {
    let sandbox = sandbox();
    let memory = |sandbox: &Sandbox| {
        let status = sandbox.rekindle(&["status"]).run().ok().stdout;
        status.lines().find(|line| line.starts_with("memory")).unwrap().to_owned()
    };
    assert!(memory(&sandbox).ends_with("  on"));
    sandbox.rekindle(&["config", "set", "memory.enabled", "false"]).run().ok();
    let off = memory(&sandbox);
    assert!(off.contains("off: memory.enabled is false") && off.contains("config.toml"), "{off}");
    sandbox.rekindle(&["config", "set", "memory.enabled", "true"]).run().ok();
    let stop = sandbox.state().join("STOP");
    let file = if stop.parent().unwrap().exists() { stop } else { sandbox.home().join("STOP") };
    std::fs::write(&file, "").unwrap();
    let off = memory(&sandbox);
    assert!(off.contains("STOP") && off.contains("delete it to resume"), "{off}");
}

/// Requirements: X-31.
#[test]
fn fut_04_brf_03_the_nudge_the_status_line_and_the_footer_count_what_waits() {
    let sandbox = crate::review::quiet();
    sandbox.rekindle(&["config", "set", "review.per_day", "2"]).run().ok();
    for words in
        ["Use tabs.", "Deploy on Mondays.", "Write tests first.", "Ask before a migration.", "Be brief."]
    {
        crate::review::propose(&sandbox, words, 0);
    }
    sandbox.rekindle(&["review", "--list"]).run().ok();
    sandbox.rekindle(&["worker"]).run().ok();
    let page = crate::review::page(&sandbox);
    assert_eq!(page.matches("- [ ] ").count(), 2, "{page}");
    assert!(page.contains("| 5 proposals pending_"), "{page}");
    assert_eq!(sandbox.rekindle(&["status", "--line"]).run().ok().stdout, "rekindle: 5 to review\n");
    let status = sandbox.rekindle(&["status"]).run().ok().stdout;
    assert!(status.contains("5 proposals to review"), "{status}");
    sandbox.rekindle(&["memory", "add", "Answer in English."]).run().ok();
    let told = briefing(&sandbox, "s1");
    assert!(told.contains("5 pending memory proposals"), "{told}");
}

#[test]
fn r_17_a_note_belongs_to_the_day_on_which_it_was_noted() {
    use rekindle_core::event::{Event, names};
    let sandbox = sandbox();
    let at: rekindle_core::base::time::Timestamp = "2026-03-14T15:09:00Z".parse().unwrap();
    let data = serde_json::json!({"text": "The pump was replaced.", "origin": "user"});
    let event = Event { id: "01TEST".to_owned(), name: names::OBSERVATION_NOTED.to_owned(), data, at };
    let db = rekindle_engine::platform::db::Database::open(&sandbox.state().join("rekindle.db")).unwrap();
    let mut queue = rekindle_engine::jobs::queue::RunQueue::new(db);
    queue.enqueue(&rekindle_engine::pipeline::stages::STAGE_REGISTRY, &[event], at).unwrap();
    drop(queue);
    sandbox.rekindle(&["worker"]).run().ok();
    let log = sandbox.read("memory/2026-03-14.md");
    assert!(log.contains("15:09") && log.contains("The pump was replaced."), "{log}");
}

#[test]
fn r_17_listings_show_the_day_of_the_person() {
    let sandbox = sandbox();
    let body = "---\nid: m-000000000001\nkind: fix\nstatus: active\nupdated: 2026-11-14T23:30:00Z\n\
                created: 2026-11-14T23:30:00Z\norigin: user\n---\n\nStaging listens on 5433.\n";
    sandbox.write("personal-private/fix/late.md", body);
    let vienna = |args: &[&str]| sandbox.rekindle(args).env("TZ", "Europe/Vienna").run().ok().stdout;
    assert!(vienna(&["list"]).contains("2026-11-15  fix"), "{}", vienna(&["list"]));
    let found = vienna(&["recall", "which port does staging use?"]);
    assert!(found.contains("2026-11-15"), "{found}");
}

#[test]
fn sto_08_recall_can_ask_for_what_is_stale() {
    let sandbox = some_memories();
    let body = "---\nid: m-000000000002\nkind: fix\nstatus: active\nstale: true\norigin: user\n---\n\n\
                The staging database used port 5431 before the move.\n";
    sandbox.write("personal-private/fix/old-port.md", body);
    sandbox.rekindle(&["reindex"]).run().ok();
    let ask = |more: &[&str]| {
        let more = [&["--anyway"], more].concat();
        let answer = crate::recall(&sandbox, "which port does the staging database use?", &more);
        crate::found(&answer).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(ask(&["--stale"]), ["m-000000000002"]);
    let fresh = ask(&["--stale=false"]);
    assert!(!fresh.is_empty() && !fresh.contains(&"m-000000000002".to_owned()), "{fresh:?}");
}

/// Returns the briefing of a Claude Code session.
pub(crate) fn briefing(sandbox: &Sandbox, session: &str) -> String {
    let input = serde_json::json!({"session_id": session, "cwd": sandbox.work(), "source": "startup"});
    sandbox.rekindle(&["hook", "claude", "SessionStart"]).stdin(input.to_string()).run().ok().stdout
}

#[test]
fn brf_01_the_briefing_tells_what_changed_in_the_infrastructure() {
    let sandbox = sandbox();
    sandbox.rekindle(&["memory", "add", "Be brief."]).run().ok();
    let old = r#"{"at":"2020-01-01T00:00:00Z","action":"deploy","tool":"pumps","detail":"the very first"}"#;
    sandbox.write("system-log.jsonl", format!("{old}\n"));
    sandbox
        .rekindle(&[
            "slog",
            "write",
            "--action",
            "move",
            "--tool",
            "postgres",
            "--detail",
            "to Frankfurt",
            "--reason",
            "cost",
        ])
        .run()
        .ok();
    let told = briefing(&sandbox, "s1");
    assert!(told.contains("move postgres: to Frankfurt (cost)"), "{told}");
    assert!(!told.contains("the very first"), "only the last days: {told}");
}

#[cfg(unix)]
#[test]
fn brf_12_the_session_hook_says_which_identity_link_is_broken() {
    let sandbox = sandbox();
    sandbox.rekindle(&["memory", "add", "Be brief."]).run().ok();
    let folder = sandbox.user_home().join(".agents");
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(sandbox.home().join("agents/AGENTS.md"), folder.join("AGENTS.md")).unwrap();
    let told = briefing(&sandbox, "s1");
    assert!(told.contains("Be brief.") && !told.contains("shared identity file"), "{told}");
    std::fs::remove_file(folder.join("AGENTS.md")).unwrap();
    std::fs::write(folder.join("AGENTS.md"), "Something else.\n").unwrap();
    let told = briefing(&sandbox, "s2");
    assert!(told.contains(".agents/AGENTS.md is not the shared identity file"), "{told}");
}

#[test]
fn exe_16_reindex_and_backfill_end_when_the_stop_file_is_there() {
    let sandbox = some_memories();
    for n in 20..24 {
        sandbox.write(format!("personal-private/fact/hand-{n}.md"), format!("Pump {n} runs at night.\n"));
    }
    crate::backfill::past(
        &sandbox,
        sandbox.work(),
        "s-stop",
        "2026-03-02",
        "From now on always use pnpm here.",
    );
    std::fs::write(sandbox.state().join("STOP"), "").unwrap();
    let output = sandbox.rekindle(&["reindex", "--all"]).run();
    assert!(output.stderr.contains("STOP exists; delete it and run this again"), "{}", output.stderr);
    let done = sandbox.rekindle(&["backfill", "--yes", "--json"]).run().ok().json();
    assert_eq!(done["done"]["stopped"], true, "{done}");
    std::fs::remove_file(sandbox.state().join("STOP")).unwrap();
    sandbox.rekindle(&["reindex"]).run().ok();
    assert!(!crate::results(&crate::recall(&sandbox, "when does pump 21 run?", &[])).is_empty());
}

//! init (R-02, R-03, GEN-01).

use rekindle_testkit::Sandbox;

fn fresh() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_rekindle"))
}

#[test]
fn r_02_everything_is_made_under_one_home() {
    let sandbox = fresh();
    let output = sandbox.rekindle(&["init", "--name", "Ada"]).run().ok();
    assert!(output.stdout.contains("Next:"));
    for path in [
        "config.toml",
        "vault/MemoryVault/MEMORY.md",
        "vault/MemoryVault/REVIEW.md",
        "state",
        "agents/SOUL.md",
    ] {
        assert!(sandbox.home().join(path).exists(), "{path}");
    }
    for folder in ["_always-load", "_inbox", "_archive", "_idea-incubator", "domains"] {
        assert!(sandbox.path("personal-private").join(folder).is_dir(), "{folder}");
    }
    assert!(sandbox.read("MEMORY.md").contains("## Ada\n"));
    // Nothing is written outside the Rekindle home.
    assert_eq!(std::fs::read_dir(sandbox.user_home()).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(sandbox.work()).unwrap().count(), 0);
    sandbox.rekindle(&["doctor"]).run().ok();
}

#[test]
fn fnd_08_a_new_vault_has_every_folder() {
    let sandbox = fresh().init();
    for folder in [
        "memory",
        "personal-private/_always-load",
        "personal-private/_inbox",
        "personal-private/_archive",
        "personal-private/_idea-incubator",
        "personal-private/domains",
        "personal-projects",
        "personal-skills",
        "_skill-watchlist",
    ] {
        assert!(sandbox.path(folder).is_dir(), "{folder}");
    }
}

#[test]
fn it_is_safe_to_run_again() {
    let sandbox = fresh().init();
    sandbox.write("MEMORY.md", "# Mine\n");
    std::fs::write(sandbox.home().join("agents/SOUL.md"), "my soul").unwrap();
    sandbox.remove("REVIEW.md");
    let before = sandbox.files();
    let output = sandbox.rekindle(&["init", "--json"]).run().ok().json();
    let made: Vec<&str> = output["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["made"] == true)
        .map(|item| item["path"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(made, ["REVIEW.md"]);
    assert_eq!(sandbox.read("MEMORY.md"), "# Mine\n");
    assert_eq!(std::fs::read_to_string(sandbox.home().join("agents/SOUL.md")).unwrap(), "my soul");
    let after = sandbox.files();
    assert!(before.iter().all(|(path, bytes)| after.get(path) == Some(bytes)));
    // A later `init` can set the name.
    sandbox.rekindle(&["init", "--name", "Grace \"Amazing\" Hopper"]).run().ok();
    let name = sandbox.rekindle(&["config", "get", "user.name"]).run().ok().stdout;
    assert_eq!(name, "Grace \"Amazing\" Hopper\n");
}

/// Requirements: FND-07.
#[test]
fn memories_can_live_in_notes_that_are_there() {
    let sandbox = fresh();
    let notes = sandbox.work().join("My Notes");
    std::fs::create_dir(&notes).unwrap();
    std::fs::write(notes.join("Diary.md"), "dear diary").unwrap();
    sandbox.rekindle(&["init", "--name", "Ada", "--notes", "My Notes"]).run().ok();
    assert!(notes.join("MemoryVault/MEMORY.md").is_file());
    sandbox.rekindle(&["save", "fix", "a", "--body", "x"]).run().ok();
    assert!(notes.join("MemoryVault/personal-private/fix/a.md").is_file());
    assert_eq!(std::fs::read_to_string(notes.join("Diary.md")).unwrap(), "dear diary");
    // State never goes there (R-02), and a missing notes folder is not created.
    assert!(!notes.join("state").exists() && sandbox.state().is_dir());
    let refused = fresh().rekindle(&["init", "--notes", "nowhere"]).run().fails(2);
    assert!(refused.stderr.contains("nowhere"), "{}", refused.stderr);
}

#[test]
fn without_a_terminal_it_never_asks() {
    // Stdin is null in the sandbox: a question would read nothing or hang.
    let sandbox = fresh();
    let output = sandbox.rekindle(&["init"]).env("USER", "ada").run().ok();
    assert!(!output.stderr.contains('?'), "{}", output.stderr);
    assert!(sandbox.read("MEMORY.md").contains("## ada\n"));
}

#[test]
fn r_03_status_works_right_after_with_no_server_and_no_key() {
    let sandbox = fresh().init();
    let status = sandbox.rekindle(&["status", "--json"]).run().ok().json();
    assert_eq!((status["enabled"].as_bool(), status["inbox"].as_u64()), (Some(true), Some(0)));
    std::fs::write(sandbox.state().join("STOP"), "").unwrap();
    assert_eq!(sandbox.rekindle(&["status", "--json"]).run().ok().json()["enabled"], false);
    let off = sandbox.rekindle(&["status", "--json", "-c", "memory.enabled=false"]).run().ok().json();
    assert_eq!(off["enabled"], false);
}

#[test]
fn exe_13_session_markers_are_counted_and_broken_ones_named() {
    let sandbox = fresh().init();
    let sessions = sandbox.state().join("sessions");
    std::fs::write(
        sessions.join("session-id-4f1c.start"),
        "2026-11-15T02:13:08Z\n/transcripts/4f1c.jsonl\n4f1c\n",
    )
    .unwrap();
    std::fs::write(
        sessions.join("session-id-5a2d.reflected"),
        "2026-11-14T02:13:08Z\n/transcripts/5a2d.jsonl\n5a2d\n",
    )
    .unwrap();
    std::fs::write(sessions.join("session-id-6b3e.start"), "yesterday").unwrap();
    assert_eq!(sandbox.rekindle(&["status", "--json"]).run().ok().json()["open_sessions"], 1);
    assert!(sandbox.rekindle(&["doctor"]).run().ok().stdout.contains("session-id-6b3e.start: "));
}

/// Creates a person's existing notes: a diary, work and recipes.
fn notes(sandbox: &Sandbox) -> std::path::PathBuf {
    let notes = sandbox.work().join("Notes");
    for (file, text) in [
        ("Diary.md", "I told nobody about the lighthouse keeper."),
        ("Work/Harbour.md", "The harbour crane lifts eleven tons."),
        ("Recipes/Bread.md", "Rye bread needs nineteen hours to rise."),
        ("Empty/picture.png", "no note"),
        (".trash/Old.md", "A hidden thing."),
    ] {
        std::fs::create_dir_all(notes.join(file).parent().unwrap()).unwrap();
        std::fs::write(notes.join(file), text).unwrap();
    }
    notes
}

/// Lists the notes that recall finds.
fn read(sandbox: &Sandbox) -> Vec<String> {
    sandbox.rekindle(&["reindex"]).run().ok();
    let mut found = Vec::new();
    for question in ["lighthouse keeper", "harbour crane lifts tons", "rye bread rise hours"] {
        let answer = crate::recall(sandbox, question, &["--anyway", "--k=10"]);
        found.extend(crate::results(&answer).iter().map(|hit| crate::text(hit, "path").to_owned()));
    }
    found.retain(|path| !path.starts_with("MemoryVault/"));
    found.sort();
    found.dedup();
    found
}

#[test]
fn r_16_without_an_answer_only_the_vault_is_read_and_init_says_so() {
    let sandbox = fresh();
    notes(&sandbox);
    let output = sandbox.rekindle(&["init", "--name", "Ada", "--notes", "Notes"]).run().ok();
    let hint = "Rekindle reads only MemoryVault/ of your notes. To let it read more, run `rekindle config set recall.notes all`";
    assert_eq!(output.stdout.matches(hint).count(), 1, "{}", output.stdout);
    assert_eq!(read(&sandbox), [""; 0]);
    // The prompt hook does not see it either, with or without an index.
    let prompt = |sandbox: &Sandbox| {
        let input = r#"{"session_id":"s","cwd":"/","prompt":"what about the lighthouse keeper"}"#;
        sandbox.rekindle(&["hook", "claude", "UserPromptSubmit"]).stdin(input).run().ok().stdout
    };
    assert!(!prompt(&sandbox).contains("nobody"));
    std::fs::remove_dir_all(sandbox.state().join("index")).unwrap();
    assert!(!prompt(&sandbox).contains("nobody"));
    let asked = sandbox.rekindle(&["ask", "what about the lighthouse keeper"]).run();
    assert!(!asked.stdout.contains("nobody"), "{asked:?}");
    // A new vault of our own contains no notes to ask about.
    let plain = fresh().rekindle(&["init", "--name", "Ada"]).run().ok();
    assert!(!plain.stdout.contains("is read"), "{}", plain.stdout);
}

#[test]
fn r_16_the_answer_can_be_given_beforehand_and_changed() {
    let sandbox = fresh();
    notes(&sandbox);
    let init = ["init", "--name", "Ada", "--notes", "Notes", "--read-notes"];
    let refused = sandbox.rekindle(&[&init[..], &["Work,Recipies"]].concat()).run().fails(2);
    assert!(refused.stderr.contains("there is no folder `Recipies` in"), "{}", refused.stderr);
    assert!(refused.stderr.contains("it has Empty, Recipes, Work"), "{}", refused.stderr);
    assert!(!sandbox.home().exists(), "nothing was made");
    let out = sandbox.rekindle(&[&init[..], &["../secrets"]].concat()).run().fails(2);
    assert!(out.stderr.contains("is not a folder in your notes"), "{}", out.stderr);
    let output = sandbox.rekindle(&[&init[..], &["Work"]].concat()).run().ok();
    assert!(!output.stdout.contains("only MemoryVault/"), "{}", output.stdout);
    assert_eq!(read(&sandbox), ["Work/Harbour.md"]);
    let set = |value: &str| sandbox.rekindle(&["config", "set", "recall.notes", value]).run();
    set("Work,Recipes").ok();
    assert_eq!(read(&sandbox), ["Recipes/Bread.md", "Work/Harbour.md"]);
    set("all").ok();
    assert_eq!(read(&sandbox), ["Diary.md", "Recipes/Bread.md", "Work/Harbour.md"]);
    // A note that may no longer be read is hidden at once and leaves the index with the next refresh.
    set("none").ok();
    let answer = crate::recall(&sandbox, "lighthouse keeper", &["--anyway"]);
    assert!(!answer.to_string().contains("nobody"), "{answer}");
    let documents = |sandbox: &Sandbox| {
        sandbox.rekindle(&["reindex", "--json"]).run().ok().json()["documents"].as_u64().unwrap()
    };
    let without = documents(&sandbox);
    set("all").ok();
    assert_eq!(documents(&sandbox), without + 3);
    let unknown = set("Wrok").fails(2);
    assert!(unknown.stderr.contains("there is no folder `Wrok`"), "{}", unknown.stderr);
    // A folder that disappears later causes no failure; `doctor` reports it.
    set("Work").ok();
    std::fs::remove_dir_all(sandbox.work().join("Notes/Work")).unwrap();
    assert_eq!(read(&sandbox), [""; 0]);
    let report = sandbox.rekindle(&["doctor"]).run();
    assert!(report.stdout.contains("there is no folder `Work`"), "{}", report.stdout);
    // A repository's settings cannot open the person's notes.
    let project = crate::project(&sandbox, "widgets");
    std::fs::write(project.join(".rekindle.toml"), "[recall]\nnotes = 'all'\n").unwrap();
    let got = sandbox.rekindle(&["config", "get", "recall.notes"]).cwd(&project).run().ok();
    assert_eq!(got.stdout, "Work\n");
}

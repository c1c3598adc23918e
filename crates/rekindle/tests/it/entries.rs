//! save, evolve, show, list (VLT-01…11, B-01, B-05).

use crate::{sandbox, save, text};

/// Requirements: VLT-09.
#[test]
fn vlt_01_a_memory_is_a_file_with_its_properties() {
    let sandbox = sandbox();
    let saved = sandbox
        .rekindle(&[
            "save",
            "Fix",
            "Staging DB!",
            "--tag",
            "db",
            "--tag",
            "on call",
            "--body",
            "Port 5433.",
            "--json",
        ])
        .run()
        .ok()
        .json();
    assert_eq!(text(&saved, "path"), "personal-private/fix/staging-db.md");
    let file = sandbox.read("personal-private/fix/staging-db.md");
    for line in [
        "kind: fix",
        "status: active",
        "tags: [db, on call]",
        "group: personal-private",
        "scope: global",
        "always_load: false",
        "supersedes: null",
        "superseded_by: null",
        "confidence_rating_at_capture: high",
        "origin: user",
    ] {
        assert!(file.lines().any(|l| l == line), "{line} is not in\n{file}");
    }
    assert!(file.contains(&format!("id: {}\n", text(&saved, "id"))));
    assert!(file.ends_with("---\n\nPort 5433.\n"));
    let shown = sandbox.rekindle(&["show", "staging-db", "--json"]).run().ok().json();
    assert_eq!((text(&shown, "body"), text(&shown, "title")), ("Port 5433.\n", "Port 5433."));
    assert_eq!(sandbox.rekindle(&["show", text(&saved, "id")]).run().ok().stdout, file);
}

#[cfg(unix)]
#[test]
fn sec_01_files_and_folders_are_for_their_owner() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = sandbox();
    save(&sandbox, "fix", "a", "x y z");
    let mode = |path: std::path::PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(sandbox.path("personal-private/fix/a.md")), 0o600);
    assert_eq!(mode(sandbox.path("personal-private/fix")), 0o700);
    assert_eq!(mode(sandbox.home().join("config.toml")), 0o600);
    for folder in [sandbox.home().to_path_buf(), sandbox.vault(), sandbox.state()] {
        assert_eq!(mode(folder), 0o700);
    }
    for (path, _) in sandbox.everything() {
        assert_eq!(mode(path.clone()), 0o600, "{}", path.display());
    }
}

#[test]
fn bodies_come_as_text_file_or_stdin_and_may_begin_with_a_hyphen() {
    let sandbox = sandbox();
    save(&sandbox, "k", "hyphen", "- a list\n- of two");
    save(&sandbox, "k", "flag", "--force is never used here");
    std::fs::write(sandbox.work().join("b.md"), "from a file").unwrap();
    sandbox.rekindle(&["save", "k", "file", "--body", "@b.md"]).cwd(sandbox.work()).run().ok();
    sandbox.rekindle(&["save", "k", "stdin", "--body", "-"]).stdin("from stdin").run().ok();
    save(&sandbox, "k", "at", "@@mention");
    let body = |slug: &str| {
        sandbox.read(format!("personal-private/k/{slug}.md")).split("---\n\n").nth(1).unwrap().to_owned()
    };
    assert_eq!(body("hyphen"), "- a list\n- of two\n");
    assert_eq!(body("flag"), "--force is never used here\n");
    assert_eq!(
        (body("file"), body("stdin"), body("at")),
        ("from a file\n".into(), "from stdin\n".into(), "@mention\n".into())
    );
}

#[test]
fn r_15_always_load_entries_have_their_folder_and_their_project() {
    let sandbox = sandbox();
    let repository = repository(&sandbox, "https://github.com/Acme/Widgets.git");
    let output = sandbox
        .rekindle(&["save", "rule", "no-force", "--always-load", "--body", "Never force-push.", "--json"])
        .cwd(&repository)
        .run()
        .ok()
        .json();
    assert_eq!(text(&output, "path"), "personal-private/_always-load/no-force.md");
    let entry = sandbox.read("personal-private/_always-load/no-force.md");
    let expected = "scope: project\nproject: github.com/acme/widgets\nalways_load: true\n";
    assert!(entry.contains(expected), "{entry}");
}

#[test]
fn b_05_inside_a_project_a_memory_belongs_to_it() {
    let sandbox = sandbox();
    let repository = repository(&sandbox, "git@github.com:Acme/Widgets.git");
    let inner = repository.join("src/deep");
    std::fs::create_dir_all(&inner).unwrap();
    let run = |args: &[&str]| sandbox.rekindle(args).cwd(&inner).run().ok();
    run(&["save", "fix", "mine", "--body", "for this project"]);
    run(&["save", "fix", "all", "--global", "--body", "for everywhere"]);
    assert!(
        sandbox
            .read("personal-private/fix/mine.md")
            .contains("scope: project\nproject: github.com/acme/widgets\n")
    );
    assert!(sandbox.read("personal-private/fix/all.md").contains("scope: global\n"));
    let listed = run(&["list", "--project", "--json"]).json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(text(&listed[0], "project"), "github.com/acme/widgets");
    sandbox.rekindle(&["list", "--project"]).cwd(sandbox.work()).run().fails(2);
}

fn repository(sandbox: &rekindle_testkit::Sandbox, remote: &str) -> std::path::PathBuf {
    let folder = sandbox.work().join("repository");
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(folder.join(".git/config"), format!("[remote \"origin\"]\n\turl = {remote}\n")).unwrap();
    folder
}

/// Requirements: VLT-03.
#[test]
fn vlt_04_evolve_archives_the_old_version() {
    let sandbox = sandbox();
    let first = save(&sandbox, "fix", "port", "Port 5433.");
    let evolve = |body: &str| {
        sandbox
            .rekindle(&["evolve", "port", "--body", body, "--reason", "it: moved", "--json"])
            .run()
            .ok()
            .json()
    };
    let by_id = ["evolve", text(&first, "id"), "--body", "Port 5434.", "--reason", "it: moved", "--json"];
    let second = sandbox.rekindle(&by_id).run().ok().json();
    let third = evolve("- Port 5435.");
    let (one, two) = (text(&second, "archive"), text(&third, "archive"));
    assert!(one.starts_with("personal-private/_archive/personal-private/fix/port.md.2"));
    assert_eq!(two, one.replace(".md", "-2.md").replacen("-2.md", ".md", 1));
    let archived = sandbox.read(one);
    assert!(
        archived.contains("status: superseded\n")
            && archived.contains("superseded_by: personal-private/fix/port.md\n")
    );
    assert!(archived.contains(text(&first, "id")) && archived.ends_with("Port 5433.\n"));
    let now = sandbox.read("personal-private/fix/port.md");
    assert!(
        now.contains(&format!("supersedes: {two}\n")) && now.contains("evolved_because: \"it: moved\"\n")
    );
    assert!(now.contains("status: active\n") && now.ends_with("- Port 5435.\n"));
    let listed = |args: &[&str]| sandbox.rekindle(args).run().ok().json().as_array().unwrap().len();
    assert_eq!((listed(&["list", "--json"]), listed(&["list", "--all", "--json"])), (1, 3));
    // An archived version cannot be evolved.
    sandbox.rekindle(&["evolve", one, "--body", "x", "--reason", "y"]).run().fails(2);
}

#[test]
fn what_a_person_wrote_survives_an_evolve_byte_for_byte() {
    let sandbox = sandbox();
    let head = "\u{feff}---\r\n# my comment\r\nkind: fix\r\naliases:\r\n  - \"Old Name\"  \r\nstatus: active # mine\r\nnested: {a: [1, 2]}\r\n---\r\n";
    let body = "\r\nText  \r\n\r\n| a | b |\r\n|---|---|\r\n\r\n```sh\r\n# not a heading\r\n```\r\n[[Link]]";
    sandbox.write("personal-private/fix/hand.md", format!("{head}{body}"));
    sandbox.rekindle(&["evolve", "hand", "--body", "New", "--reason", "r"]).run().ok();
    let files = sandbox.files();
    let (_, archived) = files.iter().find(|(path, _)| path.contains("_archive")).unwrap();
    let archived = String::from_utf8(archived.clone()).unwrap();
    let expected = head.replace("active # mine", "superseded # mine");
    let expected = expected.strip_suffix("---\r\n").unwrap().to_owned()
        + "superseded_by: personal-private/fix/hand.md\r\n---\r\n"
        + body;
    assert_eq!(archived, expected);
    let new = sandbox.read("personal-private/fix/hand.md");
    for kept in [
        "\u{feff}---\r\n# my comment\r\n",
        "aliases:\r\n  - \"Old Name\"  \r\n",
        "status: active # mine\r\n",
        "nested: {a: [1, 2]}\r\n",
    ] {
        assert!(new.contains(kept), "{kept:?} is not in\n{new}");
    }
    assert!(new.ends_with("---\r\n\r\nNew\r\n"));
}

#[test]
fn b_03_secrets_are_left_out_and_counted() {
    let sandbox = sandbox();
    let token = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    let output = sandbox
        .rekindle(&["save", "note", "token", "--body", &format!("Use {token} for CI."), "--json"])
        .run()
        .ok();
    assert!(output.stderr.contains("github-token"), "{}", output.stderr);
    assert!(!output.stderr.contains(&token) && !output.stdout.contains(&token));
    assert!(sandbox.find_bytes(token.as_bytes()).is_empty());
    assert!(sandbox.read("personal-private/note/token.md").contains("[redacted:github-token]"));
    // A secret in a file written by the person stays and is reported.
    sandbox.write("personal-private/note/mine.md", format!("My {token}\n"));
    let report = sandbox.rekindle(&["doctor"]).run().ok();
    assert!(report.stdout.contains("mine.md, line 1: looks like a secret"), "{}", report.stdout);
    assert!(!report.stdout.contains(&token));
    assert!(sandbox.read("personal-private/note/mine.md").contains(&token));
}

#[test]
fn b_02_invisible_characters_do_not_pass() {
    let sandbox = sandbox();
    save(&sandbox, "note", "hidden", "visible\u{202e}\u{200b}\u{e0041} text\u{1b}[31m red");
    assert!(sandbox.read("personal-private/note/hidden.md").ends_with("\n\nvisible text red\n"));
}

#[test]
fn list_filters_and_tolerates_what_it_cannot_read() {
    let sandbox = sandbox();
    sandbox.rekindle(&["save", "fix", "a", "--tag", "x", "--tag", "y", "--body", "aaa"]).run().ok();
    sandbox
        .rekindle(&["save", "howto", "b", "--group", "personal-skills", "--tag", "x", "--body", "bbb"])
        .run()
        .ok();
    sandbox.write("personal-private/fix/broken.md", "---\na: [\n---\n");
    sandbox.write("personal-private/fix/binary.md", [0xff, 0xfe, b'\n']);
    sandbox.write("personal-private/fix/a (conflicted copy 2026-01-01).md", "copy");
    let paths = |args: &[&str]| -> Vec<String> {
        let output = sandbox.rekindle(args).run().ok();
        assert!(output.stderr.contains("could not read 2 files"), "{}", output.stderr);
        output.json().as_array().unwrap().iter().map(|entry| text(entry, "path").to_owned()).collect()
    };
    assert_eq!(paths(&["list", "--json"]).len(), 2);
    assert_eq!(paths(&["list", "--json", "--kind", "fix"]), ["personal-private/fix/a.md"]);
    assert_eq!(paths(&["list", "--json", "--group", "personal-skills"]), ["personal-skills/howto/b.md"]);
    assert_eq!(paths(&["list", "--json", "--tag", "x", "--tag", "y"]), ["personal-private/fix/a.md"]);
    let doctor = sandbox.rekindle(&["doctor"]).run().fails(1);
    for expected in
        ["broken.md: line 3", "binary.md: line 1: not UTF-8 text", "(conflicted copy 2026-01-01).md"]
    {
        assert!(doctor.stdout.contains(expected), "{expected}:\n{}", doctor.stdout);
    }
}

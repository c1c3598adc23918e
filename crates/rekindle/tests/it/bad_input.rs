//! Bad input gets a message with the problem, the place and the remedy, a non-zero exit code, and no change
//! on disk.

use rekindle_testkit::{CommandResult, Sandbox};

use crate::{sandbox, save};

/// A word in notes and bodies that are refused; no message may print it.
const PRIVATE: &str = "xyzzy-private";

/// Runs a command that must fail with `code`, print all of `words`, and change no file.
#[track_caller]
fn refused(sandbox: &Sandbox, args: &[&str], code: i32, words: &[&str]) -> CommandResult {
    let before = contents(sandbox);
    let output = sandbox.rekindle(args).run().fails(code);
    for word in words {
        assert!(output.stderr.contains(word), "`{word}` is not in:\n{}", output.stderr);
    }
    assert_eq!(contents(sandbox), before, "{args:?} changed something");
    assert!(
        !output.stderr.contains(PRIVATE) && !output.stdout.contains(PRIVATE),
        "what a note says came out:\n{}",
        output.stderr
    );
    output
}

/// Reads every file except the lock, which a writer opens before it validates, and the index, which any
/// command may refresh.
fn contents(sandbox: &Sandbox) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    sandbox
        .everything()
        .into_iter()
        .filter(|(path, _)| !path.ends_with("vault.lock") && !path.ends_with("journal.jsonl"))
        .filter(|(path, _)| !path.starts_with(sandbox.state().join("index")))
        .collect()
}

#[test]
fn an_entry_that_exists() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "a", "first");
    refused(
        &sandbox,
        &["save", "fix", "a", "--body", PRIVATE],
        2,
        &["personal-private/fix/a.md already exists", "evolve"],
    );
    sandbox.write("personal-private/fix/Upper.md", "by hand");
    refused(&sandbox, &["save", "fix", "upper", "--body", "x"], 2, &["Upper.md", "case-insensitive systems"]);
}

#[test]
fn names_that_cannot_be_files() {
    let sandbox = sandbox();
    refused(&sandbox, &["save", "fix", "🚀🔥", "--body", "x"], 2, &["slug `🚀🔥`", "letter or digit"]);
    refused(&sandbox, &["save", "🚀", "x", "--body", "x"], 2, &["kind `🚀`"]);
    refused(&sandbox, &["save", "fix", "..", "--body", "x"], 2, &["slug `..`"]);
    refused(&sandbox, &["save", "fix", "x", "--group", "elsewhere", "--body", "x"], 2, &["personal-skills"]);
    for (slug, file) in [
        ("../../etc/passwd", "etc-passwd"),
        ("/abs/olute", "abs-olute"),
        ("NUL", "nul-memory"),
        ("C:\\x", "c-x"),
    ] {
        save(&sandbox, "fix", slug, "x");
        assert!(sandbox.files().contains_key(&format!("personal-private/fix/{file}.md")), "{slug}");
    }
    save(&sandbox, "fix", &"long ".repeat(100), "x");
    save(&sandbox, "fix", &format!("{}end", "long ".repeat(100)), "x");
    assert!(sandbox.files().keys().all(|path| path.split('/').all(|name| name.len() <= 255)));
}

#[test]
fn paths_that_leave_the_vault() {
    let sandbox = sandbox();
    let outside = sandbox.work().join("outside.md");
    std::fs::write(&outside, "mine").unwrap();
    for reference in ["../../config.toml", outside.to_str().unwrap(), "/etc/passwd", "MEMORY.md/../../../x"] {
        for verb in [
            &["show", reference][..],
            &["evolve", reference, "--body", "x", "--reason", "y"],
            &["forget", reference],
        ] {
            refused(&sandbox, verb, 2, &["there is no memory"]);
        }
    }
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "mine");
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_of_the_vault() {
    use std::os::unix::fs::symlink;
    let sandbox = sandbox();
    let outside = sandbox.work().join("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    symlink(&outside, sandbox.path("personal-private/linked")).unwrap();
    refused(&sandbox, &["save", "linked", "x", "--body", "x"], 1, &["points outside"]);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    // A link that stays inside the vault is followed.
    save(&sandbox, "fix", "real", "x");
    symlink(sandbox.path("personal-private/fix"), sandbox.path("personal-private/alias")).unwrap();
    save(&sandbox, "alias", "y", "through a link");
    assert!(sandbox.read("personal-private/fix/y.md").contains("through a link"));
}

#[test]
fn bodies_that_cannot_be_memories() {
    let sandbox = sandbox();
    let file = |name: &str, bytes: &[u8]| {
        std::fs::write(sandbox.work().join(name), bytes).unwrap();
        format!("@{name}")
    };
    refused(
        &sandbox,
        &["save", "fix", "a", "--body", &file("binary", b"xyzzy-private\n\xff\xfe")],
        2,
        &["binary, line 2", "UTF-8"],
    );
    refused(&sandbox, &["save", "fix", "a", "--body", "@missing.md"], 2, &["no such file", "missing.md"]);
    refused(&sandbox, &["save", "fix", "a", "--body", "@."], 2, &["not a file"]);
    refused(&sandbox, &["save", "fix", "a", "--body", "  \n"], 2, &["empty"]);
    let big = std::fs::File::create(sandbox.work().join("big")).unwrap();
    big.set_len(200 * 1024 * 1024).unwrap();
    refused(&sandbox, &["save", "fix", "a", "--body", "@big"], 2, &["204800 KiB", "1024 KiB"]);
    refused(&sandbox, &["save", "fix", "a"], 2, &["--body"]);
}

#[test]
fn documents_that_cannot_be_read() {
    let sandbox = sandbox();
    let evolve = |name: &str, words: &[&str], code: i32| {
        refused(
            &sandbox,
            &["evolve", &format!("personal-private/fix/{name}.md"), "--body", "x", "--reason", "y"],
            code,
            words,
        );
    };
    sandbox
        .write("personal-private/fix/yaml.md", format!("---\na: {PRIVATE}\nc: [{PRIVATE}\n---\n{PRIVATE}\n"));
    evolve("yaml", &["personal-private/fix/yaml.md, line", "not valid YAML", "by hand"], 1);
    sandbox.write("personal-private/fix/open.md", format!("---\na: {PRIVATE}\n"));
    evolve("open", &["line 1", "never closed"], 1);
    sandbox
        .write("personal-private/fix/long.md", format!("---\n{}---\n", "key: value\n".repeat(1024 * 1024)));
    evolve("long", &["personal-private/fix/long.md is 11264 KiB"], 2);
    sandbox.write("personal-private/fix/head.md", format!("---\n{}---\n", "key: value\n".repeat(10_000)));
    evolve("head", &["longer than 64 KiB"], 1);
    sandbox.write("personal-private/fix/latin.md", b"---\nkind: xyzzy-private\n---\ncaf\xe9\n");
    evolve("latin", &["latin.md, line 4: not UTF-8"], 2);
    let big = std::fs::File::create(sandbox.path("personal-private/fix/big.md")).unwrap();
    big.set_len(200 * 1024 * 1024).unwrap();
    let listed = sandbox.rekindle(&["list"]).run().ok();
    assert!(listed.stderr.contains("could not read 5 files"), "{}", listed.stderr);
}

#[test]
fn a_vault_that_is_missing_or_no_folder() {
    let empty = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    refused(&empty, &["save", "fix", "a", "--body", "x"], 1, &["there is no vault at", "rekindle init"]);
    refused(&empty, &["list"], 1, &["there is no vault"]);
    assert!(!empty.home().exists());
    let sandbox = sandbox();
    std::fs::remove_dir_all(sandbox.vault()).unwrap();
    std::fs::write(sandbox.vault(), "a file").unwrap();
    refused(&sandbox, &["list"], 1, &["is not a folder"]);
}

#[test]
fn commands_that_are_not_understood() {
    let sandbox = sandbox();
    refused(&sandbox, &["sav"], 2, &["save"]);
    refused(
        &sandbox,
        &["evolve", "nothing-like-this", "--body", "x", "--reason", "y"],
        2,
        &["no memory", "rekindle list"],
    );
    refused(&sandbox, &["evolve", "m-000000000000", "--body", "x", "--reason", "y"], 2, &["no memory"]);
    refused(&sandbox, &["evolve", "x", "--body", "x", "--reason", " "], 2, &["reason"]);
    save(&sandbox, "fix", "twin", "x");
    save(&sandbox, "howto", "twin", "y");
    refused(
        &sandbox,
        &["show", "twin"],
        2,
        &["personal-private/fix/twin.md", "personal-private/howto/twin.md"],
    );
}

//! The same tests with git itself, where it is installed.

use std::process::{Command, Stdio};

use super::*;

/// Runs git without the developer's own configuration.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "init.defaultBranch=main",
            "-c",
            "commit.gpgSign=false",
        ])
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@b")])
        .envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@b")])
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    assert!(output.status.success(), "git {arguments:?}: {}", text(&output.stderr));
    Some(text(&output.stdout))
}

/// A ground with a repository `widgets` of one commit; `None` without git.
fn ground_with_git() -> Option<ProjectsFixture> {
    let ground = ProjectsFixture::new();
    if git(&ground.top, &["init", "-q", "widgets"]).is_none() {
        rekindle_testkit::skipped("git is not installed");
        return None;
    }
    commit(&ground, "widgets");
    Some(ground)
}

fn commit(ground: &ProjectsFixture, path: &str) {
    git(&ground.at(path), &["commit", "-q", "--allow-empty", "-m", "first"]).unwrap();
}

fn run(ground: &ProjectsFixture, path: &str, arguments: &[&str]) -> String {
    git(&ground.at(path), arguments).unwrap()
}

#[test]
fn b_05_git_worktrees_are_one_project() {
    let Some(ground) = ground_with_git() else { return };
    let first = run(&ground, "widgets", &["rev-parse", "HEAD"]);
    let id = ground.id("widgets");
    assert_eq!(id, format!("local/widgets-{}", &first[..8]));
    run(&ground, "widgets", &["worktree", "add", "-q", "../feature"]);
    run(&ground, "widgets", &["worktree", "add", "-q", "inside/another"]);
    ground.folder("feature/src");
    for worktree in ["feature", "feature/src", "widgets/inside/another", "widgets/.git/worktrees/feature"] {
        assert_eq!(ground.id(worktree), id, "{worktree}");
    }
    assert_eq!(ground.identify("feature/src").project.root, ground.at("feature"));

    ground.visit("widgets");
    ground.rename("widgets", "moved");
    assert_eq!(ground.visit("moved"), id);
    assert_eq!(ground.id("feature"), id, "before the repair");
    run(&ground, "moved", &["worktree", "repair", "../feature"]);
    assert_eq!(ground.id("feature"), id, "after the repair");
}

#[test]
fn b_05_git_clones_are_one_project() {
    let Some(ground) = ground_with_git() else { return };
    let id = ground.visit("widgets");
    run(&ground, "", &["clone", "-q", "widgets", "clone"]);
    run(&ground, "", &["clone", "-q", "--bare", "clone", "bare.git"]);
    run(&ground, "", &["clone", "-q", "--separate-git-dir", "hidden", "bare.git", "apart"]);
    run(&ground, "", &["clone", "-q", "--mirror", "widgets", "mirror.git"]);
    for clone in ["clone", "bare.git", "apart", "hidden", "mirror.git"] {
        assert_eq!(ground.id(clone), id, "{clone}");
    }
    run(&ground, "widgets", &["remote", "add", "origin", "git@github.com:acme/widgets.git"]);
    assert_eq!(ground.visit("widgets"), id);
    assert_eq!(ground.visit("clone"), id);
    run(&ground, "clone", &["remote", "set-url", "origin", "https://github.com/acme/gadgets"]);
    assert_eq!(ground.visit("clone"), id);
}

#[test]
fn b_05_git_submodules_are_their_own_project() {
    let Some(ground) = ground_with_git() else { return };
    git(&ground.top, &["init", "-q", "app"]).unwrap();
    commit(&ground, "app");
    run(&ground, "app", &["submodule", "--quiet", "add", "../widgets", "libs/widgets"]);
    assert!(ground.at("app/libs/widgets/.git").is_file());
    assert_ne!(ground.id("app"), ground.id("app/libs/widgets"));
    assert_eq!(ground.id("app/libs/widgets"), ground.id("widgets"), "a clone like any other");
    assert_eq!(ground.id("app/libs"), ground.id("app"));
    let url = "https://github.com/acme/widgets";
    run(&ground, "app/libs/widgets", &["remote", "set-url", "origin", url]);
    assert_eq!(ground.id("app/libs/widgets"), "github.com/acme/widgets");
}

#[test]
fn b_05_a_new_repository_where_an_old_one_was_is_new() {
    let Some(ground) = ground_with_git() else { return };
    let old = ground.visit("widgets");
    fs::remove_dir_all(ground.at("widgets")).unwrap();
    git(&ground.top, &["init", "-q", "widgets"]).unwrap();
    run(&ground, "widgets", &["commit", "-q", "--allow-empty", "-m", "another first"]);
    assert_ne!(ground.visit("widgets"), old);
}

#[test]
fn the_first_commit_is_known_in_every_object_format() {
    let Some(ground) = ground_with_git() else { return };
    git(&ground.top, &["init", "-q", "--object-format=sha256", "long"]).unwrap();
    commit(&ground, "long");
    let first = run(&ground, "long", &["rev-parse", "HEAD"]);
    assert_eq!(first.len(), 64);
    assert_eq!(ground.id("long"), format!("local/long-{}", &first[..8]));
}

#[test]
fn addresses_are_read_as_git_reads_them() {
    let Some(ground) = ground_with_git() else { return };
    for url in [
        "https://github.com/acme/widgets.git",
        "/srv/with # hash ; and semicolon",
        r"C:\Users\ann\git\widgets",
        "\"quoted\"",
        "tab\there and a trailing blank ",
        "café",
    ] {
        run(&ground, "widgets", &["config", "remote.origin.url", url]);
        let config = fs::read_to_string(ground.at("widgets/.git/config")).unwrap();
        assert_eq!(rekindle_core::project::preferred_remote(&config).as_deref(), Some(url), "{config}");
    }
}

//! Project detection of a folder, through the binary (B-05). The engine tests the rules themselves.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::inject::fire;
use crate::provenance::in_shell;
use crate::{sandbox, text};

fn repository(folder: PathBuf, remote: Option<&str>) -> PathBuf {
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = remote.map_or_else(String::new, |url| format!("[remote \"origin\"]\n\turl = {url}\n"));
    std::fs::write(folder.join(".git/config"), config).unwrap();
    folder
}

/// Creates a repository that git fetched from its remote.
fn clone(folder: PathBuf, remote: &str) -> PathBuf {
    let folder = repository(folder, Some(remote));
    std::fs::write(folder.join(".git/FETCH_HEAD"), "").unwrap();
    folder
}

#[test]
fn clones_by_ssh_and_https_are_one_project() {
    let sandbox = sandbox();
    let id = |cwd: &Path| {
        text(&sandbox.rekindle(&["project", "--json"]).cwd(cwd).run().ok().json(), "id").to_owned()
    };
    let one = clone(sandbox.work().join("one"), "git@github.com:Acme/Widgets.git");
    let two = clone(sandbox.work().join("two"), "https://ada:tok3n@github.com/acme/widgets");
    std::fs::create_dir_all(two.join("a/b")).unwrap();
    assert_eq!(id(&one), "github.com/acme/widgets");
    assert_eq!(id(&two.join("a/b")), "github.com/acme/widgets");
    sandbox.rekindle(&["save", "fix", "x", "--body", "y"]).cwd(&two).run().ok();
    assert!(sandbox.find_bytes(b"tok3n").is_empty());
}

#[test]
fn a_moved_folder_without_a_remote_keeps_its_memories() {
    let sandbox = sandbox();
    let before = repository(sandbox.work().join("before"), None);
    sandbox.rekindle(&["save", "fix", "x", "--body", "y"]).cwd(&before).run().ok();
    let after = sandbox.work().join("after");
    std::fs::rename(&before, &after).unwrap();
    let listed = sandbox.rekindle(&["list", "--project", "--json"]).cwd(&after).run().ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn a_project_file_cannot_claim_another_projects_memories() {
    let sandbox = sandbox();
    let honest = repository(sandbox.work().join("honest"), Some("https://github.com/acme/secret"));
    sandbox.rekindle(&["save", "fix", "x", "--body", "y"]).cwd(&honest).run().ok();
    let evil = repository(sandbox.work().join("evil"), Some("https://github.com/mallory/evil"));
    std::fs::write(evil.join(".rekindle.toml"), "[project]\nname = \"github.com/acme/secret\"\n").unwrap();
    let listed = sandbox.rekindle(&["list", "--project", "--json"]).cwd(&evil).run().ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 0);
    let shown = sandbox.rekindle(&["project", "--json"]).cwd(&evil).run().ok().json();
    assert_eq!(text(&shown, "id"), "github.com/mallory/evil");
}

#[test]
fn outside_any_project_memories_are_global() {
    let sandbox = sandbox();
    assert!(sandbox.rekindle(&["project"]).run().ok().stdout.contains("global"));
    sandbox.rekindle(&["save", "fix", "x", "--body", "y", "-c", "memory.scope=project"]).run().fails(2);
    let inside = repository(sandbox.work().join("r"), Some("https://github.com/acme/widgets"));
    let saved = sandbox
        .rekindle(&["save", "fix", "x", "--body", "y", "--json", "-c", "memory.scope=global"])
        .cwd(&inside);
    assert_eq!(text(&saved.run().ok().json(), "scope"), "global");
}

const VALVE: &str = "The valve opens at forty bar.";

/// Creates a project with a memory, and a folder with a copy of its git configuration.
fn claimed(sandbox: &rekindle_testkit::Sandbox) -> (PathBuf, PathBuf) {
    let url = "https://github.com/acme/widgets";
    let own = clone(sandbox.work().join("widgets"), url);
    sandbox.rekindle(&["save", "fix", "valve", "--body", VALVE, "--always-load"]).cwd(&own).run().ok();
    (own, repository(sandbox.work().join("copied"), Some(url)))
}

#[test]
fn b_05_a_copied_git_config_shares_no_memory_and_is_asked_about_once() {
    let sandbox = sandbox();
    let (own, copied) = claimed(&sandbox);
    let start = |session: &str, cwd: &Path| {
        let input = json!({"session_id": session, "source": "startup", "cwd": cwd});
        fire(&sandbox, "SessionStart", &input).to_string()
    };
    let first = start("s1", &copied);
    assert!(first.contains("Is it the same project?") && first.contains(own.to_str().unwrap()), "{first}");
    assert!(!first.contains(VALVE), "{first}");
    let second = start("s2", &copied);
    assert!(!second.contains("the same project") && !second.contains(VALVE), "{second}");
    let listed = sandbox.rekindle(&["list", "--project", "--json"]).cwd(&copied).run().ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 0, "{listed}");
    let status = sandbox.rekindle(&["status"]).cwd(&copied).run().ok().stdout;
    assert!(status.contains("rekindle project --same"), "{status}");
    let shown = sandbox.rekindle(&["project", "--json"]).cwd(&copied).run().ok().json();
    assert!(text(&shown, "id").starts_with("local/copied-"), "{shown}");
    assert_eq!(text(&shown, "claims"), "github.com/acme/widgets");
    // The project itself raises no question.
    assert!(start("s3", &own).contains(VALVE));
    let shown = sandbox.rekindle(&["project", "--json"]).cwd(&own).run().ok().json();
    assert_eq!((text(&shown, "id"), &shown["claims"]), ("github.com/acme/widgets", &json!(null)));
}

#[test]
fn b_05_the_person_says_whether_a_copied_git_config_is_the_same_project() {
    let sandbox = sandbox();
    let (_, copied) = claimed(&sandbox);
    let said = in_shell(&sandbox, &["project", "--same"]).cwd(&copied).run().fails(1);
    assert!(said.stderr.contains("an agent cannot decide which project"), "{}", said.stderr);
    let id =
        || text(&sandbox.rekindle(&["project", "--json"]).cwd(&copied).run().ok().json(), "id").to_owned();
    let claims =
        || sandbox.rekindle(&["status", "--json"]).cwd(&copied).run().ok().json()["project_claims"].clone();
    sandbox.rekindle(&["project", "--separate"]).cwd(&copied).run().ok();
    assert!(id().starts_with("local/copied-"));
    assert_eq!(claims(), json!(null));
    std::fs::write(copied.join(".git/FETCH_HEAD"), "").unwrap();
    assert!(id().starts_with("local/copied-"), "the person's word holds");
    let said = sandbox.rekindle(&["project", "--same"]).cwd(&copied).run().fails(2);
    assert!(said.stderr.contains("nothing to decide"), "{}", said.stderr);
    let third = repository(sandbox.work().join("third"), Some("https://github.com/acme/widgets"));
    sandbox.rekindle(&["project", "--same"]).cwd(&third).run().ok();
    let listed = sandbox.rekindle(&["list", "--project", "--json"]).cwd(&third).run().ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn b_05_a_clone_whose_original_is_gone_is_not_asked_about() {
    let sandbox = sandbox();
    let (own, copied) = claimed(&sandbox);
    std::fs::remove_dir_all(own).unwrap();
    let shown = sandbox.rekindle(&["project", "--json"]).cwd(&copied).run().ok().json();
    assert_eq!(text(&shown, "id"), "github.com/acme/widgets");
}

//! Which project a folder belongs to, through the binary (B-05). The rules themselves are tested in the engine.

use std::path::{Path, PathBuf};

use crate::{sandbox, text};

fn repository(folder: PathBuf, remote: Option<&str>) -> PathBuf {
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = remote.map_or_else(String::new, |url| format!("[remote \"origin\"]\n\turl = {url}\n"));
    std::fs::write(folder.join(".git/config"), config).unwrap();
    folder
}

#[test]
fn clones_by_ssh_and_https_are_one_project() {
    let sandbox = sandbox();
    let id = |cwd: &Path| {
        text(&sandbox.rekindle(&["project", "--json"]).cwd(cwd).run().ok().json(), "id").to_owned()
    };
    let one = repository(sandbox.work().join("one"), Some("git@github.com:Acme/Widgets.git"));
    let two = repository(sandbox.work().join("two"), Some("https://ada:tok3n@github.com/acme/widgets"));
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

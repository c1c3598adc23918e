//! The identity tier (IDN-01…05, VER-20).
#![cfg(unix)]

use crate::sandbox;

#[test]
fn idn_02_linked_agents_read_the_same_inode() {
    use std::os::unix::fs::MetadataExt;
    let sandbox = sandbox();
    let claude = sandbox.user_home().join(".claude");
    std::fs::create_dir(&claude).unwrap();
    assert!(sandbox.rekindle(&["identity"]).run().ok().stdout.contains("not linked"));
    sandbox.rekindle(&["identity", "link", claude.to_str().unwrap()]).run().ok();
    let inode = |path: std::path::PathBuf| std::fs::metadata(path).unwrap().ino();
    assert_eq!(inode(claude.join("AGENTS.md")), inode(sandbox.home().join("agents/AGENTS.md")));
    let report = sandbox.rekindle(&["identity", "--json"]).run().ok().json();
    assert_eq!(report["ok"], true);
    sandbox.rekindle(&["identity", "link", claude.to_str().unwrap()]).run().ok();
}

#[test]
fn idn_03_divergence_is_reported_and_own_files_are_left_alone() {
    let sandbox = sandbox();
    let claude = sandbox.user_home().join(".claude");
    std::fs::create_dir(&claude).unwrap();
    std::fs::write(claude.join("AGENTS.md"), "my own").unwrap();
    let report = sandbox.rekindle(&["identity"]).run().fails(1);
    assert!(report.stdout.contains("ANOTHER FILE"), "{}", report.stdout);
    assert!(sandbox.rekindle(&["doctor"]).run().ok().stdout.contains("is not the shared AGENTS.md"));
    sandbox.rekindle(&["identity", "link", claude.to_str().unwrap()]).run().fails(1);
    assert_eq!(std::fs::read_to_string(claude.join("AGENTS.md")).unwrap(), "my own");
}

/// Requirements: IDN-01.
#[test]
fn idn_04_the_files_are_shown_in_the_order_they_are_read() {
    let sandbox = sandbox();
    let report = sandbox.rekindle(&["identity", "--json"]).run().ok().json();
    let names: Vec<_> = report["files"].as_array().unwrap().iter().map(|file| file["name"].clone()).collect();
    assert_eq!(names, ["SOUL.md", "USER.md", "IDENTITY.md", "AGENTS.md"]);
}

#[test]
fn idn_05_nothing_but_init_writes_them() {
    let sandbox = sandbox();
    let agents = |sandbox: &rekindle_testkit::Sandbox| {
        sandbox
            .everything()
            .into_iter()
            .filter(|(path, _)| path.starts_with(sandbox.home().join("agents")))
            .collect::<Vec<_>>()
    };
    let before = agents(&sandbox);
    assert_eq!(before.len(), 4);
    crate::save(&sandbox, "fix", "soul", "x");
    sandbox.rekindle(&["evolve", "soul", "--body", "y", "--reason", "r"]).run().ok();
    for reference in
        [sandbox.home().join("agents/SOUL.md"), "agents/SOUL.md".into(), "../../agents/SOUL.md".into()]
    {
        let reference = reference.to_str().unwrap();
        sandbox.rekindle(&["evolve", reference, "--body", "y", "--reason", "r"]).run().fails(2);
        sandbox.rekindle(&["forget", reference]).run().fails(2);
    }
    assert_eq!(agents(&sandbox), before);
}

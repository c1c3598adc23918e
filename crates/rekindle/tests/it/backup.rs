//! `rekindle backup` and `rekindle restore` (OPS-05, OPS-12).

use std::path::Path;

use rekindle_testkit::{Sandbox, TestCommand};

use crate::{sandbox, save};

fn back_up(sandbox: &Sandbox) -> std::path::PathBuf {
    let path = sandbox.work().join("backup.tar.gz");
    let report = sandbox.rekindle(&["backup", "backup.tar.gz", "--force", "--json"]).run().ok().json();
    assert_eq!(report["path"], path.to_str().unwrap());
    path
}

fn restore(sandbox: &Sandbox, backup: &Path, more: &[&str]) -> serde_json::Value {
    let args = [&["restore", backup.to_str().unwrap(), "--json"], more].concat();
    sandbox.rekindle(&args).run().ok().json()
}

fn count(report: &serde_json::Value, action: &str) -> usize {
    report["files"].as_array().unwrap().iter().filter(|file| file["action"] == action).count()
}

/// OPS-05: everything a person wrote and everything learnt comes back on an empty machine.
#[test]
fn ops_05_a_lost_home_comes_back() {
    let sandbox = sandbox();
    save(&sandbox, "rule", "tabs", "Indent with tabs in this house.");
    sandbox.rekindle(&["memory", "add", "Ship on Fridays.", "--section", "Patterns"]).run().ok();
    sandbox.rekindle(&["config", "set", "recall.k", "7"]).run().ok();
    let backup = back_up(&sandbox);
    let before = sandbox.files();
    let log = sandbox.rekindle(&["log", "--json"]).run().ok().json();

    let other = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    let report = restore(&other, &backup, &[]);
    assert!(count(&report, "create") > 5, "{report}");
    assert_eq!(other.files(), before);
    assert_eq!(other.rekindle(&["log", "--json"]).run().ok().json(), log);
    assert_eq!(other.rekindle(&["config", "get", "recall.k"]).run().ok().stdout.trim(), "7");
    let answer = crate::recall(&other, "how do we indent", &["--anyway"]);
    assert!(crate::found(&answer).iter().any(|id| id.contains("tabs") || !id.is_empty()), "{answer}");
    // The restored journal still undoes.
    other.rekindle(&["undo"]).run().ok();
    assert!(!other.read("MEMORY.md").contains("Ship on Fridays."));
}

/// OPS-12: what belongs to a machine is apart, and another machine takes it only if asked.
#[test]
fn ops_12_device_settings_stay_behind() {
    let sandbox = sandbox();
    sandbox.rekindle(&["config", "set", "user.name", "Anna of this laptop"]).run().ok();
    sandbox.rekindle(&["config", "set", "recall.k", "7"]).run().ok();
    let backup = back_up(&sandbox);
    let config = |options: &[&str]| {
        let other = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
        restore(&other, &backup, options);
        std::fs::read_to_string(other.home().join("config.toml")).unwrap()
    };
    let shared = config(&[]);
    assert!(shared.contains("k = 7") && !shared.contains("Anna of this laptop"), "{shared}");
    assert!(config(&["--device"]).contains("Anna of this laptop"));
    // A machine with settings keeps them.
    let other = crate::sandbox();
    restore(&other, &backup, &["--yes"]);
    assert_eq!(other.rekindle(&["config", "get", "recall.k"]).run().ok().stdout.trim(), "5");
}

/// OPS-05: a vault is rolled back exactly, after a question, and the rollback can be undone.
#[test]
fn ops_05_a_vault_is_rolled_back_and_forward() {
    let sandbox = sandbox();
    save(&sandbox, "rule", "tabs", "Indent with tabs.");
    let backup = back_up(&sandbox);
    let before = sandbox.files();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    save(&sandbox, "rule", "poison", "Indent with snakes.");
    sandbox.rekindle(&["evolve", "tabs", "--body", "Indent with spaces.", "--reason", "changed"]).run().ok();
    let after = sandbox.files();

    let plan = restore(&sandbox, &backup, &["--exact", "--dry-run"]);
    assert!(count(&plan, "replace-newer") > 0 && count(&plan, "remove") > 0, "{plan}");
    assert_eq!(sandbox.files(), after);
    let refused = sandbox.rekindle(&["restore", "backup.tar.gz", "--exact"]).run().fails(1);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    assert_eq!(sandbox.files(), after);

    let report = restore(&sandbox, &backup, &["--exact", "--yes"]);
    assert_eq!(sandbox.files(), before);
    let copy = report["before"].as_str().unwrap();
    restore(&sandbox, Path::new(copy), &["--exact", "--yes"]);
    assert_eq!(sandbox.files(), after);
}

/// B-08: forgetting reaches the copies that restores made.
#[test]
fn b_08_forget_reaches_safety_copies() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "host", "The staging host is called hermes-seventeen.");
    let backup = back_up(&sandbox);
    restore(&sandbox, &backup, &["--yes"]);
    let copies = || std::fs::read_dir(sandbox.state().join("backups")).unwrap().count();
    assert_eq!(copies(), 1);
    let report = sandbox.rekindle(&["forget", "host", "--json"]).run().ok().json();
    assert!(report["places"].as_array().unwrap().contains(&serde_json::json!(["backups", 1])), "{report}");
    assert_eq!(copies(), 0);
}

/// OPS-05: a damaged or foreign file changes nothing and is named.
#[test]
fn ops_05_a_damaged_backup_changes_nothing() {
    let sandbox = sandbox();
    save(&sandbox, "rule", "tabs", "Indent with tabs.");
    let backup = back_up(&sandbox);
    save(&sandbox, "rule", "later", "Ship on Fridays.");
    let before = sandbox.files();
    let whole = std::fs::read(&backup).unwrap();
    let flipped = {
        let mut bytes = whole.clone();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        bytes
    };
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("text", b"# not a backup".to_vec()),
        ("cut", whole[..whole.len() * 2 / 3].to_vec()),
        ("tail", whole[..whole.len() - 3].to_vec()),
        ("flipped", flipped),
    ] {
        let path = sandbox.work().join(name);
        std::fs::write(&path, bytes).unwrap();
        let failed = sandbox.rekindle(&["restore", name, "--exact", "--yes"]).run().fails(1);
        assert!(failed.stderr.contains("not a complete backup"), "{name}: {}", failed.stderr);
        assert_eq!(sandbox.files(), before, "{name}");
        assert!(!sandbox.state().join("backups/unpacked").exists(), "{name}");
    }
    sandbox.rekindle(&["restore", "missing.tar.gz"]).run().fails(2);
    // An existing backup is not overwritten by chance.
    sandbox.rekindle(&["backup", "backup.tar.gz"]).run().fails(2);
    assert_eq!(std::fs::read(&backup).unwrap(), whole);
}

/// OPS-05: a damaged database is backed up as it is, and a restore replaces it.
#[test]
fn ops_05_a_damaged_database_is_replaced() {
    let sandbox = sandbox();
    save(&sandbox, "rule", "tabs", "Indent with tabs.");
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    let backup = back_up(&sandbox);
    let database = sandbox.state().join("rekindle.db");
    assert!(database.exists());
    std::fs::write(&database, b"SQLite format 3\0 but nothing else").unwrap();
    restore(&sandbox, &backup, &["--yes"]);
    sandbox.rekindle(&["runs", "--json"]).run().ok();
    // A backup streams through a pipe, too.
    let piped = sandbox.rekindle(&["backup", "-"]).run().ok();
    assert!(piped.stdout.len() > 100);
}

/// OPS-05: a backup can be encrypted on its way, and restored without ever being a plain file.
#[test]
fn ops_05_a_backup_passes_through_a_program_that_encrypts() {
    let sandbox = sandbox();
    save(&sandbox, "rule", "tabs", "Indent with tabs in this house.");
    let shell = |script: &str, home: &Path| {
        TestCommand::new("/bin/sh", sandbox.work())
            .args(&["-c", script])
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("REKINDLE", env!("CARGO_BIN_EXE_rekindle"))
            .env("REKINDLE_HOME", home)
            .env("HOME", sandbox.user_home())
            .run()
    };
    if shell("command -v openssl", sandbox.home()).code != Some(0) {
        return rekindle_testkit::skipped("openssl is not installed");
    }
    let cipher = "openssl enc -aes-256-cbc -pbkdf2 -pass pass:winter";
    shell(&format!("\"$REKINDLE\" backup - | {cipher} > backup.enc"), sandbox.home()).ok();
    let encrypted = sandbox.work().join("backup.enc");
    let refused = sandbox.rekindle(&["restore", encrypted.to_str().unwrap(), "--json"]).run().fails(1);
    assert!(refused.stderr.contains("decrypt it first"), "{}", refused.stderr);

    let other = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    let script = format!("{cipher} -d < backup.enc | \"$REKINDLE\" restore - --yes");
    shell(&script, other.home()).ok();
    assert_eq!(other.files(), sandbox.files());
}

//! `rekindle doctor --fix`: planted faults of an installation are named, repaired, and gone (B-07, BRF-12, OPS-06,
//! SEC-01).

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rekindle_engine::platform::db::Database;
use rekindle_testkit::Sandbox;
use serde_json::Value;

use crate::capture::{ClaudeTranscript, work};
use crate::review::{propose, quiet, status};
use crate::{project, sandbox, text};

fn db(sandbox: &Sandbox) -> Database {
    Database::open(&sandbox.state().join("rekindle.db")).unwrap()
}

/// The findings of `doctor` that are not ok: the check, and what is wrong.
fn findings(sandbox: &Sandbox) -> Vec<(String, String)> {
    let answer: Value = serde_json::from_str(&sandbox.rekindle(&["doctor", "--json"]).run().stdout).unwrap();
    let checks = answer["checks"].as_array().unwrap().iter();
    checks
        .flat_map(|check| {
            let found = check["findings"].as_array().unwrap().iter();
            let wrong = found.filter(|finding| finding["level"] != "ok");
            wrong.map(|finding| (text(check, "check").to_owned(), text(finding, "what").to_owned()))
        })
        .collect()
}

/// What `doctor --fix` repaired, and what it left to the person.
fn repaired(sandbox: &Sandbox) -> (Vec<String>, Vec<String>) {
    let run = sandbox.rekindle(&["doctor", "--fix", "--json"]).run();
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    let (left, fixed): (Vec<&Value>, Vec<&Value>) =
        answer["repairs"].as_array().unwrap().iter().partition(|repair| repair["left"].is_string());
    let named = |repairs: Vec<&Value>| repairs.iter().map(|repair| text(repair, "what").to_owned()).collect();
    (named(fixed), named(left))
}

/// Plants a fault, and expects that `doctor` names it in this check, that `--fix` repairs it in one step with these
/// words, and that nothing is left of it.
#[track_caller]
fn mends(sandbox: &Sandbox, check: &str, says: &str, plant: impl FnOnce(&Sandbox)) {
    let before = findings(sandbox);
    plant(sandbox);
    let named: Vec<(String, String)> =
        findings(sandbox).into_iter().filter(|found| !before.contains(found)).collect();
    assert!(!named.is_empty() && named.iter().all(|(of, _)| of == check), "{named:?}");
    let (fixed, left) = repaired(sandbox);
    assert!(fixed.iter().any(|what| what.contains(says)), "{fixed:?}");
    assert_eq!(left, [] as [&str; 0]);
    assert_eq!(findings(sandbox), before);
    assert_eq!(repaired(sandbox), (Vec::new(), Vec::new()), "once");
}

fn used() -> Sandbox {
    let sandbox = quiet();
    sandbox.rekindle(&["save", "fix", "valve", "--body", "The valve sticks."]).run().ok();
    work(&sandbox, &[]);
    sandbox
}

fn settings(sandbox: &Sandbox) -> PathBuf {
    sandbox.user_home().join(".claude/settings.json")
}

fn edit(path: &Path, change: impl FnOnce(String) -> String) {
    let before = fs::read_to_string(path).unwrap();
    let after = change(before.clone());
    assert_ne!(after, before);
    fs::write(path, after).unwrap();
}

/// B-15: hooks that are missing, doubled, or call a program that is gone or old are installed again.
#[test]
fn b_15_broken_hooks_are_installed_again() {
    let sandbox = used();
    sandbox.rekindle(&["install", "claude", "--yes"]).run().ok();
    let good = fs::read_to_string(settings(&sandbox)).unwrap();
    let real = env!("CARGO_BIN_EXE_rekindle");
    let says = "the hooks of Claude Code in ";
    let old = sandbox.work().join("rekindle");
    fs::write(&old, format!("#!/bin/sh\nexec '{real}' \"$@\"\n")).unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
    let faults: [&dyn Fn(Value) -> Value; 2] = [
        &|mut settings| {
            settings["hooks"].as_object_mut().unwrap().remove("SessionEnd");
            settings
        },
        &|mut settings| {
            let groups = settings["hooks"]["Stop"].as_array_mut().unwrap();
            groups.push(groups[0].clone());
            settings
        },
    ];
    for fault in faults {
        mends(&sandbox, "claude", says, |sandbox| {
            edit(&settings(sandbox), |text| fault(serde_json::from_str(&text).unwrap()).to_string());
        });
        fs::write(settings(&sandbox), &good).unwrap();
    }
    for program in ["/nowhere/rekindle", old.to_str().unwrap()] {
        mends(&sandbox, "claude", says, |sandbox| {
            edit(&settings(sandbox), |text| text.replace(real, program));
        });
        assert_eq!(fs::read_to_string(settings(&sandbox)).unwrap(), good, "byte for byte");
    }
    // Whose home the hooks use is a decision, and only a person can trust hooks.
    edit(&settings(&sandbox), |text| text.replace(sandbox.home().to_str().unwrap(), "/elsewhere"));
    let (fixed, left) = repaired(&sandbox);
    assert_eq!((fixed.len(), left), (0, vec!["its hooks use another Rekindle home: /elsewhere".to_owned()]));
    fs::write(settings(&sandbox), &good).unwrap();
    sandbox.rekindle(&["install", "codex", "--yes"]).run().ok();
    assert_eq!(repaired(&sandbox).1, ["Codex does not trust the hooks and skips them silently"]);
}

/// SEC-01: folders that cannot be written and state that others can read get their permissions back.
#[test]
fn sec_01_wrong_permissions_are_corrected() {
    let sandbox = used();
    let set = |path: PathBuf, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mends(&sandbox, "permissions", "from 500 to 700", |sandbox| set(sandbox.vault(), 0o500));
    mends(&sandbox, "permissions", "from 644 to 600", |sandbox| {
        set(sandbox.state().join("rekindle.db"), 0o644);
    });
    mends(&sandbox, "permissions", "from 755 to 700", |sandbox| set(sandbox.state().join("logs"), 0o755));
    // Notes may be shared.
    set(sandbox.vault().join("MEMORY.md"), 0o664);
    assert_eq!(repaired(&sandbox), (Vec::new(), Vec::new()));
}

/// Makes a file or folder that only its owner may use.
fn private(path: &Path, make: impl FnOnce(&Path)) {
    make(path);
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
}

/// EXE-13: what a killed process or a downgraded program left no longer keeps others waiting.
#[test]
fn exe_13_stale_locks_are_released() {
    let sandbox = used();
    mends(&sandbox, "runs", "makes every worker stop", |sandbox| {
        private(&sandbox.state().join("locks/worker.successor"), |path| fs::write(path, "99").unwrap());
    });
    mends(&sandbox, "runs", "is no file", |sandbox| {
        fs::remove_file(sandbox.state().join("locks/worker.lock")).unwrap();
        private(&sandbox.state().join("locks/worker.lock"), |path| fs::create_dir(path).unwrap());
    });
    mends(&sandbox, "runs", "would end too late", |sandbox| {
        let sql = "INSERT INTO locks VALUES ('observe', 'gone', 9000000000000)";
        db(sandbox).change(|t| t.execute(sql, [])).unwrap();
    });
    work(&sandbox, &[]);
    // The scratch home of a killed gate goes without a word of `doctor`.
    fs::create_dir_all(sandbox.state().join("gate/01/state")).unwrap();
    assert!(repaired(&sandbox).0.iter().any(|what| what.contains("scratch folder")));
    assert!(!sandbox.state().join("gate").exists());
}

/// BRF-12: a link that leads nowhere and a copy become links again; another text stays.
#[test]
fn brf_12_divergent_identity_links_are_mended_without_a_loss() {
    let sandbox = used();
    let agents = sandbox.user_home().join(".agents");
    fs::create_dir_all(&agents).unwrap();
    let (link, shared) = (agents.join("AGENTS.md"), sandbox.home().join("agents/AGENTS.md"));
    let says = "is a link to the shared file again";
    mends(&sandbox, "identity", says, |_| symlink("/nowhere/AGENTS.md", &link).unwrap());
    assert_eq!(fs::read_link(&link).unwrap(), shared);
    mends(&sandbox, "identity", says, |_| {
        fs::remove_file(&link).unwrap();
        fs::copy(&shared, &link).unwrap();
    });
    fs::remove_file(&link).unwrap();
    fs::write(&link, "My own words.").unwrap();
    let (fixed, left) = repaired(&sandbox);
    assert_eq!((fixed, left.len()), (Vec::new(), 1), "{left:?}");
    assert_eq!(fs::read_to_string(&link).unwrap(), "My own words.");
}

/// OPS-06: tables, columns and indexes that are missing are added, and the documents that `init` makes.
#[test]
fn ops_06_gaps_are_closed() {
    let sandbox = used();
    mends(&sandbox, "runs", "added to the database: column sightings.ends, table otel_folded", |sandbox| {
        let sql = "ALTER TABLE sightings DROP COLUMN ends; DROP TABLE otel_folded;";
        db(sandbox).run(|connection| connection.execute_batch(sql)).unwrap();
    });
    fs::remove_file(sandbox.path("REVIEW.md")).unwrap();
    assert!(repaired(&sandbox).0.iter().any(|what| what.contains("created") && what.ends_with("REVIEW.md")));
    assert!(sandbox.path("REVIEW.md").exists());
    sandbox.rekindle(&["reindex"]).run().ok();
    mends(&sandbox, "index", "rebuilt the index", |sandbox| {
        let index = sandbox.state().join("index");
        let segments = fs::read_dir(index).unwrap().map(|file| file.unwrap().path());
        let largest = segments.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap();
        let file = fs::OpenOptions::new().write(true).open(&largest).unwrap();
        file.set_len(fs::metadata(&largest).unwrap().len() / 2).unwrap();
    });
}

/// REV-14: an approved proposal whose run is gone is promoted after all.
#[test]
fn rev_14_an_approved_proposal_without_a_run_is_promoted() {
    let sandbox = quiet();
    let id = propose(&sandbox, "Deploy on Mondays.", 0);
    work(&sandbox, &[]);
    mends(&sandbox, "review", "promoted by nobody", |sandbox| {
        let sql = "UPDATE proposals SET status = 'approved', proposal = json_set(proposal, '$.status', 'approved');
            INSERT INTO decisions (proposal, at, what, by) SELECT id, created, 'approved', 'command' FROM proposals;";
        db(sandbox).run(|connection| connection.execute_batch(sql)).unwrap();
    });
    work(&sandbox, &[]);
    assert_eq!(status(&sandbox, &id), "promoted");
    assert!(sandbox.read("MEMORY.md").contains("Deploy on Mondays."));
}

/// A home with a learnt statement, an open and an approved proposal, and a rejected one.
fn with_proposals() -> (Sandbox, [String; 3]) {
    let sandbox = quiet();
    let mut session = ClaudeTranscript::new(&sandbox, "s1");
    session.cwd = project(&sandbox, "pumps");
    session.says("Remember that the staging database runs on host blue-1.");
    session.goes_on_for(1);
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let ids =
        ["Deploy on Mondays.", "Use tabs.", "Never push to main."].map(|words| propose(&sandbox, words, 0));
    work(&sandbox, &[]);
    sandbox.rekindle(&["approve", &ids[1]]).run().ok();
    sandbox.rekindle(&["reject", &ids[2]]).run().ok();
    work(&sandbox, &[]);
    (sandbox, ids)
}

fn observations(sandbox: &Sandbox) -> Value {
    sandbox.rekindle(&["inspect", "--observations", "--days", "366", "--json"]).run().ok().json()
}

/// STO-01, B-07: a lost database is rebuilt from logs, vault and the copy of the proposals, and what is lost is named.
#[test]
fn sto_01_b_07_a_lost_database_is_rebuilt_and_no_proposal_is_lost() {
    let (sandbox, ids) = with_proposals();
    let (before, memory) = (observations(&sandbox), sandbox.read("MEMORY.md"));
    for name in ["rekindle.db", "rekindle.db-wal", "rekindle.db-shm"] {
        fs::remove_file(sandbox.state().join(name)).ok();
    }
    let named = findings(&sandbox);
    assert!(named.iter().any(|(check, what)| check == "runs" && what.contains("is gone")), "{named:?}");
    let (fixed, left) = repaired(&sandbox);
    assert_eq!((fixed.len(), left.len()), (1, 0), "{fixed:?} {left:?}");
    for part in
        ["was gone", "1 statement from the vault", "3 proposals from their copy, 1 of them", "not rebuilt"]
    {
        assert!(fixed[0].contains(part), "{part}: {fixed:?}");
    }
    assert_eq!(observations(&sandbox), before);
    let statuses: Vec<String> = ids.iter().map(|id| status(&sandbox, id)).collect();
    assert_eq!(statuses, ["triaged", "promoted", "rejected"]);
    work(&sandbox, &[]);
    assert_eq!(sandbox.read("MEMORY.md"), memory, "nothing is promoted twice");
    sandbox.rekindle(&["review", "--check"]).run().ok();
    // What was said before is superseded by what is said now.
    let mut session = ClaudeTranscript::new(&sandbox, "s2");
    session.cwd = project(&sandbox, "pumps");
    session.goes_on_for(1);
    session.says("The staging database runs on host green-2 now.");
    let later = fs::read_to_string(&session.path).unwrap().replace("2026-11-14T", "2026-11-15T");
    fs::write(&session.path, later).unwrap();
    session.hook(&sandbox, "SessionEnd");
    work(&sandbox, &[]);
    let entries = sandbox.rekindle(&["list", "--json"]).run().ok().json();
    let titles: Vec<&str> = entries.as_array().unwrap().iter().map(|entry| text(entry, "title")).collect();
    assert!(titles.iter().any(|title| title.contains("green-2")), "{titles:?}");
    assert!(!titles.iter().any(|title| title.contains("blue-1")), "{titles:?}");
}

/// B-07: a worker that finds no database does not lose what waits either.
#[test]
fn b_07_a_worker_takes_the_proposals_from_their_copy() {
    let (sandbox, ids) = with_proposals();
    for name in ["rekindle.db", "rekindle.db-wal", "rekindle.db-shm"] {
        fs::remove_file(sandbox.state().join(name)).ok();
    }
    work(&sandbox, &[]);
    let statuses: Vec<String> = ids.iter().map(|id| status(&sandbox, id)).collect();
    assert_eq!(statuses, ["triaged", "promoted", "rejected"]);
    // A forgotten proposal is gone from the copy as well.
    sandbox.rekindle(&["forget", "--text", "Deploy on Mondays.", "--yes"]).run().ok();
    assert_eq!(sandbox.find_bytes("Deploy on Mondays"), Vec::<PathBuf>::new());
}

/// STO-01: a damaged database is kept aside, and rebuilt.
#[test]
fn sto_01_a_damaged_database_is_kept_aside_and_rebuilt() {
    let (sandbox, ids) = with_proposals();
    let path = sandbox.state().join("rekindle.db");
    let rubbish = "this is no database, however long it is read".repeat(50);
    for name in ["rekindle.db-wal", "rekindle.db-shm"] {
        fs::remove_file(sandbox.state().join(name)).ok();
    }
    fs::write(&path, &rubbish).unwrap();
    sandbox.rekindle(&["health"]).run().fails(1);
    let (fixed, left) = repaired(&sandbox);
    assert_eq!((fixed.len(), left.len()), (1, 0), "{fixed:?} {left:?}");
    assert!(fixed[0].contains("was damaged") && fixed[0].contains("kept as"), "{fixed:?}");
    let aside = fs::read_dir(sandbox.state()).unwrap().map(|file| file.unwrap().path());
    let aside =
        aside.filter(|path| path.to_string_lossy().contains("rekindle.db.damaged-")).collect::<Vec<_>>();
    assert_eq!(fs::read_to_string(&aside[0]).unwrap(), rubbish);
    assert_eq!(status(&sandbox, &ids[0]), "triaged");
    sandbox.rekindle(&["health"]).run().ok();
    // Without the copy, the proposals that only REVIEW.md knows are named.
    fs::write(&path, &rubbish).unwrap();
    fs::remove_dir_all(sandbox.state().join("proposals")).unwrap();
    let (_, left) = repaired(&sandbox);
    assert!(left.len() == 1 && left[0].contains(&ids[0]) && left[0].contains("REVIEW.md"), "{left:?}");
}

/// B-08: `forget` removes what a database that was kept aside still holds, and leaves one without it.
#[test]
fn b_08_a_forgotten_text_is_not_kept_in_a_damaged_database() {
    let (sandbox, _) = with_proposals();
    let path = sandbox.state().join("rekindle.db");
    sandbox.rekindle(&["worker", "--once"]).run().ok();
    let damage = || {
        for name in ["rekindle.db-wal", "rekindle.db-shm"] {
            fs::remove_file(sandbox.state().join(name)).ok();
        }
        let mut bytes = fs::read(&path).unwrap();
        bytes[..1024].fill(0);
        fs::write(&path, bytes).unwrap();
        repaired(&sandbox);
    };
    damage();
    assert!(!sandbox.find_bytes("Deploy on Mondays").is_empty());
    let aside = || {
        let files = fs::read_dir(sandbox.state()).unwrap().map(|file| file.unwrap().path());
        files.filter(|file| file.to_string_lossy().contains(".damaged-")).count()
    };
    assert!(aside() > 0);
    sandbox.rekindle(&["forget", "--text", "no such words", "--yes"]).run();
    assert!(aside() > 0);
    sandbox.rekindle(&["forget", "--text", "Deploy on Mondays.", "--yes"]).run().ok();
    assert_eq!(sandbox.find_bytes("Deploy on Mondays"), Vec::<PathBuf>::new());
    assert_eq!(aside(), 0);
}

/// an agent's shell repairs nothing.
#[test]
fn r_19_an_agents_shell_repairs_nothing() {
    let sandbox = sandbox();
    let said = crate::provenance::in_shell(&sandbox, &["doctor", "--fix"]).run().fails(1);
    assert!(said.stderr.contains("an agent cannot repair an installation"), "{}", said.stderr);
}

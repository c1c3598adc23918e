//! The derived notes for note apps, through the binary (B-11, B-08, R-18).

use std::fs;

use rekindle_testkit::Sandbox;

use crate::review::{memory, propose, quiet};
use crate::{project, recall, sandbox, save};

const HOME: &str = "Rekindle.md";

fn obsidian(sandbox: &Sandbox) -> String {
    let said = sandbox.rekindle(&["obsidian"]).run().ok();
    said.stdout + &said.stderr
}

fn copies(sandbox: &Sandbox) -> Vec<String> {
    sandbox.files().into_keys().filter(|name| name.contains("(conflict ")).collect()
}

#[test]
fn b_11_notes_for_note_apps_are_derived_and_lose_nothing_of_the_person() {
    let sandbox = quiet();
    let folder = project(&sandbox, "pumps");
    let valve = ["save", "fix", "valve", "--body", "The valve | sticks at [zebra] <b>pressure</b>.\n\nMore."];
    sandbox.rekindle(&valve).cwd(&folder).run().ok();
    save(&sandbox, "preference", "tea", "I drink green tea.");
    obsidian(&sandbox);
    let home = sandbox.read(HOME);
    for part in [
        "---\naliases: [\"Memories of my agents\"]\n---\n",
        "<!-- rekindle part=derived hash=",
        "| Memories | 2 |",
        "[[MemoryVault/REVIEW\\|REVIEW]]",
        "[[MemoryVault/_projects/Rekindle pumps\\|pumps]] | 1 |",
        "[[MemoryVault/personal-private/fix/valve\\|The valve / sticks at (zebra) ‹b›pressure‹/b›.]]",
        "| everywhere |",
    ] {
        assert!(home.contains(part), "no {part} in:\n{home}");
    }
    let notes = || {
        let names = sandbox.files().into_keys().filter(|name| name.starts_with("_projects/"));
        names.collect::<Vec<_>>()
    };
    assert_eq!(notes(), ["_projects/Rekindle pumps.md"]);
    let pumps = sandbox.read("_projects/Rekindle pumps.md");
    assert!(pumps.contains("[[MemoryVault/personal-private/fix/valve|") && !pumps.contains("tea"), "{pumps}");
    assert!(sandbox.read("Rekindle.base").contains("file.inFolder(\"MemoryVault\")"));

    // Rebuilding changes nothing, is no change of the person, and is never a hit.
    let before = sandbox.files();
    assert!(obsidian(&sandbox).contains("0 of them written"));
    assert_eq!(sandbox.files(), before);
    let log = sandbox.rekindle(&["log", "--all"]).run().ok().stdout;
    assert!(!log.contains("Rekindle.md") && !log.contains("_projects"), "{log}");
    sandbox.rekindle(&["reindex"]).run().ok();
    let found = recall(&sandbox, "zebra pressure valve", &["--anyway", "--project=all", "--k=10"]);
    assert!(
        !found.to_string().contains("Rekindle.md") && !found.to_string().contains("_projects"),
        "{found}"
    );

    // Words around our part stay byte for byte.
    let mine = format!("Mine above.\r\n\n{home}\nMine below, without an end");
    sandbox.write(HOME, &mine);
    save(&sandbox, "fact", "new", "A new fact.");
    obsidian(&sandbox);
    let now = sandbox.read(HOME);
    assert!(
        now.starts_with("Mine above.\r\n\n---\naliases") && now.ends_with("\nMine below, without an end"),
        "{now}"
    );
    assert!(now.contains("A new fact.") && copies(&sandbox).is_empty());

    // A change inside is kept in a copy, and said.
    let inside = now.replace("## Projects", "## Projects\n\nA thought of mine.\n");
    sandbox.write(HOME, &inside);
    assert!(obsidian(&sandbox).contains("you changed a derived note"));
    assert!(!sandbox.read(HOME).contains("A thought of mine."));
    let [copy] = copies(&sandbox).try_into().unwrap();
    assert_eq!(sandbox.read(&copy), inside);
    assert!(sandbox.rekindle(&["doctor"]).run().stdout.contains("conflict"));
    // The table is the person's once it is there.
    sandbox.write("Rekindle.base", "mine\n");
    obsidian(&sandbox);
    assert_eq!(sandbox.read("Rekindle.base"), "mine\n");
    // Undo takes back what the person did, not what was derived.
    assert!(sandbox.rekindle(&["undo"]).run().ok().stdout.contains("save"));
    // A note of the person with our name stays.
    sandbox.write(HOME, "# My own note about Rekindle\n");
    assert!(obsidian(&sandbox).contains("is a note of yours"));
    assert_eq!(sandbox.read(HOME), "# My own note about Rekindle\n");
}

#[test]
fn b_08_a_forgotten_memory_leaves_the_notes_for_note_apps() {
    let sandbox = sandbox();
    let folder = project(&sandbox, "pumps");
    let long = format!("The zebra password hint is striped.\n\n{}", "More about it. ".repeat(20));
    sandbox.rekindle(&["save", "fix", "zebra-hint", "--body", &long]).cwd(&folder).run().ok();
    sandbox.rekindle(&["save", "fix", "other", "--body", "The other one stays."]).cwd(&folder).run().ok();
    obsidian(&sandbox);
    assert!(!sandbox.find_bytes("zebra password hint").is_empty());
    sandbox.rekindle(&["forget", "zebra-hint", "--yes"]).run().ok();
    let left = sandbox.find_bytes("zebra");
    assert!(left.is_empty(), "{left:?}");
    assert!(sandbox.read(HOME).contains("The other one stays."));
    // No line of it was an edit by the person.
    obsidian(&sandbox);
    assert!(copies(&sandbox).is_empty());
    // A project without memories has no note, unless the person wrote in it.
    sandbox.rekindle(&["forget", "other", "--yes"]).run().ok();
    obsidian(&sandbox);
    assert!(!sandbox.path("_projects/Rekindle pumps.md").exists());
}

#[test]
fn b_11_a_worker_rebuilds_them_for_an_obsidian_vault_only() {
    let sandbox = quiet();
    save(&sandbox, "preference", "tea", "I drink green tea.");
    let work = || drop(sandbox.rekindle(&["worker", "--once"]).run().ok());
    work();
    assert!(!sandbox.path(HOME).exists());
    fs::create_dir(sandbox.vault().parent().unwrap().join(".obsidian")).unwrap();
    work();
    assert!(sandbox.read(HOME).contains("I drink green tea."));
    sandbox.rekindle(&["config", "set", "vault.home_note", "off"]).run().ok();
    fs::remove_file(sandbox.path(HOME)).unwrap();
    work();
    assert!(!sandbox.path(HOME).exists());
    sandbox.rekindle(&["config", "set", "vault.home_note", "on"]).run().ok();
    // A promoted line can be linked to: its block id is in MEMORY.md.
    let id = propose(&sandbox, "Use tabs.", 0);
    sandbox.rekindle(&["approve", &id]).run().ok();
    work();
    assert!(sandbox.path(HOME).exists());
    assert!(memory(&sandbox).contains(&format!("Use tabs. <!-- user --> ^{id}\n")), "{}", memory(&sandbox));
}

//! MEMORY.md, the daily log, Ideas.md and the system log, through the binary.

use crate::{sandbox, text};

/// Requirements: FND-03.
#[test]
fn rev_12_a_line_goes_into_its_section_and_everything_else_stays() {
    let sandbox = sandbox();
    let mine = "# Memory\r\n\r\nMy own words.  \r\n\r\n## Hard Rules\r\n\r\n- old rule\r\n\r\n```\r\n## Patterns\r\n```\r\n\r\n## Patterns\r\n\r\n<!-- note -->\r\ntail without newline";
    sandbox.write("MEMORY.md", mine);
    sandbox.rekindle(&["memory", "add", "Never push to main.", "--section", "hard rules"]).run().ok();
    let now = sandbox.read("MEMORY.md");
    let added: String =
        now.lines().filter(|line| line.contains("Never push")).map(|line| format!("{line}\r\n")).collect();
    assert!(added.starts_with("- (20"), "{added}");
    assert_eq!(now.replacen(&added, "", 1), mine);
    let rule = now.find("Never push").unwrap();
    assert!(now.find("old rule").unwrap() < rule && rule < now.find("```").unwrap());
    // The same statement again changes nothing, whatever its case.
    let again = sandbox
        .rekindle(&["memory", "add", "never push to MAIN", "-s", "Hard Rules", "--json"])
        .run()
        .ok()
        .json();
    assert_eq!((text(&again, "outcome"), &again["change"]), ("merged", &serde_json::Value::Null));
    assert_eq!(sandbox.read("MEMORY.md"), now);
    // rev_15: the default section does not exist yet, so it is added.
    sandbox.rekindle(&["memory", "add", "Something else."]).run().ok();
    assert!(sandbox.read("MEMORY.md").contains("## Reflected ("));
    sandbox.rekindle(&["undo"]).run().ok();
    assert_eq!(sandbox.read("MEMORY.md"), now);
}

#[test]
fn gen_01_the_first_section_is_the_persons() {
    let sandbox = sandbox();
    sandbox.rekindle(&["memory", "add", "Likes short answers."]).run().ok();
    let sections = sandbox.rekindle(&["memory", "--json"]).run().ok().json();
    let ada = sections.as_array().unwrap().iter().find(|section| section["title"] == "Ada").unwrap();
    assert_eq!(text(&ada["items"][0], "text"), "Likes short answers.");
    assert_eq!(text(&ada["items"][0], "origin"), "user");
}

#[test]
fn b_09_an_earlier_line_is_taken_back_after_later_ones() {
    let sandbox = sandbox();
    let empty = sandbox.read("MEMORY.md");
    let add = |line: &str| {
        text(
            &sandbox.rekindle(&["memory", "add", line, "-s", "Patterns", "--json"]).run().ok().json(),
            "change",
        )
        .to_owned()
    };
    let (first, second, third) = (add("First pattern."), add("Second pattern."), add("Third pattern."));
    for change in [&second, &first, &third] {
        sandbox.rekindle(&["undo", change]).run().ok();
    }
    // After an undo out of order, the blank line of the first addition stays.
    let lines =
        |text: &str| text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&sandbox.read("MEMORY.md")), lines(&empty));
}

#[test]
fn log_01_the_daily_log_only_grows_and_reads_back() {
    let sandbox = sandbox();
    sandbox.rekindle(&["daily", "add", "First note."]).run().ok();
    let date = text(&sandbox.rekindle(&["daily", "--json"]).run().ok().json(), "date").to_owned();
    let path = format!("memory/{date}.md");
    let mine = sandbox.read(&path) + "\nMy own line, no newline";
    sandbox.write(&path, &mine);
    sandbox
        .rekindle(&[
            "daily",
            "add",
            "### 🔍 Observations (session: forged, 10:00)\n* 🔴 (10:00) forged <!-- x -->",
        ])
        .run()
        .ok();
    let now = sandbox.read(&path);
    assert!(now.starts_with(&mine));
    let sections =
        sandbox.rekindle(&["daily", "show", &date, "--json"]).run().ok().json()["sections"].clone();
    let sections = sections.as_array().unwrap();
    assert_eq!(sections.len(), 2, "{sections:?}");
    assert!(sections.iter().all(|section| section["section"] == "note"));
    assert_eq!(text(&sections[0], "text"), "First note.");
    sandbox.rekindle(&["daily", "show", "2020-01-01"]).run().ok();
    sandbox.rekindle(&["daily", "show", "tomorrow"]).run().fails(2);
}

#[test]
fn idea_02_an_idea_is_a_section_and_a_folder_as_one_change() {
    let sandbox = sandbox();
    let ideas = sandbox.vault().parent().unwrap().join("Ideas.md");
    std::fs::write(&ideas, "# My ideas\n\nkeep me\n").unwrap();
    sandbox
        .rekindle(&["ideas", "add", "Index by year", "--summary", "Old memories could live apart."])
        .run()
        .ok();
    let text_now = std::fs::read_to_string(&ideas).unwrap();
    assert!(text_now.starts_with("# My ideas\n\nkeep me\n"));
    assert!(text_now.contains("[[MemoryVault/personal-private/_idea-incubator/index-by-year/_index.md]]"));
    let index = sandbox.read("personal-private/_idea-incubator/index-by-year/_index.md");
    assert!(index.contains("kind: idea\n") && index.contains("status: incubating\n"));
    let listed = sandbox.rekindle(&["ideas", "--json"]).run().ok().json();
    assert_eq!(text(&listed[0], "title"), "Index by year");
    // VLT-07: the write outside the vault has a recorded permission.
    let log = sandbox.rekindle(&["log", "--json"]).run().ok().json();
    assert_eq!(
        (text(&log[0], "permission"), log[0]["places"][1].as_str()),
        ("standing", Some("notes:Ideas.md"))
    );
    sandbox.rekindle(&["undo"]).run().ok();
    assert_eq!(std::fs::read_to_string(&ideas).unwrap(), "# My ideas\n\nkeep me\n");
    assert!(!sandbox.files().contains_key("personal-private/_idea-incubator/index-by-year/_index.md"));
}

#[test]
fn fnd_05_the_system_log_has_a_line_for_each_change() {
    let sandbox = sandbox();
    sandbox.write("system-log.jsonl", "broken\n");
    let write = [
        "slog",
        "write",
        "--action",
        "deploy",
        "--tool",
        "worker",
        "--detail",
        "v2 \"quoted\"",
        "--reason",
        "full disk",
    ];
    sandbox.rekindle(&write).run().ok();
    let listed = sandbox.rekindle(&["slog", "list", "--json"]).run().ok();
    assert!(listed.stderr.contains("line 1"), "{}", listed.stderr);
    assert_eq!(text(&listed.json()[0], "detail"), "v2 \"quoted\"");
    assert!(sandbox.read("system-log.jsonl").starts_with("broken\n{"));
}

#[test]
fn a_document_that_makes_no_sense_is_left_alone_and_reported() {
    let sandbox = sandbox();
    let broken = "# Memory\n\n## Patterns\n\n```\nnever closed\n";
    sandbox.write("MEMORY.md", broken);
    let refused = sandbox.rekindle(&["memory", "add", "x y z", "-s", "Patterns"]).run().fails(1);
    assert!(refused.stderr.contains("MEMORY.md") && refused.stderr.contains("line 5"), "{}", refused.stderr);
    assert_eq!(sandbox.read("MEMORY.md"), broken);
    assert!(sandbox.rekindle(&["doctor"]).run().ok().stdout.contains("MEMORY.md: "));
}

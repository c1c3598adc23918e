//! Concurrent processes that write to one vault.

use std::time::Duration;

use rekindle_testkit::race;

use crate::{sandbox, save, text};

/// The total number of saves by two processes.
const SAVES: usize = 1000;

#[test]
fn two_processes_with_a_thousand_saves_lose_none() {
    let sandbox = sandbox();
    let jobs: Vec<_> = (0..2)
        .map(|writer| {
            let commands: Vec<_> = (0..SAVES / 2)
                .map(|number| {
                    let slug = format!("w{writer}-{number}");
                    sandbox.rekindle(&["save", "race", &slug, "--body", &slug])
                })
                .collect();
            move || commands.iter().map(|command| command.run().ok().stdout).collect::<Vec<String>>()
        })
        .collect();
    let acknowledged: Vec<String> =
        race::together(Duration::from_secs(120), jobs).into_iter().flatten().collect();
    assert_eq!(acknowledged.len(), SAVES);
    let files = sandbox.files();
    for writer in 0..2 {
        for number in 0..SAVES / 2 {
            let slug = format!("w{writer}-{number}");
            let file = &files[&format!("personal-private/race/{slug}.md")];
            assert!(String::from_utf8_lossy(file).ends_with(&format!("\n\n{slug}\n")));
        }
    }
    let log = sandbox.rekindle(&["log", "--json", "-n", "2000"]).run().ok().json();
    let saves: Vec<_> = log.as_array().unwrap().iter().filter(|change| change["verb"] == "save").collect();
    assert_eq!(saves.len(), SAVES);
    assert!(saves.iter().all(|change| change["outcome"] == "done"));
    assert!(files.keys().all(|path| !path.contains(".rekindle-")));
}

#[test]
fn of_two_processes_saving_one_slug_exactly_one_wins() {
    let sandbox = sandbox();
    for round in 0..20 {
        let slug = format!("same-{round}");
        let jobs: Vec<_> = (0..2)
            .map(|writer| {
                let body = format!("body {writer}");
                let command = sandbox.rekindle(&["save", "race", &slug, "--body", &body]);
                move || (body, command.run())
            })
            .collect();
        let outcomes = race::together(Duration::from_secs(30), jobs);
        let winners: Vec<_> = outcomes.iter().filter(|(_, output)| output.code == Some(0)).collect();
        assert_eq!(winners.len(), 1, "{outcomes:?}");
        let loser = outcomes.iter().find(|(_, output)| output.code != Some(0)).unwrap();
        assert_eq!(loser.1.code, Some(2));
        assert!(loser.1.stderr.contains("already exists"), "{}", loser.1.stderr);
        assert!(
            sandbox
                .read(format!("personal-private/race/{slug}.md"))
                .ends_with(&format!("{}\n", winners[0].0))
        );
    }
}

#[test]
fn two_evolves_of_one_entry_make_two_versions() {
    let sandbox = sandbox();
    save(&sandbox, "race", "e", "start");
    let jobs: Vec<_> = (0..2)
        .map(|writer| {
            let commands: Vec<_> = (0..25)
                .map(|n| {
                    sandbox.rekindle(&[
                        "evolve",
                        "e",
                        "--body",
                        &format!("w{writer} n{n}"),
                        "--reason",
                        "r",
                        "--json",
                    ])
                })
                .collect();
            move || {
                commands
                    .iter()
                    .map(|command| text(&command.run().ok().json(), "archive").to_owned())
                    .collect::<Vec<_>>()
            }
        })
        .collect();
    let mut archives: Vec<String> =
        race::together(Duration::from_secs(60), jobs).into_iter().flatten().collect();
    archives.sort();
    archives.dedup();
    assert_eq!(archives.len(), 50);
    let bodies: std::collections::BTreeSet<Vec<u8>> =
        archives.iter().map(|path| sandbox.files()[path].clone()).collect();
    assert_eq!(bodies.len(), 50);
}

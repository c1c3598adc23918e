//! `rekindle reindex` with and without a terminal.

use std::fs;

use crate::review_terminal::TmuxTerminal;
use crate::sandbox;

/// The bar of a complete run.
const WHOLE: &str = "[##############################]";

#[test]
fn fnd_10_a_terminal_sees_how_far_it_is_and_a_pipe_does_not() {
    let sandbox = sandbox().reading_all_notes();
    let notes = sandbox.vault().parent().unwrap().join("Harbour");
    fs::create_dir(&notes).unwrap();
    // The number of notes exceeds what is embedded in passing.
    for number in 0..320 {
        let text = format!(
            "# Berth {number}\n\nBerth {number} of the harbour has a crane for boats of {number} tons.\n"
        );
        fs::write(notes.join(format!("{number}.md")), text).unwrap();
    }
    let piped = sandbox.rekindle(&["reindex", "--all"]).run().ok();
    assert!(!piped.stderr.contains('[') && !piped.stdout.contains('['), "{piped:?}");
    let Some(terminal) = TmuxTerminal::open(&sandbox, &[]) else { return };
    fs::remove_dir_all(sandbox.state().join("index")).unwrap();
    terminal.run("sh r reindex --all; echo over-$((1 + 1))-$?");
    let screen = terminal.until("over-2-0");
    for what in ["reading", "embedding"] {
        let line =
            screen.lines().find(|line| line.starts_with(what)).unwrap_or_else(|| panic!("{what}: {screen}"));
        let (done, of) = line.rsplit(' ').next().unwrap().split_once('/').unwrap();
        assert!(line.contains(WHOLE) && done == of && of.parse::<usize>().unwrap() >= 320, "{line}");
    }
}

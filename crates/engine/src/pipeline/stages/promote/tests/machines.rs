//! Tests of several machines that share their notes (REV-01, R-20, B-16): an id never means two things.

use super::*;

/// Copies a file from `from` to `to`, as rsync does.
fn brought(from: &PromoteFixture, to: &PromoteFixture, name: &str) {
    to.put(name, &from.read(name));
}

#[test]
fn rev_01_r_20_b_16_two_machines_share_a_page_and_decide_only_their_own_lines() {
    let (one, other) = (PromoteFixture::new(), PromoteFixture::new());
    let ours = one.propose("Patterns", "Use tabs.", 0);
    let theirs = other.propose("Patterns", "Deploy on Mondays.", 0);
    assert!(ours != theirs && ours.with_machine(None) == theirs.with_machine(None), "{ours} {theirs}");
    one.refresh();
    other.refresh();
    other.tick(theirs, "x");
    let ticked = other.read("REVIEW.md").lines().find(|line| line.contains("[x]")).unwrap().to_owned();

    brought(&other, &one, "REVIEW.md");
    assert_eq!(one.look().decided, [], "the tick is on another machine's line");
    assert_eq!(one.refresh(), "written");
    let page = one.read("REVIEW.md");
    assert!(page.contains(&format!("{ticked}\n")), "theirs, byte for byte: {page}");
    assert!(page.contains(&format!("- [ ] `{ours}`")), "ours: {page}");
    assert_eq!(one.look().decided, [], "and again nothing was said about ours");

    brought(&one, &other, "REVIEW.md");
    // A page that another machine wrote decides nothing until ours is known again.
    other.look();
    other.refresh();
    assert_eq!(other.look().decided, [(theirs, DecisionOutcome::Now)], "the tick stays with its line");
    other.work();
    assert_eq!(count(&other.read("MEMORY.md"), "Deploy on Mondays."), 1);
    assert!(!other.read("MEMORY.md").contains("Use tabs."));
    assert!(other.read("REVIEW.md").contains(&format!("- [ ] `{ours}`")), "the line of the first is kept");

    brought(&other, &one, "REVIEW.md");
    brought(&other, &one, "MEMORY.md");
    one.look();
    one.refresh();
    one.tick(ours, "x");
    assert_eq!(one.look().decided, [(ours, DecisionOutcome::Now)]);
    one.work();
    for text in ["Deploy on Mondays.", "Use tabs."] {
        assert_eq!(count(&one.read("MEMORY.md"), text), 1, "{text}");
    }
    for trial in [&one, &other] {
        assert_eq!(proposals::check(&trial.db()).unwrap(), Vec::<String>::new());
    }
}

#[test]
fn rev_12_r_20_only_its_own_line_is_taken_back() {
    let (one, other) = (PromoteFixture::new(), PromoteFixture::new());
    let ours = one.propose("Patterns", "Use tabs.", 0);
    let theirs = other.propose("Patterns", "Deploy on Mondays.", 0);
    for (trial, id) in [(&one, ours), (&other, theirs)] {
        assert_eq!(trial.decide(id, &ProposalVerdict::Approve), DecisionOutcome::Now);
    }
    one.work();
    brought(&one, &other, "MEMORY.md");
    // Killed after every step, then run to its end.
    for steps in 1..4 {
        other.killed_after(steps);
    }
    other.work();
    let memory = other.read("MEMORY.md");
    for (text, id) in [("Use tabs.", ours), ("Deploy on Mondays.", theirs)] {
        assert_eq!(count(&memory, &format!("{text} <!-- user --> ^{id}")), 1, "{memory}");
    }
    assert_eq!(other.status(theirs), ProposalStatus::Promoted);
    assert_eq!(proposals::check(&other.db()).unwrap(), Vec::<String>::new());
    let vault = other.context.vault().unwrap();
    vault.undo(None, ChangeActor::User, &other.context.now()).unwrap();
    assert_eq!(reverse_undone_promotions(&other.context).unwrap(), [theirs]);
    assert_eq!(other.read("MEMORY.md"), one.read("MEMORY.md"), "only its own line is taken back");
}

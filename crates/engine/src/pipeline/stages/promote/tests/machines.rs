//! Tests of several machines that share their notes (REV-01, B-16): an id never means two things.

use super::*;

/// Copies a file from `from` to `to`, as rsync does.
fn brought(from: &PromoteFixture, to: &PromoteFixture, name: &str) {
    to.put(name, &from.read(name));
}

#[test]
fn rev_01_b_16_two_that_gave_the_same_id_part_when_they_meet() {
    let (one, other) = (PromoteFixture::new(), PromoteFixture::new());
    let id = one.propose_as_before("Patterns", "Use tabs.");
    assert_eq!(other.propose_as_before("Patterns", "Deploy on Mondays."), id, "they never met");
    one.refresh();
    other.refresh();
    other.tick(id, "x");
    let ticked = other.read("REVIEW.md").lines().find(|line| line.contains("[x]")).unwrap().to_owned();

    brought(&other, &one, "REVIEW.md");
    let look = one.look();
    assert_eq!(
        (look.decided.len(), look.doubt.is_some()),
        (0, true),
        "the tick is on another machine's line"
    );
    let ours = one.standing(id).proposal.id;
    assert!(ours.machine.is_some() && ours.by(None) == id, "{ours}");
    assert_eq!(one.refresh(), "written");
    let page = one.read("REVIEW.md");
    assert!(page.contains(&format!("{ticked}\n")), "theirs, byte for byte: {page}");
    assert!(page.contains(&format!("- [ ] `{ours}`")), "ours under its own id: {page}");
    assert_eq!(one.look().decided, [], "and again nothing was said about ours");

    brought(&one, &other, "REVIEW.md");
    other.look();
    other.refresh();
    let theirs = other.standing(id).proposal.id;
    assert!(theirs.machine.is_some() && theirs != ours, "{theirs}");
    assert!(other.read("REVIEW.md").contains(&format!("- [x] `{theirs}`")), "the tick stays with its line");
    assert_eq!(other.look().decided, [(theirs, DecisionOutcome::Now)]);
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
        assert_eq!(trial.status(id), ProposalStatus::Promoted, "it is known by its first id too");
    }
}

#[test]
fn rev_01_rev_12_a_line_under_our_id_that_another_machine_wrote_is_not_ours() {
    let (one, other) = (PromoteFixture::new(), PromoteFixture::new());
    let id = one.propose_as_before("Patterns", "Use tabs.");
    assert_eq!(other.propose_as_before("Patterns", "Deploy on Mondays."), id);
    for trial in [&one, &other] {
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
    let theirs = other.standing(id).proposal.id;
    assert_ne!(theirs, id);
    for (text, id) in [("Use tabs.", id), ("Deploy on Mondays.", theirs)] {
        assert_eq!(count(&memory, &format!("{text} <!-- {id} user -->")), 1, "{memory}");
    }
    assert_eq!(other.status(theirs), ProposalStatus::Promoted);
    assert_eq!(proposals::check(&other.db()).unwrap(), Vec::<String>::new());
    let vault = other.world.vault().unwrap();
    vault.undo(None, ChangeActor::User, &other.world.now()).unwrap();
    assert_eq!(take_back(&other.world).unwrap(), [theirs]);
    assert_eq!(other.read("MEMORY.md"), one.read("MEMORY.md"), "only its own line is taken back");
}

#[test]
fn rev_01_rev_03_what_was_ticked_before_the_name_was_taken_counts() {
    let trial = PromoteFixture::new();
    let ids = ["Use tabs.", "Deploy on Mondays.", "Write tests first."]
        .map(|text| trial.propose("Patterns", text, 0));
    let ids = ids.map(|id| proposals::as_before(&mut trial.db(), id));
    trial.refresh();
    trial.tick(ids[0], "x");
    trial.put("REVIEW.md", &trial.without(ids[1]));
    // A newer version reads the page.
    let look = trial.look();
    let now = ids.map(|id| trial.standing(id).proposal.id);
    assert!(now.iter().all(|id| id.machine.is_some()));
    assert_eq!(look.decided, [(now[0], DecisionOutcome::Now), (now[1], DecisionOutcome::Now)]);
    trial.work();
    assert_eq!(
        now.map(|id| trial.status(id)),
        [ProposalStatus::Promoted, ProposalStatus::Rejected, ProposalStatus::Triaged]
    );
    let page = trial.read("REVIEW.md");
    assert!(page.contains(&now[2].to_string()) && count(&page, "- [") == 1, "{page}");
    assert_eq!(trial.look().decided, []);
}

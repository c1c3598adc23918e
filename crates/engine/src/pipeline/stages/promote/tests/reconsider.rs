//! Tests of reverted decisions, lines kept beside their successors, and previews of an approval.

use std::time::Duration;

use super::super::*;
use super::{PromoteFixture, count};
use crate::jobs::worker_lock::WorkerLock;
use crate::platform::disk;
use crate::review::proposals::DecisionOutcome;

impl PromoteFixture {
    pub(super) fn try_to_take_back(&self, id: ProposalId) -> Result<ReconsiderOutcome, StepError> {
        let worker_lock = WorkerLock::acquire(&self.context.places.locks_folder(), Duration::from_secs(5))
            .unwrap()
            .unwrap();
        reverse_decision(&worker_lock, &self.context, id, None)
    }

    pub(in crate::pipeline::stages) fn take_back(&self, id: ProposalId) -> ReconsiderOutcome {
        self.try_to_take_back(id).unwrap()
    }
}

#[test]
fn rev_14_a_rejection_that_is_taken_back_is_a_question_again_and_ends_once() {
    // Before a worker carries it out, and after.
    for seen_to in [false, true] {
        let trial = PromoteFixture::new();
        let id = trial.propose("Patterns", "Use tabs.", 0);
        assert_eq!(
            trial.decide(id, &ProposalVerdict::RejectFor("only in \x1b[1mMakefiles\n".to_owned())),
            DecisionOutcome::Now
        );
        assert_eq!(trial.standing(id).note.as_deref(), Some("only in Makefiles"));
        if seen_to {
            trial.work();
        }
        assert_eq!(trial.take_back(id), ReconsiderOutcome::Waiting);
        let standing = trial.standing(id);
        assert_eq!((standing.proposal.status, standing.decided), (ProposalStatus::Pending, None));
        assert!(standing.note.is_some_and(|note| note.contains("taken back")));
        assert!(trial.read("REVIEW.md").contains(&format!("- [ ] `{id}`")), "{}", trial.read("REVIEW.md"));
        // An answer sent before the reversal decides nothing now.
        trial.work();
        assert_eq!(trial.status(id), ProposalStatus::Pending);
        assert!(
            matches!(trial.take_back(id), ReconsiderOutcome::Otherwise(_)),
            "there is nothing more to take back"
        );
        assert_eq!(trial.decide(id, &ProposalVerdict::Approve), DecisionOutcome::Now);
        trial.work();
        assert_eq!(trial.status(id), ProposalStatus::Promoted);
        let log = trial.log();
        let ends = ["rejected", "undone", "promoted"].map(|end| count(&log, &format!("{end} `{id}`")));
        assert_eq!(ends, [1, 1, 1], "{log}");
        assert!(log.contains("(because: only in Makefiles)"), "{log}");
    }
}

#[test]
fn rev_10_a_proposal_reopened_during_an_interrupted_expiry_is_pending() {
    let trial = PromoteFixture::new();
    let (back, old) = (trial.propose("Patterns", "Use tabs.", 9), trial.propose("Patterns", "Use make.", 9));
    trial.work();
    trial.clock();
    // The worker finds the old proposals, expires them, and dies before it stores that.
    trial.killed_after(3);
    assert_eq!([back, old].map(|id| trial.status(id)), [ProposalStatus::Expired; 2]);
    let (from, what) = ([ProposalStatus::Expired], ProposalChange::Reopened);
    let opened = proposals::reopen(&mut trial.db(), &[back], &from, what, "taken back", trial.now()).unwrap();
    assert_eq!(opened, [back]);
    trial.work();
    assert_eq!([back, old].map(|id| trial.status(id)), [ProposalStatus::Pending, ProposalStatus::Expired]);
}

#[test]
fn rev_14_an_approval_that_is_taken_back_leaves_memory_as_it_was() {
    for seen_to in [false, true] {
        let trial = PromoteFixture::new();
        let before = trial.read("MEMORY.md");
        let (id, other) = (trial.propose("Patterns", "Use tabs.", 0), trial.propose("Ada", "Be brief.", 0));
        trial.decide(id, &ProposalVerdict::Edit("Use tabs, always.".to_owned()));
        if seen_to {
            trial.work();
        }
        assert_eq!(trial.take_back(id), ReconsiderOutcome::Waiting);
        assert_eq!((trial.read("MEMORY.md"), trial.status(id)), (before, ProposalStatus::Pending));
        assert_eq!(trial.standing(id).text(), "Use tabs, always.", "the person's words are kept");
        trial.decide(other, &ProposalVerdict::Approve);
        trial.work();
        let said = trial.standing(other).decided;
        // A later decision of somebody else is not reverted.
        let worker_lock = WorkerLock::acquire(&trial.context.places.locks_folder(), Duration::from_secs(5))
            .unwrap()
            .unwrap();
        let then = said.unwrap() - jiff::SignedDuration::from_secs(60);
        let answer = reverse_decision(&worker_lock, &trial.context, other, Some(then)).unwrap();
        assert!(matches!(answer, ReconsiderOutcome::Otherwise(_)), "{answer:?}");
        assert_eq!(
            reverse_decision(&worker_lock, &trial.context, other, said).unwrap(),
            ReconsiderOutcome::Waiting
        );
        drop(worker_lock);
        assert_eq!(trial.take_back(ProposalId { number: 99, ..id }), ReconsiderOutcome::Unknown);
    }
}

#[test]
fn a_promotion_whose_lines_were_changed_since_is_not_taken_back_and_says_so() {
    let trial = PromoteFixture::new();
    let id = trial.propose("Patterns", "Use tabs.", 0);
    trial.decide(id, &ProposalVerdict::Approve);
    trial.work();
    trial.put("MEMORY.md", &trial.read("MEMORY.md").replace("Use tabs.", "Use tabs, mostly."));
    let changed = trial.read("MEMORY.md");
    let worker_lock =
        WorkerLock::acquire(&trial.context.places.locks_folder(), Duration::from_secs(5)).unwrap().unwrap();
    assert!(reverse_decision(&worker_lock, &trial.context, id, None).is_err());
    assert_eq!((trial.read("MEMORY.md"), trial.status(id)), (changed, ProposalStatus::Promoted));
}

#[test]
fn rev_13_both_lines_stay_if_the_person_wants_both_and_the_preview_says_what_will_be() {
    let old = "Staging Postgres listens on port 5432.";
    for (verdict, superseding) in [
        (ProposalVerdict::Approve, true),
        (ProposalVerdict::KeepBoth(None), false),
        (ProposalVerdict::KeepBoth(Some("It is port 6432 now.".to_owned())), false),
    ] {
        let trial = PromoteFixture::new();
        let section = "## System Architecture\n";
        let before = trial.read("MEMORY.md").replace(section, &format!("{section}\n- {old}\n"));
        trial.put("MEMORY.md", &before);
        let id = trial.hand_in("System Architecture", "It is port 6432 now.", Some(old), 0);
        let told = preview_approval(&trial.context, &trial.standing(id), superseding).unwrap();
        assert_eq!(trial.read("MEMORY.md"), before, "looking changes nothing");
        assert!(matches!(told.does, ApprovalEffect::Memory(promoted) if promoted.replaced == superseding));
        trial.decide(id, &verdict);
        trial.work();
        let memory = trial.read("MEMORY.md");
        assert_eq!(memory.contains(&format!("~~{old}~~")), superseding, "{memory}");
        assert_eq!(memory.contains(&format!("- {old}\n")), !superseding, "{memory}");
        let added: Vec<&str> = told.diff.lines().filter_map(|line| line.strip_prefix('+')).skip(1).collect();
        assert!(!added.is_empty() && added.iter().all(|line| memory.contains(line)), "{added:?} {memory}");
        // A contrary or repeated decision gets the existing outcome.
        let other = if superseding { ProposalVerdict::KeepBoth(None) } else { ProposalVerdict::Reject };
        assert!(matches!(trial.decide(id, &other), DecisionOutcome::Ended(_)));
        assert!(matches!(trial.decide(id, &verdict), DecisionOutcome::Already(_)));
    }
}

/// The number of receipts of each sort in the logs.
fn receipts_of(trial: &PromoteFixture, id: ProposalId) -> [usize; 4] {
    let log = trial.log();
    ["promoted", "rejected", "expired", "undone"].map(|end| count(&log, &format!("{end} `{id}`")))
}

/// Undoes changes until the promotion is reverted, without telling the store, as if killed.
fn cut_off_undo(trial: &PromoteFixture, id: ProposalId) {
    while promotion_changes(&trial.context.vault().unwrap()).unwrap()[&id].1 {
        trial.context.vault().unwrap().undo(None, ChangeActor::User, &trial.context.now()).unwrap();
    }
}

#[test]
fn rev_14_b_09_an_undo_that_was_cut_off_is_known_to_whoever_looks_next() {
    // A promotion: killed after the change, with any number of later changes and days.
    for changes in [0, 200] {
        let mut trial = PromoteFixture::new();
        trial.travel(-25);
        let id = trial.propose("Patterns", "Use tabs.", 0);
        trial.decide(id, &ProposalVerdict::Approve);
        trial.work();
        trial.look();
        cut_off_undo(&trial, id);
        for number in 0..changes {
            trial.memory(&format!("note {number}"), "It is so.");
        }
        trial.travel(25);
        assert_eq!(trial.status(id), ProposalStatus::Promoted);
        for _ in 0..2 {
            trial.look();
            assert_eq!((trial.status(id), receipts_of(&trial, id)), (ProposalStatus::Pending, [1, 0, 0, 1]));
        }
        let seen = proposals::last_seen_change(&trial.db()).unwrap();
        assert!(seen.is_some(), "it is not looked at again");
    }
    // A rejection: killed after the store.
    let mut trial = PromoteFixture::new();
    trial.travel(-25);
    let id = trial.propose("Patterns", "Use tabs.", 0);
    trial.decide(id, &ProposalVerdict::Reject);
    trial.work();
    let (from, now) = ([ProposalStatus::Rejected], trial.now());
    proposals::reopen(&mut trial.db(), &[id], &from, ProposalChange::Reopened, "why", now).unwrap();
    assert_eq!(receipts_of(&trial, id), [0, 1, 0, 0]);
    trial.travel(25);
    for _ in 0..2 {
        trial.look();
        assert_eq!((trial.status(id), receipts_of(&trial, id)), (ProposalStatus::Pending, [0, 1, 0, 1]));
    }
}

#[test]
fn rev_14_whoever_died_behind_the_log_and_comes_days_later_writes_no_receipt_twice() {
    type End = fn(&PromoteFixture, ProposalId);
    let promoted: End = |trial, id| {
        trial.decide(id, &ProposalVerdict::Approve);
        write(id, &trial.context).unwrap();
        proposals::mark_promoted(&mut trial.db(), &[id], trial.now()).unwrap();
    };
    let rejected: End = |trial, id| drop(trial.decide(id, &ProposalVerdict::Reject));
    let expired: End = |trial, id| {
        assert!(proposals::expire(&mut trial.db(), id, 7, trial.now()).unwrap());
    };
    let undone: End = |trial, id| {
        trial.decide(id, &ProposalVerdict::Approve);
        trial.work();
        cut_off_undo(trial, id);
        let (from, what) = ([ProposalStatus::Promoted], ProposalChange::Undone);
        proposals::reopen(&mut trial.db(), &[id], &from, what, "why", trial.now()).unwrap();
    };
    let ends =
        [(promoted, [1, 0, 0, 0]), (rejected, [0, 1, 0, 0]), (expired, [0, 0, 1, 0]), (undone, [1, 0, 0, 1])];
    for (end, expected) in ends {
        // Before the log, after it, and twice before it on two days.
        for deaths in [&[false][..], &[true], &[false, false], &[false, true]] {
            let mut trial = PromoteFixture::new();
            trial.travel(-25);
            let id = trial.propose("Patterns", "Use tabs.", 9);
            trial.work();
            end(&trial, id);
            for (day, behind) in [-25, 0].into_iter().zip(deaths) {
                trial.travel(day);
                for owed in proposals::take_pending(&mut trial.db(), trial.context.now().date()).unwrap() {
                    proposals::reschedule(&mut trial.db(), &owed.key, trial.context.now().date()).unwrap();
                }
                if *behind {
                    trial
                        .db()
                        .change(|t| t.execute("CREATE TABLE kept AS SELECT * FROM receipts", []))
                        .unwrap();
                    assert!(receipts::write(&trial.context).unwrap());
                    trial.db().change(|t| t.execute("INSERT INTO receipts SELECT * FROM kept", [])).unwrap();
                }
            }
            assert!(proposals::has_pending(&trial.db()).unwrap());
            trial.travel(25);
            trial.look();
            assert!(!proposals::has_pending(&trial.db()).unwrap());
            trial.work();
            assert_eq!(receipts_of(&trial, id), expected, "{deaths:?}: {}", trial.log());
        }
    }
}

#[test]
fn rev_14_a_log_that_cannot_take_receipts_is_no_obstacle_and_has_them_later() {
    let mut trial = PromoteFixture::new();
    trial.travel(-25);
    let [id, undone, back] =
        ["Use tabs.", "Use make.", "Use rust."].map(|text| trial.propose("Patterns", text, 0));
    trial.decide(undone, &ProposalVerdict::Approve);
    trial.decide(back, &ProposalVerdict::Reject);
    trial.work();
    trial.travel(25);
    let name = format!("memory/{}.md", trial.context.now().date());
    disk::create_private_folder(&trial.context.places.vault().join(&name)).unwrap();
    trial.decide(id, &ProposalVerdict::Reject);
    cut_off_undo(&trial, undone);
    // Reading the queue and reverting a decision still work, and a check reports the problem.
    for _ in 0..2 {
        trial.look();
        assert_eq!(trial.status(undone), ProposalStatus::Pending);
    }
    assert_eq!(trial.take_back(back), ReconsiderOutcome::Waiting);
    let wrong = proposals::check(&trial.db()).unwrap();
    let told = |id: ProposalId| wrong.iter().any(|one| one.contains(&id.to_string()) && one.contains("log"));
    assert!(wrong.len() == 3 && [id, undone, back].into_iter().all(told), "{wrong:?}");
    std::fs::remove_dir(trial.context.places.vault().join(&name)).unwrap();
    trial.look();
    assert_eq!(proposals::check(&trial.db()).unwrap(), Vec::<String>::new());
    let said = [id, undone, back].map(|id| receipts_of(&trial, id));
    assert_eq!(said, [[0, 1, 0, 0], [1, 0, 0, 1], [0, 1, 0, 1]]);
}

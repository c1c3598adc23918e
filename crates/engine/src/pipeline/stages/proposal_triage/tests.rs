//! Tests of triage with a real database, a real vault, the real runner and a scripted model.

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::Timestamp;
use rekindle_core::llm::{self, FailureOwner, LlmAnswer, LlmRequest, RetryAdvice};

use super::*;
use crate::pipeline::stages::promote::ReconsiderOutcome;
use crate::pipeline::stages::promote::tests::PromoteFixture;
use crate::review::proposals::DecisionOutcome;

fn said(trial: &PromoteFixture, text: &str) -> ProposalId {
    trial.hand_in_as(|proposal| Proposal { text: text.to_owned(), explicit: true, ..proposal })
}

/// Approves `many` other proposals of the same category.
fn approve(trial: &PromoteFixture, many: u32) {
    let things = ["boiler", "valve", "pump", "sensor", "gateway", "printer", "router", "switch"];
    for (number, thing) in (0..many).zip(things) {
        let id = said(trial, &format!("The {thing} in hall {number} is checked every morning."));
        trial.work();
        assert_eq!(trial.decide(id, &ProposalVerdict::Approve), DecisionOutcome::Now);
    }
    trial.work();
}

fn told(trial: &PromoteFixture) -> Vec<(String, ProposalStatus)> {
    let automatic = proposals::automatic_decisions(&trial.db()).unwrap();
    automatic
        .into_iter()
        .map(|(one, line)| (line.why.unwrap().as_str().to_owned(), one.proposal.status))
        .collect()
}

fn sound(trial: &PromoteFixture) {
    assert_eq!(proposals::check(&trial.db()).unwrap(), Vec::<String>::new());
}

#[test]
fn rev_09_x_07_nothing_promotes_itself_out_of_the_box() {
    let trial = PromoteFixture::new();
    let ids = [
        said(&trial, "Deploy the gateway on Mondays only."),
        trial.propose("Hard Rules", "Ask before a migration runs.", 0),
        trial.hand_in_as(|one| Proposal {
            origin: Origin::Tool,
            text: "The build server says that port 8080 is taken.".to_owned(),
            ..one
        }),
    ];
    trial.work();
    assert!(ids.iter().all(|id| trial.status(*id) == ProposalStatus::Triaged));
    assert_eq!(told(&trial), []);
    let page = trial.read("REVIEW.md");
    assert!(ids.iter().all(|id| page.contains(&id.to_string())), "{page}");
    sound(&trial);
}

#[test]
fn fut_03_b_01_what_a_category_has_earned_is_promoted_logged_and_taken_back() {
    let trial = PromoteFixture::with(&[("review.earn", "3")]);
    approve(&trial, 3);
    let own = said(&trial, "Deploy the furnace on Mondays only.");
    let tool = trial.hand_in_as(|one| Proposal {
        origin: Origin::Tool,
        explicit: true,
        text: "The furnace reports an overheated bearing.".to_owned(),
        ..one
    });
    let other = trial.hand_in_as(|one| Proposal {
        place: rekindle_core::vault::review::ProposalPlace::Section("Hard Rules".to_owned()),
        explicit: true,
        text: "Never open the furnace while it burns.".to_owned(),
        ..one
    });
    trial.work();
    assert_eq!(trial.status(own), ProposalStatus::Promoted);
    assert_eq!((trial.status(tool), trial.status(other)), (ProposalStatus::Triaged, ProposalStatus::Triaged));
    assert_eq!(trial.standing(own).by, Some(DecidedBy::Triage));
    assert!(trial.log().contains(&format!("promoted by triage `{own}` Deploy")), "{}", trial.log());
    assert_eq!(told(&trial), [("earned".to_owned(), ProposalStatus::Promoted)]);
    // An undo reverts it, and with it the earned trust.
    let vault = trial.context.vault().unwrap();
    vault.undo(None, rekindle_core::vault::journal::ChangeActor::User, &trial.context.now()).unwrap();
    assert_eq!(promote::reverse_undone_promotions(&trial.context).unwrap(), [own]);
    assert!(!trial.read("MEMORY.md").contains("furnace"), "{}", trial.read("MEMORY.md"));
    let next = said(&trial, "Deploy the crane on Tuesdays only.");
    trial.work();
    assert_eq!(trial.status(next), ProposalStatus::Triaged, "an undo starts the count again");
    assert!(trial.status(own).is_open(), "what was taken back is not promoted again");
    sound(&trial);
}

#[test]
fn rev_09_an_automatic_rejection_is_listed_and_opened_again() {
    let trial = PromoteFixture::new();
    let memory = trial.read("MEMORY.md");
    let line = "## Patterns\n\n- (2026-11-01) Run the tests with the release profile.\n";
    trial.put("MEMORY.md", &memory.replace("## Patterns\n", line));
    let known = trial.propose("Patterns", "Run tests with the release profile", 0);
    trial.work();
    assert_eq!(trial.status(known), ProposalStatus::Rejected);
    assert_eq!(told(&trial), [("said".to_owned(), ProposalStatus::Rejected)]);
    assert!(trial.log().contains(&format!("rejected by triage `{known}`")), "{}", trial.log());
    assert_eq!(trial.take_back(known), ReconsiderOutcome::Waiting);
    trial.work();
    assert_eq!((trial.status(known), told(&trial).len()), (ProposalStatus::Pending, 0));
    assert!(trial.read("REVIEW.md").contains(&known.to_string()));
    assert!(matches!(trial.take_back(known), ReconsiderOutcome::Otherwise(_)), "it waits already");
    sound(&trial);
}

#[test]
fn x_07_triage_can_be_turned_off() {
    let trial = PromoteFixture::with(&[("review.triage", "off"), ("review.earn", "1")]);
    approve(&trial, 2);
    let memory = trial.read("MEMORY.md");
    let known = memory.lines().find(|line| line.contains("boiler")).unwrap();
    let same = trial.propose("Patterns", "Every morning the boiler in hall 0 is checked.", 0);
    let own = said(&trial, "Deploy the furnace on Mondays only.");
    trial.work();
    assert_eq!(
        (trial.status(same), trial.status(own)),
        (ProposalStatus::Triaged, ProposalStatus::Triaged),
        "{known}"
    );
    assert_eq!(told(&trial), []);
}

#[test]
fn b_07_duplicates_end_with_their_leader() {
    for (verdict, end, word) in [
        (ProposalVerdict::Approve, ProposalStatus::Promoted, "promoted"),
        (ProposalVerdict::Reject, ProposalStatus::Rejected, "rejected"),
    ] {
        let trial = PromoteFixture::new();
        let shown = said(&trial, "Always run the tests with the release profile.");
        trial.work();
        let same = [
            trial.propose("Patterns", "Always run tests with the release profile", 0),
            trial.propose("Hard Rules", "Always run all the tests with the release profile!", 0),
        ];
        let other = trial.propose("Patterns", "Always run the tests with the debug profile.", 0);
        trial.work();
        let page = trial.read("REVIEW.md");
        assert!(same.iter().all(|id| !page.contains(&id.to_string())), "{page}");
        assert_eq!(trial.decide(shown, &verdict), DecisionOutcome::Now);
        // A decision of another program on a duplicate now comes too late.
        assert!(!matches!(
            trial.decide(same[0], &ProposalVerdict::Edit("No.".to_owned())),
            DecisionOutcome::Now
        ));
        trial.work();
        for id in same {
            assert_eq!((trial.status(id), trial.standing(id).decided_with), (end, Some(shown)));
            let line = format!("{word} with {shown} `{id}`");
            assert_eq!(trial.log().matches(&line).count(), 1, "{}", trial.log());
        }
        assert_eq!((trial.status(shown), trial.status(other)), (end, ProposalStatus::Triaged));
        let lines = trial.read("MEMORY.md").matches("release profile").count();
        assert_eq!(lines, usize::from(end == ProposalStatus::Promoted), "one line for all of them");
        let accepted = proposals::acceptance_stats(&trial.db()).unwrap();
        let decided: u32 = accepted.values().map(|one| one.approved + one.rejected).sum();
        assert_eq!(decided, 1, "one decision counts once (FUT-03)");
        if end == ProposalStatus::Promoted {
            let (vault, now) = (trial.context.vault().unwrap(), trial.context.now());
            let undone = vault.undo(None, rekindle_core::vault::journal::ChangeActor::User, &now).unwrap();
            let mut waiting = promote::reverse_undone_promotions(&trial.context).unwrap();
            waiting.sort();
            assert_eq!(waiting, [shown, same[0], same[1]], "all of them wait again");
            let change = undone.by.change.unwrap().to_string();
            vault.undo(Some(&change), rekindle_core::vault::journal::ChangeActor::User, &now).unwrap();
            assert_eq!(promote::reverse_undone_promotions(&trial.context).unwrap(), []);
            assert!(waiting.iter().all(|id| trial.status(*id) == ProposalStatus::Promoted), "done again");
        } else {
            // Any of the duplicates reverts all.
            assert_eq!(trial.take_back(same[1]), ReconsiderOutcome::Waiting);
            assert!([shown, same[0], same[1]].iter().all(|id| trial.status(*id) == ProposalStatus::Pending));
        }
        sound(&trial);
    }
}

#[test]
fn rev_14_the_check_finds_double_ends_and_orphaned_approvals() {
    let trial = PromoteFixture::new();
    let id = trial.propose("Patterns", "Use tabs.", 0);
    trial.decide(id, &ProposalVerdict::Approve);
    sound(&trial);
    trial.db().change(|t| t.execute("DELETE FROM runs WHERE function = 'promote'", [])).unwrap();
    let wrong = proposals::check(&trial.db()).unwrap().join("\n");
    assert!(wrong.contains("no run is left to promote it"), "{wrong}");
    let sql = "INSERT INTO decisions (proposal, at, what) VALUES (?1, 1, 'rejected')";
    trial.db().change(|t| t.execute(sql, [id.to_string()])).unwrap();
    let wrong = proposals::check(&trial.db()).unwrap().join("\n");
    assert!(wrong.contains("was decided twice: approved, then rejected"), "{wrong}");
}

struct ScriptedAnswer(Result<String, &'static str>);

impl LanguageModel for ScriptedAnswer {
    fn name(&self) -> &str {
        "test/scripted"
    }

    fn answer(&self, request: &LlmRequest) -> Result<LlmAnswer, llm::Error> {
        assert!(request.prompt.material().contains("proposals"));
        match &self.0 {
            Ok(text) => Ok(LlmAnswer { text: text.clone(), whole: true, usage: None, cost: None }),
            Err(why) => Err(llm::Error::new(FailureOwner::Provider, RetryAdvice::Never, (*why).to_owned())),
        }
    }
}

/// Runs steps without storing their results, and is killed after some.
struct InterruptedTriageSteps(usize);

impl StepRunner for InterruptedTriageSteps {
    fn step(
        &mut self,
        name: &str,
        work: &mut dyn FnMut() -> Result<crate::jobs::queue::StepOutcome, StepError>,
    ) -> Result<serde_json::Value, RunInterrupt> {
        let outcome = work().map_err(|error| RunInterrupt::Failed { step: name.to_owned(), error })?;
        self.0 = self.0.checked_sub(1).ok_or(RunInterrupt::Stopped)?;
        Ok(outcome.result)
    }

    fn run_id(&self) -> &str {
        "r"
    }
}

fn staged() -> Event {
    let (id, name) = ("e".to_owned(), names::PROPOSALS_STAGED.to_owned());
    Event { id, name, data: json!({}), at: Timestamp::UNIX_EPOCH }
}

fn ask_model(trial: &PromoteFixture, model: &ScriptedAnswer) {
    triage_with(
        &staged(),
        &mut InterruptedTriageSteps(99),
        &trial.context,
        TriageModels { triage: Some(model), ..TriageModels::default() },
    )
    .unwrap();
}

#[test]
fn rev_09_a_model_may_reject_but_not_promote() {
    let trial = PromoteFixture::new();
    let passing = trial.propose("Patterns", "The build took four minutes this time.", 0);
    let kept = trial.propose("Patterns", "Releases are cut from the stable branch.", 0);
    let answer = json!({"verdicts": [
        {"id": passing, "outcome": "reject", "reason": "passing"},
        {"id": kept, "outcome": "promote", "reason": "lasting"},
        {"id": "p-20261110-099", "outcome": "promote", "reason": "lasting"},
    ]});
    ask_model(&trial, &ScriptedAnswer(Ok(answer.to_string())));
    assert_eq!(
        (trial.status(passing), trial.status(kept)),
        (ProposalStatus::Rejected, ProposalStatus::Triaged)
    );
    assert_eq!(told(&trial), [("passing".to_owned(), ProposalStatus::Rejected)]);
}

#[test]
fn rev_09_a_model_that_fails_leaves_it_at_the_rules() {
    let trial = PromoteFixture::new();
    let id = trial.propose("Patterns", "Releases are cut from the stable branch.", 0);
    ask_model(&trial, &ScriptedAnswer(Err("it is down")));
    assert_eq!(trial.status(id), ProposalStatus::Triaged);
}

#[test]
fn exe_18_a_triage_that_dies_anywhere_is_finished_by_the_next() {
    for steps in 0..5 {
        let trial = PromoteFixture::with(&[("review.earn", "1")]);
        approve(&trial, 1);
        let own = said(&trial, "Deploy the furnace on Mondays only.");
        let empty = trial.propose("Patterns", "…", 0);
        triage_with(&staged(), &mut InterruptedTriageSteps(steps), &trial.context, TriageModels::default())
            .ok();
        trial.work();
        assert_eq!(
            (trial.status(own), trial.status(empty)),
            (ProposalStatus::Promoted, ProposalStatus::Rejected)
        );
        assert_eq!(trial.log().matches(&format!("promoted by triage `{own}`")).count(), 1, "{steps}");
        assert_eq!(trial.read("MEMORY.md").matches("furnace").count(), 1, "{steps}");
        sound(&trial);
    }
}

/// Returns one grade after the other and records the prompts.
struct ScriptedGrader(std::cell::RefCell<(Vec<&'static str>, Vec<String>)>);

impl LanguageModel for ScriptedGrader {
    fn name(&self) -> &str {
        "test/evaluator"
    }

    fn answer(&self, request: &LlmRequest) -> Result<LlmAnswer, llm::Error> {
        let mut known = self.0.borrow_mut();
        known.1.push(request.prompt.material().to_owned());
        let text = known.0.pop().unwrap_or("I would rather not").to_owned();
        Ok(LlmAnswer { text, whole: true, usage: None, cost: None })
    }
}

#[test]
fn sid_09_inferred_proposals_are_graded_one_by_one_without_effect() {
    let trial = PromoteFixture::new();
    let stated = said(&trial, "Deploy the gateway on Mondays only.");
    let inferred = trial.propose("Patterns", "Releases are cut from the stable branch.", 0);
    let other = trial.propose("Patterns", "The furnace is lit before the shift begins.", 0);
    let evaluator = ScriptedGrader(std::cell::RefCell::new((
        vec!["{\"score\": 7, \"reason\": \"wonderful\"}", r#"{"score": 0, "reason": "Nobody said so."}"#],
        Vec::new(),
    )));
    let asks = TriageModels { grade: Some(&evaluator), ..TriageModels::default() };
    triage_with(&staged(), &mut InterruptedTriageSteps(99), &trial.context, asks).unwrap();
    let grade = |id| proposals::get(&trial.db(), id).unwrap().unwrap().grade;
    let first = grade(inferred).unwrap();
    assert_eq!((first.score, first.reason.as_str()), (0.0, "Nobody said so."));
    assert_eq!(grade(other), None, "a score of 7 is no grade");
    assert_eq!(grade(stated), None, "the person's own words are not graded");
    let shown = &evaluator.0.borrow().1;
    assert_eq!(shown.len(), 2, "a call each: {shown:?}");
    assert!(shown[0].contains("stable branch") && !shown[0].contains("furnace"), "{shown:?}");
    assert_eq!([stated, inferred, other].map(|id| trial.status(id)), [ProposalStatus::Triaged; 3]);
    sound(&trial);
}

//! Tests of the stage in the real runner, killed at every step.

use rekindle_core::base::provenance::Origin;
use rekindle_core::event::names;
use rekindle_core::knowledge::observe::{Finding, FindingKind as Found};
use rekindle_core::knowledge::proposal::ProposalStatus;
use rekindle_testkit::{ScriptedLlm, fixtures};

use super::*;
use crate::jobs::queue::{RunFilter, RunQueue, RunRecord};
use crate::pipeline::observations::ObservationRecord;
use crate::pipeline::observations::tests::entry;
use crate::pipeline::stages::STAGE_REGISTRY;
use crate::pipeline::stages::promote::tests::PromoteFixture;
use crate::platform::disk;
use crate::review::proposals::ProposalVerdict;

const WORDS: &str = "Use pnpm instead of npm in the workspace.";

fn observed(trial: &PromoteFixture, session: usize, text: &str) {
    let finding = Finding {
        messages: vec![format!("m{session}")],
        ..fixtures::finding(Found::Correction, Origin::User, text)
    };
    let observed = fixtures::observed("", vec![finding]);
    let now = trial.context.now();
    let entry =
        ObservationRecord { at: now.timestamp(), ..entry(&format!("s{session}"), now.date(), observed) };
    assert!(observations::add(&mut trial.db(), &entry).unwrap());
}

fn ask(trial: &PromoteFixture) {
    let at = trial.now();
    let id = crate::platform::random::change_id(at).unwrap().to_string();
    let event = Event { id, name: names::FRICTION_REQUESTED.to_owned(), data: json!({}), at };
    RunQueue::new(trial.db()).enqueue(&STAGE_REGISTRY, &[event], at).unwrap();
}

fn last(trial: &PromoteFixture) -> RunRecord {
    let runs = RunQueue::new(trial.db()).history(&RunFilter::default()).unwrap();
    runs.into_iter().find(|run| run.function == FRICTION).unwrap()
}

fn open_gate() -> PromoteFixture {
    PromoteFixture::with(&[("friction.min_observations", "0"), ("friction.min_days", "0")])
}

/// Requirements: FRI-01.
#[test]
fn exe_06_fri_06_a_look_has_its_steps_and_asks_once() {
    let trial = open_gate();
    (0..3).for_each(|session| observed(&trial, session, WORDS));
    ask(&trial);
    trial.work();
    let run = last(&trial);
    let steps: Vec<&str> = run.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["query-observations", "detect-patterns", "propose-fixes", "stage-proposals"]);
    let [proposal] = proposals::open(&trial.db()).unwrap().try_into().unwrap();
    assert_eq!((proposal.text.as_str(), proposal.file()), (WORDS, "MEMORY.md"), "there is no AGENTS.md");
    assert!(proposal.id.to_string().starts_with("f-"));
    let page = trial.read("REVIEW.md");
    let heading = format!(
        "## Friction Fixes (auto-detected {})\n\n- [ ] `{}`",
        trial.context.now().date(),
        proposal.id
    );
    assert!(page.contains(&heading), "{page}");
    ask(&trial);
    trial.work();
    let output = last(&trial).output.unwrap();
    assert!(output["why"].as_str().unwrap().contains("already wait for your decision"), "{output}");
    assert_eq!(proposals::all_proposals(&trial.db()).unwrap().len(), 1);
    trial.decide(proposal.id, &ProposalVerdict::Approve);
    trial.work();
    let memory = trial.read("MEMORY.md");
    assert!(memory.contains(WORDS), "{memory}");
    assert_eq!(trial.status(proposal.id), ProposalStatus::Promoted);
    ask(&trial);
    trial.work();
    assert_eq!(
        proposals::all_proposals(&trial.db()).unwrap().len(),
        1,
        "what was decided is not asked again"
    );
}

/// Requirements: FRI-05.
#[test]
fn fri_04_with_an_agents_file_it_is_a_patch_for_it() {
    let trial = open_gate();
    let file = trial.context.places.identity().join("AGENTS.md");
    disk::create_private_folder(trial.context.places.identity()).unwrap();
    disk::write_atomic(&file, b"# Agents\n").unwrap();
    (0..3).for_each(|session| observed(&trial, session, WORDS));
    ask(&trial);
    trial.work();
    let [proposal] = proposals::open(&trial.db()).unwrap().try_into().unwrap();
    assert_eq!(proposal.identity(), Some("AGENTS.md"));
    trial.decide(proposal.id, &ProposalVerdict::Approve);
    trial.work();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# Agents\n", "IDN-05");
    assert!(crate::review::patches::path(&trial.context.places.patches_folder(), proposal.id).is_file());
    assert_eq!(proposals::check(&trial.db()).unwrap(), [] as [String; 0]);
}

#[test]
fn fri_07_fri_08_a_closed_gate_and_an_empty_week_say_why() {
    let trial = PromoteFixture::new();
    (0..3).for_each(|session| observed(&trial, session, WORDS));
    ask(&trial);
    trial.work();
    assert!(last(&trial).reason.unwrap().contains("friction.min_observations is 100"));
    let trial = open_gate();
    ask(&trial);
    trial.work();
    assert_eq!(last(&trial).output.unwrap()["why"], "nothing was corrected, failed or contradicted");
    observed(&trial, 1, WORDS);
    ask(&trial);
    trial.work();
    let why = last(&trial).output.unwrap()["why"].clone();
    assert_eq!(why, "1 recurring problems found, but 1 occurred in too few sessions");
}

#[test]
fn fri_03_b_01_model_frictions_need_supporting_observations() {
    let trial = open_gate();
    let file = trial.context.places.identity().join("AGENTS.md");
    disk::create_private_folder(trial.context.places.identity()).unwrap();
    disk::write_atomic(&file, b"# Agents\n").unwrap();
    (0..3).for_each(|session| {
        observed(&trial, session, &format!("Run the linter before every commit of part {session}."));
    });
    let at = trial.now();
    let event = Event { id: "e".to_owned(), name: names::FRICTION_REQUESTED.to_owned(), data: json!({}), at };
    let queried = query(&event, &trial.context).unwrap();
    let patterns = detect(&queried.load_week(&trial.context).unwrap().reflection_period(&trial.context));
    let answer = "<proposals>\n## Proposed for: Patterns\n- (2026-11-15) Run the linter before every commit.\n\
        - (2026-11-15) Always deploy from node-99.\n</proposals>";
    let model = ScriptedLlm::new().says(answer);
    let proposed = match_fixes(&queried, &patterns, Some(&model), &trial.context).unwrap();
    assert_eq!(proposed.reported, 1, "what nobody said is no pattern: {proposed:?}");
    let asked = model.requests().remove(0).prompt;
    assert!(format!("{asked:?}").contains("# Agents"), "FRI-03");
    let broken = ScriptedLlm::new().says("I cannot help with that.");
    let proposed = match_fixes(&queried, &patterns, Some(&broken), &trial.context).unwrap();
    assert!(proposed.degraded.is_some() && proposed.by == "rules", "{proposed:?}");
}

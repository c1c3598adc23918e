//! Several machines with a real `redis-server` between them. Each has a database and a vault of its own.

mod simulation;

use rekindle_core::base::time::Date;
use rekindle_core::knowledge::observe::{Finding, ObservedSession, ObservedTopic};
use rekindle_core::knowledge::proposal::ProposalStatus;
use rekindle_core::vault::journal::ChangeActor;

use super::*;
use crate::jobs::shared::contract::redis_process::{RedisProcess, skipped};
use crate::ops::forget::ForgetRequest;
use crate::pipeline::observations::ObservationRecord;
use crate::pipeline::stages::promote::tests::PromoteFixture;
use crate::review::proposals::{DecisionOutcome, ProposalVerdict};

/// A machine that shares through this server.
fn machine(process: &RedisProcess) -> PromoteFixture {
    let settings = process.settings();
    PromoteFixture::with(&[
        ("engines.shared", "redis"),
        ("engines.redis.url", &settings.url),
        ("engines.redis.password_variable", &settings.password_variable),
    ])
}

fn exchanged(machine: &PromoteFixture) -> ExchangeReport {
    let report = exchange(&machine.context).unwrap();
    assert_eq!(report.away, None);
    report
}

/// Adds an observation of today with one finding.
fn observe(machine: &PromoteFixture, session: &str, text: &str) -> ObservationRecord {
    let finding: Finding = serde_json::from_value(json!({
        "kind": "fact", "priority": "high", "when": null, "text": text, "origin": "user", "strength": "explicit",
        "messages": []
    }))
    .unwrap();
    let topic = ObservedTopic { day: None, narrative: format!("About {session}."), findings: vec![finding] };
    let observed = ObservedSession { parts: vec![topic], current_task: None, suggested_response: None };
    let now = machine.context.now();
    let entry = ObservationRecord {
        at: now.timestamp(),
        ..observations::tests::entry(session, now.date(), observed)
    };
    assert!(observations::add(&mut machine.db(), &entry).unwrap());
    entry
}

fn hot_list(machine: &PromoteFixture) -> Vec<String> {
    let today = machine.context.now().date();
    let entries = observations::in_date_range(&machine.db(), Date::MIN, today).unwrap();
    let texts =
        entries.iter().flat_map(|entry| entry.observed.findings()).map(|finding| finding.text.clone());
    // `forget` empties a text and keeps its place.
    texts.filter(|text| !text.is_empty()).collect()
}

fn lines_of(machine: &PromoteFixture, text: &str) -> usize {
    machine.read("MEMORY.md").matches(text).count()
}

fn is_sound(machines: &[&PromoteFixture]) {
    for machine in machines {
        assert_eq!(proposals::check(&machine.db()).unwrap(), Vec::<String>::new());
    }
}

#[test]
fn b_16_sto_01_sto_02_observations_reach_every_machine_once() {
    let Some(process) = RedisProcess::start(&[]) else { return skipped() };
    let (one, two) = (machine(&process), machine(&process));
    let entry = observe(&one, "s1", "The staging host is hermes.");
    observe(&two, "s2", "Builds use make.");
    assert_eq!(exchanged(&one).observations_sent, 1);
    let report = exchanged(&two);
    assert_eq!((report.observations_sent, report.observations_received), (1, 1));
    assert_eq!(exchanged(&one).observations_received, 1);
    for machine in [&one, &two] {
        let mut list = hot_list(machine);
        list.sort();
        assert_eq!(list, ["Builds use make.", "The staging host is hermes."]);
        assert_eq!(exchanged(machine), ExchangeReport::default(), "nothing is repeated");
    }
    let arrived = observations::in_session(&two.db(), "s1").unwrap().remove(0);
    assert_eq!(arrived.observed, entry.observed);
    let gated = observations::gate_verdicts(&two.db(), Date::MIN, Date::MAX).unwrap();
    assert_eq!(gated.values().map(|counts| counts.judged).sum::<u64>(), 0, "counted where it was made");
    let text = process.everything();
    for field in [
        "dedupeKey",
        "sessionId",
        "trigger",
        "priority",
        "observations",
        "timestamp",
        "tokenCount",
        "schemaVersion",
    ] {
        assert!(text.contains(field), "STO-02 {field}: {text}");
    }
}

#[test]
fn b_16_rev_14_a_proposal_is_decided_on_any_machine_and_carried_out_once() {
    let Some(process) = RedisProcess::start(&[]) else { return skipped() };
    let (one, two) = (machine(&process), machine(&process));
    let approved = one.propose("Patterns", "Use tabs.", 0);
    let rejected = one.propose("Patterns", "Deploy on Mondays.", 0);
    assert_eq!(exchanged(&one).proposals_sent, 2);
    assert_eq!(exchanged(&two).proposals_received.len(), 2);
    assert_eq!(two.standing(approved).proposal.text, "Use tabs.");
    two.refresh();
    assert!(two.read("REVIEW.md").contains(&approved.to_string()), "{}", two.read("REVIEW.md"));

    assert_eq!(two.decide(approved, &ProposalVerdict::Approve), DecisionOutcome::Now);
    assert_eq!(two.decide(rejected, &ProposalVerdict::Reject), DecisionOutcome::Now);
    two.work();
    assert_eq!((two.status(approved), lines_of(&two, "Use tabs.")), (ProposalStatus::Promoted, 1));

    // The other machine has not heard of it and decides otherwise.
    assert_eq!(one.decide(approved, &ProposalVerdict::Reject), DecisionOutcome::Now);
    assert_eq!(one.decide(rejected, &ProposalVerdict::Approve), DecisionOutcome::Now);
    one.work();
    assert_eq!(one.status(approved), ProposalStatus::Promoted, "the first decision counts");
    assert_eq!(one.status(rejected), ProposalStatus::Rejected);
    assert_eq!(one.read("MEMORY.md").matches("<!-- p-").count(), 0, "the other machine writes the line");
    assert!(one.standing(approved).note.unwrap().starts_with("decided on the machine "));
    exchanged(&one);
    exchanged(&two);
    is_sound(&[&one, &two]);
}

#[test]
fn b_16_gen_03_a_decision_waits_while_the_server_is_away_and_only_one_is_carried_out() {
    let Some(mut process) = RedisProcess::start(&["--appendonly", "yes", "--appendfsync", "always"]) else {
        return skipped();
    };
    let (one, two) = (machine(&process), machine(&process));
    let id = one.propose("Patterns", "Use tabs.", 0);
    exchanged(&one);
    exchanged(&two);
    process.kill();
    one.decide(id, &ProposalVerdict::Reject);
    two.decide(id, &ProposalVerdict::Approve);
    for machine in [&one, &two] {
        machine.work();
        assert_eq!(lines_of(machine, "Use tabs."), 0);
        let away = exchange(&machine.context).unwrap().away.unwrap();
        assert!(away.contains("cannot be reached"), "{away}");
        let state = servers::known(&machine.db()).unwrap().remove(0);
        assert!(state.is_paused(machine.now()) && state.problem.is_some());
        assert_eq!(request(&mut machine.db(), &machine.context.config.engines, machine.now()).unwrap(), None);
    }
    is_sound(&[&one, &two]);
    process.restart();
    let report = exchanged(&two);
    assert_eq!((report.won, report.server_lost_data), (vec![id], false));
    two.work();
    assert_eq!((two.status(id), lines_of(&two, "Use tabs.")), (ProposalStatus::Promoted, 1));
    assert_eq!(exchanged(&one).settled, [id]);
    one.work();
    assert_eq!((one.status(id), lines_of(&one, "Use tabs.")), (ProposalStatus::Promoted, 0));
    is_sound(&[&one, &two]);
}

#[test]
fn b_16_a_server_that_comes_back_empty_is_filled_again() {
    let Some(mut process) = RedisProcess::start(&[]) else { return skipped() };
    let (one, two) = (machine(&process), machine(&process));
    observe(&one, "s1", "The staging host is hermes.");
    let open = one.propose("Patterns", "Use tabs.", 0);
    let decided = one.propose("Patterns", "Deploy on Mondays.", 0);
    exchanged(&one);
    one.decide(decided, &ProposalVerdict::Approve);
    one.work();
    // Two exchanges, so that the number there falls.
    exchanged(&one);
    process.kill();
    process.restart();
    let report = exchanged(&one);
    assert!(report.server_lost_data);
    assert_eq!((report.observations_sent, report.proposals_sent), (1, 1));
    let report = exchanged(&two);
    assert_eq!((report.observations_received, report.proposals_received), (1, vec![open]));
    let server = process.server();
    assert!(server.decisions(&[decided.to_string()]).unwrap()[0].is_some(), "the decision is there again");
}

#[test]
fn b_16_rev_14_a_worker_that_dies_after_the_answer_of_the_server_is_still_the_first() {
    let Some(process) = RedisProcess::start(&[]) else { return skipped() };
    let one = machine(&process);
    let id = one.propose("Patterns", "Use tabs.", 0);
    exchanged(&one);
    one.decide(id, &ProposalVerdict::Edit("Use tabs everywhere.".to_owned()));
    // The server has the decision, and this machine does not know it.
    let own = proposals::shared_decision(&mut one.db(), &one.standing(id)).unwrap().unwrap();
    let claimed = process.server().decide(id, own.status.as_str(), &json!(own).to_string()).unwrap();
    assert_eq!(claimed, DecisionClaim::Won);
    // Killed after each step.
    for steps in 0..5 {
        one.killed_after(steps);
    }
    one.work();
    assert_eq!((one.status(id), lines_of(&one, "Use tabs everywhere.")), (ProposalStatus::Promoted, 1));
    assert_eq!(proposals::decision_state(&one.db(), id).unwrap(), Some(State::Won));
    is_sound(&[&one]);
}

#[test]
fn b_16_rev_14_a_machine_from_a_backup_of_another_is_another_machine() {
    let Some(process) = RedisProcess::start(&[]) else { return skipped() };
    let (one, two) = (machine(&process), machine(&process));
    let id = one.propose("Patterns", "Use tabs.", 0);
    exchanged(&one);
    exchanged(&two);
    let letters = proposals::own_machine(&mut one.db()).unwrap().to_string();
    two.db().change(|t| t.execute("UPDATE machine SET name = ?1", [letters])).unwrap();
    one.decide(id, &ProposalVerdict::Approve);
    two.decide(id, &ProposalVerdict::Approve);
    one.work();
    two.work();
    assert_eq!((lines_of(&one, "Use tabs."), lines_of(&two, "Use tabs.")), (1, 0), "carried out once");
    is_sound(&[&one, &two]);
}

#[test]
fn b_08_b_16_what_is_forgotten_leaves_the_server_also_when_that_was_away() {
    let Some(mut process) = RedisProcess::start(&["--appendonly", "yes", "--appendfsync", "always"]) else {
        return skipped();
    };
    let (one, two) = (machine(&process), machine(&process));
    let secret = "The staging host is hermes in rack nine.";
    observe(&one, "s1", secret);
    observe(&one, "s2", "Builds use make.");
    one.propose("Patterns", secret, 0);
    exchanged(&one);
    exchanged(&two);
    process.kill();
    let vault = one.context.vault().unwrap();
    let forgotten = vault.forget(ForgetRequest::Text(secret), ChangeActor::User, &one.context.now());
    let error = forgotten.unwrap_err().to_string();
    assert!(error.contains(&process.settings().url), "it names the server: {error}");
    assert_eq!(hot_list(&one), ["Builds use make."], "everything here is erased at once");
    process.restart();
    assert!(process.everything().contains("hermes"));
    exchanged(&one);
    assert!(!process.everything().contains("hermes"), "{}", process.everything());
    assert_eq!(vault.unfinished_forgets(), 0);
    // The tombstones travel with the notes.
    let stones = one.read("_meta/tombstones.jsonl");
    assert!(!stones.is_empty());
    crate::platform::disk::create_private_folder(&two.context.places.vault().join("_meta")).unwrap();
    two.put("_meta/tombstones.jsonl", &stones);
    exchanged(&two);
    assert_eq!(hot_list(&two), ["Builds use make."]);
    assert!(proposals::open(&two.db()).unwrap().is_empty());
    assert!(!process.everything().contains("hermes"), "nothing brings it back");
    // What a machine publishes in ignorance goes when it hears of it.
    let three = machine(&process);
    observe(&three, "s3", secret);
    three.propose("Patterns", secret, 0);
    exchanged(&three);
    assert!(process.everything().contains("hermes"));
    crate::platform::disk::create_private_folder(&three.context.places.vault().join("_meta")).unwrap();
    three.put("_meta/tombstones.jsonl", &stones);
    exchanged(&three);
    assert!(!process.everything().contains("hermes"), "{}", process.everything());
    assert!(hot_list(&three) == ["Builds use make."] && proposals::open(&three.db()).unwrap().is_empty());
}

#[test]
fn sto_03_sto_04_locks_hold_on_every_machine_and_a_server_that_is_away_has_no_say() {
    let Some(mut process) = RedisProcess::start(&[]) else { return skipped() };
    let (one, two) = (machine(&process), machine(&process));
    let take = |machine: &PromoteFixture, name: &str, token: &str| {
        machine.context.take_lock(name, token, 3600).unwrap()
    };
    assert!(take(&one, "memory:observe:lock:a", "run one"));
    assert!(take(&one, "memory:observe:lock:a", "run one"), "a repeated step");
    assert!(!take(&two, "memory:observe:lock:a", "run two"));
    let held = [("memory:observe:lock:a".to_owned(), "run one".to_owned())];
    one.context.release_locks(&held).unwrap();
    assert!(take(&two, "memory:observe:lock:b", "run two"));
    assert!(!take(&one, "memory:observe:lock:b", "run one"));
    process.kill();
    assert!(take(&one, "memory:observe:lock:c", "run one"), "this machine works alone");
    let began = std::time::Instant::now();
    assert!(take(&one, "memory:observe:lock:d", "run one"));
    assert!(
        began.elapsed() < std::time::Duration::from_secs(1),
        "a server that failed is left alone for a while"
    );
}

#[test]
fn gen_03_without_a_server_waiting_decisions_are_carried_out() {
    let Some(process) = RedisProcess::start(&[]) else { return skipped() };
    let mut one = machine(&process);
    let id = one.propose("Patterns", "Use tabs.", 0);
    drop(process);
    one.decide(id, &ProposalVerdict::Approve);
    one.work();
    assert_eq!(one.status(id), ProposalStatus::Approved);
    one.context.config.engines.shared = rekindle_core::config::SharedEngineName::Embedded;
    resume_without_server(&mut one.db(), &one.context.config.engines, one.now()).unwrap();
    one.work();
    assert_eq!((one.status(id), lines_of(&one, "Use tabs.")), (ProposalStatus::Promoted, 1));
    is_sound(&[&one]);
}

#[test]
fn b_03_b_16_what_another_machine_sends_is_redacted_and_checked() {
    let Some(process) = RedisProcess::start(&[]) else { return skipped() };
    let one = machine(&process);
    let token = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");
    let today = one.context.now().date();
    let entry = observations::tests::entry(
        "s9",
        today,
        ObservedSession {
            parts: vec![ObservedTopic {
                day: None,
                narrative: format!("Push with {token}."),
                findings: Vec::new(),
            }],
            ..ObservedSession::default()
        },
    );
    let server = process.server();
    server.append(today, "key-s9", &elsewhere::shared_json(&entry, "zzzz").to_string()).unwrap();
    for (key, rubbish) in [("r1", "{"), ("r2", "{}"), ("r3", "[1]"), ("r4", "\u{0}")] {
        server.append(today, key, rubbish).unwrap();
    }
    process.command(&["RPUSH", "memory:review:pending", "not an id", "p-20261110-001-zzzz"]);
    assert_eq!(exchanged(&one).observations_received, 1);
    let arrived = observations::in_session(&one.db(), "s9").unwrap().remove(0);
    assert_eq!(arrived.observed.parts[0].narrative, "Push with [redacted:github-token].");
}

//! Three machines that propose, decide and exchange at random, while the server is killed. At the end they agree, and no
//! proposal was carried out twice.

use super::*;
use crate::platform::environment;

/// A small generator, so that a failure can be repeated by its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit).unwrap()
    }
}

/// Exchanges as a worker does, also during a pause.
fn meet(machine: &PromoteFixture) {
    exchange(&machine.context).unwrap();
    machine.work();
}

/// Returns false if there is no server to use.
fn simulate(seed: u64, steps: usize) -> bool {
    let Some(mut process) = RedisProcess::start(&["--appendonly", "yes", "--appendfsync", "always"]) else {
        return false;
    };
    let machines = [machine(&process), machine(&process), machine(&process)];
    let (mut dice, mut ids, mut is_up) = (Dice(seed), Vec::new(), true);
    for step in 0..steps {
        let machine = &machines[dice.below(3)];
        match dice.below(12) {
            0..=2 => ids.push(machine.propose("Patterns", &format!("Rule {seed} {step} of the house."), 0)),
            3..=6 if !ids.is_empty() => {
                let id = ids[dice.below(ids.len() as u64)];
                let verdict = [ProposalVerdict::Approve, ProposalVerdict::Reject][dice.below(2)].clone();
                machine.decide(id, &verdict);
                machine.work();
            }
            7..=9 => meet(machine),
            10 if is_up => {
                process.kill();
                is_up = false;
            }
            11 if !is_up => {
                process.restart();
                is_up = true;
            }
            _ => {}
        }
    }
    if !is_up {
        process.restart();
    }
    for _ in 0..3 {
        machines.iter().for_each(meet);
    }
    for id in ids {
        let of = |machine: &PromoteFixture| proposals::get(&machine.db(), id).unwrap();
        // A proposal that ended before another machine heard of it is unknown there.
        let known: Vec<Proposal> = machines.iter().filter_map(of).collect();
        // Triage of one machine says nothing to the others.
        let status = |proposal: &Proposal| match proposal.status {
            ProposalStatus::Triaged => ProposalStatus::Pending,
            status => status,
        };
        let statuses: Vec<ProposalStatus> = known.iter().map(status).collect();
        assert!(statuses.windows(2).all(|two| two[0] == two[1]), "seed {seed}, {id}: {statuses:?}");
        let written: usize = machines.iter().map(|machine| lines_of(machine, &known[0].text)).sum();
        let expected = usize::from(statuses[0] == ProposalStatus::Promoted);
        assert_eq!(written, expected, "seed {seed}, {id}: {statuses:?}");
    }
    is_sound(&machines.iter().collect::<Vec<_>>());
    true
}

#[test]
fn b_16_rev_14_three_machines_agree_after_kills_and_partitions() {
    let seeds =
        environment::variable("REKINDLE_MODEL_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(2);
    if !(1..=seeds).all(|seed| simulate(seed, 120)) {
        skipped();
    }
}

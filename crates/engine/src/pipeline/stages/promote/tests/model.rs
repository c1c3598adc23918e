//! Model test: whatever people, workers, editors and kills do in any order, each proposal has one end, and no
//! byte that a person wrote is lost.

use std::collections::HashMap;
use std::path::PathBuf;

use proptest::prelude::*;
use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::knowledge::proposal::ProposalTarget;

use super::super::*;
use super::PromoteFixture;
use crate::review::proposals::DecisionOutcome;

#[derive(Clone, Debug)]
enum PromoteAction {
    Approve(usize),
    Reject(usize),
    Edit(usize),
    TakeBack(usize),
    Tick(usize, &'static str),
    Delete(usize),
    Reword(usize),
    Empty,
    OldCopy,
    Note,
    MyMemory(usize),
    Look,
    Refresh,
    Work,
    Killed(usize),
    Clock,
    /// A day and an hour pass, in the person's zone.
    Days,
}

/// The proposals: lines of MEMORY.md, a new version of a memory, and a project made from an idea.
const TEXTS: [&str; 8] = [
    "Use tabs for indentation.",
    "Deploy on Mondays only.",
    "Write the tests first.",
    "Ask before a migration runs.",
    "Keep answers to the point.",
    "The queue lives in SQLite.",
    "The staging database listens on port 6432.",
    "Make the idea a project.",
];
/// The indices of the last two.
const EVOLVES: usize = 6;
const PROJECT: usize = 7;
const BEFORE: &str = "The staging database listens on port 5432.";
const IDEA: &str = "Poll with epoll";

fn action() -> impl Strategy<Value = PromoteAction> {
    let one = 0..TEXTS.len();
    prop_oneof![
        one.clone().prop_map(PromoteAction::Approve),
        one.clone().prop_map(PromoteAction::Reject),
        one.clone().prop_map(PromoteAction::Edit),
        one.clone().prop_map(PromoteAction::TakeBack),
        (one.clone(), prop_oneof![Just("x"), Just("-")])
            .prop_map(|(one, mark)| PromoteAction::Tick(one, mark)),
        one.clone().prop_map(PromoteAction::Delete),
        one.clone().prop_map(PromoteAction::Reword),
        Just(PromoteAction::Empty),
        Just(PromoteAction::OldCopy),
        Just(PromoteAction::Note),
        one.prop_map(PromoteAction::MyMemory),
        Just(PromoteAction::Look),
        Just(PromoteAction::Look),
        Just(PromoteAction::Refresh),
        Just(PromoteAction::Work),
        (0..6usize).prop_map(PromoteAction::Killed),
        Just(PromoteAction::Clock),
        Just(PromoteAction::Days),
        Just(PromoteAction::Days),
    ]
}

/// The history of a run, and the facts that must follow from it.
struct PromoteModelRun {
    fixture: PromoteFixture,
    ids: Vec<ProposalId>,
    /// The path of the memory and its first text.
    entry: (String, String),
    /// The folder of the project.
    project: PathBuf,
    /// The first decision on each proposal.
    first: HashMap<ProposalId, ProposalStatus>,
    /// The number of reversals of each decision.
    taken_back: HashMap<ProposalId, usize>,
    /// The lines that the person wrote to MEMORY.md.
    own_lines: Vec<String>,
    pages: Vec<String>,
    /// The offset of the current zone in hours.
    hours: i8,
}

/// The first day is two days before the last.
const FIRST_DAY: i8 = -25;

impl PromoteModelRun {
    fn new() -> Self {
        let mut fixture = PromoteFixture::with(&[("review.per_day", "4")]);
        fixture.travel(FIRST_DAY);
        let path = fixture.memory("staging db", BEFORE);
        let entry = (path.clone(), fixture.read(&path));
        let slug = fixture.idea(IDEA);
        let project = fixture.context.places.vault().join("personal-projects").join(&slug);
        // Half of them are old enough to expire.
        let ids = TEXTS.iter().enumerate().map(|(number, text)| match number {
            EVOLVES => fixture.aim_at(&ProposalTarget::Entry(path.clone()), text, Some(BEFORE)),
            PROJECT => fixture.aim_at(&ProposalTarget::Idea(slug.clone()), text, None),
            _ => {
                let section = if number % 3 == 0 { "No Such Section" } else { "Patterns" };
                fixture.propose(section, text, if number % 2 == 0 { 9 } else { 0 })
            }
        });
        let ids = ids.collect();
        fixture.refresh();
        Self {
            fixture,
            ids,
            entry,
            project,
            first: HashMap::new(),
            taken_back: HashMap::new(),
            own_lines: Vec::new(),
            pages: Vec::new(),
            hours: FIRST_DAY,
        }
    }

    fn page(&mut self, change: impl Fn(String) -> String) {
        let page = self.fixture.read("REVIEW.md");
        self.fixture.put("REVIEW.md", &change(page.clone()));
        self.pages.push(page);
    }

    fn decided(&mut self, id: ProposalId, decided: &DecisionOutcome) {
        if *decided == DecisionOutcome::Now {
            let status = match self.fixture.status(id) {
                ProposalStatus::Approved | ProposalStatus::Edited => ProposalStatus::Promoted,
                status => status,
            };
            assert_eq!(self.first.insert(id, status), None, "{id} was decided twice");
        }
    }

    fn act(&mut self, action: &PromoteAction) {
        match action {
            PromoteAction::Approve(one) => self.command(*one, &ProposalVerdict::Approve),
            PromoteAction::Reject(one) => self.command(*one, &ProposalVerdict::Reject),
            PromoteAction::Edit(one) => {
                self.command(*one, &ProposalVerdict::Edit(format!("Mine: {}", TEXTS[*one])));
            }
            PromoteAction::TakeBack(one) => {
                let id = self.ids[*one];
                let decided = self.first.contains_key(&id);
                // Lines that the person wrote nearby may block the reversal; then nothing changes.
                let answer = self.fixture.try_to_take_back(id);
                let waits = matches!(answer, Ok(ReconsiderOutcome::Waiting));
                assert!(waits == decided || answer.is_err(), "{id}: {answer:?}");
                if waits {
                    self.first.remove(&id);
                    *self.taken_back.entry(id).or_default() += 1;
                }
            }
            PromoteAction::Tick(one, mark) => {
                let id = self.ids[*one];
                self.page(|page| page.replace(&format!("- [ ] `{id}"), &format!("- [{mark}] `{id}")));
            }
            PromoteAction::Delete(one) => {
                let id = self.ids[*one].to_string();
                let keep = |page: String| {
                    let kept = page.lines().filter(|line| !line.contains(&id));
                    kept.map(|line| format!("{line}\n")).collect()
                };
                self.page(keep);
            }
            PromoteAction::Reword(one) => self.page(|page| page.replace(TEXTS[*one], "In other words.")),
            PromoteAction::Empty => self.page(|_| String::new()),
            PromoteAction::OldCopy => {
                if let Some(old) = self.pages.first().cloned() {
                    self.page(|_| old.clone());
                }
            }
            PromoteAction::Note => self.page(|page| format!("My note.\n\n{page}")),
            PromoteAction::MyMemory(number) => {
                let line = format!("- Mine, number {} of {number}", self.own_lines.len());
                self.fixture.put("MEMORY.md", &format!("{}{line}\n", self.fixture.read("MEMORY.md")));
                self.own_lines.push(line);
            }
            PromoteAction::Look => {
                let look = read_review_decisions(&self.fixture.context).unwrap();
                for (id, decided) in &look.decided {
                    self.decided(*id, decided);
                }
            }
            PromoteAction::Refresh => {
                self.fixture.refresh();
            }
            PromoteAction::Work => self.fixture.work(),
            PromoteAction::Killed(steps) => self.fixture.killed_after(*steps),
            PromoteAction::Clock => self.fixture.clock(),
            PromoteAction::Days => {
                self.hours = (self.hours - FIRST_DAY).min(-FIRST_DAY);
                self.fixture.travel(self.hours);
            }
        }
        self.archived();
    }

    fn command(&mut self, one: usize, verdict: &ProposalVerdict) {
        let decided = self.fixture.decide(self.ids[one], verdict);
        self.decided(self.ids[one], &decided);
    }

    /// Records the proposals that the schedule expired.
    fn archived(&mut self) {
        for id in self.ids.clone() {
            let standing = self.fixture.standing(id);
            if standing.by == Some(DecidedBy::Clock) {
                assert!(
                    matches!(
                        self.first.insert(id, ProposalStatus::Expired),
                        None | Some(ProposalStatus::Expired)
                    ),
                    "{id}"
                );
            }
        }
    }

    fn check(&self) {
        let (memory, log) = (self.fixture.read("MEMORY.md"), self.fixture.log());
        for (number, (id, text)) in self.ids.iter().zip(TEXTS).enumerate() {
            let status = self.fixture.status(*id);
            // Triage leaves these to the person and skips reopened ones.
            let taken_back = self.taken_back.contains_key(id);
            let open = if taken_back { ProposalStatus::Pending } else { ProposalStatus::Triaged };
            assert_eq!(status, self.first.get(id).copied().unwrap_or(open), "{id}");
            let receipts =
                ["promoted", "rejected", "expired"].map(|end| log.matches(&format!("{end} `{id}")).count());
            let expected = match status {
                ProposalStatus::Promoted => [1, 0, 0],
                ProposalStatus::Rejected => [0, 1, 0],
                ProposalStatus::Expired => [0, 0, 1],
                _ => [0, 0, 0],
            };
            let undone = log.matches(&format!("undone `{id}")).count();
            assert_eq!(undone, self.taken_back.get(id).copied().unwrap_or(0), "{id}: {log}");
            // Every end but the last was reverted.
            assert_eq!(
                receipts.iter().sum::<usize>() - undone,
                expected.iter().sum::<usize>(),
                "{id}: {log}"
            );
            if undone == 0 {
                assert_eq!(receipts, expected, "{id} is {status:?}: {log}");
            }
            // In order of time: an end, a reversal, an end.
            let said = log.lines().filter(|line| line.contains(&format!("`{id}")));
            let said: Vec<bool> = said.map(|line| line.starts_with("* undone")).collect();
            assert!(said.iter().enumerate().all(|(at, undone)| *undone == (at % 2 == 1)), "{id}: {log}");
            let promoted = status == ProposalStatus::Promoted;
            if number == EVOLVES {
                let (path, before) = &self.entry;
                let now = self.fixture.read(path);
                assert!(promoted || now == *before, "{id} is {status:?}: {now}");
                let says = now.contains(text) || now.contains("In other words.");
                assert!(!promoted || says && !now.contains(BEFORE), "{now}");
                continue;
            }
            if number == PROJECT {
                assert_eq!(self.project.join("_index.md").exists(), promoted, "{id} is {status:?}");
                assert_eq!(self.fixture.read("../Ideas.md").contains("→ promoted"), promoted, "{id}");
                continue;
            }
            let marked = [format!("<!-- {id}"), format!("^{id}")]
                .map(|mark| memory.matches(&mark).count())
                .iter()
                .sum::<usize>();
            let marked = marked + usize::from(marked == 0 && memory.contains(&format!(" {id}")));
            assert_eq!(marked, usize::from(promoted), "{id} is {status:?}: {memory}");
            let says = memory.contains(text) || memory.contains("In other words.");
            assert!(!promoted || says, "{text} in {memory}");
        }
        let mut rest = memory.as_str();
        for line in &self.own_lines {
            let at = rest.find(line.as_str()).unwrap_or_else(|| panic!("`{line}` is lost: {memory}"));
            rest = &rest[at + line.len()..];
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn ver_09_rev_14_every_proposal_ends_once_and_nothing_is_lost(actions in prop::collection::vec(action(), 1..24)) {
        let mut run = PromoteModelRun::new();
        for action in &actions {
            run.act(action);
        }
        run.fixture.work();
        run.archived();
        run.check();
    }
}

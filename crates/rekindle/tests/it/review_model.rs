//! A model test of proposals through the real binary. People, editors, sync, Todoist, Telegram, other
//! programs, triage, the clock and kills act on proposals in random order. Each proposal waits or has exactly
//! one outcome, and no byte that a person wrote into MEMORY.md or AGENTS.md is lost (VER-09, REV-14, IDN-05).

use std::collections::BTreeMap;
use std::fs;

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::{Date, Timestamp};
use rekindle_core::knowledge::proposal::{Proposal, ProposalStatus, ProposalTarget};
use rekindle_core::vault::daily_log::{self, LogSection, ProposalEnd};
use rekindle_core::vault::review::{ProposalId, ProposalPlace};
use rekindle_engine::pipeline::stages::STAGE_REGISTRY;
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::proposals::{self, SubmitOutcome};
use rekindle_testkit::faults::{self, PlannedFault};
use rekindle_testkit::{
    CommandResult, Sandbox, ServerReply, TELEGRAM_TOKEN, TODOIST_KEY, TelegramServer, TestCommand,
    TodoistServer, fixtures,
};
use serde_json::{Value, json};

use crate::surfaces::later;
use crate::{sandbox, save, text};

/// A deterministic random generator, so that a seed gives the same sequence on every machine.
struct ReviewModelRng(u64);

impl ReviewModelRng {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// Texts of proposals, some nearly equal.
const TEXTS: [&str; 10] = [
    "Always run the tests with the release profile.",
    "Always run tests with the release profile",
    "Deploy the gateway on Mondays only.",
    "Write the tests before the code.",
    "Ask before a migration of the database runs.",
    "Ask before any migration of the database runs",
    "Keep answers short and to the point.",
    "The queue of the workers lives in SQLite.",
    "Name every branch after its ticket.",
    "…",
];

/// The idea that may become a project.
const IDEA: &str = "poll-with-epoll";

/// The Telegram chat.
const CHAT: i64 = 4242;

struct ReviewModelRun {
    sandbox: Sandbox,
    todoist: TodoistServer,
    telegram: TelegramServer,
    /// The path of a memory that proposals are about.
    entry: String,
    /// Button presses, for replay.
    presses: Vec<Value>,
    /// The lines that the person wrote to AGENTS.md.
    mine_for_agents: Vec<String>,
    dice: ReviewModelRng,
    ids: Vec<ProposalId>,
    /// The lines that the person wrote to MEMORY.md.
    mine: Vec<String>,
    /// Earlier versions of the page.
    pages: Vec<String>,
    /// The outcome of each proposal at the last check, and whether anything was undone since.
    ended: BTreeMap<ProposalId, ProposalStatus>,
    taken_back: bool,
    kills: usize,
    /// The index of the current day in `DAYS`.
    day: usize,
}

/// Time zones a day apart: the person's date selects the log of the day.
const DAYS: [&str; 3] = ["FIRST24:59", "UTC", "LAST-24:59"];

impl ReviewModelRun {
    fn new(seed: u64) -> Self {
        let sandbox = sandbox();
        for (key, value) in [("capture.background", "false"), ("review.earn", "2"), ("review.per_day", "4")] {
            sandbox.rekindle(&["config", "set", key, value]).run().ok();
        }
        let entry = text(&save(&sandbox, "fix", "pump", "The pump of the line is blue."), "path").to_owned();
        let idea = ["ideas", "add", "Poll with epoll", "--summary", "Something to try one day."];
        sandbox.rekindle(&idea).run().ok();
        let (todoist, telegram) = (TodoistServer::default(), TelegramServer::default());
        let walk = Self {
            sandbox,
            todoist,
            telegram,
            entry,
            presses: Vec::new(),
            mine_for_agents: Vec::new(),
            dice: ReviewModelRng(seed),
            ids: Vec::new(),
            mine: Vec::new(),
            pages: Vec::new(),
            ended: BTreeMap::new(),
            taken_back: false,
            kills: 0,
            day: 0,
        };
        walk.run(&["review", "connect", "todoist", "--url", walk.todoist.url(), "--yes"]).ok();
        let chat = ["--chat", "4242", "--yes"];
        walk.run(&[&["review", "connect", "telegram", "--url", walk.telegram.url()], &chat[..]].concat())
            .ok();
        walk
    }

    fn command(&self, arguments: &[&str]) -> TestCommand {
        let command = self.sandbox.rekindle(arguments).env("TODOIST_API_TOKEN", TODOIST_KEY);
        command.env("TELEGRAM_BOT_TOKEN", TELEGRAM_TOKEN).env("TZ", DAYS[self.day])
    }

    fn db(&self) -> Database {
        Database::open(&self.sandbox.state().join("rekindle.db")).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> CommandResult {
        let output = self.command(arguments).run();
        assert!(!output.stderr.contains("panicked"), "{arguments:?}: {}", output.stderr);
        output
    }

    fn work(&self) {
        later(&self.sandbox);
        self.run(&["worker", "--once"]).ok();
    }

    /// Runs a command and kills it at a step of its disk work, if it gets that far.
    fn killed(&mut self, arguments: &[&str]) {
        let (at, after) = (1 + self.dice.roll(120), self.dice.roll(2) == 0);
        later(&self.sandbox);
        let command = self.command(arguments);
        let fault = if after { PlannedFault::kill_after(at) } else { PlannedFault::kill(at) };
        if faults::available().is_ok() {
            self.kills += usize::from(faults::run(&command, fault).fault.is_some());
        }
        // The page may stay unread for days.
        if self.dice.roll(2) == 0 {
            self.day = DAYS.len() - 1;
        }
    }

    fn propose(&mut self) {
        let words = TEXTS[self.dice.roll(TEXTS.len())];
        let (origin, explicit) =
            [(Origin::User, true), (Origin::User, false), (Origin::Tool, true)][self.dice.roll(3)];
        let age = std::time::Duration::from_secs(3600 * (1 + 24 * 9 * self.dice.roll(2) as u64));
        #[expect(clippy::disallowed_methods, reason = "the binary under test goes by the same clock")]
        let created = Timestamp::now() - age;
        let day = Date::constant(2026, 11, 14);
        let section = ["Patterns", "Hard Rules", "No Such Section"][self.dice.roll(3)];
        let target = match self.dice.roll(5) {
            0 | 1 => Some((ProposalTarget::Identity("AGENTS.md".to_owned()), "AGENTS.md".to_owned())),
            2 => Some((ProposalTarget::Entry(self.entry.clone()), self.entry.clone())),
            3 => Some((ProposalTarget::Idea(IDEA.to_owned()), "Ideas.md".to_owned())),
            _ => None,
        };
        let proposal = Proposal {
            place: ProposalPlace::Section(
                target.as_ref().map_or(section, |(_, name)| name.as_str()).to_owned(),
            ),
            target: target.map(|(target, _)| target),
            origin,
            explicit,
            confidence: 0.8,
            ..fixtures::proposal(day, created, words)
        };
        let run = format!("run-{}", self.dice.roll(1_000_000));
        if let SubmitOutcome::Proposed(id) =
            proposals::submit(&mut self.db(), &STAGE_REGISTRY, &run, &[proposal]).unwrap().remove(0)
        {
            self.ids.push(id);
        }
    }

    fn any(&mut self) -> String {
        let one = self.dice.roll(self.ids.len());
        self.ids[one].to_string()
    }

    fn page(&mut self, change: impl Fn(&str) -> String) {
        let path = self.sandbox.vault().join("REVIEW.md");
        let Ok(page) = fs::read_to_string(&path) else { return };
        fs::write(&path, change(&page)).unwrap();
        self.pages.push(page);
    }

    fn act(&mut self) {
        if self.ids.is_empty() || self.dice.roll(4) == 0 {
            return self.propose();
        }
        let id = self.any();
        match self.dice.roll(30) {
            0 | 1 => drop(self.run(&["approve", &id])),
            2 => drop(self.run(&["reject", &id])),
            3 => drop(self.run(&["edit", &id, "--text", &format!("In my words, about {id}.")])),
            4 => self.page(|page| page.replace(&format!("- [ ] `{id}`"), &format!("- [x] `{id}`"))),
            5 => self.page(|page| page.replace(&format!("- [ ] `{id}`"), &format!("- [-] `{id}`"))),
            6 => self.page(|page| {
                let kept = page.lines().filter(|line| !line.contains(&id));
                kept.map(|line| format!("{line}\n")).collect()
            }),
            7 => self.page(|page| page.chars().take(page.chars().count() / 2).collect()),
            8 => {
                if let Some(old) = self.pages.first().cloned() {
                    self.page(|_| old.clone());
                }
            }
            9 => self.page(|page| format!("A note of mine.\n\n{page}")),
            10 => {
                let path = self.sandbox.vault().join("REVIEW.md");
                if path.exists() {
                    fs::remove_file(path).unwrap();
                }
            }
            11 => {
                let name = ["memory/proposal.approved", "memory/proposal.rejected"][self.dice.roll(2)];
                let data = format!("{{\"proposalId\": \"{id}\"}}");
                self.run(&["send", name, "--data", &data]).ok();
            }
            12 => self.clock(),
            13 => {
                self.taken_back = true;
                match self.dice.roll(2) {
                    0 => drop(self.run(&["undo"])),
                    _ => self.killed(&["undo"]),
                }
            }
            14 => {
                self.taken_back = true;
                match self.dice.roll(2) {
                    0 => drop(self.run(&["undo", &id])),
                    _ => self.killed(&["undo", &id]),
                }
            }
            15 => {
                let line = format!("- Mine, number {}", self.mine.len());
                let path = self.sandbox.vault().join("MEMORY.md");
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, format!("{text}{line}\n")).unwrap();
                self.mine.push(line);
            }
            16 => self.killed(&["approve", &id]),
            17 => self.todoist.complete(&id),
            18 => self.todoist.delete(&id),
            19 => self
                .todoist
                .change(&id, |task| task["labels"] = json!(["memory-review", "agent", "rejected"])),
            20 | 21 => self.press(&id),
            22 => {
                if let Some(press) = self.presses.first() {
                    self.telegram.replay(press);
                }
            }
            23 => {
                let outage = || ServerReply::json(503, "{}");
                match self.dice.roll(4) {
                    0 => self.todoist.refuse("GET /api/v1/tasks", outage()),
                    1 => self.todoist.lose("POST /api/v1/tasks", outage()),
                    2 => self.telegram.refuse("getUpdates", outage()),
                    _ => self.telegram.lose("sendMessage", outage()),
                }
            }
            24 => drop(self.run(&["review", "apply", &id, "--yes"])),
            25 => drop(self.run(&["review", "apply", "--yes"])),
            26 => self.killed(&["review", "apply", "--yes"]),
            27 => {
                let line = format!("- Mine for agents, number {}", self.mine_for_agents.len());
                let path = self.agents();
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, format!("{line}\n{text}")).unwrap();
                self.mine_for_agents.push(line);
            }
            28 => self.day = (self.day + 1).min(DAYS.len() - 1),
            _ => self.killed(&["worker", "--once"]),
        }
    }

    fn agents(&self) -> std::path::PathBuf {
        self.sandbox.home().join("agents/AGENTS.md")
    }

    /// Presses a button of the message about a proposal, if there is one.
    fn press(&mut self, id: &str) {
        let message = self.telegram.messages().into_iter().find(|message| text(message, "text").contains(id));
        let Some(message) = message else { return };
        let word = ["approve", "reject"][self.dice.roll(2)];
        self.presses.push(self.telegram.press(CHAT, &message, &format!("memory:{word}:{id}")));
    }

    /// Makes the next run of the archiving function due.
    fn clock(&self) {
        let sql = "INSERT INTO schedule VALUES ('promote', 0) ON CONFLICT (function) DO UPDATE SET last = 0";
        self.db().change(|transaction| transaction.execute(sql, [])).unwrap();
    }

    /// Runs the worker until nothing is left to do, and checks the invariants.
    fn check(&mut self, what: &str) {
        self.work();
        self.work();
        let checked = self.run(&["review", "--check"]);
        assert_eq!(checked.code, Some(0), "{what}: {}", checked.stderr);
        let waiting: Vec<String> = ["FAILED", "DEAD"]
            .iter()
            .map(|status| self.run(&["runs", "--status", status]).ok().stdout)
            .collect();
        assert!(
            waiting.iter().all(|runs| !runs.contains("proposal-triage") && !runs.contains("promote")),
            "{what}: {waiting:?}"
        );
        let receipts = self.receipts();
        let memory = fs::read_to_string(self.sandbox.vault().join("MEMORY.md")).unwrap();
        let agents = fs::read_to_string(self.agents()).unwrap();
        let entry = fs::read_to_string(self.sandbox.vault().join(&self.entry)).unwrap_or_default();
        let db = self.db();
        let standings = proposals::list_proposals(&db, false).unwrap();
        for id in &self.ids {
            let standing = proposals::find_proposal(&db, *id).unwrap().unwrap();
            let status = standing.proposal.status;
            let what = format!("{what}: {id} is {status:?}");
            let approved = matches!(status, ProposalStatus::Approved | ProposalStatus::Edited);
            // Only a proposal that the person has to apply stays approved.
            assert!(!approved || standing.proposal.identity().is_some(), "{what}");
            let before = self.ended.get(id).filter(|_| !self.taken_back);
            if let Some(before) =
                before.filter(|before| !matches!(before, ProposalStatus::Approved | ProposalStatus::Edited))
            {
                assert_eq!(status, *before, "{what}");
            }
            let own = receipts.get(&id.to_string()).cloned().unwrap_or_default();
            // Outcomes and undos alternate in order. A pending outcome has no line.
            let is_undone = |(at, end): (usize, &ProposalEnd)| (*end == ProposalEnd::Undone) == (at % 2 == 1);
            assert!(own.iter().enumerate().all(is_undone), "{what}: {own:?}");
            let expected = match status {
                ProposalStatus::Promoted => Some(ProposalEnd::Promoted),
                ProposalStatus::Rejected => Some(ProposalEnd::Rejected),
                ProposalStatus::Expired => Some(ProposalEnd::Expired),
                _ => None,
            };
            assert_eq!(
                own.last().copied().filter(|end| *end != ProposalEnd::Undone),
                expected,
                "{what}: {own:?}"
            );
            let marked = memory.split_whitespace().filter(|word| *word == id.to_string()).count();
            let is_there = status == ProposalStatus::Promoted && standing.decided_with.is_none();
            let has_line = is_there && standing.proposal.section().is_some();
            assert_eq!(marked, usize::from(has_line), "{what} in\n{memory}");
            let line = format!("- {}\n", standing.text());
            // Another proposal with the same text may have been approved after this one ended.
            let is_there = standings.iter().any(|other| {
                other.proposal.status == ProposalStatus::Promoted
                    && other.decided_with.is_none()
                    && other.proposal.target == standing.proposal.target
                    && other.text() == standing.text()
            });
            match &standing.proposal.target {
                Some(ProposalTarget::Identity(_)) => {
                    assert_eq!(agents.matches(&line).count(), usize::from(is_there), "{what} in\n{agents}");
                }
                Some(ProposalTarget::Entry(_) | ProposalTarget::Everywhere(_)) => {
                    assert_eq!(entry.matches(&line).count(), usize::from(is_there), "{what} in\n{entry}");
                }
                Some(ProposalTarget::Idea(slug)) => {
                    let project = self.sandbox.vault().join("personal-projects").join(slug);
                    let is_there = standings.iter().any(|other| {
                        other.proposal.idea_slug() == Some(slug.as_str())
                            && other.proposal.status == ProposalStatus::Promoted
                    });
                    assert_eq!(project.join("_index.md").exists(), is_there, "{what}");
                }
                Some(ProposalTarget::Memory(_)) | None => {}
            }
        }
        for line in &self.mine_for_agents {
            assert_eq!(agents.matches(&format!("{line}\n")).count(), 1, "{what}: `{line}` in\n{agents}");
        }
        self.ended = self
            .ids
            .iter()
            .map(|id| (*id, proposals::find_proposal(&db, *id).unwrap().unwrap().proposal.status))
            .filter(|(_, status)| !status.is_open())
            .collect();
        self.taken_back = false;
        let mut rest = memory.as_str();
        for line in &self.mine {
            let at = rest.find(&format!("{line}\n"));
            let at = at.unwrap_or_else(|| panic!("{what}: `{line}` is lost in\n{memory}"));
            rest = &rest[at + line.len()..];
        }
    }

    /// Reads the outcomes of each proposal from the logs.
    fn receipts(&self) -> BTreeMap<String, Vec<ProposalEnd>> {
        let mut found: BTreeMap<String, Vec<ProposalEnd>> = BTreeMap::new();
        let files = fs::read_dir(self.sandbox.vault().join("memory")).into_iter().flatten();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        for file in files {
            let log = fs::read_to_string(file).unwrap();
            for section in daily_log::parse(&log).sections {
                let LogSection::Receipts(receipts) = section else { continue };
                for receipt in receipts.receipts {
                    found.entry(receipt.id).or_default().push(receipt.end);
                }
            }
        }
        found
    }
}

#[test]
fn ver_09_rev_14_whatever_happens_each_proposal_ends_once_and_nothing_is_lost() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, rounds) =
        (number("REKINDLE_MODEL_FIRST").unwrap_or(1), number("REKINDLE_MODEL_SEEDS").unwrap_or(2));
    if let Err(why) = faults::available() {
        rekindle_testkit::skipped(&format!("its kills (everything else runs): {why}"));
    }
    let (mut proposals, mut ends, mut kills) = (0, 0, 0);
    for seed in first..first + rounds {
        let mut walk = ReviewModelRun::new(seed);
        for step in 1..=40 {
            walk.act();
            if step % 10 == 0 {
                walk.check(&format!("seed {seed}, step {step}"));
            }
        }
        proposals += walk.ids.len();
        ends += walk.ended.len();
        kills += walk.kills;
    }
    eprintln!("{rounds} walks: {proposals} proposals, {ends} ended, {kills} kills");
    assert!(ends > 0, "nothing ever ended");
}

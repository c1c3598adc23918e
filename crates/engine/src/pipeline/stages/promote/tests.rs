//! Tests of the stage with a real database, a real vault and the real runner.

mod machines;
mod model;
mod reconsider;
mod targets;

use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::base::time::{Date, TimeZone, Timestamp};
use rekindle_core::knowledge::proposal::Proposal;
use rekindle_core::vault::memory::render_new;
use rekindle_core::vault::review::ProposalPlace;
use rekindle_testkit::fixtures;

use super::*;
use crate::jobs::queue::{RunQueue, run};
use crate::pipeline::stages::STAGE_REGISTRY;
use crate::platform::db::OptionalExtension;
use crate::platform::disk;
use crate::platform::home::HomeFolder;
use crate::review::proposals::{DecisionOutcome, SubmitOutcome};

const DAY: Date = Date::constant(2026, 11, 10);

pub(in crate::pipeline::stages) struct PromoteFixture {
    _folder: tempfile::TempDir,
    pub(in crate::pipeline::stages) context: StageContext,
}

/// Runs some steps and is killed before the result of the last one is stored.
struct InterruptedSteps {
    db: Database,
    run: String,
    steps: usize,
}

impl StepRunner for InterruptedSteps {
    fn step(
        &mut self,
        name: &str,
        work: &mut dyn FnMut() -> Result<crate::jobs::queue::StepOutcome, StepError>,
    ) -> Result<Value, RunInterrupt> {
        let sql = "SELECT result FROM steps WHERE run = ?1 AND name = ?2 AND result IS NOT NULL";
        let done: Option<String> =
            self.db.run(|c| c.query_row(sql, [&self.run, name], |row| row.get(0)).optional())?;
        if let Some(done) = done {
            return Ok(serde_json::from_str(&done).unwrap());
        }
        if self.steps == 0 {
            return Err(RunInterrupt::Stopped);
        }
        self.steps -= 1;
        let outcome = work().map_err(|error| RunInterrupt::Failed { step: name.to_owned(), error })?;
        if self.steps == 0 {
            return Err(RunInterrupt::Stopped);
        }
        let sql =
            "INSERT OR REPLACE INTO steps (run, name, position, result, started) VALUES (?1, ?2, 0, ?3, 0)";
        self.db.change(|t| t.execute(sql, [&self.run, name, &outcome.result.to_string()]))?;
        Ok(outcome.result)
    }

    fn run_id(&self) -> &str {
        &self.run
    }
}

impl PromoteFixture {
    pub(in crate::pipeline::stages) fn new() -> Self {
        Self::with(&[])
    }

    pub(in crate::pipeline::stages) fn with(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = HomeFolder::find_with(Some(folder.path()), None, None).unwrap();
        let settings: Vec<(String, String)> =
            settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let named = |name: &str| (name == "REKINDLE_USER_NAME").then(|| "Ada".into());
        let config = crate::config::read_with(&home, None, &settings, &named).unwrap().config;
        let places = home.data_paths(&config).unwrap();
        disk::create_private_folder(places.vault()).unwrap();
        let trial = Self { _folder: folder, context: StageContext::new(home, places, config, TimeZone::UTC) };
        trial.put("MEMORY.md", &render_new("Ada"));
        trial
    }

    pub(in crate::pipeline::stages) fn db(&self) -> Database {
        self.context.db().unwrap()
    }

    pub(in crate::pipeline::stages) fn now(&self) -> Timestamp {
        self.context.now().timestamp()
    }

    pub(in crate::pipeline::stages) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.context.places.vault().join(name)).unwrap_or_default()
    }

    #[expect(clippy::disallowed_methods, reason = "the person writes as they like")]
    pub(in crate::pipeline::stages) fn put(&self, name: &str, text: &str) {
        std::fs::write(self.context.places.vault().join(name), text).unwrap();
    }

    /// The text of all daily logs.
    pub(in crate::pipeline::stages) fn log(&self) -> String {
        let logs = std::fs::read_dir(self.context.places.vault().join("memory")).into_iter().flatten();
        let mut logs: Vec<_> = logs.map(|file| file.unwrap().path()).collect();
        logs.sort();
        logs.iter().map(|log| std::fs::read_to_string(log).unwrap()).collect()
    }

    /// Moves the zone by some hours, so that another day begins.
    pub(super) fn travel(&mut self, hours: i8) {
        self.context.zone = TimeZone::fixed(jiff::tz::offset(hours));
    }

    pub(in crate::pipeline::stages) fn propose(
        &self,
        section: &str,
        text: &str,
        days_ago: i64,
    ) -> ProposalId {
        self.hand_in(section, text, None, days_ago)
    }

    fn hand_in(&self, section: &str, text: &str, supersedes: Option<&str>, days_ago: i64) -> ProposalId {
        self.hand_in_as(|proposal| Proposal {
            place: ProposalPlace::Section(section.to_owned()),
            title: rekindle_core::knowledge::proposal::title(text),
            text: text.to_owned(),
            supersedes: supersedes.map(str::to_owned),
            created: proposal.created - jiff::SignedDuration::from_hours(24 * days_ago),
            ..proposal
        })
    }

    /// Submits a variant of a plain proposal of the person, an hour old.
    pub(in crate::pipeline::stages) fn hand_in_as(
        &self,
        as_what: impl Fn(Proposal) -> Proposal,
    ) -> ProposalId {
        let an_hour_ago = self.now() - jiff::SignedDuration::from_hours(1);
        let proposal = as_what(fixtures::proposal(DAY, an_hour_ago, ""));
        match proposals::submit(&mut self.db(), &STAGE_REGISTRY, "run", &[proposal]).unwrap().remove(0) {
            SubmitOutcome::Proposed(id) => id,
            other => panic!("{other:?}"),
        }
    }

    pub(in crate::pipeline::stages) fn decide(
        &self,
        id: ProposalId,
        verdict: &ProposalVerdict,
    ) -> DecisionOutcome {
        proposals::decide(&mut self.db(), &STAGE_REGISTRY, id, verdict, DecidedBy::Command, self.now())
            .unwrap()
    }

    pub(in crate::pipeline::stages) fn status(&self, id: ProposalId) -> ProposalStatus {
        self.standing(id).proposal.status
    }

    pub(in crate::pipeline::stages) fn standing(&self, id: ProposalId) -> ProposalRecord {
        proposals::find_proposal(&self.db(), id).unwrap().unwrap()
    }

    /// Runs all due work, as a worker does.
    pub(in crate::pipeline::stages) fn work(&self) {
        let mut queue = RunQueue::new(self.db());
        queue.release_abandoned(self.now()).unwrap();
        while let Some(claimed) = queue.claim_next(self.now()).unwrap() {
            let ended = run(&mut queue, &STAGE_REGISTRY, &claimed, &self.context);
            assert!(ended.is_ok(), "{ended:?}");
            queue.finish_run(&claimed, ended, self.now()).unwrap();
        }
    }

    /// Claims the next run and is killed after some steps.
    pub(in crate::pipeline::stages) fn killed_after(&self, steps: usize) {
        let mut queue = RunQueue::new(self.db());
        queue.release_abandoned(self.now()).unwrap();
        while let Some(claimed) = queue.claim_next(self.now()).unwrap() {
            if claimed.function != PROMOTE {
                let ended = run(&mut queue, &STAGE_REGISTRY, &claimed, &self.context);
                queue.finish_run(&claimed, ended, self.now()).unwrap();
                continue;
            }
            let function = STAGE_REGISTRY.get(&claimed.function).unwrap();
            let mut dying = InterruptedSteps { db: self.db(), run: claimed.id.clone(), steps };
            (function.body)(&claimed.event, &mut dying, &self.context).ok();
            break;
        }
    }

    pub(in crate::pipeline::stages) fn clock(&self) {
        let (at, id) = (self.now(), crate::platform::random::change_id(self.now()).unwrap());
        let data = json!({"function": PROMOTE, "due": at.to_string()});
        let event = Event { id: id.to_string(), name: names::SCHEDULE_REACHED.to_owned(), data, at };
        RunQueue::new(self.db()).enqueue(&STAGE_REGISTRY, &[event], at).unwrap();
    }

    pub(in crate::pipeline::stages) fn refresh(&self) -> String {
        refresh_page(&self.context).unwrap()
    }

    fn look(&self) -> PageDecisions {
        read_review_decisions(&self.context).unwrap()
    }

    fn tick(&self, id: ProposalId, mark: &str) {
        let page = self.read("REVIEW.md");
        let line = format!("- [ ] `{id}`");
        assert!(page.contains(&line), "{page}");
        self.put("REVIEW.md", &page.replace(&line, &format!("- [{mark}] `{id}`")));
    }

    fn without(&self, id: ProposalId) -> String {
        let page = self.read("REVIEW.md");
        page.lines().filter(|line| !line.contains(&id.to_string())).map(|line| format!("{line}\n")).collect()
    }
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn exe_05_rev_12_an_approval_is_written_once_despite_crashes() {
    for steps in 0..6 {
        let trial = PromoteFixture::new();
        let id = trial.propose("Hard Rules", "Never push to main without a review.", 0);
        trial.refresh();
        assert!(trial.read("REVIEW.md").contains(&id.to_string()));
        assert_eq!(trial.decide(id, &ProposalVerdict::Approve), DecisionOutcome::Now);
        trial.killed_after(steps);
        trial.work();
        let memory = trial.read("MEMORY.md");
        let today = trial.context.now().date();
        let line = format!("- ({today}) Never push to main without a review. <!-- user --> ^{id}");
        assert_eq!(count(&memory, &line), 1, "killed after {steps}: {memory}");
        let (rules, rest) = memory.split_once("## System Architecture").unwrap();
        assert!(rules.contains(&line) && !rest.contains(&line), "{memory}");
        assert_eq!(trial.status(id), ProposalStatus::Promoted);
        assert_eq!(count(&trial.log(), &format!("promoted `{id}`")), 1, "{}", trial.log());
        assert!(!trial.read("REVIEW.md").contains(&id.to_string()), "it does not wait any more");
    }
}

#[test]
fn rev_14_the_first_decision_wins() {
    let trial = PromoteFixture::new();
    let id = trial.propose("Patterns", "Use tabs.", 0);
    let mut db = trial.db();
    assert_eq!(
        proposals::decide(
            &mut db,
            &STAGE_REGISTRY,
            id,
            &ProposalVerdict::Reject,
            DecidedBy::Page,
            trial.now()
        )
        .unwrap(),
        DecisionOutcome::Now
    );
    let DecisionOutcome::Ended(told) = trial.decide(id, &ProposalVerdict::Approve) else {
        panic!("it was decided")
    };
    assert_eq!((told.proposal.status, told.by), (ProposalStatus::Rejected, Some(DecidedBy::Page)));
    assert!(told.decided.is_some());
    assert!(matches!(trial.decide(id, &ProposalVerdict::Reject), DecisionOutcome::Already(_)));
    assert!(matches!(
        trial.decide(id, &ProposalVerdict::Edit("Use spaces.".to_owned())),
        DecisionOutcome::Ended(_)
    ));
    assert_eq!(
        trial.decide(ProposalId { number: 9, ..id }, &ProposalVerdict::Approve),
        DecisionOutcome::Unknown
    );
    trial.work();
    assert!(!trial.read("MEMORY.md").contains("Use tabs"));
    assert_eq!(count(&trial.log(), &format!("rejected `{id}` Use tabs.")), 1, "LOG-05: {}", trial.log());
}

#[test]
fn rev_03_the_edited_wording_is_promoted() {
    let trial = PromoteFixture::new();
    let id = trial.propose("Patterns", "Use tabs.", 0);
    for (words, why) in [(" \n", "the text is empty"), (&*"long ".repeat(4000), "KiB")] {
        let DecisionOutcome::Refused(said) = trial.decide(id, &ProposalVerdict::Edit(words.to_owned()))
        else {
            panic!("it cannot be a line")
        };
        assert!(said.contains(why), "{said}");
    }
    let words = "Use tabs, except\n# in YAML <!-- not -->\n```\nopen fence";
    assert_eq!(trial.decide(id, &ProposalVerdict::Edit(words.to_owned())), DecisionOutcome::Now);
    assert_eq!(trial.status(id), ProposalStatus::Edited);
    trial.work();
    let memory = trial.read("MEMORY.md");
    assert_eq!(trial.status(id), ProposalStatus::Promoted, "{memory}");
    let sections = sections(&memory).unwrap();
    let titles: Vec<&str> = sections.iter().map(|section| section.title.as_str()).collect();
    assert_eq!(titles, ["Memory", "Ada", "Hard Rules", "System Architecture", "Patterns", "Lessons"]);
    assert!(memory.contains("Use tabs, except"), "{memory}");
}

#[test]
fn rev_15_a_section_that_the_person_renamed() {
    let trial = PromoteFixture::new();
    trial.put("MEMORY.md", &trial.read("MEMORY.md").replace("## Patterns", "## Habits"));
    let before = trial.read("MEMORY.md");
    let id = trial.propose("Patterns", "Use tabs.", 0);
    trial.decide(id, &ProposalVerdict::Approve);
    trial.work();
    let memory = trial.read("MEMORY.md");
    assert!(memory.starts_with(before.trim_end()), "REV-13: {memory}");
    assert!(memory.contains("## Reflected (") && memory.contains("**Patterns:** Use tabs."), "{memory}");
}

#[test]
fn a_superseding_line_follows_the_superseded_one() {
    let trial = PromoteFixture::new();
    let old = "Staging Postgres listens on port 5432.";
    let section = "## System Architecture\n";
    let mine = format!("{section}\n- {old}\n- Mine, about something else.\n");
    trial.put("MEMORY.md", &trial.read("MEMORY.md").replace(section, &mine));
    let id = trial.hand_in("System Architecture", "Staging Postgres listens on port 6432.", Some(old), 0);
    trial.decide(id, &ProposalVerdict::Approve);
    for steps in [2, 3] {
        trial.killed_after(steps);
    }
    trial.work();
    let memory = trial.read("MEMORY.md");
    assert!(memory.contains(&format!("~~{old}~~ (superseded ")), "{memory}");
    assert_eq!(count(&memory, "port 6432"), 1);
    assert!(memory.contains("- Mine, about something else.\n"));
    // If its line is gone, it is added as a new line.
    let gone = trial.hand_in("Patterns", "The gateway listens on 8443.", Some("It listens on 80."), 0);
    trial.decide(gone, &ProposalVerdict::Approve);
    trial.work();
    assert!(trial.read("MEMORY.md").contains("The gateway listens on 8443."));
    assert_eq!(trial.status(gone), ProposalStatus::Promoted);
}

#[test]
fn a_document_that_cannot_take_it_keeps_it_waiting_with_the_reason() {
    let trial = PromoteFixture::new();
    let whole = trial.read("MEMORY.md");
    let broken = format!("{whole}\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n");
    trial.put("MEMORY.md", &broken);
    let id = trial.propose("Patterns", "Use tabs.", 0);
    trial.decide(id, &ProposalVerdict::Edit("Use tabs everywhere.".to_owned()));
    trial.work();
    assert_eq!(trial.read("MEMORY.md"), broken);
    let waits = trial.standing(id);
    assert_eq!(waits.proposal.status, ProposalStatus::Pending);
    assert_eq!(waits.text(), "Use tabs everywhere.", "the person's words are kept");
    assert!(waits.note.is_some_and(|note| note.contains("MEMORY.md")));
    assert_eq!(trial.log(), "", "nothing ended");
    trial.put("MEMORY.md", &whole);
    assert_eq!(trial.decide(id, &ProposalVerdict::Approve), DecisionOutcome::Now);
    trial.work();
    assert!(trial.read("MEMORY.md").contains("Use tabs everywhere."));
    assert_eq!(trial.status(id), ProposalStatus::Promoted);
}

#[test]
fn rev_10_undecided_proposals_expire_with_one_receipt() {
    for steps in 0..6 {
        let trial = PromoteFixture::new();
        let old = trial.propose("Patterns", "Use tabs.", 7);
        let young = trial.propose("Patterns", "Deploy on Mondays.", 6);
        let taken = trial.propose("Patterns", "Write tests first.", 9);
        trial.refresh();
        trial.decide(taken, &ProposalVerdict::Approve);
        trial.work();
        trial.clock();
        trial.killed_after(steps);
        trial.work();
        let states = [old, young, taken].map(|id| trial.status(id));
        assert_eq!(
            states,
            [ProposalStatus::Expired, ProposalStatus::Triaged, ProposalStatus::Promoted],
            "killed after {steps}"
        );
        assert_eq!(count(&trial.log(), "expired `"), 1, "{}", trial.log());
        assert_eq!(trial.standing(old).by, Some(DecidedBy::Clock));
        let page = trial.read("REVIEW.md");
        assert!(!page.contains(&old.to_string()) && page.contains(&young.to_string()), "{page}");
        assert!(matches!(trial.decide(old, &ProposalVerdict::Approve), DecisionOutcome::Ended(_)));
    }
}

#[test]
fn ver_08_rev_03_the_page_decides() {
    let trial = PromoteFixture::new();
    let texts =
        ["Use tabs.", "Deploy on Mondays.", "Write tests first.", "Ask before a migration.", "Be brief."];
    let ids = texts.map(|text| trial.propose("Patterns", text, 0));
    trial.refresh();
    assert!(trial.look().decided.is_empty(), "a page that nobody touched decides nothing");
    trial.tick(ids[0], "x");
    trial.tick(ids[1], "-");
    trial.put("REVIEW.md", &trial.without(ids[2]));
    let page =
        trial.read("REVIEW.md").replace("Ask before a migration.", "Ask before every migration, in writing.");
    trial.put("REVIEW.md", &format!("A note of my own.\n\n{page}"));
    trial.tick(ids[3], "x");
    let look = trial.look();
    assert_eq!(look.decided.len(), 4, "{look:?}");
    assert!(look.decided.iter().all(|(_, decided)| *decided == DecisionOutcome::Now), "{look:?}");
    assert!(trial.look().decided.is_empty(), "once");
    trial.work();
    let states = ids.map(|id| trial.status(id));
    let promoted = ProposalStatus::Promoted;
    assert_eq!(
        states,
        [promoted, ProposalStatus::Rejected, ProposalStatus::Rejected, promoted, ProposalStatus::Triaged]
    );
    let memory = trial.read("MEMORY.md");
    assert!(memory.contains("Use tabs.") && memory.contains("Ask before every migration, in writing."));
    assert!(!memory.contains("Ask before a migration."));
    let page = trial.read("REVIEW.md");
    assert!(page.contains("A note of my own.") && page.contains("Be brief."), "{page}");
    assert!(ids[..4].iter().all(|id| !page.contains(&id.to_string())), "{page}");
    assert_eq!(trial.standing(ids[0]).by, Some(DecidedBy::Page));
}

#[test]
fn rev_03_a_page_in_doubt_decides_nothing_and_says_so() {
    let trial = PromoteFixture::new();
    let ids = ["Use tabs.", "Deploy on Mondays.", "Write tests first."]
        .map(|text| trial.propose("Patterns", text, 0));
    trial.refresh();
    let older = trial.read("REVIEW.md");
    let more = trial.propose("Patterns", "Ask before a migration.", 0);
    trial.refresh();
    let page = trial.read("REVIEW.md");
    let half = &page[..page.find(&ids[1].to_string()).unwrap()];
    let most: String = page
        .lines()
        .filter(|line| !ids.iter().any(|id| line.contains(&id.to_string())))
        .map(|line| format!("{line}\n"))
        .collect();
    let ticked = older.replace("- [ ]", "- [x]");
    for (bad, says) in [
        ("", "empty"),
        (&*format!("<<<<<<< ours\n{page}=======\n{page}>>>>>>> theirs\n"), ""),
        (&ticked, "version"),
        (&older, "version"),
        (&most, "missing"),
    ] {
        trial.put("REVIEW.md", bad);
        let look = trial.look();
        assert_eq!(look.decided, [], "{bad}");
        assert!(look.doubt.as_ref().is_some_and(|doubt| doubt.contains(says)), "{look:?}");
        assert_eq!(page::page_doubt(&trial.db()).unwrap(), look.doubt);
        assert_eq!(trial.look().doubt, look.doubt, "it is still said when nothing changed");
    }
    trial.put("REVIEW.md", half);
    assert_eq!(trial.look().decided, [], "half a page turns nothing down");
    trial.put("REVIEW.md", &page);
    assert_eq!(trial.look(), PageDecisions::default());
    // An old copy gets its missing proposals and rejects nothing.
    trial.put("REVIEW.md", &older.replace(&format!("- [ ] `{}`", ids[0]), &format!("- [ ] {}", ids[0])));
    trial.look();
    trial.refresh();
    assert!(trial.read("REVIEW.md").contains(&more.to_string()));
    assert_eq!(trial.look().decided, []);
    assert!(ids.iter().all(|id| trial.status(*id).is_open()));
}

#[test]
fn b_07_a_few_a_day_are_on_the_page() {
    let trial = PromoteFixture::with(&[("review.per_day", "2")]);
    let texts = ["Use tabs.", "Deploy on Mondays.", "Write tests first.", "Ask before a migration."];
    let ids = texts.map(|text| trial.propose("Patterns", text, 0));
    trial.refresh();
    let on_page = || ids.iter().filter(|id| trial.read("REVIEW.md").contains(&id.to_string())).count();
    assert_eq!(on_page(), 2);
    let asked = page::asked_today(&trial.db(), 2, &trial.context.now()).unwrap();
    assert_eq!((asked.today.len(), asked.later.len()), (2, 2));
    trial.decide(asked.today[0].0.proposal.id, &ProposalVerdict::Reject);
    trial.work();
    assert_eq!(on_page(), 1, "what was decided today is part of today's share");
}

#[test]
fn b_09_a_promotion_that_is_taken_back_waits_again() {
    let trial = PromoteFixture::new();
    let id = trial.propose("Patterns", "Use tabs.", 6);
    let before = trial.read("MEMORY.md");
    trial.decide(id, &ProposalVerdict::Approve);
    trial.work();
    let promoted = trial.read("MEMORY.md");
    let vault = trial.context.vault().unwrap();
    let undone = vault.undo(None, ChangeActor::User, &trial.context.now()).unwrap();
    assert_eq!(undone.change.verb, "promote", "the page and the receipt follow");
    assert_eq!(trial.read("MEMORY.md"), before);
    assert_eq!(reverse_undone_promotions(&trial.context).unwrap(), [id]);
    assert_eq!(reverse_undone_promotions(&trial.context).unwrap(), [], "once");
    let waits = trial.standing(id);
    assert_eq!((waits.proposal.status, waits.days(trial.now())), (ProposalStatus::Pending, 0));
    assert_eq!(count(&trial.log(), &format!("undone `{id}`")), 1);
    trial.refresh();
    assert!(trial.read("REVIEW.md").contains(&id.to_string()));
    // A redo restores the former state.
    let redo = undone.by.change.unwrap();
    vault.undo(Some(redo.as_str()), ChangeActor::User, &trial.context.now()).unwrap();
    assert_eq!(trial.read("MEMORY.md"), promoted);
    assert_eq!(reverse_undone_promotions(&trial.context).unwrap(), []);
    assert_eq!(trial.status(id), ProposalStatus::Promoted);
    // Once more, through the schedule: nothing told the store.
    vault.undo(None, ChangeActor::User, &trial.context.now()).unwrap();
    trial.clock();
    trial.work();
    assert_eq!(trial.status(id), ProposalStatus::Pending);
    assert_eq!(trial.decide(id, &ProposalVerdict::Reject), DecisionOutcome::Now);
    trial.work();
    assert_eq!(trial.read("MEMORY.md"), before);
}

#[test]
fn rev_06_an_event_from_outside_decides_and_comes_too_late() {
    let trial = PromoteFixture::new();
    let ids = ["Use tabs.", "Deploy on Mondays."].map(|text| trial.propose("Patterns", text, 0));
    let send = |name: &str, id: ProposalId, number: u32| {
        let (at, data) = (trial.now(), json!({"proposalId": id}));
        let event = Event { id: format!("{name}-{id}-{number}"), name: name.to_owned(), data, at };
        RunQueue::new(trial.db()).enqueue(&STAGE_REGISTRY, &[event], at).unwrap();
        trial.work();
    };
    send(names::PROPOSAL_APPROVED, ids[0], 1);
    send(names::PROPOSAL_REJECTED, ids[1], 1);
    // Repeated, contrary, and about an unknown proposal.
    send(names::PROPOSAL_APPROVED, ids[0], 2);
    send(names::PROPOSAL_REJECTED, ids[0], 3);
    send(names::PROPOSAL_APPROVED, ids[1], 3);
    send(names::PROPOSAL_APPROVED, ProposalId { number: 99, ..ids[0] }, 1);
    assert_eq!(ids.map(|id| trial.status(id)), [ProposalStatus::Promoted, ProposalStatus::Rejected]);
    assert_eq!(trial.standing(ids[0]).by, Some(DecidedBy::Event));
    assert_eq!(count(&trial.read("MEMORY.md"), "Use tabs."), 1);
    assert_eq!((count(&trial.log(), "promoted `"), count(&trial.log(), "rejected `")), (1, 1));
}

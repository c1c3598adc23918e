//! Tests of the queue with a real database. The functions leave marks in a file, because it survives a crash.

use std::io::Write;
use std::path::{Path, PathBuf};

use rekindle_core::base::time::{TimeZone, Timestamp};
use rekindle_core::event::{Event, names};
use rekindle_core::run::RunStatus;
use rekindle_core::run::retry::MAX_ATTEMPTS;
use serde_json::{Value, json};

use super::*;
use crate::jobs::context::StageContext;
use crate::platform::home::HomeFolder;

struct QueueFixture {
    folder: tempfile::TempDir,
    queue: RunQueue,
    context: StageContext,
}

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

fn later(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

impl QueueFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = HomeFolder::find_with(Some(folder.path()), None, None).unwrap();
        let config = crate::config::read_with(&home, None, &[], &|_| None).unwrap().config;
        let places = home.data_paths(&config).unwrap();
        let queue = RunQueue::new(Database::open(&places.database()).unwrap());
        let context = StageContext::new(home, places, config, TimeZone::UTC);
        Self { folder, queue, context }
    }

    fn tracks(&self) -> PathBuf {
        self.folder.path().join("tracks")
    }

    fn event(&self, id: &str, more: &Value) -> Event {
        let mut data = json!({"tracks": self.tracks(), "sessionId": id});
        for (key, value) in more.as_object().unwrap() {
            data[key] = value.clone();
        }
        Event { id: id.to_owned(), name: names::OBSERVATION_NOTED.to_owned(), data, at: now() }
    }

    fn accept(&mut self, events: &[Event]) {
        self.queue.enqueue(&REGISTRY, events, now()).unwrap();
    }

    /// Runs the next due run.
    fn once(&mut self, at: Timestamp) -> Option<RunStatus> {
        let claimed = self.queue.claim_next(at).unwrap()?;
        let ended = run(&mut self.queue, &REGISTRY, &claimed, &self.context);
        Some(self.queue.finish_run(&claimed, ended, at).unwrap())
    }

    fn all(&self) -> Vec<RunRecord> {
        self.queue.history(&RunFilter::default()).unwrap()
    }

    fn seen(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.tracks()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

static REGISTRY: FunctionRegistry = FunctionRegistry {
    functions: &[QueueFunction {
        name: "three-steps",
        triggers: &[names::OBSERVATION_NOTED],
        schedule: None,
        emits: &[],
        key: |event| event.data.get("key")?.as_str().map(str::to_owned),
        body: three_steps,
    }],
    sources: &[names::OBSERVATION_NOTED],
};

fn leave(event: &Event, what: &str) -> usize {
    let path = Path::new(event.data["tracks"].as_str().unwrap());
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    writeln!(file, "{} {what}", event.id).unwrap();
    let line = format!("{} {what}", event.id);
    std::fs::read_to_string(path).unwrap().lines().filter(|seen| *seen == line).count()
}

fn three_steps(
    event: &Event,
    steps: &mut dyn StepRunner,
    _: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let one: u32 = steps.run("one", || {
        leave(event, "one");
        Ok(1)
    })?;
    let two: u32 = steps.run("two", || {
        let time = leave(event, "two");
        if event.data["panic"] == true {
            panic!("at the disco");
        }
        match event.data["fails"].as_u64() {
            Some(fails) if (time as u64) <= fails => Err(StepError::retryable(format!("failure {time}"))),
            _ if event.data["hopeless"] == true => Err(StepError::fatal("hopeless")),
            _ => Ok(one + 1),
        }
    })?;
    // A repeated name is another step.
    let three: u32 = steps.run("two", || {
        leave(event, "three");
        Ok(two + 1)
    })?;
    Ok(FunctionOutcome::Completed(json!(three)))
}

/// A repeated event gives the worker nothing to do: it once looped on a session stamped a day ahead.
#[test]
fn a_session_stamped_in_the_future_asks_once() {
    let mut trial = QueueFixture::new();
    let event = trial.event("a", &json!({}));
    let new = |trial: &mut QueueFixture| {
        trial.queue.enqueue(&REGISTRY, std::slice::from_ref(&event), now()).unwrap()
    };
    assert_eq!((new(&mut trial), new(&mut trial)), (1, 0));
}

#[test]
fn an_event_that_comes_twice_counts_once() {
    let mut trial = QueueFixture::new();
    let event = trial.event("a", &json!({}));
    trial.accept(&[event.clone(), event.clone()]);
    trial.accept(&[event]);
    assert_eq!(trial.once(now()), Some(RunStatus::Completed));
    assert_eq!(trial.once(now()), None);
    assert_eq!(trial.all().len(), 1);
    assert_eq!(trial.seen(), ["a one", "a two", "a three"]);
    assert_eq!(trial.all()[0].output, Some(json!(3)));
}

#[test]
fn exe_01_exe_18_a_step_that_is_done_is_not_done_again() {
    let mut trial = QueueFixture::new();
    trial.accept(&[trial.event("a", &json!({"fails": 2}))]);
    assert_eq!(trial.once(now()), Some(RunStatus::Failed));
    assert_eq!(trial.once(now()), None, "it waits for its next attempt");
    assert_eq!(trial.once(later(60)), Some(RunStatus::Failed));
    assert_eq!(trial.once(later(3600)), Some(RunStatus::Completed));
    assert_eq!(trial.seen(), ["a one", "a two", "a two", "a two", "a three"]);
    let run = &trial.all()[0];
    assert_eq!((run.attempts, run.status), (3, RunStatus::Completed));
    let steps: Vec<(&str, u32)> = run.steps.iter().map(|step| (step.name.as_str(), step.attempts)).collect();
    assert_eq!(steps, [("one", 1), ("two", 3), ("two:1", 1)]);
}

#[test]
fn exe_09_a_run_that_keeps_failing_is_dead_and_can_be_retried() {
    let mut trial = QueueFixture::new();
    trial.accept(&[trial.event("a", &json!({"fails": u64::from(MAX_ATTEMPTS)}))]);
    let mut at = 0;
    let stands: Vec<RunStatus> = (0..MAX_ATTEMPTS)
        .filter_map(|_| {
            trial.once(later({
                at += 100_000;
                at
            }))
        })
        .collect();
    assert_eq!(stands.last(), Some(&RunStatus::Dead));
    assert_eq!(trial.once(later(at * 2)), None);
    let dead = trial.all().remove(0);
    assert!(dead.error.unwrap().contains("two: failure 6"));
    assert_eq!(trial.queue.retry_dead(&[dead.id]).unwrap(), 1);
    assert_eq!(trial.once(later(at * 2)), Some(RunStatus::Completed));
    assert_eq!(trial.seen().iter().filter(|seen| *seen == "a one").count(), 1);
}

#[test]
fn a_fatal_failure_is_dead_at_once() {
    let mut trial = QueueFixture::new();
    trial.accept(&[trial.event("a", &json!({"hopeless": true}))]);
    assert_eq!(trial.once(now()), Some(RunStatus::Dead));
}

#[test]
fn a_panic_is_a_failure_like_any_other() {
    let mut trial = QueueFixture::new();
    trial.accept(&[trial.event("a", &json!({"panic": true})), trial.event("b", &json!({}))]);
    assert_eq!(trial.once(now()), Some(RunStatus::Failed));
    assert_eq!(trial.once(now()), Some(RunStatus::Completed));
    assert!(trial.all().iter().any(|run| run.error.as_deref().is_some_and(|error| error.contains("disco"))));
}

#[test]
fn exe_03_runs_with_the_same_key_come_one_after_the_other() {
    let mut trial = QueueFixture::new();
    let events = ["a", "b"].map(|id| trial.event(id, &json!({"key": "k"})));
    trial.accept(&events);
    let other = trial.event("c", &json!({"key": "other"}));
    trial.accept(&[other]);
    let first = trial.queue.claim_next(now()).unwrap().unwrap();
    let second = trial.queue.claim_next(now()).unwrap().unwrap();
    assert_eq!((first.event.id.as_str(), second.event.id.as_str()), ("a", "c"));
    assert!(trial.queue.claim_next(now()).unwrap().is_none());
    trial.queue.finish_run(&first, Ok(FunctionOutcome::Skipped("no".to_owned())), now()).unwrap();
    assert_eq!(trial.queue.claim_next(now()).unwrap().unwrap().event.id, "b");
}

#[test]
fn exe_18_abandoned_runs_continue_and_crashing_runs_end() {
    let mut trial = QueueFixture::new();
    let events = ["a", "b"].map(|id| trial.event(id, &json!({})));
    trial.accept(&events);
    for _ in 0..MAX_CRASHES {
        // The first run kills the worker every time; the second one still gets its turn.
        let claimed = trial.queue.claim_next(now()).unwrap().unwrap();
        if claimed.event.id == "b" {
            let ended = run(&mut trial.queue, &REGISTRY, &claimed, &trial.context);
            trial.queue.finish_run(&claimed, ended, now()).unwrap();
            let claimed = trial.queue.claim_next(now()).unwrap().unwrap();
            assert_eq!(claimed.event.id, "a");
        }
        assert_eq!(trial.queue.release_abandoned(now()).unwrap(), 1);
    }
    assert!(trial.queue.claim_next(now()).unwrap().is_none());
    let stands: Vec<(String, RunStatus)> =
        trial.all().into_iter().map(|run| (run.event, run.status)).collect();
    assert!(stands.contains(&("a".to_owned(), RunStatus::Dead)), "{stands:?}");
    assert!(stands.contains(&("b".to_owned(), RunStatus::Completed)), "{stands:?}");
}

#[test]
fn whoever_lost_a_run_cannot_write_its_results() {
    let mut trial = QueueFixture::new();
    trial.accept(&[trial.event("a", &json!({}))]);
    let lost = trial.queue.claim_next(now()).unwrap().unwrap();
    trial.queue.release_abandoned(now()).unwrap();
    let mine = trial.queue.claim_next(now()).unwrap().unwrap();
    assert!(matches!(run(&mut trial.queue, &REGISTRY, &lost, &trial.context), Err(RunInterrupt::Stopped)));
    trial.queue.finish_run(&lost, Ok(FunctionOutcome::Skipped("not mine".to_owned())), now()).unwrap();
    let ended = run(&mut trial.queue, &REGISTRY, &mine, &trial.context);
    trial.queue.finish_run(&mine, ended, now()).unwrap();
    assert_eq!(trial.all()[0].status, RunStatus::Completed);
}

#[test]
fn a_clock_that_was_set_back_makes_nobody_wait() {
    let mut trial = QueueFixture::new();
    trial.accept(&[trial.event("a", &json!({"fails": 1}))]);
    assert_eq!(trial.once(later(1_000_000)), Some(RunStatus::Failed));
    assert_eq!(trial.once(now()), None);
    trial.queue.release_abandoned(now()).unwrap();
    assert_eq!(trial.once(now()), Some(RunStatus::Completed));
}

#[test]
fn a_run_is_found_by_the_end_of_its_id() {
    let mut trial = QueueFixture::new();
    trial.accept(&[trial.event("a", &json!({})), trial.event("b", &json!({}))]);
    let id = trial.all()[0].id.clone();
    assert_eq!(id.len(), 26);
    assert_eq!(trial.queue.find(&id.to_lowercase()[18..]).unwrap().len(), 1);
    assert!(trial.queue.find("ZZZZ").unwrap().is_empty());
}

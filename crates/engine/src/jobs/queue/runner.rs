//! Embedded runner: calls functions and skips the steps that the database records as done.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rekindle_core::base::time::Timestamp;
use rekindle_core::config::LogLevel;
use serde_json::Value;

use super::claim::LEASE_MS;
use super::{
    ClaimedRun, FunctionOutcome, FunctionRegistry, RunInterrupt, RunQueue, StepError, StepOutcome,
    StepRunner, enqueue_event, run_events, run_ids,
};
use crate::jobs::context::StageContext;
use crate::platform::db::{self, params};

/// Runs a claimed run from its first unfinished step. A panic counts as a failure.
pub fn run(
    queue: &mut RunQueue,
    registry: &FunctionRegistry,
    claimed: &ClaimedRun,
    stage_context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let Some(function) = registry.get(&claimed.function) else {
        let error = StepError::retryable("this version of Rekindle has no such function");
        return Err(RunInterrupt::Failed { step: claimed.function.clone(), error });
    };
    let mut steps = EmbeddedRunner::resume(queue, registry, claimed, stage_context)?;
    let body = AssertUnwindSafe(|| (function.body)(&claimed.event, &mut steps, stage_context));
    catch_unwind(body).unwrap_or_else(|panic| {
        let panic_message = panic.downcast_ref::<String>().map(String::as_str);
        let panic_message =
            panic_message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(RunInterrupt::Failed {
            step: claimed.function.clone(),
            error: StepError::retryable(panic_message),
        })
    })
}

struct EmbeddedRunner<'a> {
    queue: &'a mut RunQueue,
    registry: &'a FunctionRegistry,
    claimed: &'a ClaimedRun,
    context: &'a StageContext,
    done: HashMap<String, Value>,
    /// The number of uses of each step name in this attempt.
    step_uses: HashMap<String, u32>,
    position: u32,
}

impl<'a> EmbeddedRunner<'a> {
    fn resume(
        queue: &'a mut RunQueue,
        registry: &'a FunctionRegistry,
        claimed: &'a ClaimedRun,
        stage_context: &'a StageContext,
    ) -> Result<Self, db::Error> {
        let rows: Vec<(String, String)> = queue.db.run(|connection| {
            let mut rows = connection
                .prepare_cached("SELECT name, result FROM steps WHERE run = ?1 AND result IS NOT NULL")?;
            rows.query_map([&claimed.id], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })?;
        let mut done = HashMap::new();
        for (name, result) in rows {
            let result = serde_json::from_str(&result).map_err(|error| {
                queue.db.corrupt_value(format!("the step {name} of {} ({error})", claimed.id))
            })?;
            done.insert(name, result);
        }
        Ok(Self {
            queue,
            registry,
            claimed,
            context: stage_context,
            done,
            step_uses: HashMap::new(),
            position: 0,
        })
    }

    fn begin_step(&mut self, name: &str, now: Timestamp) -> Result<(), db::Error> {
        let (run, position) = (&self.claimed.id, self.position);
        self.queue.db.change(|transaction| {
            transaction.execute(
                "INSERT INTO steps (run, name, position, started) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (run, name) DO UPDATE SET attempts = attempts + 1, started = ?4, error = NULL",
                params![run, name, position, now.as_millisecond()],
            )
        })?;
        Ok(())
    }

    /// Stores a result and sends its events. Returns false if the run is no longer ours.
    fn save_result(&mut self, name: &str, outcome: &StepOutcome, took: Duration) -> Result<bool, db::Error> {
        let now = self.context.now().timestamp();
        let ids = run_ids(self.registry, &outcome.events, now);
        let (claimed, registry) = (self.claimed, self.registry);
        let telemetry = self.queue.telemetry.as_ref().filter(|to| to.level() == LogLevel::Debug);
        self.queue.db.change(|transaction| {
            let ours = transaction.execute(
                "UPDATE runs SET lease_until = ?3, crashes = 0 WHERE id = ?1 AND owner = ?2",
                params![claimed.id, claimed.token, now.as_millisecond() + LEASE_MS],
            )?;
            if ours == 0 {
                return Ok(false);
            }
            transaction.execute(
                "UPDATE steps SET result = ?3, error = NULL, ended = ?4 WHERE run = ?1 AND name = ?2",
                params![claimed.id, name, outcome.result.to_string(), now.as_millisecond()],
            )?;
            enqueue_event(transaction, registry, &outcome.events, &ids, now)?;
            if let Some(telemetry) = telemetry {
                telemetry.store(transaction, &run_events::step(claimed, name, now, took));
            }
            Ok(true)
        })
    }

    fn save_failure(&mut self, name: &str, error: &StepError) -> Result<(), db::Error> {
        let (run, now) = (&self.claimed.id, self.context.now().timestamp().as_millisecond());
        self.queue.db.change(|transaction| {
            transaction.execute(
                "UPDATE steps SET error = ?3, ended = ?4 WHERE run = ?1 AND name = ?2",
                params![run, name, error.message, now],
            )
        })?;
        Ok(())
    }
}

impl StepRunner for EmbeddedRunner<'_> {
    fn step(
        &mut self,
        name: &str,
        work: &mut dyn FnMut() -> Result<StepOutcome, StepError>,
    ) -> Result<Value, RunInterrupt> {
        let before = self.step_uses.entry(name.to_owned()).or_default();
        let id = if *before == 0 { name.to_owned() } else { format!("{name}:{before}") };
        *before += 1;
        self.position += 1;
        if let Some(result) = self.done.get(&id) {
            return Ok(result.clone());
        }
        if self.context.should_stop() {
            return Err(RunInterrupt::Stopped);
        }
        self.begin_step(&id, self.context.now().timestamp())?;
        let began = Instant::now();
        match work() {
            Ok(outcome) => match self.save_result(&id, &outcome, began.elapsed())? {
                true => Ok(outcome.result),
                false => Err(RunInterrupt::Stopped),
            },
            Err(error) => {
                self.save_failure(&id, &error)?;
                Err(RunInterrupt::Failed { step: id, error })
            }
        }
    }

    fn run_id(&self) -> &str {
        &self.claimed.id
    }
}

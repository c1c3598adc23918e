//! `observe`: turns a captured window into observations (EXE-02) and routes lasting statements to memory
//! (SID-01…06).
//!
//! The daily log is written first: it is the store of last resort (LOG-07).

mod observer;

use rekindle_core::base::time::{Date, Zoned, day};
use rekindle_core::config::{ResearchWhen, WriteGateMode};
use rekindle_core::event::{Event, ObservationsAccumulated, SessionCaptured, names};
use rekindle_core::knowledge::mine::{MemoryCandidate, MinedIdea};
use rekindle_core::knowledge::observe::ObservedSession;
use rekindle_core::knowledge::observe::check::COMPLETED_TEXT;
use rekindle_core::knowledge::observe::claim_fault::FaultCounts;
use rekindle_core::knowledge::observe::write_gate::GateCounts;
use rekindle_core::session::outcome::DUPLICATE_REASON;
use rekindle_core::session::{Message, MessageRole, restore};
use rekindle_core::text::clean::one_line;
use rekindle_core::text::clean_and_redact;
use rekindle_core::vault::daily_log::{
    FileCounts, LogSection, LoggedObservation, ObservationBody, SectionSource, TimeOfDay,
};
use rekindle_core::vault::journal::ChangeActor;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::observer::WindowObserver;
use super::research::{MAX_IDEAS_PER_SESSION, research};
use super::route_candidates::{self, RoutedCandidates, RoutedIdeas};
use super::{index, notify, write_gate};
use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepError, StepRunner, StepRunnerExt, lookup};
use crate::jobs::sessions;
use crate::pipeline::observations::{self, ObservationRecord};

/// The time in seconds for which the same window is not observed again (CAP-13).
const DEDUPE_SECONDS: i64 = 3600;
/// The beginning of the log's note that a window was observed without the model.
const BY_RULES: &str = "observed by rules, without the model:";
/// The reason if an answer of the model could not be parsed.
const NONSENSE: &str = "its answer is invalid";
/// The length limit of a reason, in characters.
const MAX_REASON_CHARS: usize = 200;
/// The shortest interval between two reflections caused by the threshold (STO-04).
const REFLECTION_INTERVAL_SECONDS: i64 = 24 * 3600;

/// The result of observing a window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct DistilledWindow {
    observed: ObservedSession,
    /// The unparsable part of a model's answer (OBS-20).
    unparsed: Option<String>,
    /// The faults of the model's answer.
    faults: FaultCounts,
    /// The number of the person's statements that the model missed.
    passed_over: u64,
}

pub(super) fn observe(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let captured = SessionCaptured::deserialize(&event.data).map_err(|error| RunInterrupt::Failed {
        step: "dedupe-check".to_owned(),
        error: StepError::fatal(error),
    })?;
    let run = steps.run_id().to_owned();
    let ours = steps.run("dedupe-check", || {
        let name = format!("memory:observe:lock:{}", captured.dedupe_key);
        let ours = context.take_lock(&name, &run, DEDUPE_SECONDS)?;
        Ok(ours && !is_observed(&captured.dedupe_key, &run, context)?)
    })?;
    if !ours {
        return Ok(FunctionOutcome::Skipped(DUPLICATE_REASON.to_owned()));
    }
    // The noise gate counts words, but a fact told in six words is worth keeping.
    let skipped = match &captured.noise {
        Some(noise)
            if !steps.run("find-statements", || Ok(states_something(&captured, &run, context)))? =>
        {
            Some(noise)
        }
        _ => None,
    };
    let ended = match skipped {
        Some(noise) => FunctionOutcome::Skipped(noise.clone()),
        None => distil(&captured, event, steps, context)?,
    };
    // The whole session was processed (EXE-13).
    steps.run("mark-reflected", || {
        sessions::mark_reflected(&context.places.sessions(), &captured.session_id)
            .map_err(StepError::retryable)
    })?;
    Ok(ended)
}

/// True if the rules find a lasting statement of the person in a window. A window without an answer is an
/// abandoned task.
fn states_something(captured: &SessionCaptured, run: &str, context: &StageContext) -> bool {
    let when = context.zoned(captured.captured_at);
    let messages = messages(captured, &when);
    let window = RestoredWindow { captured, messages: &messages, last_message_at: &when };
    let is_answered = messages.iter().any(|message| message.role == MessageRole::Assistant);
    is_answered && WindowObserver { window: &window, context, run: run.to_owned() }.has_explicit_statement()
}

/// Restores the messages of a window. A program's prompt in a session that a person continued is not the
/// person's word; a session that belongs to a program throughout is handled as a whole
/// (`WindowObserver::believed`).
fn messages(captured: &SessionCaptured, when: &Zoned) -> Vec<Message> {
    let mut messages = restore::restore(&captured.messages, &captured.turns, when);
    for message in messages.iter_mut().filter(|message| message.automated && !captured.headless) {
        message.role = MessageRole::Assistant;
    }
    messages
}

/// The age in hours from which a session is no news; a past session is captured as of its end.
const MAX_NEWS_AGE_HOURS: i64 = 48;

fn distil(
    captured: &SessionCaptured,
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let captured_at = context.zoned(captured.captured_at);
    let messages = messages(captured, &captured_at);
    // Observations belong to the days of their messages, whenever they are processed.
    let last = messages.iter().rev().find_map(|message| message.at);
    let when = last.map_or(captured_at, |at| context.zoned(at));
    let window = RestoredWindow { captured, messages: &messages, last_message_at: &when };
    let observer = WindowObserver { window: &window, context, run: steps.run_id().to_owned() };
    let answers = steps.run("observe", || observer.ask())?;
    let result: DistilledWindow = steps.run("parse", || Ok(observer.read(&answers)))?;
    let project = context.project(captured.cwd.as_deref());
    let mut observed = result.observed.clone();
    if context.config.observe.gate == WriteGateMode::Annotate {
        let verdicts = steps
            .run("gate", || write_gate::gate_verdicts(&observed, &messages, project.as_ref(), context))?;
        write_gate::annotate_findings(&mut observed, verdicts);
    }
    observed.suggested_response = observed.suggested_response.map(|next| with_branch(&next, captured));
    let observed = &observed;
    let degraded = answers.instead.as_deref().or(result.unparsed.as_ref().map(|_| NONSENSE));
    let logged = Logged { observed, unparsed: result.unparsed.as_deref(), degraded };
    steps.run("append-daily-log", || context.run_exclusive(|| log(&window, &logged, context)))?;
    steps.run("store-hot", || store(&window, observed, context))?;
    steps.run("store-index", || context.run_exclusive(|| index::index_pending(context)))?;
    steps.run_and_send("check-threshold", || check_threshold(event, context))?;
    let candidates: Vec<MemoryCandidate> = steps.run("mine", || observer.mine(&answers, observed))?;
    let ideas: Vec<MinedIdea> = steps.run("mine-ideas", || observer.mine_ideas(&answers, observed))?;
    let from = route_candidates::CandidateSource { session: &captured.session_id, project: project.as_ref() };
    let quote = |id: &str| {
        let message = messages.iter().find(|message| message.id == id)?;
        Some(route_candidates::SupportingMessage { text: message.text.clone(), at: message.at })
    };
    let mut kept: RoutedCandidates = steps.run("keep", || {
        context.run_exclusive(|| route_candidates::route_candidates(&candidates, from, &quote, context))
    })?;
    // A backfill has its own report.
    let captured_at = context.zoned(captured.captured_at);
    if context.now().duration_since(&captured_at).as_hours() < MAX_NEWS_AGE_HOURS {
        steps.run("announce", || notify::announce_saved(&kept.saved, project.as_ref(), event.at, context))?;
    }
    if !kept.proposed.is_empty() {
        steps.run("stage-review", || {
            context.run_exclusive(|| route_candidates::refresh_review_page(context))
        })?;
    }
    let RoutedIdeas { ideas, proposed } = steps.run("keep-ideas", || {
        context.run_exclusive(|| route_candidates::route_ideas(&ideas, from, &quote, context))
    })?;
    kept.ideas = ideas;
    if !proposed.is_empty() {
        steps.run("stage-ideas", || {
            context.run_exclusive(|| route_candidates::refresh_review_page(context))
        })?;
    }
    kept.proposed.extend(proposed);
    let mut researched = Vec::new();
    if context.config.ideas.research.when == ResearchWhen::Always {
        for slug in kept.ideas.iter().take(MAX_IDEAS_PER_SESSION) {
            // A failure here is reported and does not stop the run.
            let outcome: String = steps.run("research", || {
                Ok(research(slug, ChangeActor::Worker, context).unwrap_or_else(|error| error.to_string()))
            })?;
            researched.push(outcome);
        }
    }
    Ok(FunctionOutcome::Completed(json!({
        "dedupeKey": captured.dedupe_key,
        "messages": captured.message_count,
        "observer": answers.observer,
        "instead": answers.instead,
        "observations": observed.findings().count(),
        "dropped": result.faults.iter().filter(|(fault, _)| fault.is_fatal()).map(|(_, count)| count).sum::<u64>(),
        "faults": result.faults,
        "passedOver": result.passed_over,
        "gate": GateCounts::count(observed),
        "mined": candidates.len(),
        "saved": kept.saved,
        "proposed": kept.proposed,
        "inboxed": kept.inboxed,
        "ideas": kept.ideas,
        "researched": researched,
        "known": kept.known,
    })))
}

/// The content of a log section.
struct Logged<'a> {
    observed: &'a ObservedSession,
    /// The unparsable part of a model's answer.
    unparsed: Option<&'a str>,
    /// The reason the rules replaced the model.
    degraded: Option<&'a str>,
}

/// A window with its restored messages.
struct RestoredWindow<'a> {
    captured: &'a SessionCaptured,
    messages: &'a [Message],
    /// The time of its last message.
    last_message_at: &'a Zoned,
}

impl RestoredWindow<'_> {
    /// The time of the last message of a day.
    fn last_message_on(&self, day: Date, context: &StageContext) -> Zoned {
        let times = self.messages.iter().rev().filter_map(|message| message.at).map(|at| context.zoned(at));
        times.into_iter().find(|at| at.date() == day).unwrap_or_else(|| self.last_message_at.clone())
    }
}

/// Writes observations to the log of the day of their messages (LOG-02, R-17), one section per day. An empty
/// observation writes nothing.
fn log(window: &RestoredWindow<'_>, logged: &Logged<'_>, context: &StageContext) -> Result<bool, StepError> {
    let captured = window.captured;
    let today = window.last_message_at.date();
    let key = &captured.dedupe_key;
    let mut bodies: Vec<(Date, ObservationBody, &ObservedSession)> = Vec::new();
    let days = logged.observed.days(today);
    if logged.observed.is_empty() {
        bodies.extend(
            logged
                .unparsed
                .iter()
                .map(|text| (today, ObservationBody::Unparsed((*text).to_owned()), logged.observed)),
        );
    } else {
        let mut facts = 0;
        for (day, observed) in &days {
            bodies.push((*day, observed.body_from(key, facts), observed));
            facts += observed.findings().count();
        }
    }
    let count = |files: &[String]| files.len() as u64;
    let mut any = false;
    for (number, (day, body, observed)) in bodies.into_iter().enumerate() {
        let section = LogSection::Observation(LoggedObservation {
            source: SectionSource {
                session: Some(captured.session_id.clone()),
                name: captured.session_name.clone(),
                // A session that crosses midnight has a section in each of the logs.
                dedupe_key: Some(if number == 0 { key.clone() } else { format!("{key}-{}", number + 1) }),
                project: context.project(captured.cwd.as_deref()).map(|project| project.as_str().to_owned()),
            },
            time: TimeOfDay::from_zoned(&window.last_message_on(day, context)),
            trigger: captured.trigger.as_str().to_owned(),
            ended: Some(window.last_message_at.timestamp()),
            degraded: logged
                .degraded
                .map(|why| format!("{BY_RULES} {}", one_line(&clean_and_redact(why).text, MAX_REASON_CHARS))),
            files: Some(FileCounts {
                modified: count(&captured.files_modified),
                read: count(&captured.files_read),
            }),
            body,
            current_task: observed.current_task.clone(),
            suggested_response: observed.suggested_response.clone(),
        });
        let written = context
            .vault()?
            .log_once_on(day, &section, ChangeActor::Worker, &context.now())
            .map_err(StepError::retryable)?;
        any |= written.is_some();
    }
    Ok(any)
}

/// The next step, with the branch of the work. A finished session needs none.
fn with_branch(next: &str, captured: &SessionCaptured) -> String {
    match &captured.branch {
        Some(branch) if next.trim() != COMPLETED_TEXT && !next.contains("Branch: `") => {
            format!("{next} Branch: `{}`.", branch.replace('`', ""))
        }
        _ => next.to_owned(),
    }
}

/// Adds the observation to the hot list (STO-01).
fn store(
    window: &RestoredWindow<'_>,
    observed: &ObservedSession,
    context: &StageContext,
) -> Result<bool, StepError> {
    let captured = window.captured;
    let entry = ObservationRecord {
        dedupe_key: captured.dedupe_key.clone(),
        session: captured.session_id.clone(),
        project: context.project(captured.cwd.as_deref()),
        trigger: captured.trigger.as_str().to_owned(),
        day: window.last_message_at.date(),
        at: window.last_message_at.timestamp(),
        observed: observed.clone(),
        tokens: observations::tokens_in(observed),
        distilled: 0,
        schema_version: observations::SCHEMA_VERSION,
    };
    Ok(observations::add(&mut context.db()?, &entry)?)
}

/// Requests a reflection before the morning if enough was observed today (REF-01). Returns true if it did.
fn check_threshold(event: &Event, context: &StageContext) -> Result<(bool, Vec<Event>), StepError> {
    let now = context.now();
    let db = context.db()?;
    let (total, count) = observations::daily_tokens(&db, now.date())?;
    if total <= context.config.reflect.threshold_tokens {
        return Ok((false, Vec::new()));
    }
    let name = format!("memory:reflect:triggered:{}", day(now.date()));
    if !context.take_lock(&name, &event.id, REFLECTION_INTERVAL_SECONDS)? {
        return Ok((false, Vec::new()));
    }
    let data = ObservationsAccumulated {
        date: now.date(),
        total_tokens: total,
        observation_count: count,
        captured_at: now.timestamp(),
    };
    let data = serde_json::to_value(data).map_err(StepError::fatal)?;
    let id = format!("accumulated-{}", day(now.date()));
    let event = Event { id, name: names::OBSERVATIONS_ACCUMULATED.to_owned(), data, at: now.timestamp() };
    Ok((true, vec![event]))
}

/// True if another run has observed this window at any time: the lock expires after an hour (CAP-14).
fn is_observed(key: &str, run: &str, context: &StageContext) -> Result<bool, StepError> {
    Ok(lookup::is_observed(&context.db()?, key, run)?)
}

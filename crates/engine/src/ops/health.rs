//! Measures the facts of the health checks. It changes nothing but the table of events, into which it folds the
//! logs. What cannot be measured is left out, and the check of its own subject says why.

use std::collections::HashMap;

use jiff::SignedDuration;
use rekindle_core::base::agent::Agent;
use rekindle_core::base::id::ChangeId;
use rekindle_core::base::time::{Timestamp, Zoned, parse};
use rekindle_core::config::{Config, LlmProvider};
use rekindle_core::recall::document::DocumentSource;
use rekindle_core::telemetry::health::facts::{
    AgentFacts, ExportFacts, HealthFacts, IndexFacts, MemoryFacts, ResourceFacts, SessionFacts, SpentLimit,
    TelemetryFacts, WorkFacts,
};
use rekindle_core::telemetry::health::thresholds::{MAX_CLOCK_DRIFT_MINUTES, RECALL_WINDOW_HOURS};
use rekindle_core::telemetry::log_lines::{HOOK_STAGE, RECALL_STAGE, REFLECT_HOOK};
use rekindle_core::telemetry::{EventPhase, TelemetryEvent};

use crate::agents::hook_log;
use crate::agents::install::{InstallState, Installer};
use crate::agents::transcripts;
use crate::index::models::ModelStore;
use crate::index::{Embedder, RecallIndex};
use crate::jobs::queue::lookup;
use crate::jobs::spool::Spool;
use crate::llm::cost::{usage_by_day, used_tokens_and_cost};
use crate::ops::gate::history;
use crate::ops::learning::{self, LEARNING_DAYS};
use crate::platform::db::{self, Database};
use crate::platform::home::{DataPaths, HomeFolder};
use crate::recall::usage::UsageSummary;
use crate::review::proposals;
use crate::telemetry::export;
use crate::telemetry::read::read;
use crate::telemetry::store::TelemetryFilter;
use crate::vault::{ChangeOutcome, Vault};

/// The stage of the worker itself, which succeeds even if no stage does.
const WORKER_STAGE: &str = "worker";
/// The days after which an unused memory is stale, so that usage must have been counted for as long (FBK-04).
const STALE_DAYS: i64 = 90;
/// The size in bytes of the built-in models, which are part of the program.
const BUILTIN_MODEL_BYTES: u64 = 42_717_820;

/// What is measured, and how.
#[derive(Clone, Copy)]
pub struct HealthRequest<'a> {
    /// The home folder.
    pub home: &'a HomeFolder,
    /// The places of the home.
    pub places: &'a DataPaths,
    /// The settings.
    pub config: &'a Config,
    /// The agents of the person; `None` without a home folder to look in.
    pub installer: Option<&'a Installer<'a>>,
    /// Now, in the person's zone.
    pub now: &'a Zoned,
    /// The window of the rates, in hours.
    pub window_hours: u32,
    /// The time in minutes after which waiting work is a stall.
    pub stall_minutes: u32,
}

/// Measures all facts.
pub fn measure(request: &HealthRequest<'_>) -> HealthFacts {
    let now = request.now.timestamp();
    let db = Database::open_existing(&request.places.database());
    let (db, database_error) = match db {
        Ok(db) => (db, None),
        Err(error) => (None, Some(error.to_string())),
    };
    let mut facts = HealthFacts {
        now,
        window_hours: request.window_hours,
        stall_minutes: request.stall_minutes,
        log_level: request.config.memory.log_level,
        telemetry: telemetry_facts(request, now),
        work: WorkFacts { database_error, ..spool_facts(request.places) },
        sessions: SessionFacts { days: LEARNING_DAYS, ..SessionFacts::default() },
        memories: memory_facts(request.places, now),
        index: index_facts(request, now),
        agents: request.installer.map_or_else(Vec::new, |installer| agent_facts(request, installer)),
        last_gate: history::read(request.places).pop(),
        resources: model_facts(request),
    };
    if let Some(db) = db
        && let Err(error) = add_database_facts(&db, request, &mut facts)
    {
        facts.work.database_error = Some(error.to_string());
    }
    facts
}

fn telemetry_facts(request: &HealthRequest<'_>, now: Timestamp) -> TelemetryFacts {
    let hours = |hours: u32| now - SignedDuration::from_hours(i64::from(hours));
    let since = hours(request.window_hours.max(RECALL_WINDOW_HOURS));
    let filter = TelemetryFilter { since: Some(since), ..TelemetryFilter::default() };
    let listing = read(request.places, &filter, request.config.memory.log_level);
    let mut facts = TelemetryFacts {
        damaged: listing.damaged,
        table_error: listing.table_error,
        ..TelemetryFacts::default()
    };
    let (window, week) = (hours(request.window_hours), hours(RECALL_WINDOW_HOURS));
    let soon = now + SignedDuration::from_mins(MAX_CLOCK_DRIFT_MINUTES);
    for event in &listing.events {
        if event.at > soon {
            facts.future_events += 1;
            continue;
        }
        if event.stage == RECALL_STAGE && event.at >= week {
            facts.recalls += 1;
            facts.recalls_without_hits += u64::from(event.counts.get("results") == Some(&0.0));
        }
        if event.phase == EventPhase::Completed && is_memory_stage(event) {
            facts.last_success = facts.last_success.max(Some(event.at));
        }
        if event.at >= window {
            count_event(event, &mut facts);
        }
    }
    facts
}

/// True for a stage that learns, decides or maintains.
fn is_memory_stage(event: &TelemetryEvent) -> bool {
    ![HOOK_STAGE, RECALL_STAGE, WORKER_STAGE].contains(&event.stage.as_str())
}

fn count_event(event: &TelemetryEvent, facts: &mut TelemetryFacts) {
    facts.events += 1;
    let is_end = matches!(event.phase, EventPhase::Completed | EventPhase::Failed);
    let failed = u64::from(event.phase == EventPhase::Failed);
    match event.stage.as_str() {
        HOOK_STAGE => {
            facts.hook_calls += 1;
            facts.hook_failures += failed;
        }
        RECALL_STAGE => {}
        _ if is_end => {
            facts.ends += 1;
            facts.failures += failed;
        }
        _ => {}
    }
}

fn spool_facts(places: &DataPaths) -> WorkFacts {
    let spool = Spool::in_folder(places.spool_folder());
    let files = spool.pending_files().unwrap_or_default();
    let modified = |path: &std::path::PathBuf| -> Option<Timestamp> {
        std::fs::metadata(path).ok()?.modified().ok()?.try_into().ok()
    };
    WorkFacts {
        waiting: files.len() as u64,
        waiting_since: files.first().and_then(modified),
        unreadable_files: spool.quarantined().len() as u64,
        ..WorkFacts::default()
    }
}

fn add_database_facts(
    db: &Database,
    request: &HealthRequest<'_>,
    facts: &mut HealthFacts,
) -> Result<(), db::Error> {
    let now = facts.now;
    let queued = lookup::queued_work(db, now)?;
    facts.work.waiting += queued.due;
    facts.work.waiting_since = facts.work.waiting_since.into_iter().chain(queued.due_since).min();
    (facts.work.failed_runs, facts.work.dead_runs) = (queued.failed, queued.dead);
    facts.telemetry.export = export_facts(db, request)?;
    let learnt = learning::session_stats(db, now)?;
    (facts.sessions.learnt, facts.sessions.skipped) = (learnt.learnt, learnt.skipped);
    (facts.memories.proposals, facts.memories.oldest_proposal) = proposals::pending_count(db)?;
    facts.memories.unreflected_since = unreflected_since(db)?;
    facts.resources.limits = spent_limits(db, request)?;
    Ok(())
}

fn export_facts(db: &Database, request: &HealthRequest<'_>) -> Result<Option<ExportFacts>, db::Error> {
    let settings = &request.config.telemetry.otlp;
    if !settings.enabled {
        return Ok(None);
    }
    let state = export::state(db, settings)?;
    Ok(Some(ExportFacts { waiting: state.waiting, error: state.error }))
}

/// The first session that was observed after the last reflection.
fn unreflected_since(db: &Database) -> Result<Option<Timestamp>, db::Error> {
    lookup::first_end_without(db, "observe", "reflect")
}

fn spent_limits(db: &Database, request: &HealthRequest<'_>) -> Result<Vec<SpentLimit>, db::Error> {
    let settings = &request.config.llm;
    if settings.provider == LlmProvider::Offline {
        return Ok(Vec::new());
    }
    let today = usage_by_day(db, 1, request.now)?;
    let word = settings.provider.as_str();
    let own = settings.daily_limits(settings.provider);
    let tables = [
        ("llm".to_owned(), (settings.daily_tokens, settings.daily_dollars), None),
        (format!("llm.{word}"), own, Some(word)),
    ];
    let mut limits = Vec::new();
    for (table, (tokens, dollars), provider) in tables {
        let (used, cost) = used_tokens_and_cost(&today, provider);
        let spent = cost.micro_dollars as f64 / 1e6;
        let both = [("daily_tokens", used as f64, tokens as f64), ("daily_dollars", spent, dollars)];
        let set = both.into_iter().filter(|(_, _, limit)| *limit > 0.0);
        limits.extend(set.map(|(key, used, limit)| SpentLimit {
            setting: format!("{table}.{key}"),
            used,
            limit,
        }));
    }
    Ok(limits)
}

/// Counts memories in the index, which is faster than reading them; [`index_facts`] reports a missing index.
fn memory_facts(places: &DataPaths, now: Timestamp) -> MemoryFacts {
    let mut facts = MemoryFacts::default();
    if let Ok(vault) = Vault::open(places) {
        let ideas = vault.ideas().unwrap_or_default();
        facts.ideas = ideas.iter().filter(|idea| idea.is_open()).count() as u64;
    }
    let Ok(Some(snapshot)) = RecallIndex::in_folder(places.index()).open() else { return facts };
    let usage = UsageSummary::read(&places.usage());
    let counted = usage.since().is_some_and(|since| now.as_second() - since >= STALE_DAYS * 24 * 3600);
    let mut stale = 0;
    for number in 0..snapshot.len() {
        let Some(document) = snapshot.document(number) else { continue };
        if document.source != DocumentSource::Entry || !document.active {
            continue;
        }
        facts.memories += 1;
        facts.inbox += u64::from(document.inbox);
        stale += u64::from(counted && usage.usage_score(&document, now.as_second()).stale);
    }
    facts.stale = counted.then_some(stale);
    facts
}

fn index_facts(request: &HealthRequest<'_>, now: Timestamp) -> IndexFacts {
    let broken = |why: String| IndexFacts { broken: Some(why), ..IndexFacts::default() };
    // `database` and `doctor` speak of a home without a vault.
    let Ok(vault) = Vault::open(request.places) else { return IndexFacts::default() };
    let snapshot = match RecallIndex::in_folder(request.places.index()).open() {
        Ok(Some(snapshot)) => snapshot,
        Ok(None) => {
            let has_entries = vault.scan(false).is_ok_and(|scan| !scan.entries.is_empty());
            return match has_entries {
                true => broken("there is no index, so recall reads every note and goes by words".to_owned()),
                false => IndexFacts::default(),
            };
        }
        Err(error) => return broken(error.to_string()),
    };
    let model = ModelStore::open(request.home).load(request.config.embed.model.as_str()).ok();
    let space = model.as_ref().map(|model| Embedder::new(model.name(), model).space());
    if space.is_some_and(|space| !snapshot.is_from_model(&space)) {
        return broken("the index was made with another model, so words alone decide".to_owned());
    }
    IndexFacts {
        broken: None,
        documents: u64::from(snapshot.len()),
        behind_since: behind_since(&vault, snapshot.last_seen_change()).map(|since| since.min(now)),
    }
}

/// The time of the oldest change that the index has not seen. If it saw one that the journal no longer has, only
/// the newest change counts.
fn behind_since(vault: &Vault, seen: Option<&ChangeId>) -> Option<Timestamp> {
    let changes = vault.changes().ok()?.filter_map(Result::ok);
    let (mut newest, mut oldest) = (None, None);
    for record in changes.filter(|record| record.outcome != ChangeOutcome::Pending) {
        if Some(&record.change.id) == seen {
            return oldest;
        }
        let at = parse(&record.change.at);
        newest = newest.or(at);
        oldest = at.or(oldest);
    }
    if seen.is_some() { newest } else { oldest }
}

fn agent_facts(request: &HealthRequest<'_>, installer: &Installer<'_>) -> Vec<AgentFacts> {
    let calls = last_calls(request.places);
    let person = crate::platform::environment::home_folder();
    let statuses = Agent::ALL.into_iter().filter_map(|agent| installer.status(agent).ok());
    let connected = statuses.filter(|status| status.state != InstallState::Absent || status.plugin);
    let facts = connected.map(|status| {
        let untrusted =
            (status.trusted == Some(false)).then(|| "it does not trust the hooks and skips them".to_owned());
        let used = person.as_deref().map(|home| transcripts::find(status.agent, home)).unwrap_or_default();
        AgentFacts {
            name: status.agent.name().to_owned(),
            word: status.agent.as_str().to_owned(),
            obstacle: status.obstacle.or(untrusted),
            last_call: calls.get(status.agent.as_str()).copied(),
            last_used: used.iter().filter_map(|transcript| transcript.modified).max(),
            connected_since: std::fs::metadata(&status.settings)
                .and_then(|file| file.modified())
                .ok()
                .and_then(|modified| modified.try_into().ok()),
        }
    });
    facts.collect()
}

/// The last call of each agent's hooks, by the agent's word.
pub fn last_calls(places: &DataPaths) -> HashMap<String, Timestamp> {
    let mut calls: HashMap<String, Timestamp> = HashMap::new();
    let logs = places.logs_folder();
    let Ok(lines) = hook_log::read_all(&logs) else { return calls };
    for line in lines {
        let Some((agent, hook)) = line["hook"].as_str().and_then(|hook| hook.split_once(' ')) else {
            continue;
        };
        let Some(at) = line["ts"].as_str().and_then(parse) else { continue };
        if hook != REFLECT_HOOK {
            let last = calls.entry(agent.to_owned()).or_insert(at);
            *last = at.max(*last);
        }
    }
    calls
}

fn model_facts(request: &HealthRequest<'_>) -> ResourceFacts {
    let folder = std::fs::read_dir(request.home.models()).into_iter().flatten().flatten();
    let files: Vec<(String, u64)> = folder
        .filter_map(|file| Some((file.file_name().into_string().ok()?, file.metadata().ok()?.len())))
        .collect();
    let used = request.config.embed.model.as_str();
    let stem = used.rsplit('/').next().unwrap_or_default();
    let in_use = files.iter().find(|(name, _)| name.split('.').next() == Some(stem)).map(|(_, bytes)| *bytes);
    ResourceFacts {
        model_disk: files.iter().map(|(_, bytes)| bytes).sum::<u64>() + BUILTIN_MODEL_BYTES,
        model_memory: in_use.unwrap_or(BUILTIN_MODEL_BYTES),
        limits: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// the memory that the built-in models take is their size.
    #[test]
    fn x_13_the_size_of_the_builtin_models_is_known() {
        let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let size = |name: &str| std::fs::metadata(models.join(name)).unwrap().len();
        let all = size("all-minilm-l6-v2.rkm") + size("reader.rkr") + size("statements.rkc");
        assert_eq!(BUILTIN_MODEL_BYTES, all);
    }
}

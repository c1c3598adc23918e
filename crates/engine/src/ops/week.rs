//! Gathers a week for its page (O11-16).

use std::collections::HashMap;

use jiff::ToSpan as _;
use rekindle_core::base::time::{Date, TimeZone, Timestamp, Zoned};
use rekindle_core::config::LogLevel;
use rekindle_core::knowledge::week::{LearntMemory, SessionGroup, WaitingItems, WeekCost, WeekFacts};
use rekindle_core::recall::memory_usage::UsageSignal;
use rekindle_core::telemetry::EventPhase;
use rekindle_core::telemetry::log_lines::RECALL_STAGE;
use rekindle_core::vault::layout::VaultShelf;

use crate::context::{injection_log, injection_stats};
use crate::llm::cost::usage_by_day;
use crate::pipeline::stages::surfaces::SURFACES;
use crate::platform::db::{self, Database};
use crate::platform::home::DataPaths;
use crate::recall::usage::UsageSummary;
use crate::review::proposals;
use crate::telemetry::read::read;
use crate::telemetry::store::TelemetryFilter;
use crate::vault::{ScannedEntry, Vault};

/// The number of days of a week.
const WEEK_DAYS: i64 = 7;

/// The reason why a week cannot be gathered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The notes could not be read.
    #[error(transparent)]
    Vault(#[from] crate::vault::Error),
    /// The database could not be read.
    #[error(transparent)]
    Db(#[from] db::Error),
}

/// The span of a week: its first and last instant.
#[derive(Clone, Copy)]
struct WeekSpan {
    from: Timestamp,
    to: Timestamp,
}

impl WeekSpan {
    fn contains(self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }
}

/// Gathers the seven days that end with `last`. `now` is the current time in the person's zone.
pub fn gather(places: &DataPaths, vault: &Vault, last: Date, now: &Zoned) -> Result<WeekFacts, Error> {
    let zone = now.time_zone();
    let midnight =
        |date: Date| date.to_zoned(zone.clone()).map_or_else(|_| now.timestamp(), |start| start.timestamp());
    let first = last.checked_sub((WEEK_DAYS - 1).days()).unwrap_or(last);
    let span = WeekSpan { from: midnight(first), to: midnight(last.tomorrow().unwrap_or(last)) };
    let scan = vault.scan(false)?;
    let mut week = WeekFacts {
        first,
        last,
        learnt: learnt(&scan.entries, span, zone),
        sessions: 0,
        shown: 0,
        used: 0,
        ignored: 0,
        most_used: Vec::new(),
        repeated: Vec::new(),
        misled: 0,
        recalls: 0,
        recalls_with_hits: 0,
        with_recall: SessionGroup::default(),
        without_recall: SessionGroup::default(),
        waiting: WaitingItems {
            proposals: 0,
            inbox: scan.entries.iter().filter(|found| found.shelf == VaultShelf::Inbox).count() as u64,
            ideas: vault.ideas().map_or(0, |ideas| ideas.iter().filter(|idea| idea.is_open()).count()) as u64,
        },
        cost: WeekCost::default(),
        surface_ends: (0, 0),
    };
    add_usage(&mut week, places, &scan.entries, span);
    add_sessions(&mut week, places, span);
    add_events(&mut week, places, span);
    add_injected_tokens(&mut week, places, now);
    if let Some(db) = Database::open_existing(&places.database())? {
        week.waiting.proposals = proposals::pending_count(&db)?.0;
        add_spending(&mut week, &db, now)?;
    }
    Ok(week)
}

/// The memories that sessions of the week led to, the newest first.
fn learnt(entries: &[ScannedEntry], span: WeekSpan, zone: &TimeZone) -> Vec<LearntMemory> {
    let mut found: Vec<(Timestamp, LearntMemory)> = entries
        .iter()
        .filter(|found| found.shelf != VaultShelf::Inbox && found.entry.provenance.session.is_some())
        .filter_map(|found| Some((found.entry.created.filter(|at| span.contains(*at))?, found)))
        .map(|(at, found)| {
            let project = found.entry.scope.project().map(|project| project.as_str().to_owned());
            let day = at.to_zoned(zone.clone()).date();
            (at, LearntMemory { day, title: found.title.clone(), project })
        })
        .collect();
    found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    found.into_iter().map(|(_, memory)| memory).collect()
}

/// Counts what became of the memories that agents were shown.
fn add_usage(week: &mut WeekFacts, places: &DataPaths, entries: &[ScannedEntry], span: WeekSpan) {
    let title = |id: &str| {
        let is_it = |found: &&ScannedEntry| found.entry.id.as_ref().is_some_and(|own| own.as_str() == id);
        entries.iter().find(is_it).map(|found| found.title.clone())
    };
    let mut used: HashMap<String, u64> = HashMap::new();
    for (id, signal) in UsageSummary::signals_between(&places.usage(), span.from, span.to) {
        match signal {
            UsageSignal::Used => {
                (week.shown, week.used) = (week.shown + 1, week.used + 1);
                *used.entry(id).or_default() += 1;
            }
            UsageSignal::Ignored => (week.shown, week.ignored) = (week.shown + 1, week.ignored + 1),
            UsageSignal::Shown => week.shown += 1,
            UsageSignal::Missed => week.repeated.extend(title(&id)),
            UsageSignal::Misled => week.misled += 1,
            UsageSignal::Good | UsageSignal::Wrong | UsageSignal::Stale | UsageSignal::Recalled => {}
        }
    }
    let mut most: Vec<(String, u64)> =
        used.into_iter().filter_map(|(id, times)| Some((title(&id)?, times))).collect();
    most.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    week.most_used = most;
}

/// Counts prompts and corrections, with recall and without it.
fn add_sessions(week: &mut WeekFacts, places: &DataPaths, span: WeekSpan) {
    for record in injection_log::all_records(places) {
        let held_out = record.is_held_out();
        let turns = record.turns();
        let in_week: Vec<_> = turns.iter().filter(|turn| span.contains(turn.prompt.at)).collect();
        if in_week.is_empty() {
            continue;
        }
        let group = if held_out { &mut week.without_recall } else { &mut week.with_recall };
        group.sessions += 1;
        group.turns += in_week.len() as u64;
        let outcomes = in_week.iter().filter_map(|turn| record.turn_outcome(&turn.prompt.turn));
        group.corrections += outcomes.map(|came| u64::from(came.corrections)).sum::<u64>();
    }
    week.sessions = week.with_recall.sessions + week.without_recall.sessions;
}

fn add_events(week: &mut WeekFacts, places: &DataPaths, span: WeekSpan) {
    let filter = TelemetryFilter { since: Some(span.from), ..TelemetryFilter::default() };
    for event in read(places, &filter, LogLevel::Info).events.iter().filter(|event| span.contains(event.at)) {
        let is_end = matches!(event.phase, EventPhase::Completed | EventPhase::Failed);
        if event.stage == RECALL_STAGE {
            week.recalls += 1;
            week.recalls_with_hits += u64::from(event.counts.get("results").is_some_and(|hits| *hits > 0.0));
        } else if event.stage == SURFACES && is_end {
            week.surface_ends.0 += 1;
            week.surface_ends.1 += u64::from(event.phase == EventPhase::Failed);
        }
    }
}

/// The days from the first of the week until today, for stores that count back from now.
fn days_back(week: &WeekFacts, now: &Zoned) -> u32 {
    u32::try_from((now.date() - week.first).get_days() + 1).unwrap_or(0)
}

fn add_injected_tokens(week: &mut WeekFacts, places: &DataPaths, now: &Zoned) {
    let sessions = injection_stats::sessions(&places.logs_folder(), days_back(week, now), now);
    let sessions = sessions.unwrap_or_default();
    let in_week = sessions.iter().filter(|session| session.day >= week.first && session.day <= week.last);
    week.cost.injected_tokens = in_week.map(|session| session.tokens).sum();
}

fn add_spending(week: &mut WeekFacts, db: &Database, now: &Zoned) -> Result<(), db::Error> {
    for usage in usage_by_day(db, days_back(week, now), now)? {
        if usage.day >= week.first && usage.day <= week.last {
            week.cost.model_tokens += usage.usage.input + usage.usage.output;
            week.cost.micro_dollars += usage.cost.micro_dollars;
        }
    }
    Ok(())
}

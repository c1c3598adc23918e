//! Numbers about memory over time, for plots.

use std::collections::BTreeMap;

use jiff::ToSpan as _;
use rekindle_core::base::time::{Date, Timestamp, day};
use rekindle_core::recall::memory_usage::UsageSignal;
use rekindle_core::telemetry::TelemetryEvent;
use rekindle_core::telemetry::log_lines::RECALL_STAGE;
use rekindle_engine::context::injection_stats;
use rekindle_engine::platform::db::Database;
use rekindle_engine::recall::eval;
use rekindle_engine::recall::usage::UsageSummary;
use rekindle_engine::review::proposals;
use rekindle_engine::telemetry::read::read;
use rekindle_engine::telemetry::store::TelemetryFilter;

use super::CommandContext;
use crate::error::CliError;

/// The most kinds with a colour of their own; the rest is one.
const MAX_KINDS: usize = 5;
/// The ages of waiting proposals: the last day of each group, and its words.
const AGES: [(i64, &str); 5] =
    [(0, "today"), (2, "1–2 days"), (6, "3–6 days"), (13, "7–13 days"), (i64::MAX, "14 days or more")];

/// Values over common labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlotData {
    pub(crate) labels: Vec<String>,
    pub(crate) series: Vec<PlotSeries>,
}

/// One row of values. A missing value is a gap.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlotSeries {
    pub(crate) name: String,
    pub(crate) values: Vec<Option<f64>>,
}

impl PlotData {
    /// True if there is nothing to draw.
    pub(crate) fn is_empty(&self) -> bool {
        !self.series.iter().flat_map(|series| &series.values).flatten().any(|value| *value > 0.0)
    }
}

/// A memory that the person had to repeat.
pub(crate) struct RepeatedMemory {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) times: u64,
}

/// Everything about the last days.
pub(crate) struct InsightReport {
    pub(crate) memories: PlotData,
    pub(crate) tokens: PlotData,
    pub(crate) outcomes: PlotData,
    pub(crate) answers: PlotData,
    pub(crate) latency: PlotData,
    pub(crate) ages: PlotData,
    pub(crate) quality: PlotData,
    pub(crate) repeated: Vec<RepeatedMemory>,
}

/// Gathers the numbers of the last `days` days.
pub(crate) fn gather(context: &CommandContext<'_>, days: u32) -> Result<InsightReport, CliError> {
    let last = context.now.date();
    let all: Vec<Date> =
        (0..i64::from(days)).rev().filter_map(|back| last.checked_sub(back.days()).ok()).collect();
    let labels: Vec<String> = all.iter().map(|date| day(*date)).collect();
    let since = all.first().and_then(|first| first.to_zoned(context.now.time_zone().clone()).ok());
    let since = since.map_or(context.now.timestamp(), |start| start.timestamp());
    let filter = TelemetryFilter {
        since: Some(since),
        stage: Some(RECALL_STAGE.to_owned()),
        ..TelemetryFilter::default()
    };
    let recalls = read(&context.places, &filter, context.settings.config.memory.log_level).events;
    let signals = signals(context, &all);
    Ok(InsightReport {
        memories: memories(context, &all)?,
        tokens: tokens(context, days, &all),
        outcomes: of_series(&labels, &["used", "ignored", "corrected"], |name| {
            let wanted = match name {
                "used" => UsageSignal::Used,
                "ignored" => UsageSignal::Ignored,
                _ => UsageSignal::Misled,
            };
            all.iter().map(|date| count(&signals, *date, wanted)).collect()
        }),
        answers: of_series(&labels, &["answered", "silent"], |name| {
            let has_hits =
                |event: &TelemetryEvent| event.counts.get("results").is_some_and(|hits| *hits > 0.0);
            by_day(context, &recalls, &all, |events| {
                Some(events.iter().filter(|event| has_hits(event) == (name == "answered")).count() as f64)
            })
        }),
        latency: of_series(&labels, &["half of them", "95 of 100"], |name| {
            let share = if name == "half of them" { 0.5 } else { 0.95 };
            by_day(context, &recalls, &all, |events| percentile(events, share))
        }),
        ages: ages(context)?,
        quality: quality(context),
        repeated: repeated(context, &signals)?,
    })
}

fn of_series(labels: &[String], names: &[&str], values: impl Fn(&str) -> Vec<Option<f64>>) -> PlotData {
    let series = |name: &&str| PlotSeries { name: (*name).to_owned(), values: values(name) };
    PlotData { labels: labels.to_vec(), series: names.iter().map(series).collect() }
}

/// The number of memories at the end of each day, by kind.
fn memories(context: &CommandContext<'_>, days: &[Date]) -> Result<PlotData, CliError> {
    let zone = context.now.time_zone();
    let mut by_kind: BTreeMap<String, Vec<Date>> = BTreeMap::new();
    for found in context.vault()?.scan(false)?.entries {
        let Some(at) = found.entry.created.or(found.entry.updated) else { continue };
        by_kind.entry(found.entry.kind).or_default().push(at.to_zoned(zone.clone()).date());
    }
    let mut kinds: Vec<(String, Vec<Date>)> = by_kind.into_iter().collect();
    kinds.sort_by_key(|(_, dates)| std::cmp::Reverse(dates.len()));
    let rest: Vec<Date> = kinds.iter().skip(MAX_KINDS).flat_map(|(_, dates)| dates.clone()).collect();
    kinds.truncate(MAX_KINDS);
    if !rest.is_empty() {
        kinds.push(("other".to_owned(), rest));
    }
    let series = kinds.into_iter().map(|(name, dates)| {
        let until = |day: &Date| Some(dates.iter().filter(|date| *date <= day).count() as f64);
        PlotSeries { name, values: days.iter().map(until).collect() }
    });
    Ok(PlotData { labels: days.iter().map(|date| day(*date)).collect(), series: series.collect() })
}

fn tokens(context: &CommandContext<'_>, days: u32, all: &[Date]) -> PlotData {
    let sessions = injection_stats::sessions(&context.places.logs_folder(), days, &context.now);
    let sessions = sessions.unwrap_or_default();
    let on = |date: &Date| {
        let on_day = sessions.iter().filter(|session| session.day == *date);
        Some(on_day.map(|session| session.tokens).sum::<u64>() as f64)
    };
    let values = all.iter().map(on).collect();
    PlotData {
        labels: all.iter().map(|date| day(*date)).collect(),
        series: vec![PlotSeries { name: "tokens".to_owned(), values }],
    }
}

type DatedSignal = (Date, String, UsageSignal);

/// The signals about memories, by day.
fn signals(context: &CommandContext<'_>, days: &[Date]) -> Vec<DatedSignal> {
    let zone = context.now.time_zone();
    let midnight = |date: Date| date.to_zoned(zone.clone()).ok().map(|start| start.timestamp());
    let file = context.places.usage();
    let mut all = Vec::new();
    for date in days {
        let end = date.tomorrow().ok().and_then(midnight);
        let (Some(from), Some(to)) = (midnight(*date), end) else { continue };
        let found = UsageSummary::signals_between(&file, from, to);
        all.extend(found.into_iter().map(|(id, signal)| (*date, id, signal)));
    }
    all
}

fn count(signals: &[DatedSignal], date: Date, wanted: UsageSignal) -> Option<f64> {
    Some(signals.iter().filter(|(on, _, signal)| *on == date && *signal == wanted).count() as f64)
}

fn by_day(
    context: &CommandContext<'_>,
    events: &[TelemetryEvent],
    days: &[Date],
    value: impl Fn(&[&TelemetryEvent]) -> Option<f64>,
) -> Vec<Option<f64>> {
    let zone = context.now.time_zone();
    let date = |at: Timestamp| at.to_zoned(zone.clone()).date();
    let mut by: BTreeMap<Date, Vec<&TelemetryEvent>> = BTreeMap::new();
    for event in events {
        by.entry(date(event.at)).or_default().push(event);
    }
    days.iter().map(|date| by.get(date).and_then(|events| value(events))).collect()
}

/// The duration within which this share of the events ended, in milliseconds.
fn percentile(events: &[&TelemetryEvent], share: f64) -> Option<f64> {
    let mut took: Vec<f64> = events.iter().filter_map(|event| event.duration_ms).collect();
    took.sort_by(f64::total_cmp);
    let at = ((took.len() as f64 * share).ceil() as usize).saturating_sub(1);
    took.get(at).copied()
}

/// The number of waiting proposals by age.
fn ages(context: &CommandContext<'_>) -> Result<PlotData, CliError> {
    let now = context.now.timestamp();
    let open = match Database::open_existing(&context.places.database())? {
        Some(db) => proposals::list_proposals(&db, true)?,
        None => Vec::new(),
    };
    let group = |days: i64| AGES.iter().position(|(most, _)| days <= *most);
    let counted = (0..AGES.len())
        .map(|at| Some(open.iter().filter(|record| group(record.days(now)) == Some(at)).count() as f64));
    Ok(PlotData {
        labels: AGES.iter().map(|(_, words)| (*words).to_owned()).collect(),
        series: vec![PlotSeries { name: "proposals".to_owned(), values: counted.collect() }],
    })
}

/// The results of `rekindle eval`, the oldest first.
fn quality(context: &CommandContext<'_>) -> PlotData {
    let runs: Vec<eval::EvalRun> =
        eval::history(&context.places.evaluations_file()).into_iter().flatten().collect();
    let series = |name: &str, value: fn(&eval::EvalRun) -> f64| PlotSeries {
        name: name.to_owned(),
        values: runs.iter().map(|run| Some(value(run))).collect(),
    };
    PlotData {
        labels: runs.iter().map(|run| run.at.split('T').next().unwrap_or_default().to_owned()).collect(),
        series: vec![series("found", |run| run.hit_at_k), series("mean reciprocal rank", |run| run.mrr)],
    }
}

/// The memories that the person had to repeat, the most often repeated first.
fn repeated(context: &CommandContext<'_>, signals: &[DatedSignal]) -> Result<Vec<RepeatedMemory>, CliError> {
    let mut times: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, id, _) in signals.iter().filter(|(_, _, signal)| *signal == UsageSignal::Missed) {
        *times.entry(id).or_default() += 1;
    }
    if times.is_empty() {
        return Ok(Vec::new());
    }
    let entries = context.vault()?.scan(false)?.entries;
    let title = |id: &str| {
        let found =
            entries.iter().find(|found| found.entry.id.as_ref().is_some_and(|own| own.as_str() == id));
        found.map(|found| found.title.clone())
    };
    let mut all: Vec<RepeatedMemory> = times
        .into_iter()
        .filter_map(|(id, times)| Some(RepeatedMemory { id: id.to_owned(), title: title(id)?, times }))
        .collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.times));
    Ok(all)
}

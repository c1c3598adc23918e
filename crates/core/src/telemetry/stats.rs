//! Events summed up by stage (O11-05).

use std::collections::BTreeMap;

use serde::Serialize;

use super::event::{EventLevel, EventPhase, TelemetryEvent};
use crate::base::time::Timestamp;

/// The events of one stage, summed up.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StageStats {
    /// The number of starts.
    pub started: u64,
    /// The number of successful ends, including those with nothing to do.
    pub completed: u64,
    /// The number of ends with nothing to do.
    pub skipped: u64,
    /// The number of failures, including those that were retried.
    pub failed: u64,
    /// The number of warnings and errors.
    pub warnings: u64,
    /// The last successful end.
    pub last_completed: Option<Timestamp>,
    /// The last failure.
    pub last_failed: Option<Timestamp>,
    /// The median duration in milliseconds.
    pub p50_ms: Option<f64>,
    /// The duration in milliseconds that 95 % of the ends stay below.
    pub p95_ms: Option<f64>,
}

/// Events summed up.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TelemetryStats {
    /// The number of events.
    pub events: u64,
    /// The number of events by level.
    pub levels: BTreeMap<EventLevel, u64>,
    /// The stages, by name.
    pub stages: BTreeMap<String, StageStats>,
}

impl TelemetryStats {
    /// Sums up events in any order.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a TelemetryEvent>) -> Self {
        let mut stats = Self::default();
        let mut durations: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for event in events {
            stats.events += 1;
            *stats.levels.entry(event.level).or_default() += 1;
            let stage = stats.stages.entry(event.stage.clone()).or_default();
            stage.warnings += u64::from(event.level >= EventLevel::Warn);
            match event.phase {
                EventPhase::Started => stage.started += 1,
                EventPhase::Step => continue,
                EventPhase::Completed => {
                    stage.completed += 1;
                    stage.skipped += u64::from(event.skipped);
                    stage.last_completed = stage.last_completed.max(Some(event.at));
                }
                EventPhase::Failed => {
                    stage.failed += 1;
                    stage.last_failed = stage.last_failed.max(Some(event.at));
                }
            }
            if let (Some(took), false) = (event.duration_ms, event.skipped) {
                durations.entry(&event.stage).or_default().push(took);
            }
        }
        for (name, mut took) in durations {
            took.sort_by(f64::total_cmp);
            if let Some(stage) = stats.stages.get_mut(name) {
                stage.p50_ms = percentile(&took, 50);
                stage.p95_ms = percentile(&took, 95);
            }
        }
        stats
    }

    /// The number of ends and the number of failures among them, of the stages that `counts` accepts.
    pub fn ends(&self, counts: impl Fn(&str) -> bool) -> (u64, u64) {
        let stages = self.stages.iter().filter(|(name, _)| counts(name));
        stages.fold((0, 0), |(ends, failed), (_, stage)| {
            (ends + stage.completed + stage.failed, failed + stage.failed)
        })
    }
}

/// The value below which `percent` of the sorted values lie.
fn percentile(sorted: &[f64], percent: usize) -> Option<f64> {
    let at = (sorted.len() * percent / 100).min(sorted.len().checked_sub(1)?);
    sorted.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O11-05: events are counted by stage, with their durations.
    #[test]
    fn o11_05_events_are_summed_up_by_stage() {
        let event = |stage: &str, phase, level, second: i64, took: f64| TelemetryEvent {
            duration_ms: Some(took),
            ..TelemetryEvent::new(String::new(), Timestamp::from_second(second).unwrap(), stage, phase, level)
        };
        let (completed, failed) = (EventPhase::Completed, EventPhase::Failed);
        let mut events: Vec<TelemetryEvent> = (0..100)
            .map(|second| event("observe", completed, EventLevel::Info, second, second as f64))
            .collect();
        events.push(event("observe", failed, EventLevel::Warn, 200, 1.0));
        events.push(event("reflect", EventPhase::Started, EventLevel::Info, 300, 0.0));
        let mut nothing = event("reflect", completed, EventLevel::Info, 301, 9.0);
        nothing.skipped = true;
        events.push(nothing);
        let stats = TelemetryStats::of(&events);
        let observe = &stats.stages["observe"];
        assert_eq!((observe.completed, observe.failed, observe.warnings), (100, 1, 1));
        assert_eq!(observe.last_completed, Timestamp::from_second(99).ok());
        assert!(observe.p50_ms.unwrap() < observe.p95_ms.unwrap());
        let reflect = &stats.stages["reflect"];
        assert_eq!((reflect.started, reflect.skipped), (1, 1));
        assert_eq!(stats.ends(|stage| stage == "observe"), (101, 1));
        assert_eq!((stats.events, stats.levels[&EventLevel::Warn]), (103, 1));
        assert_eq!(TelemetryStats::of([]).ends(|_| true), (0, 0));
    }
}

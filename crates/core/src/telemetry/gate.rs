//! The gate: one verdict over a fact's way through the installed hooks, the weekly job and health (O11-11, B-10).

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::agent::Agent;
use crate::base::time::Timestamp;

/// The days after which the gate runs again by itself.
pub const GATE_INTERVAL_DAYS: i64 = 7;
/// The hours after which a gate that failed runs again by itself.
const FAILED_GATE_INTERVAL_HOURS: i64 = 24;

/// The parts of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GatePart {
    /// What has to be true before anything can work.
    Setup,
    /// A fact's way through the hooks and back (O11-09).
    E2e,
    /// The weekly job (O11-10).
    Weekly,
    /// The health checks (O11-07).
    Health,
}

impl GatePart {
    /// The part's name for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::E2e => "e2e",
            Self::Weekly => "weekly",
            Self::Health => "health",
        }
    }
}

/// A failure of a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateFailure {
    /// What was wrong.
    pub what: String,
    /// The hook that it happened at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// The command that mends it, with what it does.
    pub next: String,
}

/// A step of a gate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateStep {
    /// The part that it belongs to.
    pub part: GatePart,
    /// The agent whose hooks were called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// The name of the step.
    pub step: &'static str,
    /// What was seen.
    pub evidence: String,
    /// The duration in seconds.
    pub seconds: f64,
    /// The failure, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<GateFailure>,
}

impl GateStep {
    /// A step that succeeded.
    pub fn passed(part: GatePart, step: &'static str, evidence: impl Into<String>) -> Self {
        Self { part, agent: None, step, evidence: evidence.into(), seconds: 0.0, failure: None }
    }

    /// A step that failed.
    pub fn failed(part: GatePart, step: &'static str, failure: GateFailure) -> Self {
        Self { failure: Some(failure), ..Self::passed(part, step, "") }
    }
}

/// The result of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GateReport {
    /// The time of its beginning.
    pub at: Timestamp,
    /// The version of the program.
    pub version: String,
    /// The duration in seconds.
    pub seconds: f64,
    /// The steps, in order.
    pub steps: Vec<GateStep>,
    /// The numbers of the round trip of each agent (O11-09).
    pub round_trips: Vec<Value>,
}

impl GateReport {
    /// True if something was checked and nothing failed.
    pub fn is_green(&self) -> bool {
        !self.steps.is_empty() && self.failures().next().is_none()
    }

    /// The failed steps, each with its failure.
    pub fn failures(&self) -> impl Iterator<Item = (&GateStep, &GateFailure)> {
        self.steps.iter().filter_map(|step| Some((step, step.failure.as_ref()?)))
    }

    /// The report as JSON: the verdict, its time window, and every step.
    pub fn to_json(&self) -> Value {
        let end = SignedDuration::try_from_secs_f64(self.seconds).map_or(self.at, |took| self.at + took);
        let next: Vec<&str> = self.failures().map(|(_, failure)| failure.next.as_str()).collect();
        json!({
            "ok": self.is_green(),
            "version": self.version,
            "window": {"from": self.at, "to": end},
            "seconds": self.seconds,
            "steps": self.steps,
            "roundTrips": self.round_trips,
            "nextActions": next,
        })
    }

    /// What is kept of it.
    pub fn record(&self) -> GateRecord {
        let failed = self.failures().map(|(step, failure)| FailedStep {
            part: step.part,
            agent: step.agent,
            step: step.step.to_owned(),
            failure: failure.clone(),
        });
        GateRecord {
            at: self.at,
            version: self.version.clone(),
            ok: self.is_green(),
            seconds: self.seconds,
            failed: failed.collect(),
        }
    }
}

/// A failed step in the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedStep {
    /// The part that it belongs to.
    pub part: GatePart,
    /// The agent whose hooks were called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// The name of the step.
    pub step: String,
    /// The failure.
    #[serde(flatten)]
    pub failure: GateFailure,
}

/// A gate in the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateRecord {
    /// The time of its beginning.
    pub at: Timestamp,
    /// The version of the program.
    pub version: String,
    /// True if everything worked.
    pub ok: bool,
    /// The duration in seconds.
    pub seconds: f64,
    /// The steps that failed.
    #[serde(default)]
    pub failed: Vec<FailedStep>,
}

/// True if the gate has to run by itself: a week after the last one, a day after a failed one, or after an update
/// of the program. A time in the future comes from a clock that was wrong.
pub fn is_due(last: Option<&GateRecord>, version: &str, now: Timestamp) -> bool {
    let Some(last) = last else { return true };
    let interval = match last.ok {
        true => SignedDuration::from_hours(24 * GATE_INTERVAL_DAYS),
        false => SignedDuration::from_hours(FAILED_GATE_INTERVAL_HOURS),
    };
    let age = now.duration_since(last.at);
    last.version != version || age.is_negative() || age >= interval
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;

    use super::*;

    fn record(ok: bool) -> GateRecord {
        let at = "2026-11-19T10:00:00Z".parse().unwrap();
        GateRecord { at, version: "1.0.0".to_owned(), ok, seconds: 4.0, failed: Vec::new() }
    }

    /// B-10: the gate runs once a week, after an update, and a day after it failed.
    #[test]
    fn b_10_the_gate_runs_weekly_and_after_an_update() {
        let (green, red) = (record(true), record(false));
        let after = |hours: i64| green.at + hours.hours();
        assert!(is_due(None, "1.0.0", green.at));
        for (last, version, hours, due) in [
            (&green, "1.0.0", 0, false),
            (&green, "1.0.0", 7 * 24 - 1, false),
            (&green, "1.0.0", 7 * 24, true),
            (&green, "1.0.1", 0, true),
            (&green, "1.0.0", -1, true),
            (&red, "1.0.0", 23, false),
            (&red, "1.0.0", 24, true),
        ] {
            assert_eq!(is_due(Some(last), version, after(hours)), due, "{version} after {hours} hours");
        }
    }

    /// O11-11: one verdict: a failure of any part makes it red, and nothing checked is not green.
    #[test]
    fn o11_11_one_failure_makes_the_verdict_red() {
        let at = record(true).at;
        let passed = GateStep::passed(GatePart::Weekly, "ran", "on Sunday");
        let what =
            GateFailure { what: "it is gone".to_owned(), hook: None, next: "`rekindle install`".to_owned() };
        let failed = GateStep::failed(GatePart::E2e, "captured", what);
        let report = |steps: &[&GateStep]| GateReport {
            at,
            version: "1.0.0".to_owned(),
            seconds: 1.5,
            steps: steps.iter().map(|step| (*step).clone()).collect(),
            round_trips: Vec::new(),
        };
        assert!(report(&[&passed]).is_green() && !report(&[]).is_green());
        let red = report(&[&passed, &failed]);
        assert!(!red.is_green());
        assert_eq!(red.to_json()["nextActions"], json!(["`rekindle install`"]));
        let kept = serde_json::to_string(&red.record()).unwrap();
        assert_eq!(serde_json::from_str::<GateRecord>(&kept).unwrap(), red.record());
    }
}

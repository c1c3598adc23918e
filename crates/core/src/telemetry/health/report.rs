//! The checks and their results.

use serde::Serialize;
use serde_json::{Value, json};

use super::HealthFacts;
use super::checks::CHECKS;
use crate::telemetry::EventLevel;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckOutcome {
    /// The threshold is kept.
    Pass,
    /// The threshold is not kept.
    Fail,
    /// There is too little to measure.
    Unmeasured,
}

/// A check and its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HealthCheck {
    /// The name of the check.
    pub check: &'static str,
    /// The result.
    pub outcome: CheckOutcome,
    /// The severity of a failure.
    pub level: EventLevel,
    /// What was measured.
    pub evidence: String,
    /// The threshold.
    pub threshold: String,
    /// The command that mends it, with what it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The finding of a check: its result, the evidence and the mend.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    pub(super) outcome: CheckOutcome,
    pub(super) evidence: String,
    pub(super) next: Option<String>,
}

impl Finding {
    /// Passes if `kept` is true; `next` mends a failure.
    pub(super) fn judge(kept: bool, evidence: impl Into<String>, next: impl Into<String>) -> Self {
        let outcome = if kept { CheckOutcome::Pass } else { CheckOutcome::Fail };
        Self { outcome, evidence: evidence.into(), next: (!kept).then(|| next.into()) }
    }

    /// There is too little to measure.
    pub(super) fn unmeasured(evidence: impl Into<String>) -> Self {
        Self { outcome: CheckOutcome::Unmeasured, evidence: evidence.into(), next: None }
    }
}

/// The results of all checks.
#[derive(Clone, Debug, PartialEq)]
pub struct HealthReport {
    /// The checks, in a fixed order.
    pub checks: Vec<HealthCheck>,
    /// The numbers behind the error rate (O11-07).
    evidence: Value,
    /// True if staleness can be told.
    stale_metric_supported: bool,
}

impl HealthReport {
    /// Decides all checks.
    pub fn of(facts: &HealthFacts) -> Self {
        let checks = CHECKS.iter().map(|check| {
            let Finding { outcome, evidence, next } = (check.decide)(facts);
            let threshold = (check.threshold)(facts);
            HealthCheck { check: check.name, outcome, level: check.level, evidence, threshold, next }
        });
        let telemetry = &facts.telemetry;
        Self {
            checks: checks.collect(),
            evidence: json!({
                "windowHours": facts.window_hours,
                "events": telemetry.events,
                "ends": telemetry.ends,
                "failed": telemetry.failures,
                "lastSuccess": telemetry.last_success,
                "errorRateBasis": "failed / (completed + failed) of all stages but hooks and recall",
            }),
            stale_metric_supported: facts.memories.stale.is_some(),
        }
    }

    /// True if no check fails.
    pub fn is_healthy(&self) -> bool {
        self.failures().next().is_none()
    }

    /// The checks that fail.
    pub fn failures(&self) -> impl Iterator<Item = &HealthCheck> {
        self.checks.iter().filter(|check| check.outcome == CheckOutcome::Fail)
    }

    /// The report as JSON (O11-07).
    pub fn to_json(&self) -> Value {
        json!({
            "ok": self.is_healthy(),
            "checks": self.checks,
            "nextActions": self.failures().filter_map(|check| check.next.as_ref()).collect::<Vec<_>>(),
            "otelEvidence": self.evidence,
            "staleMetricSupported": self.stale_metric_supported,
        })
    }
}

//! Alerts: what fails, in one line where a person is. The same alert is told once a day.

use serde::{Deserialize, Serialize};

use super::HealthReport;
use crate::telemetry::EventLevel;
use crate::text::clean::one_line;

/// The maximum length of an alert, in characters.
const MAX_ALERT_CHARS: usize = 160;

/// A failed check, as it is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthAlert {
    /// The name of the check.
    pub check: String,
    /// The severity.
    pub level: EventLevel,
    /// The evidence and the command that mends it.
    pub text: String,
}

/// The alerts of a report, the most severe first.
pub fn alerts(report: &HealthReport) -> Vec<HealthAlert> {
    let alert = |check: &super::HealthCheck| {
        let next = check.next.as_ref().map_or_else(String::new, |next| format!(": {next}"));
        let text = one_line(&format!("{}{next}", check.evidence), MAX_ALERT_CHARS);
        HealthAlert { check: check.check.to_owned(), level: check.level, text }
    };
    let mut alerts: Vec<HealthAlert> = report.failures().map(alert).collect();
    alerts.sort_by_key(|alert| std::cmp::Reverse(alert.level));
    alerts
}

/// One line for all alerts; `None` if there are none.
pub fn alert_line(alerts: &[HealthAlert]) -> Option<String> {
    let (first, rest) = alerts.split_first()?;
    // Anybody can write the file that it comes from.
    let text = one_line(&first.text, MAX_ALERT_CHARS);
    Some(match rest.len() {
        0 => format!("Rekindle: {text}"),
        more => format!("Rekindle: {text}; {more} more (`rekindle health`)"),
    })
}

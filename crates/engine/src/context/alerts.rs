//! Alerts of the health checks. The worker writes them to a small file of the state folder; the hook at a
//! session's start shows them to the person in one line, each at most once in 24 hours, and the status line counts
//! them. Without alerts a hook pays for one `stat`.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::Timestamp;
use rekindle_core::hosts::hook::{HookKind, HookSignal};
use rekindle_core::telemetry::health::alert::{HealthAlert, alert_line};
use serde::{Deserialize, Serialize};

use crate::context::notices;
use crate::platform::disk::{self, FileContent};
use crate::platform::home::DataPaths;

/// The longest wait of a hook for the record of shown alerts.
const HOOK_LOCK_TIMEOUT: Duration = Duration::from_millis(50);
/// The size limit of the file, far above its real size.
const MAX_BYTES: u64 = 64 * 1024;
/// The time in seconds after which an alert is shown again.
const REPEAT_SECONDS: i64 = 24 * 3600;

/// The alerts of the last measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredAlerts {
    /// The time of the measurement.
    pub at: Timestamp,
    /// The alerts, the most severe first.
    pub alerts: Vec<HealthAlert>,
}

/// The alerts. The file exists only while there are some.
fn file(places: &DataPaths) -> PathBuf {
    places.state().join("alerts.json")
}

/// The time of the last measurement.
fn measured_file(places: &DataPaths) -> PathBuf {
    places.state().join("health-measured")
}

/// The alerts that were shown, one per line, with the second of it.
fn shown_file(places: &DataPaths) -> PathBuf {
    places.notices_file().join("alerts")
}

/// Stores the alerts of a measurement.
pub fn write(places: &DataPaths, stored: &StoredAlerts) -> io::Result<()> {
    disk::write_atomic(&measured_file(places), stored.at.as_second().to_string().as_bytes())?;
    match stored.alerts.is_empty() {
        true if file(places).exists() => disk::remove(&file(places)),
        true => Ok(()),
        false => disk::write_atomic(&file(places), &serde_json::to_vec(stored)?),
    }
}

/// Reads the alerts. A missing or damaged file has none; the next measurement writes it again.
pub fn read(places: &DataPaths) -> StoredAlerts {
    match disk::read(&file(places), MAX_BYTES) {
        Ok(FileContent::Bytes(bytes)) => serde_json::from_slice(&bytes).unwrap_or_default(),
        _ => StoredAlerts::default(),
    }
}

/// True if the last measurement is at least `pause` old, or if the clock was set back since.
pub fn is_due(places: &DataPaths, now: Timestamp, pause: Duration) -> bool {
    let text = std::fs::read_to_string(measured_file(places)).unwrap_or_default();
    let Ok(measured) = text.trim().parse::<i64>() else { return true };
    let age = now.as_second() - measured;
    age < 0 || age.unsigned_abs() >= pause.as_secs()
}

/// Takes the line about alerts that were not shown for a day, at the start of a session that a person sees.
pub fn take_line(places: &DataPaths, signal: &HookSignal, input: &[u8], now: Timestamp) -> Option<String> {
    let may_show = signal.kind == HookKind::Start && !signal.subagent && file(places).exists();
    if !may_show || !notices::is_interactive(signal.agent, input) {
        return None;
    }
    claim_line(places, now)
}

fn claim_line(places: &DataPaths, now: Timestamp) -> Option<String> {
    let alerts = read(places).alerts;
    disk::create_private_folder(&places.notices_file()).ok()?;
    let now = now.as_second();
    let mut new: Vec<HealthAlert> = Vec::new();
    disk::update_locked(&shown_file(places), HOOK_LOCK_TIMEOUT, |text| {
        // A time in the future is from a clock that was wrong.
        let is_recent = |line: &&str| {
            let at = line.rsplit(' ').next().and_then(|at| at.parse::<i64>().ok());
            at.is_some_and(|at| at <= now && now - at < REPEAT_SECONDS)
        };
        let recent: Vec<&str> = text.lines().filter(is_recent).collect();
        let is_shown =
            |alert: &HealthAlert| recent.iter().any(|line| line.split(' ').next() == Some(&alert.check));
        new = alerts.iter().filter(|alert| !is_shown(alert)).cloned().collect();
        let added = new.iter().map(|alert| format!("{} {now}", alert.check));
        let lines: Vec<String> = recent.iter().map(|line| (*line).to_owned()).chain(added).collect();
        (!new.is_empty()).then(|| lines.iter().map(|line| format!("{line}\n")).collect())
    })
    .ok()?;
    alert_line(&new)
}

/// Forgets that alerts were shown, because a new measurement does not have them any more: they are news if they
/// come back.
pub fn forget_resolved(places: &DataPaths, alerts: &[HealthAlert]) {
    if !shown_file(places).exists() {
        return;
    }
    disk::update_locked(&shown_file(places), HOOK_LOCK_TIMEOUT, |text| {
        let is_open =
            |line: &&str| alerts.iter().any(|alert| line.split(' ').next() == Some(alert.check.as_str()));
        let open: Vec<&str> = text.lines().filter(is_open).collect();
        (open.len() < text.lines().count()).then(|| open.iter().map(|line| format!("{line}\n")).collect())
    })
    .map(drop)
    .ignore_failure("an alert that comes back is told a day later at worst");
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test plays the other programs")]

    use std::path::Path;

    use rekindle_core::telemetry::EventLevel;

    use super::*;
    use crate::platform::home::HomeFolder;

    fn places(folder: &Path) -> DataPaths {
        let home = HomeFolder::find_with(Some(folder), None, None).unwrap();
        let config = crate::config::read_with(&home, None, &[], &|_| None).unwrap().config;
        home.data_paths(&config).unwrap()
    }

    fn alert(check: &str) -> HealthAlert {
        HealthAlert { check: check.to_owned(), level: EventLevel::Error, text: format!("{check} fails") }
    }

    fn second(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    /// O11-06: the same alert is told once a day, and again if it comes back after it was resolved.
    #[test]
    fn o11_06_the_same_alert_is_told_once_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        std::fs::create_dir_all(places.state()).unwrap();
        let stored = StoredAlerts { at: second(0), alerts: vec![alert("deadRuns"), alert("inbox")] };
        write(&places, &stored).unwrap();
        assert_eq!(read(&places), stored);
        let line = claim_line(&places, second(1)).unwrap();
        assert_eq!(line, "Rekindle: deadRuns fails; 1 more (`rekindle health`)");
        assert_eq!(claim_line(&places, second(3600)), None);
        let more = StoredAlerts { alerts: vec![alert("deadRuns"), alert("spend")], ..stored.clone() };
        write(&places, &more).unwrap();
        assert_eq!(claim_line(&places, second(3601)).unwrap(), "Rekindle: spend fails");
        assert!(claim_line(&places, second(REPEAT_SECONDS + 2)).unwrap().starts_with("Rekindle: deadRuns"));
        // The clock was ahead when it was told.
        assert!(claim_line(&places, second(-10)).is_some());
        forget_resolved(&places, &[alert("spend")]);
        assert!(claim_line(&places, second(-9)).unwrap().contains("deadRuns"));
        write(&places, &StoredAlerts { at: second(5), alerts: Vec::new() }).unwrap();
        assert!(!file(&places).exists() && read(&places).alerts.is_empty());
    }

    #[test]
    fn a_damaged_file_has_no_alerts_and_a_wrong_clock_measures_again() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        std::fs::create_dir_all(places.state()).unwrap();
        let pause = Duration::from_secs(600);
        assert!(is_due(&places, second(0), pause));
        write(&places, &StoredAlerts { at: second(0), alerts: vec![alert("inbox")] }).unwrap();
        assert!(!is_due(&places, second(599), pause) && is_due(&places, second(600), pause));
        assert!(is_due(&places, second(-60), pause));
        std::fs::write(file(&places), "{\"at\": rubbish").unwrap();
        assert_eq!(read(&places), StoredAlerts::default());
        assert_eq!(claim_line(&places, second(1)), None);
    }
}

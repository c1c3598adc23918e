//! Alerts of the health checks. The worker writes them to a small file of the state folder; the hook at a
//! session's start shows them to the person in one line, each at most once in 24 hours, and the status line counts
//! them. Without alerts a hook pays for one `stat`.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

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

/// A place where a person is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertChannel {
    /// A line at the start of a session.
    Session,
    /// A message to the person's phone.
    Telegram,
}

impl AlertChannel {
    /// The alerts that were told there, one per line, with the second of it.
    fn file(self, places: &DataPaths) -> PathBuf {
        places.notices_file().join(match self {
            Self::Session => "alerts",
            Self::Telegram => "alerts-sent",
        })
    }
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
    alert_line(&claim(places, &read(places).alerts, AlertChannel::Session, now))
}

/// Claims the alerts that were not told in a channel for a day. They count as told.
pub fn claim(
    places: &DataPaths,
    alerts: &[HealthAlert],
    channel: AlertChannel,
    now: Timestamp,
) -> Vec<HealthAlert> {
    let now = now.as_second();
    let mut new: Vec<HealthAlert> = Vec::new();
    if alerts.is_empty() || disk::create_private_folder(&places.notices_file()).is_err() {
        return new;
    }
    let claimed = disk::update_locked(&channel.file(places), HOOK_LOCK_TIMEOUT, |text| {
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
    });
    if claimed.is_ok() { new } else { Vec::new() }
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

    fn claim_line(places: &DataPaths, now: Timestamp) -> Option<String> {
        alert_line(&claim(places, &read(places).alerts, AlertChannel::Session, now))
    }

    fn second(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    /// O11-06: the same alert is told once a day, even if it was resolved and comes back.
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
        assert_eq!(claim(&places, &stored.alerts, AlertChannel::Telegram, second(3)).len(), 2);
        let more = StoredAlerts { alerts: vec![alert("deadRuns"), alert("spend")], ..stored.clone() };
        write(&places, &more).unwrap();
        assert_eq!(claim_line(&places, second(3601)).unwrap(), "Rekindle: spend fails");
        assert!(claim_line(&places, second(REPEAT_SECONDS + 2)).unwrap().starts_with("Rekindle: deadRuns"));
        // The clock was ahead when it was told.
        assert!(claim_line(&places, second(-10)).is_some());
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

//! Health: measures, decides, and stores the alerts.

use std::time::Duration;

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::TimeZone;
use rekindle_core::knowledge::surface::ReviewSurface;
use rekindle_core::telemetry::EventLevel;
use rekindle_core::telemetry::health::alert::{HealthAlert, alerts};
use rekindle_core::telemetry::health::{HealthReport, thresholds};
use rekindle_engine::agents::install::{self, InstallEnvironment, Installer};
use rekindle_engine::context::alerts::{self as stored, AlertChannel, StoredAlerts};
use rekindle_engine::ops::health::{HealthRequest, measure};
use rekindle_engine::platform::clock;
use rekindle_engine::review::surfaces::{self, is_enabled};

use super::CommandContext;

/// The pause between two measurements of the worker.
const MEASURE_INTERVAL: Duration = Duration::from_secs(10 * 60);

/// Measures and decides all checks, and stores the alerts for the hooks and the status line.
pub(crate) fn check(context: &CommandContext<'_>, window_hours: u32, stall_minutes: u32) -> HealthReport {
    let now = clock::now(context.now.time_zone().clone());
    let report = look(context, window_hours, stall_minutes);
    let alerts = alerts(&report);
    stored::write(&context.places, &StoredAlerts { at: now.timestamp(), alerts })
        .ignore_failure("the disk is full or read-only, which the checks say");
    report
}

/// Measures and decides all checks, and stores nothing.
pub(crate) fn look(context: &CommandContext<'_>, window_hours: u32, stall_minutes: u32) -> HealthReport {
    // A worker may stay for days.
    let now = clock::now(context.now.time_zone().clone());
    let machine = InstallEnvironment::from_environment();
    let before_tools = context.settings.config.recall.before_tools;
    let invocation = install::invocation(&machine, &context.home, before_tools).ok();
    let installer =
        invocation.as_ref().map(|invocation| Installer::new(&machine, &context.places, invocation));
    HealthReport::of(&measure(&HealthRequest {
        home: &context.home,
        places: &context.places,
        config: &context.settings.config,
        installer: installer.as_ref(),
        now: &now,
        window_hours,
        stall_minutes,
    }))
}

/// Measures after the worker's work, at most every ten minutes, or at once after a failure.
pub(crate) fn check_after_work(context: &CommandContext<'_>, failed: bool) {
    let now = clock::now(TimeZone::UTC).timestamp();
    if failed || stored::is_due(&context.places, now, MEASURE_INTERVAL) {
        let report = check(context, thresholds::WINDOW_HOURS, thresholds::STALL_MINUTES);
        tell_at_once(context, &report);
    }
}

/// Sends what is fatal to Telegram, if that is connected. The message names the check and no path.
fn tell_at_once(context: &CommandContext<'_>, report: &HealthReport) {
    let (places, review) = (&context.places, &context.settings.config.review);
    if !is_enabled(review, ReviewSurface::Telegram) {
        return;
    }
    let fatal: Vec<HealthAlert> =
        alerts(report).into_iter().filter(|alert| alert.level == EventLevel::Fatal).collect();
    let now = clock::now(TimeZone::UTC).timestamp();
    for alert in stored::claim(places, &fatal, AlertChannel::Telegram, now) {
        let text = format!(
            "Rekindle has stopped learning: the check `{}` fails. Run `rekindle health`.",
            alert.check
        );
        if let Err(error) = surfaces::tell(review, &text) {
            context.out.warn(error.message);
        }
    }
}

//! The gate: its parts as one verdict, its history, and its weekly run in the background.

use std::time::{Duration, Instant};

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::TimeZone;
use rekindle_core::telemetry::gate::{GateFailure, GatePart, GateReport, GateStep, is_due};
use rekindle_core::telemetry::health::{CheckOutcome, thresholds};
use rekindle_engine::agents::install::{self, InstallEnvironment, Installer};
use rekindle_engine::ops::gate::{self, GateFindings, GateRequest, history};
use rekindle_engine::platform::background;
use rekindle_engine::platform::clock;

use super::milestones::connected_agents;
use super::{CommandContext, health};
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

/// The version that a gate is about.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The name of the health check that reads the history.
const OWN_CHECK: &str = "gate";

/// How long a gate waits, and how often it looks.
#[derive(Clone, Copy)]
pub(crate) struct GatePace {
    pub(crate) wait: Duration,
    pub(crate) poll: Duration,
}

/// Runs the parts of a gate.
pub(crate) fn run(
    context: &CommandContext<'_>,
    parts: &[GatePart],
    pace: GatePace,
) -> Result<GateReport, CliError> {
    let (now, began) = (clock::now(context.now.time_zone().clone()), Instant::now());
    let machine = InstallEnvironment::from_environment();
    let invocation =
        install::invocation(&machine, &context.home, context.settings.config.recall.before_tools)?;
    let installer = Installer::new(&machine, &context.places, &invocation);
    let request = GateRequest {
        home: &context.home,
        places: &context.places,
        config: &context.settings.config,
        installer: Some(&installer),
        program: &invocation.program,
        now: &now,
        wait: pace.wait,
        poll: pace.poll,
    };
    let GateFindings { mut steps, round_trips } = match gate::run(&request, parts) {
        Ok(findings) => findings,
        Err(error @ gate::Error::Running) => {
            return Err(CliError::new(error).hint("wait for it, then run the command again"));
        }
        // No verdict would look like no problem.
        Err(error) => {
            let next = "`rekindle doctor --fix` repairs what it can".to_owned();
            let failure = GateFailure { what: error.to_string(), hook: None, next };
            GateFindings {
                steps: vec![GateStep::failed(GatePart::Setup, "scratch", failure)],
                ..GateFindings::default()
            }
        }
    };
    if parts.contains(&GatePart::Health) {
        steps.extend(health_steps(context));
    }
    let seconds = (began.elapsed().as_secs_f64() * 1e3).round() / 1e3;
    let version = VERSION.to_owned();
    Ok(GateReport { at: now.timestamp(), version, seconds, steps, round_trips })
}

/// Runs all parts, and keeps the result for `health` and `status`.
pub(crate) fn run_and_record(context: &CommandContext<'_>, pace: GatePace) -> Result<GateReport, CliError> {
    let all = [GatePart::Setup, GatePart::E2e, GatePart::Weekly, GatePart::Health];
    let report = run(context, &all, pace)?;
    if let Err(error) = history::append(&context.places, report.record()) {
        context.out.warn(format!("the result was not kept: {error}"));
    }
    // The alerts of the status line and of the next session.
    health::check(context, thresholds::WINDOW_HOURS, thresholds::STALL_MINUTES);
    Ok(report)
}

/// The checks that fail, each as a step, and the others as one.
fn health_steps(context: &CommandContext<'_>) -> Vec<GateStep> {
    let began = Instant::now();
    let report = health::check(context, thresholds::WINDOW_HOURS, thresholds::STALL_MINUTES);
    // An earlier gate says nothing about this one.
    let checks = report.checks.iter().filter(|check| check.check != OWN_CHECK);
    let (mut passed, mut unmeasured, mut steps) = (0, 0, Vec::new());
    for check in checks {
        match check.outcome {
            CheckOutcome::Pass => passed += 1,
            CheckOutcome::Unmeasured => unmeasured += 1,
            CheckOutcome::Fail => {
                let next = check.next.clone().unwrap_or_else(|| "`rekindle health`".to_owned());
                let failure = GateFailure { what: check.evidence.clone(), hook: None, next };
                steps.push(GateStep::failed(GatePart::Health, check.check, failure));
            }
        }
    }
    let evidence = format!("{passed} pass, {unmeasured} with too little to measure");
    let seconds = (began.elapsed().as_secs_f64() * 1e3).round() / 1e3;
    steps.insert(0, GateStep { seconds, ..GateStep::passed(GatePart::Health, "checks", evidence) });
    steps
}

/// Starts a gate in the background, if one is due: once a week, and after an update of the program.
pub(crate) fn start_if_due(context: &CommandContext<'_>) {
    let config = &context.settings.config;
    if !config.gate.weekly || !config.memory.enabled || context.places.stop_file().exists() {
        return;
    }
    let now = clock::now(TimeZone::UTC).timestamp();
    let last = history::read(&context.places).pop();
    if !is_due(last.as_ref(), VERSION, now)
        || gate::is_running(&context.places)
        || connected_agents(context).is_empty()
    {
        return;
    }
    let Some(home) = context.home.root().to_str() else { return };
    background::start_detached(&["--home", home, "gate", "--background"], context.places.state())
        .ignore_failure("it is still due for the next worker, and `health` says when it is too old");
}

/// Prints a report; a failed gate fails the command.
pub(crate) fn print(context: &CommandContext<'_>, report: &GateReport, json: bool) -> Result<(), CliError> {
    let out = context.out;
    if json {
        out.json(&report.to_json())?;
        return if report.is_green() { Ok(()) } else { Err(CliError::reported()) };
    }
    for step in &report.steps {
        let (word, style) = match step.failure {
            None => ("pass", TextStyle::Good),
            Some(_) => ("FAIL", TextStyle::Bad),
        };
        let place = step.agent.map_or_else(|| step.part.as_str(), |agent| agent.as_str());
        let seconds = if step.seconds > 0.0 { format!("{:.1} s", step.seconds) } else { String::new() };
        let what = step.failure.as_ref().map_or(step.evidence.as_str(), |failure| failure.what.as_str());
        out.line(format!(
            "{}  {}  {}  {}  {what}",
            out.styled(style, pad_column(word, 4)),
            pad_column(place, 6),
            pad_column(step.step, 18),
            pad_column(&seconds, 6),
        ))?;
        if let Some(failure) = &step.failure {
            out.line(format!("{}{}", " ".repeat(42), out.styled(TextStyle::Dim, &failure.next)))?;
        }
    }
    let failed = report.failures().count();
    let of = report.steps.len();
    match report.is_green() {
        true => {
            let word = out.styled(TextStyle::Good, "green");
            out.line(format!("{word}: {of} steps in {:.1} s", report.seconds))
        }
        false => {
            let word = out.styled(TextStyle::Bad, "red");
            out.line(format!("{word}: {failed} of {of} steps failed, in {:.1} s", report.seconds))?;
            Err(CliError::reported())
        }
    }
}

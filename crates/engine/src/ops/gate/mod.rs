//! The gate: a random fact goes through the hooks as each agent has them installed, in a scratch home, and the
//! weekly job runs there (B-10, O11-09 to O11-11).
//!
//! - `scratch`: the scratch home, and the removal of those that killed gates left
//! - `round_trip`: captured, distilled, recalled, superseded and forgotten, for one agent
//! - `weekly`: is the weekly job scheduled, did it run, does it run
//! - [`history`]: the results of past gates

mod error;
pub mod history;
mod leftovers;
mod round_trip;
mod scratch;
mod weekly;

use std::time::{Duration, Instant};

use rekindle_core::base::agent::Agent;
use rekindle_core::base::time::Zoned;
use rekindle_core::config::Config;
use rekindle_core::telemetry::gate::{GateFailure, GatePart, GateStep};
use serde_json::Value;

pub use self::error::Error;
use self::round_trip::{RandomFact, RoundTrip};
use self::scratch::ScratchHome;
use crate::agents::install::{InstallState, InstallStatus, InstalledCommand, Installer};
use crate::ops::doctor::{FindingSeverity, writable};
use crate::platform::disk;
use crate::platform::home::{DataPaths, HomeFolder};

/// What a gate needs to know.
#[derive(Clone, Copy)]
pub struct GateRequest<'a> {
    /// The home folder.
    pub home: &'a HomeFolder,
    /// The places of the home.
    pub places: &'a DataPaths,
    /// The settings.
    pub config: &'a Config,
    /// The agents of the person; `None` without a home folder to look in.
    pub installer: Option<&'a Installer<'a>>,
    /// The path of this program, for the parts that need no agent.
    pub program: &'a str,
    /// Now, in the person's zone.
    pub now: &'a Zoned,
    /// The longest wait for one stage.
    pub wait: Duration,
    /// The pause between two looks.
    pub poll: Duration,
}

/// What a gate found.
#[derive(Debug, Default)]
pub struct GateFindings {
    /// The steps, in order.
    pub steps: Vec<GateStep>,
    /// The numbers of the round trip of each agent.
    pub round_trips: Vec<Value>,
}

/// Runs the parts of a gate, except for health, one gate at a time.
pub fn run(request: &GateRequest<'_>, parts: &[GatePart]) -> Result<GateFindings, Error> {
    let locks = request.places.locks_folder();
    let path = locks.join("gate.lock");
    let mut findings = GateFindings { steps: setup(request, parts), ..GateFindings::default() };
    if findings.steps.iter().any(|step| step.failure.is_some()) {
        return Ok(findings);
    }
    disk::create_private_folder(&locks).map_err(Error::io(&locks))?;
    let _lock = match disk::lock(&path, Duration::ZERO) {
        Err(error) if error.kind() == std::io::ErrorKind::TimedOut => return Err(Error::Running),
        locked => locked.map_err(Error::io(&path))?,
    };
    scratch::remove_abandoned(request.places)?;
    let scratch = ScratchHome::create(request.home, request.places, request.now)?;
    let mut facts = Vec::new();
    let done = run_in(request, parts, &scratch, &mut findings, &mut facts);
    let removed = scratch.remove();
    done.and(removed)?;
    if parts.contains(&GatePart::E2e) && !facts.is_empty() {
        findings.steps.push(leftovers::check(request.places, &facts, request.now.timestamp()));
    }
    Ok(findings)
}

/// True while a gate runs.
pub fn is_running(places: &DataPaths) -> bool {
    let path = places.locks_folder().join("gate.lock");
    path.exists() && disk::lock(&path, Duration::ZERO).is_err()
}

fn run_in(
    request: &GateRequest<'_>,
    parts: &[GatePart],
    scratch: &ScratchHome,
    findings: &mut GateFindings,
    facts: &mut Vec<RandomFact>,
) -> Result<(), Error> {
    if parts.contains(&GatePart::E2e)
        && let Some(installer) = request.installer
    {
        for status in connected(installer) {
            let fact = RandomFact::new().map_err(Error::io(request.places.state()))?;
            facts.push(fact.clone());
            let (steps, numbers) = match refusal(installer, &status, request) {
                Ok(hooks) => RoundTrip::new(status.agent, hooks, fact, scratch, request).run(),
                Err(step) => (vec![*step], None),
            };
            findings
                .steps
                .extend(steps.into_iter().map(|step| GateStep { agent: Some(status.agent), ..step }));
            findings.round_trips.extend(numbers);
        }
    }
    if parts.contains(&GatePart::Weekly) {
        findings.steps.extend(weekly::check(request, scratch));
    }
    Ok(())
}

/// What has to be true before anything can work.
fn setup(request: &GateRequest<'_>, parts: &[GatePart]) -> Vec<GateStep> {
    let stop = request.places.stop_file();
    let mut steps = Vec::new();
    let failed = |step, what: String, next: String| {
        GateStep::failed(GatePart::Setup, step, GateFailure { what, hook: None, next })
    };
    if stop.exists() {
        let what = format!("{} exists, so hooks and worker do nothing", stop.display());
        steps.push(failed("switch", what, format!("remove it to resume: `rm {}`", stop.display())));
    } else if !request.config.memory.enabled {
        let next = "`rekindle config set memory.enabled true` turns it on";
        steps.push(failed("switch", "memory is off (memory.enabled)".to_owned(), next.to_owned()));
    } else {
        steps.push(GateStep::passed(GatePart::Setup, "switch", "memory is on"));
    }
    for (name, folder) in [("vault", request.places.vault()), ("state folder", request.places.state())] {
        let found = writable(&format!("the {name}"), folder);
        let step = if name == "vault" { "vault" } else { "state" };
        steps.push(match found.level {
            FindingSeverity::Ok => GateStep::passed(GatePart::Setup, step, found.what),
            _ => failed(step, found.what, "`rekindle doctor --fix` restores the permissions".to_owned()),
        });
    }
    if parts.contains(&GatePart::E2e)
        && request.installer.is_none_or(|installer| connected(installer).is_empty())
    {
        let next = "`rekindle install` connects one".to_owned();
        steps.push(failed("agents", "no agent is connected".to_owned(), next));
    }
    steps
}

/// The agents with hooks of ours.
fn connected(installer: &Installer<'_>) -> Vec<InstallStatus> {
    let statuses = Agent::ALL.into_iter().filter_map(|agent| installer.status(agent).ok());
    statuses
        .filter(|status| status.state != InstallState::Absent || status.plugin || status.problem.is_some())
        .collect()
}

/// The hooks of an agent, or the step that says why they cannot be called.
fn refusal(
    installer: &Installer<'_>,
    status: &InstallStatus,
    request: &GateRequest<'_>,
) -> Result<Vec<InstalledCommand>, Box<GateStep>> {
    let agent = status.agent;
    let install = format!("`rekindle install {agent}`");
    let failed = |what: String, hook: Option<&str>, next: String| {
        let hook = hook.map(str::to_owned);
        Box::new(GateStep::failed(GatePart::E2e, "hooks", GateFailure { what, hook, next }))
    };
    if let Some(problem) = &status.problem {
        return Err(failed(problem.clone(), None, install));
    }
    let hooks = installer
        .installed_commands(agent)
        .map_err(|error| failed(error.to_string(), None, install.clone()))?;
    if hooks.is_empty() {
        // The agent keeps a copy of the plugin in a folder of its own.
        let what = "it is connected by the plugin, whose hooks are not in its settings: not tried";
        return Err(Box::new(GateStep::passed(GatePart::E2e, "hooks", what)));
    }
    if let Some(obstacle) = &status.obstacle {
        return Err(failed(
            obstacle.clone(),
            None,
            format!("enable hooks there, or `rekindle uninstall {agent}`"),
        ));
    }
    if status.trusted == Some(false) {
        let what = format!("{} does not trust the hooks and skips them", agent.name());
        return Err(failed(what, None, format!("`rekindle install {agent} --trust`")));
    }
    let wanted = rekindle_core::hosts::install::events(agent, false);
    if let Some(missing) = wanted.iter().find(|one| hooks.iter().all(|hook| hook.event != one.event)) {
        let what = format!("there is no hook for {} in {}", missing.event, status.settings.display());
        return Err(failed(what, Some(missing.event), install));
    }
    for hook in &hooks {
        let home = HomeFolder::find_with(
            hook.home.as_deref().map(std::path::Path::new),
            None,
            crate::platform::environment::home_folder(),
        );
        if home.is_ok_and(|home| home.root() != request.home.root()) {
            let what = format!("the hook for {} uses another home: {}", hook.event, hook.line());
            return Err(failed(what, Some(&hook.event), install));
        }
        if hook.has_own_settings {
            let what = format!("the hook for {} brings settings of its own: {}", hook.event, hook.line());
            return Err(failed(what, Some(&hook.event), install));
        }
    }
    Ok(hooks)
}

/// Runs `work` until it finds something or the time is over.
fn poll_until<T>(request: &GateRequest<'_>, mut work: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + request.wait;
    loop {
        if let Some(found) = work() {
            return Some(found);
        }
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(request.poll);
    }
}

/// Removes what killed gates left, unless a gate is running.
pub fn remove_abandoned(places: &DataPaths) -> Result<u64, Error> {
    if !places.gate_folder().exists() {
        return Ok(0);
    }
    let path = places.locks_folder().join("gate.lock");
    let Ok(_lock) = disk::lock(&path, Duration::ZERO) else { return Ok(0) };
    scratch::remove_abandoned(places)
}

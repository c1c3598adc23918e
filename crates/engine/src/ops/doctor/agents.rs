//! Check of the agent hooks: each installed hook runs and answers.

use super::{CheckReport, DoctorFinding};
use crate::agents::install::{HookProbe, InstallState, InstallStatus, Installer};

/// Runs every installed hook with a sample input and reports the result. Agents without our hooks have no
/// findings.
pub fn check_agents(installer: &Installer<'_>) -> Vec<CheckReport> {
    let statuses =
        rekindle_core::base::agent::Agent::ALL.into_iter().filter_map(|agent| installer.status(agent).ok());
    let installed =
        statuses.filter(|status| status.state != InstallState::Absent || status.problem.is_some());
    installed
        .map(|status| CheckReport { check: status.agent.as_str(), findings: check_agent(installer, &status) })
        .collect()
}

fn check_agent(installer: &Installer<'_>, status: &InstallStatus) -> Vec<DoctorFinding> {
    let install = format!("`rekindle install {}` puts it right", status.agent);
    if let Some(problem) = &status.problem {
        let hint = "the agent itself may not read it either; nothing was changed by us";
        return vec![DoctorFinding::warning(problem, hint)];
    }
    let mut findings = match installer.probe(status.agent) {
        Ok(probed) => answers(&probed, &install),
        Err(error) => vec![DoctorFinding::error(error.to_string(), Some(install.clone()))],
    };
    let mut warn = |what: String, hint: &str| findings.push(DoctorFinding::warning(what, hint));
    match status.state {
        InstallState::Outdated => {
            warn(format!("its hooks in {} are not the newest", status.settings.display()), &install);
        }
        InstallState::ForeignHome => {
            let home = status.home.as_deref().unwrap_or("~/.rekindle");
            warn(
                format!("it remembers into another home: {home}"),
                &format!("`rekindle install {}` makes it this one", status.agent),
            );
        }
        InstallState::Absent | InstallState::Current => {}
    }
    if status.trusted == Some(false) {
        warn(
            "Codex was not told to trust the hooks and skips them without a word".to_owned(),
            "`rekindle install codex --trust`, or /hooks in Codex",
        );
    }
    if status.plugin {
        let (settings, agent) = (status.settings.display(), status.agent);
        warn(
            format!("it calls us twice: by {settings} and by our plugin; the second call does nothing"),
            &format!("`rekindle uninstall {agent}`, or take the plugin out there"),
        );
    }
    if let Some(obstacle) = &status.obstacle {
        warn(obstacle.clone(), "switch hooks on again there, or `rekindle uninstall` ours");
    }
    findings
}

fn answers(probed: &[HookProbe], install: &str) -> Vec<DoctorFinding> {
    let slowest = probed.iter().map(|one| one.took.as_millis()).max().unwrap_or(0);
    let failed: Vec<DoctorFinding> = probed
        .iter()
        .filter_map(|one| Some((one, one.problem.as_ref()?)))
        .map(|(one, problem)| {
            DoctorFinding::error(format!("the hook for {}: {problem}", one.event), Some(install.to_owned()))
        })
        .collect();
    match failed.is_empty() {
        true => vec![DoctorFinding::ok(format!("{} hooks answer within {slowest} ms", probed.len()))],
        false => failed,
    }
}

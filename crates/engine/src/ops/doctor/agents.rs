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
    let install = format!("fix it with `rekindle install {}`", status.agent);
    if let Some(problem) = &status.problem {
        let hint = "the agent may not be able to read it either; Rekindle changed nothing";
        return vec![DoctorFinding::warning(problem, hint)];
    }
    let mut findings = match installer.probe(status.agent) {
        Ok(probed) => answers(&probed, &install),
        Err(error) => vec![DoctorFinding::error(error.to_string(), Some(install.clone()))],
    };
    let mut warn = |what: String, hint: &str| findings.push(DoctorFinding::warning(what, hint));
    match status.state {
        InstallState::Outdated => {
            warn(format!("its hooks in {} are outdated", status.settings.display()), &install);
        }
        InstallState::ForeignHome => {
            let home = status.home.as_deref().unwrap_or("~/.rekindle");
            warn(
                format!("it uses another Rekindle home: {home}"),
                &format!("to use this home, run `rekindle install {}`", status.agent),
            );
        }
        InstallState::Absent | InstallState::Current => {}
    }
    if status.trusted == Some(false) {
        warn(
            "Codex does not trust the hooks and skips them silently".to_owned(),
            "run `rekindle install codex --trust`, or use /hooks in Codex",
        );
    }
    if status.plugin {
        let (settings, agent) = (status.settings.display(), status.agent);
        warn(
            format!(
                "it calls Rekindle twice, through {settings} and through the plugin; the second call does nothing"
            ),
            &format!("run `rekindle uninstall {agent}`, or remove the plugin"),
        );
    }
    if let Some(obstacle) = &status.obstacle {
        warn(obstacle.clone(), "enable hooks there, or remove Rekindle's with `rekindle uninstall`");
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

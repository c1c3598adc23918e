//! Check of the servers that machines share, as of the last exchange. It makes no requests.

use rekindle_core::config::Config;
use rekindle_core::text::plural::count_phrase;

use super::{CheckReport, DoctorFinding};
use crate::jobs::shared::servers::{self, ServerState};
use crate::platform::db::{self, Database};
use crate::platform::home::DataPaths;
use crate::review::proposals::{self, SharedDecisionState};

/// Reports the shared servers; `None` if nothing is shared.
pub fn check_engines(places: &DataPaths, config: &Config) -> Option<CheckReport> {
    let findings = engine_findings(places, config)
        .unwrap_or_else(|error| vec![DoctorFinding::error(error.to_string(), Some(error.hint()))]);
    (!findings.is_empty()).then_some(CheckReport { check: "engines", findings })
}

fn engine_findings(places: &DataPaths, config: &Config) -> Result<Vec<DoctorFinding>, db::Error> {
    let configured = servers::configured(&config.engines);
    let Some(db) = Database::open_existing(&places.database())? else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    let states = servers::known(&db)?;
    if let Some(own) = configured {
        let state = states.iter().find(|state| state.settings.url == own.url);
        findings.push(match state {
            Some(ServerState { problem: Some(problem), .. }) => DoctorFinding::warning(
                problem.clone(),
                "this machine works alone until then, and nothing is lost; `rekindle engines --check` asks again",
            ),
            Some(ServerState { reached: Some(_), version, .. }) => {
                DoctorFinding::ok(format!("{}: Redis {}", own.url, version.as_deref().unwrap_or_default()))
            }
            _ => DoctorFinding::ok(format!("{}: no exchange yet", own.url)),
        });
        let waiting = proposals::decisions_in(&db, SharedDecisionState::Waiting)?.len();
        if waiting > 0 {
            findings.push(DoctorFinding::warning(
                format!("{} waiting for the shared server", count_phrase(waiting, "decision")),
                "`rekindle config set engines.shared embedded` carries them out without it",
            ));
        }
    }
    for state in states.iter().filter(|state| configured.is_none_or(|own| own.url != state.settings.url)) {
        let url = &state.settings.url;
        findings.push(DoctorFinding::warning(
            format!("{url} is not used any more and may have observations and proposals of yours"),
            format!("`rekindle engines clear {url} --yes` removes them"),
        ));
    }
    Ok(findings)
}

//! Check of the external review surfaces, as of their last poll. It makes no requests.

use rekindle_core::config::Config;
use rekindle_core::knowledge::surface::ReviewSurface;
use rekindle_core::text::plural::count_phrase;

use super::{CheckReport, DoctorFinding};
use crate::platform::db::{self, Database};
use crate::platform::environment;
use crate::platform::home::DataPaths;
use crate::review::surfaces::{is_enabled, key_variable, surface_status};

/// Reports the connected surfaces; `None` if no surface is enabled.
pub fn check_surfaces(places: &DataPaths, config: &Config) -> Option<CheckReport> {
    let connected: Vec<ReviewSurface> =
        ReviewSurface::ALL.into_iter().filter(|surface| is_enabled(&config.review, *surface)).collect();
    if connected.is_empty() {
        return None;
    }
    let findings = surface_findings(places, config, &connected)
        .unwrap_or_else(|error| vec![DoctorFinding::error(error.to_string(), Some(error.hint()))]);
    Some(CheckReport { check: "surfaces", findings })
}

fn surface_findings(
    places: &DataPaths,
    config: &Config,
    connected: &[ReviewSurface],
) -> Result<Vec<DoctorFinding>, db::Error> {
    let Some(db) = Database::open_existing(&places.database())? else {
        return Ok(vec![DoctorFinding::ok("nothing sent yet")]);
    };
    let mut findings = Vec::new();
    for surface in connected {
        let (name, variable) = (surface.name(), key_variable(&config.review, *surface));
        let condition = surface_status(&db, *surface)?;
        if environment::variable(variable).is_none_or(|key| key.trim().is_empty()) {
            findings.push(DoctorFinding::warning(
                format!("{name}: {variable} is not set"),
                "workers started from this shell cannot reach it; set it where your agents are started",
            ));
        }
        findings.push(match condition.problem {
            Some(problem) => DoctorFinding::warning(
                format!("{name}: {problem}"),
                "until then, decide with `rekindle review` or in REVIEW.md",
            ),
            None => DoctorFinding::ok(format!("{name}: {}", count_phrase(condition.open, "open question"))),
        });
    }
    Ok(findings)
}

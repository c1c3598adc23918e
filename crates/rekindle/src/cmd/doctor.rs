//! `rekindle doctor`: checks the installation.

use clap::Args;
use rekindle_core::base::time::TimeZone;
use rekindle_core::config::LoadedConfig;
use rekindle_engine::config;
use rekindle_engine::ops::doctor::{
    CheckReport, FindingSeverity, check_engines, check_index, check_learning, check_models,
    check_permissions, check_runs, check_surfaces, run_checks,
};
use rekindle_engine::ops::repair::{self, RepairRequest, RepairResult};
use rekindle_engine::platform::clock;
use rekindle_engine::platform::home::HomeFolder;
use serde_json::json;

use super::install::InstallContext;
use crate::app::context::require_person;
use crate::app::probe::probe_agents;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{Printer, TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
Prints every problem and how to fix it; --all prints every check. It changes nothing: it only writes and removes one
temporary file as a test, and calls your agents' hooks with a sample that leaves no trace. The exit code is 1 if
something does not work.

--fix repairs what needs no decision of yours: hooks that are missing, doubled or call an old program, permissions, stale
locks, links to your identity files, a lost or damaged database or index, gaps in its schema, and approved proposals that
nothing would promote. A damaged database is kept aside and rebuilt from your notes and logs; what nothing else knows is
named. Nothing that you wrote is removed.

Examples:
  rekindle doctor
  rekindle doctor --all
  rekindle doctor --fix
  rekindle doctor --json | jq '.checks[] | select(.findings[].level != \"ok\")'")]
pub(crate) struct DoctorArgs {
    /// List the checks that passed as well
    #[arg(long, short = 'a')]
    all: bool,
    /// Repair what can be repaired, then check
    #[arg(long)]
    fix: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl DoctorArgs {
    pub(crate) fn run(self, global: &GlobalOptions, out: &Printer) -> Result<(), CliError> {
        let home = HomeFolder::find(global.home.as_deref())?;
        let settings = config::read(&home, None, &global.settings)?;
        let places = home.data_paths(&settings.config)?;
        let repaired = if self.fix { self.repair(global, out, &home, &settings)? } else { Vec::new() };
        let mut checks: Vec<CheckReport> = run_checks(&places);
        checks.push(check_permissions(&home, &places));
        checks.extend(check_index(&home, &settings.config, &places));
        checks.push(check_runs(&places));
        checks.push(check_learning(&places, clock::now(TimeZone::UTC).timestamp()));
        checks.extend(check_surfaces(&places, &settings.config));
        checks.extend(check_engines(&places, &settings.config));
        checks.push(check_models(&home, &settings.config));
        // Without a home folder there are no agents to check.
        if let Ok(probed) = probe_agents(&home, &places, &settings.config) {
            checks.extend(probed);
        }
        let worst = checks.iter().flat_map(|check| &check.findings).map(|finding| finding.level).max();
        let healthy = worst < Some(FindingSeverity::Error);
        if self.json {
            let mut answer = json!({"ok": healthy, "home": home.root(), "checks": checks});
            if self.fix {
                answer["repairs"] = json!(repaired);
            }
            out.json(&answer)?;
        } else {
            let fine = checks.iter().flat_map(|check| &check.findings);
            let fine = fine.filter(|finding| finding.level == FindingSeverity::Ok).count();
            for check in &checks {
                for finding in
                    check.findings.iter().filter(|found| self.all || found.level != FindingSeverity::Ok)
                {
                    let word = match finding.level {
                        FindingSeverity::Ok => out.styled(TextStyle::Good, "ok     "),
                        FindingSeverity::Warning => out.styled(TextStyle::Warn, "warning"),
                        FindingSeverity::Error => out.styled(TextStyle::Bad, "error  "),
                    };
                    out.line(format!("{word}  {}  {}", pad_column(check.check, 11), finding.what))?;
                    if let Some(hint) = &finding.hint {
                        out.line(format!("{}{}", " ".repeat(22), out.styled(TextStyle::Dim, hint)))?;
                    }
                }
            }
            if !self.all {
                let word = out.styled(TextStyle::Good, "ok     ");
                let what =
                    if worst > Some(FindingSeverity::Ok) { "other checks passed" } else { "checks passed" };
                out.line(format!("{word}  {fine} {what} (`rekindle doctor --all` lists them)"))?;
            }
        }
        if healthy { Ok(()) } else { Err(CliError::reported()) }
    }

    /// Repairs, and says what was done and what is left.
    fn repair(
        &self,
        global: &GlobalOptions,
        out: &Printer,
        home: &HomeFolder,
        settings: &LoadedConfig,
    ) -> Result<Vec<RepairResult>, CliError> {
        require_person("repair an installation")?;
        let places = home.data_paths(&settings.config)?;
        let now = clock::now(config::zone(settings)?);
        // Without a home folder there are no agents to repair.
        let here = InstallContext::find(global).ok();
        let installer = here.as_ref().map(InstallContext::installer);
        let repaired = repair::repair(&RepairRequest {
            home,
            places: &places,
            config: &settings.config,
            installer: installer.as_ref(),
            now: &now,
        });
        if !self.json {
            for RepairResult { check, what, left } in &repaired {
                let word = match left {
                    None => out.styled(TextStyle::Good, "fixed  "),
                    Some(_) => out.styled(TextStyle::Warn, "left   "),
                };
                out.line(format!("{word}  {}  {what}", pad_column(check, 11)))?;
                if let Some(next) = left {
                    out.line(format!("{}{}", " ".repeat(22), out.styled(TextStyle::Dim, next)))?;
                }
            }
        }
        Ok(repaired)
    }
}

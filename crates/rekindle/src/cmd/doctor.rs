//! `rekindle doctor`: checks the installation.

use clap::Args;
use rekindle_core::base::time::TimeZone;
use rekindle_engine::config;
use rekindle_engine::ops::doctor::{
    FindingSeverity, check_agents, check_index, check_learning, check_models, check_runs, check_surfaces,
    run_checks,
};
use rekindle_engine::platform::clock;
use rekindle_engine::platform::home::HomeFolder;
use serde_json::json;

use super::install::InstallContext;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{Printer, TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
Prints every problem and how to fix it; --all prints every check. It changes nothing: it only writes and removes one
temporary file as a test, and calls your agents' hooks with a sample that leaves no trace. The exit code is 1 if
something does not work.

Examples:
  rekindle doctor
  rekindle doctor --all
  rekindle doctor --json | jq '.checks[] | select(.findings[].level != \"ok\")'")]
pub(crate) struct DoctorArgs {
    /// List the checks that passed as well
    #[arg(long, short = 'a')]
    all: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl DoctorArgs {
    pub(crate) fn run(self, global: &GlobalOptions, out: &Printer) -> Result<(), CliError> {
        let home = HomeFolder::find(global.home.as_deref())?;
        let settings = config::read(&home, None, &global.settings)?;
        let places = home.data_paths(&settings.config)?;
        let mut checks = run_checks(&places);
        checks.extend(check_index(&home, &settings.config, &places));
        checks.push(check_runs(&places));
        checks.push(check_learning(&places, clock::now(TimeZone::UTC).timestamp()));
        checks.extend(check_surfaces(&places, &settings.config));
        checks.push(check_models(&home, &settings.config));
        // Without a home folder there are no agents to check.
        if let Ok(here) = InstallContext::find(global) {
            checks.extend(check_agents(&here.installer()));
        }
        let worst = checks.iter().flat_map(|check| &check.findings).map(|finding| finding.level).max();
        let healthy = worst < Some(FindingSeverity::Error);
        if self.json {
            out.json(&json!({"ok": healthy, "home": home.root(), "checks": checks}))?;
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
                    out.line(format!("{word}  {}  {}", pad_column(check.check, 10), finding.what))?;
                    if let Some(hint) = &finding.hint {
                        out.line(format!("{}{}", " ".repeat(21), out.styled(TextStyle::Dim, hint)))?;
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
}

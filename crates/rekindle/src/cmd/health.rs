//! `rekindle health`: checks that Rekindle does its job.

use clap::Args;
use rekindle_core::telemetry::health::{CheckOutcome, thresholds};

use crate::app::CommandContext;
use crate::app::health;
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
Checks what happened, not what is installed (`rekindle doctor` checks that): do stages succeed, do hooks fire, are
sessions learnt from, does recall find anything, does anything wait for too long. Every check has evidence, a threshold
and the command that mends it. What fails is also told at the start of a session, once a day, and in the status line.
The exit code is 1 if a check fails.

Examples:
  rekindle health
  rekindle health --all
  rekindle health --hours 168 --stall-minutes 60
  rekindle health --json | jq -r '.nextActions[]'")]
pub(crate) struct HealthArgs {
    /// The window of the rates
    #[arg(long, value_name = "N", default_value_t = thresholds::WINDOW_HOURS, value_parser = clap::value_parser!(u32).range(1..))]
    hours: u32,
    /// Work that waits for longer, while nothing succeeds, is a stall
    #[arg(long, value_name = "N", default_value_t = thresholds::STALL_MINUTES, value_parser = clap::value_parser!(u32).range(1..))]
    stall_minutes: u32,
    /// List the checks that passed as well
    #[arg(long, short = 'a')]
    all: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl HealthArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let report = health::check(context, self.hours, self.stall_minutes);
        if self.json {
            context.out.json(&report.to_json())?;
            return if report.is_healthy() { Ok(()) } else { Err(CliError::reported()) };
        }
        let indent = " ".repeat(29);
        for check in &report.checks {
            let (word, style) = match check.outcome {
                CheckOutcome::Pass => ("pass", TextStyle::Good),
                CheckOutcome::Fail => ("FAIL", TextStyle::Bad),
                CheckOutcome::Unmeasured => ("-", TextStyle::Dim),
            };
            if check.outcome != CheckOutcome::Fail && !self.all {
                continue;
            }
            let word = context.out.styled(style, pad_column(word, 6));
            context.out.line(format!("{word}  {}  {}", pad_column(check.check, 19), check.evidence))?;
            let threshold = format!("threshold: {}", check.threshold);
            context.out.line(format!("{indent}{}", context.out.styled(TextStyle::Dim, threshold)))?;
            if let Some(next) = &check.next {
                context.out.line(format!("{indent}{next}"))?;
            }
        }
        let count = |outcome| report.checks.iter().filter(|check| check.outcome == outcome).count();
        let (passed, unmeasured) = (count(CheckOutcome::Pass), count(CheckOutcome::Unmeasured));
        let word = context.out.styled(TextStyle::Good, pad_column("pass", 6));
        if !self.all {
            let hint = "`rekindle health --all` lists them";
            context
                .out
                .line(format!("{word}  {passed} checks, {unmeasured} with too little to measure ({hint})"))?;
        }
        if report.is_healthy() { Ok(()) } else { Err(CliError::reported()) }
    }
}

//! The page of a week: gathers it, and writes it into the vault once a week.

use jiff::ToSpan as _;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::Date;
use rekindle_core::knowledge::week::{WeekFacts, page};
use rekindle_core::vault::journal::ChangeActor;
use rekindle_engine::ops::week;
use rekindle_engine::pipeline::stages::weekly_maintenance::weekly_summaries;

use super::CommandContext;
use crate::error::CliError;

/// The age in days at which the page of a week is no longer written by itself.
const MAX_LATE_DAYS: i32 = 7;

/// Gathers the seven days that ended `weeks_ago` weeks ago, today included.
pub(crate) fn gather(context: &CommandContext<'_>, weeks_ago: u32) -> Result<WeekFacts, CliError> {
    let last = context.now.date().checked_sub((7 * i64::from(weeks_ago)).days()).map_err(CliError::new)?;
    gather_until(context, last)
}

fn gather_until(context: &CommandContext<'_>, last: Date) -> Result<WeekFacts, CliError> {
    week::gather(&context.places, &context.vault()?, last, &context.now).map_err(|error| match error {
        week::Error::Vault(error) => error.into(),
        week::Error::Db(error) => error.into(),
    })
}

/// Writes the page into the vault and returns its path.
pub(crate) fn save(
    context: &CommandContext<'_>,
    week: &WeekFacts,
    by: ChangeActor,
) -> Result<std::path::PathBuf, CliError> {
    let vault = context.writable_vault()?;
    vault.write_week_page(week.last, &page(week), by, &context.now)?;
    Ok(vault.week_page(week.last)?)
}

/// Writes the page of the last weekly maintenance, unless it is there.
pub(crate) fn save_if_due(context: &CommandContext<'_>) {
    let Some(summary) = weekly_summaries(&context.places).ok().and_then(|mut weeks| weeks.next()) else {
        return;
    };
    let is_late = (context.now.date() - summary.date).get_days() > MAX_LATE_DAYS;
    let is_there = || {
        let page = context.vault().ok().and_then(|vault| vault.week_page(summary.date).ok());
        page.is_none_or(|page| page.exists())
    };
    if is_late || is_there() {
        return;
    }
    gather_until(context, summary.date)
        .and_then(|week| save(context, &week, ChangeActor::Worker))
        .ignore_failure("`rekindle week --save` writes it, and says what is wrong");
}

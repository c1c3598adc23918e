//! Changes one setting in the user's file.

use rekindle_engine::config;
use rekindle_engine::platform::home::HomeFolder;

use super::context::require_person;
use crate::error::CliError;

/// Sets a key to the value that the person typed; `None` restores its default. It needs no readable settings, because
/// it is the way to repair them.
pub(crate) fn change(home: &HomeFolder, key: &str, value: Option<&str>) -> Result<(), CliError> {
    // A setting may allow an agent to decide on proposals, switch memory off, or name a program to run.
    require_person("change the settings")?;
    match value {
        Some(value) => config::set(home, key, value)?,
        None => config::unset(home, key)?,
    };
    Ok(())
}

//! The command line with which other programs call this one.

use std::path::{Path, PathBuf};

use rekindle_core::hosts::install::HookInvocation;

use super::{Error, InstallEnvironment};
use crate::platform::home::HomeFolder;

/// The command line for this program with this home.
pub fn invocation(
    machine: &InstallEnvironment,
    home: &HomeFolder,
    before_tools: bool,
) -> Result<HookInvocation, Error> {
    let running = std::env::current_exe().map_err(|error| Error::Program(error.to_string()))?;
    let program = stable_path(machine, &running);
    if !program.is_file() {
        return Err(Error::Program(format!("{} no longer exists", program.display())));
    }
    let usual = machine.home.as_ref().map(|person| person.join(".rekindle"));
    let other = (usual.as_deref() != Some(home.root())).then(|| text(home.root())).transpose()?;
    Ok(HookInvocation { program: text(&program)?, home: other, before_tools })
}

/// The stable path of this program. Package managers link to a folder with the version in its name, which an
/// update removes; the link on the search path stays.
fn stable_path(machine: &InstallEnvironment, running: &Path) -> PathBuf {
    let same = |path: &PathBuf| match (path.canonicalize(), running.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    machine.find_program("rekindle").filter(same).unwrap_or_else(|| running.to_owned())
}

fn text(path: &Path) -> Result<String, Error> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| Error::Program(format!("{} is not UTF-8", path.display())))
}

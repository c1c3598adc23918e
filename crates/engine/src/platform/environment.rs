//! The one place that reads environment variables.

use std::ffi::OsString;
use std::path::PathBuf;

/// The variables of this process that are valid Unicode, by name. Others cannot be settings and are left out.
pub fn variable(name: &str) -> Option<String> {
    raw(name)?.into_string().ok()
}

/// A variable as the system has it, for those that may hold a path.
#[expect(clippy::disallowed_methods, reason = "this is the room that may")]
pub fn raw(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Every variable whose name and value are valid Unicode.
pub fn all() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// Every variable as the system has it.
pub fn everything() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

/// What the system calls the person.
pub fn login() -> Option<String> {
    variable("USER").or_else(|| variable("USERNAME"))
}

/// The person's home folder, if the system knows one. An empty or relative one would be a different folder in
/// every directory, so it counts as none.
pub fn home_folder() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// The arguments of this process, without the program's name.
pub fn arguments() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip(1)
}

//! The only module that reads environment variables.

use std::ffi::OsString;
use std::path::PathBuf;

/// A variable of this process, if its value is valid Unicode. Others cannot be settings.
pub fn variable(name: &str) -> Option<String> {
    raw_variable(name)?.into_string().ok()
}

/// A variable as the system stores it, for those that may hold a path.
#[expect(clippy::disallowed_methods, reason = "this is the room that may")]
pub fn raw_variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// All variables whose name and value are valid Unicode.
pub fn utf8_variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// All variables as the system stores them.
pub fn all_variables() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

/// The user's login name.
pub fn login_name() -> Option<String> {
    variable("USER").or_else(|| variable("USERNAME"))
}

/// The user's home folder, if the system has one. An empty or relative path would mean a different folder in
/// every directory, so it does not count.
pub fn home_folder() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// The arguments of this process, without the program's name.
pub fn arguments() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip(1)
}

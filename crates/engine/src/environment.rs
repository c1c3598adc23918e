//! The one place that reads environment variables.

/// The variables of this process that are valid Unicode, by name. Others cannot be settings and are left out.
#[expect(clippy::disallowed_methods, reason = "this is the room that may")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

//! Everything through the real binary, in a sandboxed home.
#![expect(
    clippy::disallowed_methods,
    reason = "tests play the person and other programs, who write as they like"
)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

mod bad_input;
mod config;
mod conflicts;
mod documents;
mod entries;
mod eval;
mod faults;
mod forget;
mod house;
mod identity;
mod init;
mod model;
mod model_command;
mod models;
mod project;
mod races;
mod undo;

use rekindle_testkit::Sandbox;

/// A home that is set up.
fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_rekindle")).init()
}

/// Saves a memory and returns what `--json` said of it.
fn save(sandbox: &Sandbox, kind: &str, slug: &str, body: &str) -> serde_json::Value {
    sandbox.rekindle(&["save", kind, slug, "--body", body, "--json"]).run().ok().json()
}

fn text<'a>(value: &'a serde_json::Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value}"))
}

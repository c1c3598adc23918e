//! Support for tests: a private home for every test, and failures injected into the real binary from outside.
//!
//! Production code contains no test hooks. A tracer injects failures into the unmodified `rekindle` by
//! stopping it at its system calls ([`faults`]).
//!
//! ```no_run
//! use rekindle_testkit::{Sandbox, faults::{self, PlannedFault}};
//!
//! let sandbox = Sandbox::new("target/debug/rekindle").init();
//! let save = sandbox.rekindle(&["save", "note", "tea", "--body", "green"]);
//! let before = sandbox.snapshot();
//! for step in 1..=faults::count(&save) {
//!     sandbox.restore(&before);
//!     let struck = faults::run(&save, PlannedFault::kill(step)).killed();
//!     assert!(sandbox.find_bytes("half").is_empty(), "after {:?}", struck.fault);
//! }
//! ```
#![expect(clippy::panic, reason = "a test kit reports by failing the test that uses it")]
#![expect(
    clippy::disallowed_methods,
    reason = "the kit stands outside the product: it makes and breaks files as a person or a crash would"
)]

pub mod anchors;
mod command;
pub mod damage;
pub mod faults;
pub mod fixtures;
pub mod fusion_set;
mod gunzip;
pub mod race;
mod sandbox;
mod scripted_llm;
mod scripted_server;
mod telegram_server;
mod terminal;
pub mod tiny_bert;
mod todoist_server;
pub mod transcripts;

use std::io::Write;

pub use command::{CommandResult, TestCommand};
pub use gunzip::{gunzip, training_data};
pub use sandbox::{HomeSnapshot, Sandbox};
pub use scripted_llm::ScriptedLlm;
pub use scripted_server::{ReceivedRequest, ScriptedServer, ServerReply};
pub use telegram_server::{TELEGRAM_TOKEN, TelegramServer};
pub use tiny_bert::TinyBert;
pub use todoist_server::{TODOIST_KEY, TodoistServer};

/// Reports that the calling test was skipped, with the reason. The test harness hides the output of passing
/// tests, so this writes around it: a skipped test must not look as if it had passed.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let line = format!("skipped: {}: {why}\n", thread.name().unwrap_or("a test"));
    // If stderr is closed, nobody reads the message anyway.
    std::io::stderr().write_all(line.as_bytes()).ok();
}

#[cfg(test)]
mod tests {
    #[test]
    #[ignore = "only the test below runs it"]
    fn cannot_run_here() {
        super::skipped("there is no reason");
    }

    #[test]
    fn a_test_that_did_not_run_says_skipped_past_the_harness() {
        let own = std::env::current_exe().unwrap();
        let run =
            std::process::Command::new(own).args(["--ignored", "--exact", "tests::cannot_run_here"]).output();
        let run = run.unwrap();
        assert!(run.status.success());
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(said.contains("skipped: tests::cannot_run_here: there is no reason"), "{said}");
    }
}

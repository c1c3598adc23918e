//! `rekindle hook`: what agents call. It always ends well, prints only what the agent should see, and is quick: nothing is
//! read but the settings and what the agent sent.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use clap::Args;
use rekindle_core::agent::Agent;
use rekindle_core::hook::{self, GUARD, Kind, PROBE};
use rekindle_core::time::{TimeZone, iso};
use rekindle_engine::home::Home;
use rekindle_engine::hooks::{self, Left};
use rekindle_engine::{clock, config, environment, hook_log, project};
use serde_json::{Value, json};

use crate::cli::Global;

/// More than this an agent does not send.
const MAX_INPUT: u64 = 64 * 1024 * 1024;

/// What an agent's hook runs; `rekindle install` puts it there
#[derive(Args)]
#[command(after_help = "\
Reads the agent's JSON from standard input and always exits 0: whatever goes wrong here is in logs/hooks.jsonl in the
state folder, and never in the agent's way.

Examples:
  echo '{\"session_id\":\"s1\",\"transcript_path\":\"/tmp/s1.jsonl\",\"reason\":\"exit\"}' | rekindle hook claude SessionEnd")]
pub(crate) struct Hook {
    /// The agent: claude, codex, gemini or pi
    agent: String,
    /// The agent's own name of the event, such as SessionEnd
    event: String,
}

/// What came of a hook, for the log.
struct Result {
    result: &'static str,
    detail: Option<String>,
    session: Option<String>,
}

impl Result {
    fn of(result: &'static str) -> Self {
        Self { result, detail: None, session: None }
    }

    fn failed(detail: impl std::fmt::Display) -> Self {
        Self { result: "error", detail: Some(detail.to_string()), session: None }
    }
}

impl Hook {
    pub(crate) fn run(self, global: &Global) {
        let began = Instant::now();
        // Ourselves, asked by ourselves (B-04).
        if environment::raw(GUARD).is_some_and(|value| !value.is_empty()) {
            return;
        }
        let Ok(home) = Home::find(global.home.as_deref()) else { return };
        let done = catch_unwind(AssertUnwindSafe(|| self.answer(&home, global))).unwrap_or_else(|_| {
            Some((home.root().join("state").join("logs"), Result::failed("a panic; this is a bug")))
        });
        let Some((logs, done)) = done else { return };
        let now = clock::now(TimeZone::UTC);
        let mut line = json!({
            "ts": iso(now.timestamp()),
            "hook": format!("{} {}", self.agent, self.event),
            "duration_ms": (began.elapsed().as_secs_f64() * 1e5).round() / 100.0,
            "result": done.result,
            "entries_injected": 0,
        });
        if let Value::Object(fields) = &mut line {
            fields.extend(done.session.map(|session| ("session".to_owned(), json!(session))));
            fields.extend(done.detail.map(|detail| ("detail".to_owned(), json!(detail))));
        }
        // There is nobody left to tell that the log cannot be written.
        hook_log::append(&logs, &line).unwrap_or_default();
    }

    /// Does what there is to do, and says what goes into which log; `None` if nothing may be written at all.
    fn answer(&self, home: &Home, global: &Global) -> Option<(std::path::PathBuf, Result)> {
        let cwd = std::env::current_dir().ok();
        let person = environment::home_folder();
        let place = cwd.as_deref().and_then(|cwd| project::locate(cwd, person.as_deref()));
        let root = place.as_ref().map(|place| place.root.as_path());
        let fallback = home.root().join("state").join("logs");
        let settings = match config::read(home, root, &global.settings) {
            Ok(settings) => settings,
            Err(error) => return Some((fallback, Result::failed(error))),
        };
        let places = match home.places(&settings.config) {
            Ok(places) => places,
            Err(error) => return Some((fallback, Result::failed(error))),
        };
        let logs = places.logs();
        // The kill switches (OPS-03, EXE-16): not even a line in the log.
        if !settings.config.memory.enabled || places.stop_file().exists() {
            return None;
        }
        let mut input = Vec::new();
        if let Err(error) = std::io::stdin().lock().take(MAX_INPUT).read_to_end(&mut input) {
            return Some((logs, Result::failed(error)));
        }
        let Ok(agent) = self.agent.parse::<Agent>() else {
            return Some((logs, Result::failed(format!("`{}` is not an agent", self.agent))));
        };
        let Some(kind) = Kind::of(agent, &self.event) else { return Some((logs, Result::of("ignored"))) };
        let signal = match hook::read(agent, kind, &input) {
            Ok(signal) => signal,
            Err(error) => return Some((logs, Result::failed(error))),
        };
        if environment::raw(PROBE).is_some_and(|value| !value.is_empty()) {
            return None;
        }
        let session = Some(signal.session.clone());
        let now = clock::now(TimeZone::UTC).timestamp();
        let result = match hooks::leave(&places, signal, now) {
            Ok(Left::Nothing) => Result { session, ..Result::of("success") },
            Ok(Left::Spooled) => {
                let woken = match settings.config.capture.background {
                    true => hooks::wake(home, &places).err(),
                    false => None,
                };
                match woken {
                    // It is on the disk; the next hook tries again.
                    Some(error) => Result {
                        session,
                        detail: Some(format!("no worker could be started: {error}")),
                        ..Result::of("partial")
                    },
                    None => Result { session, ..Result::of("success") },
                }
            }
            Err(error) => Result { session, ..Result::failed(error) },
        };
        Some((logs, result))
    }
}

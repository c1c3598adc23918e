//! Sessions and what came of them.

use std::collections::HashMap;

use rekindle_core::base::agent::Agent;
use rekindle_core::base::time::Timestamp;
use rekindle_core::text::clean::one_line;
use rekindle_engine::context::injection_log;
use rekindle_engine::jobs::queue::{RunFilter, RunRecord};
use rekindle_engine::ops::learning::{SessionSummary, session_list};
use rekindle_engine::pipeline::observations::{self, ObservationRecord};
use rekindle_engine::platform::db::Database;
use rekindle_engine::recall::messages::MessageStore;
use rekindle_engine::recall::messages::conversation::Conversation;
use serde_json::Value;

use super::CommandContext;
use super::inspect::session_report;
use crate::error::CliError;

/// The most runs of a session.
const MAX_RUNS: u32 = 200;

/// What was put in front of one session.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionInjections {
    pub(crate) memories: usize,
    pub(crate) tokens: u64,
    pub(crate) turns: usize,
}

/// A session with everything about it.
pub(crate) struct SessionView {
    pub(crate) id: String,
    pub(crate) summary: Option<SessionSummary>,
    pub(crate) observations: Vec<ObservationRecord>,
    pub(crate) runs: Vec<RunRecord>,
    /// What was injected and what came of it; `None` if nothing was.
    pub(crate) injected: Option<Value>,
    pub(crate) conversation: Conversation,
    /// The titles of the memories that still exist, by id.
    pub(crate) titles: HashMap<String, String>,
}

/// The sessions of the last days, the newest first, each with what was injected.
pub(crate) fn list(
    context: &CommandContext<'_>,
) -> Result<Vec<(SessionSummary, SessionInjections)>, CliError> {
    let Some(db) = Database::open_existing(&context.places.database())? else { return Ok(Vec::new()) };
    let mut injected: HashMap<String, SessionInjections> = HashMap::new();
    for record in injection_log::all_records(&context.places) {
        let Some(first) = record.injections.first() else { continue };
        let sums = injected.entry(first.session.clone()).or_default();
        sums.turns = record.turns().len();
        for injection in &record.injections {
            sums.memories += injection.shown.len();
            sums.tokens += injection.tokens;
        }
    }
    let all = session_list(&db, context.now.timestamp())?;
    Ok(all
        .into_iter()
        .map(|one| (injected.get(&one.id).copied().unwrap_or_default(), one))
        .map(|(a, b)| (b, a))
        .collect())
}

/// Everything about one session.
pub(crate) fn view(context: &CommandContext<'_>, session: &str) -> Result<SessionView, CliError> {
    let db = Database::open_existing(&context.places.database())?;
    let (mut summary, mut observed) = (None, Vec::new());
    if let Some(db) = &db {
        summary = session_list(db, context.now.timestamp())?.into_iter().find(|one| one.id == session);
        observed = observations::in_session(db, session)?;
    }
    let filter =
        RunFilter { session: Some(session.to_owned()), limit: Some(MAX_RUNS), ..RunFilter::default() };
    let runs = context.queue()?.map(|queue| queue.history(&filter)).transpose()?.unwrap_or_default();
    let record = injection_log::read(&context.places, session);
    let injected = match record.injections.is_empty() {
        true => None,
        false => Some(session_report(context, session, &record)?),
    };
    let conversation = MessageStore::from_paths(&context.places).conversation(session)?;
    let is_known = summary.is_some()
        || !observed.is_empty()
        || !runs.is_empty()
        || injected.is_some()
        || !conversation.messages.is_empty();
    match is_known {
        true => Ok(SessionView {
            id: session.to_owned(),
            titles: if injected.is_some() { titles(context)? } else { HashMap::new() },
            summary,
            observations: observed,
            runs,
            injected,
            conversation,
        }),
        false => Err(CliError::usage(format!("there is no session `{}`", one_line(session, 80)))
            .hint("sessions are listed for 30 days, and their messages for as long as you keep them")),
    }
}

fn titles(context: &CommandContext<'_>) -> Result<HashMap<String, String>, CliError> {
    let entries = context.vault()?.scan(true)?.entries;
    Ok(entries.into_iter().filter_map(|found| Some((found.entry.id?.to_string(), found.title))).collect())
}

/// The display name of an agent.
pub(crate) fn agent_name(word: &str) -> String {
    let known = Agent::ALL.into_iter().find(|agent| agent.as_str() == word);
    known.map_or_else(|| one_line(word, 20), |agent| agent.name().to_owned())
}

/// The latest background runs; only failed ones if `failed`.
pub(crate) fn runs(context: &CommandContext<'_>, failed: bool) -> Result<Vec<RunRecord>, CliError> {
    let status = failed.then_some(rekindle_core::run::RunStatus::Dead);
    let filter = RunFilter { status, limit: Some(MAX_RUNS), ..RunFilter::default() };
    Ok(context.queue()?.map(|queue| queue.history(&filter)).transpose()?.unwrap_or_default())
}

/// The duration of a run in milliseconds, once it has ended.
pub(crate) fn took_ms(started: Option<Timestamp>, ended: Option<Timestamp>) -> Option<i128> {
    Some(ended?.duration_since(started?).as_millis())
}

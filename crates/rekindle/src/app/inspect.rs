//! Past injections: what a session was told, what came of it, and where one memory was shown.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use rekindle_core::base::agent::Agent;
use rekindle_core::base::time::{Timestamp, format_utc};
use rekindle_core::knowledge::feedback::UsageVerdict;
use rekindle_core::text::tokens;
use rekindle_engine::agents::transcripts;
use rekindle_engine::context::injection_log::{
    self, Injection, InjectionMoment, InjectionRecord, TurnOutcome,
};
use rekindle_engine::jobs::sessions;
use rekindle_engine::platform::db::Database;
use rekindle_engine::recall::log::RecallLog;
use serde_json::{Value, json};

use super::CommandContext;
use crate::error::CliError;

/// The number of lines of the recall log that are searched for a session.
const MAX_LOG_LINES: usize = 20_000;

/// A memory in front of an agent, once.
pub(crate) struct MemoryInjection {
    pub(crate) at: Timestamp,
    pub(crate) agent: Agent,
    pub(crate) session: String,
    /// The event: `briefing`, `prompt` or `tool`.
    pub(crate) moment: &'static str,
    /// What became of it, as `inspect --session` says it. A briefing is not judged.
    pub(crate) outcome: Option<&'static str>,
}

/// Everywhere that a memory was injected in the last 90 days, the newest first.
pub(crate) fn injections_of(context: &CommandContext<'_>, id: &str) -> Vec<MemoryInjection> {
    let mut found = Vec::new();
    for record in injection_log::all_records(&context.places) {
        let mut turn: Option<&str> = None;
        for injection in &record.injections {
            if injection.what == InjectionMoment::Prompt {
                turn = Some(&injection.turn);
            }
            if !injection.shown.iter().any(|shown| shown == id) {
                continue;
            }
            let is_judged = injection.what != InjectionMoment::Start;
            let outcome = turn.and_then(|turn| record.turn_outcome(turn));
            found.push(MemoryInjection {
                at: injection.at,
                agent: injection.agent,
                session: injection.session.clone(),
                moment: moment_label(injection.what),
                outcome: is_judged.then(|| outcome_label(id, outcome, later(&record, turn))),
            });
        }
    }
    found.sort_by_key(|injection| std::cmp::Reverse(injection.at));
    found
}

/// What became of a memory in a turn; `corrected` is the outcome of the next turn, if it corrects this one.
fn outcome_label(id: &str, outcome: Option<&TurnOutcome>, corrected: Option<&TurnOutcome>) -> &'static str {
    let judged = outcome.and_then(|came| came.judged.iter().find(|judged| judged.id == id));
    match judged.map(|judged| judged.verdict) {
        _ if corrected.is_some_and(|came| came.misled.iter().any(|misled| misled == id)) => "corrected",
        Some(UsageVerdict::Used) => "used",
        Some(UsageVerdict::Ignored) => "ignored",
        Some(UsageVerdict::Unclear) => "unclear",
        None if outcome.is_some() => "not judged",
        None => "waiting",
    }
}

/// Builds the JSON report of a session.
pub(crate) fn session_report(
    context: &CommandContext<'_>,
    session: &str,
    record: &InjectionRecord,
) -> Result<Value, CliError> {
    let asked = asked(context, session)?;
    let mut blocks: Vec<Value> = Vec::new();
    let (mut turn, mut sum): (Option<&str>, u64) = (None, 0);
    let mut by_what: HashMap<&str, u64> = HashMap::new();
    for injection in record.injections.iter().filter(|injection| injection.what != InjectionMoment::LetGo) {
        if injection.what == InjectionMoment::Prompt {
            turn = Some(&injection.turn);
        }
        let outcome = turn
            .and_then(|turn| record.turn_outcome(turn))
            .filter(|_| injection.what != InjectionMoment::Start);
        let corrected = later(record, turn).filter(|_| injection.what != InjectionMoment::Start);
        sum += injection.tokens;
        let word = moment_label(injection.what);
        *by_what.entry(word).or_default() += injection.tokens;
        blocks.push(block(injection, word, outcome, corrected, &asked));
    }
    let agent = record.injections[0].agent;
    let total = session_tokens(context, agent, session);
    let outcomes = || record.outcomes.iter();
    let names =
        |list: fn(&TurnOutcome) -> &Vec<String>| outcomes().flat_map(list).cloned().collect::<Vec<_>>();
    Ok(json!({
        "session": session,
        "agent": agent,
        "heldOut": record.is_held_out(),
        "turns": record.turns().len(),
        "corrections": outcomes().map(|came| came.corrections).sum::<u32>(),
        "missed": names(|came| &came.missed),
        "misled": names(|came| &came.misled),
        "lessons": names(|came| &came.lessons),
        "tokens": {
            "briefing": by_what.get("briefing").copied().unwrap_or(0),
            "prompts": by_what.get("prompt").copied().unwrap_or(0),
            "tools": by_what.get("tool").copied().unwrap_or(0),
            "injected": sum,
            "session": total,
            "share": total.filter(|total| *total > 0).map(|total| sum as f64 / (sum + total) as f64),
        },
        "blocks": blocks,
    }))
}

fn moment_label(what: InjectionMoment) -> &'static str {
    match what {
        InjectionMoment::Start => "briefing",
        InjectionMoment::Prompt => "prompt",
        InjectionMoment::Tool => "tool",
        InjectionMoment::LetGo => "let-go",
    }
}

/// The outcome of the next turn, if the person corrected this one there.
fn later<'a>(record: &'a InjectionRecord, turn: Option<&str>) -> Option<&'a TurnOutcome> {
    let turns = record.turns();
    let at = turns.iter().position(|one| Some(one.prompt.turn.as_str()) == turn)?;
    let next = turns.get(at + 1)?.prompt.turn.clone();
    record.turn_outcome(&next).filter(|came| came.corrections > 0)
}

fn block(
    told: &Injection,
    word: &str,
    outcome: Option<&TurnOutcome>,
    corrected: Option<&TurnOutcome>,
    asked: &[Value],
) -> Value {
    let at = format_utc(told.at);
    let line = asked.iter().find(|line| line["at"] == at && line["injected"] == json!(told.shown));
    let title = |id: &str| {
        let results = line.and_then(|line| line["results"].as_array()).into_iter().flatten();
        results.into_iter().find(|result| result["id"] == id).map(|result| result["title"].clone())
    };
    let memory = |id: &String| {
        let judged = outcome.and_then(|came| came.judged.iter().find(|judged| judged.id == *id));
        let became = outcome_label(id, outcome, corrected);
        json!({"id": id, "title": title(id), "became": became, "by": judged.map(|judged| &judged.by)})
    };
    let memories: Vec<Value> = told.shown.iter().map(memory).collect();
    let left_out: Vec<&String> = told.chosen.iter().filter(|id| !told.shown.contains(id)).collect();
    json!({
        "at": at,
        "what": word,
        "query": line.map(|line| line["query"].clone()),
        "tokens": told.tokens,
        "heldOut": told.held_out,
        "corrects": told.what == InjectionMoment::Prompt && outcome.is_some_and(|came| came.corrections > 0),
        "corrected": corrected.is_some(),
        "memories": memories,
        "leftOut": left_out,
    })
}

/// The recalls of a session, from the log.
fn asked(context: &CommandContext<'_>, session: &str) -> Result<Vec<Value>, CliError> {
    let log = RecallLog::in_folder(&context.places.logs_folder());
    let lines = log.read()?.take(MAX_LOG_LINES).filter(|line| line["session"] == session);
    Ok(lines.collect())
}

/// Estimates the tokens of the session itself, if its transcript exists.
fn session_tokens(context: &CommandContext<'_>, agent: Agent, session: &str) -> Option<u64> {
    let db = Database::open_existing(&context.places.database()).ok()??;
    let path = sessions::transcript_path(&db, agent, session).ok()??;
    let mut sum = 0;
    let read = transcripts::read(agent, Path::new(&path), None, &mut |message| {
        let calls = message.calls.iter().map(|call| tokens::estimate_tokens(&call.input)).sum::<u64>();
        sum += tokens::estimate_tokens(&message.text) + calls;
        ControlFlow::Continue(())
    });
    read.ok().map(|_| sum)
}

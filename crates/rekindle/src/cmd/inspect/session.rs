//! Shows the memories injected into a session and their outcome, and compares sessions with and without
//! recall.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use rekindle_core::base::time::format_utc;
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

use super::super::{explain, id_match};
use crate::app::CommandContext;
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

/// The number of lines of the recall log that are searched for a session.
const MAX_LOG_LINES: usize = 20_000;

pub(super) fn show_session(context: &CommandContext<'_>, session: &str, json: bool) -> Result<(), CliError> {
    let known = injection_log::sessions(&context.places);
    let Some(session) = id_match::session(session, known.iter().map(String::as_str))? else {
        return Err(CliError::usage(format!("there is no session `{session}`"))
            .hint("find session ids with `rekindle inspect --json`; records are kept for 90 days"));
    };
    let record = injection_log::read(&context.places, &session);
    let report = report(context, &session, &record)?;
    if json {
        return context.out.json(&report);
    }
    print(context, &report)
}

/// Builds the JSON report of a session.
fn report(context: &CommandContext<'_>, session: &str, record: &InjectionRecord) -> Result<Value, CliError> {
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
        let misled = corrected.is_some_and(|came| came.misled.contains(id));
        let became = match judged.map(|judged| judged.verdict) {
            _ if misled => "corrected",
            Some(UsageVerdict::Used) => "used",
            Some(UsageVerdict::Ignored) => "ignored",
            Some(UsageVerdict::Unclear) => "unclear",
            None if outcome.is_some() => "not judged",
            None => "waiting",
        };
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
fn session_tokens(
    context: &CommandContext<'_>,
    agent: rekindle_core::base::agent::Agent,
    session: &str,
) -> Option<u64> {
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

fn print(context: &CommandContext<'_>, report: &Value) -> Result<(), CliError> {
    let out = context.out;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let tokens = &report["tokens"];
    let share = tokens["share"].as_f64().map(|share| format!(", {:.1}% of the session", share * 100.0));
    let mut head = vec![
        ("session", format!("{} ({})", text(&report["session"]), text(&report["agent"]))),
        ("turns", text(&report["turns"])),
        (
            "injected",
            format!(
                "{} tokens: briefing {}, prompts {}, tools {}{}",
                tokens["injected"],
                tokens["briefing"],
                tokens["prompts"],
                tokens["tools"],
                share.unwrap_or_default()
            ),
        ),
        ("corrected", format!("{} times", report["corrections"])),
    ];
    if report["heldOut"] == json!(true) {
        head.push(("held out", "recall was off in this session (control group)".to_owned()));
    }
    for (name, meaning) in [
        ("missed", "relevant, but not shown"),
        ("misled", "shown, then corrected by you"),
        ("lessons", "proposed because of a correction"),
    ] {
        let list: Vec<String> = report[name].as_array().into_iter().flatten().map(text).collect();
        if !list.is_empty() {
            head.push((name, format!("{} ({meaning})", list.join(", "))));
        }
    }
    for (name, value) in head {
        out.line(format!("{}  {value}", out.styled(TextStyle::Dim, pad_column(name, 10))))?;
    }
    for block in report["blocks"].as_array().into_iter().flatten() {
        out.line("")?;
        let query: String = block["query"].as_str().unwrap_or_default().chars().take(60).collect();
        let mark = if block["corrected"] == json!(true) { "  (you corrected this turn)" } else { "" };
        let title = format!("{}  {} tokens  {query}{mark}", text(&block["what"]), block["tokens"]);
        out.line(format!(
            "{}  {}",
            out.styled(TextStyle::Dim, text(&block["at"])),
            out.styled(TextStyle::Bold, title)
        ))?;
        for memory in block["memories"].as_array().into_iter().flatten() {
            let by: Vec<String> = memory["by"].as_array().into_iter().flatten().map(text).collect();
            let by = if by.is_empty() { String::new() } else { format!("  ({})", by.join(", ")) };
            let title = memory["title"].as_str().unwrap_or_default();
            let became = pad_column(&text(&memory["became"]), 10);
            out.line(format!("  {became}  {}  {title}{by}", text(&memory["id"])))?;
        }
    }
    legend(context, report)
}

/// Explains the verdicts that were printed.
fn legend(context: &CommandContext<'_>, report: &Value) -> Result<(), CliError> {
    let blocks = report["blocks"].as_array().into_iter().flatten();
    let memories = blocks.flat_map(|block| block["memories"].as_array().into_iter().flatten());
    let shown: Vec<String> =
        memories.filter_map(|memory| memory["became"].as_str().map(str::to_owned)).collect();
    let lines = explain::outcome_meanings(&shown);
    if lines.is_empty() {
        return Ok(());
    }
    context.out.line("")?;
    lines.iter().try_for_each(|line| context.out.line(context.out.styled(TextStyle::Dim, line)))
}

/// Compares sessions with recall and sessions without.
pub(super) fn compare(context: &CommandContext<'_>, json: bool) -> Result<(), CliError> {
    let (mut with, mut without) = (HoldoutGroup::default(), HoldoutGroup::default());
    for record in injection_log::all_records(&context.places) {
        let turns = record.turns().len() as u64;
        if turns == 0 {
            continue;
        }
        let group = if record.is_held_out() { &mut without } else { &mut with };
        group.sessions += 1;
        group.turns += turns;
        group.corrections += record.outcomes.iter().map(|came| u64::from(came.corrections)).sum::<u64>();
    }
    let share = context.settings.config.recall.holdout;
    if json {
        return context
            .out
            .json(&json!({"holdout": share, "days": 90, "with": with.json(), "without": without.json()}));
    }
    let out = context.out;
    let head = "                 sessions   turns  turns each  corrections  corrections each";
    out.line(out.styled(TextStyle::Dim, head))?;
    for (name, group) in [("with recall", with), ("without", without)] {
        out.line(format!(
            "{}  {:>8}  {:>6}  {:>10.2}  {:>11}  {:>16.2}",
            pad_column(name, 15),
            group.sessions,
            group.turns,
            group.per_item(group.turns),
            group.corrections,
            group.per_item(group.corrections)
        ))?;
    }
    if share == 0.0 && without.sessions == 0 {
        out.note(
            "There is no control group. To run every tenth session without recall: `rekindle config set recall.holdout 0.1`.",
        );
    }
    Ok(())
}

#[derive(Clone, Copy, Default)]
struct HoldoutGroup {
    sessions: u64,
    turns: u64,
    corrections: u64,
}

impl HoldoutGroup {
    fn per_item(self, count: u64) -> f64 {
        if self.sessions == 0 { 0.0 } else { count as f64 / self.sessions as f64 }
    }

    fn json(self) -> Value {
        json!({
            "sessions": self.sessions,
            "turns": self.turns,
            "turnsPerSession": self.per_item(self.turns),
            "corrections": self.corrections,
            "correctionsPerSession": self.per_item(self.corrections),
        })
    }
}
